//! Runs a program under QEMU's user mode and hands its trace on while it runs.
//!
//! ```text
//! qemu-x86_64 -plugin libbitpath-trace.so ── pipe ──► TraceReader
//!    └── stderr: last words          watch: kills it at the deadline
//! ```
//!
//! The write end of the pipe is the program's standard input, which is the one descriptor that is
//! handed on without more ado; so a program that is traced reads no standard input. Its standard
//! output is dropped.

use std::io::{PipeReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::attribution::Attribution;
use super::core_model::{CoreModel, CoreResult, CoreSettings};
use super::functions::Functions;
use super::trace::{Executed, TraceReader};
use crate::BenchError;

/// What traces: an emulator and its plugin.
#[derive(Clone, Debug)]
pub struct Tracer {
    /// QEMU's user mode for this architecture, by path or name.
    pub qemu: PathBuf,
    /// What scripts/build-qemu-plugin built.
    pub plugin: PathBuf,
    /// Time after which a program is killed.
    pub limit: Duration,
}

impl Tracer {
    /// Debian's QEMU with a plugin, and the usual limit.
    #[must_use]
    pub fn new(plugin: &Path) -> Self {
        Self { qemu: "qemu-x86_64".into(), plugin: plugin.into(), limit: LIMIT }
    }

    /// Runs a program on a core. Counted is what `functions` name: the first is the whole, outside
    /// of which nothing counts, the others are parts of it; see [`Attribution`].
    ///
    /// # Errors
    /// When the program cannot be traced or fails, a function is not found or the first is never
    /// called, or no core can be built so.
    pub fn run(
        &self,
        program: &Path,
        arguments: &[&str],
        functions: &[&str],
        settings: &CoreSettings,
    ) -> Result<CoreResult, BenchError> {
        let mut core = CoreModel::new(settings, functions.len())?;
        self.trace(program, arguments, functions, |executed, function| {
            core.execute(executed, function);
        })?;
        Ok(core.result())
    }

    /// Runs a program and hands each instruction that counts to `take`, with the index of its
    /// function, so that one run may feed several cores.
    ///
    /// # Errors
    /// When the program cannot be traced or fails, or a function is not found or the first is never
    /// called.
    pub fn trace(
        &self,
        program: &Path,
        arguments: &[&str],
        functions: &[&str],
        mut take: impl FnMut(&Executed<'_>, usize),
    ) -> Result<(), BenchError> {
        let (traced, output) = Traced::start(self, program, arguments)?;
        let read = read_all(program, output, functions, &mut take);
        // What the program says of its end explains a trace that was cut off.
        let counted = traced.finish().and(read)?;
        if counted { Ok(()) } else { Err(never_called(program, functions)) }
    }
}

/// Reads a trace to its end, or to what is wrong with it; whether anything counted. The pipe is
/// closed then, which ends a program that still writes.
fn read_all(
    program: &Path,
    output: PipeReader,
    functions: &[&str],
    take: &mut impl FnMut(&Executed<'_>, usize),
) -> Result<bool, BenchError> {
    let mut reader = TraceReader::open(output)?;
    let functions = Functions::find(program, functions, reader.code_start_address())?;
    let mut attribution = Attribution::new(functions);
    let mut counted = false;
    while let Some(executed) = reader.next_executed()? {
        if let Some(function) = attribution.follow(&executed) {
            counted = true;
            take(&executed, function);
        }
    }
    Ok(counted)
}

fn never_called(program: &Path, functions: &[&str]) -> BenchError {
    let whole = functions.first().copied().unwrap_or_default();
    let reason = format!("`{whole}`, outside of which nothing counts, was never called");
    BenchError::Traced { program: program.into(), reason }
}

/// A program that runs under QEMU. It is killed when this is dropped.
#[derive(Debug)]
struct Traced {
    program: PathBuf,
    child: Arc<Mutex<Child>>,
    limit: Duration,
    /// Dropped to tell the watch that the program ended.
    ended: Option<Sender<()>>,
    /// Says whether it had to kill the program.
    watch: Option<JoinHandle<bool>>,
}

impl Traced {
    fn start(
        tracer: &Tracer,
        program: &Path,
        arguments: &[&str],
    ) -> Result<(Self, PipeReader), BenchError> {
        let failed = |error: std::io::Error| BenchError::Traced {
            program: program.into(),
            reason: format!("{}: {error}", tracer.qemu.display()),
        };
        if !tracer.plugin.is_file() {
            let reason = format!("no plugin at {}", tracer.plugin.display());
            return Err(BenchError::Traced { program: program.into(), reason });
        }
        let (output, input) = std::io::pipe().map_err(failed)?;
        let child = Command::new(&tracer.qemu)
            .arg("-plugin")
            .arg(format!("file={},out=/dev/fd/0", tracer.plugin.display()))
            .arg(program)
            .args(arguments)
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let child = Arc::new(Mutex::new(child));
        let (ended, over) = channel();
        let (watched, limit) = (Arc::clone(&child), tracer.limit);
        let watch = thread::spawn(move || {
            let late = over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            if late {
                kill(&watched);
            }
            late
        });
        let program = program.into();
        Ok((Self { program, child, limit, ended: Some(ended), watch: Some(watch) }, output))
    }

    /// Waits for the end of a program whose trace was read or given up.
    fn finish(mut self) -> Result<(), BenchError> {
        let failed = |reason: String| BenchError::Traced { program: self.program.clone(), reason };
        let errors = self.child.lock().unwrap_or_else(PoisonError::into_inner).stderr.take();
        let mut said = Vec::new();
        if let Some(errors) = errors {
            // Ends with the program, which the watch ends at the latest.
            let read = errors.take(LAST_WORDS_BYTES).read_to_end(&mut said);
            read.map_err(|error| failed(error.to_string()))?;
        }
        drop(self.ended.take());
        let late = self.watch.take().is_some_and(|watch| watch.join().unwrap_or_default());
        if late {
            return Err(failed(format!("it did not end within {:?}", self.limit)));
        }
        let status = self.child.lock().unwrap_or_else(PoisonError::into_inner).wait();
        let status = status.map_err(|error| failed(error.to_string()))?;
        let said = String::from_utf8_lossy(&said);
        // A reader that gives up closes the pipe; its own reason is the better one then.
        let given_up = std::os::unix::process::ExitStatusExt::signal(&status) == Some(SIGPIPE);
        if status.success() || given_up {
            return Ok(());
        }
        Err(failed(format!("{status}: {}", said.trim())))
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        kill(&self.child);
        drop(self.ended.take());
        if let Some(watch) = self.watch.take() {
            let _ = watch.join();
        }
    }
}

/// Kills a program that may have ended, and takes its status so that no zombie stays.
fn kill(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = child.kill();
    let _ = child.wait();
}

/// Time for a program [s]: the suite's benchmarks, some ten million instructions, take seconds.
const LIMIT: Duration = Duration::from_secs(300);

/// Kept of what a program writes to stderr: enough for its last words.
const LAST_WORDS_BYTES: u64 = 4096;

/// The signal of a write to a pipe that nobody reads.
const SIGPIPE: i32 = 13;

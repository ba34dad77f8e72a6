//! Workers: what they answer, how they end, and that they never outlive their parent.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bitpath_platform::PlatformError;
use bitpath_platform::process::Worker;
use bitpath_platform::socket::{TcpListener, TcpOptions};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

/// Longest wait for anything: no test waits so long unless it fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The program of `examples/platform_worker.rs`, which cargo builds beside the tests.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.ancestors().nth(2).unwrap().join("examples/platform_worker");
    assert!(program.exists(), "{} is missing: run all tests of the crate", program.display());
    program
}

/// Starts that program.
pub(crate) fn start(name: &str) -> Worker {
    Worker::spawn(name, &program(), &[]).unwrap()
}

/// Asks a worker and returns what it answers.
pub(crate) fn ask(worker: &mut Worker, request: &Value) -> Value {
    worker.send(request).unwrap();
    worker.receive(PATIENCE).unwrap()
}

fn shell(name: &str, script: &str) -> Worker {
    Worker::spawn(name, Path::new("/bin/sh"), &["-c", script]).unwrap()
}

fn pid(worker: &Worker) -> Pid {
    Pid::from_raw(worker.pid().try_into().unwrap())
}

#[test]
fn messages_of_any_size_pass_in_order() {
    let mut echo = Worker::spawn("echo", Path::new("/bin/cat"), &[]).unwrap();
    for size in [0, 1, 1000, 60_000] {
        let message = json!({ "size": size, "text": "ö".repeat(size) });
        assert_eq!(ask(&mut echo, &message), message);
    }
    echo.finish(PATIENCE).unwrap();
}

#[test]
fn the_end_of_stdin_ends_a_worker() {
    let mut worker = start("worker");
    assert!(ask(&mut worker, &json!({ "open": "127.0.0.1:0" }))["address"].is_string());
    worker.finish(PATIENCE).unwrap();
}

#[test]
fn a_killed_worker_is_named_with_what_it_was_asked() {
    let mut worker = Worker::spawn("receiver", Path::new("/bin/cat"), &[]).unwrap();
    assert_eq!(ask(&mut worker, &json!("first")), "first");
    kill(pid(&worker), Signal::SIGKILL).unwrap();
    let error = worker.receive::<Value>(PATIENCE).unwrap_err().to_string();
    assert!(error.starts_with("worker receiver ended (signal: 9"), "{error}");
    assert!(error.contains("when asked \"first\""), "{error}");
}

#[test]
fn the_last_words_of_a_worker_are_reported() {
    let mut worker = shell("sender", "echo out of luck >&2; exit 3");
    let error = worker.receive::<Value>(PATIENCE).unwrap_err().to_string();
    assert!(error.contains("sender") && error.contains("exit status: 3"), "{error}");
    assert!(error.ends_with("its last words: out of luck"), "{error}");
    let error = worker.send(&1).unwrap_err().to_string();
    assert!(error.contains("worker sender ended (exit status: 3)"), "{error}");
}

#[test]
fn a_talkative_worker_is_not_held_up_and_only_its_end_is_kept() {
    let script = "yes complaint | head -c 300000 >&2; echo the end >&2; exit 1";
    let error = shell("decoder", script).receive::<Value>(PATIENCE).unwrap_err().to_string();
    assert!(error.ends_with("the end") && error.len() < 5000, "{}", error.len());
}

#[test]
fn a_silent_worker_is_waited_for_no_longer_than_asked() {
    let mut worker = Worker::spawn("mute", Path::new("/bin/cat"), &[]).unwrap();
    let error = worker.receive::<Value>(Duration::from_millis(20)).unwrap_err().to_string();
    assert_eq!(error, "worker mute was silent for 20ms when asked to start");
}

#[test]
fn an_answer_of_another_shape_is_shown() {
    let mut worker = shell("odd", "echo not json; read line");
    let error = worker.receive::<Value>(PATIENCE).unwrap_err().to_string();
    assert!(error.starts_with("odd: message not understood"), "{error}");
    assert!(error.ends_with("not json"), "{error}");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let error = Worker::spawn("ghost", Path::new("/no/such/program"), &[]).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("ghost") && error.contains("/no/such/program"), "{error}");
}

#[test]
fn a_worker_that_ends_badly_or_not_at_all_does_not_finish_well() {
    let error = shell("bad", "read line; exit 5").finish(PATIENCE).unwrap_err().to_string();
    assert!(error.contains("exit status: 5"), "{error}");
    let stuck = shell("stuck", "exec tail -f /dev/null");
    let gone = pid(&stuck);
    let error = stuck.finish(Duration::from_millis(20)).unwrap_err();
    assert!(matches!(error, PlatformError::WorkerSilent { .. }), "{error}");
    assert_eq!(kill(gone, None), Err(Errno::ESRCH));
}

#[test]
fn a_dropped_worker_is_gone() {
    let worker = shell("dropped", "exec tail -f /dev/null");
    let gone = pid(&worker);
    drop(worker);
    assert_eq!(kill(gone, None), Err(Errno::ESRCH));
}

#[test]
fn a_deaf_worker_dies_with_its_killed_parent() {
    let any = "127.0.0.1:0".parse().unwrap();
    let listener = TcpListener::bind(any, &TcpOptions::system()).unwrap();
    let mut parent = start("parent");
    let to = listener.local_address().unwrap();
    assert_eq!(
        ask(&mut parent, &json!({ "start-holder": { "program": program(), "to": to } })),
        "done"
    );
    let held = listener.accept(PATIENCE).unwrap().unwrap();
    assert_eq!(held.try_receive(&mut [0]).unwrap(), None);

    kill(pid(&parent), Signal::SIGKILL).unwrap();

    // The connection closes when the kernel takes the grandchild's descriptors away.
    held.set_receive_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(held.receive(&mut [0]).unwrap(), Some(0));
}

#[test]
fn the_first_request_to_end_sets_the_flag_and_the_second_ends() {
    let mut worker = start("patient");
    for (times, answer) in [(0, false), (1, true)] {
        let request = json!({ "interrupt": { "times": times } });
        assert_eq!(ask(&mut worker, &request)["requested"], answer);
    }
    worker.send(&json!({ "interrupt": { "times": 1 } })).unwrap();
    let error = worker.receive::<Value>(PATIENCE).unwrap_err().to_string();
    assert!(error.contains("worker patient ended (signal: 15"), "{error}");
}

#[test]
fn a_request_to_end_ends_the_wait_for_a_worker() {
    let mut middle = start("middle");
    assert_eq!(ask(&mut middle, &json!("wait-for-silence")), "waiting");
    kill(pid(&middle), Signal::SIGINT).unwrap();
    let answer: Value = middle.receive(PATIENCE).unwrap();
    assert_eq!(answer["error"], "interrupted while waiting for worker silent");
}

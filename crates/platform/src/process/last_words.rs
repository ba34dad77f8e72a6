//! The end of what a worker writes to stderr, kept for the error that reports its death.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::process::ChildStderr;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Collects a worker's stderr, so that the worker never waits for a reader.
#[derive(Debug)]
pub(super) struct LastWords {
    tail: Arc<Mutex<VecDeque<u8>>>,
    /// Closed at the end of stderr.
    ended: Receiver<()>,
}

impl LastWords {
    /// Listens until the worker closes its stderr.
    pub(super) fn listen(mut errors: ChildStderr) -> io::Result<Self> {
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        let (end, ended) = channel();
        let kept = Arc::clone(&tail);
        thread::Builder::new().name("last words".into()).spawn(move || {
            let _end = end;
            let mut chunk = [0; 4096];
            while let Ok(bytes @ 1..) = errors.read(&mut chunk) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&chunk[..bytes]);
                let excess = kept.len().saturating_sub(KEPT_BYTES);
                kept.drain(..excess);
            }
        })?;
        Ok(Self { tail, ended })
    }

    /// The last words of a worker that has ended; waits a moment for those still in the pipe.
    pub(super) fn text(&self, patience: Duration) -> String {
        // Either outcome means that the words are read: all of them, or those that came in time.
        let _ = self.ended.recv_timeout(patience);
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = tail.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        if text.is_empty() { "none".into() } else { text }
    }
}

/// Bytes kept: a panic message with its place and some lines before it.
const KEPT_BYTES: usize = 4096;

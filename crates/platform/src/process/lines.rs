//! Messages on a pipe: one JSON value a line, of bounded length.

use std::os::fd::AsFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::read;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::PlatformError;
use crate::clock::monotonic_ns;

/// Bytes that came and were not taken yet.
#[derive(Debug, Default)]
pub(super) struct Lines {
    bytes: Vec<u8>,
    /// Bytes at the front that are known to hold no line end.
    scanned: usize,
}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// Some bytes, or a signal.
    Some,
    /// The end: the other side has closed the pipe.
    Closed,
}

impl Lines {
    /// The next message, if its line is complete.
    pub(super) fn take<T: DeserializeOwned>(
        &mut self,
        peer: &str,
    ) -> Result<Option<T>, PlatformError> {
        let Some(end) = self.bytes[self.scanned..].iter().position(|byte| *byte == b'\n') else {
            self.scanned = self.bytes.len();
            return Ok(None);
        };
        let line: Vec<u8> = self.bytes.drain(..=self.scanned + end).collect();
        self.scanned = 0;
        let message = serde_json::from_slice(&line).map_err(|error| PlatformError::Message {
            peer: peer.into(),
            reason: error.to_string(),
            line: shortened(&line),
        })?;
        Ok(Some(message))
    }

    /// Reads what is there; waits for it if nothing is.
    pub(super) fn fill(&mut self, peer: &str, pipe: impl AsFd) -> Result<Filled, PlatformError> {
        if self.bytes.len() > MAX_MESSAGE_BYTES {
            let peer = peer.into();
            return Err(PlatformError::MessageTooLong { peer, limit_bytes: MAX_MESSAGE_BYTES });
        }
        let mut chunk = [0; CHUNK_BYTES];
        match read(pipe, &mut chunk) {
            Ok(0) => Ok(Filled::Closed),
            Ok(bytes) => {
                self.bytes.extend_from_slice(&chunk[..bytes]);
                Ok(Filled::Some)
            }
            Err(Errno::EINTR) => Ok(Filled::Some),
            Err(errno) => Err(PlatformError::system(format!("read from {peer}"), errno)),
        }
    }
}

/// A message as a line.
pub(super) fn encode(peer: &str, message: &impl Serialize) -> Result<Vec<u8>, PlatformError> {
    let mut line = serde_json::to_vec(message).map_err(|error| PlatformError::Message {
        peer: peer.into(),
        reason: error.to_string(),
        line: String::new(),
    })?;
    if line.len() >= MAX_MESSAGE_BYTES {
        let peer = peer.into();
        return Err(PlatformError::MessageTooLong { peer, limit_bytes: MAX_MESSAGE_BYTES });
    }
    line.push(b'\n');
    Ok(line)
}

/// The beginning of a message, for errors.
pub(super) fn shortened(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end();
    match text.char_indices().nth(SHORT_CHARACTERS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Waits until the pipe is ready, but no longer than until the deadline and never longer than
/// one step, so that the caller sees Ctrl-C soon.
pub(super) fn wait_for(
    pipe: impl AsFd,
    events: PollFlags,
    deadline_ns: u64,
) -> Result<bool, Errno> {
    let left = Duration::from_nanos(deadline_ns.saturating_sub(monotonic_ns()));
    // Rounded up: a wait of zero would spin through the last millisecond.
    let step = (left + Duration::from_micros(999)).min(POLL_STEP);
    let timeout = PollTimeout::try_from(step).unwrap_or(PollTimeout::MAX);
    match poll(&mut [PollFd::new(pipe.as_fd(), events)], timeout) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Longest message [B]: a run's raw samples fit a hundred times, a runaway peer is stopped.
const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// Bytes read at once: what a pipe holds.
const CHUNK_BYTES: usize = 64 << 10;

/// Characters of a message that an error shows.
const SHORT_CHARACTERS: usize = 160;

/// Longest single wait: a Ctrl-C that comes just before the wait is seen after it.
const POLL_STEP: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use std::io::{Write, pipe};

    use super::*;

    #[test]
    fn messages_cut_anywhere_are_put_together() {
        let line = encode("peer", &vec![1, 2, 3]).unwrap();
        for cut in 0..=line.len() {
            let mut lines = Lines::default();
            let (reader, mut writer) = pipe().unwrap();
            let mut got: Vec<Vec<i32>> = Vec::new();
            for part in [&line[..cut], &line[cut..], &line] {
                writer.write_all(part).unwrap();
                if !part.is_empty() {
                    assert_eq!(lines.fill("peer", &reader).unwrap(), Filled::Some);
                }
                while let Some(message) = lines.take("peer").unwrap() {
                    got.push(message);
                }
            }
            assert_eq!(got, [[1, 2, 3], [1, 2, 3]]);
            drop(writer);
            assert_eq!(lines.fill("peer", &reader).unwrap(), Filled::Closed);
        }
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut lines = Lines { bytes: vec![b'x'; MAX_MESSAGE_BYTES + 1], scanned: 0 };
        assert!(lines.take::<u32>("peer").unwrap().is_none());
        let (reader, _writer) = pipe().unwrap();
        let error = lines.fill("peer", &reader).unwrap_err().to_string();
        assert!(error.starts_with("peer: message of more than 16777216 B"), "{error}");
    }

    #[test]
    fn a_message_of_another_shape_is_shown() {
        let mut lines = Lines { bytes: b"{\"a\": 1}\n7\n".to_vec(), scanned: 0 };
        let error = lines.take::<u32>("worker sender").unwrap_err().to_string();
        assert!(error.starts_with("worker sender: message not understood"), "{error}");
        assert!(error.ends_with("it read: {\"a\": 1}"), "{error}");
        assert_eq!(lines.take::<u32>("worker sender").unwrap(), Some(7));
    }

    #[test]
    fn long_messages_are_shortened_between_characters() {
        let text = shortened("ä".repeat(500).as_bytes());
        assert_eq!(text.chars().count(), SHORT_CHARACTERS + 3);
    }
}

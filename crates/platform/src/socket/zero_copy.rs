//! Sending without a copy (`MSG_ZEROCOPY`): the kernel sends from the pages of this process and
//! says afterwards when it no longer needs them, and whether it copied after all.
//!
//! ```text
//! send(MSG_ZEROCOPY) 0, 1, 2, ... ──► pages pinned ──► device
//!                                         error queue: "0 to 2 are done [copied]"  ──► reap
//! ```
//!
//! Over loopback the kernel copies every byte when it reaches the receiver: right, but no gain.

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::poll::PollFlags;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, send};

use super::TcpStream;
use super::segments::Control;
use crate::PlatformError;
use crate::clock::{monotonic_ns, nanos_of};

/// Calls that sent without a copy, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// Calls that took bytes [count].
    pub sent: u64,
    /// Calls of which the kernel said that it is done [count].
    pub completed: u64,
    /// Those of them whose bytes it copied after all [count].
    pub copied: u64,
}

impl Completions {
    /// Calls whose pages the kernel still holds [count].
    #[must_use]
    pub fn outstanding(&self) -> u64 {
        self.sent - self.completed
    }

    /// Takes a report about a range of calls; the numbers of calls wrap at 2³².
    fn take(&mut self, first: u32, last: u32, copied: bool) {
        let calls = u64::from(last.wrapping_sub(first)) + 1;
        self.completed = (self.completed + calls).min(self.sent);
        if copied {
            self.copied += calls;
        }
    }
}

/// Sends bytes that stay as they are for as long as this lives.
#[derive(Debug)]
pub struct ZeroCopySender<'a> {
    stream: &'a TcpStream,
    completions: Completions,
}

impl<'a> ZeroCopySender<'a> {
    /// Has the kernel allow it on a connection (`SO_ZEROCOPY`).
    ///
    /// # Errors
    /// When the kernel does not offer it.
    pub fn new(stream: &'a TcpStream) -> Result<Self, PlatformError> {
        stream.set_number("set SO_ZEROCOPY", SO_ZEROCOPY, 1)?;
        Ok(Self { stream, completions: Completions::default() })
    }

    /// Hands bytes to the kernel without a copy; one system call while few calls are outstanding.
    /// `None` when nothing was taken in time: the send timeout passed, a signal came, or too many
    /// calls are outstanding and none of them was done within a tenth of a second.
    ///
    /// # Errors
    /// The kernel's.
    pub fn send(&mut self, bytes: &'a [u8]) -> Result<Option<usize>, PlatformError> {
        if self.completions.outstanding() >= MAX_OUTSTANDING && !self.reap_within(REAP_WAIT)? {
            return Ok(None);
        }
        let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::from_bits_retain(libc::MSG_ZEROCOPY);
        match send(self.stream.as_fd().as_raw_fd(), bytes, flags) {
            Ok(sent) => {
                self.completions.sent += u64::from(sent > 0);
                Ok(Some(sent))
            }
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            // The reports that wait have used up what the socket may book for them
            // (`net.core.optmem_max`).
            Err(Errno::ENOBUFS) if self.completions.outstanding() > 0 => {
                self.reap_within(REAP_WAIT)?;
                Ok(None)
            }
            Err(errno) => Err(self.stream.failed("send without a copy", errno)),
        }
    }

    /// Waits until every call is done, at most `patience`.
    ///
    /// # Errors
    /// The kernel's, or when some were not done in time, with their number.
    pub fn finish(mut self, patience: Duration) -> Result<Completions, PlatformError> {
        let deadline_ns = monotonic_ns().saturating_add(nanos_of(patience));
        self.reap()?;
        while self.completions.outstanding() > 0 {
            if !self.reap_within(REAP_WAIT)? && monotonic_ns() >= deadline_ns {
                let Completions { sent, .. } = self.completions;
                let missing = self.completions.outstanding();
                let reason = format!("{missing} of {sent} were not done after {patience:?}");
                let late = io::Error::new(io::ErrorKind::TimedOut, reason);
                return Err(self.stream.failed("wait for sends without a copy", late));
            }
        }
        Ok(self.completions)
    }

    /// Waits for reports and takes those that are there; whether there were any.
    fn reap_within(&mut self, timeout: Duration) -> Result<bool, PlatformError> {
        if self.reap()? {
            return Ok(true);
        }
        // Reports show as an error of the socket, which is waited for whatever else is.
        self.stream.wait(PollFlags::empty(), timeout)?;
        self.reap()
    }

    /// Takes the reports that are there; whether there were any.
    fn reap(&mut self) -> Result<bool, PlatformError> {
        let before = self.completions.completed;
        while let Some((first, last, copied)) = self.report()? {
            self.completions.take(first, last, copied);
        }
        Ok(self.completions.completed > before)
    }

    /// The next report of the error queue: first and last call, and whether they were copied.
    fn report(&self) -> Result<Option<(u32, u32, bool)>, PlatformError> {
        let mut control = Control::default();
        let mut nothing: [IoSliceMut<'_>; 0] = [];
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let descriptor = self.stream.as_fd().as_raw_fd();
        let failed = |errno| self.stream.failed("read the error queue", errno);
        let message = match recvmsg::<()>(descriptor, &mut nothing, Some(&mut control.0), flags) {
            Ok(message) => message,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
            Err(errno) => return Err(failed(errno)),
        };
        for control in message.cmsgs().map_err(failed)? {
            let (ControlMessageOwned::Ipv4RecvErr(report, _)
            | ControlMessageOwned::Ipv6RecvErr(report, _)) = control
            else {
                continue;
            };
            if report.ee_origin == SO_EE_ORIGIN_ZEROCOPY {
                let copied = report.ee_code & SO_EE_CODE_ZEROCOPY_COPIED != 0;
                return Ok(Some((report.ee_info, report.ee_data, copied)));
            }
            let error = io::Error::from_raw_os_error(report.ee_errno.cast_signed());
            return Err(self.stream.failed("send without a copy", error));
        }
        Err(failed(Errno::EPROTO))
    }
}

/// Most calls whose pages the kernel may hold: their reports fit what a socket may book for them
/// by default, and at 64 KiB a call they are more than any send buffer.
const MAX_OUTSTANDING: u64 = 256;

/// Longest single wait for a report: a sender then looks at its deadline.
const REAP_WAIT: Duration = Duration::from_millis(100);

/// `SO_ZEROCOPY` of <asm-generic/socket.h>, which the libc crate does not know.
const SO_ZEROCOPY: i32 = 60;

/// Origin and code of the reports, from <linux/errqueue.h>.
const SO_EE_ORIGIN_ZEROCOPY: u8 = 5;
const SO_EE_CODE_ZEROCOPY_COPIED: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::tcp::tests::{PATIENCE, received_in_a_thread, varied};

    #[test]
    fn every_byte_arrives_and_every_call_is_accounted_for() {
        let content = varied(40_000_000);
        let (stream, received) = received_in_a_thread();
        let mut sender = ZeroCopySender::new(&stream).unwrap();
        let mut rest = content.as_slice();
        while !rest.is_empty() {
            let next = rest.len().min(50_000);
            let sent = sender.send(&rest[..next]).unwrap().unwrap_or(0);
            rest = &rest[sent..];
        }
        let done = sender.finish(PATIENCE).unwrap();
        stream.finish_sending().unwrap();
        assert!(received.join().unwrap() == content);
        assert!(done.sent >= 800 && done.outstanding() == 0, "{done:?}");
        // Loopback copies when the bytes reach the receiver, and says so.
        assert_eq!(done.copied, done.sent, "{done:?}");
    }

    #[test]
    fn what_is_not_done_in_time_is_counted() {
        let (stream, received) = received_in_a_thread();
        let mut sender = ZeroCopySender::new(&stream).unwrap();
        // A call that nobody made is never done.
        sender.completions.sent = 1;
        let error = sender.finish(Duration::ZERO).unwrap_err().to_string();
        assert!(error.starts_with("wait for sends without a copy (127.0.0.1:"), "{error}");
        assert!(error.ends_with("1 of 1 were not done after 0ns"), "{error}");
        drop(stream);
        assert!(received.join().unwrap().is_empty());
    }

    #[test]
    fn the_numbers_of_calls_wrap() {
        let mut completions = Completions { sent: 10, ..Completions::default() };
        completions.take(u32::MAX - 1, 2, false);
        completions.take(3, 3, true);
        assert_eq!(completions, Completions { sent: 10, completed: 6, copied: 1 });
    }
}

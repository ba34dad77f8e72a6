//! Bytes from a file to a connection without a stop in this process.
//!
//! ```text
//! sendfile   file ──────────────► socket     one call
//! splice     file ──► pipe ──────► socket    two calls; the pipe holds pages, not copies
//! ```

use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, SpliceFFlags, fcntl, splice};
use nix::libc::off_t;
use nix::sys::sendfile::sendfile;
use nix::unistd::pipe;

use super::TcpStream;
use crate::PlatformError;

/// The pipe between a file and a socket.
#[derive(Debug)]
pub struct FilePipe {
    reader: OwnedFd,
    writer: OwnedFd,
    capacity_bytes: usize,
    /// In the pipe and not yet in the socket [B].
    held_bytes: usize,
}

impl FilePipe {
    /// An empty pipe.
    ///
    /// # Errors
    /// When the kernel refuses a pipe or its size.
    pub fn new() -> Result<Self, PlatformError> {
        let failed = |errno| PlatformError::system("make a pipe to splice through", errno);
        let (reader, writer) = pipe().map_err(failed)?;
        let given = fcntl(&writer, FcntlArg::F_SETPIPE_SZ(PIPE_BYTES)).map_err(failed)?;
        let capacity_bytes = usize::try_from(given).unwrap_or(0);
        Ok(Self { reader, writer, capacity_bytes, held_bytes: 0 })
    }

    /// In the pipe and not yet in the socket [B].
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }
}

impl TcpStream {
    /// Has the kernel send bytes of a file from `offset`, which moves by what was sent; `Some(0)`
    /// is the end of the file.
    ///
    /// # Errors
    /// The kernel's; it refuses files that it cannot map.
    pub fn send_file(
        &self,
        file: impl AsFd,
        offset: &mut u64,
        bytes: usize,
    ) -> Result<Option<usize>, PlatformError> {
        let mut place = self.place(*offset)?;
        match sendfile(self.as_fd(), file, Some(&mut place), bytes) {
            Ok(sent) => {
                *offset += sent as u64;
                Ok(Some(sent))
            }
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(errno) => Err(self.failed("sendfile", errno)),
        }
    }

    /// Moves at most `bytes` of a file through the pipe into the socket and says how many reached
    /// the socket. What the pipe still holds goes first; only an empty pipe is filled, from
    /// `offset`, which moves by what entered. `Some(0)` is the end of the file.
    ///
    /// # Errors
    /// The kernel's, for either half of the way.
    pub fn splice_file(
        &self,
        pipe: &mut FilePipe,
        file: impl AsFd,
        offset: &mut u64,
        bytes: usize,
    ) -> Result<Option<usize>, PlatformError> {
        if pipe.held_bytes == 0 {
            let mut place = self.place(*offset)?;
            let wanted = bytes.min(pipe.capacity_bytes);
            let flags = SpliceFFlags::SPLICE_F_MOVE;
            match splice(file, Some(&mut place), &pipe.writer, None, wanted, flags) {
                Ok(0) => return Ok(Some(0)),
                Ok(entered) => pipe.held_bytes = entered,
                Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
                Err(errno) => return Err(self.failed("splice from the file", errno)),
            }
            *offset += pipe.held_bytes as u64;
        }
        let wanted = bytes.min(pipe.held_bytes);
        match splice(&pipe.reader, None, self.as_fd(), None, wanted, SpliceFFlags::SPLICE_F_MOVE) {
            Ok(sent) => {
                pipe.held_bytes -= sent;
                Ok(Some(sent))
            }
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(errno) => Err(self.failed("splice into the socket", errno)),
        }
    }

    fn place(&self, offset: u64) -> Result<off_t, PlatformError> {
        off_t::try_from(offset).map_err(|_| self.failed("read a file", Errno::EOVERFLOW))
    }
}

/// Size of the pipe [B]: the most that the kernel gives everyone (`fs.pipe-max-size`).
const PIPE_BYTES: i32 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::file::MemoryFile;
    use crate::socket::tcp::tests::{received_in_a_thread, varied};

    /// Longer than any socket buffer, and no multiple of a page.
    const BYTES: usize = 9_000_001;

    #[test]
    fn sendfile_brings_every_byte() {
        let content = varied(BYTES);
        let file = MemoryFile::new(BYTES, &content).unwrap();
        let (stream, received) = received_in_a_thread();
        let mut offset = 0;
        while let Some(1..) | None = stream.send_file(&file, &mut offset, 300_000).unwrap() {}
        stream.finish_sending().unwrap();
        assert_eq!(offset, BYTES as u64);
        assert!(received.join().unwrap() == content);
    }

    #[test]
    fn splice_brings_every_byte_and_leaves_the_pipe_empty() {
        let content = varied(BYTES);
        let file = MemoryFile::new(BYTES, &content).unwrap();
        let (stream, received) = received_in_a_thread();
        let mut pipe = FilePipe::new().unwrap();
        let mut offset = 0;
        while let Some(1..) | None =
            stream.splice_file(&mut pipe, &file, &mut offset, 300_000).unwrap()
        {}
        stream.finish_sending().unwrap();
        assert_eq!((offset, pipe.held_bytes()), (BYTES as u64, 0));
        assert!(received.join().unwrap() == content);
    }

    #[test]
    fn what_is_no_file_is_refused_by_name() {
        let (stream, received) = received_in_a_thread();
        let (reader, _writer) = pipe().unwrap();
        let error = stream.send_file(&reader, &mut 0, 10).unwrap_err().to_string();
        assert!(error.starts_with("sendfile (127.0.0.1:"), "{error}");
        let error = stream.send_file(&reader, &mut { u64::MAX }, 10).unwrap_err().to_string();
        assert!(error.starts_with("read a file (127.0.0.1:"), "{error}");
        drop(stream);
        assert!(received.join().unwrap().is_empty());
    }
}

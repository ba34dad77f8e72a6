//! The kernel's channels: pipe, Unix socket and TCP, all of them streams of bytes.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{self as unix, UnixListener, UnixStream};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{setsockopt, sockopt};
use socket2::SockRef;

use super::{PATIENCE, Place};
use crate::PlatformError;
use crate::socket::{BufferLimit, TcpListener, TcpOptions, TcpStream};

/// A channel through the kernel. Its calls wait as long as the kernel lets them.
#[derive(Debug)]
pub(super) enum Stream {
    Pipe(File),
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    /// Connects to a Unix socket; the stream and its send buffer as given [B].
    pub(super) fn join_unix(name: &str, bytes: usize) -> Result<(Self, usize), PlatformError> {
        let refused =
            |error: io::Error| PlatformError::system(format!("join the Unix socket {name}"), error);
        let address = unix::SocketAddr::from_abstract_name(name).map_err(refused)?;
        let stream = UnixStream::connect_addr(&address).map_err(refused)?;
        // The sender's buffer alone bounds what is under way: it is charged until it is read.
        let socket = SockRef::from(&stream);
        // Root goes past the system's limit, as TCP's channel does.
        if setsockopt(&stream, sockopt::SndBufForce, &bytes).is_err() {
            socket.set_send_buffer_size(bytes).map_err(refused)?;
        }
        let given_bytes = socket.send_buffer_size().map_err(refused)? / 2;
        stream.set_write_timeout(Some(PATIENCE)).map_err(refused)?;
        Ok((Self::Unix(stream), given_bytes))
    }

    /// Connects by TCP; the stream and its send buffer as given [B].
    pub(super) fn join_tcp(
        address: SocketAddr,
        bytes: usize,
    ) -> Result<(Self, usize), PlatformError> {
        let options = TcpOptions {
            congestion_control: Some(CONGESTION_CONTROL.into()),
            send_buffer_bytes: Some(bytes),
            ..options(bytes)
        };
        let stream = TcpStream::connect(address, &options, PATIENCE)?;
        stream.set_send_timeout(Some(PATIENCE))?;
        let given = stream.set_send_buffer(bytes, BufferLimit::Forced)?;
        Ok((Self::Tcp(stream), given.given_bytes))
    }

    /// Writes all bytes.
    pub(super) fn write_all(&mut self, mut bytes: &[u8]) -> Result<(), PlatformError> {
        while !bytes.is_empty() {
            let written = match self {
                Self::Pipe(pipe) => pipe.write(bytes),
                Self::Unix(socket) => socket.write(bytes),
                Self::Tcp(socket) => sent(socket.send(bytes)?),
            };
            bytes = &bytes[moved("send a block", written)?..];
        }
        Ok(())
    }

    /// Reads until all bytes are there.
    pub(super) fn read_exact(&mut self, mut bytes: &mut [u8]) -> Result<(), PlatformError> {
        while !bytes.is_empty() {
            let read = match self {
                Self::Pipe(pipe) => pipe.read(bytes),
                Self::Unix(socket) => socket.read(bytes),
                Self::Tcp(socket) => sent(socket.receive(bytes)?),
            };
            bytes = &mut bytes[moved("receive a block", read)?..];
        }
        Ok(())
    }
}

/// A TCP call that moved nothing has waited for its whole timeout.
fn sent(moved: Option<usize>) -> io::Result<usize> {
    moved.ok_or_else(|| Errno::ETIMEDOUT.into())
}

/// Bytes that a call moved; the end of the other side and of the patience are errors.
fn moved(operation: &'static str, outcome: io::Result<usize>) -> Result<usize, PlatformError> {
    let failed = |errno: Errno| Err(PlatformError::system(operation, errno));
    match outcome {
        Ok(0) => failed(Errno::EPIPE),
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
        // What the kernel says when the timeout of a socket has passed.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => failed(Errno::ETIMEDOUT),
        Err(error) => Err(PlatformError::system(operation, error)),
    }
}

/// A socket that waits for a sender.
#[derive(Debug)]
pub(super) enum Listener {
    Unix(UnixListener, String),
    Tcp(TcpListener),
}

impl Listener {
    /// Listens at a name of its own.
    pub(super) fn unix() -> Result<Self, PlatformError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("bitpath-{}-{number}", std::process::id());
        let refused = |error: io::Error| {
            PlatformError::system(format!("listen at the Unix socket {name}"), error)
        };
        let address = unix::SocketAddr::from_abstract_name(&name).map_err(refused)?;
        let listener = UnixListener::bind_addr(&address).map_err(refused)?;
        Ok(Self::Unix(listener, name))
    }

    /// Listens at a free port of loopback.
    pub(super) fn tcp(bytes: usize) -> Result<Self, PlatformError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(address, &options(bytes))?;
        // Before a connection is made: its window scale depends on it.
        listener.set_receive_buffer(bytes, BufferLimit::Forced)?;
        Ok(Self::Tcp(listener))
    }

    pub(super) fn place(&self) -> Result<Place, PlatformError> {
        match self {
            Self::Unix(_, name) => Ok(Place::Name(name.clone())),
            Self::Tcp(listener) => listener.local_address().map(Place::Address),
        }
    }

    /// Takes a sender.
    pub(super) fn accept(&self) -> Result<Stream, PlatformError> {
        let nobody = || PlatformError::system("wait for a sender", Errno::ETIMEDOUT);
        match self {
            Self::Unix(listener, _) => {
                wait_readable(listener)?;
                let refused = |error: io::Error| PlatformError::system("accept a sender", error);
                let (stream, _) = listener.accept().map_err(refused)?;
                stream.set_read_timeout(Some(PATIENCE)).map_err(refused)?;
                Ok(Stream::Unix(stream))
            }
            Self::Tcp(listener) => {
                let stream = listener.accept(PATIENCE)?.ok_or_else(nobody)?;
                stream.set_receive_timeout(Some(PATIENCE))?;
                Ok(Stream::Tcp(stream))
            }
        }
    }
}

/// Waits until somebody has connected.
fn wait_readable(listener: &UnixListener) -> Result<(), PlatformError> {
    let failed = |errno| PlatformError::system("wait for a sender", errno);
    let timeout = PollTimeout::try_from(PATIENCE).unwrap_or(PollTimeout::MAX);
    match poll(&mut [PollFd::new(listener.as_fd(), PollFlags::POLLIN)], timeout) {
        Ok(0) => Err(failed(Errno::ETIMEDOUT)),
        Ok(_) => Ok(()),
        Err(errno) => Err(failed(errno)),
    }
}

/// A pipe with room for so many bytes, or for as many as this user may have: its ends for reading and
/// for writing.
pub(super) fn sized_pipe(bytes: usize) -> Result<(OwnedFd, OwnedFd), PlatformError> {
    let (reading, writing) =
        io::pipe().map_err(|error| PlatformError::system("make a pipe", error))?;
    let set = |bytes: usize| {
        let bytes = i32::try_from(bytes).map_err(|_| Errno::EINVAL)?;
        fcntl(&writing, FcntlArg::F_SETPIPE_SZ(bytes))
    };
    if set(bytes).is_err() {
        // Only root goes past the limit. A pipe that may not even be so large stays as it is.
        let most = fs::read_to_string("/proc/sys/fs/pipe-max-size").unwrap_or_default();
        let _ = most.trim().parse().map_err(|_| Errno::EINVAL).and_then(set);
    }
    Ok((reading.into(), writing.into()))
}

/// Room of a pipe [B].
pub(super) fn pipe_size(pipe: impl AsFd) -> Result<usize, PlatformError> {
    let refused = |errno| PlatformError::system("read the size of a pipe", errno);
    let bytes = fcntl(pipe, FcntlArg::F_GETPIPE_SZ).map_err(refused)?;
    usize::try_from(bytes).map_err(|_| refused(Errno::EINVAL))
}

/// What both sides of a TCP channel ask for.
fn options(bytes: usize) -> TcpOptions {
    TcpOptions {
        no_delay: true,
        receive_buffer_bytes: Some(bytes),
        buffer_limit: BufferLimit::Forced,
        ..TcpOptions::system()
    }
}

/// Congestion control of a TCP channel: every kernel has it, everyone may use it, and its pace does
/// not hang on a queueing discipline that loopback does not have. Nothing is lost on loopback.
const CONGESTION_CONTROL: &str = "reno";

//! Sockets: thin wrappers that report what the kernel really gave and name what it refused.
//!
//! Sending and receiving make exactly one system call each, so that their cost can be measured. All of them
//! answer `None` when nothing was moved in time: the timeout of the socket passed, a signal came,
//! or, in the `try_` forms, the call would have waited. The caller then looks at its deadline.

mod busy_poll;
mod file;
mod segments;
mod tcp;
mod udp;
mod zero_copy;

pub use file::FilePipe;
pub use segments::{MAX_SEGMENTS, Segments};
pub use tcp::{TcpInfo, TcpListener, TcpOptions, TcpStream};
pub use udp::UdpSocket;
pub use zero_copy::{Completions, ZeroCopySender};

use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, recv, send, setsockopt, sockopt};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::PlatformError;

/// What UDP sockets, TCP streams and TCP listeners have in common: addresses, buffers, timeouts.
#[derive(Debug)]
pub struct Endpoint {
    socket: Socket,
}

/// Whether the system's limit on socket buffers holds (`net.core.rmem_max`, `wmem_max`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferLimit {
    /// It does: the kernel cuts the size down to it without a word.
    Kept,
    /// Root goes past it (`SO_RCVBUFFORCE`, `SO_SNDBUFFORCE`); others keep it.
    Forced,
}

/// A socket buffer as asked for and as given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSize {
    /// Asked for [B].
    pub wanted_bytes: usize,
    /// Given, in the measure of what was asked for: half of what the kernel books [B].
    pub given_bytes: usize,
    /// What the kernel books against: packets count with their bookkeeping and their unused
    /// space [B].
    pub booked_bytes: usize,
}

impl BufferSize {
    /// Whether the kernel gave less than was asked for.
    #[must_use]
    pub fn capped(&self) -> bool {
        self.given_bytes < self.wanted_bytes
    }
}

/// The memory of a socket as the kernel books it (`SO_MEMINFO`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Booked by packets that wait to be received [B].
    pub receive_used_bytes: u32,
    /// Bound of the receive buffer; one packet may go past it [B].
    pub receive_limit_bytes: u32,
    /// Booked by packets on their way out [B].
    pub send_used_bytes: u32,
    /// Bound of the send buffer [B].
    pub send_limit_bytes: u32,
    /// Queued by TCP and not yet acknowledged [B].
    pub send_queued_bytes: u32,
    /// Booked by packets that came while a thread held the socket [B].
    pub backlog_bytes: u32,
    /// Packets dropped since the socket was made, modulo 2³² [count].
    pub dropped: u32,
}

impl Endpoint {
    fn new(address: SocketAddr, kind: Type, protocol: Protocol) -> Result<Self, PlatformError> {
        Socket::new(Domain::for_address(address), kind, Some(protocol))
            .map(|socket| Self { socket })
            .map_err(|source| refused("open a socket", address, source))
    }

    /// Binds to the address, or to any free port of its host when the port is in use.
    fn bind(&self, address: SocketAddr) -> Result<(), PlatformError> {
        let bind = |address: SocketAddr| self.socket.bind(&SockAddr::from(address));
        let any_port = SocketAddr::new(address.ip(), 0);
        bind(address)
            .or_else(|error| match error.kind() {
                io::ErrorKind::AddrInUse => bind(any_port),
                _ => Err(error),
            })
            .map_err(|source| refused("bind", address, source))
    }

    /// Address and port of this side.
    ///
    /// # Errors
    /// The kernel's.
    pub fn local_address(&self) -> Result<SocketAddr, PlatformError> {
        let address = self.socket.local_addr().map_err(|error| self.failed("address", error))?;
        address.as_socket().ok_or_else(|| self.failed("address", Errno::EAFNOSUPPORT))
    }

    /// Address and port of the other side.
    ///
    /// # Errors
    /// When there is none.
    pub fn peer_address(&self) -> Result<SocketAddr, PlatformError> {
        let address = self.socket.peer_addr().map_err(|error| self.failed("peer", error))?;
        address.as_socket().ok_or_else(|| self.failed("peer", Errno::EAFNOSUPPORT))
    }

    /// Sets the receive buffer (`SO_RCVBUF`) and says what was given.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_receive_buffer(
        &self,
        bytes: usize,
        limit: BufferLimit,
    ) -> Result<BufferSize, PlatformError> {
        let failed = |error: io::Error| self.failed("set the receive buffer", error);
        let forced =
            limit == BufferLimit::Forced && setsockopt(self, sockopt::RcvBufForce, &bytes).is_ok();
        if !forced {
            self.socket.set_recv_buffer_size(bytes).map_err(failed)?;
        }
        let booked_bytes = self.socket.recv_buffer_size().map_err(failed)?;
        Ok(BufferSize { wanted_bytes: bytes, given_bytes: booked_bytes / 2, booked_bytes })
    }

    /// Sets the send buffer (`SO_SNDBUF`) and says what was given.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_send_buffer(
        &self,
        bytes: usize,
        limit: BufferLimit,
    ) -> Result<BufferSize, PlatformError> {
        let failed = |error: io::Error| self.failed("set the send buffer", error);
        let forced =
            limit == BufferLimit::Forced && setsockopt(self, sockopt::SndBufForce, &bytes).is_ok();
        if !forced {
            self.socket.set_send_buffer_size(bytes).map_err(failed)?;
        }
        let booked_bytes = self.socket.send_buffer_size().map_err(failed)?;
        Ok(BufferSize { wanted_bytes: bytes, given_bytes: booked_bytes / 2, booked_bytes })
    }

    /// Longest wait of a receiving call; `None` waits for ever.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_receive_timeout(&self, timeout: Option<Duration>) -> Result<(), PlatformError> {
        self.socket
            .set_read_timeout(timeout.map(at_least_one_microsecond))
            .map_err(|error| self.failed("set the receive timeout", error))
    }

    /// Longest wait of a sending call; `None` waits for ever.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_send_timeout(&self, timeout: Option<Duration>) -> Result<(), PlatformError> {
        self.socket
            .set_write_timeout(timeout.map(at_least_one_microsecond))
            .map_err(|error| self.failed("set the send timeout", error))
    }

    /// Waits until something can be received; false when the time passed or a signal came.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait_readable(&self, timeout: Duration) -> Result<bool, PlatformError> {
        self.wait(PollFlags::POLLIN, timeout)
    }

    /// Waits until something can be sent; false when the time passed or a signal came.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait_writable(&self, timeout: Duration) -> Result<bool, PlatformError> {
        self.wait(PollFlags::POLLOUT, timeout)
    }

    /// The memory of the socket as the kernel books it.
    ///
    /// # Errors
    /// When the kernel is older than 4.12 and does not tell.
    pub fn memory_info(&self) -> Result<MemoryInfo, PlatformError> {
        let words: [u32; MEMORY_INFO_WORDS] = self
            .option(libc::SOL_SOCKET, SO_MEMINFO)
            .map_err(|error| self.failed("read SO_MEMINFO", error))?;
        // Order of the words: `SK_MEMINFO_*` in <linux/sock_diag.h>.
        let [receive_used, receive_limit, send_used, send_limit, _, queued, _, backlog, dropped] =
            words;
        Ok(MemoryInfo {
            receive_used_bytes: receive_used,
            receive_limit_bytes: receive_limit,
            send_used_bytes: send_used,
            send_limit_bytes: send_limit,
            send_queued_bytes: queued,
            backlog_bytes: backlog,
            dropped,
        })
    }

    fn wait(&self, events: PollFlags, timeout: Duration) -> Result<bool, PlatformError> {
        let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(self.as_fd(), events)], timeout) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::EINTR) => Ok(false),
            Err(errno) => Err(self.failed("wait", errno)),
        }
    }

    fn send(&self, bytes: &[u8], flags: MsgFlags) -> Result<Option<usize>, PlatformError> {
        match send(self.socket.as_raw_fd(), bytes, flags | MsgFlags::MSG_NOSIGNAL) {
            Ok(sent) => Ok(Some(sent)),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(errno) => Err(self.failed("send", errno)),
        }
    }

    fn receive(&self, buffer: &mut [u8], flags: MsgFlags) -> Result<Option<usize>, PlatformError> {
        match recv(self.socket.as_raw_fd(), buffer, flags) {
            Ok(received) => Ok(Some(received)),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(errno) => Err(self.failed("receive", errno)),
        }
    }

    /// Reads an option that is a plain structure of numbers. The kernel may know fewer fields than
    /// the structure has; those stay zero.
    fn option<T: Numbers>(&self, level: i32, name: i32) -> io::Result<T> {
        let mut value = MaybeUninit::<T>::zeroed();
        let mut length = libc::socklen_t::try_from(size_of::<T>()).map_err(io::Error::other)?;
        let descriptor = self.socket.as_raw_fd();
        // SAFETY: the kernel writes at most `length` bytes, the size of `value`, which lives here.
        let outcome = unsafe {
            libc::getsockopt(descriptor, level, name, value.as_mut_ptr().cast(), &raw mut length)
        };
        Errno::result(outcome)?;
        // SAFETY: `Numbers` are valid in every bit pattern and all bytes were zero before the call.
        Ok(unsafe { value.assume_init() })
    }

    /// Sets an option that is one number.
    fn set_number(
        &self,
        operation: &'static str,
        name: i32,
        value: i32,
    ) -> Result<(), PlatformError> {
        let descriptor = self.socket.as_raw_fd();
        let length: libc::socklen_t = i32::BITS / 8;
        // SAFETY: the kernel reads `length` bytes, the size of `value`, which lives here.
        let outcome = unsafe {
            libc::setsockopt(descriptor, libc::SOL_SOCKET, name, (&raw const value).cast(), length)
        };
        Errno::result(outcome).map(drop).map_err(|errno| self.failed(operation, errno))
    }

    /// An error of this socket with both addresses, as far as it has them.
    fn failed(&self, operation: &'static str, source: impl Into<io::Error>) -> PlatformError {
        let text = |address: io::Result<SockAddr>| {
            let address = address.ok().and_then(|address| address.as_socket());
            address.map_or_else(|| "-".to_owned(), |address| address.to_string())
        };
        let (local, peer) = (text(self.socket.local_addr()), text(self.socket.peer_addr()));
        let address = format!("{local} to {peer}");
        PlatformError::Socket { operation, address, source: source.into() }
    }
}

impl AsFd for Endpoint {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A plain structure of numbers, valid in every bit pattern.
///
/// # Safety
/// The type must consist of integers only.
unsafe trait Numbers: Copy {}

// SAFETY: an array of integers.
unsafe impl<const N: usize> Numbers for [u32; N] {}

// SAFETY: a C structure of integers.
unsafe impl Numbers for libc::tcp_info {}

fn refused(operation: &'static str, address: SocketAddr, source: io::Error) -> PlatformError {
    PlatformError::Socket { operation, address: address.to_string(), source }
}

/// To the kernel a timeout of zero is none.
fn at_least_one_microsecond(timeout: Duration) -> Duration {
    timeout.max(Duration::from_micros(1))
}

/// `SO_MEMINFO` of <asm-generic/socket.h>, which the libc crate does not know.
const SO_MEMINFO: i32 = 55;

/// Words of `SO_MEMINFO` that are read: up to and with `SK_MEMINFO_DROPS`.
const MEMORY_INFO_WORDS: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_is_replaced_by_a_free_one() {
        let first = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let taken = first.local_address().unwrap();
        let second = UdpSocket::bind(taken).unwrap().local_address().unwrap();
        assert!(second.ip() == taken.ip() && second.port() != taken.port());
    }

    #[test]
    fn a_foreign_address_is_refused_by_name() {
        let error = UdpSocket::bind("192.0.2.1:5000".parse().unwrap()).unwrap_err().to_string();
        assert!(error.contains("bind (192.0.2.1:5000): Cannot assign"), "{error}");
    }

    #[test]
    fn a_capped_receive_buffer_is_reported() {
        let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let small = socket.set_receive_buffer(65_536, BufferLimit::Kept).unwrap();
        assert!(!small.capped() && small.given_bytes == 65_536, "{small:?}");
        let huge = socket.set_receive_buffer(1 << 30, BufferLimit::Kept).unwrap();
        assert!(huge.capped() && huge.given_bytes < huge.wanted_bytes, "{huge:?}");
        assert_eq!(socket.memory_info().unwrap().receive_limit_bytes as usize, huge.booked_bytes);
    }

    #[test]
    fn who_administers_the_network_may_go_past_the_limit() {
        let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let receive = socket.set_receive_buffer(1 << 28, BufferLimit::Forced).unwrap();
        let send = socket.set_send_buffer(1 << 28, BufferLimit::Forced).unwrap();
        // A container's root may lack the right (CAP_NET_ADMIN, bit 12).
        let rights = procfs::process::Process::myself().unwrap().status().unwrap().capeff;
        let may = rights & (1 << 12) != 0;
        assert_eq!((receive.capped(), send.capped()), (!may, !may));
    }
}

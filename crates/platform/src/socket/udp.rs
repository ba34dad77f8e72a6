//! UDP sockets, and how many datagrams the kernel dropped for want of buffer.

use std::net::SocketAddr;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, SockaddrStorage, recvfrom};
use socket2::{Protocol, SockAddr, Type};

use super::Endpoint;
use crate::PlatformError;

/// A UDP socket.
#[derive(Debug)]
pub struct UdpSocket {
    endpoint: Endpoint,
    /// Datagrams dropped so far, the kernel's 32-bit count continued.
    dropped: AtomicU64,
}

impl UdpSocket {
    /// Opens a socket at the address, or at any free port of its host when the port is in use.
    ///
    /// # Errors
    /// The kernel's, with the address.
    pub fn bind(address: SocketAddr) -> Result<Self, PlatformError> {
        let endpoint = Endpoint::new(address, Type::DGRAM, Protocol::UDP)?;
        endpoint.bind(address)?;
        Ok(Self { endpoint, dropped: AtomicU64::new(0) })
    }

    /// Fixes the peer: only it is sent to and received from.
    ///
    /// # Errors
    /// The kernel's, with the address.
    pub fn connect(&self, peer: SocketAddr) -> Result<(), PlatformError> {
        self.socket
            .connect(&SockAddr::from(peer))
            .map_err(|source| super::refused("connect", peer, source))
    }

    /// Sends one datagram to the peer, waiting for room in the send buffer.
    ///
    /// # Errors
    /// The kernel's; a peer's port that is closed shows here as a refused connection.
    pub fn send(&self, datagram: &[u8]) -> Result<Option<usize>, PlatformError> {
        self.endpoint.send(datagram, MsgFlags::empty())
    }

    /// Sends one datagram to the peer if there is room for it.
    ///
    /// # Errors
    /// As for [`UdpSocket::send`].
    pub fn try_send(&self, datagram: &[u8]) -> Result<Option<usize>, PlatformError> {
        self.endpoint.send(datagram, MsgFlags::MSG_DONTWAIT)
    }

    /// Sends one datagram to an address.
    ///
    /// # Errors
    /// The kernel's.
    pub fn send_to(&self, datagram: &[u8], to: SocketAddr) -> Result<usize, PlatformError> {
        self.socket
            .send_to(datagram, &SockAddr::from(to))
            .map_err(|source| super::refused("send", to, source))
    }

    /// Receives one datagram, waiting as long as the receive timeout says. What does not fit into
    /// the buffer is lost.
    ///
    /// # Errors
    /// The kernel's.
    pub fn receive(&self, buffer: &mut [u8]) -> Result<Option<usize>, PlatformError> {
        self.endpoint.receive(buffer, MsgFlags::empty())
    }

    /// Receives one datagram if one is there.
    ///
    /// # Errors
    /// The kernel's.
    pub fn try_receive(&self, buffer: &mut [u8]) -> Result<Option<usize>, PlatformError> {
        self.endpoint.receive(buffer, MsgFlags::MSG_DONTWAIT)
    }

    /// Receives one datagram, waiting at most `timeout`. Two system calls, not one.
    ///
    /// # Errors
    /// The kernel's.
    pub fn receive_within(
        &self,
        buffer: &mut [u8],
        timeout: Duration,
    ) -> Result<Option<usize>, PlatformError> {
        if self.wait_readable(timeout)? { self.try_receive(buffer) } else { Ok(None) }
    }

    /// Receives one datagram and its sender's address.
    ///
    /// # Errors
    /// The kernel's.
    pub fn receive_from(
        &self,
        buffer: &mut [u8],
    ) -> Result<Option<(usize, SocketAddr)>, PlatformError> {
        match recvfrom::<SockaddrStorage>(self.socket.as_raw_fd(), buffer) {
            Ok((bytes, from)) => {
                let from = from.as_ref().and_then(socket_address);
                let from = from.ok_or_else(|| self.failed("receive", Errno::EAFNOSUPPORT))?;
                Ok(Some((bytes, from)))
            }
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            Err(errno) => Err(self.failed("receive", errno)),
        }
    }

    /// Datagrams that the kernel dropped at this socket since it was made: the receive buffer was
    /// full, or the checksum was wrong. Exact as long as it is asked once in 2³² drops.
    ///
    /// # Errors
    /// When the kernel is older than 4.12 and does not tell.
    pub fn dropped(&self) -> Result<u64, PlatformError> {
        let now = self.memory_info()?.dropped;
        let before = self.dropped.load(Ordering::Relaxed);
        let total = continued(before, now);
        self.dropped.store(total, Ordering::Relaxed);
        Ok(total)
    }
}

impl Deref for UdpSocket {
    type Target = Endpoint;

    fn deref(&self) -> &Endpoint {
        &self.endpoint
    }
}

/// Continues a 32-bit counter in 64 bits: the next value at or after `total` that ends in `low`.
fn continued(total: u64, low: u32) -> u64 {
    let seen = total & u64::from(u32::MAX);
    let wrapped = if u64::from(low) < seen { 1 << 32 } else { 0 };
    total - seen + u64::from(low) + wrapped
}

fn socket_address(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address.as_sockaddr_in().map(|v4| SocketAddr::V4((*v4).into()));
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| SocketAddr::V6((*v6).into())))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::socket::BufferLimit;

    pub(in crate::socket) fn pair() -> (UdpSocket, UdpSocket) {
        let any = || UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let (sender, receiver) = (any(), any());
        sender.connect(receiver.local_address().unwrap()).unwrap();
        receiver.connect(sender.local_address().unwrap()).unwrap();
        (sender, receiver)
    }

    #[test]
    fn sent_is_received_plus_dropped() {
        let (sender, receiver) = pair();
        receiver.set_receive_buffer(8192, BufferLimit::Kept).unwrap();
        for _ in 0..1000 {
            assert_eq!(sender.send(&[7; 512]).unwrap(), Some(512));
        }
        let mut buffer = [0; 2048];
        let mut received = 0;
        while receiver.try_receive(&mut buffer).unwrap() == Some(512) {
            received += 1;
        }
        let dropped = receiver.dropped().unwrap();
        assert!(received > 0 && dropped > 0, "{received} received, {dropped} dropped");
        assert_eq!(received + dropped, 1000);
    }

    #[test]
    fn nothing_in_time_is_no_error() {
        let (_sender, receiver) = pair();
        let mut buffer = [0; 16];
        assert_eq!(receiver.try_receive(&mut buffer).unwrap(), None);
        assert_eq!(receiver.receive_within(&mut buffer, Duration::ZERO).unwrap(), None);
        receiver.set_receive_timeout(Some(Duration::from_millis(1))).unwrap();
        assert_eq!(receiver.receive(&mut buffer).unwrap(), None);
    }

    #[test]
    fn an_empty_datagram_is_received_as_such() {
        let (sender, receiver) = pair();
        sender.send(&[]).unwrap();
        assert_eq!(receiver.receive(&mut [0; 16]).unwrap(), Some(0));
    }

    #[test]
    fn a_closed_port_shows_at_the_sender_with_both_addresses() {
        let (sender, receiver) = pair();
        let closed = receiver.local_address().unwrap().to_string();
        drop(receiver);
        let error = (0..100).find_map(|_| sender.send(&[1]).err()).unwrap().to_string();
        assert!(error.contains(&closed) && error.contains("refused"), "{error}");
    }

    #[test]
    fn the_sender_of_a_datagram_is_known() {
        let any = || UdpSocket::bind("[::1]:0".parse().unwrap());
        let Ok((sender, receiver)) = any().and_then(|first| Ok((first, any()?))) else {
            return;
        };
        sender.send_to(b"ab", receiver.local_address().unwrap()).unwrap();
        let (bytes, from) = receiver.receive_from(&mut [0; 16]).unwrap().unwrap();
        assert_eq!((bytes, from), (2, sender.local_address().unwrap()));
    }

    #[test]
    fn the_drop_counter_goes_on_past_32_bits() {
        for (total, low, expected) in [
            (0, 5, 5),
            (5, 5, 5),
            (u64::from(u32::MAX), 0, 1 << 32),
            ((1 << 32) + 7, 6, (2 << 32) + 6),
        ] {
            assert_eq!(continued(total, low), expected);
        }
    }
}

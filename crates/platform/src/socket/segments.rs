//! Many datagrams a call: the kernel cuts what is sent (UDP GSO) and joins what is received
//! (UDP GRO), so that the stack is passed once for all of them.
//!
//! ```text
//! send(64 x 1472 B) ──► one packet of 94 208 B ──► cut by the device, or never ──► joined ──► one receive
//! ```

use std::io::IoSliceMut;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};

use super::UdpSocket;
use crate::PlatformError;

/// Datagrams that one call may send at most (`UDP_MAX_SEGMENTS` of older kernels).
pub const MAX_SEGMENTS: usize = 64;

/// What one call received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// Payload in all [B].
    pub bytes: usize,
    /// Payload of each datagram but the last, which may be shorter [B].
    pub segment_bytes: usize,
}

impl Segments {
    /// Datagrams [count]; an empty one counts.
    #[must_use]
    pub fn count(&self) -> usize {
        self.bytes.div_ceil(self.segment_bytes.max(1)).max(1)
    }
}

impl UdpSocket {
    /// From now on a call sends its bytes as datagrams of this size (`UDP_SEGMENT`); `None` as one.
    /// Such a call takes at most [`MAX_SEGMENTS`] datagrams and 65 507 B, and the size must fit the
    /// path's packets.
    ///
    /// # Errors
    /// When the kernel does not offer it.
    pub fn set_segment_bytes(&self, bytes: Option<u16>) -> Result<(), PlatformError> {
        setsockopt(&**self, sockopt::UdpGsoSegment, &bytes.map_or(0, i32::from))
            .map_err(|errno| self.failed("set UDP_SEGMENT", errno))
    }

    /// Whether datagrams of one size may be received together (`UDP_GRO`).
    ///
    /// # Errors
    /// When the kernel does not offer it.
    pub fn set_receive_offload(&self, on: bool) -> Result<(), PlatformError> {
        setsockopt(&**self, sockopt::UdpGroSegment, &on)
            .map_err(|errno| self.failed("set UDP_GRO", errno))
    }

    /// Receives one datagram, or several that came together, waiting as long as the receive timeout
    /// says. The buffer must hold 65 535 B for several.
    ///
    /// # Errors
    /// The kernel's, and when the buffer was too small.
    pub fn receive_segments(&self, buffer: &mut [u8]) -> Result<Option<Segments>, PlatformError> {
        let mut control = Control::default();
        let mut parts = [IoSliceMut::new(buffer)];
        let descriptor = self.socket.as_raw_fd();
        let failed = |errno| self.failed("receive", errno);
        let flags = MsgFlags::empty();
        let message =
            recvmsg::<SockaddrStorage>(descriptor, &mut parts, Some(&mut control.0), flags);
        let message = match message {
            Ok(message) => message,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
            Err(errno) => return Err(failed(errno)),
        };
        if message.flags.contains(MsgFlags::MSG_TRUNC) {
            return Err(failed(Errno::EMSGSIZE));
        }
        let joined = message.cmsgs().map_err(failed)?.find_map(|control| match control {
            ControlMessageOwned::UdpGroSegments(bytes) => usize::try_from(bytes).ok(),
            _ => None,
        });
        let bytes = message.bytes;
        Ok(Some(Segments { bytes, segment_bytes: joined.unwrap_or(bytes) }))
    }
}

/// Room for the control messages of one receive: a report of the error queue with its IPv6 address
/// takes 72 B, aligned as the kernel's headers are.
#[repr(align(8))]
pub(super) struct Control(pub(super) [u8; 128]);

impl Default for Control {
    fn default() -> Self {
        Self([0; 128])
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::socket::tcp::tests::varied;
    use crate::socket::udp::tests::pair;

    #[test]
    fn what_was_cut_and_joined_is_intact() {
        let (sender, receiver) = pair();
        sender.set_segment_bytes(Some(1000)).unwrap();
        receiver.set_receive_offload(true).unwrap();
        let content = varied(40_500);
        assert_eq!(sender.send(&content).unwrap(), Some(40_500));
        let mut buffer = vec![0; 65_535];
        let (mut received, mut datagrams) = (Vec::new(), 0);
        while received.len() < content.len() {
            let segments = receiver.receive_segments(&mut buffer).unwrap().unwrap();
            received.extend_from_slice(&buffer[..segments.bytes]);
            datagrams += segments.count();
        }
        assert!(received == content);
        assert_eq!(datagrams, 41);
    }

    #[test]
    fn without_the_offload_each_datagram_is_received_alone() {
        let (sender, receiver) = pair();
        sender.set_segment_bytes(Some(1000)).unwrap();
        sender.send(&varied(2500)).unwrap();
        sender.set_segment_bytes(None).unwrap();
        sender.send(&varied(2500)).unwrap();
        let mut buffer = vec![0; 65_535];
        for bytes in [1000, 1000, 500, 2500] {
            let segments = receiver.receive_segments(&mut buffer).unwrap();
            assert_eq!(segments, Some(Segments { bytes, segment_bytes: bytes }));
        }
    }

    #[test]
    fn more_than_a_call_may_send_is_refused_by_name() {
        let (sender, _receiver) = pair();
        sender.set_segment_bytes(Some(1000)).unwrap();
        let error = sender.send(&vec![0; 70_000]).unwrap_err().to_string();
        assert!(error.starts_with("send (127.0.0.1:"), "{error}");
    }

    #[test]
    fn an_empty_datagram_is_one_and_silence_is_none() {
        let (sender, receiver) = pair();
        sender.send(&[]).unwrap();
        let mut buffer = [0; 100];
        let empty = receiver.receive_segments(&mut buffer).unwrap().unwrap();
        assert_eq!((empty.bytes, empty.count()), (0, 1));
        receiver.set_receive_timeout(Some(Duration::from_millis(1))).unwrap();
        assert_eq!(receiver.receive_segments(&mut buffer).unwrap(), None);
    }

    #[test]
    fn a_buffer_that_is_too_small_is_an_error() {
        let (sender, receiver) = pair();
        sender.send(&[1; 200]).unwrap();
        let error = receiver.receive_segments(&mut [0; 100]).unwrap_err().to_string();
        assert!(error.contains("Message too long"), "{error}");
    }
}

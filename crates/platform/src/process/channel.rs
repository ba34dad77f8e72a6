//! A control channel to a process on another machine: one JSON value a line, over TCP.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use nix::poll::PollFlags;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Incoming;
use super::lines::{Filled, Lines, encode, shortened, wait_for};
use crate::PlatformError;
use crate::clock::{monotonic_ns, nanos_of};
use crate::interrupt;
use crate::socket::{TcpOptions, TcpStream};

/// One end of the channel.
#[derive(Debug)]
pub struct Channel {
    stream: TcpStream,
    lines: Lines,
    /// The other end, for errors.
    peer: String,
    /// The last message to it, shortened, for errors.
    asked: String,
}

impl Channel {
    /// Connects to a process that listens at `address`, a name or number with a port.
    ///
    /// # Errors
    /// When the name is not known, or nobody answers there within `patience`; each names the
    /// address.
    pub fn connect(address: &str, patience: Duration) -> Result<Self, PlatformError> {
        let unreachable =
            |reason: String| PlatformError::PeerUnreachable { address: address.to_owned(), reason };
        let found = address.to_socket_addrs().map_err(|error| unreachable(error.to_string()))?;
        let mut why = "the name has no address".to_owned();
        // A name may have several addresses, of which some are not served.
        for found in found {
            match TcpStream::connect(found, &options(), patience) {
                Ok(stream) => return Ok(Self::over(stream, address.to_owned())),
                Err(error) => why = error.to_string(),
            }
        }
        Err(unreachable(why))
    }

    /// The channel over a connection that was accepted; `peer` is for errors.
    #[must_use]
    pub fn over(stream: TcpStream, peer: String) -> Self {
        Self { stream, lines: Lines::default(), peer, asked: "nothing yet".into() }
    }

    /// The other end as errors name it.
    #[must_use]
    pub fn peer(&self) -> &str {
        &self.peer
    }

    /// Addresses of this and of the other end.
    ///
    /// # Errors
    /// The kernel's.
    pub fn addresses(&self) -> Result<(SocketAddr, SocketAddr), PlatformError> {
        Ok((self.stream.local_address()?, self.stream.peer_address()?))
    }

    /// Sends one message.
    ///
    /// # Errors
    /// When the peer is gone, or has not taken the message within ten seconds.
    pub fn send(&mut self, message: &impl Serialize) -> Result<(), PlatformError> {
        let line = encode(&self.peer, message)?;
        self.asked = shortened(&line);
        let deadline_ns = monotonic_ns() + nanos_of(SEND_PATIENCE);
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            match self.stream.try_send(rest) {
                Ok(Some(sent)) => rest = &rest[sent..],
                Ok(None) => {
                    let writable = wait_for(&*self.stream, PollFlags::POLLOUT, deadline_ns);
                    self.check(writable, deadline_ns, SEND_PATIENCE)?;
                }
                Err(_) => return Err(self.gone()),
            }
        }
        Ok(())
    }

    /// Receives the next message, waiting at most `timeout`.
    ///
    /// # Errors
    /// When the peer is gone, was silent, sent something else than a `T`, or when the user asked to
    /// stop meanwhile ([`interrupt::requested`]).
    pub fn receive<T: DeserializeOwned>(&mut self, timeout: Duration) -> Result<T, PlatformError> {
        match self.incoming(timeout)? {
            Incoming::Message(message) => Ok(message),
            Incoming::Closed => Err(self.gone()),
            Incoming::Nothing => Err(self.silent(timeout)),
        }
    }

    /// Receives the next message, the end of the channel, or nothing within `timeout`.
    ///
    /// # Errors
    /// As for [`Channel::receive`], but for the end and for silence.
    pub fn incoming<T: DeserializeOwned>(
        &mut self,
        timeout: Duration,
    ) -> Result<Incoming<T>, PlatformError> {
        let deadline_ns = monotonic_ns().saturating_add(nanos_of(timeout));
        loop {
            if let Some(message) = self.lines.take(&self.peer)? {
                return Ok(Incoming::Message(message));
            }
            let readable = wait_for(&*self.stream, PollFlags::POLLIN, deadline_ns);
            match self.check(readable, deadline_ns, timeout) {
                Ok(false) => {}
                Ok(true) => match self.lines.fill(&self.peer, &*self.stream) {
                    Ok(Filled::Some) => {}
                    // A connection that was reset is as closed as one that was finished.
                    Ok(Filled::Closed) | Err(PlatformError::System { .. }) => {
                        return Ok(Incoming::Closed);
                    }
                    Err(error) => return Err(error),
                },
                Err(PlatformError::PeerSilent { .. }) => return Ok(Incoming::Nothing),
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether a wait brought something; silence past the deadline and Ctrl-C are errors.
    fn check(
        &self,
        ready: Result<bool, nix::errno::Errno>,
        deadline_ns: u64,
        timeout: Duration,
    ) -> Result<bool, PlatformError> {
        let ready = ready
            .map_err(|errno| PlatformError::system(format!("wait for {}", self.peer), errno))?;
        if interrupt::requested() {
            return Err(PlatformError::Interrupted { what: self.peer.clone() });
        }
        if !ready && monotonic_ns() >= deadline_ns {
            return Err(self.silent(timeout));
        }
        Ok(ready)
    }

    fn silent(&self, waited: Duration) -> PlatformError {
        let (peer, asked) = (self.peer.clone(), self.asked.clone());
        PlatformError::PeerSilent { peer, asked, waited }
    }

    fn gone(&self) -> PlatformError {
        PlatformError::PeerGone { peer: self.peer.clone(), asked: self.asked.clone() }
    }
}

/// Orders and answers are small and wait for each other: none is held back.
fn options() -> TcpOptions {
    TcpOptions { no_delay: true, ..TcpOptions::system() }
}

/// Longest wait for a peer to take a message: it reads at once or is stuck.
const SEND_PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::TcpListener;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn pair() -> (Channel, Channel) {
        let listener = TcpListener::bind("127.0.0.1:0".parse().unwrap(), &options()).unwrap();
        let address = listener.local_address().unwrap().to_string();
        let near = Channel::connect(&address, PATIENCE).unwrap();
        let far = listener.accept(PATIENCE).unwrap().unwrap();
        (near, Channel::over(far, "the near end".into()))
    }

    #[test]
    fn messages_of_any_size_pass_both_ways() {
        let (mut near, mut far) = pair();
        for size in [0, 1, 60_000] {
            let text = "ö".repeat(size);
            near.send(&text).unwrap();
            assert_eq!(far.receive::<String>(PATIENCE).unwrap(), text);
            far.send(&size).unwrap();
            assert_eq!(near.receive::<usize>(PATIENCE).unwrap(), size);
        }
        assert_eq!(near.addresses().unwrap().0, far.addresses().unwrap().1);
    }

    #[test]
    fn a_peer_that_left_is_named_with_what_it_was_asked() {
        let (mut near, far) = pair();
        near.send(&"how are you").unwrap();
        drop(far);
        let error = near.receive::<String>(PATIENCE).unwrap_err().to_string();
        assert!(error.starts_with("127.0.0.1:"), "{error}");
        assert!(error.ends_with("is gone; it was asked \"how are you\""), "{error}");
    }

    #[test]
    fn a_silent_peer_is_waited_for_no_longer_than_asked() {
        let (mut near, mut far) = pair();
        let nothing = far.incoming::<String>(Duration::ZERO).unwrap();
        assert_eq!(nothing, Incoming::Nothing);
        let error = near.receive::<String>(Duration::from_millis(5)).unwrap_err().to_string();
        assert!(error.ends_with("was silent for 5ms when asked nothing yet"), "{error}");
        drop(near);
        assert_eq!(far.incoming::<String>(PATIENCE).unwrap(), Incoming::Closed);
    }

    #[test]
    fn an_address_that_nobody_serves_is_named() {
        let (near, far) = pair();
        let free = near.addresses().unwrap().0.to_string();
        drop((near, far));
        for address in [free.as_str(), "no port", "127.0.0.1:99999"] {
            let error = Channel::connect(address, PATIENCE).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{address} cannot be reached: ")), "{error}");
        }
    }
}

//! Busy polling: a receiving call looks for packets itself for a while before it sleeps.

use std::time::Duration;

use super::Endpoint;
use crate::PlatformError;

impl Endpoint {
    /// How long a receiving call polls the device of its packets (`SO_BUSY_POLL`); zero is not at
    /// all. While it polls, the device's interrupts stay off (`SO_PREFER_BUSY_POLL`). Devices
    /// without a queue of their own, such as loopback, have nothing to poll.
    ///
    /// # Errors
    /// When the kernel does not offer it, or without the right to a time above the system's
    /// (`net.core.busy_read`).
    pub fn set_busy_poll(&self, time: Duration) -> Result<(), PlatformError> {
        let micros = i32::try_from(time.as_micros()).unwrap_or(i32::MAX);
        self.set_number("set SO_BUSY_POLL", SO_BUSY_POLL, micros)?;
        self.set_number("set SO_PREFER_BUSY_POLL", SO_PREFER_BUSY_POLL, i32::from(micros > 0))
    }
}

/// Options of <asm-generic/socket.h> that the libc crate does not know.
const SO_BUSY_POLL: i32 = 46;
const SO_PREFER_BUSY_POLL: i32 = 69;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::UdpSocket;

    #[test]
    fn busy_polling_is_set_or_refused_by_name() {
        let socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        socket.set_busy_poll(Duration::ZERO).unwrap();
        // Without CAP_NET_ADMIN the kernel keeps it to root.
        if let Err(error) = socket.set_busy_poll(Duration::from_micros(50)) {
            assert!(error.to_string().contains("BUSY_POLL (127.0.0.1:"), "{error}");
            return;
        }
        let found = socket.option::<[u32; 1]>(nix::libc::SOL_SOCKET, SO_BUSY_POLL).unwrap();
        assert_eq!(found, [50]);
    }
}

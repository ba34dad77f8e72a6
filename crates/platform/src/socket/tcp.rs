//! TCP listeners and streams with their congestion control chosen and their counters readable.

use std::fs;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::ops::Deref;
use std::time::Duration;

use nix::libc;
use nix::sys::socket::MsgFlags;
use socket2::{Protocol, SockAddr, Type};

use super::{BufferLimit, Endpoint};
use crate::PlatformError;

/// How a connection is to be set up. The options must be set before the handshake, because the
/// receive buffer decides the window scale that is agreed on in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpOptions {
    /// Congestion control by the kernel's name; `None` leaves the system's.
    pub congestion_control: Option<String>,
    /// Send small messages at once (`TCP_NODELAY`).
    pub no_delay: bool,
    /// Send buffer [B]; `None` leaves it to the kernel, which moves it as needed.
    pub send_buffer_bytes: Option<usize>,
    /// Receive buffer [B]; `None` leaves it to the kernel, which moves it as needed.
    pub receive_buffer_bytes: Option<usize>,
    /// Whether the system's limit on buffers holds.
    pub buffer_limit: BufferLimit,
}

impl TcpOptions {
    /// What a program gets that asks for nothing.
    #[must_use]
    pub fn system() -> Self {
        Self {
            congestion_control: None,
            no_delay: false,
            send_buffer_bytes: None,
            receive_buffer_bytes: None,
            buffer_limit: BufferLimit::Kept,
        }
    }
}

/// Counters of a connection (`TCP_INFO`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Segments sent again since the connection was made [count].
    pub retransmitted: u32,
    /// Smoothed round trip time [ns].
    pub round_trip_ns: u64,
    /// Its mean deviation [ns].
    pub round_trip_deviation_ns: u64,
    /// Congestion window [segments].
    pub congestion_window: u32,
    /// Payload of a full segment that is sent [B].
    pub segment_bytes: u32,
    /// Segments sent and not yet acknowledged [count].
    pub unacknowledged: u32,
    /// Segments with payload sent since the connection was made, those sent again included,
    /// modulo 2³² [count].
    pub data_segments: u32,
    /// Handed to the kernel and not sent yet [B].
    pub unsent_bytes: u32,
}

/// A socket that waits for connections.
#[derive(Debug)]
pub struct TcpListener {
    endpoint: Endpoint,
}

/// A connection.
#[derive(Debug)]
pub struct TcpStream {
    endpoint: Endpoint,
}

impl TcpListener {
    /// Listens at the address, or at any free port of its host when the port is in use. Accepted
    /// connections inherit the options.
    ///
    /// # Errors
    /// The kernel's, with the address; an unknown congestion control with those that there are.
    pub fn bind(address: SocketAddr, options: &TcpOptions) -> Result<Self, PlatformError> {
        let endpoint = Endpoint::new(address, Type::STREAM, Protocol::TCP)?;
        endpoint.set_options(options)?;
        endpoint.bind(address)?;
        endpoint.socket.listen(BACKLOG).map_err(|error| endpoint.failed("listen", error))?;
        Ok(Self { endpoint })
    }

    /// Takes the next connection; `None` when none came in time.
    ///
    /// # Errors
    /// The kernel's.
    pub fn accept(&self, timeout: Duration) -> Result<Option<TcpStream>, PlatformError> {
        if !self.wait_readable(timeout)? {
            return Ok(None);
        }
        let (socket, _) = self.socket.accept().map_err(|error| self.failed("accept", error))?;
        Ok(Some(TcpStream { endpoint: Endpoint { socket } }))
    }
}

impl TcpStream {
    /// Connects to a listener.
    ///
    /// # Errors
    /// The kernel's, with the address; also when the listener did not answer in time.
    pub fn connect(
        address: SocketAddr,
        options: &TcpOptions,
        timeout: Duration,
    ) -> Result<Self, PlatformError> {
        let endpoint = Endpoint::new(address, Type::STREAM, Protocol::TCP)?;
        endpoint.set_options(options)?;
        endpoint
            .socket
            .connect_timeout(&SockAddr::from(address), timeout)
            .map_err(|source| super::refused("connect", address, source))?;
        Ok(Self { endpoint })
    }

    /// Hands bytes to the kernel and says how many it took; fewer than given when the send timeout
    /// passed meanwhile.
    ///
    /// # Errors
    /// The kernel's.
    pub fn send(&self, bytes: &[u8]) -> Result<Option<usize>, PlatformError> {
        self.endpoint.send(bytes, MsgFlags::empty())
    }

    /// Hands over as many bytes as there is room for.
    ///
    /// # Errors
    /// The kernel's.
    pub fn try_send(&self, bytes: &[u8]) -> Result<Option<usize>, PlatformError> {
        self.endpoint.send(bytes, MsgFlags::MSG_DONTWAIT)
    }

    /// Receives what is there, at least a byte; `Some(0)` is the end of the stream.
    ///
    /// # Errors
    /// The kernel's.
    pub fn receive(&self, buffer: &mut [u8]) -> Result<Option<usize>, PlatformError> {
        self.endpoint.receive(buffer, MsgFlags::empty())
    }

    /// Receives what is there without waiting.
    ///
    /// # Errors
    /// The kernel's.
    pub fn try_receive(&self, buffer: &mut [u8]) -> Result<Option<usize>, PlatformError> {
        self.endpoint.receive(buffer, MsgFlags::MSG_DONTWAIT)
    }

    /// Receives until the buffer is full (`MSG_WAITALL`), one system call; less at the end of the
    /// stream or when the receive timeout passed or a signal came meanwhile.
    ///
    /// # Errors
    /// The kernel's.
    pub fn receive_full(&self, buffer: &mut [u8]) -> Result<Option<usize>, PlatformError> {
        self.endpoint.receive(buffer, MsgFlags::MSG_WAITALL)
    }

    /// Sends what Nagle's rule holds back, and follows `no_delay` from then on.
    ///
    /// # Errors
    /// The kernel's.
    pub fn push(&self, no_delay: bool) -> Result<(), PlatformError> {
        let set = |on| self.socket.set_tcp_nodelay(on);
        set(true)
            .and_then(|()| set(no_delay))
            .map_err(|error| self.failed("set TCP_NODELAY", error))
    }

    /// Says that nothing more will be sent; the peer reads the end of the stream.
    ///
    /// # Errors
    /// The kernel's.
    pub fn finish_sending(&self) -> Result<(), PlatformError> {
        self.socket.shutdown(Shutdown::Write).map_err(|error| self.failed("finish sending", error))
    }

    /// Counters of the connection.
    ///
    /// # Errors
    /// The kernel's.
    pub fn info(&self) -> Result<TcpInfo, PlatformError> {
        let info: libc::tcp_info = self
            .option(libc::IPPROTO_TCP, libc::TCP_INFO)
            .map_err(|error| self.failed("read TCP_INFO", error))?;
        Ok(TcpInfo {
            retransmitted: info.tcpi_total_retrans,
            round_trip_ns: u64::from(info.tcpi_rtt) * 1000,
            round_trip_deviation_ns: u64::from(info.tcpi_rttvar) * 1000,
            congestion_window: info.tcpi_snd_cwnd,
            segment_bytes: info.tcpi_snd_mss,
            unacknowledged: info.tcpi_unacked,
            data_segments: info.tcpi_data_segs_out,
            unsent_bytes: info.tcpi_notsent_bytes,
        })
    }

    /// Name of the congestion control in use.
    ///
    /// # Errors
    /// The kernel's.
    pub fn congestion_control(&self) -> Result<String, PlatformError> {
        let name = self
            .socket
            .tcp_congestion()
            .map_err(|error| self.failed("read the congestion control", error))?;
        Ok(String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned())
    }
}

impl Endpoint {
    fn set_options(&self, options: &TcpOptions) -> Result<(), PlatformError> {
        if let Some(name) = &options.congestion_control {
            self.socket
                .set_tcp_congestion(name.as_bytes())
                .map_err(|source| no_congestion_control(name, source))?;
        }
        if let Some(bytes) = options.send_buffer_bytes {
            self.set_send_buffer(bytes, options.buffer_limit)?;
        }
        if let Some(bytes) = options.receive_buffer_bytes {
            self.set_receive_buffer(bytes, options.buffer_limit)?;
        }
        self.socket
            .set_tcp_nodelay(options.no_delay)
            .map_err(|error| self.failed("set TCP_NODELAY", error))
    }
}

impl Deref for TcpListener {
    type Target = Endpoint;

    fn deref(&self) -> &Endpoint {
        &self.endpoint
    }
}

impl Deref for TcpStream {
    type Target = Endpoint;

    fn deref(&self) -> &Endpoint {
        &self.endpoint
    }
}

/// The error that names what there is instead: what everyone may use when it was forbidden, else
/// all that is loaded.
fn no_congestion_control(name: &str, source: io::Error) -> PlatformError {
    let list = match source.kind() {
        io::ErrorKind::PermissionDenied => "tcp_allowed_congestion_control",
        _ => "tcp_available_congestion_control",
    };
    let available = fs::read_to_string(format!("/proc/sys/net/ipv4/{list}")).unwrap_or_default();
    PlatformError::CongestionControl {
        name: name.into(),
        available: available.trim().into(),
        source,
    }
}

/// Connections that may wait to be accepted: one experiment has a handful.
const BACKLOG: i32 = 16;

#[cfg(test)]
pub(super) mod tests {
    use std::thread::{JoinHandle, spawn};

    use super::*;

    pub(in crate::socket) const PATIENCE: Duration = Duration::from_secs(10);

    /// Bytes that no page, segment or pattern repeats.
    pub(in crate::socket) fn varied(bytes: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        };
        std::iter::repeat_with(next).take(bytes).collect()
    }

    /// A connection, and the thread that reads its other end to the end.
    pub(in crate::socket) fn received_in_a_thread() -> (TcpStream, JoinHandle<Vec<u8>>) {
        let (client, server) = pair(&TcpOptions::system());
        server.set_receive_timeout(Some(PATIENCE)).unwrap();
        let receive = move || {
            let (mut all, mut buffer) = (Vec::new(), vec![0; 1 << 18]);
            while let Some(bytes @ 1..) = server.receive(&mut buffer).unwrap() {
                all.extend_from_slice(&buffer[..bytes]);
            }
            all
        };
        (client, spawn(receive))
    }

    fn pair(options: &TcpOptions) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0".parse().unwrap(), options).unwrap();
        let address = listener.local_address().unwrap();
        let client = TcpStream::connect(address, options, PATIENCE).unwrap();
        (client, listener.accept(PATIENCE).unwrap().unwrap())
    }

    #[test]
    fn a_stream_carries_bytes_and_ends() {
        let (client, server) = pair(&TcpOptions::system());
        assert_eq!(client.send(&[3; 5000]).unwrap(), Some(5000));
        client.finish_sending().unwrap();
        let mut buffer = [0; 4000];
        assert_eq!(server.receive_full(&mut buffer).unwrap(), Some(4000));
        assert_eq!(server.receive_full(&mut buffer).unwrap(), Some(1000));
        assert_eq!(server.receive(&mut buffer).unwrap(), Some(0));
        assert_eq!(client.peer_address().unwrap(), server.local_address().unwrap());
    }

    #[test]
    fn both_sides_run_the_congestion_control_that_was_asked_for() {
        let options = TcpOptions {
            congestion_control: Some("reno".into()),
            no_delay: true,
            ..TcpOptions::system()
        };
        let (client, server) = pair(&options);
        assert_eq!(client.congestion_control().unwrap(), "reno");
        assert_eq!(server.congestion_control().unwrap(), "reno");
        assert!(server.socket.tcp_nodelay().unwrap());
    }

    #[test]
    fn an_unknown_congestion_control_is_named_with_those_there_are() {
        let options = TcpOptions {
            congestion_control: Some("carrier-pigeon".into()),
            ..TcpOptions::system()
        };
        let error = TcpListener::bind("127.0.0.1:0".parse().unwrap(), &options).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("carrier-pigeon") && error.contains("reno"), "{error}");
    }

    #[test]
    fn a_connection_has_a_round_trip_time_and_nothing_sent_again() {
        let (client, server) = pair(&TcpOptions::system());
        client.send(&[1; 100]).unwrap();
        assert_eq!(server.receive_full(&mut [0; 100]).unwrap(), Some(100));
        let info = client.info().unwrap();
        assert!(info.round_trip_ns > 0 && info.segment_bytes > 500, "{info:?}");
        assert_eq!((info.retransmitted, info.data_segments, info.unsent_bytes), (0, 1, 0));
    }

    #[test]
    fn what_is_held_back_is_sent_when_pushed() {
        let (client, server) = pair(&TcpOptions::system());
        server.set_receive_timeout(Some(PATIENCE)).unwrap();
        for _ in 0..10 {
            client.send(&[1; 10]).unwrap();
        }
        client.push(false).unwrap();
        assert_eq!(client.info().unwrap().unsent_bytes, 0);
        assert_eq!(server.receive_full(&mut [0; 100]).unwrap(), Some(100));
        assert!(!client.socket.tcp_nodelay().unwrap());
    }

    #[test]
    fn a_full_send_buffer_ends_at_the_timeout() {
        let options = TcpOptions {
            send_buffer_bytes: Some(16_384),
            receive_buffer_bytes: Some(16_384),
            ..TcpOptions::system()
        };
        let (client, _server) = pair(&options);
        while client.try_send(&[0; 4096]).unwrap().is_some() {}
        client.set_send_timeout(Some(Duration::from_millis(1))).unwrap();
        assert_eq!(client.send(&[0; 4096]).unwrap(), None);
    }

    #[test]
    fn a_listener_that_nobody_calls_waits_no_longer_than_asked() {
        let listener =
            TcpListener::bind("127.0.0.1:0".parse().unwrap(), &TcpOptions::system()).unwrap();
        assert!(listener.accept(Duration::ZERO).unwrap().is_none());
    }

    #[test]
    fn a_refused_connection_names_the_address() {
        let listener =
            TcpListener::bind("127.0.0.1:0".parse().unwrap(), &TcpOptions::system()).unwrap();
        let address = listener.local_address().unwrap();
        drop(listener);
        let error = TcpStream::connect(address, &TcpOptions::system(), PATIENCE).unwrap_err();
        let error = error.to_string();
        assert!(error.contains(&address.to_string()) && error.contains("refused"), "{error}");
    }
}

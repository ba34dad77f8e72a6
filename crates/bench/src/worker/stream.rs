//! Opening TCP connections between two workers.

use std::net::SocketAddr;
use std::time::Duration;

use bitpath_platform::socket::{BufferLimit, TcpListener, TcpOptions, TcpStream};

use super::{Buffers, Report, SOCKET_TIMEOUT, State, not_open};
use crate::BenchError;

/// Longest wait for a connection between two processes of one machine.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn listen(
    state: &mut State,
    address: SocketAddr,
    buffers: Buffers,
) -> Result<Report, BenchError> {
    let listener = TcpListener::bind(address, &TcpOptions::system())?;
    // Before a connection is made: its window scale depends on the receive buffer.
    let (booked_receive, booked_send) = buffers.apply(&listener)?;
    let address = listener.local_address()?;
    state.listener = Some(listener);
    Ok(Report::Opened { address, booked_receive, booked_send })
}

pub(super) fn connect(
    state: &mut State,
    address: SocketAddr,
    buffers: Buffers,
    congestion_control: &str,
) -> Result<Report, BenchError> {
    let options = TcpOptions {
        congestion_control: Some(congestion_control.into()),
        send_buffer_bytes: Some(buffers.send),
        receive_buffer_bytes: Some(buffers.receive),
        buffer_limit: BufferLimit::Forced,
        ..TcpOptions::system()
    };
    let stream = TcpStream::connect(address, &options, CONNECT_PATIENCE)?;
    let (booked_receive, booked_send) = buffers.apply(&stream)?;
    stream.set_send_timeout(Some(SOCKET_TIMEOUT))?;
    let address = stream.local_address()?;
    state.stream = Some(stream);
    Ok(Report::Opened { address, booked_receive, booked_send })
}

pub(super) fn accept(state: &mut State) -> Result<Report, BenchError> {
    let listener = state.listener.as_ref().ok_or_else(|| not_open("a listener"))?;
    let stream = listener.accept(CONNECT_PATIENCE)?.ok_or_else(|| not_open("a connection"))?;
    stream.set_receive_timeout(Some(SOCKET_TIMEOUT))?;
    state.stream = Some(stream);
    Ok(Report::Done)
}

/// The connection that an earlier order opened.
pub(super) fn tcp(state: &State) -> Result<&TcpStream, BenchError> {
    state.stream.as_ref().ok_or_else(|| not_open("a connection"))
}

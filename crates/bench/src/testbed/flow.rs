//! Flows over the test bed: opened, warmed, and measured in either direction.
//!
//! ```text
//! order ──► short transfers, each longer than the last ──► how many messages fill a slice ──► the slice
//!           (they warm the flow)
//! ```

use std::net::SocketAddr;
use std::time::Duration;

use bitpath_platform::PlatformError;
use bitpath_platform::namespace::{End, Offloads};
use bitpath_sim::profile::Side;

use super::{ANSWER_PATIENCE, Testbed, unexpected};
use crate::BenchError;
use crate::worker::{FlowOrder, FlowSetup, FlowUse, Order, PingOrder, Pings, Report};

/// What joins the two workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// The loopback interface of this machine.
    Loopback,
    /// A virtual cable between two network namespaces; needs root.
    Veth,
    /// Whatever lies between this machine and another.
    Peer,
}

impl Way {
    /// The name as in labels.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loopback => "loopback",
            Self::Veth => "veth",
            Self::Peer => "peer",
        }
    }
}

/// Which worker sends over a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// The sender, as its name says.
    Forward,
    /// The receiver.
    Reverse,
}

impl Direction {
    /// The name as in labels.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        }
    }

    /// Who sends and who receives.
    fn sides(self) -> (Side, Side) {
        match self {
            Self::Forward => (Side::Sender, Side::Receiver),
            Self::Reverse => (Side::Receiver, Side::Sender),
        }
    }
}

/// A transfer of about a certain length, behind a shorter one that warms the flow and tells how many
/// messages fill it.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    /// Its length [ns].
    pub length_ns: f64,
    /// Least length of the transfer that tells it [ns].
    pub warm_up_ns: f64,
    /// Fewest messages of it, also where they take longer [count].
    pub least_messages: u64,
}

impl Slice {
    /// Messages that fill it. `transfer` moves so many, `first` to begin with, and gives the time that
    /// they took [ns].
    fn messages(
        &self,
        first: u64,
        mut transfer: impl FnMut(u64) -> Result<u64, BenchError>,
    ) -> Result<u64, BenchError> {
        let mut messages = first;
        for _ in 0..MOST_TRIES {
            let elapsed_ns = transfer(messages)?.max(1) as f64;
            let filling = self.length_ns / elapsed_ns;
            if elapsed_ns >= self.warm_up_ns {
                return Ok(times(messages, filling).max(self.least_messages));
            }
            messages = times(messages, filling.min(GROWTH));
        }
        Ok(messages.max(self.least_messages))
    }
}

/// How much longer a try may be than the one before: the first ones say little.
const GROWTH: f64 = 8.0;

/// Tries after which the last one counts however short it was: from one message on they reach the most.
const MOST_TRIES: usize = 8;

/// Most messages of a slice: where a short transfer looked too fast.
const MOST_MESSAGES: u64 = 1_000_000;

fn times(messages: u64, factor: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive count, and `as` saturates"
    )]
    let messages = (messages as f64 * factor) as u64;
    messages.clamp(1, MOST_MESSAGES)
}

/// Longest wait for a transfer or for round trips: longer than a worker gives either.
const TRANSFER_PATIENCE: Duration = Duration::from_secs(60);

/// Longest wait for memory to be ready: gigabytes are written once.
const PREPARE_PATIENCE: Duration = Duration::from_secs(60);

impl Testbed {
    /// Opens a flow in place of an earlier one.
    ///
    /// # Errors
    /// Those of the workers: what the kernel refuses, it names.
    pub fn open_flow(&mut self, setup: &FlowSetup) -> Result<(), BenchError> {
        let setup = *setup;
        let congestion_control = self.congestion_control.to_owned();
        let (near, far) = (self.address(Side::Sender), self.address(Side::Receiver));
        let listen = Order::ListenFlow {
            address: far,
            setup,
            congestion_control: congestion_control.clone(),
        };
        let (peers, booked) = self.flow_opened(Side::Receiver, &listen)?;
        self.doubt_buffer(setup.buffers, booked);
        let connect = Order::ConnectFlow { address: near, peers, setup, congestion_control };
        let (peers, _) = self.flow_opened(Side::Sender, &connect)?;
        self.ask(Side::Receiver, &Order::JoinFlow { peers }, ANSWER_PATIENCE)?;
        Ok(())
    }

    fn flow_opened(
        &mut self,
        side: Side,
        order: &Order,
    ) -> Result<(Vec<SocketAddr>, u64), BenchError> {
        match self.ask(side, order, ANSWER_PATIENCE)? {
            Report::FlowOpened { addresses, booked_receive } => Ok((addresses, booked_receive)),
            report => Err(unexpected(side, order, &report)),
        }
    }

    /// One transfer over the open flow: what it cost the side that sent and the side that received.
    ///
    /// # Errors
    /// Those of the workers.
    pub fn transfer(
        &mut self,
        order: &FlowOrder,
        direction: Direction,
    ) -> Result<(FlowUse, FlowUse), BenchError> {
        let (from, to) = direction.sides();
        self.ask(from, &Order::PrepareFlow(*order), PREPARE_PATIENCE)?;
        let (send, receive) = (Order::SendFlow(*order), Order::ReceiveFlow(*order));
        match self.ask_two((from, &send), (to, &receive))? {
            (Report::Flow(sent), Report::Flow(received)) => Ok((*sent, *received)),
            (report, Report::Flow(_)) => Err(unexpected(from, &send, &report)),
            (_, report) => Err(unexpected(to, &receive, &report)),
        }
    }

    /// A slice over the open flow, warmed by transfers of as many messages as the order says, or more.
    ///
    /// # Errors
    /// Those of the workers.
    pub fn slice(
        &mut self,
        slice: &Slice,
        order: &FlowOrder,
        direction: Direction,
    ) -> Result<(FlowUse, FlowUse), BenchError> {
        let messages = slice.messages(order.messages, |messages| {
            let (sent, received) = self.transfer(&FlowOrder { messages, ..*order }, direction)?;
            Ok(sent.elapsed_ns.max(received.elapsed_ns))
        })?;
        self.transfer(&FlowOrder { messages, ..*order }, direction)
    }

    /// Round trips over the open flow.
    ///
    /// # Errors
    /// Those of the workers.
    pub fn pings(&mut self, order: PingOrder, direction: Direction) -> Result<Pings, BenchError> {
        let (from, to) = direction.sides();
        let ping = Order::Ping(order);
        match self.ask_two((from, &ping), (to, &Order::Pong(order)))? {
            (Report::Pings(pings), _) => Ok(pings),
            (report, _) => Err(unexpected(from, &ping, &report)),
        }
    }

    /// Payload that the sender's processor copies in a second [B/s].
    ///
    /// # Errors
    /// Those of the worker.
    pub fn copy_rate(&mut self, working_set_bytes: usize) -> Result<f64, BenchError> {
        let order = Order::Copy { working_set_bytes };
        match self.ask(Side::Sender, &order, ANSWER_PATIENCE)? {
            Report::CopyRate { bytes_per_second } => Ok(bytes_per_second),
            report => Err(unexpected(Side::Sender, &order, &report)),
        }
    }

    /// Tells both workers something, the one that waits for the other first. Both answers are
    /// taken, whatever they are, so that the next order meets its own.
    fn ask_two(
        &mut self,
        (active, order): (Side, &Order),
        (waiting, counterpart): (Side, &Order),
    ) -> Result<(Report, Report), BenchError> {
        self.worker(waiting).send(counterpart)?;
        self.worker(active).send(order)?;
        let first = self.answer(active, order, TRANSFER_PATIENCE);
        let second = self.answer(waiting, counterpart, TRANSFER_PATIENCE);
        Ok((first?, second?))
    }

    /// Sets what the ends of the cable take off the stack; it vanishes with the namespaces.
    ///
    /// # Errors
    /// Over another way than a cable, or where `ethtool` refuses.
    pub fn set_offloads(&self, offloads: Offloads) -> Result<(), BenchError> {
        let Some(veth) = &self.veth else {
            return Err(
                PlatformError::NeedsRoot { what: "a device whose offloads can be set" }.into()
            );
        };
        for end in [End::A, End::B] {
            veth.set_offloads(end, &offloads)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE: Slice = Slice { length_ns: 20e6, warm_up_ns: 5e6, least_messages: 16 };

    /// Messages found, and those of each try, where every transfer takes `start_ns` and each message
    /// `each_ns`.
    fn found(first: u64, start_ns: u64, each_ns: u64) -> (u64, Vec<u64>) {
        let mut tries = Vec::new();
        let messages = SLICE.messages(first, |messages| {
            tries.push(messages);
            Ok(start_ns + messages * each_ns)
        });
        (messages.unwrap(), tries)
    }

    #[test]
    fn a_slice_is_told_by_the_first_try_that_is_long_enough() {
        let (messages, tries) = found(1, 100_000, 10_000);
        assert_eq!(tries, [1, 8, 64, 512]);
        assert!((1900..=2000).contains(&messages), "{messages}");
        assert_eq!(found(1000, 0, 10_000), (2000, vec![1000]));
    }

    #[test]
    fn a_slice_has_neither_too_few_messages_nor_endlessly_many() {
        assert_eq!(found(8, 0, 5_000_000), (SLICE.least_messages, vec![8]));
        let (messages, tries) = found(1, 0, 0);
        assert_eq!((messages, tries.len()), (MOST_MESSAGES, MOST_TRIES));
    }

    #[test]
    fn a_try_that_fails_ends_the_search() {
        let gone = |_| Err(BenchError::NothingArrived { job: "a try".into() });
        assert!(SLICE.messages(1, gone).is_err());
    }
}

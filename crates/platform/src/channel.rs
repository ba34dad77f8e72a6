//! Channels of blocks between two processes of one machine: a ring in shared memory, a pipe, a Unix
//! socket, TCP over loopback.
//!
//! ```text
//! receiving process   Offer::new ──► place ─ ─ ─ ─ (told by the parent) ─ ─ ─ ─► Writer::join   sending process
//!                     Offer::accept ──► Reader ◄══════ blocks of one size [B] ═══════ Writer
//! ```
//!
//! In a ring the sender fills a block in place and the receiver uses it there: nothing is copied.
//! Through the others each block passes two copies, from a block of the sender into the kernel and
//! from there into a block of the receiver.

mod ring;
mod stream;
mod turns;

use std::fmt;
use std::fs::OpenOptions;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use crate::PlatformError;
use crate::memory::Buffer;
use ring::Ring;
use stream::{Listener, Stream};

/// What a channel is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Memory that both processes map; a waiting side looks for some microseconds and then sleeps
    /// on a futex.
    Ring,
    /// A pipe, its size set (`F_SETPIPE_SZ`).
    Pipe,
    /// A stream socket of the Unix domain, its send buffer set.
    Unix,
    /// TCP over loopback, both buffers set, small blocks sent at once.
    Tcp,
}

impl Kind {
    /// All kinds, the one with the least kernel first.
    pub const ALL: [Self; 4] = [Self::Ring, Self::Pipe, Self::Unix, Self::Tcp];

    /// Its name, as in labels.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Pipe => "pipe",
            Self::Unix => "unix",
            Self::Tcp => "tcp",
        }
    }
}

/// A channel as asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// What it is made of.
    pub kind: Kind,
    /// Blocks that it holds. The kernel's channels hold bytes: they are asked for room of so many
    /// blocks, and give at least a page or two.
    pub buffers: u32,
    /// Size of a block [B], a multiple of eight.
    pub block_bytes: usize,
}

impl Spec {
    /// Bytes of all blocks [B].
    #[must_use]
    pub fn wanted_bytes(&self) -> usize {
        self.buffers as usize * self.block_bytes
    }

    /// Refuses what no channel can be.
    fn check(&self) -> Result<(), PlatformError> {
        let whole_words = self.block_bytes > 0 && self.block_bytes.is_multiple_of(8);
        let fits = self.block_bytes <= MAX_BLOCK_BYTES && (1..=MAX_BUFFERS).contains(&self.buffers);
        if whole_words && fits {
            return Ok(());
        }
        let allowed = format!(
            "make a {self}: allowed are 1 to {MAX_BUFFERS} blocks of 8 to {MAX_BLOCK_BYTES} B in steps of 8 B"
        );
        Err(PlatformError::system(allowed, Errno::EINVAL))
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} blocks of {} B", self.kind.name(), self.buffers, self.block_bytes)
    }
}

/// Where the receiving side of a channel waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// An open file of a process, which a process of the same user may open too (`/proc/PID/fd`).
    File {
        /// The process.
        pid: u32,
        /// Its number for the file.
        descriptor: i32,
    },
    /// A name of a Unix socket that is in no folder.
    Name(String),
    /// An address of a TCP socket.
    Address(SocketAddr),
}

/// The receiving side of a channel that nobody has joined yet.
#[derive(Debug)]
pub struct Offer {
    spec: Spec,
    waiting: Waiting,
}

#[derive(Debug)]
enum Waiting {
    Ring(OwnedFd),
    /// Both ends: the sender opens the second one for itself.
    Pipe(OwnedFd, OwnedFd),
    Socket(Listener),
}

impl Offer {
    /// Makes a channel and waits at its receiving end.
    ///
    /// # Errors
    /// The kernel's; a block or a number of blocks that no channel has.
    pub fn new(spec: &Spec) -> Result<Self, PlatformError> {
        spec.check()?;
        let waiting = match spec.kind {
            Kind::Ring => Waiting::Ring(Ring::create(spec)?),
            Kind::Pipe => {
                let (reading, writing) = stream::sized_pipe(spec.wanted_bytes())?;
                Waiting::Pipe(reading, writing)
            }
            Kind::Unix => Waiting::Socket(Listener::unix()?),
            Kind::Tcp => Waiting::Socket(Listener::tcp(spec.wanted_bytes())?),
        };
        Ok(Self { spec: *spec, waiting })
    }

    /// Where a sender joins it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn place(&self) -> Result<Place, PlatformError> {
        let file =
            |file: &OwnedFd| Place::File { pid: std::process::id(), descriptor: file.as_raw_fd() };
        match &self.waiting {
            Waiting::Ring(memory) => Ok(file(memory)),
            Waiting::Pipe(_, writing) => Ok(file(writing)),
            Waiting::Socket(listener) => listener.place(),
        }
    }

    /// Takes the sender that has joined; a sender that has not by then finds the channel closed.
    ///
    /// # Errors
    /// When nobody came within some seconds; the kernel's.
    pub fn accept(self) -> Result<Reader, PlatformError> {
        let way = match self.waiting {
            Waiting::Ring(memory) => Way::Ring(Ring::consumer(memory, &self.spec)?),
            Waiting::Pipe(reading, _) => Way::through(Stream::Pipe(reading.into()), &self.spec)?,
            Waiting::Socket(listener) => Way::through(listener.accept()?, &self.spec)?,
        };
        Ok(Reader { way })
    }
}

/// The sending side.
#[derive(Debug)]
pub struct Writer {
    way: Way,
    given_bytes: usize,
}

impl Writer {
    /// Joins a channel of another process, or of this one.
    ///
    /// # Errors
    /// When it is not there or not of this kind; the kernel's.
    pub fn join(spec: &Spec, place: &Place) -> Result<Self, PlatformError> {
        spec.check()?;
        let (way, given_bytes) = match (spec.kind, place) {
            (Kind::Ring, Place::File { .. }) => {
                let memory = open(place, OpenOptions::new().read(true).write(true))?;
                (Way::Ring(Ring::producer(memory, spec)?), spec.wanted_bytes())
            }
            (Kind::Pipe, Place::File { .. }) => {
                let writing = open(place, OpenOptions::new().write(true))?;
                let given_bytes = stream::pipe_size(&writing)?;
                (Way::through(Stream::Pipe(writing.into()), spec)?, given_bytes)
            }
            (Kind::Unix, Place::Name(name)) => {
                let (stream, given_bytes) = Stream::join_unix(name, spec.wanted_bytes())?;
                (Way::through(stream, spec)?, given_bytes)
            }
            (Kind::Tcp, Place::Address(address)) => {
                let (stream, given_bytes) = Stream::join_tcp(*address, spec.wanted_bytes())?;
                (Way::through(stream, spec)?, given_bytes)
            }
            _ => {
                let operation = format!("join a {spec} at {place:?}");
                return Err(PlatformError::system(operation, Errno::EINVAL));
            }
        };
        Ok(Self { way, given_bytes })
    }

    /// Room that the sender's side of the channel was given [B].
    #[must_use]
    pub fn given_bytes(&self) -> usize {
        self.given_bytes
    }

    /// Waits for an empty block, has it filled and sends it. What an empty block holds is not said.
    ///
    /// # Errors
    /// When the receiver is gone or takes nothing for some seconds; the kernel's.
    pub fn send<T>(&mut self, fill: impl FnOnce(&mut [u8]) -> T) -> Result<T, PlatformError> {
        match &mut self.way {
            Way::Ring(ring) => ring.next(fill),
            Way::Stream(stream, block) => {
                let filled = fill(block);
                stream.write_all(block)?;
                Ok(filled)
            }
        }
    }
}

/// The receiving side.
#[derive(Debug)]
pub struct Reader {
    way: Way,
}

impl Reader {
    /// Waits for the next block and has it used.
    ///
    /// # Errors
    /// When the sender is gone or sends nothing for some seconds; the kernel's.
    pub fn receive<T>(&mut self, using: impl FnOnce(&[u8]) -> T) -> Result<T, PlatformError> {
        match &mut self.way {
            Way::Ring(ring) => ring.next(|block| using(block)),
            Way::Stream(stream, block) => {
                stream.read_exact(block)?;
                Ok(using(block))
            }
        }
    }
}

/// How blocks travel.
#[derive(Debug)]
enum Way {
    Ring(Ring),
    /// Through the kernel, from and to one block of this side's own.
    Stream(Stream, Buffer),
}

impl Way {
    fn through(stream: Stream, spec: &Spec) -> Result<Self, PlatformError> {
        Ok(Self::Stream(stream, Buffer::new(spec.block_bytes)?))
    }
}

/// Opens a file that another process holds open.
fn open(place: &Place, options: &OpenOptions) -> Result<OwnedFd, PlatformError> {
    let Place::File { pid, descriptor } = place else {
        return Err(PlatformError::system("open a channel", Errno::EINVAL));
    };
    let path = format!("/proc/{pid}/fd/{descriptor}");
    options.open(&path).map(OwnedFd::from).map_err(|error| PlatformError::file(path, error))
}

/// Longest wait for the other side of a channel: a stage passes a block in less than a second or is
/// stuck. A pipe alone knows no such bound: its waits end with the other process.
const PATIENCE: Duration = Duration::from_secs(5);

/// Most blocks of a channel: twice what rule 8's pipeline had.
const MAX_BUFFERS: u32 = 8;

/// Largest block [B]: that of rule 8's table.
const MAX_BLOCK_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn pair(spec: &Spec) -> (Reader, Writer) {
        let offer = Offer::new(spec).unwrap();
        let writer = Writer::join(spec, &offer.place().unwrap()).unwrap();
        (offer.accept().unwrap(), writer)
    }

    fn specs() -> impl Iterator<Item = Spec> {
        let sizes = [(1, 64), (2, 8), (4, 4096), (8, 100_000)];
        Kind::ALL.into_iter().flat_map(move |kind| {
            sizes.map(|(buffers, block_bytes)| Spec { kind, buffers, block_bytes })
        })
    }

    #[test]
    fn blocks_arrive_whole_and_in_order_over_every_channel() {
        for spec in specs() {
            let (mut reader, mut writer) = pair(&spec);
            let sending = thread::spawn(move || {
                for number in 0..=255 {
                    writer.send(|block| block.fill(number)).unwrap();
                }
            });
            for number in 0..=255 {
                let whole = reader.receive(|block| {
                    block.len() == spec.block_bytes && block.iter().all(|byte| *byte == number)
                });
                assert!(whole.unwrap(), "block {number} of a {spec}");
            }
            sending.join().unwrap();
            assert!(reader.receive(|_| ()).is_err(), "the sender of a {spec} is gone");
        }
    }

    #[test]
    fn a_sender_whose_receiver_is_gone_is_told() {
        for spec in specs() {
            let (reader, mut writer) = pair(&spec);
            drop(reader);
            let told = (0..10_000).any(|_| writer.send(|block| block.fill(1)).is_err());
            assert!(told, "{spec}");
        }
    }

    #[test]
    fn the_room_of_a_channel_is_said() {
        for spec in specs() {
            let (_reader, writer) = pair(&spec);
            let enough = writer.given_bytes() >= spec.wanted_bytes();
            assert!(enough || spec.kind != Kind::Ring && writer.given_bytes() > 0, "{spec}");
        }
    }

    #[test]
    fn what_no_channel_can_be_is_refused_by_name() {
        for (buffers, block_bytes) in [(0, 64), (9, 64), (1, 0), (1, 7), (1, MAX_BLOCK_BYTES + 8)] {
            let spec = Spec { kind: Kind::Ring, buffers, block_bytes };
            let error = Offer::new(&spec).unwrap_err().to_string();
            assert!(error.contains(&spec.to_string()) && error.contains("1048576 B"), "{error}");
        }
        let spec = Spec { kind: Kind::Pipe, buffers: 1, block_bytes: 64 };
        let nowhere = Place::File { pid: std::process::id(), descriptor: 9999 };
        let error = Writer::join(&spec, &nowhere).unwrap_err().to_string();
        assert!(error.contains("/fd/9999"), "{error}");
        let error = Writer::join(&spec, &Place::Name("x".into())).unwrap_err().to_string();
        assert!(error.contains("pipe of 1 blocks of 64 B"), "{error}");
    }

    #[test]
    fn memory_of_another_length_is_no_ring() {
        let spec = Spec { kind: Kind::Ring, buffers: 1, block_bytes: 64 };
        let offer = Offer::new(&spec).unwrap();
        let other = Spec { buffers: 8, ..spec };
        let error = Writer::join(&other, &offer.place().unwrap()).unwrap_err().to_string();
        assert!(error.contains("expected one of 5120 B"), "{error}");
    }
}

//! A capture written: packets of IPv4 and UDP, times in nanoseconds.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::SocketAddrV4;
use std::path::{Path, PathBuf};

use etherparse::PacketBuilder;

use crate::BenchError;

/// First word of a file whose times are in nanoseconds.
const MAGIC: u32 = 0xa1b2_3c4d;

/// Version of the format, major and minor.
const VERSION: [u16; 2] = [2, 4];

/// Longest packet that a record may hold [B].
const SNAPSHOT_BYTES: u32 = 65_535;

/// Kind of packets: IPv4 without anything below.
const LINK_IPV4: u32 = 228;

/// Hops that the packets may make, as hosts set it.
const TIME_TO_LIVE: u8 = 64;

/// A capture of one sender's datagrams to one receiver.
#[derive(Debug)]
pub struct CaptureWriter {
    path: PathBuf,
    file: BufWriter<File>,
    source: SocketAddrV4,
    destination: SocketAddrV4,
    packet: Vec<u8>,
}

impl CaptureWriter {
    /// Begins a file.
    ///
    /// # Errors
    /// When it cannot be written, with its name.
    pub fn create(
        path: &Path,
        source: SocketAddrV4,
        destination: SocketAddrV4,
    ) -> Result<Self, BenchError> {
        let open = || -> io::Result<BufWriter<File>> {
            let mut file = BufWriter::new(File::create(path)?);
            file.write_all(&MAGIC.to_le_bytes())?;
            VERSION.iter().try_for_each(|part| file.write_all(&part.to_le_bytes()))?;
            // Time zone and accuracy, which nobody sets.
            file.write_all(&[0; 8])?;
            file.write_all(&SNAPSHOT_BYTES.to_le_bytes())?;
            file.write_all(&LINK_IPV4.to_le_bytes())?;
            Ok(file)
        };
        let file = open().map_err(|source| BenchError::Write { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), file, source, destination, packet: Vec::new() })
    }

    /// Adds a datagram, seen at this time [ns since 1970].
    ///
    /// # Errors
    /// When the file cannot be written, or the datagram is longer than UDP carries.
    pub fn add(&mut self, at_ns: u64, payload: &[u8]) -> Result<(), BenchError> {
        let written = self.record(at_ns, payload);
        written.map_err(|source| BenchError::Write { path: self.path.clone(), source })
    }

    fn record(&mut self, at_ns: u64, payload: &[u8]) -> io::Result<()> {
        self.packet.clear();
        let [from, to] = [self.source, self.destination].map(|address| address.ip().octets());
        PacketBuilder::ipv4(from, to, TIME_TO_LIVE)
            .udp(self.source.port(), self.destination.port())
            .write(&mut self.packet, payload)
            .map_err(io::Error::other)?;
        let too_late = |_| io::Error::other("its time is beyond the year 2106");
        let seconds = u32::try_from(at_ns / 1_000_000_000).map_err(too_late)?;
        let part = u32::try_from(at_ns % 1_000_000_000).map_err(too_late)?;
        let length = u32::try_from(self.packet.len()).map_err(io::Error::other)?;
        for word in [seconds, part, length, length] {
            self.file.write_all(&word.to_le_bytes())?;
        }
        self.file.write_all(&self.packet)
    }

    /// Ends the file.
    ///
    /// # Errors
    /// When what is left of it cannot be written.
    pub fn finish(mut self) -> Result<(), BenchError> {
        self.file.flush().map_err(|source| BenchError::Write { path: self.path, source })
    }
}

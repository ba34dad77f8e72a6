//! Reads what a program executed, as QEMU's user mode tells it through contrib/qemu/trace.c.
//!
//! ```text
//! head         "BPTRACE1", u64 address of the program's first code byte
//! records      u32 word: kind in bits 0-1, value in bits 2-31, all little-endian
//!   0 executed      value = identity of the instruction
//!   1 access        value = log2 of the size [B] in bits 0-3, bit 4 set for a store; u64 address
//!   2 instruction   value = identity, counted from 0; u64 address, u32 length [B], 16 bytes of code
//!   3 end           value = 0: the program ended; 1: it started a thread, and the trace ends there
//! ```
//!
//! One instruction at a time is held, however long the trace is.

use std::io::{BufReader, ErrorKind, Read};

use super::decode::{Operation, OperationDecoder};
use crate::BenchError;

/// One access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its first byte's address.
    pub address: u64,
    /// Its length.
    pub bytes: u32,
    /// Whether it writes.
    pub store: bool,
}

/// One executed instruction.
#[derive(Clone, Copy, Debug)]
pub struct Executed<'a> {
    /// What the instruction is.
    pub operation: &'a Operation,
    /// What it did in memory, in order.
    pub accesses: &'a [Access],
    /// Address of the instruction that was executed after it.
    pub next_address: u64,
}

/// A trace that is being read.
#[derive(Debug)]
pub struct TraceReader<R> {
    input: BufReader<R>,
    position_bytes: u64,
    decoder: OperationDecoder,
    /// By identity; `None` for what is no code.
    operations: Vec<Option<Operation>>,
    accesses: Vec<Access>,
    /// The instruction whose accesses are being read.
    current: Option<usize>,
    ended: bool,
    code_start_address: u64,
}

impl<R: Read> TraceReader<R> {
    /// Begins to read a trace.
    ///
    /// # Errors
    /// When the input cannot be read, or is no trace.
    pub fn open(input: R) -> Result<Self, BenchError> {
        let mut reader = Self {
            input: BufReader::with_capacity(BUFFER_BYTES, input),
            position_bytes: 0,
            decoder: OperationDecoder::default(),
            operations: Vec::new(),
            accesses: Vec::new(),
            current: None,
            ended: false,
            code_start_address: 0,
        };
        if reader.bytes::<8>()? != *b"BPTRACE1" {
            return Err(reader.wrong("it does not begin as one"));
        }
        reader.code_start_address = u64::from_le_bytes(reader.bytes()?);
        Ok(reader)
    }

    /// Where the first byte of the program's code lay in memory.
    #[must_use]
    pub fn code_start_address(&self) -> u64 {
        self.code_start_address
    }

    /// The next executed instruction; `None` after the last one.
    ///
    /// # Errors
    /// When the input cannot be read, is no trace or was cut off, or the program started a thread.
    pub fn next_executed(&mut self) -> Result<Option<Executed<'_>>, BenchError> {
        self.accesses.clear();
        while !self.ended {
            let word = u32::from_le_bytes(self.bytes()?);
            let value = word >> KIND_BITS;
            let finished = self.current;
            match word & KIND_MASK {
                EXECUTED => self.current = Some(self.identity(value)?),
                ACCESS => self.access(value)?,
                INSTRUCTION => self.instruction(value)?,
                _ => self.end(value)?,
            }
            let moved_on = matches!(word & KIND_MASK, EXECUTED | END);
            if let Some(identity) = finished.filter(|_| moved_on) {
                return Ok(self.executed(identity));
            }
        }
        Ok(None)
    }

    fn executed(&self, identity: usize) -> Option<Executed<'_>> {
        let operation = self.operations[identity].as_ref()?;
        let next = self.current.and_then(|next| self.operations[next].as_ref());
        let next_address = next.map_or_else(|| operation.next_address(), |next| next.address);
        Some(Executed { operation, accesses: &self.accesses, next_address })
    }

    /// The identity of an instruction that can be executed.
    fn identity(&self, value: u32) -> Result<usize, BenchError> {
        let identity = value as usize;
        match self.operations.get(identity) {
            Some(Some(_)) => Ok(identity),
            Some(None) => Err(self.wrong(&format!("instruction {value} is executed but no code"))),
            None => Err(self.wrong(&format!("instruction {value} is executed before it is told"))),
        }
    }

    fn access(&mut self, value: u32) -> Result<(), BenchError> {
        let address = u64::from_le_bytes(self.bytes()?);
        if self.current.is_none() {
            return Err(self.wrong("an access without an instruction"));
        }
        if value >= 2 * STORE_BIT || value & SIZE_MASK > MAX_SIZE_LOG2 {
            return Err(self.wrong(&format!("an access of the unknown kind {value}")));
        }
        let access =
            Access { address, bytes: 1 << (value & SIZE_MASK), store: value & STORE_BIT != 0 };
        if let Some(last) = self.accesses.last_mut().filter(|last| continues(last, &access)) {
            last.bytes += access.bytes;
            return Ok(());
        }
        if self.accesses.len() == MAX_ACCESSES {
            let reason = format!("one instruction makes more than {MAX_ACCESSES} accesses");
            return Err(self.wrong(&reason));
        }
        self.accesses.push(access);
        Ok(())
    }

    fn instruction(&mut self, identity: u32) -> Result<(), BenchError> {
        let address = u64::from_le_bytes(self.bytes()?);
        let length = u32::from_le_bytes(self.bytes()?) as usize;
        let code: [u8; CODE_BYTES] = self.bytes()?;
        if identity as usize != self.operations.len() {
            return Err(self.wrong(&format!("instruction {identity} is told out of order")));
        }
        if self.operations.len() == MAX_INSTRUCTIONS {
            return Err(self.wrong(&format!("more than {MAX_INSTRUCTIONS} instructions are told")));
        }
        // QEMU 7.2 tells half an instruction where one crosses into a page that the block before it
        // does not lie in, and then the whole as the next block. The half is never executed.
        let decoded = code.get(..length).and_then(|code| self.decoder.decode(address, code));
        self.operations.push(decoded);
        Ok(())
    }

    fn end(&mut self, value: u32) -> Result<(), BenchError> {
        if value != 0 {
            return Err(self.wrong("the program started a thread; only one thread can be traced"));
        }
        self.current = None;
        self.ended = true;
        Ok(())
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], BenchError> {
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => self.wrong("it was cut off"),
            _ => self.wrong(&error.to_string()),
        })?;
        self.position_bytes += N as u64;
        Ok(bytes)
    }

    fn wrong(&self, reason: &str) -> BenchError {
        BenchError::Trace { position_bytes: self.position_bytes, reason: reason.into() }
    }
}

/// QEMU splits an access to a vector: what goes on where the last one ended is the same access.
fn continues(last: &Access, access: &Access) -> bool {
    let end = last.address.wrapping_add(u64::from(last.bytes));
    last.store == access.store && end == access.address && last.bytes < VECTOR_BYTES
}

const KIND_BITS: u32 = 2;
const KIND_MASK: u32 = (1 << KIND_BITS) - 1;
const EXECUTED: u32 = 0;
const ACCESS: u32 = 1;
const INSTRUCTION: u32 = 2;
const END: u32 = 3;
const SIZE_MASK: u32 = 15;
const STORE_BIT: u32 = 16;

/// The longest vector register is 64 bytes.
const VECTOR_BYTES: u32 = 64;

/// Log2 of the size of an access: the longest is a vector's.
const MAX_SIZE_LOG2: u32 = VECTOR_BYTES.ilog2();

/// Code bytes in a record; an x86 instruction has at most 15.
const CODE_BYTES: usize = 16;

/// Bytes read at a time: as much as a pipe holds by the kernel's default.
const BUFFER_BYTES: usize = 64 << 10;

/// Instructions that may be told: some 200 MB of them. A small program has thousands; QEMU tells
/// an instruction again when it translates it again.
const MAX_INSTRUCTIONS: usize = 1 << 21;

/// Accesses of one instruction: saving all registers, the most that one does, takes about 340.
const MAX_ACCESSES: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn word(kind: u32, value: u32) -> [u8; 4] {
        (value << KIND_BITS | kind).to_le_bytes()
    }

    fn told(identity: u32, address: u64, code: &[u8]) -> Vec<u8> {
        let mut padded = [0; CODE_BYTES];
        padded[..code.len()].copy_from_slice(code);
        let length = u32::try_from(code.len()).unwrap();
        [&word(INSTRUCTION, identity)[..], &address.to_le_bytes(), &length.to_le_bytes(), &padded]
            .concat()
    }

    fn access(value: u32, address: u64) -> Vec<u8> {
        [&word(ACCESS, value)[..], &address.to_le_bytes()].concat()
    }

    fn head() -> Vec<u8> {
        [&b"BPTRACE1"[..], &0x1000_u64.to_le_bytes()].concat()
    }

    /// `push rax` at 0x1000, then `movups xmm0, [rax]` at 0x1001, which QEMU splits.
    fn sample() -> Vec<u8> {
        [
            head(),
            told(0, 0x1000, &[0x50]),
            told(1, 0x1001, &[0x0f, 0x10, 0x00]),
            word(EXECUTED, 0).to_vec(),
            access(3 | STORE_BIT, 0x7ff8),
            word(EXECUTED, 1).to_vec(),
            access(3, 0x8000),
            access(3, 0x8008),
            word(END, 0).to_vec(),
        ]
        .concat()
    }

    fn read_all(bytes: &[u8]) -> Result<Vec<(u64, Vec<Access>, u64)>, BenchError> {
        let mut reader = TraceReader::open(bytes)?;
        let mut all = Vec::new();
        while let Some(executed) = reader.next_executed()? {
            let accesses = executed.accesses.to_vec();
            all.push((executed.operation.address, accesses, executed.next_address));
        }
        Ok(all)
    }

    #[test]
    fn accesses_belong_to_their_instruction_and_halves_of_a_vector_are_one() {
        let push = Access { address: 0x7ff8, bytes: 8, store: true };
        let load = Access { address: 0x8000, bytes: 16, store: false };
        let all = read_all(&sample()).unwrap();
        assert_eq!(all, [(0x1000, vec![push], 0x1001), (0x1001, vec![load], 0x1004)]);
        assert_eq!(TraceReader::open(&sample()[..]).unwrap().code_start_address(), 0x1000);
    }

    #[test]
    fn a_trace_cut_at_any_byte_is_refused() {
        let whole = sample();
        for length in 0..whole.len() {
            let error = read_all(&whole[..length]).unwrap_err().to_string();
            assert!(error.contains("cut off"), "{length}: {error}");
        }
    }

    #[test]
    fn what_is_no_trace_is_refused_with_its_place() {
        let cases: &[(Vec<u8>, &str)] = &[
            (vec![b'x'; 64], "begin"),
            ([head(), word(EXECUTED, 0).to_vec()].concat(), "before it is told"),
            ([head(), access(3, 0)].concat(), "without an instruction"),
            ([head(), told(1, 0, &[0x90])].concat(), "out of order"),
            (
                [head(), told(0, 0, &[0x06]), word(EXECUTED, 0).to_vec()].concat(),
                "executed but no code",
            ),
            ([head(), word(END, 1).to_vec()].concat(), "thread"),
            (
                [head(), told(0, 0, &[0x90]), word(EXECUTED, 0).to_vec(), access(99, 0)].concat(),
                "unknown kind",
            ),
        ];
        for (bytes, reason) in cases {
            let error = read_all(bytes).unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains("byte"), "{error}");
        }
    }

    #[test]
    fn half_an_instruction_that_is_not_executed_does_no_harm() {
        let half = told(0, 0xfff, &[0x48]);
        let end = word(END, 0).to_vec();
        let whole = [head(), half, told(1, 0xfff, &[0x90]), word(EXECUTED, 1).to_vec(), end];
        assert_eq!(read_all(&whole.concat()).unwrap(), [(0xfff, vec![], 0x1000)]);
    }

    #[test]
    fn an_instruction_without_end_of_accesses_is_refused() {
        let start =
            [head(), told(0, 0, &[0x90]), word(EXECUTED, 0).to_vec(), access(3, 0)].concat();
        let mut bytes = start;
        for index in 0..=MAX_ACCESSES {
            bytes.extend(access(0, 100 * index as u64));
        }
        let error = read_all(&bytes).unwrap_err().to_string();
        assert!(error.contains("1024"), "{error}");
    }
}

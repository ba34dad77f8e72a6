//! Payloads to access units, in the form of annex B.
//!
//! A unit that lost something keeps its whole NAL units only: a part of one is of no use to most decoders, and
//! harmful to some.

use super::{END, FU_A, MAX_ACCESS_UNIT_BYTES, NalType, STAP_A, START};
use crate::ProtoError;
use crate::rtp::payload::assembly::Assembly;
use crate::rtp::payload::{Arrival, Unit, forbidden};

/// Start code before every NAL unit that is given: four bytes, which are right for the first of a stream, too.
const START_CODE: [u8; 4] = [0, 0, 0, 1];

/// Puts access units together.
#[derive(Debug)]
pub struct Depacketiser {
    /// While an FU-A is under way, it is the part that is not committed.
    unit: Assembly,
    /// The start of a NAL unit is known to be missing, so its other parts are dropped without a word.
    start_missing: bool,
}

impl Default for Depacketiser {
    fn default() -> Self {
        Self::new()
    }
}

impl Depacketiser {
    /// One that has received nothing.
    #[must_use]
    pub fn new() -> Self {
        let unit = Assembly::new("access unit", MAX_ACCESS_UNIT_BYTES);
        Self { unit, start_missing: false }
    }

    /// Takes a payload and gives the access units that it ends: the one before, where its timestamp is another, and
    /// its own, where it has the marker.
    ///
    /// # Errors
    /// When the payload breaks the rules; its access unit is then damaged.
    pub fn handle_payload(
        &mut self,
        arrival: &Arrival<'_>,
        mut out: impl FnMut(Unit<'_>),
    ) -> Result<(), ProtoError> {
        let after_gap = self.unit.gap_before(arrival);
        let Some((&header, rest)) = arrival.payload.split_first() else { return Ok(()) };
        self.unit.begin(arrival.timestamp, after_gap, &mut out);
        self.start_missing |= after_gap;
        let taken = self.take(header, rest, arrival.payload);
        if taken.is_err() {
            self.unit.damage();
            self.start_missing = true;
        }
        if arrival.marker {
            self.unit.finish(&mut out);
        }
        taken
    }

    /// Gives what is under way at the end of the stream.
    pub fn finish(&mut self, mut out: impl FnMut(Unit<'_>)) {
        self.unit.finish_in_doubt(&mut out);
    }

    fn take(&mut self, header: u8, rest: &[u8], payload: &[u8]) -> Result<(), ProtoError> {
        let kind = NalType::of(header)?;
        if kind == NalType::Packet(FU_A) {
            return self.take_part(header, rest);
        }
        self.start_missing = false;
        if !self.unit.part().is_empty() {
            // The end of an FU-A did not come, though no packet is missing.
            self.unit.damage();
        }
        match kind {
            NalType::Unit => self.take_unit(payload),
            NalType::Undefined => Ok(()),
            NalType::Packet(STAP_A) => self.take_aggregate(rest),
            NalType::Packet(other) => {
                let rule = "modes 0 and 1 have 24 (STAP-A) and 28 (FU-A)";
                Err(forbidden("type of a payload", u64::from(other), rule))
            }
        }
    }

    fn take_unit(&mut self, unit: &[u8]) -> Result<(), ProtoError> {
        self.unit.append(&START_CODE)?;
        self.unit.append(unit)?;
        self.unit.commit();
        Ok(())
    }

    fn take_aggregate(&mut self, mut rest: &[u8]) -> Result<(), ProtoError> {
        if rest.is_empty() {
            return Err(ProtoError::Short { what: "STAP-A", needed: 3, found: 0 });
        }
        while !rest.is_empty() {
            let (unit, behind) = split_sized(rest)?;
            rest = behind;
            if is_for_decoder(unit[0], "type of a NAL unit in a STAP-A")? {
                self.take_unit(unit)?;
            }
        }
        Ok(())
    }

    fn take_part(&mut self, indicator: u8, rest: &[u8]) -> Result<(), ProtoError> {
        let Some((&second, data)) = rest.split_first() else {
            return Err(ProtoError::Short { what: "header of an FU-A", needed: 2, found: 1 });
        };
        if second & (START | END) == START | END {
            let rule = "no FU-A has both of start and end";
            return Err(forbidden("header of an FU-A", u64::from(second), rule));
        }
        let header = indicator & 0x60 | second & 0x1f;
        if !is_for_decoder(header, "type of a NAL unit in an FU-A")? {
            return Ok(());
        }
        if second & START != 0 {
            self.begin_parts(header)?;
        }
        if self.continues(header)? {
            self.unit.append(data)?;
        }
        if second & END != 0 {
            self.unit.commit();
            self.start_missing = false;
        }
        Ok(())
    }

    fn begin_parts(&mut self, header: u8) -> Result<(), ProtoError> {
        if !self.unit.part().is_empty() {
            self.unit.damage();
        }
        self.start_missing = false;
        self.unit.append(&START_CODE)?;
        self.unit.append(&[header])
    }

    /// Whether a part follows those of its NAL unit.
    fn continues(&mut self, header: u8) -> Result<bool, ProtoError> {
        match self.unit.part().get(START_CODE.len()) {
            Some(&begun) if begun == header => Ok(true),
            Some(_) => {
                let rule = "all parts of a NAL unit have the same";
                Err(forbidden("first byte of a NAL unit in an FU-A", u64::from(header), rule))
            }
            None if self.start_missing => {
                self.unit.damage();
                Ok(false)
            }
            None => {
                let rule = "the first part of a NAL unit did not come before it";
                Err(forbidden("start bit of an FU-A", 0, rule))
            }
        }
    }
}

/// The first NAL unit of a STAP-A, not empty, and what is behind it.
fn split_sized(bytes: &[u8]) -> Result<(&[u8], &[u8]), ProtoError> {
    let Some((size, rest)) = bytes.split_first_chunk::<2>() else {
        let what = "size of a NAL unit in a STAP-A";
        return Err(ProtoError::Short { what, needed: 2, found: bytes.len() });
    };
    let needed = usize::from(u16::from_be_bytes(*size));
    if needed == 0 {
        let rule = "a NAL unit has a byte at least";
        return Err(forbidden("size of a NAL unit in a STAP-A", 0, rule));
    }
    let short = ProtoError::Short { what: "NAL unit in a STAP-A", needed, found: rest.len() };
    rest.split_at_checked(needed).ok_or(short)
}

/// Whether a NAL unit is one that decoders know; packets in packets are refused.
fn is_for_decoder(header: u8, what: &'static str) -> Result<bool, ProtoError> {
    match NalType::of(header)? {
        NalType::Unit => Ok(true),
        NalType::Undefined => Ok(false),
        NalType::Packet(kind) => Err(forbidden(what, u64::from(kind), "it is none of a packet")),
    }
}

#[cfg(test)]
mod tests;

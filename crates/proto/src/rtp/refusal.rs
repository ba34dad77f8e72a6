//! Why a datagram was not taken, and how often.

use crate::ProtoError;

/// Why a datagram was not taken. Nothing of it was used, unless the reason says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is not what it should be.
    Malformed(ProtoError),
    /// Its source is not believed in yet; the packet counts towards that.
    OnProbation,
    /// Its number is far from the run of its source, and nothing has confirmed it.
    Jumped,
    /// Its source is known from another address: two others collide, or a loop brings it again.
    OtherAddress,
    /// It has our own name, from an address that took it before: our packets, or those of who keeps colliding.
    OwnName,
    /// Its source said goodbye.
    AfterGoodbye,
    /// Its source is new, and the table is full of members.
    TableFull,
}

/// How often datagrams, or the packets of a compound, were not taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// What is no RTP or RTCP [datagrams, and packets of compounds].
    pub malformed: u64,
    /// From sources that were not believed in yet [packets].
    pub on_probation: u64,
    /// Far from the run of their source [packets].
    pub jumped: u64,
    /// From known sources at other addresses [packets].
    pub other_address: u64,
    /// With our own name, from an address that took it before [packets].
    pub own_name: u64,
    /// From sources that said goodbye [packets].
    pub after_goodbye: u64,
    /// From new sources for which there was no room [packets].
    pub table_full: u64,
}

impl Refusals {
    #[cold]
    pub(super) fn count(&mut self, why: &Refused) {
        let counter = match why {
            Refused::Malformed(_) => &mut self.malformed,
            Refused::OnProbation => &mut self.on_probation,
            Refused::Jumped => &mut self.jumped,
            Refused::OtherAddress => &mut self.other_address,
            Refused::OwnName => &mut self.own_name,
            Refused::AfterGoodbye => &mut self.after_goodbye,
            Refused::TableFull => &mut self.table_full,
        };
        *counter += 1;
    }
}

//! Why bytes are not what they should be, or do not fit where they should go.

/// A refusal: what it was, and where it went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtoError {
    /// The bytes end too early.
    #[error("{what} needs {needed} B, and there are {found}")]
    Short {
        /// The part that does not fit.
        what: &'static str,
        /// Bytes that it needs [B].
        needed: usize,
        /// Bytes that there are [B].
        found: usize,
    },
    /// A version of the protocol that nobody speaks.
    #[error("{what} has version {found}, not 2")]
    Version {
        /// The packet.
        what: &'static str,
        /// Its version.
        found: u8,
    },
    /// A count of padding that cannot be: of nothing, or of more than there is.
    #[error("{what} says that {padding} of its {room} B after the headers are padding")]
    Padding {
        /// The packet.
        what: &'static str,
        /// Its count of padding [B].
        padding: u8,
        /// Bytes after the headers [B].
        room: usize,
    },
    /// A value that the rules forbid.
    #[error("{what} is {found}: {rule}")]
    Forbidden {
        /// The field.
        what: &'static str,
        /// Its value.
        found: u64,
        /// What holds instead.
        rule: &'static str,
    },
    /// The buffer of the caller is too small.
    #[error("{what} takes {needed} B, and the buffer has {room}")]
    NoRoom {
        /// What was to be written.
        what: &'static str,
        /// Its size [B].
        needed: usize,
        /// Size of the buffer [B].
        room: usize,
    },
}

//! One question at a time to the kernel's ethtool family (`Documentation/networking/
//! ethtool-netlink.rst`), which answers before the call that asks returns.

use std::fs::File;
use std::io;
use std::thread;

use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable, NLA_F_NESTED, NLM_F_ACK, NLM_F_REQUEST,
    NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkPayload, NetlinkSerializable,
    NlasIterator,
};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_GENERIC;
use nix::sched::{CloneFlags, setns};

/// A socket that belongs to one network namespace and keeps it alive.
#[derive(Debug)]
pub(super) struct EthtoolSocket {
    socket: Socket,
    /// Number that the kernel gave the family.
    family: u16,
}

/// Why a question has no answer.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The kernel's error.
    pub(super) source: io::Error,
    /// The driver's own words, where it has some.
    pub(super) words: Option<String>,
}

impl From<io::Error> for Refusal {
    fn from(source: io::Error) -> Self {
        Self { source, words: None }
    }
}

impl From<DecodeError> for Refusal {
    fn from(error: DecodeError) -> Self {
        io::Error::new(io::ErrorKind::InvalidData, error.to_string()).into()
    }
}

impl EthtoolSocket {
    /// Opens one in the network namespace of a process, or in that of the caller.
    pub(super) fn open(pid: Option<u32>) -> Result<Self, Refusal> {
        let socket = match pid {
            None => connect()?,
            Some(pid) => connect_in(pid)?,
        };
        let mut opened = Self { socket, family: GENL_ID_CTRL };
        let asked = [text(CTRL_ATTR_FAMILY_NAME, "ethtool")];
        let answer = opened.ask(CTRL_CMD_GETFAMILY, CTRL_VERSION, &asked)?;
        let number = find(&answer, CTRL_ATTR_FAMILY_ID)?.and_then(|bytes| bytes.try_into().ok());
        let absent = || io::Error::new(io::ErrorKind::Unsupported, "the kernel has no ethtool");
        opened.family = u16::from_ne_bytes(number.ok_or_else(absent)?);
        Ok(opened)
    }

    /// Asks for the settings of an interface; answers their attributes.
    pub(super) fn get(&self, command: u8, interface: &str) -> Result<Vec<u8>, Refusal> {
        let header = nest(HEADER, &[text(HEADER_DEV_NAME, interface)]);
        self.ask(command, ETHTOOL_VERSION, &[header])
    }

    /// Changes settings of an interface.
    pub(super) fn set(
        &self,
        command: u8,
        interface: &str,
        settings: DefaultNla,
    ) -> Result<(), Refusal> {
        let quiet = number(HEADER_FLAGS, FLAG_OMIT_REPLY);
        let header = nest(HEADER, &[text(HEADER_DEV_NAME, interface), quiet]);
        self.ask(command, ETHTOOL_VERSION, &[header, settings]).map(drop)
    }

    fn ask(&self, command: u8, version: u8, attributes: &[DefaultNla]) -> Result<Vec<u8>, Refusal> {
        // A question that changes something is answered by an acknowledgement alone.
        let changes = self.family != GENL_ID_CTRL && attributes.len() > 1;
        let mut header = NetlinkHeader::default();
        header.flags = if changes { NLM_F_REQUEST | NLM_F_ACK } else { NLM_F_REQUEST };
        let attributes = emitted(attributes);
        let payload = Generic { family: self.family, command, version, attributes };
        let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(payload));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let (answer, _) = self.socket.recv_from_full()?;
        match NetlinkMessage::<Generic>::deserialize(&answer)?.payload {
            NetlinkPayload::InnerMessage(generic) => Ok(generic.attributes),
            NetlinkPayload::Error(error) if error.code.is_some() => {
                Err(Refusal { source: error.to_io(), words: words(&error.header) })
            }
            _ => Ok(Vec::new()),
        }
    }
}

fn connect() -> io::Result<Socket> {
    let socket = Socket::new(NETLINK_GENERIC)?;
    // The driver's words come behind the error, and the question is not sent back.
    socket.set_ext_ack(true)?;
    socket.set_cap_ack(true)?;
    // The answer is there when the question has been sent; waiting for one would be for ever.
    socket.set_non_blocking(true)?;
    Ok(socket)
}

/// A socket of another network namespace: made by a thread that enters it and ends.
fn connect_in(pid: u32) -> io::Result<Socket> {
    let namespace = File::open(format!("/proc/{pid}/ns/net"))?;
    thread::scope(|scope| {
        let enter = || {
            setns(&namespace, CloneFlags::CLONE_NEWNET)?;
            connect()
        };
        let entered = thread::Builder::new().spawn_scoped(scope, enter)?;
        entered.join().unwrap_or_else(|_| Err(io::Error::other("the thread panicked")))
    })
}

/// What the driver says behind an error whose question was left out: attributes after the
/// question's header.
fn words(behind: &[u8]) -> Option<String> {
    let said = find(behind.get(NETLINK_HEADER_BYTES..)?, NLMSGERR_ATTR_MSG).ok()??;
    let said = String::from_utf8_lossy(said).trim_end_matches('\0').to_owned();
    (!said.is_empty()).then_some(said)
}

/// A message of generic netlink: command and version, two empty bytes, attributes.
#[derive(Debug)]
struct Generic {
    family: u16,
    command: u8,
    version: u8,
    attributes: Vec<u8>,
}

impl NetlinkSerializable for Generic {
    fn message_type(&self) -> u16 {
        self.family
    }

    fn buffer_len(&self) -> usize {
        GENERIC_HEADER_BYTES + self.attributes.len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer[..GENERIC_HEADER_BYTES].copy_from_slice(&[self.command, self.version, 0, 0]);
        buffer[GENERIC_HEADER_BYTES..self.buffer_len()].copy_from_slice(&self.attributes);
    }
}

impl NetlinkDeserializable for Generic {
    type Error = DecodeError;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, DecodeError> {
        let [command, version, _, _, attributes @ ..] = payload else {
            return Err("a generic message without its header".into());
        };
        let (family, attributes) = (header.message_type, attributes.to_vec());
        Ok(Self { family, command: *command, version: *version, attributes })
    }
}

/// The value of the first attribute of this kind.
pub(super) fn find(attributes: &[u8], kind: u16) -> Result<Option<&[u8]>, DecodeError> {
    Ok(all(attributes, kind)?.into_iter().next())
}

/// The values of all attributes of this kind.
pub(super) fn all(attributes: &[u8], kind: u16) -> Result<Vec<&[u8]>, DecodeError> {
    let mut found = Vec::new();
    let mut rest = attributes;
    for attribute in NlasIterator::new(attributes) {
        let attribute = attribute?;
        let (whole, value) = (usize::from(attribute.length()), attribute.value_length());
        let start = whole - value;
        if attribute.kind() == kind {
            found.push(rest.get(start..whole).unwrap_or_default());
        }
        rest = rest.get(whole.next_multiple_of(ALIGNMENT)..).unwrap_or_default();
    }
    Ok(found)
}

/// An attribute that holds a number.
pub(super) fn number(kind: u16, value: u32) -> DefaultNla {
    DefaultNla::new(kind, value.to_ne_bytes().to_vec())
}

/// An attribute that holds a text, which ends with a zero.
pub(super) fn text(kind: u16, value: &str) -> DefaultNla {
    DefaultNla::new(kind, [value.as_bytes(), &[0]].concat())
}

/// An attribute that is true by being there.
pub(super) fn flag(kind: u16) -> DefaultNla {
    DefaultNla::new(kind, Vec::new())
}

/// An attribute that holds others.
pub(super) fn nest(kind: u16, inner: &[DefaultNla]) -> DefaultNla {
    DefaultNla::new(kind | NLA_F_NESTED, emitted(inner))
}

fn emitted(attributes: &[DefaultNla]) -> Vec<u8> {
    let mut bytes = vec![0; attributes.buffer_len()];
    attributes.emit(&mut bytes);
    bytes
}

/// Attributes begin at multiples of this [B].
const ALIGNMENT: usize = 4;

/// Length of the headers of netlink and of generic netlink [B].
const NETLINK_HEADER_BYTES: usize = 16;
const GENERIC_HEADER_BYTES: usize = 4;

/// The family that knows the numbers of the others, its question and its attributes, from
/// <linux/genetlink.h>.
const GENL_ID_CTRL: u16 = 0x10;
const CTRL_VERSION: u8 = 2;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;

/// Where an error carries the driver's words, from <linux/netlink.h>.
const NLMSGERR_ATTR_MSG: u16 = 1;

/// Which interface, from <linux/ethtool_netlink.h>; the first attribute of every question.
const ETHTOOL_VERSION: u8 = 1;
const HEADER: u16 = 1;
const HEADER_DEV_NAME: u16 = 2;
const HEADER_FLAGS: u16 = 3;

/// Asks for an acknowledgement in place of a list of what changed.
const FLAG_OMIT_REPLY: u32 = 1 << 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_in_what_was_emitted() {
        let inner = [text(1, "abc"), number(2, 7), flag(3), number(2, 8)];
        let bytes = emitted(&[flag(9), nest(5, &inner)]);
        let nested = find(&bytes, 5).unwrap().unwrap();
        assert_eq!(find(nested, 1).unwrap(), Some(&b"abc\0"[..]));
        assert_eq!(all(nested, 2).unwrap(), [7u32.to_ne_bytes(), 8u32.to_ne_bytes()]);
        assert_eq!((find(nested, 3).unwrap(), find(nested, 4).unwrap()), (Some(&[][..]), None));
    }

    #[test]
    fn attributes_cut_at_any_byte_are_refused_or_shorter() {
        let bytes = emitted(&[text(1, "abcde"), number(2, 7)]);
        for end in 0..bytes.len() {
            let found = find(&bytes[..end], 2);
            assert!(!matches!(found, Ok(Some(_))), "{end}: {found:?}");
        }
    }

    #[test]
    fn the_kernel_knows_loopback_and_says_why_it_does_not_know_others() {
        let socket = EthtoolSocket::open(None).unwrap();
        assert!(!socket.get(11, "lo").unwrap().is_empty());
        let refusal = socket.get(11, "no-such-link").unwrap_err();
        assert_eq!(refusal.source.raw_os_error(), Some(nix::libc::ENODEV));
    }
}

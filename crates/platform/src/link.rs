//! Settings of a network interface: what it takes off the stack, how long its rings are, how it
//! moderates its interrupts.
//!
//! ```text
//! Setting ─► LinkKeeper ─── question ──► keeper process ── ethtool netlink ──► driver
//!                │                             │
//!                └── ends, however it does ───►└── what was before ──────────► driver
//! ```

mod keeper;
mod netlink;

pub use keeper::{LinkKeeper, keep};

use netlink_packet_core::DecodeError;
use nix::libc;
use serde::{Deserialize, Serialize};

use crate::PlatformError;
use netlink::{EthtoolSocket, Refusal, all, find, flag, nest, number, text};

/// One thing that can be set. Offloads are 0 (off) or 1 (on).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Setting {
    /// The stack cuts segments just before the device (GSO).
    GenericSegmentation,
    /// The receiver joins segments again (GRO).
    GenericReceive,
    /// The device cuts TCP's segments (TSO).
    TcpSegmentation,
    /// Length of the receive ring [packets].
    ReceiveRing,
    /// Length of the transmit ring [packets].
    TransmitRing,
    /// Longest time from a packet to its interrupt [us].
    ReceiveMicroseconds,
    /// Packets after which an interrupt comes at once [packets].
    ReceiveFrames,
}

/// Where a setting stands in the kernel's messages.
enum Place {
    /// Bits of these names.
    Features(&'static [&'static str]),
    /// A number: commands to read and to change it, and its attribute.
    Number { get: u8, set: u8, attribute: u16 },
}

impl Setting {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::GenericSegmentation,
        Self::GenericReceive,
        Self::TcpSegmentation,
        Self::ReceiveRing,
        Self::TransmitRing,
        Self::ReceiveMicroseconds,
        Self::ReceiveFrames,
    ];

    /// Its name, close to that of the program `ethtool`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::GenericSegmentation => "gso",
            Self::GenericReceive => "gro",
            Self::TcpSegmentation => "tso",
            Self::ReceiveRing => "rx_ring",
            Self::TransmitRing => "tx_ring",
            Self::ReceiveMicroseconds => "rx_usecs",
            Self::ReceiveFrames => "rx_frames",
        }
    }

    /// Whether it is on or off rather than a number.
    #[must_use]
    pub fn is_switch(self) -> bool {
        matches!(self.place(), Place::Features(_))
    }

    fn place(self) -> Place {
        let ring = |attribute| Place::Number { get: RINGS_GET, set: RINGS_SET, attribute };
        let moderation =
            |attribute| Place::Number { get: COALESCE_GET, set: COALESCE_SET, attribute };
        match self {
            Self::GenericSegmentation => Place::Features(&["tx-generic-segmentation"]),
            Self::GenericReceive => Place::Features(&["rx-gro"]),
            Self::TcpSegmentation => Place::Features(&TSO),
            Self::ReceiveRing => ring(RINGS_RX),
            Self::TransmitRing => ring(RINGS_TX),
            Self::ReceiveMicroseconds => moderation(COALESCE_RX_USECS),
            Self::ReceiveFrames => moderation(COALESCE_RX_MAX_FRAMES),
        }
    }
}

/// An interface by its name, in the network namespace of a process or in ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The interface.
    pub name: String,
    /// A process in its network namespace; none for our own.
    pub network_of: Option<u32>,
}

impl Link {
    /// What a setting is now.
    ///
    /// # Errors
    /// When there is no such interface or its driver has no such setting.
    pub fn get(&self, setting: Setting) -> Result<u32, PlatformError> {
        let device = Device::open(self).map_err(|refusal| self.refused(setting, &refusal))?;
        device.value(setting)
    }

    fn refused(&self, setting: Setting, refusal: &Refusal) -> PlatformError {
        let reason = match refusal.source.raw_os_error() {
            Some(libc::ENODEV) => return self.against(setting, "there is no such interface"),
            Some(libc::EOPNOTSUPP) => "its driver does not support it".into(),
            Some(libc::EPERM | libc::EACCES) => "changing it needs root".into(),
            _ => refusal.source.to_string(),
        };
        let words = refusal.words.as_ref().map_or_else(String::new, |words| format!(" ({words})"));
        self.against(setting, reason + &words)
    }

    fn against(&self, setting: Setting, reason: impl Into<String>) -> PlatformError {
        let (interface, setting) = (self.name.clone(), setting.name());
        PlatformError::LinkSetting { interface, setting, reason: reason.into() }
    }
}

/// All that must be known to put a setting back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    /// A number.
    Number(u32),
    /// Bits that can be changed, and whether each was asked for.
    Features(Vec<(String, bool)>),
}

/// An interface with a way to ask its driver.
#[derive(Debug)]
struct Device {
    link: Link,
    socket: EthtoolSocket,
}

impl Device {
    fn open(link: &Link) -> Result<Self, Refusal> {
        Ok(Self { link: link.clone(), socket: EthtoolSocket::open(link.network_of)? })
    }

    /// What a setting is now.
    fn value(&self, setting: Setting) -> Result<u32, PlatformError> {
        let read = || match setting.place() {
            Place::Number { get, attribute, .. } => self.number(get, attribute),
            Place::Features(names) => self.active(names).map(|active| Some(u32::from(active))),
        };
        let value = read().map_err(|refusal| self.link.refused(setting, &refusal))?;
        value.ok_or_else(|| self.link.against(setting, "its driver has no such setting"))
    }

    /// What must be known to put it back.
    fn state(&self, setting: Setting) -> Result<State, PlatformError> {
        match setting.place() {
            Place::Number { .. } => self.value(setting).map(State::Number),
            Place::Features(names) => self
                .changeable(names)
                .map(State::Features)
                .map_err(|refusal| self.link.refused(setting, &refusal)),
        }
    }

    /// Sets it, and sees to it that it took.
    fn change(&self, setting: Setting, value: u32) -> Result<(), PlatformError> {
        let wanted = match self.state(setting)? {
            State::Number(_) => State::Number(value),
            State::Features(bits) => {
                State::Features(bits.into_iter().map(|(name, _)| (name, value != 0)).collect())
            }
        };
        self.apply(setting, &wanted)?;
        let found = self.value(setting)?;
        if found == value {
            return Ok(());
        }
        let word = |value: u32| match value {
            _ if !setting.is_switch() => value.to_string(),
            0 => "off".into(),
            _ => "on".into(),
        };
        let reason =
            format!("its driver keeps it {} where {} was asked for", word(found), word(value));
        Err(self.link.against(setting, reason))
    }

    /// Brings it to a state.
    fn apply(&self, setting: Setting, state: &State) -> Result<(), PlatformError> {
        let (command, attribute) = match (setting.place(), state) {
            (Place::Number { set, attribute, .. }, State::Number(value)) => {
                (set, number(attribute, *value))
            }
            (_, State::Features(bits)) if bits.is_empty() => return Ok(()),
            (_, State::Features(bits)) => (FEATURES_SET, wanted(bits)),
            (Place::Features(_), State::Number(_)) => {
                return Err(self.link.against(setting, "a number for what is on or off"));
            }
        };
        let asked = self.socket.set(command, &self.link.name, attribute);
        asked.map_err(|refusal| self.link.refused(setting, &refusal))
    }

    fn number(&self, command: u8, attribute: u16) -> Result<Option<u32>, Refusal> {
        let answer = self.socket.get(command, &self.link.name)?;
        let bytes = find(&answer, attribute)?.and_then(|bytes| bytes.try_into().ok());
        Ok(bytes.map(u32::from_ne_bytes))
    }

    /// Whether any of these bits is on.
    fn active(&self, names: &[&str]) -> Result<bool, Refusal> {
        let answer = self.socket.get(FEATURES_GET, &self.link.name)?;
        let active = set_bits(find(&answer, FEATURES_ACTIVE)?.unwrap_or_default(), false)?;
        Ok(active.iter().any(|name| names.contains(&name.as_str())))
    }

    /// Those of these bits that the driver lets change, and whether each was asked for.
    fn changeable(&self, names: &[&str]) -> Result<Vec<(String, bool)>, Refusal> {
        let answer = self.socket.get(FEATURES_GET, &self.link.name)?;
        let wanted = set_bits(find(&answer, FEATURES_WANTED)?.unwrap_or_default(), false)?;
        let hardware = set_bits(find(&answer, FEATURES_HW)?.unwrap_or_default(), true)?;
        let changeable = hardware.into_iter().filter(|name| names.contains(&name.as_str()));
        Ok(changeable.map(|name| (name.clone(), wanted.contains(&name))).collect())
    }
}

/// Names of the bits of a set that are 1. With a mask all bits are listed and those that are 1 have
/// a flag; without one, only those that are 1 are listed.
fn set_bits(bitset: &[u8], masked: bool) -> Result<Vec<String>, DecodeError> {
    let mut names = Vec::new();
    for bit in all(find(bitset, BITSET_BITS)?.unwrap_or_default(), BITSET_BITS_BIT)? {
        let name = find(bit, BIT_NAME)?.unwrap_or_default();
        if !masked || find(bit, BIT_VALUE)?.is_some() {
            names.push(String::from_utf8_lossy(name).trim_end_matches('\0').to_owned());
        }
    }
    Ok(names)
}

/// A set of bits to change, each to its value; all others stay.
fn wanted(bits: &[(String, bool)]) -> netlink_packet_core::DefaultNla {
    let bit = |(name, on): &(String, bool)| {
        let mut inner = vec![text(BIT_NAME, name)];
        inner.extend(on.then(|| flag(BIT_VALUE)));
        nest(BITSET_BITS_BIT, &inner)
    };
    let bits: Vec<_> = bits.iter().map(bit).collect();
    nest(FEATURES_WANTED, &[nest(BITSET_BITS, &bits)])
}

/// All that `ethtool -K tso` switches.
const TSO: [&str; 4] = [
    "tx-tcp-segmentation",
    "tx-tcp-ecn-segmentation",
    "tx-tcp-mangleid-segmentation",
    "tx-tcp6-segmentation",
];

// Commands and attributes of <linux/ethtool_netlink.h>.
const FEATURES_GET: u8 = 11;
const FEATURES_SET: u8 = 12;
const FEATURES_HW: u16 = 2;
const FEATURES_WANTED: u16 = 3;
const FEATURES_ACTIVE: u16 = 4;
const BITSET_BITS: u16 = 3;
const BITSET_BITS_BIT: u16 = 1;
const BIT_NAME: u16 = 2;
const BIT_VALUE: u16 = 3;
const RINGS_GET: u8 = 15;
const RINGS_SET: u8 = 16;
const RINGS_RX: u16 = 6;
const RINGS_TX: u16 = 9;
const COALESCE_GET: u8 = 19;
const COALESCE_SET: u8 = 20;
const COALESCE_RX_USECS: u16 = 2;
const COALESCE_RX_MAX_FRAMES: u16 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::ETHTOOL;
    use crate::namespace::tests::as_nobody;

    fn loopback() -> Link {
        Link { name: "lo".into(), network_of: None }
    }

    #[test]
    fn offloads_are_those_that_ethtool_prints() {
        let Ok(printed) = ETHTOOL.run(&["-k", "lo"]) else {
            return;
        };
        for (setting, name) in [
            (Setting::GenericSegmentation, "generic-segmentation-offload"),
            (Setting::GenericReceive, "generic-receive-offload"),
            (Setting::TcpSegmentation, "tcp-segmentation-offload"),
        ] {
            let on = printed.lines().any(|line| line.starts_with(&format!("{name}: on")));
            assert_eq!(loopback().get(setting).unwrap(), u32::from(on), "{name}");
        }
    }

    #[test]
    fn what_an_interface_has_not_got_is_named_with_the_interface() {
        for setting in [Setting::ReceiveRing, Setting::ReceiveMicroseconds] {
            let error = loopback().get(setting).unwrap_err().to_string();
            let expected = format!("{} of lo: its driver does not support it", setting.name());
            assert_eq!(error, expected);
        }
        let nowhere = Link { name: "nowhere0".into(), network_of: None };
        let error = nowhere.get(Setting::GenericReceive).unwrap_err().to_string();
        assert_eq!(error, "gro of nowhere0: there is no such interface");
    }

    #[test]
    fn without_root_a_change_is_refused_with_the_reason() {
        let refused = as_nobody(|| {
            let device = Device::open(&loopback()).unwrap();
            let now = device.value(Setting::GenericReceive).unwrap();
            device.change(Setting::GenericReceive, now)
        });
        let error = refused.unwrap_err().to_string();
        assert_eq!(error, "gro of lo: changing it needs root");
    }

    #[test]
    fn a_namespace_that_is_gone_is_named_with_the_interface() {
        let gone = Link { name: "veth0".into(), network_of: Some(4_194_304) };
        let error = gone.get(Setting::GenericReceive).unwrap_err().to_string();
        assert!(error.starts_with("gro of veth0: No such file"), "{error}");
    }
}

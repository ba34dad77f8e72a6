//! Network interfaces: what the kernel knows of each, and what it takes off the stack.

use std::fs;
use std::os::fd::AsRawFd;
use std::path::Path;

use bitpath_measure::environment::{Nic, Queues};
use nix::libc;
use socket2::{Domain, Socket, Type};

use super::{text, value};

/// All interfaces of this network namespace, by name.
pub(super) fn nics() -> Vec<Nic> {
    let Ok(entries) = fs::read_dir("/sys/class/net") else {
        return Vec::new();
    };
    let mut nics: Vec<Nic> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            nic(&entry.path(), entry.file_name().to_str()?)
        })
        .collect();
    nics.sort_by(|a, b| a.name.cmp(&b.name));
    nics
}

fn nic(directory: &Path, name: &str) -> Option<Nic> {
    let driver = fs::read_link(directory.join("device/driver")).ok();
    let driver = driver.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    // Drivers that do not know their speed say -1 or refuse.
    let megabits: Option<u64> = value(directory.join("speed"));
    Some(Nic {
        name: name.into(),
        driver: driver.map(str::to_owned),
        speed_bits_per_second: megabits.and_then(|megabits| megabits.checked_mul(1_000_000)),
        mtu_bytes: value(directory.join("mtu"))?,
        queues: queues(&directory.join("queues")),
        offloads: offloads(name),
        up: text(directory.join("carrier")).is_some_and(|carrier| carrier == "1"),
    })
}

fn queues(directory: &Path) -> Queues {
    let names: Vec<String> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let count = |prefix: &str| names.iter().filter(|name| name.starts_with(prefix)).count();
    Queues { receive: count("rx-"), transmit: count("tx-") }
}

/// Offloads that are on, as `ethtool -k` names them.
fn offloads(name: &str) -> Vec<String> {
    let Ok(socket) = Socket::new(Domain::IPV4, Type::DGRAM, None) else {
        return Vec::new();
    };
    let on = |(_, command, mask): &&(&str, u32, u32)| {
        ethtool_value(&socket, name, *command).is_some_and(|value| value & mask != 0)
    };
    OFFLOADS.iter().filter(on).map(|(offload, ..)| (*offload).into()).collect()
}

/// Command and answer of the simple ethtool requests, `struct ethtool_value`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

nix::ioctl_readwrite_bad!(
    /// Passes a request of <linux/ethtool.h> to an interface's driver.
    ask_driver,
    libc::SIOCETHTOOL,
    libc::ifreq
);

/// Asks the driver one question; `None` when it does not answer it.
fn ethtool_value(socket: &Socket, interface: &str, command: u32) -> Option<u32> {
    let mut value = EthtoolValue { command, data: 0 };
    let mut name = [0; libc::IFNAMSIZ];
    // One byte remains zero: the end of the name.
    for (place, byte) in name[..libc::IFNAMSIZ - 1].iter_mut().zip(interface.bytes()) {
        *place = libc::c_char::from_ne_bytes([byte]);
    }
    let mut request = libc::ifreq {
        ifr_name: name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: (&raw mut value).cast() },
    };
    // SAFETY: the kernel reads the name and the command and writes at most an `EthtoolValue` where
    // `ifru_data` points; both live until the call returns.
    unsafe { ask_driver(socket.as_raw_fd(), &raw mut request) }.ok()?;
    Some(value.data)
}

/// Name as `ethtool -k` prints it, command of <linux/ethtool.h> that asks for it, and its bits in
/// the answer.
const OFFLOADS: [(&str, u32, u32); 8] = [
    ("rx-checksumming", 0x14, u32::MAX),
    ("tx-checksumming", 0x16, u32::MAX),
    ("scatter-gather", 0x18, u32::MAX),
    ("tcp-segmentation-offload", 0x1e, u32::MAX),
    ("generic-segmentation-offload", 0x23, u32::MAX),
    ("generic-receive-offload", 0x2b, u32::MAX),
    // ETHTOOL_GFLAGS with ETH_FLAG_LRO and ETH_FLAG_RXHASH.
    ("large-receive-offload", 0x25, 1 << 15),
    ("receive-hashing", 0x25, 1 << 28),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::ETHTOOL;

    #[test]
    fn the_loopback_interface_is_among_them() {
        let nics = nics();
        let lo = nics.iter().find(|nic| nic.name == "lo").unwrap();
        assert!(lo.mtu_bytes >= 1280 && lo.driver.is_none(), "{lo:?}");
        assert!(lo.queues.receive >= 1 && lo.queues.transmit >= 1, "{lo:?}");
    }

    #[test]
    fn offloads_are_those_that_ethtool_prints() {
        let Ok(printed) = ETHTOOL.run(&["-k", "lo"]) else {
            return;
        };
        let on = |name: &str| printed.lines().any(|line| line.starts_with(&format!("{name}: on")));
        let expected: Vec<&str> =
            OFFLOADS.iter().map(|(name, ..)| *name).filter(|name| on(name)).collect();
        assert_eq!(offloads("lo"), expected);
    }

    #[test]
    fn an_interface_that_is_not_there_has_no_offloads() {
        assert!(offloads("a-name-longer-than-any-interface").is_empty());
    }
}

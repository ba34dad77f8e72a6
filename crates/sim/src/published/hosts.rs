//! The hosts of the papers as profiles: `data/hosts`, each value with its source.

use super::PublishedError;
use crate::profile::HostProfile;

/// Names of the hosts.
pub const NAMES: [&str; 7] = [
    "e55",
    "stealth",
    "diablo",
    "80486-ne2000",
    "pentium133-ne2000",
    "80486-3c503",
    "xeon-6128-100g",
];

/// The files, in the order of [`NAMES`].
const FILES: [(&str, &str); 7] = [
    ("e55.toml", include_str!("../../../../data/hosts/e55.toml")),
    ("stealth.toml", include_str!("../../../../data/hosts/stealth.toml")),
    ("diablo.toml", include_str!("../../../../data/hosts/diablo.toml")),
    ("80486-ne2000.toml", include_str!("../../../../data/hosts/80486-ne2000.toml")),
    ("pentium133-ne2000.toml", include_str!("../../../../data/hosts/pentium133-ne2000.toml")),
    ("80486-3c503.toml", include_str!("../../../../data/hosts/80486-3c503.toml")),
    ("xeon-6128-100g.toml", include_str!("../../../../data/hosts/xeon-6128-100g.toml")),
];

/// The profile of the host of this name.
///
/// # Errors
/// When no host has the name, or its file is no profile.
pub fn profile(name: &str) -> Result<HostProfile, PublishedError> {
    let index = NAMES.iter().position(|known| *known == name);
    let (file, text) = index
        .map(|index| FILES[index])
        .ok_or_else(|| PublishedError::NoHost { name: name.into() })?;
    toml::from_str(text).map_err(|error: toml::de::Error| PublishedError::Host {
        file,
        reason: error.message().into(),
    })
}

#[cfg(test)]
mod tests {
    use bitpath_measure::{ByteCount, Picos};

    use super::*;
    use crate::host::HostScenario;
    use crate::job::Job;
    use crate::link::Link;
    use crate::path;
    use crate::profile::Transport::{self, Tcp, Udp};

    /// Payload that a RAW job moves on a host [b/s].
    fn raw(name: &str, transport: Transport, message: u64) -> f64 {
        let buffer = ByteCount(1 << 18);
        let duration = Picos(Picos::SECOND.0 / 2);
        let job = Job::raw("raw", transport, ByteCount(message), buffer, duration);
        let host = profile(name).unwrap();
        let link = Link { queue: ByteCount(1 << 20), ..Link::default() };
        let scenario = HostScenario { host, job, link, interval: Picos::SECOND };
        path::run(&scenario).throughput()
    }

    #[test]
    fn a_raw_job_on_each_host_moves_what_its_table_says() {
        // sysSIM table 8, slides tables 1 to 3 (frames of 1514 B carry 1472 B), SIGCOMM 2021 "all".
        let mega = f64::from(1 << 20);
        for (name, transport, message, printed) in [
            ("e55", Udp, 1472, 354.0 * mega),
            ("e55", Tcp, 1460, 310.0 * mega),
            ("stealth", Udp, 1472, 704.0 * mega),
            ("stealth", Tcp, 1460, 676.0 * mega),
            ("diablo", Udp, 1472, 2180.0 * mega),
            ("diablo", Tcp, 1460, 2180.0 * mega),
            ("80486-ne2000", Udp, 1472, 586e3 * 8.0 * 1472.0 / 1514.0),
            ("pentium133-ne2000", Udp, 1472, 714e3 * 8.0 * 1472.0 / 1514.0),
            ("80486-3c503", Udp, 1472, 254e3 * 8.0 * 1472.0 / 1514.0),
            ("xeon-6128-100g", Tcp, 65_536, 42.2e9),
        ] {
            let moved = raw(name, transport, message);
            // A slow card's last frame counts: it is under way when the sender has ended.
            assert!((moved / printed - 1.0).abs() < 0.02, "{name} {transport:?}: {moved:.4e}");
        }
    }

    #[test]
    fn names_and_files_go_together() {
        for (name, (file, _)) in NAMES.iter().zip(FILES) {
            assert_eq!(format!("{name}.toml"), file);
            assert_eq!(profile(name).unwrap().name, *name);
        }
        assert!(profile("e56").unwrap_err().to_string().contains("stealth"));
    }
}

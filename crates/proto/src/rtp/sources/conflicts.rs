//! Addresses from which our own identifier came, [RFC 3550 section 8.2](https://www.rfc-editor.org/rfc/rfc3550#section-8.2).
//!
//! ```text
//! packet with our SSRC ──► address ──┬─ new ────► collision: goodbye, another SSRC
//!                                    └─ known ──► our packets come back: ignored
//! ```

use std::net::SocketAddr;

/// Most addresses that are kept. Each costs a change of identifier, so that forged ones can force no more than
/// these until they are forgotten; loops in one network have a few.
const MAX_CONFLICTS: usize = 16;

/// What a packet with our own identifier is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::rtp) enum Conflict {
    /// Somebody else has chosen it, too.
    Collision,
    /// Our own, or one of more addresses than are kept.
    Loop,
}

#[derive(Clone, Debug, Default)]
pub(in crate::rtp) struct Conflicts {
    /// Addresses, and when each was last met [ns].
    met: Vec<(SocketAddr, u64)>,
}

impl Conflicts {
    pub(in crate::rtp) fn on_own_name(&mut self, now_ns: u64, from: SocketAddr) -> Conflict {
        if let Some((_, last_ns)) = self.met.iter_mut().find(|(address, _)| *address == from) {
            *last_ns = now_ns;
            return Conflict::Loop;
        }
        if self.met.len() == MAX_CONFLICTS {
            return Conflict::Loop;
        }
        self.met.push((from, now_ns));
        Conflict::Collision
    }

    /// Forgets addresses from which nothing came for this long [ns].
    pub(in crate::rtp) fn expire(&mut self, now_ns: u64, timeout_ns: u64) {
        self.met.retain(|(_, last_ns)| now_ns.saturating_sub(*last_ns) <= timeout_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    #[test]
    fn an_address_collides_once_and_again_after_it_was_forgotten() {
        let mut conflicts = Conflicts::default();
        assert_eq!(conflicts.on_own_name(0, address(1)), Conflict::Collision);
        assert_eq!(conflicts.on_own_name(50, address(1)), Conflict::Loop);
        conflicts.expire(150, 100);
        assert_eq!(conflicts.on_own_name(150, address(1)), Conflict::Loop);
        conflicts.expire(251, 100);
        assert_eq!(conflicts.on_own_name(251, address(1)), Conflict::Collision);
    }

    #[test]
    fn forged_addresses_force_a_bounded_number_of_changes() {
        let mut conflicts = Conflicts::default();
        let met = (0..1000).map(|port| conflicts.on_own_name(0, address(port)));
        assert_eq!(met.filter(|met| *met == Conflict::Collision).count(), MAX_CONFLICTS);
    }
}

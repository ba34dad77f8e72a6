//! How often a participant reports, [RFC 3550 section 6.2](https://www.rfc-editor.org/rfc/rfc3550#section-6.2) and
//! 6.3.1 (appendix A.7).
//!
//! ```text
//! bandwidth [b/s] ──► budget [ns/B] ──┐
//! members, senders ──► sharers ───────┼──► deterministic interval [ns] ──► randomised interval [ns]
//! average packet [B] ─────────────────┘    (not below the minimum)
//! ```

use super::forbidden;
use crate::ProtoError;

/// Share of the session's bandwidth that RTCP may take (section 6.2).
const RTCP_SHARE: f64 = 0.05;

/// Least interval on average [ns] (section 6.2).
const MINIMUM_NS: f64 = 5e9;

/// The reduced minimum times the session's bandwidth [ns b/s]: 360 s kb/s (section 6.2).
const REDUCED_MINIMUM_NS_BITS_PER_SECOND: f64 = 360e3 * 1e9;

/// Where senders are this share of the members or less, they have this share of RTCP's bandwidth to
/// themselves (section 6.2): one in four.
const SENDERS_ONE_IN: u64 = 4;

/// How much dearer a byte is to the senders, who share a quarter, and to the receivers, who share the rest.
const SENDERS_COST: f64 = 4.0;
const RECEIVERS_COST: f64 = 4.0 / 3.0;

/// Timer reconsideration settles below the bandwidth that is meant; this makes up for it (section 6.3.1).
const COMPENSATION: f64 = std::f64::consts::E - 1.5;

/// Intervals without a packet after which a member is gone (section 6.3.5).
const TIMEOUT_INTERVALS: u64 = 5;

/// Who takes part, as the table of members counts it, this participant included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Members.
    pub members: u32,
    /// Those of them that sent data lately.
    pub senders: u32,
    /// Whether this participant is one of those.
    pub we_sent: bool,
}

/// Which least interval holds (section 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Minimum {
    /// Five seconds, which always will do.
    Fixed,
    /// 360 s over the kilobits a second, for all: unicast sessions.
    Reduced,
    /// The same for those who send data, five seconds for the others: multicast sessions.
    ReducedForSenders,
}

/// What RTCP may spend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Time of the session that a byte takes [ns/B].
    ns_per_byte: f64,
    senders_minimum_ns: f64,
    receivers_minimum_ns: f64,
}

impl Budget {
    /// Five percent of the session's bandwidth [b/s], which counts the headers of IP and UDP.
    ///
    /// # Errors
    /// Without bandwidth there is no interval.
    pub fn new(session_bits_per_second: u64, minimum: Minimum) -> Result<Self, ProtoError> {
        if session_bits_per_second == 0 {
            return Err(forbidden("bandwidth of a session", 0, "reports need some"));
        }
        let bits_per_second = session_bits_per_second as f64;
        let reduced_ns = (REDUCED_MINIMUM_NS_BITS_PER_SECOND / bits_per_second).min(MINIMUM_NS);
        let (senders_minimum_ns, receivers_minimum_ns) = match minimum {
            Minimum::Fixed => (MINIMUM_NS, MINIMUM_NS),
            Minimum::Reduced => (reduced_ns, reduced_ns),
            Minimum::ReducedForSenders => (reduced_ns, MINIMUM_NS),
        };
        let ns_per_byte = 8e9 / (bits_per_second * RTCP_SHARE);
        Ok(Self { ns_per_byte, senders_minimum_ns, receivers_minimum_ns })
    }

    /// The interval before chance comes in [ns]: members or their group take turns within their bandwidth.
    /// Before the first packet the minimum is half (section 6.3.1, steps 1 to 3).
    #[inline]
    #[must_use]
    pub fn deterministic_interval_ns(
        &self,
        counts: Counts,
        average_bytes: f64,
        initial: bool,
    ) -> u64 {
        let minimum_ns =
            if counts.we_sent { self.senders_minimum_ns } else { self.receivers_minimum_ns };
        let minimum_ns = if initial { minimum_ns * 0.5 } else { minimum_ns };
        nearest(self.turn_ns(counts, average_bytes).max(minimum_ns))
    }

    /// Silence after which a member is gone [ns]. All have to agree on it, so it is that of a receiver and of
    /// the fixed minimum (sections 6.2 and 6.3.5).
    #[must_use]
    pub fn member_timeout_ns(&self, counts: Counts, average_bytes: f64) -> u64 {
        let turn_ns = self.turn_ns(Counts { we_sent: false, ..counts }, average_bytes);
        nearest(turn_ns.max(MINIMUM_NS)).saturating_mul(TIMEOUT_INTERVALS)
    }

    /// Time until all who share a bandwidth have sent an average packet once [ns].
    #[inline]
    fn turn_ns(&self, counts: Counts, average_bytes: f64) -> f64 {
        let Counts { members, senders, we_sent } = counts;
        let (sharers, cost) = if u64::from(senders) * SENDERS_ONE_IN > u64::from(members) {
            (members, 1.0)
        } else if we_sent {
            (senders, SENDERS_COST)
        } else {
            (members - senders, RECEIVERS_COST)
        };
        f64::from(sharers) * cost * average_bytes * self.ns_per_byte
    }
}

/// The interval with chance in it [ns]: half to one and a half of the deterministic one, compensated. `random`
/// is uniform in 0 to 1, 1 excluded (section 6.3.1, steps 4 and 5).
#[inline]
#[must_use]
pub fn randomised_ns(deterministic_ns: u64, random: f64) -> u64 {
    // The bounds keep what is not a number, and a minimum reduced to nothing, from asking for reports without pause.
    nearest(deterministic_ns as f64 * (0.5 + random).max(0.5) / COMPENSATION).max(1)
}

/// The nearest whole number, the greatest for what is beyond.
#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "stays at the bounds")]
fn nearest(ns: f64) -> u64 {
    (ns + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const S: u64 = 1_000_000_000;

    fn counts(members: u32, senders: u32, we_sent: bool) -> Counts {
        Counts { members, senders, we_sent }
    }

    #[test]
    fn intervals_by_hand() {
        // 64 kb/s of session are 400 B/s of RTCP: 100 for senders and 300 for receivers, of packets of 100 B.
        let budget = Budget::new(64_000, Minimum::Fixed).unwrap();
        for (members, senders, we_sent, initial, interval_ns) in [
            (2, 1, true, false, 5 * S),
            (2, 1, false, true, 5 * S / 2),
            (2, 2, true, false, 5 * S),
            (1000, 10, false, false, 330 * S), // 990 x 100 B / 300 B/s
            (1000, 10, true, false, 10 * S),   // 10 x 100 B / 100 B/s
            (1000, 250, true, false, 250 * S), // a quarter is not over a quarter
            (1000, 250, false, false, 250 * S),
            (1000, 251, true, false, 250 * S), // 1000 x 100 B / 400 B/s
            (1000, 251, false, true, 250 * S),
            (1000, 1000, true, false, 250 * S),
            (0, 0, false, false, 5 * S),
        ] {
            let found =
                budget.deterministic_interval_ns(counts(members, senders, we_sent), 100.0, initial);
            assert_eq!(found, interval_ns, "{members} members, {senders} senders, {we_sent}");
        }
    }

    #[test]
    fn the_reduced_minimum_is_360_seconds_over_kilobits_and_never_longer_than_five() {
        for (bits_per_second, reduced_ns) in
            [(720_000, S / 2), (7_200_000, S / 20), (72_000, 5 * S), (7_200, 5 * S)]
        {
            let interval_ns = |minimum, we_sent, initial| {
                let budget = Budget::new(bits_per_second, minimum).unwrap();
                budget.deterministic_interval_ns(counts(2, 1, we_sent), 1.0, initial)
            };
            assert_eq!(interval_ns(Minimum::Reduced, true, false), reduced_ns);
            assert_eq!(interval_ns(Minimum::Reduced, false, false), reduced_ns);
            assert_eq!(interval_ns(Minimum::Reduced, false, true), reduced_ns / 2);
            assert_eq!(interval_ns(Minimum::ReducedForSenders, true, false), reduced_ns);
            assert_eq!(interval_ns(Minimum::ReducedForSenders, false, false), 5 * S);
        }
    }

    #[test]
    fn members_time_out_by_the_fixed_minimum_of_a_receiver() {
        let budget = Budget::new(7_200_000, Minimum::Reduced).unwrap();
        assert_eq!(budget.member_timeout_ns(counts(2, 1, true), 100.0), 25 * S);
        let budget = Budget::new(64_000, Minimum::Fixed).unwrap();
        assert_eq!(budget.member_timeout_ns(counts(1000, 10, true), 100.0), 5 * 330 * S);
    }

    #[test]
    fn chance_takes_half_to_one_and_a_half_over_e_less_one_and_a_half() {
        for (random, interval_ns) in
            [(0.0, 2_052_070_335), (0.5, 4_104_140_670), (0.999_999, 6_156_206_901)]
        {
            assert_eq!(randomised_ns(5 * S, random), interval_ns);
        }
        assert_eq!(randomised_ns(5 * S, f64::NAN), 2_052_070_335);
    }

    #[test]
    fn no_bandwidth_is_so_great_that_reports_follow_without_pause() {
        let budget = Budget::new(u64::MAX, Minimum::Reduced).unwrap();
        let deterministic_ns = budget.deterministic_interval_ns(counts(2, 1, true), 100.0, false);
        assert_eq!((deterministic_ns, randomised_ns(deterministic_ns, 0.5)), (0, 1));
    }

    #[test]
    fn a_session_without_bandwidth_is_refused() {
        let refused = Budget::new(0, Minimum::Fixed).unwrap_err().to_string();
        assert_eq!(refused, "bandwidth of a session is 0: reports need some");
    }

    proptest! {
        #[test]
        fn no_counts_give_less_than_the_minimum(
            (members, senders, we_sent) in any::<(u32, u32, bool)>(),
            bits_per_second in 1_u64..=u64::MAX,
            average_bytes in 0.0..65_536.0,
        ) {
            let budget = Budget::new(bits_per_second, Minimum::Fixed).unwrap();
            let counts = counts(members, senders, we_sent);
            prop_assert!(budget.deterministic_interval_ns(counts, average_bytes, false) >= 5 * S);
            prop_assert!(budget.member_timeout_ns(counts, average_bytes) >= 25 * S);
        }
    }
}

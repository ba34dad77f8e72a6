//! A driver with programmed I/O: the processor itself moves every byte to the card and waits for
//! it (slides on network performance, rules 1, 2 and 7).
//!
//! ```text
//! frame [B] ──► executive, buffers, timers, driver [ns a frame] ──► poll the card [ns a byte] ──► wire
//! ```
//!
//! Nothing runs beside anything else: the time for a frame is the sum over the modules.

use bitpath_measure::{ByteCount, ByteRate};

/// What a frame costs one module: a line in its length.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleCost {
    /// The module.
    pub name: String,
    /// For each frame [ns]; negative where the card works while other modules run, so that only
    /// the rest of its time is waited for.
    pub per_frame_ns: f64,
    /// For each byte [ns/B].
    pub per_byte_ns: f64,
}

impl ModuleCost {
    /// The line through two measured frames, each with its length and its time [ns].
    #[must_use]
    pub fn through(name: &str, short: (ByteCount, f64), long: (ByteCount, f64)) -> Self {
        let (short_bytes, long_bytes) = (short.0.0 as f64, long.0.0 as f64);
        let per_byte_ns = (long.1 - short.1) / (long_bytes - short_bytes);
        let per_frame_ns = short.1 - per_byte_ns * short_bytes;
        Self { name: name.into(), per_frame_ns, per_byte_ns }
    }

    /// Time for one frame [ns].
    #[must_use]
    pub fn time_ns(&self, frame: ByteCount) -> f64 {
        (self.per_frame_ns + self.per_byte_ns * frame.0 as f64).max(0.0)
    }
}

/// All that the processor does for a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgrammedIo {
    /// Its modules; together they take all of the time.
    pub modules: Vec<ModuleCost>,
}

impl ProgrammedIo {
    /// Time for one frame [ns].
    #[must_use]
    pub fn time_ns(&self, frame: ByteCount) -> f64 {
        self.modules.iter().map(|module| module.time_ns(frame)).sum()
    }

    /// Frames of this length as fast as the processor can [B/s].
    #[must_use]
    pub fn throughput(&self, frame: ByteCount) -> ByteRate {
        ByteRate(frame.0 as f64 / self.time_ns(frame) * 1e9)
    }

    /// Share of the processor's time that the module of this name takes [ratio].
    #[must_use]
    pub fn share(&self, name: &str, frame: ByteCount) -> f64 {
        let own = self.modules.iter().filter(|module| module.name == name);
        own.map(|module| module.time_ns(frame)).sum::<f64>() / self.time_ns(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver() -> ProgrammedIo {
        let short = ByteCount(100);
        let long = ByteCount(1000);
        let modules = vec![
            ModuleCost::through("software", (short, 3000.0), (long, 3000.0)),
            ModuleCost::through("poll", (short, 500.0), (long, 9500.0)),
        ];
        ProgrammedIo { modules }
    }

    #[test]
    fn longer_frames_carry_more_and_leave_less_for_software() {
        let rates = [100, 500, 1000].map(|bytes| driver().throughput(ByteCount(bytes)).0);
        assert!(rates[0] < rates[1] && rates[1] < rates[2], "{rates:?}");
        assert!((rates[2] - 1000.0 / 12_500e-9).abs() < 1e-3);
        assert!((driver().share("software", ByteCount(1000)) - 0.24).abs() < 1e-12);
    }

    #[test]
    fn what_the_card_does_beside_the_software_is_not_waited_for() {
        assert_eq!(driver().modules[1].per_frame_ns, -500.0);
        assert_eq!(driver().modules[1].time_ns(ByteCount(20)), 0.0);
    }
}

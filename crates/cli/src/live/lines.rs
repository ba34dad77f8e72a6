//! The view as one line of text: where standard output is no terminal, and where it is a tiny one.

use bitpath_measure::{ByteCount, Unit};
use bitpath_report::format;

use super::course::{Course, Load};

/// Time, what every component holds, load, losses and payload, each with its unit.
pub(crate) fn line(course: &Course) -> String {
    let look = course.look();
    let load: f64 = course.loads().iter().copied().map(Load::total).sum();
    format!(
        "{:.6} s  line {}  ring {} frames  kernel buffer {}  user buffer {}  cpu {load:.2} cores  \
         dropped {}  sent again {}  delivered {}",
        look.now.as_secs_f64(),
        bytes(look.line),
        look.ring_frames,
        bytes(look.kernel_buffer),
        bytes(look.user_buffer),
        look.drops.iter().sum::<u64>(),
        look.retransmitted,
        bytes(look.delivered),
    )
}

/// A size with the prefix that fits.
pub(crate) fn bytes(size: ByteCount) -> String {
    format::value(Unit::Bytes, size.0 as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::screen::tests::seen;

    #[test]
    fn a_line_has_a_unit_for_everything() {
        assert_eq!(
            line(&seen()),
            "0.640000 s  line 1600 B  ring 3 frames  kernel buffer 38.1 KiB  user buffer 6000 B  \
             cpu 0.80 cores  dropped 14  sent again 2  delivered 79.1 KiB"
        );
    }
}

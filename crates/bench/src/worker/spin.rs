//! Work of a known length, and waiting without sleeping.

use bitpath_platform::clock::monotonic_ns;

/// Works until the monotonic clock shows `until_ns`.
pub(super) fn spin_until(until_ns: u64) {
    while monotonic_ns() < until_ns {
        std::hint::spin_loop();
    }
}

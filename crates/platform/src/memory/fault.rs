//! What the first touch of a page costs: the kernel finds a page, clears it and maps it.

use nix::sys::resource::{UsageWho, getrusage};

use super::{Buffer, PAGE_BYTES, Pages};
use crate::PlatformError;
use crate::clock::monotonic_ns;

/// Size of a huge page of x86, and of Arm with small pages of 4 KiB [B].
pub const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Faults and their time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Faults {
    /// Pages that came by themselves, each with one fault [count].
    pub faults: u64,
    /// Time of all of them [ns].
    pub elapsed_ns: u64,
}

impl Faults {
    /// Time of one [ns]; none where there was none.
    #[must_use]
    pub fn one_ns(&self) -> Option<f64> {
        (self.faults > 0).then(|| self.elapsed_ns as f64 / self.faults as f64)
    }
}

/// Touches so many pages for the first time, small ones or, with [`Pages::Huge`], huge ones.
///
/// Faults are those that the kernel counted: where it has no huge page it gives small ones, and there
/// are more faults than pages.
///
/// # Errors
/// When the memory cannot be had.
pub fn touch(pages: Pages, count: usize) -> Result<Faults, PlatformError> {
    let step = if pages == Pages::Huge { HUGE_PAGE_BYTES } else { PAGE_BYTES };
    // One more: the mapping may begin between two huge pages.
    let mut buffer = Buffer::untouched((count + 1) * step, pages)?;
    let first = buffer.as_ptr().align_offset(step).min(step);
    let faults = faults_so_far()?;
    let start_ns = monotonic_ns();
    for page in buffer[first..].chunks_mut(step).take(count) {
        std::hint::black_box(&mut page[0]);
        page[0] = 1;
    }
    let elapsed_ns = monotonic_ns() - start_ns;
    Ok(Faults { faults: faults_so_far()?.saturating_sub(faults), elapsed_ns })
}

/// Faults of the calling thread that needed no disk [count].
fn faults_so_far() -> Result<u64, PlatformError> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD)
        .map_err(|errno| PlatformError::system("count page faults", errno))?;
    Ok(usage.minor_page_faults().unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_small_page_is_a_fault() {
        let faults = touch(Pages::Small, 64).unwrap();
        assert!(faults.faults >= 64, "{faults:?}");
        assert!(faults.one_ns().is_some_and(|ns| ns > 0.0));
    }

    #[test]
    fn huge_pages_are_counted_as_the_kernel_gave_them() {
        let faults = touch(Pages::Huge, 2).unwrap();
        assert!(faults.faults >= 2, "{faults:?}");
        assert_eq!(Faults { faults: 0, ..faults }.one_ns(), None);
    }
}

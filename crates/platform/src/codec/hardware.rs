//! Hardware that decodes: what libavutil can drive, and whether the machine has such a device.

use std::fs;
use std::path::PathBuf;

use super::backend;

/// A decoder in hardware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hardware {
    /// libavutil's name of the interface, `vaapi` or `cuda`.
    pub interface: &'static str,
    /// The device.
    pub device: PathBuf,
}

/// Interfaces that are looked for, as libavutil names them, with the folder and the beginning of the
/// names of their devices. NVDEC is reached by CUDA.
const INTERFACES: [(&str, &str, &str); 2] =
    [("vaapi", "/dev/dri", "renderD"), ("cuda", "/dev", "nvidia0")];

/// Devices of this machine that this libavutil can drive; none where there are none, or no library.
#[must_use]
pub fn hardware() -> Vec<Hardware> {
    let driven = backend::hardware_interfaces();
    let found = |(interface, folder, name): (&'static str, &str, &str)| {
        let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_device = |path: &PathBuf| {
            path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name))
        };
        let device = names.filter(is_device).min()?;
        driven.iter().any(|known| known == interface).then_some(Hardware { interface, device })
    };
    INTERFACES.into_iter().filter_map(found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardware_that_is_found_is_there() {
        for hardware in hardware() {
            assert!(hardware.device.exists(), "{hardware:?}");
        }
    }

    #[cfg(feature = "decode")]
    #[test]
    fn the_library_names_its_interfaces_in_small_letters() {
        let names = backend::hardware_interfaces();
        assert!(names.iter().all(|name| !name.is_empty() && !name.contains(char::is_uppercase)));
    }
}

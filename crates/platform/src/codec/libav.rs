//! The codec over libavformat and libavcodec, FFmpeg 5.1 or later.
//!
//! The libraries are silenced: what they would write on stderr is an error value here.

mod decode;
mod demux;
mod encode;
mod parameters;
mod scene;

pub(super) use decode::Decoder;
pub(super) use demux::open;
pub(super) use encode::synthesize;

use std::ffi::CStr;
use std::sync::Once;

use ffmpeg_next::ffi;

/// Readies the libraries, once in a process: their own messages off, the texts of their error
/// codes loaded.
fn ready() {
    static READY: Once = Once::new();
    READY.call_once(|| {
        ffmpeg_next::log::set_level(ffmpeg_next::log::Level::Quiet);
        ffmpeg_next::error::register_all();
    });
}

/// The libraries that are loaded, with their versions.
pub(super) fn versions() -> Vec<(String, String)> {
    [("libavcodec", ffmpeg_next::codec::version()), ("libavformat", ffmpeg_next::format::version())]
        .map(|(name, version)| (name.to_owned(), dotted(version)))
        .into()
}

/// Interfaces to hardware that libavutil was built with, by its names.
pub(super) fn hardware_interfaces() -> Vec<String> {
    let mut names = Vec::new();
    let mut last = ffi::AVHWDeviceType::AV_HWDEVICE_TYPE_NONE;
    for _ in 0..MAX_INTERFACES {
        // SAFETY: the call takes a kind and gives the next one; it reads constants of the library.
        last = unsafe { ffi::av_hwdevice_iterate_types(last) };
        // SAFETY: as above; the name is a constant C string, or null for no kind.
        let name = unsafe { ffi::av_hwdevice_get_type_name(last) };
        if name.is_null() {
            break;
        }
        // SAFETY: it is not null and lives as long as the library.
        names.push(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned());
    }
    names
}

/// More than the dozen interfaces that libavutil knows.
const MAX_INTERFACES: usize = 64;

/// `AV_VERSION_INT` packs major, minor and micro into 16, 8 and 8 bits (libavutil/version.h).
fn dotted(version: u32) -> String {
    format!("{}.{}.{}", version >> 16, version >> 8 & 0xff, version & 0xff)
}

#[cfg(test)]
mod tests {
    use ffmpeg_next::format::Pixel;
    use ffmpeg_next::frame;

    use super::scene::Scene;
    use super::{Decoder, dotted, open, synthesize};
    use crate::codec::{MAX_CLIP_BYTES, SynthSpec};

    /// Peak signal to noise ratio of the luma [dB].
    fn likeness(one: &frame::Video, other: &frame::Video) -> f64 {
        let (width, height) = (one.width() as usize, one.height() as usize);
        let rows = |picture: &frame::Video| -> Vec<u8> {
            picture
                .data(0)
                .chunks(picture.stride(0))
                .take(height)
                .flat_map(|row| row[..width].to_vec())
                .collect()
        };
        let squares: f64 = rows(one)
            .iter()
            .zip(rows(other))
            .map(|(a, b)| (f64::from(*a) - f64::from(b)).powi(2))
            .sum();
        10.0 * (255.0_f64.powi(2) * (width * height) as f64 / squares).log10()
    }

    #[test]
    fn the_pictures_that_come_out_are_those_that_were_painted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made.mpg");
        let spec = SynthSpec::video1(2);
        synthesize(&path, &spec).unwrap();
        let clip = open(&path, MAX_CLIP_BYTES).unwrap();

        let scene = Scene::new(spec.seed);
        let mut painted = frame::Video::new(Pixel::YUV420P, spec.width, spec.height);
        let mut decoder = Decoder::new(clip.parameters()).unwrap();
        let mut n = 0;
        let mut compare = |decoded: &frame::Video| {
            scene.paint(n, &mut painted);
            let ratio = likeness(&painted, decoded);
            assert!(ratio > 28.0, "frame {n}: {ratio} dB");
            n += 1;
        };
        for index in 0..clip.frames().len() {
            decoder.feed(clip.packet(index), 0, &mut compare).unwrap();
        }
        decoder.drain(&mut compare).unwrap();
        assert_eq!(n, spec.frames());
    }

    #[test]
    fn versions_are_three_numbers() {
        assert_eq!(dotted(59 << 16 | 37 << 8 | 100), "59.37.100");
    }
}

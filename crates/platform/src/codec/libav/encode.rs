//! Makes the clip: painted pictures through libavcodec's MPEG-1 encoder into a program stream.
//!
//! ```text
//! frame number ──► scene ──► picture, its type forced ──► mpeg1video ──► packet [B] ──► MPEG-PS
//! ```

use std::fs::{self, File};
use std::io;
use std::path::Path;

use ffmpeg_next::codec::{self, Id};
use ffmpeg_next::format::Pixel;
use ffmpeg_next::format::context::{Output, StreamIo};
use ffmpeg_next::{Dictionary, Error, Packet, Rational, encoder, format, frame, picture};

use super::demux::describe;
use super::scene::Scene;
use crate::codec::{CodecError, SynthSpec};

/// Largest run of B-frames [frames]: that at the end of the clip, see [`kind`].
const MAX_B_RUN: usize = 4;

/// Frames from one anchor to the next [frames]: two B-frames between them.
const ANCHOR_DISTANCE: u32 = 3;

/// Places of the P-frames in the last group [frames].
const LAST_ANCHORS: [u32; 4] = [3, 6, 9, 14];

/// Writes the clip, or removes what there is of it.
pub(crate) fn synthesize(path: &Path, spec: &SynthSpec) -> Result<(), CodecError> {
    let encoder = open_encoder(spec)?;
    let file = create_regular(path)?;
    let made = Film::begin(path, file, encoder, spec).and_then(|film| film.make(spec));
    if made.is_err() {
        // The first error is the one to report; a file that cannot be removed stays.
        let _gone = fs::remove_file(path);
    }
    made
}

/// Creates or empties a regular file. Anything else that is there already stays as it is: a FIFO
/// would block, and a device must neither be written nor removed.
fn create_regular(path: &Path) -> Result<File, CodecError> {
    if let Ok(there) = fs::metadata(path)
        && !there.is_file()
    {
        return Err(CodecError::NotRegular {
            path: path.to_owned(),
            what: describe(there.file_type()),
        });
    }
    File::create(path).map_err(|source| unwritable(path, source))
}

fn unwritable(path: &Path, source: io::Error) -> CodecError {
    CodecError::Unwritable { path: path.to_owned(), source }
}

/// The type of frame `n`: IBBPBBPBBPBBPBB, group after group.
///
/// The B-frames at a group's end need the next group's I. The last group has no next one, so it
/// ends with its fourth P, IBBPBBPBBPBBBBP: still 1 I, 4 P and 10 B, and every frame decodes.
fn kind(n: u32, frames: u32) -> picture::Type {
    let place = n % SynthSpec::GOP_FRAMES;
    let last = n + SynthSpec::GOP_FRAMES >= frames + place;
    let anchor =
        if last { LAST_ANCHORS.contains(&place) } else { place.is_multiple_of(ANCHOR_DISTANCE) };
    match place {
        0 => picture::Type::I,
        _ if anchor => picture::Type::P,
        _ => picture::Type::B,
    }
}

/// An encoder and the file that its packets go to.
struct Film<'a> {
    path: &'a Path,
    encoder: encoder::video::Encoder,
    output: Output,
    /// Seconds a tick of the encoder and of the container.
    ticks: (Rational, Rational),
}

impl<'a> Film<'a> {
    fn begin(
        path: &'a Path,
        file: File,
        encoder: encoder::video::Encoder,
        spec: &SynthSpec,
    ) -> Result<Self, CodecError> {
        let failed = |error| Self::failed(path, "libavformat cannot begin the clip", error);
        let stream = StreamIo::from_write_seek(file).map_err(failed)?;
        let mut output = format::output_to_stream(stream, None, Some("mpeg")).map_err(failed)?;
        let tick = frame_time(spec);
        output.add_stream_with(&encoder).map_err(failed)?.set_time_base(tick);
        output.write_header().map_err(failed)?;
        // The muxer has put its own time base in place of the one that it was offered.
        let container = output.stream(0).map_or(tick, |stream| stream.time_base());
        Ok(Self { path, encoder, output, ticks: (tick, container) })
    }

    fn make(mut self, spec: &SynthSpec) -> Result<(), CodecError> {
        let scene = Scene::new(spec.seed);
        let frames = spec.frames();
        for n in 0..frames {
            let mut picture = frame::Video::new(Pixel::YUV420P, spec.width, spec.height);
            scene.paint(n, &mut picture);
            picture.set_pts(Some(n.into()));
            picture.set_kind(kind(n, frames));
            let sent = self.encoder.send_frame(&picture);
            self.step(sent)?;
        }
        let ended = self.encoder.send_eof();
        self.step(ended)?;
        let path = self.path;
        self.output
            .write_trailer()
            .map_err(|error| Self::failed(path, "libavformat cannot end the clip", error))
    }

    /// Writes the packets that came of the last picture.
    fn step(&mut self, sent: Result<(), Error>) -> Result<(), CodecError> {
        let path = self.path;
        let failed = |error| Self::failed(path, "libavcodec cannot encode", error);
        sent.map_err(failed)?;
        loop {
            let mut packet = Packet::empty();
            match self.encoder.receive_packet(&mut packet) {
                Ok(()) => {
                    packet.set_stream(0);
                    packet.rescale_ts(self.ticks.0, self.ticks.1);
                    packet.write_interleaved(&mut self.output).map_err(failed)?;
                }
                Err(Error::Eof | Error::Other { errno: ffmpeg_next::error::EAGAIN }) => {
                    return Ok(());
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// An error number is the kernel's and about the file, all else is the library's.
    fn failed(path: &Path, step: &'static str, error: Error) -> CodecError {
        match error {
            Error::Other { errno } => unwritable(path, io::Error::from_raw_os_error(errno)),
            error => CodecError::Library { step, reason: error.to_string() },
        }
    }
}

/// Time of one frame [s].
fn frame_time(spec: &SynthSpec) -> Rational {
    // Both fit: `open_encoder` has refused rates that MPEG-1 does not have.
    let side = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    Rational(side(spec.frame_rate.denominator), side(spec.frame_rate.numerator))
}

/// The MPEG-1 encoder, with types as given and nothing that depends on time or threads.
fn open_encoder(spec: &SynthSpec) -> Result<encoder::video::Encoder, CodecError> {
    super::ready();
    let refuse = |error: Error| CodecError::BadSpec {
        reason: format!("the MPEG-1 encoder refuses {spec:?}: {error}"),
    };
    let codec = encoder::find(Id::MPEG1VIDEO).ok_or_else(|| refuse(Error::EncoderNotFound))?;
    let mut video = codec::Context::new_with_codec(codec).encoder().video().map_err(refuse)?;
    video.set_width(spec.width);
    video.set_height(spec.height);
    video.set_format(Pixel::YUV420P);
    video.set_time_base(frame_time(spec));
    video.set_frame_rate(Some(frame_time(spec).invert()));
    video.set_bit_rate(usize::try_from(spec.bit_rate.0).unwrap_or(usize::MAX));
    // Types are forced, so the encoder's own groups must be longer than any of ours.
    video.set_gop(4 * SynthSpec::GOP_FRAMES);
    video.set_max_b_frames(MAX_B_RUN);
    video.set_flags(codec::Flags::BITEXACT);
    let options = [
        ("threads", "1".to_owned()),
        // The default of 0 turns P-frames into I-frames where the picture changes much.
        ("sc_threshold", "1000000000".to_owned()),
        // A buffer of half a second keeps the rate near its mean all along.
        ("maxrate", (spec.bit_rate.0 * 2).to_string()),
        ("bufsize", (spec.bit_rate.0 / 2).to_string()),
    ];
    video
        .open_as_with(
            codec,
            Dictionary::from_iter(options.map(|(key, value)| (key.to_owned(), value))),
        )
        .map_err(refuse)
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::path::Path;

    use super::{CodecError, Film, SynthSpec, kind, open_encoder, picture};

    /// The types of a clip of `frames` frames as letters.
    fn pattern(frames: u32) -> String {
        let letter = |n| match kind(n, frames) {
            picture::Type::I => 'I',
            picture::Type::P => 'P',
            _ => 'B',
        };
        (0..frames).map(letter).collect()
    }

    #[test]
    fn every_group_has_one_i_four_p_ten_b_and_the_last_is_closed() {
        assert_eq!(pattern(SynthSpec::GOP_FRAMES), "IBBPBBPBBPBBBBP");
        assert_eq!(pattern(45), "IBBPBBPBBPBBPBBIBBPBBPBBPBBPBBIBBPBBPBBPBBBBP");
    }

    #[test]
    fn a_full_disk_is_named() {
        let path = Path::new("/dev/full");
        let full = OpenOptions::new().write(true).open(path).unwrap();
        let spec = SynthSpec::video1(2);
        let encoder = open_encoder(&spec).unwrap();
        let error =
            Film::begin(path, full, encoder, &spec).and_then(|film| film.make(&spec)).unwrap_err();
        assert!(matches!(error, CodecError::Unwritable { .. }), "{error:?}");
        assert!(error.to_string().contains("No space left"), "{error}");
    }
}

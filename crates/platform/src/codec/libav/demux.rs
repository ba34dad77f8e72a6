//! File to frames: checks what the path is, reads the packets of the first video stream and
//! decodes them once for their types.
//!
//! ```text
//! regular file [B] ──► libavformat ──► packets [B] ──┬──► held in memory
//!                                                    └──► decoder (syntax only) ──► type, display order
//! ```

use std::fs::{self, File, FileType};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bitpath_measure::ByteCount;
use ffmpeg_next::format::context::{Input, StreamIo};
use ffmpeg_next::format::stream::Disposition;
use ffmpeg_next::{
    Dictionary, Error, Packet, Rational, Stream, ffi, format, frame, media, packet, picture,
};

use super::decode::Decoder;
use super::parameters;
use crate::codec::clip::Packets;
use crate::codec::{Clip, ClipFrame, CodecError, FrameKind, FrameRate, PictureFormat};

/// Damaged packets in a row after which the file is given up: a demuxer finds its way again
/// within a few.
const MAX_READ_ERRORS: usize = 1000;

/// Reads the clip at `path`, holding at most `limit` of compressed video.
pub(crate) fn open(path: &Path, limit: ByteCount) -> Result<Clip, CodecError> {
    super::ready();
    let mut input = open_input(path)?;
    let stream = first_video(path, &input)?;
    let index = stream.index();
    let parameters = parameters::read(&stream.parameters());
    let time_base = stream.time_base();
    let decoder = Decoder::of_types(&parameters).map_err(|_| CodecError::NoDecoder {
        path: path.to_owned(),
        codec: parameters.codec.clone(),
    })?;

    let mut reader = Reader {
        path,
        limit,
        time_base,
        decoder,
        shown: 0,
        whole: 0,
        picture: None,
        frames: Vec::new(),
        packets: Packets::default(),
    };
    reader.read_all(&mut input, index)?;
    reader.check(&input, index)?;

    let stream = input.stream(index).ok_or_else(|| no_video(path, &input))?;
    let frame_rate =
        frame_rate(&stream).ok_or_else(|| CodecError::NoFrameRate { path: path.to_owned() })?;
    let duration = duration(&input, &stream)
        .unwrap_or_else(|| Duration::from_nanos(frame_rate.time_of_ns(reader.frames.len() as u64)));
    reader.packets.shrink();
    let container = input.format().name().to_owned();
    Ok(Clip {
        parameters,
        container,
        frame_rate,
        duration,
        picture: reader.picture.unwrap_or_default(),
        frames: reader.frames,
        packets: reader.packets,
    })
}

/// Opens a regular file; anything else is refused before it can block.
fn open_regular(path: &Path) -> Result<File, CodecError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => CodecError::Missing { path: path.to_owned() },
        _ => CodecError::Unreadable { path: path.to_owned(), source },
    };
    let kind = fs::metadata(path).map_err(failed)?.file_type();
    if !kind.is_file() {
        return Err(CodecError::NotRegular { path: path.to_owned(), what: describe(kind) });
    }
    File::open(path).map_err(failed)
}

/// What a file is that is no regular one.
pub(super) fn describe(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a FIFO",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

/// Lets libavformat find out by content, never by name, what the file is.
///
/// The file is handed over open, so that a name such as `a:b` is no URL; and no protocol is
/// allowed, so that a playlist or session description cannot make it open files or sockets.
fn open_input(path: &Path) -> Result<Input, CodecError> {
    let file = open_regular(path)?;
    let options = Dictionary::from_iter([("protocol_whitelist", "none")]);
    StreamIo::from_read_seek(file)
        .and_then(|stream| format::input_from_stream(stream, None, Some(options)))
        .map_err(|error| match error {
            Error::Other { errno } if is_device_fault(errno) => unreadable(path, errno),
            error => CodecError::NotMedia { path: path.to_owned(), reason: error.to_string() },
        })
}

/// The kernel's errors when a file that was opened cannot be read; others are libavformat's.
fn is_device_fault(errno: i32) -> bool {
    use ffmpeg_next::error::{EACCES, EIO, EISDIR, EOVERFLOW, EPERM};
    [EIO, EACCES, EPERM, EISDIR, EOVERFLOW].contains(&errno)
}

fn unreadable(path: &Path, errno: i32) -> CodecError {
    CodecError::Unreadable { path: path.to_owned(), source: io::Error::from_raw_os_error(errno) }
}

/// The first video stream that is no cover picture.
fn first_video<'a>(path: &Path, input: &'a Input) -> Result<Stream<'a>, CodecError> {
    input
        .streams()
        .find(|stream| {
            stream.parameters().medium() == media::Type::Video
                && !stream.disposition().contains(Disposition::ATTACHED_PIC)
        })
        .ok_or_else(|| no_video(path, input))
}

fn no_video(path: &Path, input: &Input) -> CodecError {
    CodecError::NoVideo { path: path.to_owned(), container: input.format().name().to_owned() }
}

/// The mean rate, or the demuxer's guess where there is none.
fn frame_rate(stream: &Stream<'_>) -> Option<FrameRate> {
    [stream.avg_frame_rate(), stream.rate()].into_iter().find_map(
        |Rational(numerator, denominator)| {
            let numerator = u32::try_from(numerator).ok().filter(|value| *value > 0)?;
            let denominator = u32::try_from(denominator).ok().filter(|value| *value > 0)?;
            Some(FrameRate { numerator, denominator })
        },
    )
}

/// The stream's own duration, else the container's.
fn duration(input: &Input, stream: &Stream<'_>) -> Option<Duration> {
    const CONTAINER_TICKS: Rational = Rational(1, ffi::AV_TIME_BASE);
    [(stream.duration(), stream.time_base()), (input.duration(), CONTAINER_TICKS)]
        .into_iter()
        .find_map(|(ticks, base)| (ticks > 0).then(|| nanoseconds(ticks, base)).flatten())
        .and_then(|time_ns| u64::try_from(time_ns).ok())
        .map(Duration::from_nanos)
}

/// Ticks of `base` seconds in nanoseconds; none without a base or beyond 292 years.
fn nanoseconds(ticks: i64, base: Rational) -> Option<i64> {
    let scaled = i128::from(ticks) * i128::from(base.numerator()) * 1_000_000_000;
    i64::try_from(scaled.checked_div(base.denominator().into())?).ok()
}

/// What has been read so far.
struct Reader<'a> {
    path: &'a Path,
    limit: ByteCount,
    time_base: Rational,
    decoder: Decoder,
    /// Pictures that came out of the decoder, which is their display order.
    shown: u32,
    /// Packets that were there to their end, empty ones among them.
    whole: usize,
    /// What the first picture is.
    picture: Option<PictureFormat>,
    frames: Vec<ClipFrame>,
    packets: Packets,
}

impl Reader<'_> {
    fn read_all(&mut self, input: &mut Input, index: usize) -> Result<(), CodecError> {
        let mut errors = 0;
        while errors < MAX_READ_ERRORS {
            let mut packet = Packet::empty();
            match packet.read(input) {
                Ok(()) if packet.stream() == index => self.take(&packet)?,
                Ok(()) => (),
                Err(Error::InvalidData) => {
                    errors += 1;
                    continue;
                }
                Err(Error::Other { errno }) if is_device_fault(errno) => {
                    return Err(unreadable(self.path, errno));
                }
                Err(_) => break,
            }
            errors = 0;
        }
        let (frames, shown, first) = (&mut self.frames, &mut self.shown, &mut self.picture);
        // Damage is no news here: a frame that gives no picture stays of type `Other`.
        let _damage = self.decoder.drain(|picture| {
            first.get_or_insert_with(|| format_of(picture));
            note(frames, shown, picture);
        });
        Ok(())
    }

    /// Holds one packet and learns the types of the pictures that it brings out.
    fn take(&mut self, packet: &Packet) -> Result<(), CodecError> {
        if !packet.flags().contains(packet::Flags::CORRUPT) {
            self.whole += 1;
        }
        let Some(bytes) = packet.data().filter(|bytes| !bytes.is_empty()) else {
            return Ok(());
        };
        let mark = i64::try_from(self.frames.len()).unwrap_or(i64::MAX);
        self.packets.push(bytes);
        self.frames.push(ClipFrame {
            kind: FrameKind::Other,
            bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            key: packet.is_key(),
            display: None,
            presentation_ns: packet.pts().and_then(|ticks| nanoseconds(ticks, self.time_base)),
        });
        if self.packets.size() as u64 > self.limit.0 {
            return Err(CodecError::TooLarge { path: self.path.to_owned(), limit: self.limit });
        }
        let (frames, shown, first) = (&mut self.frames, &mut self.shown, &mut self.picture);
        let _damage = self.decoder.feed(bytes, mark, |picture| {
            first.get_or_insert_with(|| format_of(picture));
            note(frames, shown, picture);
        });
        Ok(())
    }

    /// Whether what was read is a clip.
    fn check(&self, input: &Input, index: usize) -> Result<(), CodecError> {
        let path: PathBuf = self.path.to_owned();
        let frames_read = self.whole;
        let expected = input.stream(index).map_or(0, |stream| promised(input, &stream));
        if frames_read < expected {
            return Err(CodecError::Truncated { path, frames_read, expected });
        }
        if self.frames.is_empty() {
            return Err(CodecError::NoFrames { path });
        }
        if self.shown == 0 {
            return Err(CodecError::NoPictures { path, frames: self.frames.len() });
        }
        Ok(())
    }
}

/// Frames that the container's index lists, without those that an edit list leaves out; 0 where
/// the index is not the container's own but grows with what is read.
fn promised(input: &Input, stream: &Stream<'_>) -> usize {
    if !input.format().name().split(',').any(|name| name == "mov") {
        return 0;
    }
    // SAFETY: the stream is one of `input`'s and lives as long; the call only reads it.
    let entries = unsafe { ffi::avformat_index_get_entries_count(stream.as_ptr()) };
    usize::try_from(entries).unwrap_or(0)
}

/// Layout and size of a picture.
fn format_of(picture: &frame::Video) -> PictureFormat {
    let pixels = picture.format();
    let side = |pixels: u32| i32::try_from(pixels).unwrap_or(0);
    let (width, height) = (side(picture.width()), side(picture.height()));
    // SAFETY: the call computes from its arguments; what it cannot compute is negative.
    let bytes = unsafe { ffi::av_image_get_buffer_size(pixels.into(), width, height, 1) };
    PictureFormat {
        pixels: pixels.descriptor().map_or_else(|| "unknown".into(), |of| of.name().to_owned()),
        bytes: u64::try_from(bytes).unwrap_or(0),
    }
}

/// Attaches type and display order to the packet that the picture was coded in.
fn note(frames: &mut [ClipFrame], shown: &mut u32, picture: &frame::Video) {
    let display = *shown;
    *shown += 1;
    let frame = picture.pts().and_then(|mark| frames.get_mut(usize::try_from(mark).ok()?));
    // A second picture of the same packet does not rename the first.
    if let Some(frame) = frame.filter(|frame| frame.display.is_none()) {
        frame.display = Some(display);
        frame.kind = match picture.kind() {
            picture::Type::I => FrameKind::I,
            picture::Type::P => FrameKind::P,
            picture::Type::B => FrameKind::B,
            _ => FrameKind::Other,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{Rational, nanoseconds};

    #[test]
    fn ticks_without_a_base_have_no_time() {
        assert_eq!(nanoseconds(90_000, Rational(1, 90_000)), Some(1_000_000_000));
        assert_eq!(nanoseconds(-3600, Rational(1, 90_000)), Some(-40_000_000));
        assert_eq!(nanoseconds(1, Rational(0, 0)), None);
        assert_eq!(nanoseconds(i64::MAX, Rational(1, 1)), None);
    }
}

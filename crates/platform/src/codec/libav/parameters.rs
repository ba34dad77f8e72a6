//! `CodecParameters` to and from libavcodec's own structure, which has no safe fields.

use std::ffi::CString;
use std::{ptr, slice};

use ffmpeg_next::codec::{self, Id};
use ffmpeg_next::{ffi, media};

use crate::codec::{CodecError, CodecParameters};

/// Largest global headers that are taken from another process [B]; real ones are below 10 KiB.
const MAX_EXTRADATA_BYTES: usize = 1 << 20;

/// Largest width and height [pixels]: the bound of H.264 level 6.2 and of every codec here.
const MAX_SIDE: u32 = 16_384;

/// The parameters of a stream as a value that outlives it.
pub(super) fn read(stream: &codec::Parameters) -> CodecParameters {
    // SAFETY: `stream` owns its AVCodecParameters, or keeps the owner alive, so the pointer is
    // valid while `stream` is borrowed; the slice is copied before the borrow ends.
    let (raw, extradata) = unsafe {
        let raw = &*stream.as_ptr();
        let size = usize::try_from(raw.extradata_size).unwrap_or(0);
        let extradata = if raw.extradata.is_null() || size == 0 {
            Vec::new()
        } else {
            slice::from_raw_parts(raw.extradata, size).to_vec()
        };
        (raw, extradata)
    };
    CodecParameters {
        codec: stream.id().name().to_owned(),
        tag: raw.codec_tag,
        extradata,
        bits_per_coded_sample: u32::try_from(raw.bits_per_coded_sample).unwrap_or(0),
        width: u32::try_from(raw.width).unwrap_or(0),
        height: u32::try_from(raw.height).unwrap_or(0),
    }
}

/// libavcodec's structure for `parameters`, which may come from another process.
pub(super) fn write(parameters: &CodecParameters) -> Result<codec::Parameters, CodecError> {
    let refuse = |reason: &str| CodecError::BadParameters {
        codec: parameters.codec.clone(),
        reason: reason.to_owned(),
    };
    let id = id_of(&parameters.codec)
        .ok_or_else(|| refuse("libavcodec knows no video codec of this name"))?;
    if parameters.extradata.len() > MAX_EXTRADATA_BYTES {
        return Err(refuse("its headers are larger than 1 MiB"));
    }
    if parameters.width > MAX_SIDE || parameters.height > MAX_SIDE {
        return Err(refuse("its pictures are larger than 16384 pixels on a side"));
    }

    let mut target = codec::Parameters::new();
    // SAFETY: `as_ptr` only hands out the pointer that `target` owns.
    if unsafe { target.as_ptr() }.is_null() {
        return Err(refuse("out of memory"));
    }
    target.set_medium(media::Type::Video);
    target.set_id(id);
    if fill(&mut target, parameters) { Ok(target) } else { Err(refuse("out of memory")) }
}

/// Sets the fields without a safe setter; false when there is no memory for the headers.
fn fill(target: &mut codec::Parameters, parameters: &CodecParameters) -> bool {
    let size = parameters.extradata.len();
    // SAFETY: the caller checked that `target` owns an AVCodecParameters, and nothing else points
    // to it. `extradata` is allocated with libav's own allocator, because libav frees it with the
    // rest, and with the zeroed padding that its readers may run over; it is null before.
    unsafe {
        let raw = &mut *target.as_mut_ptr();
        raw.codec_tag = parameters.tag;
        raw.bits_per_coded_sample = parameters.bits_per_coded_sample.cast_signed();
        raw.width = parameters.width.cast_signed();
        raw.height = parameters.height.cast_signed();
        if size > 0 {
            let padding = ffi::AV_INPUT_BUFFER_PADDING_SIZE as usize;
            let copy = ffi::av_mallocz(size + padding).cast::<u8>();
            if copy.is_null() {
                return false;
            }
            ptr::copy_nonoverlapping(parameters.extradata.as_ptr(), copy, size);
            raw.extradata = copy;
            raw.extradata_size = i32::try_from(size).unwrap_or(0);
        }
    }
    true
}

/// The codec of this name, if it is a video codec.
fn id_of(name: &str) -> Option<Id> {
    let name = CString::new(name).ok()?;
    // SAFETY: `name` is a C string that lives through the call; a descriptor is a constant of the
    // library, or null.
    let descriptor = unsafe { ffi::avcodec_descriptor_get_by_name(name.as_ptr()).as_ref() }?;
    (media::Type::from(descriptor.type_) == media::Type::Video).then(|| Id::from(descriptor.id))
}

#[cfg(test)]
mod tests {
    use super::{CodecParameters, read, write};

    fn h264() -> CodecParameters {
        CodecParameters {
            codec: "h264".into(),
            tag: 0x3163_7661,
            extradata: (0..=255).collect(),
            bits_per_coded_sample: 24,
            width: 1280,
            height: 720,
        }
    }

    #[test]
    fn parameters_survive_the_round_trip() {
        assert_eq!(read(&write(&h264()).unwrap()), h264());
        let bare = CodecParameters { extradata: Vec::new(), codec: "mpeg1video".into(), ..h264() };
        assert_eq!(read(&write(&bare).unwrap()), bare);
    }

    #[test]
    fn foreign_parameters_are_checked() {
        for (bad, word) in [
            (CodecParameters { codec: "no such codec".into(), ..h264() }, "knows no"),
            (CodecParameters { codec: "h264\0".into(), ..h264() }, "knows no"),
            (CodecParameters { codec: "aac".into(), ..h264() }, "knows no"),
            (CodecParameters { extradata: vec![0; 1 << 21], ..h264() }, "1 MiB"),
            (CodecParameters { width: u32::MAX, ..h264() }, "16384"),
        ] {
            let said = write(&bad).map(|_| ()).unwrap_err().to_string();
            assert!(said.contains(word), "{said}");
        }
    }
}

//! A software decoder for one stream, on one thread.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{CodecError, backend};

/// Largest compressed frame that a decoder takes [B]: ten times an uncompressed 1080p picture.
pub const MAX_PACKET_BYTES: usize = 32 << 20;

/// Most threads of a decoder: above, libavcodec warns of its own overhead.
pub const MAX_THREADS: usize = 16;

/// What a decoder needs before the first packet; small enough to send to another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodecParameters {
    /// libavcodec's name of the codec, for example `mpeg1video` or `h264`.
    pub codec: String,
    /// The container's own four-character code for it; some decoders go by it.
    pub tag: u32,
    /// Global headers (sequence and picture parameter sets); empty where the stream carries them.
    pub extradata: Vec<u8>,
    /// Bits for a pixel as the container says [bits]; 0 where it does not, a few codecs need it.
    pub bits_per_coded_sample: u32,
    /// Width of the picture [pixels].
    pub width: u32,
    /// Height of the picture [pixels].
    pub height: u32,
}

/// Turns compressed frames into pictures without leaving any out, on the calling thread alone unless it
/// is given more.
pub struct Decoder(backend::Decoder);

impl Decoder {
    /// A decoder for packets that `parameters` describe.
    ///
    /// # Errors
    /// [`CodecError::BadParameters`] for a codec that is not known, or headers that it refuses.
    pub fn new(parameters: &CodecParameters) -> Result<Self, CodecError> {
        backend::Decoder::new(parameters).map(Self)
    }

    /// A decoder that divides its work among so many threads, 1 to [`MAX_THREADS`], by frames and by
    /// slices as its codec allows. It holds back as many pictures more.
    ///
    /// # Errors
    /// As [`Decoder::new`]; a number of threads out of bounds is a bad parameter.
    pub fn on_threads(parameters: &CodecParameters, threads: usize) -> Result<Self, CodecError> {
        if !(1..=MAX_THREADS).contains(&threads) {
            let reason = format!("{threads} threads are not from 1 to {MAX_THREADS}");
            return Err(CodecError::BadParameters { codec: parameters.codec.clone(), reason });
        }
        backend::Decoder::on_threads(parameters, threads).map(Self)
    }

    /// Decodes one compressed frame and gives the pictures that came out [frames].
    ///
    /// A codec with B-frames holds pictures back to put them in display order, so a call may give
    /// none and the next one two; [`Decoder::flush`] gives the rest.
    ///
    /// # Errors
    /// [`CodecError::BadPacket`] when the packet is empty, too large, or beyond repair. The
    /// decoder stays usable. Damage that the decoder can hide is no error, see
    /// [`Decoder::damaged_pictures`].
    pub fn decode(&mut self, packet: &[u8]) -> Result<usize, CodecError> {
        self.0.decode(packet)
    }

    /// Pictures so far that came out with damage which the decoder hid [frames]: it filled what
    /// was missing from their neighbours. Such a picture counts as decoded.
    #[must_use]
    pub fn damaged_pictures(&self) -> u64 {
        self.0.damaged_pictures()
    }

    /// Gives the pictures that were held back [frames]. Afterwards the decoder is as new; the
    /// next packet should be one that a decoder can start at.
    ///
    /// # Errors
    /// [`CodecError::BadPacket`] when a picture that was held back is damaged.
    pub fn flush(&mut self) -> Result<usize, CodecError> {
        self.0.flush()
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

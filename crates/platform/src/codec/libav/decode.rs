//! One packet in, pictures out.

use ffmpeg_next::codec::threading;
use ffmpeg_next::ffi::{FF_THREAD_FRAME, FF_THREAD_SLICE};
use ffmpeg_next::{Discard, Error, Packet, codec, decoder, frame};

use super::parameters;
use crate::codec::{CodecError, CodecParameters, MAX_PACKET_BYTES};

/// Most pictures that one packet, or the end of the stream, may give [frames]; a codec holds at
/// most 16 back (H.264, A.3.1), so this only ends a decoder that went astray.
const MAX_PICTURES_PER_CALL: usize = 64;

/// Both ways in which a decoder may divide its work; it takes the one that its codec allows.
const BY_FRAMES_AND_SLICES: i32 = FF_THREAD_FRAME | FF_THREAD_SLICE;

/// How much of the work is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// Everything: the pictures are whole.
    Pictures,
    /// The syntax only: types and order are right, pixels are not.
    Types,
}

/// libavcodec's decoder with the picture that it writes to.
pub(crate) struct Decoder {
    opened: decoder::Opened,
    picture: frame::Video,
    /// Packets given so far.
    packets: u64,
    /// Pictures so far with concealed damage.
    damaged: u64,
}

impl Decoder {
    pub(crate) fn new(parameters: &CodecParameters) -> Result<Self, CodecError> {
        Self::with(parameters, Effort::Pictures, 1)
    }

    pub(crate) fn on_threads(
        parameters: &CodecParameters,
        threads: usize,
    ) -> Result<Self, CodecError> {
        Self::with(parameters, Effort::Pictures, threads)
    }

    /// A decoder that only learns the types of pictures.
    pub(super) fn of_types(parameters: &CodecParameters) -> Result<Self, CodecError> {
        Self::with(parameters, Effort::Types, 1)
    }

    fn with(
        parameters: &CodecParameters,
        effort: Effort,
        threads: usize,
    ) -> Result<Self, CodecError> {
        super::ready();
        let refuse = |error: Error| CodecError::BadParameters {
            codec: parameters.codec.clone(),
            reason: error.to_string(),
        };
        let context =
            codec::Context::from_parameters(parameters::write(parameters)?).map_err(refuse)?;
        let mut decoder = context.decoder();
        decoder.set_threading(threading::Config {
            count: threads,
            ..threading::Config::kind(threading::Type::None)
        });
        if threads > 1 {
            // SAFETY: the decoder owns its context, which is not open yet. The field holds flags, of
            // which the safe setter takes one alone.
            unsafe { (*decoder.as_mut_ptr()).thread_type = BY_FRAMES_AND_SLICES };
        }
        if effort == Effort::Types {
            decoder.skip_idct(Discard::All);
            decoder.skip_loop_filter(Discard::All);
        }
        let id = decoder.id();
        let opened = decoder.open_as(id).map_err(refuse)?;
        Ok(Self { opened, picture: frame::Video::empty(), packets: 0, damaged: 0 })
    }

    pub(crate) fn decode(&mut self, packet: &[u8]) -> Result<usize, CodecError> {
        self.feed(packet, 0, |_| ())
    }

    pub(crate) fn damaged_pictures(&self) -> u64 {
        self.damaged
    }

    pub(crate) fn flush(&mut self) -> Result<usize, CodecError> {
        self.drain(|_| ())
    }

    /// Decodes one packet; `on_picture` sees each picture that comes out, whose time stamp is the
    /// `mark` of the packet that it was coded in.
    pub(super) fn feed(
        &mut self,
        packet: &[u8],
        mark: i64,
        on_picture: impl FnMut(&frame::Video),
    ) -> Result<usize, CodecError> {
        let number = self.packets;
        self.packets += 1;
        if packet.is_empty() || packet.len() > MAX_PACKET_BYTES {
            let reason = format!("{} B is not from 1 to {MAX_PACKET_BYTES} B", packet.len());
            return Err(CodecError::BadPacket { packet: number, pictures: 0, reason });
        }
        let mut packet = Packet::copy(packet);
        packet.set_pts(Some(mark));
        let sent = self.opened.send_packet(&packet);
        self.receive(number, sent.err(), on_picture)
    }

    /// Ends the stream: every picture that was held back comes out, then the decoder is as new.
    pub(super) fn drain(
        &mut self,
        on_picture: impl FnMut(&frame::Video),
    ) -> Result<usize, CodecError> {
        let sent = self.opened.send_eof();
        let received = self.receive(self.packets, sent.err(), on_picture);
        self.opened.flush();
        received
    }

    /// Takes all pictures that are ready. An error does not end it, as pictures of earlier
    /// packets may come after it.
    fn receive(
        &mut self,
        packet: u64,
        mut wrong: Option<Error>,
        mut on_picture: impl FnMut(&frame::Video),
    ) -> Result<usize, CodecError> {
        let mut pictures = 0;
        for _ in 0..MAX_PICTURES_PER_CALL {
            match self.opened.receive_frame(&mut self.picture) {
                Ok(()) => {
                    pictures += 1;
                    let damaged = self.picture.is_corrupt() || self.picture.has_decode_errors();
                    self.damaged += u64::from(damaged);
                    on_picture(&self.picture);
                }
                Err(Error::Eof | Error::Other { errno: ffmpeg_next::error::EAGAIN }) => break,
                Err(error) => wrong = wrong.or(Some(error)),
            }
        }
        match wrong {
            None => Ok(pictures),
            Some(error) => {
                Err(CodecError::BadPacket { packet, pictures, reason: error.to_string() })
            }
        }
    }
}

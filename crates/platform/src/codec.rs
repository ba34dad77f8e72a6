//! Video clips as the study uses them: compressed frames with their true type, a decoder that can
//! run in another process, and a clip that is made here where none was given.
//!
//! ```text
//! file ──► Clip: frames [B] with type I | P | B ──► packet(i) [B] ──► socket ──► Decoder ──► pictures
//!              └─► CodecParameters (serde) ──────────────────────────────────────┘
//! SynthSpec ──► synthesize ──► MPEG-1 file
//! ```
//!
//! libavformat and libavcodec do the work behind the feature `decode`. Without it every entry
//! point is still there and answers [`CodecError::NotBuilt`].

mod clip;
mod decoder;
mod error;
mod hardware;
mod synth;

#[cfg(not(feature = "decode"))]
mod absent;
#[cfg(feature = "decode")]
mod libav;

#[cfg(not(feature = "decode"))]
use absent as backend;
#[cfg(feature = "decode")]
use libav as backend;

pub use clip::{
    Clip, ClipFrame, FrameKind, FrameRate, KindCounts, KindTotal, MAX_CLIP_BYTES, PictureFormat,
};
pub use decoder::{CodecParameters, Decoder, MAX_PACKET_BYTES, MAX_THREADS};
pub use error::CodecError;
pub use hardware::{Hardware, hardware};
pub use synth::{SynthSpec, synthesize};

/// Name and version of each codec library in this process; empty without the feature `decode`.
#[must_use]
pub fn decoder_versions() -> Vec<(String, String)> {
    backend::versions()
}

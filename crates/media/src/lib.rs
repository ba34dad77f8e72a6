//! What a film is: compressed frames in decode order, groups of pictures, and what a viewer sees
//! of them when some arrive late or not at all.
//!
//! Bytes are parsed and counted here, never read from a file: that is `platform`'s.

pub mod film;
pub mod gop;
pub mod quality;

pub use film::{Film, FilmError, Frame, FrameKind, FrameRate};
pub use gop::{GopModel, PictureModel};
pub use quality::{Fate, Quality};

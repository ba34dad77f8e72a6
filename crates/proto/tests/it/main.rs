//! Payload formats held against FFmpeg, and sessions that talk to one another.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod ffmpeg;
mod session;
mod steady;

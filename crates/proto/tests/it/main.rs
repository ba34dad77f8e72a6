//! Payload formats held against FFmpeg.

mod ffmpeg;

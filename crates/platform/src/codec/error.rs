//! What can be wrong with a clip, a codec or a packet; each message names the file or the packet.

use std::io;
use std::path::PathBuf;

use bitpath_measure::ByteCount;

/// Why a clip cannot be read or made, or a packet not decoded.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// The program was built without the feature `decode`.
    #[error(
        "this build has no video codec: install the Debian packages libavcodec-dev, \
         libavformat-dev, libavutil-dev, clang, libclang-dev and pkg-config and build \
         bitpath-platform with its default feature `decode`"
    )]
    NotBuilt,
    /// There is no such file.
    #[error("{}: no such file", path.display())]
    Missing {
        /// The clip.
        path: PathBuf,
    },
    /// The file is there but cannot be opened or read.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The clip.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A directory, a FIFO, a socket or a device: reading or writing it could wait for ever.
    #[error("{}: is {what}, a clip must be a regular file", path.display())]
    NotRegular {
        /// The clip.
        path: PathBuf,
        /// What it is, with its article.
        what: &'static str,
    },
    /// No container format that libavformat knows, or one that was cut before its index.
    #[error(
        "{}: not a media file: {reason}; is it truncated, or of another kind?",
        path.display()
    )]
    NotMedia {
        /// The clip.
        path: PathBuf,
        /// What libavformat said.
        reason: String,
    },
    /// A media file without moving pictures, or one whose index was cut before it names them.
    #[error(
        "{}: no video stream in this {container} file; does it hold sound only, or is it truncated?",
        path.display()
    )]
    NoVideo {
        /// The clip.
        path: PathBuf,
        /// libavformat's name of the container.
        container: String,
    },
    /// The video is coded in a way that this libavcodec does not decode.
    #[error("{}: no decoder for its codec, {codec}", path.display())]
    NoDecoder {
        /// The clip.
        path: PathBuf,
        /// libavcodec's name of the codec.
        codec: String,
    },
    /// Neither the container nor the stream says how many frames make a second.
    #[error("{}: the frame rate of the video is not known", path.display())]
    NoFrameRate {
        /// The clip.
        path: PathBuf,
    },
    /// The video stream holds no frame.
    #[error("{}: the video stream holds no frame; is the file truncated?", path.display())]
    NoFrames {
        /// The clip.
        path: PathBuf,
    },
    /// There are frames, and none of them gives a picture.
    #[error("{}: none of the {frames} frames could be decoded", path.display())]
    NoPictures {
        /// The clip.
        path: PathBuf,
        /// Frames that were tried.
        frames: usize,
    },
    /// The container's index promises more frames than the file holds.
    #[error("{}: truncated: {frames_read} of {expected} frames are there", path.display())]
    Truncated {
        /// The clip.
        path: PathBuf,
        /// Whole frames in the file.
        frames_read: usize,
        /// Frames that the index lists.
        expected: usize,
    },
    /// The compressed frames do not fit the memory that is set aside for a clip.
    #[error("{}: its video is larger than {limit}, the most that is held in memory", path.display())]
    TooLarge {
        /// The clip.
        path: PathBuf,
        /// The bound that was exceeded.
        limit: ByteCount,
    },
    /// No decoder can be made from these parameters.
    #[error("no decoder for {codec}: {reason}")]
    BadParameters {
        /// libavcodec's name of the codec.
        codec: String,
        /// What is wrong with it.
        reason: String,
    },
    /// One packet is damaged or incomplete; count it and go on with the next.
    #[error("packet {packet} cannot be decoded: {reason}")]
    BadPacket {
        /// Packets that this decoder was given before.
        packet: u64,
        /// Pictures that came out all the same.
        pictures: usize,
        /// What libavcodec said.
        reason: String,
    },
    /// A clip like this cannot be made.
    #[error("cannot make a clip: {reason}")]
    BadSpec {
        /// The value that is wrong and what is allowed.
        reason: String,
    },
    /// The clip that is made cannot be written.
    #[error("{}: cannot be written: {source}", path.display())]
    Unwritable {
        /// The clip.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// libavcodec or libavformat failed where the input is not to blame.
    #[error("{step}: {reason}")]
    Library {
        /// What was being done.
        step: &'static str,
        /// What the library said.
        reason: String,
    },
}

//! RTP and RTCP by bitpath and by other libraries: the same work on the same bytes.
//!
//! ```text
//! Stream [datagrams] ──► library::parse, elements, count, play, receive ──► what was read: numbers, payload
//! audio [B]          ──► library::build ──────────────────────────────────► packets
//! ReportBlock        ──► library::report, library::compound ──────────────► compounds, what was read of them
//! ```
//!
//! A library is a module with those of the functions below that it can do; all have one shape, so that a
//! benchmark names the library and nothing else. Each function hands what it read or wrote to `seen`, which
//! checks it once and is a black box while it is timed: nobody is spared a field.
//!
//! | function | a pass |
//! |---|---|
//! | `parse(stream, seen)` | every field of every packet |
//! | `elements(stream, seen)` | every element of every header extension |
//! | `build(audio, output, seen)` | a packet of every unit of audio |
//! | `arrivals(stream)`, `count(arrivals)` | appendix A.1 and A.8 over parsed packets: the report |
//! | `waiting(stream)`, `play(packets, seen)` | every packet into a jitter buffer, and out in order |
//! | `receive(stream, output)` | all that: from the datagram to the audio in order, and the report |
//! | `report(blocks, output, seen)` | a receiver report of one block |
//! | `compound(compounds, seen)` | every field of SR, SDES and BYE in one datagram |

pub mod bitpath;
mod fields;
pub mod lists;
pub mod rtc;
pub mod rtcp_types;
pub mod rtp_rs;
pub mod rtp_types;
pub mod str0m;
mod stream;
pub mod webrtc;

pub use fields::{CompoundFields, Fields, Seen};
pub use stream::{
    CLOCK_HZ, DISORDER, PACKETS, REPORTS, SSRC, Stream, THRESHOLD, UNIT_BYTES, audio, blocks,
    compounds,
};

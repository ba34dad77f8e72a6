//! Audio for the sender where the user has none: G.711 that is no unit like another.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Size of the paper's file [B]: 4 MB, read as powers of two; the last unit is then not whole.
pub const PAPER_BYTES: usize = 4 << 20;

/// Bytes as random as noise: a lost or doubled unit cannot pass for another.
#[must_use]
pub fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut audio = vec![0; bytes];
    random.fill(audio.as_mut_slice());
    audio
}

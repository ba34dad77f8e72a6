//! The moving picture that a made clip shows: texture that pans, squares that cross it, and grain.
//!
//! Integers only, so the picture is the same on every machine. The pan gives motion that P-frames
//! predict well, the squares uncover what they hid so that B-frames have something to gain from
//! both sides, and the grain is what prediction leaves over.

use ffmpeg_next::frame;

/// Side of the texture tile [pixels], a power of two so that it wraps with a mask.
const TILE: usize = 512;

/// Spacing [pixels] and height [levels of 256] of the layers that the texture is the sum of:
/// large soft shapes, then detail. With these heights and `GRAIN` the frames at 0.9 Mb/s come out
/// at 15, 8 and 2 KB, near the 19, 6 and 2 KB of table 9 of the 2004 study.
const LAYERS: [(usize, u32); 3] = [(64, 96), (16, 56), (4, 32)];

/// Largest change of a pixel by grain [levels of 256], either way.
const GRAIN: u32 = 2;

/// Squares that cross the picture: side [pixels], velocity [pixels a frame], place in the texture.
const SQUARES: [Square; 4] = [
    Square { side: 48, dx: 5, dy: 2, from: (100, 40) },
    Square { side: 64, dx: -3, dy: 4, from: (300, 200) },
    Square { side: 40, dx: 7, dy: -3, from: (20, 400) },
    Square { side: 56, dx: -4, dy: -5, from: (450, 130) },
];

struct Square {
    side: usize,
    dx: i64,
    dy: i64,
    from: (usize, usize),
}

/// A film without end: frame `n` is a function of `n` and the seed.
pub(super) struct Scene {
    seed: u64,
    tile: Vec<u8>,
}

impl Scene {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, tile: texture(seed) }
    }

    /// Paints frame `n` into `picture`, which is planar 4:2:0.
    pub(super) fn paint(&self, n: u32, picture: &mut frame::Video) {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let stride = picture.stride(0);
        let luma = picture.data_mut(0);
        for (y, row) in luma.chunks_mut(stride).take(height).enumerate() {
            self.background(n, y, &mut row[..width]);
        }
        for (number, square) in SQUARES.iter().enumerate() {
            let (left, top) = square.place(n, number, width, height);
            self.square(square, (left, top), width, &mut luma[..stride * height], stride);
        }
        for (y, row) in luma.chunks_mut(stride).take(height).enumerate() {
            self.grain(n, y, &mut row[..width]);
        }
        for plane in [1, 2] {
            let stride = picture.stride(plane);
            let chroma = picture.data_mut(plane);
            for (y, row) in chroma.chunks_mut(stride).take(height / 2).enumerate() {
                self.colour(n, plane, y, &mut row[..width / 2]);
            }
        }
    }

    /// One row of the panning texture: two pixels to the right a frame, one down every other.
    fn background(&self, n: u32, y: usize, row: &mut [u8]) {
        let (right, down) = (n as usize * 2, n as usize / 2);
        for (x, pixel) in row.iter_mut().enumerate() {
            *pixel = self.texel(x + right, y + down);
        }
    }

    /// A piece of the texture from elsewhere, which moves as a whole.
    fn square(
        &self,
        square: &Square,
        (left, top): (usize, usize),
        width: usize,
        luma: &mut [u8],
        stride: usize,
    ) {
        let columns = left..(left + square.side).min(width);
        for (down, row) in luma.chunks_mut(stride).skip(top).take(square.side).enumerate() {
            for (right, pixel) in row[columns.clone()].iter_mut().enumerate() {
                *pixel = 255 - self.texel(square.from.0 + right, square.from.1 + down);
            }
        }
    }

    /// Noise that no frame shares with the next.
    fn grain(&self, n: u32, y: usize, row: &mut [u8]) {
        const EIGHT: usize = 8;
        for (block, pixels) in row.chunks_mut(EIGHT).enumerate() {
            let place = (u64::from(n) << 32) | ((y as u64) << 16) | block as u64;
            let noise = mix(self.seed ^ place).to_le_bytes();
            for (pixel, byte) in pixels.iter_mut().zip(noise) {
                let step = (u32::from(byte) * (2 * GRAIN + 1)) >> 8;
                *pixel =
                    u8::try_from((u32::from(*pixel) + step).saturating_sub(GRAIN).clamp(16, 235))
                        .unwrap_or(235);
            }
        }
    }

    /// Colours that follow the large shapes of the texture and drift slowly.
    fn colour(&self, n: u32, plane: usize, y: usize, row: &mut [u8]) {
        for (x, pixel) in row.iter_mut().enumerate() {
            let texel = self.texel(x + n as usize + plane * 131, y + plane * 57);
            *pixel = 96 + texel / 4;
        }
    }

    fn texel(&self, x: usize, y: usize) -> u8 {
        self.tile[(y % TILE) * TILE + x % TILE]
    }
}

impl Square {
    /// Upper left corner in frame `n` [pixels]; it bounces between the edges.
    fn place(&self, n: u32, number: usize, width: usize, height: usize) -> (usize, usize) {
        let start = 37 * (number as i64 + 1);
        let across = |step: i64, room: usize| {
            let room = i64::try_from(room.max(1)).unwrap_or(i64::MAX);
            let there = (start + step * i64::from(n)).rem_euclid(2 * room);
            usize::try_from(there.min(2 * room - there)).unwrap_or(0)
        };
        (
            across(self.dx, width.saturating_sub(self.side)),
            across(self.dy, height.saturating_sub(self.side)),
        )
    }
}

/// The tile: random heights on lattices, joined by straight lines and added up.
fn texture(seed: u64) -> Vec<u8> {
    let mut tile = Vec::with_capacity(TILE * TILE);
    for y in 0..TILE {
        for x in 0..TILE {
            let sum: u32 =
                LAYERS.iter().map(|&(spacing, height)| layer(seed, spacing, height, x, y)).sum();
            tile.push(u8::try_from(sum + 32).unwrap_or(u8::MAX));
        }
    }
    tile
}

/// One layer at one pixel: bilinear between the four lattice points around it, 0 to `height`.
fn layer(seed: u64, spacing: usize, height: u32, x: usize, y: usize) -> u32 {
    let lattice = |i: usize, j: usize| {
        let (i, j) = (i * spacing % TILE, j * spacing % TILE);
        let place = (spacing as u64) << 40 | (i as u64) << 20 | j as u64;
        mix(seed ^ place) & 0xff
    };
    let (i, j) = (x / spacing, y / spacing);
    let (u, v) = ((x % spacing) as u64, (y % spacing) as u64);
    let side = spacing as u64;
    let upper = lattice(i, j) * (side - u) + lattice(i + 1, j) * u;
    let lower = lattice(i, j + 1) * (side - u) + lattice(i + 1, j + 1) * u;
    let level = (upper * (side - v) + lower * v) / (side * side);
    (u32::try_from(level).unwrap_or(0) * height) >> 8
}

/// The SplitMix64 finalizer (Steele, Lea and Flood 2014): all 64 bits depend on all 64 bits.
fn mix(mut value: u64) -> u64 {
    value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

//! What a viewer sees: frames on time, late and lost, where a lost reference costs the frames
//! that are predicted from it (sysSIM section 2.3.1, figure 6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::film::{Frame, FrameKind};

/// What became of one frame at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Complete, and ready when it was due.
    OnTime,
    /// Complete, but ready after it was due.
    Late,
    /// Some of it never arrived.
    Lost,
}

/// Frames by what the viewer saw of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Quality {
    /// Shown when due [frames].
    pub on_time: u64,
    /// Shown, but late [frames].
    pub late: u64,
    /// Not received whole [frames].
    pub lost: u64,
    /// Received whole, but predicted from a frame that was not shown right [frames].
    pub broken: u64,
}

impl Quality {
    /// Judges frames in decode order.
    ///
    /// A P-frame needs the reference before it, a B-frame the two references before it in decode
    /// order. A late frame still serves as a reference.
    #[must_use]
    pub fn of(frames: &[Frame], fates: &[Fate]) -> Self {
        let mut quality = Self::default();
        let (mut older_reference, mut reference) = (true, true);
        for (frame, fate) in frames.iter().zip(fates) {
            let based = match frame.kind {
                FrameKind::I => true,
                FrameKind::P => reference,
                FrameKind::B => reference && older_reference,
            };
            let shown = based && *fate != Fate::Lost;
            if frame.kind != FrameKind::B {
                (older_reference, reference) = (reference, shown);
            }
            quality.count(*fate, based);
        }
        quality
    }

    fn count(&mut self, fate: Fate, based: bool) {
        match (fate, based) {
            (Fate::Lost, _) => self.lost += 1,
            (_, false) => self.broken += 1,
            (Fate::OnTime, true) => self.on_time += 1,
            (Fate::Late, true) => self.late += 1,
        }
    }

    /// All frames judged [frames].
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.on_time + self.late + self.lost + self.broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gop::GopModel;
    use proptest::prelude::*;

    #[test]
    fn a_lost_i_frame_costs_its_group() {
        let film = GopModel::video1().film("a", 30).unwrap();
        let mut fates = vec![Fate::OnTime; 30];
        fates[0] = Fate::Lost;
        let quality = Quality::of(&film.frames, &fates);
        // The second group's first two B-frames, between its I and the broken P, break too.
        assert_eq!((quality.lost, quality.broken, quality.on_time), (1, 16, 13));
    }

    #[test]
    fn a_lost_b_frame_costs_nothing_else() {
        let film = GopModel::video1().film("a", 15).unwrap();
        let mut fates = vec![Fate::OnTime; 15];
        fates[1] = Fate::Lost;
        fates[3] = Fate::Late;
        let quality = Quality::of(&film.frames, &fates);
        assert_eq!(quality, Quality { on_time: 13, late: 1, lost: 1, broken: 0 });
    }

    proptest! {
        #[test]
        fn every_frame_is_counted_once(choices in prop::collection::vec(0..3_u8, 0..200)) {
            let fates: Vec<Fate> = choices.iter().map(|c| [Fate::OnTime, Fate::Late, Fate::Lost][usize::from(*c)]).collect();
            let frames: Vec<Frame> = GopModel::video1().film("a", 200).unwrap().frames;
            let quality = Quality::of(&frames, &fates);
            prop_assert_eq!(quality.frames(), fates.len() as u64);
        }
    }
}

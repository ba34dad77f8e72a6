//! Jitter buffers of nothing but Rust's library, to know what a library adds: the sorted list of the paper, and
//! a tree.

pub mod sorted {
    //! A sorted list, searched from its end: in order, nothing is shifted.

    use std::collections::VecDeque;

    use crate::{Stream, THRESHOLD};

    pub fn waiting(stream: &Stream) -> Vec<u64> {
        crate::bitpath::waiting(stream)
    }

    #[inline]
    pub fn play(numbers: &mut Vec<u64>, mut seen: impl FnMut(u16)) {
        let mut list: VecDeque<(u64, u32)> = VecDeque::with_capacity(4 * THRESHOLD);
        for (handle, number) in (0_u32..).zip(numbers) {
            let behind = list.iter().rev().take_while(|(waits, _)| waits > number).count();
            list.insert(list.len() - behind, (*number, handle));
            if list.len() > THRESHOLD {
                list.pop_front().into_iter().for_each(|(number, _)| seen(number as u16));
            }
        }
        list.into_iter().for_each(|(number, _)| seen(number as u16));
    }
}

pub mod tree {
    //! A tree by number.

    use std::collections::BTreeMap;

    use crate::{Stream, THRESHOLD};

    pub fn waiting(stream: &Stream) -> Vec<u64> {
        crate::bitpath::waiting(stream)
    }

    #[inline]
    pub fn play(numbers: &mut Vec<u64>, mut seen: impl FnMut(u16)) {
        let mut tree: BTreeMap<u64, u32> = BTreeMap::new();
        for (handle, number) in (0_u32..).zip(numbers) {
            tree.insert(*number, handle);
            if tree.len() > THRESHOLD {
                tree.pop_first().into_iter().for_each(|(number, _)| seen(number as u16));
            }
        }
        tree.into_iter().for_each(|(number, _)| seen(number as u16));
    }
}

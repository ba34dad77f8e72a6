//! Settings that are put back whatever happens.
//!
//! A process of its own changes them and remembers what they were. It puts them back when its
//! parent says so or is gone: the kernel closes the pipe between the two when the parent ends well,
//! panics, or is killed. The parent remembers, too, in case that the keeper is killed.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Device, Link, Setting, State};
use crate::PlatformError;
use crate::process::{Worker, WorkerSide};

/// What the keeper is asked to change.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Change {
    link: Link,
    setting: Setting,
    value: u32,
}

/// What it answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Changed {
    /// What the setting was, with its first change.
    before: Option<State>,
    /// Why it was not changed.
    refused: Option<String>,
}

/// Changes settings of interfaces. They are put back when this is dropped, also by a panic, and
/// when the process that holds it is killed.
#[derive(Debug)]
pub struct LinkKeeper {
    keeper: Option<Worker>,
    /// What was changed, in the order of the first changes, and what it was before.
    changed: Vec<(Link, Setting, State)>,
}

impl LinkKeeper {
    /// Starts the keeper: `program` with these arguments must call [`keep`].
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(program: &Path, arguments: &[&str]) -> Result<Self, PlatformError> {
        let keeper = Worker::spawn_lasting("keeper of settings", program, arguments)?;
        Ok(Self { keeper: Some(keeper), changed: Vec::new() })
    }

    /// Process id of the keeper.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.keeper.as_ref().map(Worker::pid)
    }

    /// Changes a setting until this is dropped.
    ///
    /// # Errors
    /// When there is no such interface, its driver refuses or this is not root; the interface, the
    /// setting and the reason are named.
    pub fn set(&mut self, link: &Link, setting: Setting, value: u32) -> Result<(), PlatformError> {
        let Some(keeper) = &mut self.keeper else {
            return Err(link.against(setting, "its keeper has ended"));
        };
        keeper.send(&Change { link: link.clone(), setting, value })?;
        let answer: Changed = keeper.receive(PATIENCE)?;
        if let Some(before) = answer.before {
            self.changed.push((link.clone(), setting, before));
        }
        answer.refused.map_or(Ok(()), |reason| Err(link.against(setting, reason)))
    }

    /// Puts everything back.
    ///
    /// # Errors
    /// When something could not be put back.
    pub fn put_back(mut self) -> Result<(), PlatformError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), PlatformError> {
        let Some(keeper) = self.keeper.take() else { return Ok(()) };
        if keeper.finish(PATIENCE).is_ok() {
            return Ok(());
        }
        // It was killed, or could not do it all: what is left is done here.
        let changed = self.changed.drain(..).rev();
        let outcomes = changed.map(|(link, setting, before)| {
            let device = Device::open(&link).map_err(|refusal| link.refused(setting, &refusal))?;
            device.apply(setting, &before)
        });
        outcomes.fold(Ok(()), Result::and)
    }
}

impl Drop for LinkKeeper {
    fn drop(&mut self) {
        // Nobody is left to tell; `put_back` is for those who ask.
        let _ = self.end();
    }
}

/// The keeper's side: changes what its parent asks for, and puts it back when the parent has ended.
///
/// # Errors
/// When something could not be put back.
pub fn keep() -> Result<(), PlatformError> {
    let mut parent = WorkerSide::from_stdio();
    let mut kept: Vec<Kept> = Vec::new();
    // A message that is not understood ends the talk like a parent that is gone.
    while let Ok(Some(change)) = parent.receive::<Change>() {
        // A parent that is gone is noticed by the next read.
        let _ = parent.send(&answer(&mut kept, &change));
    }
    let outcomes = kept.iter().rev().map(|kept| kept.device.apply(kept.setting, &kept.before));
    outcomes.fold(Ok(()), Result::and)
}

/// A setting that was changed. The device keeps its network namespace alive, so that the way back
/// is there when the parent's other processes are not.
#[derive(Debug)]
struct Kept {
    device: Device,
    setting: Setting,
    before: State,
}

fn answer(kept: &mut Vec<Kept>, change: &Change) -> Changed {
    let known = |kept: &Kept| kept.device.link == change.link && kept.setting == change.setting;
    let (place, before) = match kept.iter().position(known) {
        Some(place) => (place, None),
        None => match first(change) {
            Ok(new) => {
                let before = new.before.clone();
                kept.push(new);
                (kept.len() - 1, Some(before))
            }
            Err(error) => return Changed { before: None, refused: Some(reason(error)) },
        },
    };
    let outcome = kept[place].device.change(change.setting, change.value);
    Changed { before, refused: outcome.err().map(reason) }
}

/// What must be known before the first change.
fn first(change: &Change) -> Result<Kept, PlatformError> {
    let refused = |refusal| change.link.refused(change.setting, &refusal);
    let device = Device::open(&change.link).map_err(refused)?;
    let before = device.state(change.setting)?;
    Ok(Kept { device, setting: change.setting, before })
}

/// Why a change was refused, without the names that the parent knows.
fn reason(error: PlatformError) -> String {
    match error {
        PlatformError::LinkSetting { reason, .. } => reason,
        other => other.to_string(),
    }
}

/// Longest wait for a change or for all to be put back: a driver may take seconds for its rings.
const PATIENCE: Duration = Duration::from_secs(20);

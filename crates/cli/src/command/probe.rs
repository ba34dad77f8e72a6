//! `bitpath probe`: this host part by part.

use std::process::ExitCode;

use bitpath_bench::clip;
use bitpath_bench::probe::{self, Options, Part, Plan, model};
use bitpath_measure::Run;
use bitpath_results::Store;

use super::study::{Prepared, keep};
use crate::arguments::{Probe, ProbePart};
use crate::failure::Failure;
use crate::progress::Bar;

/// Measures, keeps the record, and writes the profile beside it. What was measured is shown and kept
/// also when an error ended the probe.
pub(crate) fn run(wanted: &Probe) -> Result<ExitCode, Failure> {
    let plan = plan(wanted);
    // Before anything is measured or written.
    plan.clips.iter().try_for_each(|clip| clip::check(clip))?;
    let prepared = Prepared::new(&wanted.out)?;
    let earlier = wanted.resume.as_ref().map(|id| earlier(&prepared.store, id)).transpose()?;
    let options = Options {
        program: prepared.program.clone(),
        scratch: prepared.scratch.path().to_owned(),
        plan,
        id: prepared.id("probe"),
        earlier,
    };
    let mut bar = Bar::new();
    let (run, error) = probe::run(&options, &mut |progress| bar.show(progress));
    bar.finish();
    super::print(&run, wanted.json)?;
    keep(&run, &prepared.store)?;
    if let Some(profile) = run.documents.iter().find(|document| document.name == model::PROFILE) {
        let path = prepared.store.save_beside(&run.id, "toml", &profile.text)?;
        eprintln!("profile {}", path.display());
    }
    match error {
        Some(error) => Err(error.into()),
        None => Ok(super::study::code(&run)),
    }
}

fn plan(wanted: &Probe) -> Plan {
    let clips = wanted.clip.iter().cloned().collect();
    let budget_s = wanted.budget.seconds;
    let all = Plan { parts: Part::ALL.to_vec(), budget_s, clips, peer: None, cores: None };
    let one = |part| Plan { parts: vec![part], ..all.clone() };
    match &wanted.part {
        None => all,
        Some(ProbePart::Model) => one(Part::Model),
        Some(ProbePart::Clock) => one(Part::Clock),
        Some(ProbePart::Memory) => one(Part::Memory),
        Some(ProbePart::Stack { peer }) => Plan { peer: peer.clone(), ..one(Part::Stack) },
        Some(ProbePart::Pipeline { cores }) => {
            Plan { cores: cores.map(|cores| cores.0), ..one(Part::Pipeline) }
        }
        Some(ProbePart::Decode { clips }) => {
            let clips = all.clips.iter().chain(clips).cloned().collect();
            Plan { clips, ..one(Part::Decode) }
        }
    }
}

/// The record to go on with: one of a probe, cut short.
fn earlier(store: &Store, id: &str) -> Result<Run, Failure> {
    let run = store.find(id)?;
    let why = match Plan::of(&run) {
        None => "it is not the record of a probe",
        Some(_) if run.complete => "it is complete",
        Some(_) => return Ok(run),
    };
    Err(Failure::NotResumable { id: run.id, why })
}

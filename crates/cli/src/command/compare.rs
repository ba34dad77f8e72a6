//! `bitpath compare`: two scenarios in, what differs and what that does out; or two measurements, and
//! where they agree.

use std::path::Path;
use std::process::ExitCode;

use bitpath_measure::agreement::{self, Measured};
use bitpath_measure::run::Figure;
use bitpath_sim::compare::{self, Side};
use bitpath_sim::profile::HostProfile;
use bitpath_sim::scenario::Setting;

use super::scenario;
use crate::arguments::Compare;
use crate::failure::Failure;
use crate::limit::{self, Work};

/// Compares the two and prints the record.
pub(crate) fn run(wanted: &Compare) -> Result<ExitCode, Failure> {
    let b = wanted.b.as_ref().unwrap_or(&wanted.a);
    match (measured(&wanted.a)?, measured(b)?) {
        (None, None) => {}
        (Some(of_a), Some(of_b)) => return agreement(wanted, b, &of_a, &of_b),
        _ => return Err(Failure::Unlike { a: wanted.a.clone(), b: b.clone() }),
    }
    let (a_scenario, a_text) = scenario::load(&wanted.a, &[])?;
    let (b_scenario, b_text) = scenario::load(b, &wanted.set)?;
    let (a_name, b_name) = (name(&wanted.a, &[]), name(b, &wanted.set));
    let a = Side { name: &a_name, scenario: &a_scenario, text: &a_text };
    let b = Side { name: &b_name, scenario: &b_scenario, text: &b_text };
    let random = a_scenario.is_random() || b_scenario.is_random();
    let runs = if random { u32::from(wanted.replications) } else { 1 };
    let work = |side: &Side<'_>| Work {
        name: side.name.to_owned(),
        scenario: side.scenario.clone(),
        engine: wanted.engine,
        runs,
    };
    limit::agree(wanted.bound.limit, &[work(&a), work(&b)])?;
    let run = compare::compare(&a, &b, wanted.engine, wanted.replications)?;
    super::print(&run, wanted.json)?;
    Ok(ExitCode::SUCCESS)
}

/// The figures of a record or of a host's profile; none where the file is neither.
fn measured(path: &Path) -> Result<Option<Vec<Figure>>, Failure> {
    if path.extension().is_some_and(|extension| extension == "json") {
        return Ok(Some(bitpath_results::read(path)?.figures));
    }
    let text =
        scenario::read(path).map_err(|source| Failure::Read { path: path.to_owned(), source })?;
    Ok(HostProfile::read(&text).map(|profile| profile.figures()))
}

/// Holds two measurements against each other.
fn agreement(
    wanted: &Compare,
    b: &Path,
    of_a: &[Figure],
    of_b: &[Figure],
) -> Result<ExitCode, Failure> {
    if let Some(setting) = wanted.set.first() {
        let (setting, file) = (setting.to_string(), b.to_owned());
        return Err(Failure::SetMeasured { setting, file });
    }
    let (a_name, b_name) = (name(&wanted.a, &[]), name(b, &[]));
    let a = Measured { name: &a_name, figures: of_a };
    let b = Measured { name: &b_name, figures: of_b };
    super::print(&agreement::hold(&a, &b), wanted.json)?;
    Ok(ExitCode::SUCCESS)
}

/// The file, and what was set.
fn name(path: &Path, settings: &[Setting]) -> String {
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    let file = path.display();
    if settings.is_empty() { file.to_string() } else { format!("{file}, {}", settings.join(", ")) }
}

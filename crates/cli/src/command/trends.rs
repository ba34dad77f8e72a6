//! `bitpath trends`: forty years of components, and which of them binds when.

use std::path::Path;
use std::process::ExitCode;

use bitpath_bench::probe::model::PROFILE;
use bitpath_sim::profile::HostProfile;
use bitpath_sim::trends::{self, MeasuredHost, SHIPPED, Wanted};

use crate::arguments::Trends;
use crate::failure::Failure;

/// Reads the figures, keeps table and pictures, and prints the record.
pub(crate) fn run(wanted: &Trends) -> Result<ExitCode, Failure> {
    let figures = match &wanted.data {
        None => trends::Trends::read(SHIPPED)?,
        Some(folder) => read(folder)?,
    };
    let host = wanted.profile.as_deref().map(measured).transpose()?;
    let run = trends::record(
        &figures,
        &Wanted { until: wanted.until, growth: wanted.growth.clone(), host },
    )?;
    super::print(&run, wanted.json)?;
    super::keep_columns(&run, &wanted.out, bitpath_report::plots::trends(&run))?;
    Ok(ExitCode::SUCCESS)
}

/// The host of a profile or a record, and when it was measured: a profile's values name their record,
/// whose name begins with the time.
fn measured(path: &Path) -> Result<MeasuredHost, Failure> {
    let none = |why| Failure::NoHost { path: path.to_owned(), why };
    let text = if path.extension().is_some_and(|extension| extension == "json") {
        let run = bitpath_results::read(path)?;
        let profile = run.documents.into_iter().find(|document| document.name == PROFILE);
        profile.ok_or_else(|| none("the record holds no host's profile"))?.text
    } else {
        super::scenario::read(path)
            .map_err(|source| Failure::Read { path: path.to_owned(), source })?
    };
    let profile = HostProfile::read(&text).ok_or_else(|| none("it is no host's profile"))?;
    let year = trends::year_of(&profile.cpu.clock.from);
    let year = year.ok_or_else(|| none("its values do not name the record that measured them"))?;
    Ok(MeasuredHost { name: profile.name.clone(), year, profile })
}

/// The figures of all tables of a folder, in the order of their names.
fn read(folder: &Path) -> Result<trends::Trends, Failure> {
    let refused = |path: &Path| {
        let path = path.to_owned();
        move |source| Failure::Read { path, source }
    };
    let mut files = Vec::new();
    for entry in folder.read_dir().map_err(refused(folder))? {
        let path = entry.map_err(refused(folder))?.path();
        if path.extension().is_some_and(|extension| extension == "csv") {
            let text = super::scenario::read(&path).map_err(refused(&path))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, text));
        }
    }
    files.sort();
    let named = files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    Ok(trends::Trends::read(named)?)
}

//! `bitpath trends`: forty years of components, and which of them binds when.

use std::path::Path;
use std::process::ExitCode;

use bitpath_sim::trends::{self, SHIPPED, Wanted};

use crate::arguments::Trends;
use crate::failure::Failure;

/// Reads the figures, keeps table and pictures, and prints the record.
pub(crate) fn run(wanted: &Trends) -> Result<ExitCode, Failure> {
    let figures = match &wanted.data {
        None => trends::Trends::read(SHIPPED)?,
        Some(folder) => read(folder)?,
    };
    let run =
        trends::record(&figures, &Wanted { until: wanted.until, growth: wanted.growth.clone() })?;
    super::print(&run, wanted.json)?;
    super::keep_columns(&run, &wanted.out, bitpath_report::plots::trends(&run))?;
    Ok(ExitCode::SUCCESS)
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

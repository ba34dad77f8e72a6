//! Every scenario file of the repository can be read and run.

use std::path::Path;

use bitpath_sim::scenario::Scenario;
use toml::Table;

/// A job with a rate over a link that limits it, on the two cores of `round-host.toml`: the one host
/// that a scenario file holds has one core and no link.
const JOB: &str = r#"
interval = "100 ms"

[job]
name = "raw"
transport = "udp"
message = "1000 B"
receive_buffer = "416 KiB"
send_buffer = "416 KiB"
duration = "500 ms"
work = { kind = "raw", rate = "1 Gb/s", process = "0.1 ns/B" }

[link]
rate = "1 Gb/s"
queue = "1 MiB"
delay = "50 us"
"#;

/// Name and text of every file in `scenarios/`.
#[expect(
    clippy::disallowed_methods,
    reason = "the test reads the repository, the simulator does not"
)]
fn files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// Scenarios of every kind: the files, and a job on a host.
pub(crate) fn texts() -> Vec<String> {
    let mut job: Table = JOB.parse().unwrap();
    let host: Table = include_str!("../round-host.toml").parse().unwrap();
    job.insert("host".into(), host.into());
    let files = files().into_iter().map(|(_, text)| text);
    files.chain([toml::to_string(&job).unwrap()]).collect()
}

#[test]
fn every_scenario_file_says_what_it_shows() {
    for (name, text) in files() {
        let scenario = Scenario::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(scenario.title.len() > 10, "{name}: a title says what it shows");
        assert!(text.contains("\n# "), "{name}: a comment says where its numbers come from");
    }
}

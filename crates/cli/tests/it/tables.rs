//! `bitpath simulate --incidents` and `--courses`: what happened one by one and over time, as CSV
//! and Parquet.

use std::fs;
use std::path::Path;

use bitpath_measure::Run;
use bitpath_measure::pitfall::Pitfall;
use bitpath_measure::series::labels;

use crate::invocation::{Ended, Invocation, in_workspace};
use crate::simulate::host_scenario;
use crate::turns::beside_others;

/// A second of the film with a tenth of the buffer, so that datagrams are lost.
const LOSSY: [&str; 4] =
    ["--set", "machine.flow.film.receive_buffer=6 KiB", "--set", "machine.duration=1 s"];

/// A second of a hundred times the film's rate: more is lost than a record lists.
const FLOOD: [&str; 4] = [
    "--set",
    "machine.flow.film.job={ kind = \"raw\", rate = \"1 Gb/s\" }",
    "--set",
    "machine.duration=1 s",
];

fn film(arguments: &[&str]) -> Ended {
    let scenario = in_workspace("scenarios/mpeg-sw.toml");
    Invocation::new().with(["simulate", "--json"]).with([scenario]).with(arguments).run()
}

/// The film with one table more, which must come out.
fn with_table(option: &str, table: &Path, arguments: &[&str]) -> (Run, String) {
    let ended = film(&[&[option, table.to_str().unwrap()], arguments].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    (ended.record(), ended.stderr)
}

#[test]
fn every_drop_is_a_row_with_its_cause_and_the_state_of_all_components() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let (csv, parquet) = (folder.path().join("a.csv"), folder.path().join("a.parquet"));
    let (run, said) = with_table("--incidents", &csv, &LOSSY);
    let text = fs::read_to_string(csv).unwrap();
    let mut lines = text.lines();
    let header =
        "at_ns,event,cause,flow,nic_ring_packets,kernel_buffer_bytes,user_buffer_bytes,cpu_cores";
    assert_eq!(lines.next(), Some(header));
    assert!(!run.events.is_empty());
    for event in &run.events {
        let row: Vec<&str> = lines.next().unwrap().split(',').collect();
        let cause = event.labels.get("cause").map_or("", String::as_str);
        assert_eq!(row[..4], [&*event.at_ns.to_string(), &event.name, cause, "0"]);
        assert_eq!(row[5], event.state["kernel_buffer"].0.to_string());
    }
    assert_eq!(lines.next(), None);
    assert!(said.contains(&format!("a.csv: {} drops and stalls", run.events.len())), "{said}");
    let (again, _) = with_table("--incidents", &parquet, &LOSSY);
    assert_eq!(again, run);
    assert_eq!(&fs::read(parquet).unwrap()[..4], b"PAR1");
}

#[test]
fn the_table_holds_what_the_record_leaves_out_and_the_record_says_so() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("all.csv");
    let (run, _) = with_table("--incidents", &table, &FLOOD);
    let rows = fs::read_to_string(table).unwrap().lines().count() as u64 - 1;
    assert_eq!(run.events.len(), 10_000);
    let doubt = Pitfall::IncidentsLeftOut { kept: 10_000, total: rows };
    assert_eq!(run.pitfalls, [doubt]);
    let causes = ["link", "nic_buffer", "cpu", "kernel_buffer"];
    let value =
        |cause: &str| run.figure(&format!("dropped.{cause}"), &labels([])).unwrap().estimate.value;
    assert_eq!(causes.map(value).iter().sum::<f64>(), rows as f64);
    // Without the table the record is the same.
    assert_eq!(film(&FLOOD).record(), run);
}

#[test]
fn every_point_of_every_course_is_a_row_with_unit_and_limit() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let (csv, parquet) = (folder.path().join("a.csv"), folder.path().join("a.parquet"));
    let (run, said) = with_table("--courses", &csv, &LOSSY);
    let text = fs::read_to_string(csv).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("time_s,component,labels,unit,value,limit"));
    let points: usize = run.timelines.iter().map(|course| course.points.len()).sum();
    assert_eq!(lines.clone().count(), points);
    assert!(
        lines
            .clone()
            .any(|line| line.starts_with("0.01,kernel_buffer.used,,B,") && line.ends_with(",6144"))
    );
    assert!(lines.any(|line| line.starts_with("0.01,user_buffer.used,,B,") && line.ends_with(',')));
    assert!(said.contains("a.csv: 4 components"), "{said}");
    with_table("--courses", &parquet, &LOSSY);
    assert_eq!(&fs::read(parquet).unwrap()[..4], b"PAR1");
}

#[test]
fn a_table_that_cannot_be_is_refused_before_anything_runs() {
    let _turn = beside_others();
    let folder = tempfile::tempdir().unwrap();
    let host = folder.path().join("host.toml");
    fs::write(&host, host_scenario()).unwrap();
    let (host, p3) = (host.to_str().unwrap(), in_workspace("scenarios/p3.toml"));
    let p3 = p3.to_str().unwrap();
    let out = folder.path().join("out.csv");
    let out = out.to_str().unwrap();
    for (arguments, words) in [
        (&[p3, "--incidents", "out.txt"][..], &["`out.txt` is no table", ".csv or .parquet"][..]),
        (&[p3, "--courses", "out"], &["`out` is no table", ".csv or .parquet"]),
        (&[p3, "--incidents", out], &["drops and stalls of a [machine]", "a [pipeline] only"]),
        (&[host, "--incidents", out], &["drops and stalls of a [machine]", "a [host] only"]),
        (&[p3, "--courses", out], &["a [pipeline] has no courses over time"]),
        (&[host, "--courses", out, "--engine", "closed-form"], &["a closed form has no courses"]),
        (&[p3, "--incidents", out, "--replications", "3"], &["cannot be used with"]),
    ] {
        Invocation::new().with(["simulate"]).with(arguments).run().refused(words);
        assert!(!Path::new(out).exists(), "{arguments:?}");
    }
    film(&["--courses", "/missing/out.csv"]).refused(&["cannot write", "/missing/out.csv"]);
}

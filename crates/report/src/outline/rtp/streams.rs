//! Streams of RTP in a capture: who sent what to whom, and how it came.

use bitpath_measure::run::Figure;
use bitpath_measure::{Run, Unit};

use super::{Block, written};
use crate::table::{Table, figures_named, label};

/// Beginning of the names of this part's figures.
const STREAM: &str = "rtp.stream.";

/// Beginning of the names of what is said of the capture as a whole.
const CAPTURE: &str = "rtp.capture.";

/// What tells one stream from another, and the titles.
const NAMES: [(&str, &str); 4] = [
    ("ssrc", "SSRC"),
    ("source", "source"),
    ("destination", "destination"),
    ("payload", "payload"),
];

/// What a stream carried, and the titles.
const CARRIED: [(&str, &str); 3] =
    [("packets", "packets"), ("duration", "duration"), ("bit_rate", "bit rate")];

/// What became of its packets, and the titles.
const CAME: [(&str, &str); 6] = [
    ("expected", "expected"),
    ("lost", "lost"),
    ("duplicates", "duplicates"),
    ("out_of_order", "out of order"),
    ("refused", "refused"),
    ("restarts", "restarts"),
];

/// How regularly they came, and the titles.
const JITTER: [(&str, &str); 2] = [("jitter_mean", "mean"), ("jitter_max", "greatest")];

/// How to read the counts.
const COUNTED: &str = "Lost is what was expected less what came, as in a receiver's report: each duplicate hides a \
    loss. Refused are packets far from the run of their stream that no other confirmed.";

/// Whether a figure belongs to the analysis of a capture.
pub(super) fn shows(figure: &Figure) -> bool {
    figure.name.starts_with(STREAM) || figure.name.starts_with(CAPTURE)
}

/// Whether the record is such an analysis.
pub(super) fn is_one(run: &Run) -> bool {
    run.tool == "rtp-analysis"
}

/// How many streams there are, and what they lost.
pub(super) fn headline(run: &Run) -> String {
    let total = |name: &str| -> f64 {
        of(run, name).iter().map(|figure| figure.estimate.value.max(0.0)).sum()
    };
    let streams = of(run, "packets").len();
    if streams == 0 {
        return "The capture has no stream of RTP.".into();
    }
    let [lost, expected] = ["lost", "expected"].map(total);
    let of_them = if streams == 1 { "1 stream".into() } else { format!("{streams} streams") };
    format!("{of_them} of RTP; {} lost of {} packets.", plain(lost), plain(expected))
}

/// The datagrams of the capture, then a row for each stream.
pub(super) fn blocks(run: &Run) -> Vec<Block> {
    let capture = run.figures.iter().filter(|figure| figure.name.starts_with(CAPTURE));
    let pairs: Vec<(String, String)> = capture.map(pair).collect();
    if pairs.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Table(Table::of_pairs(["the capture", ">packets"], pairs))];
    if !of(run, "packets").is_empty() {
        blocks.push(Block::Heading("Streams".into()));
        blocks.push(Block::Table(rows(run, &NAMES, &CARRIED)));
        blocks.push(Block::Heading("Packets".into()));
        blocks.push(Block::Paragraph(COUNTED.into()));
        blocks.push(Block::Table(rows(run, &NAMES[..2], &CAME)));
        blocks.push(Block::Heading("Interarrival jitter".into()));
        blocks.push(Block::Table(rows(run, &NAMES[..2], &JITTER)));
    }
    blocks
}

fn of<'a>(run: &'a Run, name: &str) -> Vec<&'a Figure> {
    figures_named(run, &[&format!("{STREAM}{name}")])
}

fn pair(figure: &Figure) -> (String, String) {
    let name = match figure.name.trim_start_matches(CAPTURE) {
        "datagrams" => "datagrams of UDP",
        "others" => "datagrams of no stream",
        "skipped" => "no whole datagram of UDP",
        other => other,
    };
    (name.into(), plain(figure.estimate.value))
}

/// A count to its last digit, whose unit the title has.
fn plain(count: f64) -> String {
    format!("{count:.0}")
}

/// A row for each stream: some of its labels, then some of its figures.
fn rows(run: &Run, names: &[(&str, &str)], figures: &[(&str, &str)]) -> Table {
    let titles = names.iter().map(|(_, title)| (*title).to_owned());
    let numbers = figures.iter().map(|(_, title)| format!(">{title}"));
    let mut table = Table::new(&titles.chain(numbers).collect::<Vec<_>>());
    for stream in of(run, "packets") {
        let value = |(name, _): &(&str, &str)| {
            let found = of(run, name).into_iter().find(|figure| figure.labels == stream.labels);
            match found {
                Some(figure) if [Unit::Packets, Unit::Count].contains(&figure.unit) => {
                    plain(figure.estimate.value)
                }
                found => written(found),
            }
        };
        let cells = names.iter().map(|(key, _)| label(stream, key).to_owned());
        table.push(cells.chain(figures.iter().map(value)).collect::<Vec<_>>());
    }
    table
}

#[cfg(test)]
mod tests {
    use bitpath_measure::Estimate;
    use bitpath_measure::series::labels;

    use super::*;

    fn record(lost: [f64; 2]) -> Run {
        let mut run = Run::begin("rtp-analysis", "a", "", 0);
        let mut add = |name: &str, labels, unit, value| {
            let estimate = Estimate::single(value);
            run.figures.push(Figure { name: name.into(), labels, unit, estimate });
        };
        add("rtp.capture.others", labels([]), Unit::Packets, 4.0);
        for (source, lost) in ["10.0.0.1:5004", "10.0.0.1:5006"].into_iter().zip(lost) {
            let of = || labels([("ssrc", "0x00000007"), ("source", source), ("payload", "PCMU")]);
            add("rtp.stream.packets", of(), Unit::Packets, 236.0);
            add("rtp.stream.expected", of(), Unit::Packets, 240.0);
            add("rtp.stream.lost", of(), Unit::Packets, lost);
            add("rtp.stream.jitter_mean", of(), Unit::Nanoseconds, 350_293.0);
        }
        run
    }

    #[test]
    fn a_stream_has_a_row_and_what_is_not_known_a_dash() {
        let run = record([4.0, 0.0]);
        let texts = |figures| -> Vec<String> {
            let table = rows(&run, &NAMES[..2], figures);
            assert_eq!(table.rows.len(), 2);
            table.rows[0].iter().map(|cell| cell.text.clone()).collect()
        };
        let counts = ["0x00000007", "10.0.0.1:5004", "240", "4", "-", "-", "-", "-"];
        assert_eq!(texts(&CAME), counts);
        assert_eq!(texts(&JITTER), ["0x00000007", "10.0.0.1:5004", "350 us", "-"]);
    }

    #[test]
    fn duplicates_of_one_stream_hide_no_loss_of_another_in_the_headline() {
        assert_eq!(headline(&record([4.0, -3.0])), "2 streams of RTP; 4 lost of 480 packets.");
        let none = Run::begin("rtp-analysis", "a", "", 0);
        assert_eq!(headline(&none), "The capture has no stream of RTP.");
    }
}

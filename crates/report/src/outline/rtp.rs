//! The RTP suite: what was verified, what a packet costs, and the paper's figures 3 to 5 and tables I to III beside
//! ours. The streams of a capture have tables of their own.

mod streams;

use bitpath_measure::Run;
use bitpath_measure::run::Figure;

use super::Block;
use crate::format;
use crate::table::{Table, figures_named, label, side_by_side};

/// Beginning of the names of this part's figures.
const PART: &str = "rtp.";

/// What became of the units, and the titles.
const UNITS: [(&str, &str); 6] = [
    ("rtp.units.sent", "sent"),
    ("rtp.units.lost", "not played"),
    ("rtp.units.late", "late"),
    ("rtp.units.duplicates", "duplicates"),
    ("rtp.units.overwritten", "overwritten"),
    ("rtp.units.early", "played early"),
];

/// What a packet costs, and the titles.
const COSTS: [(&str, &str); 4] = [
    ("rtp.cost", "processor time"),
    ("rtp.core.packet_cycles_measured", "cycles, measured"),
    ("rtp.core.packet_cycles", "today's core, modelled"),
    ("rtp.core.error", "error of the model"),
];

/// The quantities of tables I to III, and the titles.
const TABLES: [(&str, &[(&str, &str)]); 3] = [
    (
        "Instructions a cycle, and branches predicted (table I)",
        &[
            ("cycles", "cycles"),
            ("instructions_per_cycle", "IPC"),
            ("addresses_predicted", "addresses"),
            ("directions_predicted", "directions"),
        ],
    ),
    (
        "Instructions (table II)",
        &[
            ("instructions", "instructions"),
            ("loads", "loads"),
            ("stores", "stores"),
            ("branches", "branches"),
        ],
    ),
    (
        "Caches (table III)",
        &[
            ("il1_accesses", "il1 accesses"),
            ("il1_missed", "il1 missed"),
            ("dl1_accesses", "dl1 accesses"),
            ("dl1_missed", "dl1 missed"),
            ("l2_missed", "l2 missed"),
        ],
    ),
];

/// What stands above the tables.
const VERIFIED: &str = "What was played is what was sent, byte for byte, but for the units that the receiver logged as \
    not played. The ring keep plays what is in the way of new packets before it is due; overwrite loses it, as in \
    the paper.";

const MODELLED: &str = "Modelled from traces of the programs themselves: paper is a core as the paper's, today one of \
    the class of Zen 4, whose error against measured cycles stands above. Printed: what the paper's tables say, on \
    programs and an instruction set that are not ours. Its RTCP row is inconsistent: 43.6 M instructions in 33 M \
    cycles are 1.32 a cycle, not 1.84.";

/// Whether a figure of a record is shown here.
pub(super) fn shows(figure: &Figure) -> bool {
    figure.name.starts_with(PART)
}

/// Whether the record is the suite's or of a capture.
pub(super) fn is_one(run: &Run) -> bool {
    run.tool == "rtp-suite" || streams::is_one(run)
}

/// What a packet costs, benchmark by benchmark; of a capture, how its streams came.
pub(super) fn headline(run: &Run) -> String {
    if streams::is_one(run) {
        return streams::headline(run);
    }
    let cost = |figure: &&Figure| {
        let (benchmark, input) = (label(figure, "benchmark"), label(figure, "input"));
        let cost = format::value(figure.unit, figure.estimate.value);
        format!("{cost} for {benchmark} of {input}")
    };
    let costs: Vec<String> = figures_named(run, &["rtp.cost"]).iter().map(cost).collect();
    if costs.is_empty() {
        return "Nothing was timed.".into();
    }
    format!("A packet takes {}.", costs.join(", "))
}

/// The streams of a capture; of the suite verification, costs, shares of functions, tables.
pub(super) fn blocks(run: &Run) -> Vec<Block> {
    if !run.figures.iter().any(|figure| shows(figure) && !streams::shows(figure)) {
        return streams::blocks(run);
    }
    let named = |names: &[(&str, &str)]| {
        let plain: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        side_by_side(&figures_named(run, &plain), names)
    };
    let mut blocks = vec![
        Block::Heading("Verification".into()),
        Block::Paragraph(VERIFIED.into()),
        Block::Table(named(&UNITS)),
        Block::Heading("A packet".into()),
        Block::Table(named(&COSTS)),
    ];
    if figures_named(run, &["rtp.core.function_share"]).is_empty() {
        return blocks;
    }
    blocks.push(Block::Paragraph(MODELLED.into()));
    blocks.push(Block::Heading("Cycles by function (figures 3 to 5)".into()));
    blocks.push(Block::Table(shares(run)));
    for (title, quantities) in TABLES {
        blocks.push(Block::Heading(title.into()));
        blocks.push(Block::Table(characteristics(run, quantities)));
    }
    blocks
}

/// A function's part of the cycles on each core, beside what the paper says.
fn shares(run: &Run) -> Table {
    let mut table = Table::new(&[
        "benchmark",
        "input",
        "function",
        ">instructions",
        ">cycles, paper",
        ">today",
        ">printed",
    ]);
    let of_core = |core: &'static str| {
        figures_named(run, &["rtp.core.function_share"])
            .into_iter()
            .filter(move |of| label(of, "core") == core)
    };
    for share in of_core("paper") {
        let same = |other: &&Figure| {
            ["benchmark", "input", "function"]
                .iter()
                .all(|key| label(other, key) == label(share, key))
        };
        let instructions = figures_named(run, &["rtp.core.function_instructions"]);
        let instructions =
            instructions.into_iter().find(|of| same(of) && label(of, "core") == "paper");
        let printed = figures_named(run, &["rtp.published.function_share"]);
        let printed = printed.into_iter().find(|of| {
            ["benchmark", "function"].iter().all(|key| label(of, key) == label(share, key))
        });
        table.push([
            label(share, "benchmark").to_owned(),
            label(share, "input").to_owned(),
            label(share, "function").to_owned(),
            written(instructions),
            written(Some(share)),
            written(of_core("today").find(same)),
            written(printed),
        ]);
    }
    table
}

/// Rows of one of the tables: each benchmark on each core, then what the paper printed.
fn characteristics(run: &Run, quantities: &[(&str, &str)]) -> Table {
    let titles = ["benchmark", "input", "core"].map(str::to_owned).into_iter();
    let titles = titles.chain(quantities.iter().map(|(_, title)| format!(">{title}")));
    let mut table = Table::new(&titles.collect::<Vec<_>>());
    for (part, core) in [("rtp.core.", None), ("rtp.published.", Some("as printed"))] {
        let named = |quantity: &str| figures_named(run, &[&format!("{part}{quantity}")]);
        for row in named(quantities[0].0) {
            let value = |(quantity, _): &(&str, &str)| {
                written(named(quantity).into_iter().find(|figure| figure.labels == row.labels))
            };
            let input = Some(label(row, "input")).filter(|input| !input.is_empty()).unwrap_or("-");
            let of = [label(row, "benchmark"), input, core.unwrap_or_else(|| label(row, "core"))];
            let cells = of.map(str::to_owned).into_iter().chain(quantities.iter().map(value));
            table.push(cells.collect::<Vec<_>>());
        }
    }
    table
}

fn written(figure: Option<&Figure>) -> String {
    figure.map_or_else(|| "-".into(), |figure| format::estimate(figure.unit, &figure.estimate))
}

#[cfg(test)]
mod tests {
    use bitpath_measure::series::labels;
    use bitpath_measure::{Estimate, Unit};

    use super::*;

    fn record() -> Run {
        let mut run = Run::begin("rtp-suite", "suite", "", 0);
        let of = [("benchmark", "RTP Sender"), ("input", "audio")];
        let mut add = |name: &str, more: &[(&str, &str)], unit, value| {
            let all = of.iter().chain(more).copied();
            let labels = all.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            let estimate = Estimate::single(value);
            run.figures.push(Figure { name: name.into(), labels, unit, estimate });
        };
        add("rtp.cost", &[], Unit::Nanoseconds, 18.0);
        for (core, share) in [("paper", 0.33), ("today", 0.26)] {
            let function = [("core", core), ("function", "encapsulate")];
            add("rtp.core.function_share", &function, Unit::Ratio, share);
            add("rtp.core.instructions", &[("core", core)], Unit::Instructions, 6e6);
            add("rtp.core.loads", &[("core", core)], Unit::Ratio, 0.28);
        }
        for (name, of, unit, value) in [
            ("instructions", labels([("benchmark", "RTP Sender")]), Unit::Instructions, 22.8e6),
            (
                "function_share",
                labels([("benchmark", "RTP Sender"), ("function", "encapsulate")]),
                Unit::Ratio,
                0.7,
            ),
        ] {
            let (name, estimate) = (format!("rtp.published.{name}"), Estimate::single(value));
            run.figures.push(Figure { name, labels: of, unit, estimate });
        }
        run
    }

    fn texts(table: &Table) -> Vec<String> {
        let row = |row: &Vec<crate::table::Cell>| {
            row.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join(" | ")
        };
        table.rows.iter().map(row).collect()
    }

    #[test]
    fn shares_stand_beside_what_the_paper_says_of_the_function() {
        let found = texts(&shares(&record()));
        assert_eq!(found, ["RTP Sender | audio | encapsulate | - | 33.0 % | 26.0 % | 70.0 %"]);
    }

    #[test]
    fn cores_come_before_the_printed_row_and_what_is_not_printed_is_a_dash() {
        let quantities = [("instructions", "instructions"), ("loads", "loads")];
        assert_eq!(
            texts(&characteristics(&record(), &quantities)),
            [
                "RTP Sender | audio | paper | 6.00 M instructions | 28.0 %",
                "RTP Sender | audio | today | 6.00 M instructions | 28.0 %",
                "RTP Sender | - | as printed | 22.8 M instructions | -",
            ]
        );
    }

    #[test]
    fn the_headline_says_what_a_packet_costs() {
        assert_eq!(headline(&record()), "A packet takes 18.0 ns for RTP Sender of audio.");
        assert_eq!(headline(&Run::begin("rtp-suite", "", "", 0)), "Nothing was timed.");
    }

    #[test]
    fn another_record_has_no_such_section() {
        assert!(blocks(&Run::begin("study", "", "", 0)).is_empty());
        assert!(blocks(&record()).len() > 8);
    }
}

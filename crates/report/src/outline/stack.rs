//! Flows by UDP and TCP: pictures by message size, the figures of the 2004 study, latency, fitted costs,
//! and a table for each condition that was varied, the others as usual.

use bitpath_measure::run::Figure;
use bitpath_measure::{Run, Unit};

use super::{Block, FULL_WIDTH, Fold, HALF_WIDTH, Picture};
use crate::format;
use crate::plots;
use crate::svg::Plot;
use crate::table::{Table, label};

/// What was varied, the heading of its table, and the title of its values.
const VARIED: [(&str, &str, &str); 7] = [
    ("message_bytes", "By message size", "message"),
    ("buffer_bytes", "By socket buffer (SO_SNDBUF and SO_RCVBUF)", "buffer"),
    ("streams", "By streams side by side, a thread each", "streams"),
    ("path", "By the way of the bytes into the stream", "path"),
    ("source_bytes", "By the memory that the sender cycles through", "source"),
    ("offload", "By segmentation (GSO) and receive offload (GRO)", "offload"),
    ("direction", "By direction", "direction"),
];

/// The 2004 study's figures (sysSIM table 8), and their titles.
const TABLE_8: [(&str, &str); 5] = [
    ("stack.processing_power", "processing power"),
    ("stack.cycles_per_header_byte", "a header byte"),
    ("stack.theoretical_maximum", "maximum"),
    ("stack.memory_utilisation", "memory used"),
    ("stack.theoretical_memory_utilisation", "at maximum"),
];

/// Coefficients of the fits by message size, and their titles.
const COSTS: [(&str, &str); 4] = [
    ("stack.cost_per_call", ">per call"),
    ("stack.cost_per_packet", ">per packet"),
    ("stack.cost_per_byte", ">per byte"),
    ("stack.cost_residual", ">residual"),
];

/// Counts beside the transfers and the part of the time in the kernel, and their titles.
const COUNTS: [(&str, &str); 4] = [
    ("stack.switches_per_megabyte", ">switches"),
    ("stack.interrupts_per_megabyte", ">interrupts"),
    ("stack.softirqs_per_megabyte", ">softirqs"),
    ("stack.system_share", ">in the kernel"),
];

/// Quantiles of the latency.
const QUANTILES: [&str; 5] = ["p50", "p90", "p99", "p99.9", "max"];

/// Figures of this part that carry no way.
const WAYLESS: [&str; 1] = ["stack.copy_bandwidth"];

/// Whether a figure is one of flows; the model's own figures of the stack carry no way.
pub(super) fn shows(figure: &Figure) -> bool {
    let of_stack = figure.name.starts_with("stack.");
    of_stack && (figure.labels.contains_key("way") || WAYLESS.contains(&figure.name.as_str()))
}

/// Pictures and tables; nothing for a record without flows.
pub(super) fn blocks(run: &Run) -> Vec<Block> {
    let figures: Vec<&Figure> = run.figures.iter().filter(|figure| shows(figure)).collect();
    if figures.is_empty() {
        return Vec::new();
    }
    let mut blocks = pictures(run);
    let mut add = |heading: &str, table: Table| {
        if !table.rows.is_empty() {
            blocks.push(Block::Heading(heading.into()));
            blocks.push(Block::Table(table));
        }
    };
    add("Packets of one byte, and memory (2004 study, table 8)", by_way(&figures, &TABLE_8));
    add("Latency of one byte there and back", latency(&figures));
    add("Fitted cost by message size", by_side(&figures, &COSTS));
    add("Clock for a rate (GHz for 1 Gb/s, both sides)", clock(&figures));
    for (vary, heading, title) in VARIED {
        add(heading, varied(&figures, vary, title));
    }
    blocks.extend(explanation(run));
    let counts = counts(&figures);
    if !counts.rows.is_empty() {
        let summary = "Switches, interrupts, softirqs and the kernel's part by message size".into();
        blocks.push(Block::Folded { summary, content: Fold::Table(counts) });
    }
    blocks
}

fn pictures(run: &Run) -> Vec<Block> {
    let plots = plots::stack(run);
    let draw = |width: f64| move |(_, plot): &(String, Plot)| Picture::new(width, |w| plot.draw(w));
    let (first, others) = plots.split_at(plots.len().min(1));
    let block = |pictures: Vec<Picture>| Block::Pictures { pictures, caption: String::new() };
    let of = [
        first.iter().map(draw(FULL_WIDTH)).collect::<Vec<_>>(),
        others.iter().map(draw(HALF_WIDTH)).collect(),
    ];
    of.into_iter().filter(|pictures| !pictures.is_empty()).map(block).collect()
}

/// What the words of the tables mean.
fn explanation(run: &Run) -> Option<Block> {
    let copy = run.figures.iter().find(|figure| figure.name == WAYLESS[0])?;
    let copy = format::estimate(copy.unit, &copy.estimate);
    Some(Block::Paragraph(format!(
        "Processing power: packets of one byte of payload that the sender handles. Maximum: as many \
         full Ethernet frames. Memory used: the best throughput beside what main memory copies, \
         {copy}. Sender and receiver: processor time of each side for a byte."
    )))
}

/// A row for each name, a column for each transport and way, as the study's hosts stand side by side.
fn by_way(figures: &[&Figure], names: &[(&str, &str)]) -> Table {
    let ends = ends(figures);
    let titles = ends.iter().map(|(transport, way)| format!(">{transport} {way}"));
    let titles = [String::new()].into_iter().chain(titles);
    let mut table = Table::new(&titles.collect::<Vec<_>>());
    for (name, title) in names {
        let value = |(transport, way): &(&str, &str)| {
            let found = figures.iter().find(|figure| {
                figure.name == *name
                    && label(figure, "transport") == *transport
                    && label(figure, "way") == *way
            });
            written(found.copied())
        };
        let values: Vec<String> = ends.iter().map(value).collect();
        if values.iter().any(|value| value != "-") {
            table.push([(*title).to_owned()].into_iter().chain(values));
        }
    }
    table
}

/// A row for each side of each transport and way, a column for each name.
fn by_side(figures: &[&Figure], names: &[(&str, &str)]) -> Table {
    let titles =
        ["transport", "over", "side"].into_iter().chain(names.iter().map(|(_, title)| *title));
    let mut table = Table::new(&titles.collect::<Vec<_>>());
    for (transport, way) in ends(figures) {
        for side in ["sender", "receiver"] {
            let is_here = |figure: &&&Figure| {
                label(figure, "transport") == transport
                    && label(figure, "way") == way
                    && label(figure, "side") == side
            };
            let here: Vec<&Figure> = figures.iter().filter(is_here).copied().collect();
            push_values(&mut table, [transport, way, side], &here, names);
        }
    }
    table
}

/// Adds a row with the first figure of each name, unless there is none of any.
fn push_values<const N: usize>(
    table: &mut Table,
    of: [&str; N],
    figures: &[&Figure],
    names: &[(&str, &str)],
) {
    let find = |name: &str| figures.iter().find(|figure| figure.name == name);
    if names.iter().all(|(name, _)| find(name).is_none()) {
        return;
    }
    let values = names.iter().map(|(name, _)| written(find(name).copied()));
    table.push(of.into_iter().map(str::to_owned).chain(values));
}

/// Quantiles of the latency by transport, way and busy polling.
fn latency(figures: &[&Figure]) -> Table {
    let titles = QUANTILES.map(|quantile| format!(">{quantile}"));
    let titles = ["transport", "over", "busy poll"].map(str::to_owned).into_iter().chain(titles);
    let mut table = Table::new(&titles.collect::<Vec<_>>());
    for (transport, way) in ends(figures) {
        let is_here = |figure: &&&Figure| {
            figure.name == "stack.latency"
                && label(figure, "transport") == transport
                && label(figure, "way") == way
        };
        let here: Vec<&Figure> = figures.iter().filter(is_here).copied().collect();
        for poll in values(&here, "busy_poll_us") {
            let cell = |quantile: &str| {
                let found = here.iter().find(|figure| {
                    label(figure, "quantile") == quantile && label(figure, "busy_poll_us") == poll
                });
                short(found.copied())
            };
            let of = [transport.to_owned(), way.to_owned(), busy_poll(poll)];
            table.push(of.into_iter().chain(QUANTILES.map(cell)));
        }
    }
    table
}

/// The clock that a rate needs by source and threads, a column for each way.
fn clock(figures: &[&Figure]) -> Table {
    let is_clock = |figure: &&&Figure| figure.name == "stack.clock_per_rate";
    let clocks: Vec<&Figure> = figures.iter().filter(is_clock).copied().collect();
    let ways = values(&clocks, "way");
    let titles = ways.iter().map(|way| format!(">{way}"));
    let titles = ["source", "threads"].map(str::to_owned).into_iter().chain(titles);
    let mut table = Table::new(&titles.collect::<Vec<_>>());
    for source in values(&clocks, "source_bytes") {
        for streams in values(&clocks, "streams") {
            let cell = |way: &&str| {
                let found = clocks.iter().find(|figure| {
                    label(figure, "source_bytes") == source
                        && label(figure, "streams") == streams
                        && label(figure, "way") == *way
                });
                found.map_or_else(|| "-".into(), |figure| format::plain(&figure.estimate))
            };
            let of = [format::label_size(source), streams.to_owned()];
            table.push(of.into_iter().chain(ways.iter().map(cell)));
        }
    }
    table
}

/// Throughput and cost by the values of one condition.
fn varied(figures: &[&Figure], vary: &str, title: &str) -> Table {
    let of_vary: Vec<&Figure> =
        figures.iter().filter(|figure| label(figure, "vary") == vary).copied().collect();
    let titles =
        ["transport", title, "over", ">throughput", ">sender", ">receiver", ">lost", ">copied"];
    let mut rows = Vec::new();
    for throughput in of_vary.iter().filter(|figure| figure.name == "stack.throughput") {
        let beside = |name: &str, side: &str| {
            let found = of_vary.iter().find(|figure| {
                figure.name == name
                    && label(figure, "side") == side
                    && throughput.labels.iter().all(|(key, value)| label(figure, key) == value)
            });
            short(found.copied())
        };
        let [transport, way] = ["transport", "way"].map(|key| label(throughput, key).to_owned());
        let value = label(throughput, vary);
        let streams = label(throughput, "streams");
        let place =
            (transport.clone(), number(value), value.to_owned(), number(streams), way.clone());
        let cells = [
            transport,
            value_name(vary, throughput),
            way,
            written(Some(throughput)),
            beside("stack.cpu", "sender"),
            beside("stack.cpu", "receiver"),
            beside("stack.loss", ""),
            beside("stack.copied_after_all", ""),
        ];
        rows.push((place, cells));
    }
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    without_empty_columns(&titles, rows.into_iter().map(|(_, cells)| cells).collect())
}

/// A table without the columns that hold nothing but dashes.
fn without_empty_columns<const N: usize>(titles: &[&str; N], rows: Vec<[String; N]>) -> Table {
    let kept: Vec<usize> =
        (0..N).filter(|column| rows.iter().any(|row| row[*column] != "-")).collect();
    let mut table = Table::new(&kept.iter().map(|column| titles[*column]).collect::<Vec<_>>());
    for row in rows {
        table.push(kept.iter().map(|column| row[*column].clone()));
    }
    table
}

/// Counts by message size and side; a page has room for them.
fn counts(figures: &[&Figure]) -> Table {
    let titles = ["transport", "message", "over", "side"];
    let titles = titles.into_iter().chain(COUNTS.map(|(_, title)| title));
    let mut table = Table::new(&titles.collect::<Vec<_>>());
    let first =
        |figure: &&&Figure| figure.name == COUNTS[0].0 && label(figure, "vary") == "message_bytes";
    let mut rows: Vec<&Figure> = figures.iter().filter(first).copied().collect();
    rows.sort_by_key(|figure| {
        let [transport, way, side] = ["transport", "way", "side"].map(|key| label(figure, key));
        (transport, number(label(figure, "message_bytes")), way, side)
    });
    for row in rows {
        let cell = |(name, _): (&str, &str)| {
            let found =
                figures.iter().find(|figure| figure.name == name && figure.labels == row.labels);
            match found {
                Some(figure) if figure.unit == Unit::Count => {
                    format!("{} /MB", format::plain(&figure.estimate))
                }
                other => written(other.copied()),
            }
        };
        let [transport, way, side] =
            ["transport", "way", "side"].map(|key| label(row, key).to_owned());
        let of = [transport, format::label_size(label(row, "message_bytes")), way, side];
        table.push(of.into_iter().chain(COUNTS.map(cell)));
    }
    table
}

/// The value of the varied condition in words.
fn value_name(vary: &str, figure: &Figure) -> String {
    let value = label(figure, vary);
    match vary {
        "source_bytes" => {
            let threads = label(figure, "streams");
            let word = if threads == "1" { "thread" } else { "threads" };
            format!("{}, {threads} {word}", format::label_size(value))
        }
        "streams" => value.to_owned(),
        _ => format::label_size(value),
    }
}

fn busy_poll(micros: &str) -> String {
    if micros == "0" { "off".into() } else { format!("{micros} us") }
}

/// Transports and ways that there are figures of.
fn ends<'a>(figures: &[&'a Figure]) -> Vec<(&'a str, &'a str)> {
    let mut ends: Vec<_> = figures
        .iter()
        .map(|figure| (label(figure, "transport"), label(figure, "way")))
        .filter(|(transport, way)| !transport.is_empty() && !way.is_empty())
        .collect();
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// The different values of a label, numbers in their order.
fn values<'a>(figures: &[&'a Figure], key: &str) -> Vec<&'a str> {
    let mut values: Vec<&str> = figures.iter().map(|figure| label(figure, key)).collect();
    values.sort_by_key(|value| (number(value), *value));
    values.dedup();
    values
}

/// The place of a value among others: nothing comes first, then numbers, then words.
fn number(text: &str) -> u64 {
    if text == "off" { 0 } else { text.parse().unwrap_or(u64::MAX) }
}

fn written(figure: Option<&Figure>) -> String {
    figure.map_or_else(|| "-".into(), |figure| format::estimate(figure.unit, &figure.estimate))
}

/// The value alone: a table has no room for every interval, which the raw figures have.
fn short(figure: Option<&Figure>) -> String {
    figure.map_or_else(|| "-".into(), |figure| format::value(figure.unit, figure.estimate.value))
}

#[cfg(test)]
mod tests {
    use bitpath_measure::Estimate;
    use bitpath_measure::series::{Labels, labels};

    use super::*;

    /// Name, labels, unit and value.
    type Given<'a> = (&'a str, &'a [(&'a str, &'a str)], Unit, f64);

    fn run_with(figures: &[Given<'_>]) -> Run {
        let mut run = Run::begin("probe", "a", "2026-01-01T00:00:00Z", 1);
        for (name, pairs, unit, value) in figures {
            let pairs = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            let labels: Labels = pairs.collect();
            let (name, estimate) = ((*name).to_owned(), Estimate::single(*value));
            run.figures.push(Figure { name, labels, unit: *unit, estimate });
        }
        run
    }

    fn cells(table: &Table) -> Vec<Vec<&str>> {
        table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect()
    }

    #[test]
    fn throughput_stands_beside_the_cost_of_both_sides() {
        let of = [("vary", "streams"), ("transport", "tcp"), ("way", "veth"), ("streams", "8")];
        let side = |side| [of.as_slice(), &[("side", side)]].concat();
        let (sender, receiver) = (side("sender"), side("receiver"));
        let per_byte = Unit::NanosecondsPerByte;
        let run = run_with(&[
            ("stack.throughput", &of, Unit::BytesPerSecond, 5e9),
            ("stack.cpu", &sender, per_byte, 0.25),
            ("stack.cpu", &receiver, per_byte, 0.125),
        ]);
        let figures: Vec<&Figure> = run.figures.iter().collect();
        let table = varied(&figures, "streams", "streams");
        let row = ["tcp", "8", "veth", "5.00 GB/s", "0.250 ns/B", "0.125 ns/B"];
        assert_eq!(cells(&table), [row]);
        assert!(varied(&figures, "path", "path").rows.is_empty());
    }

    #[test]
    fn the_models_own_figures_of_the_stack_are_not_of_flows() {
        let run = run_with(&[("stack.cost", &[("transport", "udp")], Unit::Nanoseconds, 1.0)]);
        assert!(blocks(&run).is_empty());
    }

    #[test]
    fn quantiles_of_a_latency_stand_in_one_row() {
        let of = |quantile| {
            [("transport", "udp"), ("way", "veth"), ("busy_poll_us", "50"), ("quantile", quantile)]
        };
        let (median, longest) = (of("p50"), of("max"));
        let run = run_with(&[
            ("stack.latency", &longest, Unit::Nanoseconds, 9e4),
            ("stack.latency", &median, Unit::Nanoseconds, 12_500.0),
        ]);
        let table = latency(&run.figures.iter().collect::<Vec<_>>());
        assert_eq!(cells(&table), [["udp", "veth", "50 us", "12.5 us", "-", "-", "-", "90.0 us"]]);
    }

    #[test]
    fn labels_of_a_case_are_found_whatever_their_order() {
        let found = labels([("way", "veth"), ("transport", "tcp")]);
        let figure = Figure {
            name: "stack.throughput".into(),
            labels: found,
            unit: Unit::BytesPerSecond,
            estimate: Estimate::single(1.0),
        };
        assert_eq!(ends(&[&figure, &figure]), [("tcp", "veth")]);
    }
}

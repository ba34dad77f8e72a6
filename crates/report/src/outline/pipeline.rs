//! A pipeline of three processes: what each channel lets through, by size of block and number of
//! buffers, beside the table of 2008.

use bitpath_measure::Run;
use bitpath_measure::run::Figure;

use super::{Block, HALF_WIDTH, Picture};
use crate::format;
use crate::plots;
use crate::svg::Plot;
use crate::table::{Table, figures_named, side_by_side};

/// What the figures of a channel say together, and the titles.
const CONCLUSIONS: [(&str, &str); 3] = [
    ("pipeline.best", "best"),
    ("pipeline.of_single", "over a single socket"),
    ("pipeline.gain", "over the Opteron"),
];

/// What stands above the tables.
const WHAT: &str = "Source, filter and sink are processes; each does a trivial pass over every \
    word. First the best of each channel; then what it lets through by size of block and by the \
    number of blocks that it holds, beside the same on an Opteron 175 of 2008 (slides on network \
    performance, rule 8), with a dash where nothing was measured. Pipes and sockets hold more than \
    a few small blocks whatever is asked of them. How much they hold, and the intervals of the \
    medians, stand among the raw numbers.";

/// Beginning of the names of this part's figures.
pub(super) const PART: &str = "pipeline.";

/// The best of each channel, then for each channel its picture and its table.
pub(super) fn blocks(run: &Run) -> Vec<Block> {
    let channels = plots::pipeline_channels(run);
    if channels.is_empty() {
        return Vec::new();
    }
    let best = figures_named(run, &CONCLUSIONS.map(|(name, _)| name));
    let picture = |plot: &Plot| Picture::new(HALF_WIDTH, |width| plot.draw(width));
    let mut blocks = vec![
        Block::Paragraph(WHAT.into()),
        Block::Table(side_by_side(&best, &CONCLUSIONS)),
        Block::Pictures {
            pictures: plots::pipeline(run).iter().map(picture).collect(),
            caption: "Dashed: the Opteron of 2008.".into(),
        },
    ];
    for channel in channels {
        blocks.push(Block::Heading(format!("Over {channel}")));
        blocks.push(Block::Table(table(run, channel)));
    }
    blocks
}

/// A row for each size of block, a column for each number of buffers, here and then.
fn table(run: &Run, channel: &str) -> Table {
    let here = plots::pipeline_columns(run, "pipeline.throughput", Some(channel));
    let then = plots::pipeline_columns(run, "pipeline.published", None);
    let title = |of: &str, buffers: u32| match buffers {
        1 => format!(">{of}1 block"),
        _ => format!(">{of}{buffers} blocks"),
    };
    let titles = here.iter().map(|(buffers, _)| title("", *buffers));
    let titles = titles.chain(then.iter().map(|(buffers, _)| title("2008: ", *buffers)));
    let titles: Vec<String> = std::iter::once("block".to_owned()).chain(titles).collect();
    let columns: Vec<&[&Figure]> =
        here.iter().chain(&then).map(|(_, figures)| figures.as_slice()).collect();
    let mut sizes: Vec<u64> =
        columns.iter().flat_map(|figures| figures.iter().filter_map(block_bytes)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut table = Table::new(&titles);
    for size in sizes {
        let cell = |figures: &&[&Figure]| {
            let is_here = |figure: &&&Figure| block_bytes(figure) == Some(size);
            let value = |figure: &&Figure| format::value(figure.unit, figure.estimate.value);
            figures.iter().find(is_here).map_or_else(|| "-".to_owned(), value)
        };
        let row = std::iter::once(format::label_size(&size.to_string()));
        table.push(row.chain(columns.iter().map(cell)).collect::<Vec<_>>());
    }
    table
}

fn block_bytes(figure: &&Figure) -> Option<u64> {
    figure.labels.get("block_bytes")?.parse().ok()
}

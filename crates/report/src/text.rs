//! The report for a terminal: the answer first, then the tables.

mod layout;

use bitpath_measure::Run;

use crate::outline::{self, Block, Section};
use layout::{Page, plain};

/// Most sentences of the answer on a terminal; the page shows all.
const MAX_SENTENCES: usize = 4;

/// The report in lines of at most `width` letters, where single words and numbers allow it.
///
/// A table that is too wide becomes a list of its rows. Control characters in the record's texts
/// are replaced, so that no record can drive a terminal.
#[must_use]
pub fn render(run: &Run, width: usize) -> String {
    let mut page = Page::new(width);
    opening(&mut page, run);
    for section in outline::sections(run) {
        write_section(&mut page, &section);
    }
    page.finish()
}

/// One line for a list of runs: id, tool, start, complete or partial, headline.
#[must_use]
pub fn line(run: &Run) -> String {
    let state = if run.complete { "complete" } else { "partial" };
    let headline = outline::headline(run);
    plain(&format!("{}  {:<8}  {}  {state:<8}  {headline}", run.id, run.tool, run.started))
}

/// What the run says, in sentences, then what it is.
fn opening(page: &mut Page, run: &Run) {
    if let Some(notice) = outline::partial_notice(run) {
        page.paragraph(&notice);
        page.gap();
    }
    let sentences = run.answer.iter().flat_map(|answer| &answer.sentences);
    for sentence in sentences.take(MAX_SENTENCES) {
        page.paragraph(sentence);
    }
    if run.answer.is_none() {
        page.paragraph(&outline::headline(run));
    }
    page.gap();
    for (name, value) in outline::key_facts(run) {
        page.paragraph(&format!("{name}: {value}"));
    }
    page.gap();
    page.paragraph(&format!(
        "{} {}, {}seed {}, bitpath {}",
        run.tool,
        run.id,
        outline::when(run),
        run.seed,
        run.version
    ));
    if outline::has_intervals(run) {
        page.paragraph(outline::INTERVALS);
    }
}

/// The section without pictures and folds; nothing where nothing else is in it.
fn write_section(page: &mut Page, section: &Section) {
    let shown = |block: &&Block| !matches!(block, Block::Pictures { .. } | Block::Folded { .. });
    let blocks: Vec<_> = section.blocks.iter().filter(shown).collect();
    if blocks.is_empty() {
        return;
    }
    page.title(section.title);
    for block in blocks {
        match block {
            Block::Heading(heading) => page.heading(heading),
            Block::Paragraph(text) => page.paragraph(text),
            Block::List(items) => items.iter().for_each(|item| page.item(item)),
            Block::Table(table) => page.table(table),
            Block::Pictures { .. } | Block::Folded { .. } => {}
        }
    }
}

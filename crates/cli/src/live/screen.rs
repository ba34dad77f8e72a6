//! The screen: a bar for each buffer and a column for each core (sysSIM section 3, GUI mode).
//!
//! ```text
//! time, speed
//! buffers: used [B, frames] of limit
//! cores: load [%], split        lost [packets], delivered [B]
//! payload of each tick [b/s]
//! keys, or what is written, or what was wrong
//! ```

use bitpath_measure::{Picos, Unit};
use bitpath_report::format;
use bitpath_sim::machine::Cause;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Sparkline, Wrap};

use super::course::{Course, Limits, Load};
use super::lines::{self, bytes};
use super::pace::Pace;

/// Everything that a frame shows.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// The scenario's title.
    pub(crate) title: &'a str,
    /// How long peers and processes send.
    pub(crate) duration: Picos,
    /// What the buffers hold at most.
    pub(crate) limits: Limits,
    /// What was seen.
    pub(crate) course: &'a Course,
    /// How fast it goes.
    pub(crate) pace: &'a Pace,
    /// The last line.
    pub(crate) footer: Footer<'a>,
}

/// The last line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Footer<'a> {
    /// The keys.
    Keys,
    /// A change that is being written.
    Entry(&'a str),
    /// What became of the last change.
    Said(&'a str),
}

/// Draws the view, or as much of it as there is room for.
pub(crate) fn draw(frame: &mut Frame<'_>, view: &View<'_>) {
    let area = frame.area();
    if area.width < LEAST_WIDTH || area.height < LEAST_HEIGHT {
        let text = Paragraph::new(lines::line(view.course)).wrap(Wrap { trim: true });
        return frame.render_widget(text, area);
    }
    let footer = footer(view);
    let wrapped = Paragraph::new(footer).wrap(Wrap { trim: true });
    let footer_lines = if matches!(view.footer, Footer::Said(_)) { SAID_LINES } else { 1 };
    let rows = [
        Constraint::Length(2),
        Constraint::Length(6),
        Constraint::Fill(3),
        Constraint::Fill(2),
        Constraint::Length(footer_lines),
    ];
    let [top, buffers, middle, ticks, bottom] = Layout::vertical(rows).areas(area);
    let columns = [Constraint::Fill(1), Constraint::Length(LOSSES_WIDTH)];
    let [cores, losses] = Layout::horizontal(columns).areas(middle);
    frame.render_widget(Paragraph::new(heading(view)), top);
    draw_buffers(frame, buffers, view);
    draw_cores(frame, cores, view.course.loads());
    draw_losses(frame, losses, view.course);
    draw_ticks(frame, ticks, view.course);
    frame.render_widget(wrapped, bottom);
}

fn heading<'a>(view: &View<'a>) -> Vec<Line<'a>> {
    let look = view.course.look();
    let state = match (look.ended, view.pace.is_paused()) {
        (true, _) => "ended",
        (false, true) => "paused",
        (false, false) => "runs",
    };
    let speed = match view.pace.speed() {
        Some(speed) => format!("{speed}x"),
        None => "as fast as it goes".into(),
    };
    let time = format!(
        "{:.6} s of {}  {state}  speed {speed}, reached {:.3}x",
        look.now.as_secs_f64(),
        view.duration,
        view.pace.measured()
    );
    vec![Line::from(view.title.bold()), Line::from(time)]
}

fn draw_buffers(frame: &mut Frame<'_>, area: Rect, view: &View<'_>) {
    let (look, limits) = (view.course.look(), view.limits);
    let most = view.course.most_user_buffer();
    let of = |used, limit| format!("{} of {}", bytes(used), bytes(limit));
    let frames = format!("{} of {} frames", look.ring_frames, limits.ring_frames);
    let buffers = [
        ("line queue", look.line.0, limits.line.0, of(look.line, limits.line)),
        ("NIC ring", look.ring_frames, limits.ring_frames, frames),
        (
            "kernel buffer",
            look.kernel_buffer.0,
            limits.kernel_buffer.0,
            of(look.kernel_buffer, limits.kernel_buffer),
        ),
        (
            "user buffer",
            look.user_buffer.0,
            most.0,
            format!("{}, most {}", bytes(look.user_buffer), bytes(most)),
        ),
    ];
    let width = area.width.saturating_sub(2 + NAME_WIDTH + USED_WIDTH);
    let rows = buffers.map(|(name, used, limit, text)| {
        let share = used as f64 / limit.max(1) as f64;
        let full = name != "user buffer" && share >= NEARLY_FULL;
        let color = if full { Color::Red } else { Color::Cyan };
        Line::from(vec![
            Span::raw(format!("{name:<name_width$}", name_width = usize::from(NAME_WIDTH))),
            Span::styled(bar(share, width), Style::new().fg(color)),
            Span::raw(format!(" {text}")),
        ])
    });
    frame.render_widget(
        Paragraph::new(rows.to_vec()).block(Block::bordered().title("buffers")),
        area,
    );
}

/// A bar of so many columns in steps of an eighth; whatever is not empty shows.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a screen")]
fn bar(share: f64, width: u16) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let width = usize::from(width);
    let steps = (share.clamp(0.0, 1.0) * width as f64 * 8.0) as usize;
    let steps = if share > 0.0 { steps.max(1) } else { 0 };
    let part = EIGHTHS[steps % 8];
    let (full, parts) = (steps / 8, usize::from(!part.is_empty()));
    let empty = width.saturating_sub(full + parts);
    format!("{}{part}{}", "█".repeat(full), "░".repeat(empty))
}

/// A column for each core as far as there is room, softirq at its foot.
fn draw_cores(frame: &mut Frame<'_>, area: Rect, loads: &[Load]) {
    let fit = usize::from(area.width.saturating_sub(2) / CORE_WIDTH);
    let shown = &loads[..loads.len().min(fit)];
    let cut = if shown.len() < loads.len() {
        format!(" ({} of {} shown)", shown.len(), loads.len())
    } else {
        String::new()
    };
    let title = Line::from(vec![
        Span::raw(format!("cores{cut}: ")),
        Span::styled("█", PARTS[2].1),
        Span::raw(" user "),
        Span::styled("▓", PARTS[1].1),
        Span::raw(" kernel "),
        Span::styled("▒", PARTS[0].1),
        Span::raw(" softirq"),
    ]);
    let block = Block::bordered().title(title);
    let height = block.inner(area).height.saturating_sub(1);
    let mut rows: Vec<Line<'_>> = (0..height)
        .rev()
        .map(|cell| shown.iter().map(|load| core_cell(*load, cell, height)).collect())
        .collect();
    let percent = |load: &Load| format!("{:>4} ", format!("{:.0}%", load.total() * 100.0));
    rows.push(Line::from(shown.iter().map(percent).collect::<String>()));
    frame.render_widget(Paragraph::new(rows).block(block), area);
}

/// One cell of a core's column, counted from the foot, whose cell shows the least load.
fn core_cell(load: Load, cell: u16, height: u16) -> Span<'static> {
    let middle = (f64::from(cell) + 0.5) / f64::from(height);
    let level = if cell == 0 { middle.min(load.total() / 2.0) } else { middle };
    let mut upto = 0.0;
    for (share, part) in [load.softirq, load.kernel, load.user].into_iter().zip(PARTS) {
        upto += share;
        if level < upto {
            return Span::styled(part.0, part.1);
        }
    }
    Span::raw("  ·  ").dim()
}

fn draw_losses(frame: &mut Frame<'_>, area: Rect, course: &Course) {
    let look = course.look();
    let count = |name: &str, count: u64| {
        let number = format::value(Unit::Packets, count as f64);
        let line = Line::from(format!("{:<14}{number:>16}", format::words(name)));
        if count > 0 { line.fg(Color::Red) } else { line }
    };
    let mut rows: Vec<Line<'_>> = Cause::ALL
        .into_iter()
        .map(|cause| count(cause.name(), look.drops[cause as usize]))
        .collect();
    rows.push(count("sent again", look.retransmitted));
    rows.push(Line::from(format!("{:<14}{:>16}", "delivered", bytes(look.delivered))));
    frame.render_widget(
        Paragraph::new(rows).block(Block::bordered().title("dropped, delivered")),
        area,
    );
}

/// Payload of the last ticks, the newest at the right.
fn draw_ticks(frame: &mut Frame<'_>, area: Rect, course: &Course) {
    let ticks: Vec<u64> = course.last_ticks(usize::from(area.width.saturating_sub(2))).collect();
    let rate =
        |bytes: Option<u64>| format::value(Unit::BitsPerSecond, course.rate(bytes.unwrap_or(0)));
    let title = format!(
        "throughput {}, top {}, a tick is {}",
        rate(ticks.last().copied()),
        rate(ticks.iter().max().copied()),
        course.tick()
    );
    let sparkline = Sparkline::default().data(ticks).style(Style::new().fg(Color::Green));
    frame.render_widget(sparkline.block(Block::bordered().title(title)), area);
}

fn footer<'a>(view: &View<'a>) -> Line<'a> {
    match view.footer {
        Footer::Entry("") => Line::from(vec![
            Span::raw(": ▏"),
            "key=value, such as machine.line.rate=10 Mb/s; Enter, Esc".dim(),
        ]),
        Footer::Entry(text) => Line::from(format!(": {text}▏")),
        Footer::Said(text) => Line::from(text.bold()),
        Footer::Keys if view.course.look().ended => {
            Line::from("the simulation has ended; any key shows the report".bold())
        }
        Footer::Keys => Line::from("space pause  s step  + - speed  : change a value  q end".dim()),
    }
}

/// The least screen that has room for every part; below it there is a line of text.
const LEAST_WIDTH: u16 = 60;
const LEAST_HEIGHT: u16 = 20;

/// Columns of a buffer's name, of its numbers, and of what was lost.
const NAME_WIDTH: u16 = 14;
const USED_WIDTH: u16 = 26;
const LOSSES_WIDTH: u16 = 32;

/// Columns of a core with the gap behind it.
const CORE_WIDTH: u16 = 5;

/// Lines for what a mistaken change needs to be told.
const SAID_LINES: u16 = 3;

/// Share of a buffer from which on its bar warns.
const NEARLY_FULL: f64 = 0.95;

/// Cells of a core's column: their patterns tell the parts without colours, too.
const PARTS: [(&str, Style); 3] = [
    ("▒▒▒▒ ", Style::new().fg(Color::Red)),
    ("▓▓▓▓ ", Style::new().fg(Color::Yellow)),
    ("████ ", Style::new().fg(Color::Green)),
];

#[cfg(test)]
pub(crate) mod tests {
    use bitpath_measure::ByteCount;
    use bitpath_sim::machine::{Busy, Look};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::live::course::tests::film;

    const MS: u64 = 1_000_000_000;

    /// Sixty-four ticks of a film, the last with something in every part of the screen.
    pub(crate) fn seen() -> Course {
        let mut course = Course::new(&film());
        for tick in 1..=64 {
            let busy = Busy { softirq: MS * tick, kernel: 2 * MS * tick, user: 5 * MS * tick };
            course.see(&Look {
                now: Picos(10 * MS * tick),
                line: ByteCount(1600),
                ring_frames: 3,
                kernel_buffer: ByteCount(39_000),
                user_buffer: ByteCount(6000 + 200 * (tick % 4)),
                cores: vec![busy],
                drops: [0, 1, 0, 13],
                delivered: ByteCount(tick * (tick - 1) / 2 * 40 + 6 * tick),
                retransmitted: 2,
                ended: false,
            });
        }
        course.frame();
        course
    }

    fn screen(width: u16, height: u16, footer: Footer<'_>) -> String {
        let (film, course) = (film(), seen());
        let pace = Pace::watchable(film.machine.duration, course.tick());
        let view = View {
            title: "A film",
            duration: film.machine.duration,
            limits: Limits::of(&film.machine),
            course: &course,
            pace: &pace,
            footer,
        };
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, &view)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn every_component_is_on_a_screen_of_80_by_24() {
        insta::assert_snapshot!(screen(80, 24, Footer::Keys));
    }

    #[test]
    fn a_larger_screen_has_longer_bars() {
        insta::assert_snapshot!(screen(120, 40, Footer::Entry("machine.line.rate=10 M")));
    }

    #[test]
    fn a_mistake_is_shown_below_the_bars() {
        let said = "machine.line.rat=1 Gb/s: unknown field `rat`, expected one of `rate`, `queue`, \
                    `delay`, `loss`, `segment`, `headers`; the nearest keys are machine.line.rate";
        let screen = screen(80, 24, Footer::Said(said));
        assert!(
            screen.contains("unknown field `rat`") && screen.contains("keys are machine.line"),
            "{screen}"
        );
    }

    #[test]
    fn no_screen_is_too_small_or_too_large() {
        insta::assert_snapshot!(screen(20, 5, Footer::Keys));
        for (width, height) in [(1, 1), (60, 20), (59, 50), (200, 3), (500, 200)] {
            screen(width, height, Footer::Entry(""));
        }
    }

    #[test]
    fn a_bar_shows_the_least_byte_and_no_more_than_its_width() {
        for (share, drawn) in [
            (0.0, "░░░░"),
            (1e-9, "▏░░░"),
            (0.5, "██░░"),
            (0.54, "██▏░"),
            (1.0, "████"),
            (1.3, "████"),
        ] {
            assert_eq!(bar(share, 4), drawn);
        }
    }

    #[test]
    fn more_cores_than_fit_are_counted() {
        let mut terminal = Terminal::new(TestBackend::new(40, 6)).unwrap();
        let loads = [Load { softirq: 0.5, kernel: 0.25, user: 0.25 }; 64];
        terminal.draw(|frame| draw_cores(frame, frame.area(), &loads)).unwrap();
        let screen = terminal.backend().to_string();
        assert!(screen.contains("7 of 64 shown") && screen.contains("100% 100%"), "{screen}");
    }
}

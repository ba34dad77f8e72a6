//! Progress bars of a measurement and of a sweep, on standard error and only where that is a
//! terminal.

use bitpath_bench::progress::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// Ticks of the bar in one step.
const TICKS: u64 = 1000;

/// One bar a step.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: Option<ProgressBar>,
    step: Option<usize>,
}

impl Bar {
    /// No bar yet.
    pub(crate) fn new() -> Self {
        Self { bar: None, step: None }
    }

    /// Shows how far the measurement is. Nothing is drawn in between.
    pub(crate) fn show(&mut self, progress: Progress<'_>) {
        if self.step != Some(progress.step) {
            self.finish();
            let bar = ProgressBar::new(TICKS).with_message(progress.doing.to_owned());
            bar.set_style(style());
            bar.set_prefix(format!("{}/{}", progress.step + 1, progress.steps));
            (self.bar, self.step) = (Some(bar), Some(progress.step));
        }
        if let Some(bar) = &self.bar {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of a thousand ticks"
            )]
            bar.set_position((progress.done.clamp(0.0, 1.0) * TICKS as f64) as u64);
            bar.tick();
        }
    }

    /// Leaves the finished step on the screen.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.set_position(TICKS);
            bar.finish();
        }
    }
}

/// One bar for all points of a sweep, with the time that is left.
#[derive(Debug)]
pub(crate) struct Points {
    bar: Option<ProgressBar>,
}

impl Points {
    /// No bar yet.
    pub(crate) fn new() -> Self {
        Self { bar: None }
    }

    /// Shows how many points are done. Those of an earlier run do not count as fast.
    pub(crate) fn show(&mut self, done: usize, points: usize) {
        let bar = self.bar.get_or_insert_with(|| {
            let before = done.saturating_sub(1) as u64;
            let bar = ProgressBar::new(points as u64).with_position(before);
            bar.set_style(points_style());
            bar.reset_eta();
            bar
        });
        bar.set_position(done as u64);
    }

    /// Leaves the bar on the screen.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.abandon();
        }
    }
}

fn points_style() -> ProgressStyle {
    let template = "{pos}/{len} points {bar:30} {elapsed} passed, {eta} left";
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn style() -> ProgressStyle {
    let style = ProgressStyle::with_template("{prefix:>5} {msg:32} {bar:30} {elapsed:>4}");
    style.unwrap_or_else(|_| ProgressStyle::default_bar())
}

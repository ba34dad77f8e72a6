//! The progress bar of a measurement, on standard error and only where that is a terminal.

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

fn style() -> ProgressStyle {
    let style = ProgressStyle::with_template("{prefix:>5} {msg:32} {bar:30} {elapsed:>4}");
    style.unwrap_or_else(|_| ProgressStyle::default_bar())
}

//! Progress bar that is hidden for the first half second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar as IndicatifBar, ProgressDrawTarget, ProgressStyle};
use memoranda_engine::ScanProgress;

use crate::output::Printer;

const SHOW_DELAY: Duration = Duration::from_millis(500);

/// A delayed progress bar.
pub(crate) struct ProgressBar {
    begun: Instant,
    wanted: bool,
    bar: Option<IndicatifBar>,
}

impl ProgressBar {
    /// Creates a progress bar; it stays hidden without a terminal.
    pub(crate) fn new(printer: &Printer) -> Self {
        Self { begun: Instant::now(), wanted: printer.can_show_progress(), bar: None }
    }

    /// Shows the progress of a scan.
    pub(crate) fn update(&mut self, progress: ScanProgress) {
        // A scan is recorded in parts, so that an interrupted one is not lost.
        let counted = "{msg} {bar:30} {pos}/{len}\n\
                       Ctrl-C stops; the next command goes on from there";
        self.draw("Reading notes", counted, progress.done as u64, progress.total as u64);
    }

    /// Shows the progress of an operation in any unit. Without a total nothing is shown.
    pub(crate) fn show(&mut self, doing: &'static str, done: u64, total: u64) {
        self.draw(doing, "{msg} {bar:30} {percent:>3}%", done, total);
    }

    fn draw(&mut self, doing: &'static str, template: &str, done: u64, total: u64) {
        if !self.wanted || total == 0 || self.begun.elapsed() < SHOW_DELAY {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let target = ProgressDrawTarget::stderr_with_hz(10);
            let bar = IndicatifBar::with_draw_target(None, target);
            let style = ProgressStyle::with_template(template);
            style.map(|style| bar.set_style(style)).ok();
            bar.set_message(doing);
            bar
        });
        bar.set_length(total);
        bar.set_position(done);
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

//! Progress bars on a terminal for what does not end at once, and the time each stage took.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use cuzk_core::progress::{Observer, Progress, Stage};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Nothing is drawn before this: what is over in a blink leaves no flicker, and everything over a second has its bar long before.
const PATIENCE: Duration = Duration::from_millis(100);

/// The observer of every command.
pub struct Bars {
    multi: Option<MultiProgress>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: Vec<(Stage, Instant, ProgressBar)>,
    done: Vec<(Stage, Duration)>,
}

impl Bars {
    /// Draws on stderr if that is a terminal and the user did not ask for quiet.
    pub fn new(quiet: bool) -> Self {
        let draw = !quiet && std::io::stderr().is_terminal();
        let multi = draw.then(|| MultiProgress::with_draw_target(ProgressDrawTarget::hidden()));
        if let Some(multi) = multi.clone() {
            // A stage that reports nothing for a while must still become visible.
            std::thread::spawn(move || {
                std::thread::sleep(PATIENCE);
                multi.set_draw_target(ProgressDrawTarget::stderr());
            });
        }
        Self { multi, state: Mutex::default() }
    }

    /// Time of each stage so far, in order of their end; a stage that ran several times is added up.
    pub fn timings(&self) -> Vec<(Stage, Duration)> {
        self.state.lock().map(|state| state.done.clone()).unwrap_or_default()
    }

    /// Writes a line without disturbing what is drawn.
    pub fn around<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.multi {
            Some(multi) => multi.suspend(write),
            None => write(),
        }
    }

    /// Removes whatever is drawn.
    pub fn clear(&self) {
        if let Some(multi) = &self.multi {
            // A terminal that cannot be cleared has no use for an error.
            let _ = multi.clear();
        }
    }

    fn bar(&self, stage: Stage, total: u64) -> ProgressBar {
        let Some(multi) = &self.multi else { return ProgressBar::hidden() };
        // Hidden until it belongs to the others: a bar of its own would draw as soon as it has a message.
        let bar = ProgressBar::with_draw_target((total > 1).then_some(total), ProgressDrawTarget::hidden());
        let template = if total > 1 {
            "{msg:<16} [{bar:32}] {percent:>3}% {elapsed} (about {eta} left)"
        } else {
            "{msg:<16} {spinner} {elapsed}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        let bar = multi.add(bar);
        bar.set_message(label(stage));
        bar.enable_steady_tick(Duration::from_millis(120));
        bar
    }
}

impl State {
    fn begin(&mut self, stage: Stage, at: Instant, bar: ProgressBar) {
        self.running.push((stage, at, bar));
    }

    fn end(&mut self, stage: Stage, at: Instant, device: Option<Duration>) {
        let Some(index) = self.running.iter().rposition(|(running, ..)| *running == stage) else { return };
        let (_, from, bar) = self.running.remove(index);
        bar.finish_and_clear();
        let took = device.unwrap_or_else(|| at.saturating_duration_since(from));
        match self.done.iter_mut().find(|(known, _)| *known == stage) {
            Some((_, sum)) => *sum += took,
            None => self.done.push((stage, took)),
        }
    }
}

impl Observer for Bars {
    fn event(&self, stage: Stage, progress: Progress, at: Instant) {
        let Ok(mut state) = self.state.lock() else { return };
        match progress {
            Progress::Begin { total } => {
                let bar = self.bar(stage, total);
                state.begin(stage, at, bar);
            }
            Progress::Advance { done } => {
                if let Some((.., bar)) = state.running.iter().rev().find(|(running, ..)| *running == stage) {
                    bar.set_position(done);
                }
            }
            Progress::End { device } => state.end(stage, at, device),
        }
    }
}

/// For people.
fn label(stage: Stage) -> &'static str {
    match stage {
        Stage::Read => "reading files",
        Stage::CheckPoints => "checking key",
        Stage::LoadKey => "loading key",
        Stage::Synthesise => "making witness",
        Stage::Upload => "moving witness",
        Stage::Spmv => "matrix products",
        Stage::Quotient => "quotient",
        Stage::WitnessMsms => "witness sums",
        Stage::HMsm => "quotient sum",
        Stage::Finish => "assembling",
        Stage::Verify => "verifying",
        Stage::Setup => "making key",
        Stage::Check => "checking witness",
        other => other.name(),
    }
}

/// Now, in UTC, to the second: "2026-01-31T12:00:00Z".
pub fn date() -> String {
    let now = jiff::Timestamp::now();
    now.round(jiff::Unit::Second).unwrap_or(now).to_string()
}

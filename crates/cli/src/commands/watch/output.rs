//! Output of a watch: live in a terminal, or as lines.

use crate::context;
use anyhow::Result;
use fsarena_metrics::monotonic_ns;
use fsarena_model::visible;
use fsarena_watch::{
    Key, Screen, State, Theme, Tick, Watcher, Woken, head_line, json_line, plain_line,
};
use rustix::thread::{NanosleepRelativeResult, nanosleep};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A signal is noticed after this at the latest; usually it ends the wait at once.
const SIGNAL_WAIT: Duration = Duration::from_millis(500);
/// The watch's own share of CPU time means little before this, ns.
const COST_SETTLED_NS: u64 = 5_000_000_000;
/// A terminal's wait goes on through signals.
const LIVE_SIGNAL_WAIT: Duration = Duration::from_millis(250);

/// Shows a watch, and waits for the next sample.
pub(super) trait Output {
    /// Shows a sample.
    ///
    /// # Errors
    /// If the terminal or the reader of standard output is gone.
    fn show(&mut self, tick: Tick, watcher: &Watcher) -> Result<()>;

    /// Waits until then; `false` if the watch is to end.
    ///
    /// # Errors
    /// If the terminal or the reader of standard output is gone.
    fn wait(&mut self, until_ns: u64, stop: &AtomicBool) -> Result<bool>;
}

/// One line for each sample, on standard output.
pub(super) struct LineOutput {
    json: bool,
}

impl LineOutput {
    pub(super) fn open(json: bool) -> Result<Self> {
        if !json {
            context::print(&head_line())?;
        }
        Ok(Self { json })
    }
}

impl Output for LineOutput {
    fn show(&mut self, tick: Tick, _watcher: &Watcher) -> Result<()> {
        // The first sample has no interval before it.
        if tick.t_ns == 0 {
            return Ok(());
        }
        match self.json {
            true => context::print(&visible::json(&json_line(&tick))),
            false => context::print(&plain_line(&tick)),
        }
    }

    fn wait(&mut self, until_ns: u64, stop: &AtomicBool) -> Result<bool> {
        while !is_stopped(stop) {
            let left = until_ns.saturating_sub(monotonic_ns());
            if left == 0 {
                return Ok(true);
            }
            let most = Duration::from_nanos(left).min(SIGNAL_WAIT);
            let time = rustix::time::Timespec {
                tv_sec: i64::try_from(most.as_secs()).unwrap_or(1),
                tv_nsec: most.subsec_nanos().into(),
            };
            // A signal ends it early, and the flag is looked at again.
            let (NanosleepRelativeResult::Ok
            | NanosleepRelativeResult::Interrupted(_)
            | NanosleepRelativeResult::Err(_)) = nanosleep(&time);
        }
        Ok(false)
    }
}

/// The live display in a terminal.
pub(super) struct LiveOutput {
    screen: Screen,
    state: State,
    /// What is shown while the display is paused.
    held: Option<State>,
}

impl LiveOutput {
    pub(super) fn open(state: State) -> Result<Self> {
        let style = context::style();
        let screen = Screen::open(Theme { colour: style.colour, blocks: style.bars })?;
        Ok(Self { screen, state, held: None })
    }

    fn draw(&mut self) -> Result<()> {
        let shown = self.held.as_ref().unwrap_or(&self.state);
        Ok(self.screen.draw(shown)?)
    }

    fn press(&mut self, key: Key) {
        match key {
            // Handled by `wait`.
            Key::Quit => {}
            Key::Pause => {
                self.held = match self.held {
                    Some(_) => None,
                    None => Some(self.state.held()),
                };
            }
            Key::Help => self.state.has_help = !self.state.has_help,
            Key::Other => self.state.has_help = false,
        }
        if let Some(held) = &mut self.held {
            held.has_help = self.state.has_help;
        }
    }
}

impl Output for LiveOutput {
    fn show(&mut self, tick: Tick, watcher: &Watcher) -> Result<()> {
        let cost = watcher.cost();
        // Before that it is the cost of the beginning.
        self.state.own_share = cost.share().filter(|_| cost.wall_ns >= COST_SETTLED_NS);
        if let Some(error) = watcher.journal_error() {
            self.state.said = Some(format!("samples are no longer saved to disk: {error}"));
        }
        self.state.add(&tick);
        // A paused display does not change.
        if self.held.is_none() { self.draw() } else { Ok(()) }
    }

    fn wait(&mut self, until_ns: u64, stop: &AtomicBool) -> Result<bool> {
        while !is_stopped(stop) {
            let left = until_ns.saturating_sub(monotonic_ns());
            if left == 0 {
                return Ok(true);
            }
            // The terminal counts in whole milliseconds, and 0 would not wait at all.
            let left = Duration::from_nanos(left).max(Duration::from_millis(1));
            match self.screen.wait(left.min(LIVE_SIGNAL_WAIT))? {
                Woken::Time => {}
                Woken::Key(Key::Quit) => return Ok(false),
                Woken::Key(key) => {
                    self.press(key);
                    self.draw()?;
                }
                Woken::Resized => self.draw()?,
            }
        }
        Ok(false)
    }
}

/// Whether a signal asked the watch to end.
fn is_stopped(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}

//! `terminal`: the terminal of the program goes away, as when a window is closed or ssh loses its
//! connection.

use crate::chaos::draw::Draw;
use crate::chaos::kind::{Act, Disturbance, Here, Kind, Setting};
use crate::chaos::live::{Live, Start};
use crate::chaos::moment::Moment;
use crate::chaos::shape::Shape;
use anyhow::Result;
use fsarena_process::cmd::{find, why_missing};
use rustix::process::Signal;

pub(super) const KIND: Kind =
    Kind { name: "terminal", help: "the terminal goes away", weight: 1, unfit: |_| None, draw };

struct NoTerminal {
    moment: Moment,
    /// Whether what it says goes there as well.
    is_stderr: bool,
}

fn draw(draw: &Draw, shape: &Shape) -> Box<dyn Disturbance> {
    let moment = Moment::draw(draw, shape);
    // On a terminal trials are shown as a bar, and not line by line.
    let is_stderr = draw.once_in("stderr", 2) && !matches!(moment, Moment::Trial { .. });
    Box::new(NoTerminal { moment, is_stderr })
}

impl Disturbance for NoTerminal {
    fn victim(&self) -> String {
        if self.is_stderr { "terminal, stderr" } else { "terminal" }.to_owned()
    }

    fn fault(&self) -> String {
        "hung up".to_owned()
    }

    fn describe(&self) -> String {
        format!("the {} is hung up {}", self.victim(), self.moment)
    }

    fn why_not(&self, _here: &Here) -> Option<String> {
        find("setsid").is_none().then(|| why_missing("setsid"))
    }

    fn prepare(&mut self, setting: &mut Setting, start: &mut Start) -> Result<()> {
        start.terminal = Some(self.is_stderr);
        start.through = vec!["setsid".to_owned(), "--ctty".to_owned()];
        start.variables.extend(self.moment.variable(&setting.fixture));
        Ok(())
    }

    fn act(&mut self, live: &mut Live) -> Result<Act> {
        let met = self.moment.wait(live)?;
        live.hang_up();
        self.moment.release(&live.fixture)?;
        Ok(if met { Act::Done } else { Act::Missed })
    }

    fn hides_words(&self) -> bool {
        self.is_stderr
    }

    fn may_end_by(&self) -> Vec<i32> {
        vec![Signal::HUP.as_raw()]
    }
}

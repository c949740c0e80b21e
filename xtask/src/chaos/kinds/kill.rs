//! `kill`: one signal to one process, a group, or everything.

use crate::chaos::draw::Draw;
use crate::chaos::kind::{Act, Demand, Disturbance, Kind, Setting};
use crate::chaos::live::{Live, Start};
use crate::chaos::moment::Moment;
use crate::chaos::shape::Shape;
use crate::chaos::victim::{SIGNALS, Victim};
use anyhow::Result;
use rustix::process::Signal;
use std::time::Duration;

/// What is not there within this time is not there in this RUN.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) const KIND: Kind = Kind {
    name: "kill",
    help: "a signal to one process, a group, or everything",
    weight: 6,
    unfit: |_| None,
    draw,
};

struct Kill {
    victim: Victim,
    signal: (Signal, &'static str),
    moment: Moment,
    /// Whether a part that is killed is not done again, or a trial may fail for a late disk.
    may_fail: bool,
}

fn draw(draw: &Draw, shape: &Shape) -> Box<dyn Disturbance> {
    // KILL leaves nothing to the program: it is half of all.
    let signal = if draw.once_in("KILL", 2) { SIGNALS[0] } else { draw.one_of("signal", SIGNALS) };
    Box::new(Kill {
        victim: draw.one_of("victim", &Victim::all(shape.nature.victims)),
        signal,
        moment: Moment::draw(draw, shape),
        may_fail: shape.nature.may_fail,
    })
}

impl Disturbance for Kill {
    fn victim(&self) -> String {
        self.victim.name().to_owned()
    }

    fn fault(&self) -> String {
        self.signal.1.to_owned()
    }

    fn describe(&self) -> String {
        format!("{} to the {} {}", self.signal.1, self.victim.name(), self.moment)
    }

    fn prepare(&mut self, setting: &mut Setting, start: &mut Start) -> Result<()> {
        start.variables.extend(self.moment.variable(&setting.fixture));
        Ok(())
    }

    fn act(&mut self, live: &mut Live) -> Result<Act> {
        let met = self.moment.wait(live)?
            && live
                .poll(PATIENCE, |live| self.victim.signal(live, self.signal.0).then_some(()))?
                .is_some();
        self.moment.release(&live.fixture)?;
        Ok(if met { Act::Done } else { Act::Missed })
    }

    fn demand(&self) -> Demand {
        // Such a trial is done again, and a signal that nobody dies of changes nothing.
        let is_part = matches!(
            self.victim,
            Victim::Executor
                | Victim::InnerExecutor
                | Victim::Worker
                | Victim::VirtualExecutor
                | Victim::Guest
        );
        match self.signal.0 {
            Signal::KILL if is_part && !self.may_fail => Demand::AllDone,
            _ => Demand::Documented,
        }
    }

    fn may_end_by(&self) -> Vec<i32> {
        let own = self.victim.includes_runner();
        own.then(|| self.signal.0.as_raw()).into_iter().collect()
    }
}

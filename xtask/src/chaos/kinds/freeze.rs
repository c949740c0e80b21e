//! `freeze`: a process is stopped for a while, as by Ctrl-Z, a debugger or a machine that sleeps.

use crate::chaos::draw::Draw;
use crate::chaos::kind::{Act, Demand, Disturbance, Kind, Setting};
use crate::chaos::live::{Live, Start};
use crate::chaos::moment::Moment;
use crate::chaos::shape::Shape;
use crate::chaos::victim::Victim;
use anyhow::Result;
use rustix::process::{Pid, Signal, kill_process};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(2);

pub(super) const KIND: Kind = Kind {
    name: "freeze",
    help: "a process is stopped for a while",
    weight: 1,
    unfit: |nature| nature.is_long.then_some("it ends nothing, and all of it takes minutes"),
    draw,
};

struct Freeze {
    victim: Victim,
    moment: Moment,
    ms: u64,
    may_fail: bool,
}

fn draw(draw: &Draw, shape: &Shape) -> Box<dyn Disturbance> {
    let mut victims = Victim::all(shape.nature.victims);
    victims.retain(|victim| *victim != Victim::Group);
    Box::new(Freeze {
        victim: draw.one_of("victim", &victims),
        moment: Moment::draw(draw, shape),
        ms: draw.between("length", 10, 3000),
        may_fail: shape.nature.may_fail,
    })
}

/// Gone already is as good.
fn send(pid: Pid, signal: Signal) {
    let _ = kill_process(pid, signal);
}

impl Disturbance for Freeze {
    fn victim(&self) -> String {
        self.victim.name().to_owned()
    }

    fn fault(&self) -> String {
        "STOP CONT".to_owned()
    }

    fn describe(&self) -> String {
        format!("the {} is stopped for {} ms {}", self.victim.name(), self.ms, self.moment)
    }

    fn prepare(&mut self, setting: &mut Setting, start: &mut Start) -> Result<()> {
        start.variables.extend(self.moment.variable(&setting.fixture));
        Ok(())
    }

    fn act(&mut self, live: &mut Live) -> Result<Act> {
        let stop = |live: &Live| {
            let found = self.victim.find(live);
            found.iter().for_each(|pid| send(*pid, Signal::STOP));
            (!found.is_empty()).then_some(found)
        };
        let met = if self.moment.wait(live)? { live.poll(PATIENCE, stop)? } else { None };
        self.moment.release(&live.fixture)?;
        let Some(stopped) = met else { return Ok(Act::Missed) };
        let waited = live.work_for(Duration::from_millis(self.ms));
        stopped.iter().for_each(|pid| send(*pid, Signal::CONT));
        waited.map(|_| Act::Done)
    }

    fn demand(&self) -> Demand {
        if self.may_fail { Demand::Documented } else { Demand::AllDone }
    }
}

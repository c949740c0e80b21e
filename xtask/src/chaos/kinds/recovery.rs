//! `recovery`: a start is killed, and then what cleans up after it, some times in a row.

use crate::chaos::draw::Draw;
use crate::chaos::kind::{Act, Disturbance, Kind, Setting};
use crate::chaos::live::{Live, Start};
use crate::chaos::moment::Moment;
use crate::chaos::shape::Shape;
use crate::chaos::victim::Victim;
use anyhow::Result;
use rustix::process::Signal;
use std::time::Duration;

/// A start that cleans up begins with that, within this time.
const CLEANS_UP_MS: u64 = 120;

pub(super) const KIND: Kind = Kind {
    name: "recovery",
    help: "it is killed, and then the starts that clean up after it",
    weight: 2,
    unfit: |_| None,
    draw,
};

struct Recovery {
    victim: Victim,
    moment: Moment,
    /// When each of the starts that clean up is killed.
    killed_after_ms: Vec<u64>,
    is_again: bool,
}

fn draw(draw: &Draw, shape: &Shape) -> Box<dyn Disturbance> {
    let times = draw.index("times", 3) + 1;
    let when = |time: usize| draw.between(&format!("kill {time}"), 0, CLEANS_UP_MS);
    Box::new(Recovery {
        victim: draw.one_of("victim", &[Victim::Runner, Victim::Everything]),
        moment: Moment::draw(draw, shape),
        killed_after_ms: (0..times).map(when).collect(),
        is_again: draw.once_in("resume", 2),
    })
}

impl Disturbance for Recovery {
    fn victim(&self) -> String {
        let next = if self.is_again { "again" } else { "list" };
        format!("{} + {next}", self.victim.name())
    }

    fn fault(&self) -> String {
        "KILL".to_owned()
    }

    fn describe(&self) -> String {
        let times: Vec<String> = self.killed_after_ms.iter().map(u64::to_string).collect();
        format!("KILL to {} {}, after {} ms", self.victim(), self.moment, times.join(", "))
    }

    fn prepare(&mut self, setting: &mut Setting, start: &mut Start) -> Result<()> {
        start.variables.extend(self.moment.variable(&setting.fixture));
        Ok(())
    }

    fn act(&mut self, live: &mut Live) -> Result<Act> {
        let met = self.moment.wait(live)? && self.victim.signal(live, Signal::KILL);
        self.moment.release(&live.fixture)?;
        Ok(if met { Act::Done } else { Act::Missed })
    }

    fn after_end(&mut self, setting: &Setting) -> Result<()> {
        let list = ["list".to_owned()];
        let args: &[String] = if self.is_again { &setting.again } else { &list };
        for (time, ms) in self.killed_after_ms.iter().enumerate() {
            let start = setting.start(args);
            let name = format!("killed-{}", time + 1);
            let mut live = start.begin(&setting.fixture, &name, &setting.stop)?;
            if live.work_for(Duration::from_millis(*ms))? {
                Victim::Runner.signal(&live, Signal::KILL);
            }
            live.end()?;
        }
        Ok(())
    }

    fn may_end_by(&self) -> Vec<i32> {
        vec![Signal::KILL.as_raw()]
    }
}

//! `two`: two processes of a start are killed at one time, so that neither can take down for the
//! other.

use crate::chaos::draw::Draw;
use crate::chaos::kind::{Act, Disturbance, Kind, Setting};
use crate::chaos::live::{Live, Start};
use crate::chaos::moment::Moment;
use crate::chaos::shape::Shape;
use crate::chaos::victim::Victim;
use anyhow::Result;
use rustix::process::Signal;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(2);

pub(super) const KIND: Kind = Kind {
    name: "two",
    help: "two processes killed at one time",
    weight: 2,
    unfit: |nature| nature.victims.is_empty().then_some("it is one process"),
    draw,
};

struct TwoAtOnce {
    victims: Vec<Victim>,
    moment: Moment,
}

fn draw(draw: &Draw, shape: &Shape) -> Box<dyn Disturbance> {
    let mut all = Victim::all(shape.nature.victims);
    // Each of these is two already.
    all.retain(|victim| !matches!(victim, Victim::Group | Victim::Everything));
    let mut victims = draw.shuffled("victims", &all);
    victims.truncate(2);
    let moment = Moment::draw(draw, shape);
    Box::new(TwoAtOnce { victims, moment })
}

impl Disturbance for TwoAtOnce {
    fn victim(&self) -> String {
        self.victims.iter().map(|victim| victim.name()).collect::<Vec<_>>().join(" + ")
    }

    fn fault(&self) -> String {
        "KILL".to_owned()
    }

    fn describe(&self) -> String {
        format!("KILL to {} {}", self.victim(), self.moment)
    }

    fn prepare(&mut self, setting: &mut Setting, start: &mut Start) -> Result<()> {
        start.variables.extend(self.moment.variable(&setting.fixture));
        Ok(())
    }

    fn act(&mut self, live: &mut Live) -> Result<Act> {
        let victims = &self.victims;
        let both_are_there =
            |live: &Live| victims.iter().all(|one| !one.find(live).is_empty()).then_some(());
        let met = self.moment.wait(live)? && live.poll(PATIENCE, both_are_there)?.is_some();
        if met {
            for victim in victims {
                victim.signal(live, Signal::KILL);
            }
        }
        self.moment.release(&live.fixture)?;
        Ok(if met { Act::Done } else { Act::Missed })
    }

    fn may_end_by(&self) -> Vec<i32> {
        let own = self.victims.iter().any(|victim| victim.includes_runner());
        own.then(|| Signal::KILL.as_raw()).into_iter().collect()
    }
}

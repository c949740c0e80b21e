//! `memory`: a start has less memory than it needs, by a cgroup around all of it. The kernel ends
//! whichever of its processes it likes.

use crate::chaos::draw::Draw;
use crate::chaos::kind::{Act, Disturbance, Here, Kind, Setting};
use crate::chaos::live::{Live, Start};
use crate::chaos::shape::Shape;
use anyhow::{Result, anyhow};
use fsarena_executor::cgroup::{Hierarchy, MemoryCgroup};
use rustix::process::Signal;
use std::fs;
use std::time::{Duration, Instant};

/// How long it may take until it ends, or gets along.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) const KIND: Kind = Kind {
    name: "memory",
    help: "less memory than the work needs, by a cgroup",
    weight: 1,
    unfit: |_| None,
    draw,
};

struct OutOfMemory {
    limit_mib: u64,
    cgroup: Option<MemoryCgroup>,
}

fn draw(draw: &Draw, _shape: &Shape) -> Box<dyn Disturbance> {
    Box::new(OutOfMemory { limit_mib: draw.between("limit", 24, 160), cgroup: None })
}

fn hierarchy() -> Result<Hierarchy, String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").map_err(|error| error.to_string())?;
    Hierarchy::find(&mounts)
}

impl Disturbance for OutOfMemory {
    fn victim(&self) -> String {
        "memory".to_owned()
    }

    fn fault(&self) -> String {
        "limited".to_owned()
    }

    fn describe(&self) -> String {
        format!("all of it has {} MiB of memory", self.limit_mib)
    }

    fn why_not(&self, _here: &Here) -> Option<String> {
        if !rustix::process::geteuid().is_root() {
            return Some("needs root, for a cgroup".to_owned());
        }
        hierarchy().err()
    }

    fn prepare(&mut self, setting: &mut Setting, start: &mut Start) -> Result<()> {
        let hierarchy = hierarchy().map_err(|reason| anyhow!(reason))?;
        let name = format!("fsarena-chaos-{}", setting.number);
        let cgroup =
            hierarchy.create(&name, self.limit_mib << 20).map_err(|reason| anyhow!(reason))?;
        let script = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", cgroup.path().display());
        start.through = ["sh", "-c", &script, "sh"].map(str::to_owned).to_vec();
        self.cgroup = Some(cgroup);
        Ok(())
    }

    fn act(&mut self, live: &mut Live) -> Result<Act> {
        // It has had too little from its beginning on.
        live.poll(PATIENCE, |_| None::<()>)?;
        Ok(Act::Done)
    }

    fn after_end(&mut self, setting: &Setting) -> Result<()> {
        // Whoever is killed takes its children along, a moment later.
        let deadline = Instant::now() + PATIENCE;
        while !setting.fixture.processes().is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.cgroup = None;
        Ok(())
    }

    fn may_end_by(&self) -> Vec<i32> {
        vec![Signal::KILL.as_raw()]
    }
}

//! Many RUNs from a real one: what a database would have after months.

use anyhow::{Context as _, Result, ensure};
use fsarena_model::contender::Contender;
use fsarena_model::record::{PhaseRecord, TrialRecord};
use fsarena_model::run::{RunHeader, RunSession, RunState, Slot};
use fsarena_model::seed::Seed;
use fsarena_model::spec::TrialKey;
use fsarena_model::verdict::{InterimAnalysis, Rule, Stop, StopWhy};
use fsarena_store::{Owner, Store};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const HOUR_NS: u64 = 3600 * 1_000_000_000;
/// RUNs of one boot, of one kernel, of one version, and of one level of the figures.
const OF_BOOT: u32 = 5;
const OF_KERNEL: u32 = 200;
const OF_VERSION: u32 = 700;
const OF_LEVEL: u32 = 500;
/// Of the RUN of many contenders.
const WIDE: u32 = 40;
const WIDE_BLOCKS: u32 = 20;

/// Whether time series are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Series {
    Kept,
    Left,
}

/// A RUN that was carried out, of two contenders and four blocks.
pub(super) struct RealRun {
    header: RunHeader,
    sessions: Vec<RunSession>,
    records: Vec<TrialRecord>,
    looks: Vec<InterimAnalysis>,
    stop: Option<Stop>,
}

impl RealRun {
    /// Carries it out in a directory below `dir`.
    pub(super) fn carry_out(program: &Path, dir: &Path) -> Result<Self> {
        let target = dir.join("target");
        fs::create_dir(&target)?;
        let mut command = Command::new(program);
        command.current_dir(dir).args(["--db", "real.db", "run", "--on"]).arg(&target);
        command.args(["--workload", "small-files", "--scale", "0.02", "--handicap", "0ms,1ms"]);
        command.args(["--runs", "4", "--no-report", "-q"]);
        command.env("FSARENA_STATE_DIR", dir.join("state")).stdin(Stdio::null());
        let output = command.output().context("the program")?;
        let said = String::from_utf8_lossy(&output.stderr);
        // 4: nothing was decided by so few blocks.
        ensure!(matches!(output.status.code(), Some(0 | 4)), "run: {}: {said}", output.status);
        let store = Store::open_read_only(&dir.join("real.db"))?;
        let run = store.find("latest")?;
        Ok(Self {
            header: store.header(run)?,
            sessions: store.sessions(run)?,
            records: store.records(run)?,
            looks: store.looks(run)?,
            stop: store.stop(run)?,
        })
    }

    /// Stores it so often, an hour apart; the number of trials.
    pub(super) fn store_copies(&self, path: &Path, runs: u32, series: Series) -> Result<usize> {
        let store = Store::open(path)?;
        let seed = Seed::from_number(2007);
        for number in 0..runs {
            let copy = self.copy(number, &seed.child("run", u64::from(number)), series);
            copy.store(&store)?;
        }
        Ok(runs as usize * self.records.len())
    }

    /// One of the copies.
    fn copy(&self, number: u32, seed: &Seed, series: Series) -> Self {
        let later_ns = HOUR_NS * u64::from(number);
        let mut header = self.header.clone();
        header.uid = format!("{:016x}", seed.tag());
        header.title = format!("commit {number}");
        header.created_unix_ns += later_ns;
        header.program_version = format!("0.{}.0", number / OF_VERSION);
        header.host.kernel_release = format!("6.{}.0", number / OF_KERNEL);
        header.host.boot_id = format!("boot-{}", number / OF_BOOT);
        let session = |session: &RunSession| RunSession {
            started_unix_ns: session.started_unix_ns + later_ns,
            boot_id: header.host.boot_id.clone(),
            ..session.clone()
        };
        let sessions = self.sessions.iter().map(session).collect();
        let look = |look: &InterimAnalysis| InterimAnalysis {
            at_unix_ns: look.at_unix_ns + later_ns,
            ..look.clone()
        };
        let looks = self.looks.iter().map(look).collect();
        let mut random = seed.rng();
        let record = |record: &TrialRecord| {
            let mut record = record.clone();
            record.key.run.clone_from(&header.uid);
            record.started_unix_ns += later_ns;
            // 3 % up and down, and a fifth more at every second level.
            let permille = 970 + random.below(61) + 200 * u64::from(number / OF_LEVEL % 2);
            for phase in &mut record.phases {
                phase.started_unix_ns += later_ns;
                lengthen(phase, permille);
                if series == Series::Left {
                    phase.series = None;
                }
            }
            record
        };
        let records = self.records.iter().map(record).collect();
        Self { header, sessions, records, looks, stop: self.stop }
    }

    /// Stores a RUN of many contenders, each a replicate of the first; the number of its trials.
    pub(super) fn store_wide(&self, path: &Path) -> Result<usize> {
        let mut header = self.header.clone();
        header.uid = format!("{:016x}", Seed::from_number(40).tag());
        header.created_unix_ns += HOUR_NS * 10_000;
        let first = header.plan.contenders[0].clone();
        let contender = |replicate: u32| Contender {
            label: format!("{}#{replicate}", first.label),
            replicate,
            ..first.clone()
        };
        header.plan.contenders = (1..=WIDE).map(contender).collect();
        let slots = (0..WIDE_BLOCKS).flat_map(|block| {
            let slot = move |position: u32| Slot {
                block,
                position,
                contender: position as usize,
                workload: 0,
            };
            (0..WIDE).map(slot)
        });
        header.plan.schedule = slots.collect();
        header.plan.blocks = WIDE_BLOCKS;
        if let Some(ask) = &mut header.plan.verdict {
            ask.rule = Rule::Fixed { blocks: WIDE_BLOCKS };
        }
        let records = (0..WIDE * WIDE_BLOCKS).zip(self.records.iter().cycle());
        let record = |(sequence, record): (u32, &TrialRecord)| TrialRecord {
            key: TrialKey::new(&header, sequence),
            ..record.clone()
        };
        let records: Vec<TrialRecord> = records.map(record).collect();
        let trials = records.len();
        let stop = self.stop.map(|_| Stop { blocks: WIDE_BLOCKS, why: StopWhy::Cap });
        let wide = Self { header, sessions: self.sessions.clone(), records, looks: vec![], stop };
        wide.store(&Store::open(path)?)?;
        Ok(trials)
    }

    fn store(&self, store: &Store) -> Result<()> {
        let nobody = Owner { pid: 0, start_ticks: 0, boot_id: String::new() };
        let run = store.create_run(&self.header, &nobody)?;
        self.sessions.iter().try_for_each(|session| store.put_session(run, session))?;
        store.put_records(run, &self.records)?;
        self.looks.iter().try_for_each(|look| store.put_look(run, look))?;
        if let Some(stop) = self.stop {
            store.set_stop(run, stop)?;
        }
        Ok(store.set_state(run, RunState::Done, None)?)
    }
}

fn lengthen(phase: &mut PhaseRecord, permille: u64) {
    let clocks = &mut phase.clocks;
    for ns in [Some(&mut clocks.returned_ns), clocks.durable_ns.as_mut()].into_iter().flatten() {
        *ns = *ns / 1000 * permille;
    }
}

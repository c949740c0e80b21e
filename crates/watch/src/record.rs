//! A watch session as a RUN of its own kind: one contender (the device), one workload (the
//! application, whatever it was), one trial without `durable`, and no question. It takes part in no
//! verdict.

use crate::target::WatchTarget;
use fsarena_metrics::{Samples, Snapshot, delta, series};
use fsarena_model::contender::{Cache, Contender, DeviceLevel, FsLevel, Levels, WATCH};
use fsarena_model::host::Host;
use fsarena_model::record::{
    CacheRecord, Clocks, Effective, Notice, Outcome, PhaseRecord, Rank, TrialRecord, Window,
};
use fsarena_model::run::{Clock, RateStyle, RunHeader, RunPlan, RunState, Slot};
use fsarena_model::sample::SamplerCost;
use fsarena_model::seed::Seed;
use fsarena_model::spec::TrialKey;
use fsarena_model::units::Nanos;
use fsarena_model::work::{Dataset, Op, Phase, Workload};
use std::collections::BTreeMap;

/// Name of the experiment of a watched RUN.
pub const EXPERIMENT: &str = "watch";
/// Name of the workload and its phase.
const WATCHED: &str = "watched";
/// The figures are of whatever ran.
const NOT_MEASURED: &str = "watched";
/// What it was interrupted by.
const CUT_SHORT: &str = "watched-cut-short";
/// A long watch keeps every second sample, again and again.
const THINNED: &str = "watched-thinned";
/// What a kill would have lost.
const NO_JOURNAL: &str = "watched-no-journal";
/// Samples came late.
const MISSED: &str = "watched-missed-samples";
/// Share of samples that may be missing before that is said.
const MISSED_SHARE: f64 = 0.01;

/// What a RUN is told from outside.
#[derive(Clone, PartialEq, Debug)]
pub struct Terms {
    /// Unique id.
    pub uid: String,
    /// Now, ns since 1970.
    pub now_unix_ns: u64,
    pub program_version: String,
    /// Arguments of the command line.
    pub arguments: Vec<String>,
    /// What the user calls it.
    pub title: Option<String>,
    pub host: Host,
    /// Period, ns.
    pub every_ns: u64,
}

/// What was seen from the first sample to the last.
#[derive(Debug)]
pub struct WatchSession {
    pub target: WatchTarget,
    /// Wall clock at the first sample, ns since 1970.
    pub started_unix_ns: u64,
    /// The first sample.
    pub first: Snapshot,
    pub last: Snapshot,
    /// Those that were kept.
    pub samples: Samples,
    /// What the watching itself has used.
    pub cost: SamplerCost,
    /// Why samples were not journalled.
    pub journal_error: Option<String>,
}

impl WatchSession {
    /// From the first sample to the last, ns.
    #[must_use]
    pub fn length_ns(&self) -> u64 {
        self.last.monotonic_ns.saturating_sub(self.first.monotonic_ns)
    }
}

/// The RUN of a watch that begins.
#[must_use]
pub fn header(target: &WatchTarget, terms: &Terms) -> RunHeader {
    let title = terms.title.clone().unwrap_or_else(|| format!("{} watched", target.describe()));
    RunHeader {
        uid: terms.uid.clone(),
        experiment: EXPERIMENT.to_owned(),
        experiment_toml: "# Watched, not run: another application used the device.\n".to_owned(),
        created_unix_ns: terms.now_unix_ns,
        program_version: terms.program_version.clone(),
        arguments: terms.arguments.clone(),
        host: terms.host.clone(),
        plan: plan(target, &title, terms.every_ns),
        title,
        place: None,
        findings: Vec::new(),
    }
}

fn watched_phase() -> Phase {
    Phase::new(WATCHED, Op::Watched, 0)
}

fn plan(target: &WatchTarget, title: &str, every_ns: u64) -> RunPlan {
    let fs = FsLevel::plain(target.fstype.as_deref().unwrap_or("none"));
    let device = DeviceLevel::Elsewhere { program: WATCH.to_owned(), what: target.describe() };
    let levels = Levels { cache: Cache::Warm, ..Levels::plain(fs, device) };
    let workload = Workload {
        name: WATCHED.to_owned(),
        title: title.to_owned(),
        dataset: Dataset::default(),
        phases: vec![watched_phase()],
        fio: None,
        source: None,
        levels: None,
    };
    RunPlan {
        seed: Seed::from_number(0),
        blocks: 1,
        contenders: vec![Contender::new(&target.name, 1, levels)],
        workloads: vec![workload],
        not_run: Vec::new(),
        schedule: vec![Slot { block: 0, position: 0, contender: 0, workload: 0 }],
        compared_clock: Clock::Returned,
        scale: 1.0,
        verify: false,
        sample_period_ns: every_ns,
        account: false,
        rate: RateStyle::Auto,
        verdict: None,
        crash: None,
    }
}

/// What a killed watch says of itself.
#[must_use]
pub fn cut_short(session: &WatchSession) -> Notice {
    let length = Nanos(session.length_ns());
    let text = format!(
        "the watch ended without a word (its process was killed, or the machine went down): what \
         it had seen in {length} is here"
    );
    Notice::new(CUT_SHORT, text, None)
}

/// How a watched RUN stands by its record, and the word on it.
#[must_use]
pub fn standing(record: &TrialRecord) -> (RunState, Option<String>) {
    match &record.outcome {
        Outcome::Done => (RunState::Done, None),
        Outcome::Failed { error: why, .. } | Outcome::NotRun { reason: why } => {
            (RunState::Failed, Some(why.clone()))
        }
        Outcome::Interrupted => {
            let note = format!("killed after {}", Nanos(record.elapsed_ns));
            (RunState::Interrupted, Some(note))
        }
    }
}

/// The record of a watch session.
#[must_use]
pub fn record(
    header: &RunHeader,
    session: &WatchSession,
    outcome: Outcome,
    extra: Option<Notice>,
) -> TrialRecord {
    let (plan, target) = (&header.plan, &session.target);
    let mut notices = notices(session, plan.sample_period_ns);
    notices.extend(extra);
    let rank = Rank::new(&header.host, &plan.workloads[0].phases);
    TrialRecord {
        outcome,
        elapsed_ns: session.length_ns(),
        filesystem: Effective {
            name: target.fstype.clone().unwrap_or_else(|| "none".to_owned()),
            mounted_type: target.fstype.clone(),
            mounted_options: target.mount_options.clone(),
            ..Effective::default()
        },
        device: facts(target),
        phases: vec![phase(session)],
        notices,
        ..TrialRecord::new(TrialKey::new(header, 0), rank, session.started_unix_ns)
    }
}

fn facts(target: &WatchTarget) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::from([
        ("watched".to_owned(), target.describe()),
        ("name".to_owned(), target.name.clone()),
        ("path".to_owned(), target.path.display().to_string()),
        ("kind".to_owned(), target.kind.clone()),
        ("layers".to_owned(), target.layers()),
        ("size_bytes".to_owned(), target.size_bytes.to_string()),
    ]);
    if let Some(at) = &target.mounted_at {
        facts.insert("mounted_at".to_owned(), at.display().to_string());
    }
    facts
}

fn phase(session: &WatchSession) -> PhaseRecord {
    let counters = delta(&session.first, &session.last);
    let clocks = Clocks::not_waited_for(session.length_ns(), "a watch only looks");
    let cache =
        CacheRecord::unproved("a watch only looks: caches were as the application left them");
    PhaseRecord {
        started_unix_ns: session.started_unix_ns,
        // There is no `durable`: the window ends with the watch.
        windows: BTreeMap::from([(Window::Durable, counters)]),
        series: Some(series(&session.samples, session.first.monotonic_ns)),
        sampler: Some(session.cost),
        ..PhaseRecord::new(&watched_phase(), clocks, cache)
    }
}

fn notices(session: &WatchSession, every_ns: u64) -> Vec<Notice> {
    let mut all = vec![Notice::new(
        NOT_MEASURED,
        "watched and not measured: the counters are of everything that used the device and the \
         machine meanwhile, and nothing says what work it was",
        Some("fsarena run measures stated work, from a stated state, with repeats"),
    )];
    all.extend(session.target.notices.iter().cloned());
    let kept_ns = session.samples.period_ns();
    if kept_ns > every_ns {
        let (asked, kept) = (Nanos(every_ns), Nanos(kept_ns));
        let text = format!(
            "every {asked} was looked at; of this long a watch a sample every {kept} was kept"
        );
        all.push(Notice::new(THINNED, text, None));
    }
    let SamplerCost { samples, missed_deadlines, .. } = session.cost;
    if missed_deadlines as f64 > MISSED_SHARE * (samples + missed_deadlines) as f64 {
        let text = format!(
            "{missed_deadlines} of {} samples were left out: the machine was too busy to take them \
             in time, or the watch was stopped",
            samples + missed_deadlines
        );
        all.push(Notice::new(MISSED, text, None));
    }
    if let Some(error) = &session.journal_error {
        let text = format!("samples could not be kept on disk while it was watched: {error}");
        all.push(Notice::new(NO_JOURNAL, text, Some("set FSARENA_STATE_DIR to a place with room")));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_metrics::catalog;

    fn snapshot(monotonic_ns: u64, written: u64) -> Snapshot {
        let mut snapshot = Snapshot { monotonic_ns, ..Snapshot::empty() };
        let at = catalog().iter().position(|metric| metric.name == "device.written_bytes");
        snapshot.values[at.unwrap()] = Some(written);
        snapshot
    }

    fn session() -> WatchSession {
        let target = WatchTarget {
            asked: "/mnt/x".into(),
            name: "loop0".to_owned(),
            path: "/dev/loop0".into(),
            kind: "loop".to_owned(),
            size_bytes: 64 << 20,
            diskseq: Some(3),
            fstype: Some("ext4".to_owned()),
            mounted_at: Some("/mnt/x".into()),
            mount_options: Some("rw".to_owned()),
            below: vec!["/images/x.img".to_owned()],
            notices: Vec::new(),
        };
        let mut samples = Samples::new(10);
        let all = [snapshot(100, 5), snapshot(110, 105), snapshot(120, 1_005)];
        all.iter().for_each(|one| samples.push(one));
        WatchSession {
            target,
            started_unix_ns: 7,
            first: all[0].clone(),
            last: all[2].clone(),
            samples,
            cost: SamplerCost { samples: 3, cpu_ns: 1, wall_ns: 20, missed_deadlines: 0 },
            journal_error: None,
        }
    }

    fn terms() -> Terms {
        Terms {
            uid: "0123456789abcdef".to_owned(),
            now_unix_ns: 7,
            program_version: "0".to_owned(),
            arguments: Vec::new(),
            title: None,
            host: Host::default(),
            every_ns: 10,
        }
    }

    #[test]
    fn a_sitting_is_a_run_that_asks_nothing_and_is_complete() {
        let session = session();
        let header = header(&session.target, &terms());
        assert!(header.plan.is_watched() && header.plan.verdict.is_none());
        assert_eq!(header.title, "/dev/loop0, 64 MiB, ext4 at /mnt/x watched");
        let record = record(&header, &session, Outcome::Done, None);
        let phase = &record.phases[0];
        assert!(phase.is_complete());
        assert_eq!(phase.windows[&Window::Durable]["device.written_bytes"], 1_000);
        let series = phase.series.as_ref().unwrap();
        assert_eq!(series.t_ns, [0, 10, 20]);
        assert_eq!(series.columns["device.written_bytes"], [Some(0), Some(100), Some(1_000)]);
        assert_eq!(record.notices.len(), 1);
        let whole = fsarena_study::watched::interval("1", &record, Default::default()).unwrap();
        assert_eq!(whole.stretches, 2);
        assert_eq!(whole.what, "/dev/loop0, 64 MiB, ext4 at /mnt/x");
    }

    #[test]
    fn a_run_stands_as_its_record_says() {
        let session = session();
        let header = header(&session.target, &terms());
        let gone = "sda disappeared";
        let failed =
            Outcome::Failed { step: "watch".to_owned(), error: gone.to_owned(), remedy: None };
        for (outcome, state, note) in [
            (Outcome::Done, RunState::Done, None),
            (failed, RunState::Failed, Some(gone)),
            (Outcome::Interrupted, RunState::Interrupted, Some("killed after 20 ns")),
        ] {
            let found = standing(&record(&header, &session, outcome, None));
            assert_eq!(found, (state, note.map(str::to_owned)));
        }
    }

    #[test]
    fn what_spoils_the_figures_is_said() {
        let mut session = session();
        session.cost.missed_deadlines = 1;
        session.journal_error = Some("No space left on device".to_owned());
        let codes: Vec<String> =
            notices(&session, 5).into_iter().map(|notice| notice.code).collect();
        assert_eq!(codes, [NOT_MEASURED, THINNED, MISSED, NO_JOURNAL]);
        assert!(cut_short(&session).text.contains("20 ns"));
    }
}

//! Writes a sample database of the present layout: what `test_fixture/layout-N.db` was made with.
//!
//! `cargo run -p fsarena-store --example write_fixture -- PATH`, once, when a layout is released; a
//! file that is there is never overwritten, and never made again to repair a failing test.

use fsarena_model::contender::{Cache, DeviceLevel};
use fsarena_model::device::{QueueLevel, SsdPolicy, WriteCache};
use fsarena_model::finding::{Finding, Weight};
use fsarena_model::job::Reflink;
use fsarena_model::record::{Drained, Outcome, TrialRecord};
use fsarena_model::run::{RunHeader, RunState};
use fsarena_model::verdict::{DecidedPair, Look, Metric, Pairs, Rule, Stop, StopWhy, Verdict};
use fsarena_model::work::WorkerUsage;
use fsarena_store::{Owner, Store, StoreError};
use fsarena_testkit::records::{
    self, NEW_YEAR_UNIX_NS, SECOND_NS, contender, real_work, small_files,
};
use std::path::PathBuf;

/// Four contenders on two workloads, two blocks: sixteen trials. The last contender was measured by
/// another program.
fn header() -> RunHeader {
    let mut disk = contender("xfs", "xfs", 1);
    disk.levels.device = DeviceLevel::Block { path: "/dev/sdz".into(), size_bytes: 64_000_000_000 };
    disk.levels.ssd = SsdPolicy::Precondition;
    disk.levels.queue = QueueLevel {
        scheduler: Some("kyber".to_owned()),
        read_ahead_bytes: Some(128 << 10),
        write_cache: Some(WriteCache::WriteBack),
    };
    disk.levels.cache = Cache::ColdStart;
    disk.levels.reflink = Reflink::Auto;
    let mut late = contender("ext4 late", "ext4", 1);
    late.levels.handicap_ns = 30_000_000;
    let mut foreign = contender("cp", "unknown", 1);
    let (program, what) = ("hyperfine".to_owned(), "cp -r a b".to_owned());
    foreign.levels.device = DeviceLevel::Elsewhere { program, what };
    let contenders = vec![contender("ext4", "ext4", 1), disk, late, foreign];
    let mut header = records::header(contenders, vec![small_files(), real_work()], 2);
    let mut ask = records::asked(&header.plan, Rule::Looks { cap: 8 });
    ask.questions[0].metric = Metric::Cpu;
    ask.pairs = Pairs::Baseline { contender: 1 };
    ask.margin = 0.02;
    ask.budget_ns = Some(30 * 60 * SECOND_NS);
    ask.limits.steal_share = Some(0.05);
    header.plan.verdict = Some(ask);
    header.findings.push(Finding {
        code: "mount-options".to_owned(),
        place: "/dev/sdz".to_owned(),
        weight: Weight::Warning,
        reading: "mounted with sync".to_owned(),
        why: "every write waits".to_owned(),
        remedy: Some("mount it without".to_owned()),
        command: None,
    });
    header
}

/// Leaves of a record what is known where another program measured.
fn make_foreign(record: &mut TrialRecord) {
    for phase in &mut record.phases {
        phase.clocks.durable_ns = None;
        let reason = "hyperfine does not wait for that".to_owned();
        phase.clocks.drained = Drained::NotWaitedFor { reason };
        phase.windows.clear();
        phase.worker = WorkerUsage::default();
        (phase.series, phase.sampler) = (None, None);
    }
}

/// Two looks, the second after the block that the budget ended.
fn looks() -> [Look; 2] {
    let pair = |question, a, verdict| DecidedPair { question, a, b: 1, verdict };
    let first = vec![pair(4, 2, Verdict::Slower), pair(0, 0, Verdict::Same)];
    let second = vec![pair(4, 0, Verdict::Faster)];
    let at_unix_ns = NEW_YEAR_UNIX_NS + 100 * SECOND_NS;
    [
        Look { blocks: 1, at_unix_ns, decided: first },
        Look { blocks: 2, at_unix_ns: at_unix_ns + SECOND_NS, decided: second },
    ]
}

fn main() -> Result<(), StoreError> {
    let path = PathBuf::from(std::env::args_os().nth(1).expect("a path for the new file"));
    assert!(!path.exists(), "a fixture is never written again");
    let header = header();
    let store = Store::open(&path)?;
    let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    let run = store.create_run(&header, &owner)?;
    store.put_session(run, &records::session("b", 0))?;
    let foreign = header.plan.contenders[3].id();
    for sequence in 0..15 {
        let mut record = records::record(&header, sequence);
        if record.key.contender == foreign {
            make_foreign(&mut record);
        } else if sequence % 2 == 1 {
            record.conditioning = Some(records::preconditioned(sequence > 1));
        }
        if sequence == 4 {
            let mut broken = record.clone();
            broken.outcome = Outcome::Interrupted;
            broken.phases.truncate(1);
            store.put_record(run, &broken)?;
            store.put_session(run, &records::session("c", 4))?;
        }
        store.put_record(run, &record)?;
    }
    for look in looks() {
        store.put_look(run, &look)?;
    }
    store.set_stop(run, Stop { blocks: 2, why: StopWhy::Budget })?;
    store.set_state(run, RunState::Done, None)
}

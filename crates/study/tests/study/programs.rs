//! Views over phases of real work, from hand-made records.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::contender::Cache;
use fsarena_model::job::{
    By, Command, Compression, Contents, DATA, Job, JobKind, Origin, Reflink, Source, SourcePlace,
};
use fsarena_model::record::{CacheState, PhaseRecord, TrialRecord, Window};
use fsarena_model::run::{RateStyle, RunHeader, RunState};
use fsarena_model::work::{Dataset, Op, OpError, Phase, ProgramReport, Tool, Workload};
use fsarena_study::{RateUnit, Study, ToolOverheadRow, study};
use fsarena_testkit::records::{self, SECOND_NS, contender};

const MB: u64 = 1_000_000;

fn source() -> Source {
    Source {
        name: "ports-2004".to_owned(),
        origin: Origin::Made { description: "name = \"ports-2004\"\n".to_owned() },
        place: SourcePlace::Same,
        archive: Some(Compression::Gzip),
        contents: Contents { files: 900, dirs: 100, bytes: 20 * MB, ..Contents::default() },
    }
}

/// Unpacked, copied and deleted by programs, copied and deleted by the engine, packed, and a
/// command.
fn ports() -> Workload {
    let untar = JobKind::Untar { compression: Compression::Gzip };
    let pack = JobKind::Archive { compression: Compression::Bzip2 };
    let run = "sync".to_owned();
    let command = Command { run, prepare: None, cleanup: None, programs: Vec::new() };
    let by_engine = |kind, of: &str| Job { by: By::Engine, ..Job::new(kind, of) };
    Workload {
        name: "ports".to_owned(),
        title: "a tree of ports".to_owned(),
        dataset: Dataset::uniform(900, 22_223, 0),
        phases: vec![
            Phase::of_job("unpack", Job::new(untar, DATA)),
            Phase::of_job("copy", Job::new(JobKind::Copy, "unpack")),
            Phase::of_job("copy-engine", by_engine(JobKind::Copy, "unpack")),
            Phase::of_job("delete", Job::new(JobKind::Delete, "copy")),
            Phase::of_job("delete-engine", by_engine(JobKind::Delete, "copy-engine")),
            Phase::of_job("pack", Job::new(pack, "unpack")),
            Phase::of_job("run", Job::new(JobKind::Command(command), DATA)),
        ],
        fio: None,
        levels: None,
        source: Some(source()),
    }
}

/// What a worker would have said of a phase.
fn shape(phase: &mut PhaseRecord) {
    let job = phase.job.clone().unwrap();
    let (ops, asked_bytes, written_bytes) = match &job.kind {
        JobKind::Untar { .. } => (1000, 25 * MB, 20 * MB),
        JobKind::Copy => (1000, 40 * MB, 20 * MB),
        JobKind::Delete => (1000, 0, 0),
        JobKind::Archive { .. } => (1000, 24 * MB, 4 * MB),
        _ => (0, 0, 0),
    };
    (phase.ops, phase.asked_bytes, phase.asked_written_bytes) =
        (ops, asked_bytes, Some(written_bytes));
    phase.latency = None;
    for counters in phase.windows.values_mut() {
        counters.insert("device.written_bytes".to_owned(), 2 * written_bytes);
    }
    if job.by == By::Program {
        let name = job.programs()[0].to_owned();
        let path = format!("/usr/bin/{name}").into();
        let version = format!("{name} 1.0");
        let tools = vec![Tool { name: name.clone(), path, version: version.clone() }];
        phase.program = Some(ProgramReport { name, version, tools, ..ProgramReport::default() });
    }
}

/// ext4 and xfs, two blocks; records 0 and 2 are ext4, 1 and 3 xfs.
fn sample() -> (RunHeader, Vec<TrialRecord>) {
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let header = records::header(contenders, vec![ports()], 2);
    let shaped = |sequence| {
        let mut record = records::record(&header, sequence);
        record.phases.iter_mut().for_each(shape);
        record
    };
    let records = (0..4).map(shaped).collect();
    (header, records)
}

fn view(header: &RunHeader, records: &[TrialRecord]) -> Study {
    study(header, RunState::Done, &[], records)
}

fn at(phase: &str) -> usize {
    ports().phases.iter().position(|known| known.name == phase).unwrap()
}

#[test]
fn time_is_the_figure_and_a_longer_one_is_worse() {
    let (header, mut records) = sample();
    for sequence in [1, 3] {
        records[sequence].phases[at("copy")].clocks.durable_ns = Some(4 * SECOND_NS);
    }
    let view = view(&header, &records);
    let table = &view.tables[at("copy")];
    for style in [RateStyle::Auto, RateStyle::Article2003] {
        assert_eq!(RateUnit::for_op(style, Op::Job, &table.dataset), RateUnit::Time);
    }
    assert_eq!((table.unit, table.job.as_ref()), (RateUnit::Time, ports().phases[1].job.as_ref()));
    let ratios: Vec<_> = table.rows.iter().map(|row| row.ratio_of_medians.unwrap()).collect();
    assert_eq!(ratios, [1.0, 4.0], "xfs took four times as long");
    assert!(table.rows.iter().all(|row| row.threads.is_none()));
    let worker = table.rows[0].worker.unwrap();
    assert_eq!((worker.user.median_ns, worker.system.median_ns), (SECOND_NS / 10, 0));
}

#[test]
fn each_byte_of_the_tree_counts_once() {
    let (header, records) = sample();
    let view = view(&header, &records);
    let rates = |phase: &str| view.tables[at(phase)].rows[0].rates;
    let bytes = |phase: &str| rates(phase).bytes_per_s.map(|spread| spread.median);
    for phase in ["unpack", "copy", "copy-engine", "pack"] {
        assert_eq!(bytes(phase), Some(20e6), "{phase}: 20 MB in a second");
    }
    assert_eq!((bytes("delete"), bytes("run")), (None, None));
    for phase in ["unpack", "copy", "delete", "pack"] {
        assert_eq!(rates(phase).entries_per_s.unwrap().median, 1000.0, "{phase}");
    }
    assert_eq!(rates("run").entries_per_s, None);
    assert_eq!(rates("copy").files_per_s, None, "directories are among them");
    let returned = view.tables[at("copy")].rows[0].returned_rates;
    assert_eq!(returned.bytes_per_s.unwrap().median, 40e6);
    assert_eq!(returned.entries_per_s.unwrap().median, 2000.0);
}

#[test]
fn amplification_needs_to_know_what_was_written() {
    let (header, mut records) = sample();
    let of = |records: &[TrialRecord], phase: &str| {
        let view = view(&header, records);
        view.tables[at(phase)].rows[0].write_amplification.map(|spread| spread.median)
    };
    assert_eq!(of(&records, "copy"), Some(2.0));
    assert_eq!((of(&records, "delete"), of(&records, "run")), (None, None));
    assert_eq!(of(&records, "pack"), Some(2.0), "unmounted before the command");
    for record in &mut records {
        record.steps.retain(|step| step.step != "chill");
    }
    assert_eq!(of(&records, "pack"), None, "the command wrote in the same account");
}

#[test]
fn phases_that_are_warm_as_asked_are_no_matter() {
    let (mut header, mut records) = sample();
    for contender in &mut header.plan.contenders {
        contender.levels.cache = Cache::ColdStart;
    }
    for (sequence, record) in records.iter_mut().enumerate() {
        record.key.contender = header.plan.contenders[sequence % 2].id();
        for phase in &mut record.phases[1..] {
            (phase.cache.asked, phase.cache.state) = (Cache::Warm, CacheState::Warm);
            phase.cache.why = "warm was asked for".to_owned();
        }
    }
    records[1].phases[0].cache.state = CacheState::Warm;
    records[1].phases[0].cache.why = "pages were left".to_owned();
    let view = view(&header, &records);
    assert!(view.workloads[0].cold_start);
    let reasons = |table: usize| -> Vec<Option<&str>> {
        view.tables[table].rows.iter().map(|row| row.not_cold_because.as_deref()).collect()
    };
    assert_eq!(reasons(0), [None, None, Some("pages were left")], "cold was asked for and is not");
    for table in 1..view.tables.len() {
        assert_eq!(reasons(table), [None, None]);
        assert!(view.tables[table].rows.iter().all(|row| row.ratio_of_medians == Some(1.0)));
    }
}

#[test]
fn the_head_of_a_workload() {
    let (mut header, records) = sample();
    let workload = view(&header, &records).workloads.remove(0);
    let found = workload.source.unwrap();
    assert_eq!((found.name.as_str(), found.contents), ("ports-2004", source().contents));
    assert_eq!((found.place, found.archive), (SourcePlace::Same, Some(Compression::Gzip)));
    assert_eq!((workload.reflinks, workload.cold_start), (vec![Reflink::Never], false));
    header.plan.contenders[1].levels.reflink = Reflink::Always;
    let workload = view(&header, &[]).workloads.remove(0);
    assert_eq!(workload.reflinks, [Reflink::Never, Reflink::Always]);
    header.plan.workloads[0].phases.retain(|phase| phase.name == "unpack");
    assert_eq!(view(&header, &[]).workloads[0].reflinks, [], "nothing is copied");
}

/// As [`sample`], in two workloads: `ports` by programs, and the same by the engine, as far as the
/// engine can do it.
fn by_both() -> (RunHeader, Vec<TrialRecord>) {
    let mut by_programs = ports();
    by_programs.phases = ports().phases.into_iter().filter(|p| !p.name.contains('-')).collect();
    by_programs.phases.truncate(3);
    let mut by_engine = by_programs.clone();
    by_engine.name = "ports-engine".to_owned();
    for phase in &mut by_engine.phases {
        phase.job.as_mut().unwrap().by = By::Engine;
    }
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let header = records::header(contenders, vec![by_programs, by_engine], 2);
    let shaped = |sequence| {
        let mut record = records::record(&header, sequence);
        record.phases.iter_mut().for_each(shape);
        record
    };
    let records = (0..8).map(shaped).collect();
    (header, records)
}

/// Program, its workload and phase, the engine's workload and phase.
fn pairs(view: &Study) -> Vec<[&str; 5]> {
    view.tool_overheads
        .iter()
        .map(|cost| {
            [
                cost.program.as_str(),
                &cost.program_workload,
                &cost.program_phase,
                &cost.engine_workload,
                &cost.engine_phase,
            ]
        })
        .collect()
}

#[test]
fn programs_stand_beside_the_engine_where_both_did_the_same_in_trials_of_their_own() {
    let (header, mut records) = by_both();
    for record in &mut records {
        let by_engine = record.key.workload == "ports-engine";
        let copy = record.phases.iter_mut().find(|phase| phase.name == "copy").unwrap();
        copy.clocks.durable_ns = Some(if by_engine { 2 } else { 3 } * SECOND_NS);
        let warm = by_engine && record.filesystem.name == "xfs";
        if warm {
            record.phases[2].cache.state = CacheState::Warm;
        }
    }
    let first = records.iter().position(|r| r.key.workload == "ports").unwrap();
    records[first].phases[1].clocks.durable_ns = Some(5 * SECOND_NS);
    let view = view(&header, &records);
    let phases = [("tar", "unpack"), ("cp", "copy"), ("rm", "delete")];
    let expected = phases.map(|(program, phase)| [program, "ports", phase, "ports-engine", phase]);
    assert_eq!(pairs(&view), expected);
    let copies = &view.tool_overheads[1].rows;
    let of = |row: &ToolOverheadRow| (row.label.clone(), row.program_to_engine);
    assert_eq!(
        copies.iter().map(of).collect::<Vec<_>>(),
        [("ext4".to_owned(), 2.0), ("xfs".to_owned(), 1.5)],
        "medians of 3 s and 5 s over 2 s"
    );
    let (program, engine) = (copies[0].program, copies[0].engine);
    assert_eq!(
        (program.n, program.min_ns, program.max_ns),
        (2, 3 * SECOND_NS, 5 * SECOND_NS),
        "how far the trials lie apart goes with the quotient"
    );
    assert_eq!((engine.n, engine.min_ns, engine.max_ns), (2, 2 * SECOND_NS, 2 * SECOND_NS));
    assert_eq!(copies[0].n_planned, [2, 2]);
    let deletes = &view.tool_overheads[2];
    assert_eq!(deletes.rows.len(), 1, "{deletes:?}");
    assert_eq!((deletes.rows[0].label.as_str(), deletes.rows[0].program_to_engine), ("ext4", 1.0));
    assert_eq!(deletes.not_comparable, ["xfs"], "one warm, the other cold");
}

#[test]
fn two_phases_of_one_trial_are_no_pair() {
    let (header, records) = sample();
    assert_eq!(
        view(&header, &records).tool_overheads,
        [],
        "they differ in what was done before them"
    );
}

#[test]
fn other_work_is_no_pair() {
    let changed = |change: &dyn Fn(&mut Workload)| -> usize {
        let (mut header, mut records) = by_both();
        change(&mut header.plan.workloads[1]);
        let name = header.plan.workloads[1].name.clone();
        for record in records.iter_mut().filter(|record| record.key.workload != "ports") {
            record.key.workload.clone_from(&name);
        }
        view(&header, &records).tool_overheads.len()
    };
    assert_eq!(changed(&|_| {}), 3);
    let place = |w: &mut Workload| w.source.as_mut().unwrap().place = SourcePlace::Memory;
    assert_eq!(changed(&place), 0, "read from elsewhere");
    let archive = |w: &mut Workload| w.source.as_mut().unwrap().archive = Some(Compression::Zstd);
    assert_eq!(changed(&archive), 0, "another archive");
    let origin = |w: &mut Workload| {
        let description = "name = \"ports-2004\"\nscale = 0.5\n".to_owned();
        w.source.as_mut().unwrap().origin = Origin::Made { description };
    };
    assert_eq!(changed(&origin), 0, "half of the tree");
    let untimed = |w: &mut Workload| w.phases[0].timed = false;
    assert_eq!(changed(&untimed), 0, "not timed, and so another history");
    let of = |w: &mut Workload| w.phases[2].job.as_mut().unwrap().of = "unpack".to_owned();
    assert_eq!(changed(&of), 2, "another tree is deleted");
    let order = |w: &mut Workload| {
        let job = Job { by: By::Engine, ..Job::new(JobKind::Copy, "unpack") };
        w.phases.insert(1, Phase::of_job("copy-before", job));
    };
    assert_eq!(changed(&order), 1, "after one more copy, nothing has the same history");
    let by = |w: &mut Workload| w.phases[0].job.as_mut().unwrap().by = By::Program;
    assert_eq!(changed(&by), 2, "by whom its history was made may differ");
}

#[test]
fn what_a_command_left_is_not_known() {
    let (mut header, records) = sample();
    let amplified = |header: &RunHeader| {
        let row = view(header, &records).trials.remove(0);
        assert!(row.used_bytes.is_some() && row.n == 2);
        (row.stored_bytes.is_some(), row.space_amplification.is_some())
    };
    assert_eq!(amplified(&header), (false, false));
    header.plan.workloads[0].phases.pop();
    assert_eq!(amplified(&header), (true, true), "no command in it");
}

#[test]
fn programs_that_changed_are_noted() {
    let (header, mut records) = sample();
    let same = view(&header, &records);
    let found: Vec<_> = same.programs.iter().map(|one| (one.name.as_str(), one.trials)).collect();
    assert_eq!(found, [("tar", 4), ("cp", 4), ("rm", 4), ("sh", 4)]);
    assert_eq!(same.programs[1].path.as_deref(), Some("/usr/bin/cp".as_ref()));
    assert_eq!(same.notices, []);
    let report = records[3].phases[at("copy")].program.as_mut().unwrap();
    report.tools[0].version = "cp 2.0".to_owned();
    let changed = view(&header, &records);
    let [notice] = changed.notices.as_slice() else { panic!("{:?}", changed.notices) };
    assert_eq!(notice.code, "programs-differ");
    assert_eq!(
        notice.text,
        "cp was not the same in all trials: cp 1.0 at /usr/bin/cp in 3, cp 2.0 at /usr/bin/cp in \
         1; its own cost may differ"
    );
    assert_eq!((notice.trials, notice.labels.as_slice()), (4, &["ext4".into(), "xfs".into()][..]));
}

#[test]
fn a_program_that_failed_says_why() {
    let (header, mut records) = sample();
    let phase = &mut records[0].phases[at("copy")];
    phase.ops = 0;
    phase.error = Some(OpError {
        op_index: 0,
        thread: None,
        call: "cp".to_owned(),
        path: ".".to_owned(),
        errno: 0,
        text: "killed by signal 9".to_owned(),
    });
    let view = view(&header, &records);
    let [failure] = view.failures.as_slice() else { panic!("{:?}", view.failures) };
    assert_eq!(failure.error, "cp: killed by signal 9");
    let partial = failure.partial.as_ref().unwrap();
    assert_eq!((partial.phase.as_str(), partial.planned_ops), ("copy", None));
    assert_eq!(view.tables[at("copy")].rows[0].n, 1, "in no figure");
}

#[test]
fn the_engine_knows_how_far_it_came() {
    let (mut header, mut records) = sample();
    header.plan.workloads[0].phases[0].job.as_mut().unwrap().by = By::Engine;
    let phase = &mut records[0].phases[0];
    phase.job.as_mut().unwrap().by = By::Engine;
    (phase.ops, phase.clocks.durable_ns) = (17, None);
    records[0].outcome = fsarena_model::record::Outcome::Interrupted;
    let failure = view(&header, &records).failures.remove(0);
    let partial = failure.partial.unwrap();
    assert_eq!((partial.least_ops, partial.planned_ops), (17, Some(1000)));
}

#[test]
fn windows_of_the_device_stay_apart() {
    let (header, mut records) = sample();
    for record in &mut records {
        let counters = record.phases[0].windows.get_mut(&Window::Drained).unwrap();
        counters.insert("device.written_bytes".to_owned(), 7);
    }
    let view = view(&header, &records);
    let device = &view.tables[0].rows[0].device;
    let written: Vec<_> = device.iter().map(|seen| seen.written_bytes.unwrap()).collect();
    assert_eq!(written, [40 * MB, 7, 40 * MB]);
}

//! RUNs by hand with their views, for the tests of sections and charts.

use crate::context::{Repeats, Run};
use crate::section::Section;
use fsarena_chart::Svg;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::host::Host;
use fsarena_model::record::{Effective, Outcome, TrialRecord};
use fsarena_model::run::{NotRun, RunHeader, RunSession, RunState};
use fsarena_model::sample::Series;
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::Rule;
use fsarena_model::work::{OpError, Workload};
use fsarena_study::Study;
use fsarena_testkit::records;
use fsarena_verdict::Verdicts;

/// A RUN that owns what a [`Run`] borrows.
pub(crate) struct Sample {
    pub(crate) header: RunHeader,
    pub(crate) sessions: Vec<RunSession>,
    pub(crate) records: Vec<TrialRecord>,
    pub(crate) study: Study,
    pub(crate) verdicts: Option<Verdicts>,
}

impl Sample {
    /// `contenders` on `workloads`, every trial done, by the numbers of `records`; contender n
    /// takes n tenths longer than the first, and each block a hundredth more.
    pub(crate) fn with_labels(labels: &[&str], workloads: Vec<Workload>, blocks: u32) -> Self {
        Self::asking(labels, workloads, blocks, None)
    }

    /// The same, asking for the time of all phases by a rule.
    pub(crate) fn asking(
        labels: &[&str],
        workloads: Vec<Workload>,
        blocks: u32,
        rule: Option<Rule>,
    ) -> Self {
        let contenders = labels.iter().map(|label| records::contender(label, label, 1)).collect();
        let mut header = records::header(contenders, workloads, blocks);
        header.plan.verdict = rule.map(|rule| records::asked(&header.plan, rule));
        let trials = u32::try_from(header.plan.schedule.len()).expect("is a small plan");
        let records = (0..trials).map(|sequence| stretched(&header, sequence)).collect();
        Self::new(header, records)
    }

    /// Two file systems with blocks of three sizes, four times three cycles, the third one
    /// disturbed; with an account of each trial, of which the first has lost events. On ext4 the
    /// smaller two are as good as the same, on xfs the middle one is the best.
    pub(crate) fn periodic() -> Self {
        let sizes = [1024, 4096, 65536];
        let contenders = ["ext4", "xfs"].iter().flat_map(|fs| records::block_sizes(fs, &sizes));
        let mut header = records::header(contenders.collect(), vec![records::periodic()], 4);
        header.plan.account = true;
        let trials = u32::try_from(header.plan.schedule.len()).expect("is a small plan");
        let record = |sequence: u32| {
            let mut record = records::record(&header, sequence);
            let slot = header.plan.schedule[sequence as usize];
            let by = [1.0, 1.001, 1.5, 1.5, 1.0, 1.4][slot.contender];
            let longer = by * (1.0 + 0.001 * f64::from(slot.block));
            for phase in &mut record.phases {
                records::add_account(phase, if sequence == 0 { 7 } else { 0 });
                for cycle in phase.cycles.iter_mut().flat_map(|all| &mut all.cycles) {
                    let work_ns = (cycle.work_ns() as f64 * longer) as u64;
                    cycle.report.returned_ns = cycle.report.started_ns + work_ns;
                }
            }
            record
        };
        let records = (0..trials).map(record).collect();
        Self::new(header, records)
    }

    /// As `fsarena import` brings in what fio measured: nothing is known of the host, and nothing
    /// was made.
    pub(crate) fn brought_in(labels: &[&str]) -> Self {
        let device = |what: &str| DeviceLevel::Elsewhere {
            program: "fio".to_owned(),
            what: what.to_owned(),
        };
        let contenders = labels.iter().map(|label| {
            let mut contender = records::contender(label, "elsewhere", 1);
            contender.levels.device = device(label);
            contender
        });
        let work = vec![records::big_file()];
        let mut header = records::header(contenders.collect(), work, 6);
        header.host = Host::default();
        header.experiment_toml = "# Imported.\n".to_owned();
        header.plan.sample_period_ns = 0;
        header.plan.verdict = Some(records::asked(&header.plan, Rule::Fixed { blocks: 6 }));
        let trials = u32::try_from(header.plan.schedule.len()).expect("is a small plan");
        let all = (0..trials).map(|sequence| {
            let mut record = stretched(&header, sequence);
            record.filesystem = Effective { name: "elsewhere".to_owned(), ..Effective::default() };
            record.phases.iter_mut().for_each(|phase| phase.series = None);
            record
        });
        let records = all.collect();
        let mut sample = Self::new(header, records);
        sample.sessions.clear();
        sample
    }

    /// From a plan and its records.
    pub(crate) fn new(header: RunHeader, records: Vec<TrialRecord>) -> Self {
        let sessions = vec![records::session("b", 0)];
        let study = fsarena_study::study(&header, RunState::Done, &sessions, &records);
        let scores: Vec<TrialScore> = records.iter().map(TrialScore::from_record).collect();
        let verdicts = fsarena_verdict::verdicts(&header, &[], &scores, None, &[]);
        Self { header, sessions, records, study, verdicts }
    }

    /// With views of the same plan and records, after either was changed.
    pub(crate) fn again(self) -> Self {
        Self::new(self.header, self.records)
    }

    /// The contender of this number does not run a workload, and never did.
    pub(crate) fn without(mut self, contender: usize, workload: usize, reason: &str) -> Self {
        let plan = &mut self.header.plan;
        let (id, name) = (plan.contenders[contender].id(), plan.workloads[workload].name.clone());
        plan.schedule.retain(|slot| (slot.contender, slot.workload) != (contender, workload));
        let reason = reason.to_owned();
        plan.not_run.push(NotRun { contender, workload: Some(workload), reason });
        self.records.retain(|r| !(r.key.contender == id && r.key.workload == name));
        self.again()
    }

    /// No trial has a record.
    pub(crate) fn unmeasured(mut self) -> Self {
        self.records.clear();
        self.again()
    }

    /// The trials of the last block have no record: the RUN was interrupted.
    pub(crate) fn unmeasured_block(mut self) -> Self {
        let last = self.header.plan.blocks.saturating_sub(1);
        self.records.retain(|record| record.key.block < last);
        let sample = self.again();
        let (header, sessions, records) = (&sample.header, &sample.sessions, &sample.records);
        let study = fsarena_study::study(header, RunState::Interrupted, sessions, records);
        Self { study, ..sample }
    }

    /// A trial whose phase of this number did not come to its end.
    pub(crate) fn partial(mut self, trial: usize, phase: usize) -> Self {
        let record = &mut self.records[trial];
        record.phases.truncate(phase + 1);
        record.phases[phase].clocks.durable_ns = None;
        record.phases[phase].error = Some(OpError {
            op_index: 17,
            thread: None,
            call: "write".to_owned(),
            path: "f17".to_owned(),
            errno: 28,
            text: "no space".to_owned(),
        });
        let step = record.phases[phase].name.clone();
        record.outcome = Outcome::Failed { step, error: "no space".to_owned(), remedy: None };
        self.again()
    }

    /// As the page takes it.
    pub(crate) fn run(&self) -> Run<'_> {
        self.repeating(None)
    }

    /// The same, repeating an article.
    pub(crate) fn repeating<'a>(&'a self, article: Option<Repeats<'a>>) -> Run<'a> {
        Run {
            id: 1,
            header: &self.header,
            sessions: &self.sessions,
            records: &self.records,
            study: &self.study,
            verdicts: self.verdicts.as_ref(),
            crash: None,
            article,
        }
    }
}

fn stretched(header: &RunHeader, sequence: u32) -> TrialRecord {
    let mut record = records::record(header, sequence);
    let slot = header.plan.schedule[sequence as usize];
    let hundredths = 100 + 10 * slot.contender as u64 + u64::from(slot.block);
    for phase in &mut record.phases {
        phase.series = Some(series());
        phase.clocks.durable_ns = phase.clocks.durable_ns.map(|ns| ns / 100 * hundredths);
    }
    record
}

/// A second in samples of 100 ms: 1 MB written in each, 4 MiB dirty, a quarter of two processors
/// busy; one reading of dirty memory is missing.
fn series() -> Series {
    let counted = |each: u64| (0..11).map(|at| Some(at * each)).collect::<Vec<_>>();
    let columns = [
        ("device.read_bytes", counted(0)),
        ("device.written_bytes", counted(1_000_000)),
        ("device.busy_ns", counted(50_000_000)),
        ("device.queue_ns", counted(200_000_000)),
        ("mem.dirty_bytes", (0..11).map(|at| (at != 5).then_some(4 << 20)).collect()),
        ("mem.writeback_bytes", counted(0)),
        ("cpu.user_ns", counted(25_000_000)),
        ("cpu.system_ns", counted(25_000_000)),
        ("cpu.idle_ns", counted(150_000_000)),
    ];
    Series {
        period_ns: 100_000_000,
        t_ns: (0..11).map(|at| at * 100_000_000).collect(),
        columns: columns.map(|(name, values)| (name.to_owned(), values)).into(),
    }
}

/// A section as a page has it; empty where it has nothing to show.
pub(crate) fn html_of(section: &Section) -> String {
    match section.blocks.as_slice() {
        [] => String::new(),
        _ => {
            let opening = crate::render::html::Opening::Open;
            crate::render::html::section("r1-section", "Section", section, opening).into_string()
        }
    }
}

/// The charts of a section, in their order.
pub(crate) fn charts_of(section: &Section) -> Vec<Svg> {
    section.charts().into_iter().cloned().collect()
}

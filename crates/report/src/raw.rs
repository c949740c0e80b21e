//! Every trial's values, on demand: no median, no rounding. One list of values, for the tables of
//! text and page and for CSV, whose names the headings are made of.
//!
//! In CSV what is not known is an empty field, and no text is changed: a label that begins with `=`
//! is one there too, and a spreadsheet asked to read it as text keeps it so.

use crate::bars::line;
use crate::context::{Run, SectionContext};
use crate::format::{cache, count, grouped, three};
use crate::io_summary::describe_job;
use crate::render;
use crate::section::{Block, Section};
use crate::table::{Cell, Column, Table};
use crate::text::Style;
use fsarena_model::contender::Contender;
use fsarena_model::record::{Outcome, PhaseRecord, TrialRecord};
use fsarena_model::run::RunHeader;
use fsarena_study::{MemoryView, PhasePoints, TrialAccount, TrialPoint};
use serde_json::Value;

/// A phase of a trial.
struct Own<'a> {
    header: &'a RunHeader,
    phase: &'a PhasePoints,
    point: &'a TrialPoint,
    record: Option<&'a PhaseRecord>,
}

impl Own<'_> {
    fn contender(&self, text: fn(&Contender) -> String) -> Value {
        self.header.plan.contenders.get(self.point.contender).map(text).into()
    }

    fn memory(&self) -> (&'static str, Option<u64>) {
        match &self.point.memory {
            MemoryView::Whole => ("whole", None),
            MemoryView::Limited { limit_bytes, .. } => ("limited", Some(*limit_bytes)),
            MemoryView::NotLimited { limit_bytes, .. } => ("not-limited", Some(*limit_bytes)),
        }
    }

    fn done(&self) -> Option<(u64, u64)> {
        self.record?.first_and_last_done_ns()
    }

    fn account<T: Into<Value>>(&self, value: fn(&TrialAccount) -> T) -> Value {
        self.point.account.as_ref().map(value).into()
    }
}

/// As it is: nothing is rounded; empty where it is not known.
fn exact(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        // `1`, not `1.0`, as Rust writes it.
        Value::Number(n) if n.is_f64() => n.as_f64().unwrap_or(f64::NAN).to_string(),
        other => other.to_string(),
    }
}

fn cell(value: &Value) -> Cell {
    match (value.as_str(), value.as_u64(), value.as_f64()) {
        (Some(text), ..) => Cell::text(text),
        (_, Some(whole), _) => Cell::figure(grouped(whole), whole as f64),
        (_, _, Some(real)) => Cell::figure(three(real), real),
        _ => Cell::none(),
    }
}

/// Where a value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum In {
    Csv,
    Tables,
    Both,
}

/// Name with its unit at the end, where it stands, and what it is.
type Listed = (&'static str, In, fn(&Own<'_>) -> Value);

/// All values, in their order.
const VALUES: [Listed; 59] = [
    ("run", In::Csv, |own| own.header.uid.as_str().into()),
    ("experiment", In::Csv, |own| own.header.experiment.as_str().into()),
    ("workload", In::Csv, |own| own.phase.workload.as_str().into()),
    ("phase", In::Csv, |own| own.phase.phase.as_str().into()),
    ("contender", In::Csv, |own| own.point.label.as_str().into()),
    ("contender_id", In::Csv, |own| own.contender(|contender| contender.id().0)),
    ("file_system", In::Csv, |own| own.contender(|contender| contender.levels.fs.to_string())),
    ("device", In::Csv, |own| own.contender(|contender| contender.levels.device.kind().to_owned())),
    ("block", In::Csv, |own| u64::from(own.point.block).into()),
    ("trial", In::Csv, |own| u64::from(own.point.trial).into()),
    ("started_unix_ns", In::Csv, |own| own.point.started_unix_ns.into()),
    ("cache", In::Csv, |own| cache(own.point.cache).replace(' ', "-").into()),
    ("cache_asked", In::Csv, |own| own.point.cache_asked.name().into()),
    ("memory", In::Csv, |own| own.memory().0.into()),
    ("memory_limit_bytes", In::Csv, |own| own.memory().1.into()),
    ("spoiled", In::Csv, |own| own.point.spoiled.clone().into()),
    ("compared_clock", In::Csv, |own| own.header.plan.compared_clock.name().into()),
    ("compared_ns", In::Csv, |own| own.point.compared_ns.into()),
    ("returned_ns", In::Both, |own| own.point.returned_ns.into()),
    ("durable_ns", In::Both, |own| own.point.durable_ns.into()),
    ("drained_ns", In::Both, |own| own.point.drained_ns.into()),
    ("not_drained", In::Csv, |own| own.point.not_drained.clone().into()),
    ("ops", In::Both, |own| own.point.ops.into()),
    ("asked_bytes", In::Both, |own| own.point.asked_bytes.into()),
    ("asked_written_bytes", In::Both, |own| own.point.asked_written_bytes.into()),
    ("cpu_share", In::Both, |own| own.point.cpu_share.into()),
    ("steal_share", In::Both, |own| own.point.steal_share.into()),
    ("worker_user_ns", In::Both, |own| own.point.worker_user_ns.into()),
    ("worker_system_ns", In::Both, |own| own.point.worker_system_ns.into()),
    ("cpu_per_op_ns", In::Both, |own| own.point.cpu_per_op_ns.into()),
    ("worker_cpu_per_op_ns", In::Both, |own| own.point.worker_cpu_per_op_ns.into()),
    ("device_read_bytes", In::Both, |own| own.point.device_read_bytes.into()),
    ("device_written_bytes", In::Both, |own| own.point.device_written_bytes.into()),
    ("device_flushes", In::Both, |own| own.point.device_flushes.into()),
    ("shares_unmount", In::Csv, |own| own.point.shares_unmount.to_string().into()),
    ("write_amplification", In::Both, |own| own.point.write_amplification.into()),
    ("cycles", In::Both, |own| own.point.cycles.map(|cycles| cycles as u64).into()),
    ("device_busy_share", In::Both, |own| own.point.busy_share.into()),
    ("device_queue_depth", In::Both, |own| own.point.queue_depth.into()),
    ("device_write_latency_ns", In::Both, |own| own.point.write_latency_ns.into()),
    ("account_cycles", In::Csv, |own| own.account(|account| account.cycles as u64)),
    ("account_lost_events", In::Csv, |own| own.account(|account| account.lost_events)),
    ("account_data_bytes", In::Csv, |own| own.account(|account| account.data_bytes)),
    ("account_rounding_bytes", In::Csv, |own| own.account(|account| account.rounding_bytes)),
    ("account_gone_bytes", In::Csv, |own| own.account(|account| account.gone_bytes)),
    ("account_again_bytes", In::Csv, |own| own.account(|account| account.again_bytes)),
    ("account_journal_bytes", In::Csv, |own| own.account(|account| account.journal_bytes)),
    ("account_metadata_bytes", In::Csv, |own| own.account(|account| account.metadata_bytes)),
    ("account_unattributed_bytes", In::Csv, |own| {
        own.account(|account| account.unattributed_bytes)
    }),
    ("p50_ns", In::Both, |own| own.point.p50_ns.into()),
    ("p90_ns", In::Both, |own| own.point.p90_ns.into()),
    ("p99_ns", In::Both, |own| own.point.p99_ns.into()),
    ("p999_ns", In::Both, |own| own.point.p999_ns.into()),
    ("max_ns", In::Both, |own| own.point.max_ns.into()),
    ("margin", In::Csv, |own| own.header.plan.verdict.as_ref().map(|ask| ask.margin).into()),
    ("first_done_ns", In::Tables, |own| own.done().map(|(first, _)| first).into()),
    ("last_done_ns", In::Tables, |own| own.done().map(|(_, last)| last).into()),
    ("own_clock_ns", In::Tables, |own| {
        own.record.and_then(|record| record.program.as_ref()?.own_ns).into()
    }),
    ("startup_ns", In::Tables, |own| {
        own.record.and_then(|record| record.program.as_ref()?.startup_ns).into()
    }),
];

/// All points of a RUN as CSV: one row a trial and phase, one column a value, units in the names.
///
/// `device_written_bytes` and `device_flushes` go up to the next unmount. Where phases of a trial
/// follow each other without one, as warm phases do, what later ones wrote is among them:
/// `shares_unmount` is `true` there, and `write_amplification` is of the work of all of them.
///
/// Of a phase of cycles a row has the means of those that are compared (`cycles` is their number),
/// bytes and load of the device over their periods. The `account_` columns are bytes of a cycle, or
/// of a whole phase; those of a cycle are means of all cycles (`account_cycles` is their number),
/// disturbed ones and the unmount included. An account with `account_lost_events` is spoilt.
#[must_use]
pub fn csv(header: &RunHeader, points: &[PhasePoints]) -> String {
    let values = || VALUES.iter().filter(|(_, place, _)| *place != In::Tables);
    let mut table = Table::new(values().map(|(name, ..)| Column::text(*name)).collect::<Vec<_>>());
    for phase in points {
        for point in &phase.points {
            let own = Own { header, phase, point, record: None };
            table.row(values().map(|(.., get)| Cell::exact(exact(&get(&own)))));
        }
    }
    render::csv(&table)
}

const LEGEND: &str = "In the order in which they were run. Times are from the phase's first clock read. Asked: bytes of \
     contents that the work read and wrote. Shares are of 1; CPU: of the whole machine up to \
     durable. Worker: processor time of the program and all it starts, or of the engine; per op: with \
     that of kernel threads, by the task clock. Device: \
     read up to durable, written up to the next unmount. Everything else: --json.";

/// Every trial's values (`show RUN --raw`): a table a workload and phase, a row a trial. Blocks and
/// trials count from 1.
#[must_use]
pub fn raw_values(
    header: &RunHeader,
    records: &[TrialRecord],
    width: usize,
    style: Style,
) -> String {
    let points = fsarena_study::points(&header.plan, records);
    let blocks = raw_blocks(header, records, &points, style);
    render::text::section(&Section::new(blocks).legend(LEGEND), width, style)
}

/// The values of all trials of a RUN.
pub(crate) fn points_of(run: &Run<'_>) -> Vec<PhasePoints> {
    fsarena_study::points(&run.header.plan, run.records)
}

/// The same for a page.
pub(crate) fn raw_page(context: &SectionContext<'_>, points: &[PhasePoints]) -> Vec<Block> {
    let run = context.run;
    let mut blocks = vec![Block::Note(LEGEND.to_owned())];
    blocks.extend(raw_blocks(run.header, run.records, points, context.style));
    blocks
}

fn raw_blocks(
    header: &RunHeader,
    records: &[TrialRecord],
    points: &[PhasePoints],
    style: Style,
) -> Vec<Block> {
    let phase = |phase: &PhasePoints| {
        let table = values(header, records, phase);
        let summary =
            format!("{} / {}, {}", phase.workload, phase.phase, count(table.rows.len(), "trial"));
        let course = style.bars.then(|| course(header, records, phase));
        let tables = std::iter::once(table).chain(course).map(Block::Table);
        Block::Fold(summary, tables.collect())
    };
    points.iter().map(phase).collect()
}

/// A row a trial, with a word where it has no such phase.
fn values(header: &RunHeader, records: &[TrialRecord], phase: &PhasePoints) -> Table {
    let shown = || VALUES.iter().filter(|(_, place, _)| *place != In::Csv);
    let mut columns =
        vec![Column::text("contender"), Column::figure("trial"), Column::figure("block")];
    columns.push(Column::text("cache"));
    columns.extend(shown().map(|(name, ..)| {
        let (head, unit) = ["ns", "bytes"]
            .into_iter()
            .find_map(|unit| Some((name.strip_suffix(unit)?.strip_suffix('_')?, unit)))
            .unwrap_or((name, ""));
        Column::figure(head.replace('_', " ")).unit(unit).narrow()
    }));
    let mut table = Table::new(columns).titled(title(header, phase)).in_groups(1).leading(2);
    for record in records.iter().filter(|record| record.key.workload == phase.workload) {
        let trial = record.key.sequence + 1;
        let point = phase.points.iter().find(|point| point.trial == trial);
        let contenders = &header.plan.contenders;
        let at = contenders.iter().position(|own| own.id() == record.key.contender);
        let label = at.map_or_else(
            || Cell::text(record.key.contender.short()),
            |at| Cell::contender(at, contenders[at].label.as_str()),
        );
        let numbers = [trial, record.key.block + 1].map(|n| Cell::count(n as usize));
        let Some(point) = point else {
            let row = std::iter::once(label).chain(numbers);
            table.row(row.chain([Cell::text(ended(&record.outcome))]));
            continue;
        };
        let record = record.phases.iter().find(|own| own.name == phase.phase);
        let own = Own { header, phase, point, record };
        let row = std::iter::once(label.notes(notes(point))).chain(numbers);
        let row = row.chain([Cell::text(cache(point.cache))]);
        table.row(row.chain(shown().map(|(.., get)| cell(&get(&own)))));
    }
    table.without_empty_columns().sortable()
}

fn title(header: &RunHeader, phase: &PhasePoints) -> String {
    let work = header.plan.workloads.iter().find(|work| work.name == phase.workload);
    let own = work.and_then(|work| work.phases.iter().find(|own| own.name == phase.phase));
    let job = own.and_then(|own| own.job.as_ref());
    let words = job.map_or_else(String::new, |job| format!(", {}", describe_job(job)));
    format!("{} / {}: raw values{words}", phase.workload, phase.phase)
}

/// Why a value is in no figure, or there is none.
fn notes(point: &TrialPoint) -> Vec<String> {
    let spoiled = point.spoiled.iter().map(|why| format!("in no figure: {why}"));
    let open = point.not_drained.iter().map(|why| format!("not drained: {why}"));
    spoiled.chain(open).collect()
}

/// Why a trial has no such phase.
pub(crate) fn ended(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "-",
        Outcome::NotRun { .. } => "not run",
        Outcome::Failed { .. } => "failed",
        Outcome::Interrupted => "interrupted",
    }
}

/// Columns of a line over the blocks.
const LINE_COLUMNS: usize = 48;

/// How the compared time of each contender went on from block to block: a drift, a jump and a value
/// that stands out are seen at a glance. Contenders with one value have no course.
fn course(header: &RunHeader, records: &[TrialRecord], phase: &PhasePoints) -> Table {
    let clock = header.plan.compared_clock;
    let head = format!("{} by block, least to largest", clock.name());
    let mut table = Table::new([Column::text("contender"), Column::text(head)]);
    for contender in &header.plan.contenders {
        let id = contender.id();
        let own = records
            .iter()
            .filter(|record| record.key.contender == id && record.key.workload == phase.workload);
        let value = |record: &TrialRecord| {
            let found = record.phases.iter().find(|own| own.name == phase.phase)?;
            Some(found.is_complete().then(|| found.ns(clock)).flatten()? as f64)
        };
        let values: Vec<Option<f64>> = own.map(value).collect();
        if values.iter().flatten().count() > 1 {
            table.row([contender.label.clone(), line(&values, LINE_COLUMNS)]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::contender::Cache;
    use fsarena_model::record::CacheState;
    use fsarena_testkit::records::{self, contender, small_files};

    fn point(label: &str) -> TrialPoint {
        TrialPoint {
            contender: 0,
            label: label.to_owned(),
            block: 1,
            trial: 1,
            started_unix_ns: 1_767_225_600_000_000_000,
            cache: CacheState::Cold,
            cache_asked: Cache::Cold,
            memory: MemoryView::Whole,
            spoiled: None,
            compared_ns: Some(1_000_000_000),
            returned_ns: 500_000_000,
            durable_ns: Some(1_000_000_000),
            drained_ns: None,
            not_drained: Some("busy, for \"60 s\"".to_owned()),
            ops: 5000,
            asked_bytes: 1_280_000,
            asked_written_bytes: 1_280_000,
            cpu_share: Some(0.25),
            steal_share: None,
            worker_user_ns: Some(1),
            worker_system_ns: Some(2),
            cpu_per_op_ns: Some(41.5),
            worker_cpu_per_op_ns: Some(30.5),
            device_read_bytes: Some(0),
            device_written_bytes: None,
            device_flushes: None,
            shares_unmount: true,
            write_amplification: Some(3.0),
            cycles: None,
            busy_share: Some(0.5),
            queue_depth: Some(1.5),
            write_latency_ns: None,
            account: None,
            p50_ns: Some(10_000),
            p90_ns: Some(90_000),
            p99_ns: None,
            p999_ns: None,
            max_ns: Some(1_048_583),
        }
    }

    fn written(label: &str) -> String {
        let mut header = records::header(vec![contender(label, "ext4", 1)], vec![small_files()], 1);
        header.plan.contenders[0].label = label.to_owned();
        let (workload, phase) = ("small-files".to_owned(), "create".to_owned());
        csv(&header, &[PhasePoints { workload, phase, points: vec![point(label)] }])
    }

    #[test]
    fn a_row_a_point() {
        let text = written("ext4");
        let (head, row) = text.trim_end().split_once('\n').unwrap();
        let fields: Vec<String> = row.split(',').map(str::to_owned).collect();
        // No field of this row but one has a comma in it.
        let quoted = fields.iter().position(|field| field.starts_with('"')).unwrap();
        let mut values = fields.clone();
        values.splice(quoted..quoted + 2, [fields[quoted..quoted + 2].join(",")]);
        let pairs: Vec<String> =
            head.split(',').zip(&values).map(|(name, value)| format!("{name}={value}")).collect();
        insta::assert_snapshot!(pairs.join("\n"));
    }

    #[test]
    fn any_label_is_read_back_as_it_is() {
        for label in ["a,b", "a\"b", "a\nb", "=1+1", "<script>", " x ", "ä|b"] {
            let text = written(label);
            let mut reader = ::csv::Reader::from_reader(text.as_bytes());
            assert_eq!(reader.headers().unwrap().len(), 55);
            let row = reader.records().next().unwrap().unwrap();
            assert_eq!(&row[4], label);
            assert_eq!(&row[21], "busy, for \"60 s\"");
        }
    }

    #[test]
    fn a_run_without_trials_has_the_heading_alone() {
        let header = records::header(vec![contender("a", "ext4", 1)], vec![small_files()], 1);
        let head = csv(&header, &[]);
        assert!(head.starts_with("run,experiment,") && head.ends_with(",margin\n"), "{head}");
    }
}

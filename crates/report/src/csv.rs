//! Every raw value as CSV: one row a trial and phase, one column a value, units in the names.
//!
//! What is not known is an empty field. Nothing is rounded and no text is changed: a label that
//! begins with `=` is one here too, and a spreadsheet asked to read it as text keeps it so.

use crate::render;
use crate::table::{Cell, Column, Table};
use fsarena_model::record::CacheState;
use fsarena_model::run::RunHeader;
use fsarena_study::{MemoryView, PhasePoints, TrialAccount, TrialPoint};

/// Names of the columns, in their order.
const COLUMNS: [&str; 50] = [
    "run",
    "experiment",
    "workload",
    "phase",
    "contender",
    "contender_id",
    "file_system",
    "device",
    "block",
    "trial",
    "started_unix_ns",
    "cache",
    "memory",
    "memory_limit_bytes",
    "spoiled",
    "compared_clock",
    "compared_ns",
    "returned_ns",
    "durable_ns",
    "drained_ns",
    "not_drained",
    "ops",
    "asked_bytes",
    "asked_written_bytes",
    "cpu_share",
    "steal_share",
    "worker_user_ns",
    "worker_system_ns",
    "device_read_bytes",
    "device_written_bytes",
    "device_flushes",
    "shares_unmount",
    "write_amplification",
    "cycles",
    "device_busy_share",
    "device_queue_depth",
    "device_write_latency_ns",
    "account_cycles",
    "account_lost_events",
    "account_data_bytes",
    "account_rounding_bytes",
    "account_gone_bytes",
    "account_again_bytes",
    "account_journal_bytes",
    "account_metadata_bytes",
    "account_unattributed_bytes",
    "p50_ns",
    "p99_ns",
    "max_ns",
    "margin",
];

/// All points of a RUN. Blocks and trials are counted from 1; shares are 0 to 1.
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
    let mut table = Table::new(COLUMNS.map(Column::text));
    for phase in points {
        for point in &phase.points {
            table.row(row(header, phase, point).map(Cell::exact));
        }
    }
    render::csv::table(&table)
}

fn row(header: &RunHeader, phase: &PhasePoints, point: &TrialPoint) -> [String; COLUMNS.len()] {
    let plan = &header.plan;
    let contender = plan.contenders.get(point.contender);
    let of = |text: fn(&fsarena_model::contender::Contender) -> String| {
        contender.map(text).unwrap_or_default()
    };
    let (memory, limit_bytes) = match &point.memory {
        MemoryView::Whole => ("whole", None),
        MemoryView::Limited { limit_bytes, .. } => ("limited", Some(*limit_bytes)),
        MemoryView::NotLimited { limit_bytes, .. } => ("not-limited", Some(*limit_bytes)),
    };
    let account = |of: fn(&TrialAccount) -> f64| known(point.account.as_ref().map(of));
    let cache = match point.cache {
        CacheState::Cold => "cold",
        CacheState::Warm => "warm",
        CacheState::WarmByNature => "warm-by-nature",
    };
    [
        header.uid.clone(),
        header.experiment.clone(),
        phase.workload.clone(),
        phase.phase.clone(),
        point.label.clone(),
        of(|contender| contender.id().0),
        of(|contender| contender.levels.fs.to_string()),
        of(|contender| contender.levels.device.kind().to_owned()),
        point.block.to_string(),
        point.trial.to_string(),
        point.started_unix_ns.to_string(),
        cache.to_owned(),
        memory.to_owned(),
        known(limit_bytes),
        point.spoiled.clone().unwrap_or_default(),
        plan.compared_clock.name().to_owned(),
        known(point.compared_ns),
        point.returned_ns.to_string(),
        known(point.durable_ns),
        known(point.drained_ns),
        point.not_drained.clone().unwrap_or_default(),
        point.ops.to_string(),
        point.asked_bytes.to_string(),
        point.asked_written_bytes.to_string(),
        known(point.cpu_share),
        known(point.steal_share),
        known(point.worker_user_ns),
        known(point.worker_system_ns),
        known(point.device_read_bytes),
        known(point.device_written_bytes),
        known(point.device_flushes),
        point.shares_unmount.to_string(),
        known(point.write_amplification),
        known(point.cycles),
        known(point.busy_share),
        known(point.queue_depth),
        known(point.write_latency_ns),
        known(point.account.map(|account| account.cycles)),
        known(point.account.map(|account| account.lost_events)),
        account(|account| account.data_bytes),
        account(|account| account.rounding_bytes),
        account(|account| account.gone_bytes),
        account(|account| account.again_bytes),
        account(|account| account.journal_bytes),
        account(|account| account.metadata_bytes),
        account(|account| account.unattributed_bytes),
        known(point.p50_ns),
        known(point.p99_ns),
        known(point.max_ns),
        known(plan.verdict.as_ref().map(|ask| ask.margin)),
    ]
}

/// A figure, or nothing.
fn known(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_testkit::records::{self, contender, small_files};

    fn point(label: &str) -> TrialPoint {
        TrialPoint {
            contender: 0,
            label: label.to_owned(),
            block: 1,
            trial: 1,
            started_unix_ns: 1_767_225_600_000_000_000,
            cache: CacheState::Cold,
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
            p99_ns: None,
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
            assert_eq!(reader.headers().unwrap().len(), COLUMNS.len());
            let row = reader.records().next().unwrap().unwrap();
            assert_eq!(&row[4], label);
            assert_eq!(&row[20], "busy, for \"60 s\"");
        }
    }

    #[test]
    fn a_run_without_trials_has_the_heading_alone() {
        let header = records::header(vec![contender("a", "ext4", 1)], vec![small_files()], 1);
        assert_eq!(csv(&header, &[]), format!("{}\n", COLUMNS.join(",")));
    }
}

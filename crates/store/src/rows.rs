//! A trial's record taken apart into rows: what can be asked in SQL.
//!
//! Nothing here is read back: the raw text is the record.

use crate::columns::{cache_name, int, int_if, json, sha256};
use fsarena_model::job::{By, Compression, Job, JobKind};
use fsarena_model::record::{CacheState, Drained, MemoryRecord, Outcome, PhaseRecord, TrialRecord};
use fsarena_model::sample::{LatencyHistogram, Series};
use fsarena_model::work::Order;
use rusqlite::{Transaction, params};

pub(crate) fn insert_trial(
    t: &Transaction<'_>,
    slot: i64,
    attempt: u32,
    record: &TrialRecord,
    raw: &str,
) -> rusqlite::Result<i64> {
    let (outcome, step, reason, remedy) = match &record.outcome {
        Outcome::Done => ("done", None, None, None),
        Outcome::NotRun { reason } => ("not-run", None, Some(reason), None),
        Outcome::Failed { step, error, remedy } => {
            ("failed", Some(step), Some(error), remedy.as_ref())
        }
        Outcome::Interrupted => ("interrupted", None, None, None),
    };
    let (fs, space) = (&record.filesystem, record.space.as_ref());
    t.execute(
        "INSERT INTO trial (slot_id, attempt, outcome, failed_step, reason, remedy, started_unix_ns,
         elapsed_ns, tool_version, mount_asked, mounted_type, mounted_options, served_by,
         conditioning, used_bytes, used_empty_bytes, stored_bytes, unmount_ns, verified_files,
         bad_files, raw, raw_sha256)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            slot,
            attempt,
            outcome,
            step,
            reason,
            remedy,
            int(record.started_unix_ns),
            int(record.elapsed_ns),
            fs.tool_version,
            fs.mount_asked,
            fs.mounted_type,
            fs.mounted_options,
            fs.served_by,
            record.conditioning.as_ref().map(json),
            int_if(space.map(|s| s.used_bytes)),
            int_if(space.map(|s| s.used_empty_bytes)),
            int_if(space.map(|s| s.stored_bytes)),
            int_if(record.unmount_ns),
            int_if(record.verify.as_ref().map(|v| v.files)),
            int_if(record.verify.as_ref().map(|v| v.bad_files)),
            raw,
            sha256(raw),
        ],
    )?;
    Ok(t.last_insert_rowid())
}

/// Steps, facts and notices.
pub(crate) fn insert_rows(
    t: &Transaction<'_>,
    trial: i64,
    record: &TrialRecord,
) -> rusqlite::Result<()> {
    let mut step = t.prepare_cached(
        "INSERT INTO step (trial_id, place, step, phase, elapsed_ns) VALUES (?, ?, ?, ?, ?)",
    )?;
    for (place, row) in record.steps.iter().enumerate() {
        let place = int(place as u64);
        step.execute(params![trial, place, row.step, row.phase, int(row.elapsed_ns)])?;
    }
    let mut fact =
        t.prepare_cached("INSERT INTO fact (trial_id, about, name, value) VALUES (?, ?, ?, ?)")?;
    for (about, facts) in [("device", &record.device), ("filesystem", &record.filesystem.features)]
    {
        for (name, value) in facts {
            fact.execute(params![trial, about, name, value])?;
        }
    }
    let mut notice = t.prepare_cached(
        "INSERT INTO notice (trial_id, place, code, text, remedy) VALUES (?, ?, ?, ?, ?)",
    )?;
    for (place, row) in record.notices.iter().enumerate() {
        notice.execute(params![trial, int(place as u64), row.code, row.text, row.remedy])?;
    }
    Ok(())
}

const INSERT_PHASE: &str = "INSERT INTO phase (trial_id, place, name, op, file_order,
    started_unix_ns, returned_ns, durable_ns, drained, drained_ns, drained_reason, ops,
    asked_bytes, cache_asked, cache_state, cache_why, memory, memory_limit_bytes,
    memory_peak_bytes, memory_why, worker_user_ns, worker_system_ns, latency_precision_bits,
    latency_min_ns, latency_max_ns, latency_sum_ns, latency_buckets, sampler_samples,
    sampler_cpu_ns, sampler_wall_ns, error_op_index, error_errno, error, bs_bytes, backend,
    direct, iodepth, fsync, threads, sharing, first_done_ns, last_done_ns, asked_written_bytes,
    write_latency_precision_bits, write_latency_min_ns, write_latency_max_ns,
    write_latency_sum_ns, write_latency_buckets, job, job_by, job_of, job_compression,
    job_compilers, job_command)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

pub(crate) fn insert_phase(
    t: &Transaction<'_>,
    trial: i64,
    place: usize,
    phase: &PhaseRecord,
) -> rusqlite::Result<i64> {
    let (drained, drained_reason) = drained_columns(&phase.clocks.drained);
    let (memory, limit, peak, why) = memory_columns(&phase.memory);
    let latency = latency_columns(phase.latency.as_ref());
    let writes = latency_columns(phase.write_latency.as_ref());
    let done = phase.first_and_last_done_ns();
    let sampler = phase.sampler.as_ref();
    let error = phase.error.as_ref();
    let job = phase.job.as_ref().map_or_else(JobColumns::default, job_columns);
    t.prepare_cached(INSERT_PHASE)?.execute(params![
        trial,
        int(place as u64),
        phase.name,
        phase.op.name(),
        match phase.order {
            Order::Sequential => "sequential",
            Order::Random => "random",
        },
        int(phase.started_unix_ns),
        int(phase.clocks.returned_ns),
        int_if(phase.clocks.durable_ns),
        drained,
        int_if(phase.clocks.drained.ns()),
        drained_reason,
        int(phase.ops),
        int(phase.asked_bytes),
        cache_name(phase.cache.asked),
        cache_state_name(phase.cache.state),
        phase.cache.why,
        memory,
        int_if(limit),
        int_if(peak),
        why,
        int(phase.worker.user_ns),
        int(phase.worker.system_ns),
        latency.precision_bits,
        latency.min_ns,
        latency.max_ns,
        latency.sum_ns,
        latency.buckets,
        int_if(sampler.map(|s| s.samples)),
        int_if(sampler.map(|s| s.cpu_ns)),
        int_if(sampler.map(|s| s.wall_ns)),
        int_if(error.map(|e| e.op_index)),
        error.map(|e| e.errno),
        error.map(|e| format!("{} {}: {}", e.call, e.path, e.text)),
        // 0 is what records of the first version have, which did not say, and real work.
        int_if((phase.bs_bytes > 0).then_some(phase.bs_bytes)),
        phase.io.backend.name(),
        phase.io.direct,
        phase.io.iodepth,
        phase.io.fsync.name(),
        phase.io.threads,
        phase.io.sharing.name(),
        int_if(done.map(|(first, _)| first)),
        int_if(done.map(|(_, last)| last)),
        int_if(phase.asked_written_bytes),
        writes.precision_bits,
        writes.min_ns,
        writes.max_ns,
        writes.sum_ns,
        writes.buckets,
        job.kind,
        job.by,
        job.of,
        job.compression,
        job.compilers,
        job.command,
    ])?;
    Ok(t.last_insert_rowid())
}

pub(crate) fn drained_columns(drained: &Drained) -> (&'static str, Option<&str>) {
    match drained {
        Drained::Frozen { .. } => ("frozen", None),
        Drained::Idle { .. } => ("idle", None),
        Drained::NoDevice => ("no-device", None),
        Drained::NotDrained { reason } | Drained::NotWaitedFor { reason } => {
            ("not-drained", Some(reason))
        }
    }
}

pub(crate) fn cache_state_name(state: CacheState) -> &'static str {
    match state {
        CacheState::Cold => "cold",
        CacheState::Warm => "warm",
        CacheState::WarmByNature => "warm-by-nature",
    }
}

/// A histogram in the columns of a phase; all empty where there is none.
#[derive(Default)]
struct LatencyColumns {
    precision_bits: Option<u32>,
    min_ns: Option<i64>,
    max_ns: Option<i64>,
    sum_ns: Option<i64>,
    buckets: Option<String>,
}

fn latency_columns(histogram: Option<&LatencyHistogram>) -> LatencyColumns {
    let Some(histogram) = histogram else { return LatencyColumns::default() };
    LatencyColumns {
        precision_bits: Some(histogram.precision_bits),
        min_ns: Some(int(histogram.min_ns)),
        max_ns: Some(int(histogram.max_ns)),
        sum_ns: Some(int(histogram.sum_ns)),
        buckets: Some(json(&histogram.buckets)),
    }
}

/// Real work in the columns of a phase; all empty where it was none.
#[derive(Default)]
struct JobColumns<'a> {
    kind: Option<&'static str>,
    by: Option<&'static str>,
    of: Option<&'a str>,
    compression: Option<&'static str>,
    compilers: Option<u32>,
    command: Option<&'a str>,
}

fn job_columns(job: &Job) -> JobColumns<'_> {
    let (mut compression, mut compilers, mut command) = (None, None, None);
    match &job.kind {
        JobKind::Untar { compression: of } | JobKind::Archive { compression: of } => {
            compression = Some(Compression::name(*of));
        }
        JobKind::Compile { jobs } => compilers = Some(*jobs),
        JobKind::Command(text) => command = Some(text.run.as_str()),
        JobKind::Copy | JobKind::Delete | JobKind::Flac | JobKind::Ogg => {}
    }
    let by = match job.by {
        By::Program => "program",
        By::Engine => "engine",
    };
    let (kind, of) = (Some(job.kind.name()), Some(job.of.as_str()));
    JobColumns { kind, by: Some(by), of, compression, compilers, command }
}

type MemoryColumns<'a> = (&'static str, Option<u64>, Option<u64>, Option<&'a str>);

fn memory_columns(memory: &MemoryRecord) -> MemoryColumns<'_> {
    match memory {
        MemoryRecord::Whole => ("whole", None, None, None),
        MemoryRecord::Limited { limit_bytes, by, peak_bytes, .. } => {
            ("limited", Some(*limit_bytes), *peak_bytes, Some(by))
        }
        MemoryRecord::NotLimited { limit_bytes, reason } => {
            ("not-limited", Some(*limit_bytes), None, Some(reason))
        }
    }
}

pub(crate) fn insert_threads_and_program(
    t: &Transaction<'_>,
    id: i64,
    phase: &PhaseRecord,
) -> rusqlite::Result<()> {
    let mut insert = t.prepare_cached(
        "INSERT INTO thread (phase_id, number, started_ns, done_ns, ops, asked_bytes)
         VALUES (?, ?, ?, ?, ?, ?)",
    )?;
    for (number, thread) in phase.threads.iter().enumerate() {
        insert.execute(params![
            id,
            int(number as u64),
            int(thread.started_ns),
            int(thread.done_ns),
            int(thread.ops),
            int(thread.asked_bytes),
        ])?;
    }
    if let Some(program) = &phase.program {
        t.prepare_cached(
            "INSERT INTO program (phase_id, name, version, own_ns, figures)
             VALUES (?, ?, ?, ?, ?)",
        )?
        .execute(params![
            id,
            program.name,
            program.version,
            int_if(program.own_ns),
            json(&program.figures),
        ])?;
        let mut insert = t.prepare_cached(
            "INSERT INTO tool (phase_id, place, name, path, version) VALUES (?, ?, ?, ?, ?)",
        )?;
        for (place, tool) in program.tools.iter().enumerate() {
            let path = tool.path.to_string_lossy();
            insert.execute(params![id, int(place as u64), tool.name, path, tool.version])?;
        }
    }
    Ok(())
}

pub(crate) fn insert_counters(
    t: &Transaction<'_>,
    id: i64,
    phase: &PhaseRecord,
) -> rusqlite::Result<()> {
    let mut insert = t.prepare_cached(
        "INSERT INTO counter (phase_id, window, name, value) VALUES (?, ?, ?, ?)",
    )?;
    for (window, counters) in &phase.windows {
        for (name, value) in counters {
            insert.execute(params![id, window.name(), name, int(*value)])?;
        }
    }
    Ok(())
}

pub(crate) fn insert_series(t: &Transaction<'_>, id: i64, series: &Series) -> rusqlite::Result<()> {
    t.prepare_cached("INSERT INTO series (phase_id, period_ns, t_ns) VALUES (?, ?, ?)")?
        .execute(params![id, int(series.period_ns), json(&series.t_ns)])?;
    let mut insert = t.prepare_cached(
        "INSERT INTO series_column (phase_id, metric, readings) VALUES (?, ?, ?)",
    )?;
    for (metric, readings) in &series.columns {
        insert.execute(params![id, metric, json(readings)])?;
    }
    Ok(())
}

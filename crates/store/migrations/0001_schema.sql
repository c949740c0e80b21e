-- Schema version 6. The meaning of every table and view and the reasons are in ../schema.md.
--
-- What was planned and what a trial left is stored once, as the JSON text of the model (`run.raw`,
-- `trial.raw`); generated columns and views read it. Views name no generated column, and use only
-- what DuckDB has too: it reads their text as its own SQL.

CREATE TABLE run (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    uid               TEXT    NOT NULL UNIQUE,
    experiment        TEXT    NOT NULL,
    title             TEXT    NOT NULL,
    created_unix_ns   INTEGER NOT NULL,
    hostname          TEXT    NOT NULL,
    state             TEXT    NOT NULL
                      CHECK (state IN ('running', 'done', 'interrupted', 'failed')),
    note              TEXT,
    owner_pid         INTEGER NOT NULL,
    owner_start_ticks INTEGER NOT NULL,
    owner_boot_id     TEXT    NOT NULL,
    merged            INTEGER NOT NULL DEFAULT 0 CHECK (merged IN (0, 1)),
    stop_blocks       INTEGER,
    stop_why          TEXT    CHECK (stop_why IN ('decided', 'cap', 'budget')),
    program_version   TEXT    AS (raw ->> '$.program_version'),
    seed              TEXT    AS (raw ->> '$.plan.seed'),
    blocks            INTEGER AS (raw ->> '$.plan.blocks'),
    compared_clock    TEXT    AS (raw ->> '$.plan.compared_clock'),
    scale             REAL    AS (raw ->> '$.plan.scale'),
    verify            INTEGER AS (raw ->> '$.plan.verify'),
    sample_period_ns  INTEGER AS (CAST(raw ->> '$.plan.sample_period_ns' AS INTEGER)),
    method_version    INTEGER AS (raw ->> '$.plan.verdict.method'),
    rule              TEXT    AS (raw ->> '$.plan.verdict.rule.kind'),
    rule_blocks       INTEGER AS (coalesce(raw ->> '$.plan.verdict.rule.cap',
                                           raw ->> '$.plan.verdict.rule.blocks')),
    margin            REAL    AS (raw ->> '$.plan.verdict.margin'),
    budget_ns         INTEGER AS (CAST(raw ->> '$.plan.verdict.budget_ns' AS INTEGER)),
    baseline_position INTEGER AS (raw ->> '$.plan.verdict.pairs.contender'),
    raw               TEXT    NOT NULL,
    raw_sha256        TEXT    NOT NULL,
    CHECK ((stop_why IS NULL) = (stop_blocks IS NULL))
) STRICT;
CREATE INDEX run_by_experiment ON run (experiment, id);

CREATE TABLE contender (
    id                INTEGER PRIMARY KEY,
    run_id            INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position          INTEGER NOT NULL,
    identity          TEXT    NOT NULL,
    label             TEXT    NOT NULL,
    replicate         INTEGER NOT NULL,
    fs                TEXT    NOT NULL,
    device            TEXT    NOT NULL
                      CHECK (device IN ('loop', 'ram', 'zram', 'brd', 'null-blk', 'block',
                                        'directory', 'elsewhere')),
    device_size_bytes INTEGER,
    device_path       TEXT,
    UNIQUE (run_id, position),
    UNIQUE (run_id, identity)
) STRICT;
CREATE INDEX contender_by_identity ON contender (identity);

-- One row a factor that the program knew: a further factor needs no column.
CREATE TABLE level (
    contender_id INTEGER NOT NULL REFERENCES contender (id) ON DELETE CASCADE,
    factor       TEXT    NOT NULL,
    value        TEXT    NOT NULL,
    PRIMARY KEY (contender_id, factor)
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
    run_id          INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    number          INTEGER NOT NULL CHECK (number > 0),
    started_unix_ns INTEGER NOT NULL,
    boot_id         TEXT    NOT NULL,
    first_sequence  INTEGER NOT NULL,
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE workload (
    id              INTEGER PRIMARY KEY,
    run_id          INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position        INTEGER NOT NULL,
    name            TEXT    NOT NULL,
    title           TEXT    NOT NULL,
    files           INTEGER NOT NULL,
    size_bytes      INTEGER NOT NULL,
    dirs            INTEGER NOT NULL,
    depth           INTEGER NOT NULL,
    name_bytes      INTEGER NOT NULL,
    sizes           TEXT,
    per_dir         TEXT,
    fio             INTEGER NOT NULL CHECK (fio IN (0, 1)),
    source          TEXT,
    source_origin   TEXT    CHECK (source_origin IN ('made', 'own')),
    source_path     TEXT,
    source_place    TEXT    CHECK (source_place IN ('same', 'other', 'memory')),
    source_archive  TEXT    CHECK (source_archive IN ('none', 'gzip', 'bzip2', 'xz', 'zstd')),
    source_contents TEXT,
    UNIQUE (run_id, position),
    UNIQUE (run_id, name)
) STRICT;

CREATE TABLE question (
    id          INTEGER PRIMARY KEY,
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    workload_id INTEGER NOT NULL REFERENCES workload (id) ON DELETE CASCADE,
    phase       TEXT    NOT NULL,
    metric      TEXT    NOT NULL CHECK (metric IN ('time', 'cpu', 'written', 'p99')),
    clock       TEXT    NOT NULL CHECK (clock IN ('returned', 'durable', 'drained')),
    headline    INTEGER NOT NULL CHECK (headline IN (0, 1)),
    UNIQUE (run_id, position)
) STRICT;

CREATE TABLE look (
    id         INTEGER PRIMARY KEY,
    run_id     INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    number     INTEGER NOT NULL CHECK (number > 0),
    blocks     INTEGER NOT NULL,
    at_unix_ns INTEGER NOT NULL,
    UNIQUE (run_id, number),
    UNIQUE (run_id, blocks)
) STRICT;

CREATE TABLE decision (
    look_id     INTEGER NOT NULL REFERENCES look (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    question_id INTEGER NOT NULL REFERENCES question (id) ON DELETE CASCADE,
    a_id        INTEGER NOT NULL REFERENCES contender (id) ON DELETE CASCADE,
    b_id        INTEGER NOT NULL REFERENCES contender (id) ON DELETE CASCADE,
    verdict     TEXT    NOT NULL CHECK (verdict IN ('FASTER', 'SLOWER', 'SAME')),
    PRIMARY KEY (look_id, position),
    UNIQUE (question_id, a_id, b_id),
    CHECK (a_id <> b_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE slot (
    id           INTEGER PRIMARY KEY,
    run_id       INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    sequence     INTEGER NOT NULL,
    block        INTEGER NOT NULL,
    position     INTEGER NOT NULL,
    contender_id INTEGER NOT NULL REFERENCES contender (id) ON DELETE CASCADE,
    workload_id  INTEGER NOT NULL REFERENCES workload (id) ON DELETE CASCADE,
    UNIQUE (run_id, sequence)
) STRICT;
CREATE INDEX slot_by_contender ON slot (contender_id);
CREATE INDEX slot_by_workload ON slot (workload_id);

-- A slot may have several attempts.
CREATE TABLE trial (
    id               INTEGER PRIMARY KEY,
    slot_id          INTEGER NOT NULL REFERENCES slot (id) ON DELETE CASCADE,
    attempt          INTEGER NOT NULL CHECK (attempt > 0),
    outcome          TEXT    NOT NULL
                     CHECK (outcome IN ('done', 'not-run', 'failed', 'interrupted')),
    time_base        TEXT    NOT NULL CHECK (time_base IN ('wall', 'virtual')),
    started_unix_ns  INTEGER NOT NULL,
    elapsed_ns       INTEGER NOT NULL,
    bad_files        INTEGER,
    place            TEXT    AS (raw ->> '$.place'),
    failed_step      TEXT    AS (raw ->> '$.outcome.step'),
    reason           TEXT    AS (coalesce(raw ->> '$.outcome.reason', raw ->> '$.outcome.error')),
    remedy           TEXT    AS (raw ->> '$.outcome.remedy'),
    tool_version     TEXT    AS (raw ->> '$.filesystem.tool_version'),
    mount_asked      TEXT    AS (raw ->> '$.filesystem.mount_asked'),
    mounted_type     TEXT    AS (raw ->> '$.filesystem.mounted_type'),
    mounted_options  TEXT    AS (raw ->> '$.filesystem.mounted_options'),
    served_by        TEXT    AS (raw ->> '$.filesystem.served_by'),
    conditioning     TEXT    AS (nullif(raw -> '$.conditioning', 'null')),
    used_bytes       INTEGER AS (CAST(raw ->> '$.space.used_bytes' AS INTEGER)),
    used_empty_bytes INTEGER AS (CAST(raw ->> '$.space.used_empty_bytes' AS INTEGER)),
    stored_bytes     INTEGER AS (CAST(raw ->> '$.space.stored_bytes' AS INTEGER)),
    unmount_ns       INTEGER AS (CAST(raw ->> '$.unmount_ns' AS INTEGER)),
    verified_files   INTEGER AS (CAST(raw ->> '$.verify.files' AS INTEGER)),
    raw              TEXT    NOT NULL,
    raw_sha256       TEXT    NOT NULL,
    UNIQUE (slot_id, attempt)
) STRICT;
-- So that scores are read without the rows of trial, which carry the raw texts.
CREATE INDEX trial_for_scores
    ON trial (slot_id, attempt, outcome, started_unix_ns, elapsed_ns, bad_files, time_base);

-- Of each timed phase what verdicts are computed from, side by side and in the order of the trials.
CREATE TABLE score (
    phase_id       INTEGER PRIMARY KEY,
    trial_id       INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    position       INTEGER NOT NULL,
    name           TEXT    NOT NULL,
    failed         INTEGER NOT NULL CHECK (failed IN (0, 1)),
    returned_ns    INTEGER NOT NULL,
    durable_ns     INTEGER,
    drained        TEXT    NOT NULL
                   CHECK (drained IN ('frozen', 'idle', 'no-device', 'not-drained')),
    drained_ns     INTEGER,
    cache_state    TEXT    NOT NULL CHECK (cache_state IN ('cold', 'warm', 'warm-by-nature')),
    memory         TEXT    NOT NULL CHECK (memory IN ('whole', 'limited', 'not-limited')),
    cpu_user_ns    INTEGER,
    cpu_nice_ns    INTEGER,
    cpu_system_ns  INTEGER,
    cpu_irq_ns     INTEGER,
    cpu_softirq_ns INTEGER,
    cpu_idle_ns    INTEGER,
    cpu_iowait_ns  INTEGER,
    cpu_steal_ns   INTEGER,
    written_bytes  INTEGER,
    p99_ns         INTEGER,
    UNIQUE (trial_id, position)
) STRICT;

CREATE TABLE series (
    phase_id  INTEGER PRIMARY KEY REFERENCES score (phase_id) ON DELETE CASCADE,
    period_ns INTEGER NOT NULL,
    t_ns      TEXT    NOT NULL,
    sha256    TEXT    NOT NULL
) STRICT;

CREATE TABLE series_column (
    phase_id INTEGER NOT NULL REFERENCES series (phase_id) ON DELETE CASCADE,
    metric   TEXT    NOT NULL,
    readings TEXT    NOT NULL,
    PRIMARY KEY (phase_id, metric)
) STRICT, WITHOUT ROWID;

-- A record never changes, nor does a plan, nor what was decided. (Deleting a whole RUN is allowed.)
CREATE TRIGGER trial_never_changes BEFORE UPDATE ON trial
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER score_never_changes BEFORE UPDATE ON score
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER series_never_changes BEFORE UPDATE ON series
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER series_column_never_changes BEFORE UPDATE ON series_column
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER session_never_changes BEFORE UPDATE ON session
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER question_never_changes BEFORE UPDATE ON question
BEGIN SELECT RAISE(ABORT, 'a plan never changes'); END;
CREATE TRIGGER look_never_changes BEFORE UPDATE ON look
BEGIN SELECT RAISE(ABORT, 'a look never changes'); END;
CREATE TRIGGER decision_never_changes BEFORE UPDATE ON decision
BEGIN SELECT RAISE(ABORT, 'a decision never changes'); END;
CREATE TRIGGER level_never_changes BEFORE UPDATE ON level
BEGIN SELECT RAISE(ABORT, 'a plan never changes'); END;
CREATE TRIGGER plan_never_changes
BEFORE UPDATE OF uid, experiment, title, created_unix_ns, hostname, raw, raw_sha256 ON run
BEGIN SELECT RAISE(ABORT, 'a plan never changes'); END;
CREATE TRIGGER stop_never_changes BEFORE UPDATE OF stop_blocks, stop_why ON run
WHEN OLD.stop_why IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a stop never changes'); END;

-- What a plan says, from run.raw.

CREATE VIEW host AS
SELECT run.id AS run_id, run.hostname, run.raw ->> '$.host.os' AS os,
       run.raw ->> '$.host.kernel_release' AS kernel_release,
       run.raw ->> '$.host.architecture' AS architecture,
       run.raw ->> '$.host.distribution' AS distribution,
       run.raw ->> '$.host.cpu_model' AS cpu_model,
       CAST(run.raw ->> '$.host.cpus' AS BIGINT) AS cpus,
       CAST(run.raw ->> '$.host.memory_bytes' AS BIGINT) AS memory_bytes,
       CAST(run.raw ->> '$.host.swap_bytes' AS BIGINT) AS swap_bytes,
       run.raw ->> '$.host.boot_id' AS boot_id, run.raw ->> '$.host.hypervisor' AS hypervisor,
       run.raw ->> '$.host.clocksource' AS clocksource, run.raw ->> '$.host.governor' AS governor,
       run.raw ->> '$.host.page_reporting' AS page_reporting
FROM run;

CREATE VIEW contender_option AS
SELECT contender.id AS contender_id, 'mkfs' AS kind, made.key AS name, made.value AS value
FROM contender JOIN run ON run.id = contender.run_id,
     json_each(run.raw, '$.plan.contenders[' || contender.position || '].levels.fs.mkfs') AS made
UNION
SELECT contender.id, 'mount',
       CASE WHEN instr(asked.value, '=') > 0
            THEN substr(asked.value, 1, instr(asked.value, '=') - 1) ELSE asked.value END,
       CASE WHEN instr(asked.value, '=') > 0
            THEN substr(asked.value, instr(asked.value, '=') + 1) ELSE '' END
FROM contender JOIN run ON run.id = contender.run_id,
     json_each(run.raw, '$.plan.contenders[' || contender.position || '].levels.fs.mount') AS asked;

CREATE VIEW not_run AS
SELECT run.id AS run_id, CAST(entry.key AS BIGINT) AS position, contender.id AS contender_id,
       workload.id AS workload_id, entry.value ->> '$.reason' AS reason
FROM run, json_each(run.raw, '$.plan.not_run') AS entry
JOIN contender ON contender.run_id = run.id
     AND contender.position = CAST(entry.value ->> '$.contender' AS BIGINT)
LEFT JOIN workload ON workload.run_id = run.id
     AND workload.position = CAST(entry.value ->> '$.workload' AS BIGINT);

-- What a trial left, from trial.raw.

CREATE VIEW rank AS
SELECT trial.id AS trial_id, CAST(entry.key AS BIGINT) AS number,
       entry.value ->> '$.hostname' AS hostname, entry.value ->> '$.boot_id' AS boot_id,
       CAST(entry.value ->> '$.threads' AS BIGINT) AS threads
FROM trial, json_each(trial.raw, '$.ranks') AS entry;

CREATE VIEW step AS
SELECT trial.id AS trial_id, CAST(entry.key AS BIGINT) AS position,
       entry.value ->> '$.step' AS step, entry.value ->> '$.phase' AS phase,
       CAST(entry.value ->> '$.elapsed_ns' AS BIGINT) AS elapsed_ns
FROM trial, json_each(trial.raw, '$.steps') AS entry;

CREATE VIEW fact AS
SELECT trial.id AS trial_id, 'device' AS about, entry.key AS name, entry.value AS value
FROM trial, json_each(trial.raw, '$.device') AS entry
UNION ALL
SELECT trial.id, 'filesystem', entry.key, entry.value
FROM trial, json_each(trial.raw, '$.filesystem.features') AS entry;

CREATE VIEW notice AS
SELECT trial.id AS trial_id, CAST(entry.key AS BIGINT) AS position,
       entry.value ->> '$.code' AS code, entry.value ->> '$.text' AS text,
       entry.value ->> '$.remedy' AS remedy
FROM trial, json_each(trial.raw, '$.notices') AS entry;

-- One row a timed phase. `body` is what the record has of it.
CREATE VIEW phase AS
SELECT id, trial_id, position, name, body ->> '$.op' AS op, body ->> '$.order' AS file_order,
       CAST(body ->> '$.started_unix_ns' AS BIGINT) AS started_unix_ns,
       CAST(body ->> '$.clocks.returned_ns' AS BIGINT) AS returned_ns,
       CAST(body ->> '$.clocks.durable_ns' AS BIGINT) AS durable_ns,
       drained,
       CAST(coalesce(body ->> '$.clocks.drained.frozen.drained_ns',
                     body ->> '$.clocks.drained.idle.drained_ns') AS BIGINT) AS drained_ns,
       coalesce(body ->> '$.clocks.drained."not-drained".reason',
                body ->> '$.clocks.drained."not-waited-for".reason') AS drained_reason,
       CAST(body ->> '$.ops' AS BIGINT) AS ops,
       CAST(body ->> '$.asked_bytes' AS BIGINT) AS asked_bytes,
       body ->> '$.cache.asked' AS cache_asked,
       cache_state,
       body ->> '$.cache.why' AS cache_why,
       memory,
       CAST(body ->> '$.memory.limit_bytes' AS BIGINT) AS memory_limit_bytes,
       CAST(body ->> '$.memory.peak_bytes' AS BIGINT) AS memory_peak_bytes,
       coalesce(body ->> '$.memory.by', body ->> '$.memory.reason') AS memory_why,
       CAST(body ->> '$.worker.user_ns' AS BIGINT) AS worker_user_ns,
       CAST(body ->> '$.worker.system_ns' AS BIGINT) AS worker_system_ns,
       CAST(body ->> '$.latency.precision_bits' AS BIGINT) AS latency_precision_bits,
       CAST(body ->> '$.latency.min_ns' AS BIGINT) AS latency_min_ns,
       CAST(body ->> '$.latency.max_ns' AS BIGINT) AS latency_max_ns,
       CAST(body ->> '$.latency.sum_ns' AS BIGINT) AS latency_sum_ns,
       body -> '$.latency.buckets' AS latency_buckets,
       CAST(body ->> '$.sampler.samples' AS BIGINT) AS sampler_samples,
       CAST(body ->> '$.sampler.cpu_ns' AS BIGINT) AS sampler_cpu_ns,
       CAST(body ->> '$.sampler.wall_ns' AS BIGINT) AS sampler_wall_ns,
       CAST(body ->> '$.error.op_index' AS BIGINT) AS error_op_index,
       CAST(body ->> '$.error.errno' AS BIGINT) AS error_errno,
       (body ->> '$.error.call') || ' ' || (body ->> '$.error.path') || ': '
           || (body ->> '$.error.text') AS error,
       nullif(CAST(body ->> '$.bs_bytes' AS BIGINT), 0) AS bs_bytes,
       replace(body ->> '$.io.backend', '-', '_') AS backend,
       body ->> '$.io.direct' AS direct,
       CAST(body ->> '$.io.iodepth' AS BIGINT) AS iodepth,
       body ->> '$.io.fsync' AS fsync,
       CAST(body ->> '$.io.threads' AS BIGINT) AS threads,
       body ->> '$.io.sharing' AS sharing,
       (SELECT min(CAST(entry.value ->> '$.done_ns' AS BIGINT))
        FROM json_each(body, '$.threads') AS entry) AS first_done_ns,
       (SELECT max(CAST(entry.value ->> '$.done_ns' AS BIGINT))
        FROM json_each(body, '$.threads') AS entry) AS last_done_ns,
       CAST(body ->> '$.asked_written_bytes' AS BIGINT) AS asked_written_bytes,
       CAST(body ->> '$.write_latency.precision_bits' AS BIGINT) AS write_latency_precision_bits,
       CAST(body ->> '$.write_latency.min_ns' AS BIGINT) AS write_latency_min_ns,
       CAST(body ->> '$.write_latency.max_ns' AS BIGINT) AS write_latency_max_ns,
       CAST(body ->> '$.write_latency.sum_ns' AS BIGINT) AS write_latency_sum_ns,
       body -> '$.write_latency.buckets' AS write_latency_buckets,
       CASE WHEN body ->> '$.job.kind' LIKE '{%'
            THEN substr(body ->> '$.job.kind', 3, instr(substr(body ->> '$.job.kind', 3), '"') - 1)
            ELSE body ->> '$.job.kind' END AS job,
       body ->> '$.job.by' AS job_by,
       body ->> '$.job.of' AS job_of,
       coalesce(body ->> '$.job.kind.untar.compression',
                body ->> '$.job.kind.archive.compression') AS job_compression,
       CAST(body ->> '$.job.kind.compile.jobs' AS BIGINT) AS job_compilers,
       body ->> '$.job.kind.command.run' AS job_command
FROM (
    SELECT score.phase_id AS id, score.trial_id, score.position, score.name, score.drained,
           score.cache_state, score.memory,
           trial.raw -> ('$.phases[' || score.position || ']') AS body
    FROM score JOIN trial ON trial.id = score.trial_id
);

CREATE VIEW thread AS
SELECT score.phase_id, CAST(entry.key AS BIGINT) AS number,
       CAST(entry.value ->> '$.started_ns' AS BIGINT) AS started_ns,
       CAST(entry.value ->> '$.done_ns' AS BIGINT) AS done_ns,
       CAST(entry.value ->> '$.ops' AS BIGINT) AS ops,
       CAST(entry.value ->> '$.asked_bytes' AS BIGINT) AS asked_bytes
FROM score JOIN trial ON trial.id = score.trial_id,
     json_each(trial.raw, '$.phases[' || score.position || '].threads') AS entry;

CREATE VIEW program AS
SELECT id AS phase_id, body ->> '$.name' AS name, body ->> '$.version' AS version,
       CAST(body ->> '$.own_ns' AS BIGINT) AS own_ns, body -> '$.figures' AS figures
FROM (
    SELECT score.phase_id AS id,
           trial.raw -> ('$.phases[' || score.position || '].program') AS body
    FROM score JOIN trial ON trial.id = score.trial_id
)
WHERE body ->> '$.name' IS NOT NULL;

CREATE VIEW tool AS
SELECT score.phase_id, CAST(entry.key AS BIGINT) AS position, entry.value ->> '$.name' AS name,
       entry.value ->> '$.path' AS path, entry.value ->> '$.version' AS version
FROM score JOIN trial ON trial.id = score.trial_id,
     json_each(trial.raw, '$.phases[' || score.position || '].program.tools') AS entry;

CREATE VIEW counter AS
SELECT score.phase_id, span.key AS window, entry.key AS name, CAST(entry.value AS BIGINT) AS value
FROM score JOIN trial ON trial.id = score.trial_id,
     json_each(trial.raw, '$.phases[' || score.position || '].windows') AS span,
     json_each(span.value) AS entry;

-- For people with an SQL prompt: one row a timed phase of the latest attempt at each slot, with the
-- words of the glossary.
CREATE VIEW measured AS
SELECT run.id AS run, run.experiment, run.hostname AS host, slot.sequence AS trial, trial.attempt,
       slot.block, contender.label AS contender, contender.fs, contender.device,
       shared.value AS reflink,
       workload.name AS workload, workload.source, phase.name AS phase, phase.op, phase.job,
       phase.job_by, phase.bs_bytes, phase.backend, phase.direct, phase.iodepth, phase.fsync,
       phase.threads, phase.sharing, trial.outcome, phase.returned_ns, phase.durable_ns,
       phase.drained_ns, phase.drained, phase.first_done_ns, phase.last_done_ns, phase.ops,
       phase.asked_bytes, phase.asked_written_bytes, phase.cache_state, phase.memory, phase.error,
       phase.id AS phase_id, contender.id AS contender_id
FROM phase
JOIN trial ON trial.id = phase.trial_id
JOIN slot ON slot.id = trial.slot_id
JOIN run ON run.id = slot.run_id
JOIN contender ON contender.id = slot.contender_id
JOIN workload ON workload.id = slot.workload_id
LEFT JOIN level AS shared ON shared.contender_id = contender.id AND shared.factor = 'reflink'
WHERE trial.attempt = (SELECT max(attempt) FROM trial AS other WHERE other.slot_id = slot.id);

-- For people with an SQL prompt: one row a pair that was decided, with names instead of numbers.
CREATE VIEW decided AS
SELECT run.id AS run, run.experiment, workload.name AS workload, question.phase, question.metric,
       question.clock, question.headline, a.label AS a, decision.verdict, b.label AS b,
       look.number AS look, look.blocks,
       CAST(run.raw ->> '$.plan.verdict.margin' AS DOUBLE) AS margin,
       CAST(run.raw ->> '$.plan.verdict.method' AS BIGINT) AS method_version
FROM decision
JOIN look ON look.id = decision.look_id
JOIN run ON run.id = look.run_id
JOIN question ON question.id = decision.question_id
JOIN workload ON workload.id = question.workload_id
JOIN contender AS a ON a.id = decision.a_id
JOIN contender AS b ON b.id = decision.b_id;

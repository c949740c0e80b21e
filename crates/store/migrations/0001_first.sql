-- Layout 1. The meaning of every table and the reasons are in ../schema.md.

CREATE TABLE run (
    id                INTEGER PRIMARY KEY AUTOINCREMENT,
    uid               TEXT    NOT NULL UNIQUE,
    experiment        TEXT    NOT NULL,
    title             TEXT    NOT NULL,
    created_unix_ns   INTEGER NOT NULL,
    program_version   TEXT    NOT NULL,
    state             TEXT    NOT NULL
                      CHECK (state IN ('running', 'done', 'interrupted', 'failed')),
    note              TEXT,
    owner_pid         INTEGER NOT NULL,
    owner_start_ticks INTEGER NOT NULL,
    owner_boot_id     TEXT    NOT NULL,
    seed              TEXT    NOT NULL,
    blocks            INTEGER NOT NULL,
    compared_clock    TEXT    NOT NULL CHECK (compared_clock IN ('returned', 'durable', 'drained')),
    scale             REAL    NOT NULL,
    verify            INTEGER NOT NULL CHECK (verify IN (0, 1)),
    sample_period_ns  INTEGER NOT NULL,
    raw               TEXT    NOT NULL,
    raw_sha256        TEXT    NOT NULL
) STRICT;
CREATE INDEX run_by_experiment ON run (experiment, id);

CREATE TABLE host (
    run_id          INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    hostname        TEXT    NOT NULL,
    os              TEXT    NOT NULL,
    kernel_release  TEXT    NOT NULL,
    architecture    TEXT    NOT NULL,
    distribution    TEXT,
    cpu_model       TEXT,
    cpus            INTEGER NOT NULL,
    memory_bytes    INTEGER NOT NULL,
    swap_bytes      INTEGER NOT NULL,
    boot_id         TEXT    NOT NULL,
    hypervisor      TEXT,
    clocksource     TEXT,
    governor        TEXT,
    page_reporting  INTEGER NOT NULL CHECK (page_reporting IN (0, 1))
) STRICT;

CREATE TABLE contender (
    id                INTEGER PRIMARY KEY,
    run_id            INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    place             INTEGER NOT NULL,
    identity          TEXT    NOT NULL,
    label             TEXT    NOT NULL,
    replicate         INTEGER NOT NULL,
    fs                TEXT    NOT NULL,
    device            TEXT    NOT NULL CHECK (device IN ('loop', 'ram', 'directory')),
    device_size_bytes INTEGER,
    device_path       TEXT,
    memory_bytes      INTEGER,
    cache             TEXT    NOT NULL CHECK (cache IN ('cold', 'warm')),
    discard           TEXT    NOT NULL CHECK (discard IN ('none', 'on')),
    UNIQUE (run_id, place),
    UNIQUE (run_id, identity)
) STRICT;
CREATE INDEX contender_by_identity ON contender (identity);

CREATE TABLE contender_option (
    contender_id INTEGER NOT NULL REFERENCES contender (id) ON DELETE CASCADE,
    kind         TEXT    NOT NULL CHECK (kind IN ('mkfs', 'mount')),
    name         TEXT    NOT NULL,
    value        TEXT    NOT NULL,
    PRIMARY KEY (contender_id, kind, name, value)
) STRICT, WITHOUT ROWID;

CREATE TABLE workload (
    id         INTEGER PRIMARY KEY,
    run_id     INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    place      INTEGER NOT NULL,
    name       TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    files      INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    dirs       INTEGER NOT NULL,
    UNIQUE (run_id, place),
    UNIQUE (run_id, name)
) STRICT;

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

CREATE TABLE not_run (
    run_id       INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    place        INTEGER NOT NULL,
    contender_id INTEGER NOT NULL REFERENCES contender (id) ON DELETE CASCADE,
    workload_id  INTEGER REFERENCES workload (id) ON DELETE CASCADE,
    reason       TEXT    NOT NULL,
    PRIMARY KEY (run_id, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE trial (
    id               INTEGER PRIMARY KEY REFERENCES slot (id) ON DELETE CASCADE,
    outcome          TEXT    NOT NULL
                     CHECK (outcome IN ('done', 'not-run', 'failed', 'interrupted')),
    failed_step      TEXT,
    reason           TEXT,
    remedy           TEXT,
    started_unix_ns  INTEGER NOT NULL,
    elapsed_ns       INTEGER NOT NULL,
    tool_version     TEXT,
    mount_asked      TEXT    NOT NULL,
    mounted_type     TEXT,
    mounted_options  TEXT,
    served_by        TEXT,
    used_bytes       INTEGER,
    used_empty_bytes INTEGER,
    stored_bytes     INTEGER,
    unmount_ns       INTEGER,
    verified_files   INTEGER,
    bad_files        INTEGER,
    raw              TEXT    NOT NULL,
    raw_sha256       TEXT    NOT NULL
) STRICT;

CREATE TABLE step (
    trial_id   INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    place      INTEGER NOT NULL,
    step       TEXT    NOT NULL,
    phase      TEXT,
    elapsed_ns INTEGER NOT NULL,
    PRIMARY KEY (trial_id, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE fact (
    trial_id INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    about    TEXT    NOT NULL CHECK (about IN ('device', 'filesystem')),
    name     TEXT    NOT NULL,
    value    TEXT    NOT NULL,
    PRIMARY KEY (trial_id, about, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE notice (
    trial_id INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    place    INTEGER NOT NULL,
    code     TEXT    NOT NULL,
    text     TEXT    NOT NULL,
    remedy   TEXT,
    PRIMARY KEY (trial_id, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE phase (
    id                     INTEGER PRIMARY KEY,
    trial_id               INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    place                  INTEGER NOT NULL,
    name                   TEXT    NOT NULL,
    op                     TEXT    NOT NULL,
    file_order             TEXT    NOT NULL CHECK (file_order IN ('sequential', 'random')),
    started_unix_ns        INTEGER NOT NULL,
    returned_ns            INTEGER NOT NULL,
    durable_ns             INTEGER,
    drained                TEXT    NOT NULL
                           CHECK (drained IN ('frozen', 'idle', 'no-device', 'not-drained')),
    drained_ns             INTEGER,
    drained_reason         TEXT,
    ops                    INTEGER NOT NULL,
    asked_bytes            INTEGER NOT NULL,
    cache_asked            TEXT    NOT NULL CHECK (cache_asked IN ('cold', 'warm')),
    cache_state            TEXT    NOT NULL
                           CHECK (cache_state IN ('cold', 'warm', 'warm-by-nature')),
    cache_why              TEXT    NOT NULL,
    memory                 TEXT    NOT NULL
                           CHECK (memory IN ('whole', 'limited', 'not-limited')),
    memory_limit_bytes     INTEGER,
    memory_peak_bytes      INTEGER,
    memory_why             TEXT,
    worker_user_ns         INTEGER NOT NULL,
    worker_system_ns       INTEGER NOT NULL,
    latency_precision_bits INTEGER,
    latency_min_ns         INTEGER,
    latency_max_ns         INTEGER,
    latency_sum_ns         INTEGER,
    latency_buckets        TEXT,
    sampler_samples        INTEGER,
    sampler_cpu_ns         INTEGER,
    sampler_wall_ns        INTEGER,
    error_op_index         INTEGER,
    error_errno            INTEGER,
    error                  TEXT,
    UNIQUE (trial_id, place)
) STRICT;

CREATE TABLE counter (
    phase_id INTEGER NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    window   TEXT    NOT NULL CHECK (window IN ('durable', 'drained', 'unmounted')),
    name     TEXT    NOT NULL,
    value    INTEGER NOT NULL,
    PRIMARY KEY (phase_id, window, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE series (
    phase_id  INTEGER PRIMARY KEY REFERENCES phase (id) ON DELETE CASCADE,
    period_ns INTEGER NOT NULL,
    t_ns      TEXT    NOT NULL
) STRICT;

CREATE TABLE series_column (
    phase_id INTEGER NOT NULL REFERENCES series (phase_id) ON DELETE CASCADE,
    metric   TEXT    NOT NULL,
    readings TEXT    NOT NULL,
    PRIMARY KEY (phase_id, metric)
) STRICT, WITHOUT ROWID;

-- A record never changes. (Deleting a whole RUN is allowed.)
CREATE TRIGGER trial_never_changes BEFORE UPDATE ON trial
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER phase_never_changes BEFORE UPDATE ON phase
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER counter_never_changes BEFORE UPDATE ON counter
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER series_never_changes BEFORE UPDATE ON series
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER series_column_never_changes BEFORE UPDATE ON series_column
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
-- Nor does a plan; state and note are the only things of a RUN that do.
CREATE TRIGGER plan_never_changes
BEFORE UPDATE OF uid, experiment, title, created_unix_ns, program_version, seed, blocks,
    compared_clock, scale, verify, sample_period_ns, raw, raw_sha256 ON run
BEGIN SELECT RAISE(ABORT, 'a plan never changes'); END;

-- For people with an SQL prompt: one row a timed phase, with the words of the glossary.
CREATE VIEW measured AS
SELECT run.id AS run, run.experiment, slot.sequence AS trial, slot.block,
       contender.label AS contender, contender.fs, workload.name AS workload, phase.name AS phase,
       phase.op, trial.outcome, phase.returned_ns, phase.durable_ns, phase.drained_ns,
       phase.drained, phase.ops, phase.asked_bytes, phase.cache_state, phase.memory, phase.error,
       phase.id AS phase_id
FROM phase
JOIN trial ON trial.id = phase.trial_id
JOIN slot ON slot.id = trial.id
JOIN run ON run.id = slot.run_id
JOIN contender ON contender.id = slot.contender_id
JOIN workload ON workload.id = slot.workload_id;

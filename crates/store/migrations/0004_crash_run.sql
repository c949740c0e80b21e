-- Version 9: crash runs, the records of crash safety.
CREATE TABLE crash_run (
    id              INTEGER PRIMARY KEY,
    contender_id    INTEGER NOT NULL REFERENCES contender (id) ON DELETE CASCADE,
    workload        TEXT    NOT NULL,
    number          INTEGER NOT NULL CHECK (number >= 0),
    outcome         TEXT    NOT NULL CHECK (outcome IN ('done', 'failed')),
    started_unix_ns INTEGER NOT NULL,
    elapsed_ns      INTEGER NOT NULL,
    reason          TEXT    AS (raw ->> '$.outcome.failed.error'),
    seed            INTEGER AS (raw ->> '$.outcome.done.seed'),
    ops             INTEGER AS (raw ->> '$.outcome.done.ops.ops'),
    failed_ops      INTEGER AS (raw ->> '$.outcome.done.ops.failed_ops'),
    mount_options   TEXT    AS (raw ->> '$.outcome.done.mount_options'),
    crash_points    INTEGER AS (json_array_length(raw, '$.outcome.done.findings')),
    raw             TEXT    NOT NULL,
    raw_sha256      TEXT    NOT NULL,
    UNIQUE (contender_id, workload, number)
) STRICT;

CREATE TRIGGER crash_run_never_changes BEFORE UPDATE ON crash_run
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;

CREATE VIEW crash_point AS
SELECT crash_run.id AS crash_run_id, point.key AS position,
    point.value ->> '$.class' AS state,
    point.value ->> '$.at_ns' AS at_ns,
    max(point.value ->> '$.loss_window.data_ns', point.value ->> '$.loss_window.metadata_ns')
        AS loss_window_ns,
    point.value ->> '$.acknowledged_files' AS acknowledged_files,
    point.value ->> '$.acknowledged_files_lost' AS acknowledged_files_lost,
    point.value ->> '$.stray.stale_bytes' AS stale_bytes,
    point.value ->> '$.mounted' AS mounted,
    point.value ->> '$.needs_repair' AS needs_repair
FROM crash_run, json_each(crash_run.raw, '$.outcome.done.findings') AS point;

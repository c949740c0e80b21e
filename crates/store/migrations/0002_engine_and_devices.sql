-- Layout 2. The meaning of every table and the reasons are in ../schema.md.
--
-- SQLite cannot change a CHECK, a primary key or a reference of a table: such a table is made anew,
-- filled and put in the place of the old one (sqlite.org/lang_altertable.html, "Making Other Kinds
-- Of Table Schema Changes"). Foreign keys are off while this runs, and are checked before it is
-- committed.

DROP VIEW measured;

CREATE TABLE new_contender (
    id                INTEGER PRIMARY KEY,
    run_id            INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    place             INTEGER NOT NULL,
    identity          TEXT    NOT NULL,
    label             TEXT    NOT NULL,
    replicate         INTEGER NOT NULL,
    fs                TEXT    NOT NULL,
    device            TEXT    NOT NULL
                      CHECK (device IN ('loop', 'ram', 'zram', 'brd', 'null-blk', 'block',
                                        'directory')),
    device_size_bytes INTEGER,
    device_path       TEXT,
    memory_bytes      INTEGER,
    cache             TEXT    NOT NULL CHECK (cache IN ('cold', 'warm')),
    discard           TEXT    NOT NULL CHECK (discard IN ('none', 'on')),
    ssd               TEXT    NOT NULL CHECK (ssd IN ('none', 'blkdiscard', 'precondition')),
    scheduler         TEXT,
    read_ahead_bytes  INTEGER,
    write_cache       TEXT    CHECK (write_cache IN ('write-back', 'write-through')),
    UNIQUE (run_id, place),
    UNIQUE (run_id, identity)
) STRICT;
INSERT INTO new_contender
SELECT id, run_id, place, identity, label, replicate, fs, device, device_size_bytes, device_path,
       memory_bytes, cache, discard, 'none', NULL, NULL, NULL
FROM contender;
DROP TABLE contender;
ALTER TABLE new_contender RENAME TO contender;
CREATE INDEX contender_by_identity ON contender (identity);

ALTER TABLE workload ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workload ADD COLUMN name_bytes INTEGER NOT NULL DEFAULT 9;
ALTER TABLE workload ADD COLUMN sizes TEXT;
ALTER TABLE workload ADD COLUMN per_dir TEXT;
ALTER TABLE workload ADD COLUMN fio INTEGER NOT NULL DEFAULT 0 CHECK (fio IN (0, 1));
UPDATE workload SET depth = 1 WHERE dirs > 0;

-- A slot may have several attempts.
CREATE TABLE new_trial (
    id               INTEGER PRIMARY KEY,
    slot_id          INTEGER NOT NULL REFERENCES slot (id) ON DELETE CASCADE,
    attempt          INTEGER NOT NULL CHECK (attempt > 0),
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
    conditioning     TEXT,
    used_bytes       INTEGER,
    used_empty_bytes INTEGER,
    stored_bytes     INTEGER,
    unmount_ns       INTEGER,
    verified_files   INTEGER,
    bad_files        INTEGER,
    raw              TEXT    NOT NULL,
    raw_sha256       TEXT    NOT NULL,
    UNIQUE (slot_id, attempt)
) STRICT;
INSERT INTO new_trial
SELECT id, id, 1, outcome, failed_step, reason, remedy, started_unix_ns, elapsed_ns, tool_version,
       mount_asked, mounted_type, mounted_options, served_by, NULL, used_bytes, used_empty_bytes,
       stored_bytes, unmount_ns, verified_files, bad_files, raw, raw_sha256
FROM trial;
DROP TABLE trial;
ALTER TABLE new_trial RENAME TO trial;

-- Phases of layout 1 were of one thread with blocking, buffered calls; of what size, they did not
-- say.
ALTER TABLE phase ADD COLUMN bs_bytes INTEGER;
ALTER TABLE phase ADD COLUMN backend TEXT NOT NULL DEFAULT 'sync'
    CHECK (backend IN ('sync', 'io_uring', 'mmap', 'null'));
ALTER TABLE phase ADD COLUMN direct INTEGER NOT NULL DEFAULT 0 CHECK (direct IN (0, 1));
ALTER TABLE phase ADD COLUMN iodepth INTEGER NOT NULL DEFAULT 1;
ALTER TABLE phase ADD COLUMN fsync TEXT NOT NULL DEFAULT 'none'
    CHECK (fsync IN ('none', 'op', 'file', 'dir', 'end', 'dsync'));
ALTER TABLE phase ADD COLUMN threads INTEGER NOT NULL DEFAULT 1;
ALTER TABLE phase ADD COLUMN sharing TEXT NOT NULL DEFAULT 'own'
    CHECK (sharing IN ('own', 'shared'));
ALTER TABLE phase ADD COLUMN first_done_ns INTEGER;
ALTER TABLE phase ADD COLUMN last_done_ns INTEGER;
ALTER TABLE phase ADD COLUMN asked_written_bytes INTEGER;
ALTER TABLE phase ADD COLUMN write_latency_precision_bits INTEGER;
ALTER TABLE phase ADD COLUMN write_latency_min_ns INTEGER;
ALTER TABLE phase ADD COLUMN write_latency_max_ns INTEGER;
ALTER TABLE phase ADD COLUMN write_latency_sum_ns INTEGER;
ALTER TABLE phase ADD COLUMN write_latency_buckets TEXT;

CREATE TABLE thread (
    phase_id    INTEGER NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    number      INTEGER NOT NULL,
    started_ns  INTEGER NOT NULL,
    done_ns     INTEGER NOT NULL,
    ops         INTEGER NOT NULL,
    asked_bytes INTEGER NOT NULL,
    PRIMARY KEY (phase_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE program (
    phase_id INTEGER PRIMARY KEY REFERENCES phase (id) ON DELETE CASCADE,
    name     TEXT    NOT NULL,
    version  TEXT    NOT NULL,
    own_ns   INTEGER,
    figures  TEXT    NOT NULL
) STRICT;

CREATE TABLE session (
    run_id          INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    number          INTEGER NOT NULL CHECK (number > 0),
    started_unix_ns INTEGER NOT NULL,
    boot_id         TEXT    NOT NULL,
    first_sequence  INTEGER NOT NULL,
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;
-- A RUN of layout 1 was one piece.
INSERT INTO session SELECT run_id, 1, created_unix_ns, boot_id, 0
FROM host JOIN run ON run.id = host.run_id;

-- A record never changes. (Deleting a whole RUN is allowed.) The trigger of a table goes with the
-- table when that is made anew.
CREATE TRIGGER trial_never_changes BEFORE UPDATE ON trial
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER step_never_changes BEFORE UPDATE ON step
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER fact_never_changes BEFORE UPDATE ON fact
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER notice_never_changes BEFORE UPDATE ON notice
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER thread_never_changes BEFORE UPDATE ON thread
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER program_never_changes BEFORE UPDATE ON program
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER session_never_changes BEFORE UPDATE ON session
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;

-- For people with an SQL prompt: one row a timed phase of the latest attempt at each slot, with the
-- words of the glossary.
CREATE VIEW measured AS
SELECT run.id AS run, run.experiment, slot.sequence AS trial, trial.attempt, slot.block,
       contender.label AS contender, contender.fs, contender.device, workload.name AS workload,
       phase.name AS phase, phase.op, phase.bs_bytes, phase.backend, phase.direct, phase.iodepth,
       phase.fsync, phase.threads, phase.sharing, trial.outcome, phase.returned_ns,
       phase.durable_ns, phase.drained_ns, phase.drained, phase.first_done_ns, phase.last_done_ns,
       phase.ops, phase.asked_bytes, phase.cache_state, phase.memory, phase.error,
       phase.id AS phase_id
FROM phase
JOIN trial ON trial.id = phase.trial_id
JOIN slot ON slot.id = trial.slot_id
JOIN run ON run.id = slot.run_id
JOIN contender ON contender.id = slot.contender_id
JOIN workload ON workload.id = slot.workload_id
WHERE trial.attempt = (SELECT max(attempt) FROM trial AS any WHERE any.slot_id = slot.id);

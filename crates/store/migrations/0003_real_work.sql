-- Layout 3. The meaning of every table and the reasons are in ../schema.md.
--
-- As in layout 2, what ALTER TABLE cannot change is made anew. Foreign keys are off while this
-- runs, and are checked before it is committed.

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
    cache             TEXT    NOT NULL CHECK (cache IN ('cold', 'warm', 'cold-start')),
    discard           TEXT    NOT NULL CHECK (discard IN ('none', 'on')),
    ssd               TEXT    NOT NULL CHECK (ssd IN ('none', 'blkdiscard', 'precondition')),
    scheduler         TEXT,
    read_ahead_bytes  INTEGER,
    write_cache       TEXT    CHECK (write_cache IN ('write-back', 'write-through')),
    reflink           TEXT    NOT NULL CHECK (reflink IN ('never', 'auto', 'always')),
    UNIQUE (run_id, place),
    UNIQUE (run_id, identity)
) STRICT;
INSERT INTO new_contender
SELECT id, run_id, place, identity, label, replicate, fs, device, device_size_bytes, device_path,
       memory_bytes, cache, discard, ssd, scheduler, read_ahead_bytes, write_cache, 'never'
FROM contender;
DROP TABLE contender;
ALTER TABLE new_contender RENAME TO contender;
CREATE INDEX contender_by_identity ON contender (identity);

-- A RUN of an older layout was carried out with the database that it lies in.
ALTER TABLE run ADD COLUMN merged INTEGER NOT NULL DEFAULT 0 CHECK (merged IN (0, 1));

ALTER TABLE workload ADD COLUMN source TEXT;
ALTER TABLE workload ADD COLUMN source_origin TEXT CHECK (source_origin IN ('made', 'own'));
ALTER TABLE workload ADD COLUMN source_path TEXT;
ALTER TABLE workload ADD COLUMN source_place TEXT
    CHECK (source_place IN ('same', 'other', 'memory'));
ALTER TABLE workload ADD COLUMN source_archive TEXT
    CHECK (source_archive IN ('none', 'gzip', 'bzip2', 'xz', 'zstd'));
ALTER TABLE workload ADD COLUMN source_contents TEXT;

-- The check of one column is changed by a new column in its place.
DROP TRIGGER phase_never_changes;
ALTER TABLE phase ADD COLUMN new_cache_asked TEXT NOT NULL DEFAULT 'cold'
    CHECK (new_cache_asked IN ('cold', 'warm', 'cold-start'));
UPDATE phase SET new_cache_asked = cache_asked;
ALTER TABLE phase DROP COLUMN cache_asked;
ALTER TABLE phase RENAME COLUMN new_cache_asked TO cache_asked;
ALTER TABLE phase ADD COLUMN job TEXT
    CHECK (job IN ('copy', 'delete', 'untar', 'archive', 'flac', 'ogg', 'compile', 'command'));
ALTER TABLE phase ADD COLUMN job_by TEXT CHECK (job_by IN ('program', 'engine'));
ALTER TABLE phase ADD COLUMN job_of TEXT;
ALTER TABLE phase ADD COLUMN job_compression TEXT
    CHECK (job_compression IN ('none', 'gzip', 'bzip2', 'xz', 'zstd'));
ALTER TABLE phase ADD COLUMN job_compilers INTEGER;
ALTER TABLE phase ADD COLUMN job_command TEXT;

CREATE TABLE tool (
    phase_id INTEGER NOT NULL REFERENCES program (phase_id) ON DELETE CASCADE,
    place    INTEGER NOT NULL,
    name     TEXT    NOT NULL,
    path     TEXT    NOT NULL,
    version  TEXT    NOT NULL,
    PRIMARY KEY (phase_id, place)
) STRICT, WITHOUT ROWID;

-- A record never changes. (Deleting a whole RUN is allowed.)
CREATE TRIGGER phase_never_changes BEFORE UPDATE ON phase
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER tool_never_changes BEFORE UPDATE ON tool
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;

-- For people with an SQL prompt: one row a timed phase of the latest attempt at each slot, with the
-- words of the glossary.
CREATE VIEW measured AS
SELECT run.id AS run, run.experiment, host.hostname AS host, slot.sequence AS trial, trial.attempt,
       slot.block, contender.label AS contender, contender.fs, contender.device, contender.reflink,
       workload.name AS workload, workload.source, phase.name AS phase, phase.op, phase.job,
       phase.job_by, phase.bs_bytes, phase.backend, phase.direct, phase.iodepth, phase.fsync,
       phase.threads, phase.sharing, trial.outcome, phase.returned_ns, phase.durable_ns,
       phase.drained_ns, phase.drained, phase.first_done_ns, phase.last_done_ns, phase.ops,
       phase.asked_bytes, phase.asked_written_bytes, phase.cache_state, phase.memory, phase.error,
       phase.id AS phase_id
FROM phase
JOIN trial ON trial.id = phase.trial_id
JOIN slot ON slot.id = trial.slot_id
JOIN run ON run.id = slot.run_id
JOIN host ON host.run_id = run.id
JOIN contender ON contender.id = slot.contender_id
JOIN workload ON workload.id = slot.workload_id
WHERE trial.attempt = (SELECT max(attempt) FROM trial AS any WHERE any.slot_id = slot.id);

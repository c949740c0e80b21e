-- Layout 5. The meaning of every table and the reasons are in ../schema.md.
--
-- Foreign keys are off while this runs, and are checked before it is committed.

-- Records of other programs: their contenders lie elsewhere. The check of one column is changed by
-- a new column in its place.
DROP VIEW measured;
ALTER TABLE contender ADD COLUMN new_device TEXT NOT NULL DEFAULT 'elsewhere'
    CHECK (new_device IN ('loop', 'ram', 'zram', 'brd', 'null-blk', 'block', 'directory',
                          'elsewhere'));
UPDATE contender SET new_device = device;
ALTER TABLE contender DROP COLUMN device;
ALTER TABLE contender RENAME COLUMN new_device TO device;

-- A phase that was stopped in the middle has no error of its own. That it has not come to its end
-- is said by its score from now on, since a phase that another program measured has no `durable_ns`
-- either.
DROP TRIGGER score_never_changes;
UPDATE score SET failed = 1 WHERE durable_ns IS NULL;
CREATE TRIGGER score_never_changes BEFORE UPDATE ON score
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;

-- For people with an SQL prompt: one row a timed phase of the latest attempt at each slot, with the
-- words of the glossary. No alias is a word of other dialects (`any`): DuckDB reads this text too.
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
WHERE trial.attempt = (SELECT max(attempt) FROM trial AS other WHERE other.slot_id = slot.id);

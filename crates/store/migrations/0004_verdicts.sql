-- Layout 4. The meaning of every table and the reasons are in ../schema.md.
--
-- Columns are added and nothing is made anew. Foreign keys are off while this runs, and are checked
-- before it is committed.

-- What is asked, and by which rule; all empty for RUNs that were planned before there were
-- verdicts.
ALTER TABLE run ADD COLUMN method_version INTEGER;
ALTER TABLE run ADD COLUMN rule TEXT CHECK (rule IN ('looks', 'fixed'));
ALTER TABLE run ADD COLUMN rule_blocks INTEGER;
ALTER TABLE run ADD COLUMN margin REAL;
ALTER TABLE run ADD COLUMN budget_ns INTEGER;
ALTER TABLE run ADD COLUMN baseline_place INTEGER;
ALTER TABLE run ADD COLUMN stop_blocks INTEGER;
ALTER TABLE run ADD COLUMN stop_why TEXT CHECK (stop_why IN ('decided', 'cap', 'budget'))
    CHECK ((stop_why IS NULL) = (stop_blocks IS NULL));

ALTER TABLE contender ADD COLUMN handicap_ns INTEGER NOT NULL DEFAULT 0;

CREATE TABLE question (
    id          INTEGER PRIMARY KEY,
    run_id      INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    place       INTEGER NOT NULL,
    workload_id INTEGER NOT NULL REFERENCES workload (id) ON DELETE CASCADE,
    phase       TEXT    NOT NULL,
    metric      TEXT    NOT NULL CHECK (metric IN ('time', 'cpu', 'written', 'p99')),
    clock       TEXT    NOT NULL CHECK (clock IN ('returned', 'durable', 'drained')),
    headline    INTEGER NOT NULL CHECK (headline IN (0, 1)),
    UNIQUE (run_id, place)
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
    place       INTEGER NOT NULL,
    question_id INTEGER NOT NULL REFERENCES question (id) ON DELETE CASCADE,
    a_id        INTEGER NOT NULL REFERENCES contender (id) ON DELETE CASCADE,
    b_id        INTEGER NOT NULL REFERENCES contender (id) ON DELETE CASCADE,
    verdict     TEXT    NOT NULL CHECK (verdict IN ('FASTER', 'SLOWER', 'SAME')),
    PRIMARY KEY (look_id, place),
    UNIQUE (question_id, a_id, b_id),
    CHECK (a_id <> b_id)
) STRICT, WITHOUT ROWID;

-- Of each timed phase what verdicts are computed from, side by side and in the order of the trials:
-- rows of phase carry histograms, and those of counter are a hundred to a phase.
CREATE TABLE score (
    trial_id       INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
    place          INTEGER NOT NULL,
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
    PRIMARY KEY (trial_id, place)
) STRICT, WITHOUT ROWID;
INSERT INTO score
SELECT phase.trial_id, phase.place, phase.name, phase.error IS NOT NULL, phase.returned_ns,
       phase.durable_ns, phase.drained, phase.drained_ns, phase.cache_state, phase.memory,
       max(iif(counter.window = 'durable' AND counter.name = 'cpu.user_ns', counter.value, NULL)),
       max(iif(counter.window = 'durable' AND counter.name = 'cpu.nice_ns', counter.value, NULL)),
       max(iif(counter.window = 'durable' AND counter.name = 'cpu.system_ns', counter.value, NULL)),
       max(iif(counter.window = 'durable' AND counter.name = 'cpu.irq_ns', counter.value, NULL)),
       max(iif(counter.window = 'durable' AND counter.name = 'cpu.softirq_ns', counter.value,
               NULL)),
       max(iif(counter.window = 'durable' AND counter.name = 'cpu.idle_ns', counter.value, NULL)),
       max(iif(counter.window = 'durable' AND counter.name = 'cpu.iowait_ns', counter.value, NULL)),
       max(iif(counter.window = 'durable' AND counter.name = 'cpu.steal_ns', counter.value, NULL)),
       max(iif(counter.window = 'unmounted' AND counter.name = 'device.written_bytes',
               counter.value, NULL))
FROM phase LEFT JOIN counter ON counter.phase_id = phase.id
GROUP BY phase.id ORDER BY phase.trial_id, phase.place;

-- So that scores are read without the rows of trial, which carry the raw texts.
CREATE INDEX trial_for_scores
    ON trial (slot_id, attempt, outcome, started_unix_ns, elapsed_ns, bad_files);

-- A record never changes, nor does a plan, nor what was decided. (Deleting a whole RUN is allowed.)
CREATE TRIGGER score_never_changes BEFORE UPDATE ON score
BEGIN SELECT RAISE(ABORT, 'a record never changes'); END;
CREATE TRIGGER question_never_changes BEFORE UPDATE ON question
BEGIN SELECT RAISE(ABORT, 'a plan never changes'); END;
CREATE TRIGGER look_never_changes BEFORE UPDATE ON look
BEGIN SELECT RAISE(ABORT, 'a look never changes'); END;
CREATE TRIGGER decision_never_changes BEFORE UPDATE ON decision
BEGIN SELECT RAISE(ABORT, 'a decision never changes'); END;
DROP TRIGGER plan_never_changes;
CREATE TRIGGER plan_never_changes
BEFORE UPDATE OF uid, experiment, title, created_unix_ns, program_version, seed, blocks,
    compared_clock, scale, verify, sample_period_ns, raw, raw_sha256, method_version, rule,
    rule_blocks, margin, budget_ns, baseline_place ON run
BEGIN SELECT RAISE(ABORT, 'a plan never changes'); END;
CREATE TRIGGER stop_never_changes BEFORE UPDATE OF stop_blocks, stop_why ON run
WHEN OLD.stop_why IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a stop never changes'); END;

-- For people with an SQL prompt: one row a pair that was decided, with names instead of numbers.
CREATE VIEW decided AS
SELECT run.id AS run, run.experiment, workload.name AS workload, question.phase, question.metric,
       question.clock, question.headline, a.label AS a, decision.verdict, b.label AS b,
       look.number AS look, look.blocks, run.margin, run.method_version
FROM decision
JOIN look ON look.id = decision.look_id
JOIN run ON run.id = look.run_id
JOIN question ON question.id = decision.question_id
JOIN workload ON workload.id = question.workload_id
JOIN contender AS a ON a.id = decision.a_id
JOIN contender AS b ON b.id = decision.b_id;

-- Version 16: indices alone. Those of question and decision lead from what is deleted to the rows
-- that refer to it. run_listed is a list of RUNs without the raw texts: its last part says whether
-- the user gave a title.
CREATE INDEX IF NOT EXISTS question_by_workload ON question (workload_id);
CREATE INDEX IF NOT EXISTS decision_by_a ON decision (a_id);
CREATE INDEX IF NOT EXISTS decision_by_b ON decision (b_id);
CREATE INDEX IF NOT EXISTS run_at_work ON run (id) WHERE state = 'running';
CREATE INDEX IF NOT EXISTS run_listed ON run (
    id, uid, experiment, title, created_unix_ns, state, note, hostname, merged,
    CASE WHEN json_valid(raw)
         THEN coalesce((raw -> '$.arguments') GLOB '*[[,]"--title[="]*', 0) ELSE 0 END
);

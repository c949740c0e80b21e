-- Version 7: what the machine was like in a phase, for verdicts and for blocks that are run again;
-- and phases that were asked to be warm and were not. Rows that version 6 wrote have none of it.
ALTER TABLE score ADD COLUMN foreign_ns INTEGER;
ALTER TABLE score ADD COLUMN canary_before_ns INTEGER;
ALTER TABLE score ADD COLUMN canary_after_ns INTEGER;
ALTER TABLE score ADD COLUMN frequency_khz INTEGER;
ALTER TABLE score ADD COLUMN worker_cpu_ns INTEGER;
ALTER TABLE score ADD COLUMN kernel_cpu_ns INTEGER;
ALTER TABLE score ADD COLUMN not_warm INTEGER NOT NULL DEFAULT 0 CHECK (not_warm IN (0, 1));

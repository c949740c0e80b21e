-- Version 13: what a phase left free, and the bytes that it moved. A constraint changes as in
-- version 8. Rows that version 12 or one before it wrote have neither.
ALTER TABLE score ADD COLUMN free TEXT
    CHECK (free IN ('time', 'ops', 'bytes', 'latency', 'nothing'));
ALTER TABLE score ADD COLUMN asked_bytes INTEGER;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''p99'', ''per-op''',
                                       '''p99'', ''per-op'', ''per-mib''')
WHERE type = 'table' AND name = 'question';
PRAGMA writable_schema = RESET;

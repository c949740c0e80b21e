-- Version 11: what an op takes, where a stonewall decides how many there are. A constraint changes
-- as in version 8. Rows that version 10 or one before it wrote have no ops.
ALTER TABLE score ADD COLUMN ops INTEGER;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''written'', ''p99''',
                                       '''written'', ''p99'', ''per-op''')
WHERE type = 'table' AND name = 'question';
PRAGMA writable_schema = RESET;

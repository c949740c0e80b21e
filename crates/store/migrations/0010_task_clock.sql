-- Version 15: questions about the task clock, which scores have had since version 7. As in
-- version 8, a constraint alone changes.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''p99'', ''per-op'', ''per-mib''',
                                       '''p99'', ''per-op'', ''per-mib'', ''task-clock''')
WHERE type = 'table' AND name = 'question';
PRAGMA writable_schema = RESET;

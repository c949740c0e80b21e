-- Version 10: clients of a shared file system that were made cold. As in version 8, a constraint
-- alone changes.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '(''cold'', ''warm'', ''warm-by-nature'')',
                                       '(''cold'', ''cold-clients'', ''warm'', ''warm-by-nature'')')
WHERE type = 'table' AND name = 'score';
PRAGMA writable_schema = RESET;

-- Version 14: caches of which nothing is known, those of imported figures. As in version 8, a
-- constraint alone changes.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''warm'', ''warm-by-nature'')',
                                       '''warm'', ''warm-by-nature'', ''unknown'')')
WHERE type = 'table' AND name = 'score';
PRAGMA writable_schema = RESET;

-- Version 12: several devices, as a kind of device. A constraint changes as in version 8.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''directory'', ''elsewhere''',
                                       '''directory'', ''several'', ''elsewhere''')
WHERE type = 'table' AND name = 'contender';
PRAGMA writable_schema = RESET;

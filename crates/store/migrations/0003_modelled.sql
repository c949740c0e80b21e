-- Version 8: modelled disks, as kinds of device. A constraint alone changes, no row: its text is
-- replaced (https://sqlite.org/lang_altertable.html, section 7).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''null-blk'', ''block''',
                                       '''null-blk'', ''vdisk'', ''virtual'', ''block''')
WHERE type = 'table' AND name = 'contender';
PRAGMA writable_schema = RESET;

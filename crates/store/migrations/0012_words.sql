-- Version 17: what a text column may hold is no constraint of the file any more: fsarena checks it
-- against the words of its model when it writes and when it reads, and a word more is no new
-- version. Words of versions before are all still there. As in version 8, texts alone change.
-- A plan that was stored before has its crash runs under `safety`, and later ones under `crash`.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql,
'
                      CHECK (device IN (''loop'', ''ram'', ''zram'', ''brd'', ' ||
'''null-blk'', ''vdisk'', ''virtual'', ''block'',
                                        ''directory'', ''several'', ''elsewhere''))', '')
WHERE type = 'table' AND name = 'contender';
UPDATE sqlite_schema SET sql = replace(sql,
' CHECK (outcome IN (''done'', ''failed''))', '')
WHERE type = 'table' AND name = 'crash_run';
UPDATE sqlite_schema SET sql = replace(sql,
' CHECK (verdict IN (''FASTER'', ''SLOWER'', ''SAME''))', '')
WHERE type = 'table' AND name = 'decision';
UPDATE sqlite_schema SET sql = replace(replace(sql,
' CHECK (metric IN (''time'', ''cpu'', ''written'', ''p99'', ''per-op'', ''per-mib'', ' ||
'''task-clock''))', ''),
' CHECK (clock IN (''returned'', ''durable'', ''drained''))', '')
WHERE type = 'table' AND name = 'question';
UPDATE sqlite_schema SET sql = replace(replace(sql,
'
                      CHECK (state IN (''running'', ''done'', ''interrupted'', ''failed''))', ''),
'    CHECK (stop_why IN (''decided'', ''cap'', ''budget''))', '')
WHERE type = 'table' AND name = 'run';
UPDATE sqlite_schema SET sql = replace(replace(replace(replace(sql,
'
                   CHECK (drained IN (''frozen'', ''idle'', ''no-device'', ''not-drained''))', ''),
' CHECK (cache_state IN (''cold'', ''cold-clients'', ''warm'', ''warm-by-nature'', ' ||
'''unknown''))', ''),
' CHECK (memory IN (''whole'', ''limited'', ''not-limited''))', ''),
'
    CHECK (free IN (''time'', ''ops'', ''bytes'', ''latency'', ''nothing''))', '')
WHERE type = 'table' AND name = 'score';
UPDATE sqlite_schema SET sql = replace(replace(sql,
'
                     CHECK (outcome IN (''done'', ''not-run'', ''failed'', ''interrupted''))', ''),
' CHECK (time_base IN (''wall'', ''virtual''))', '')
WHERE type = 'table' AND name = 'trial';
UPDATE sqlite_schema SET sql = replace(replace(replace(sql,
'    CHECK (source_origin IN (''made'', ''own''))', ''),
'    CHECK (source_place IN (''same'', ''other'', ''memory''))', ''),
'    CHECK (source_archive IN (''none'', ''gzip'', ''bzip2'', ''xz'', ''zstd''))', '')
WHERE type = 'table' AND name = 'workload';
PRAGMA writable_schema = RESET;

//! Real work: programs and the engine on trees and archives.

use crate::golden::{plain, run_of};
use fsarena_model::contender::Cache;
use fsarena_model::job::By;
use fsarena_model::record::{CacheState, Drained, Outcome, TrialRecord};
use fsarena_model::run::{RunHeader, RunState};
use fsarena_model::work::{OpError, VerifyReport, Workload};
use fsarena_report::{PlanCost, PlanNeed, ledger_tables, phase_tables, plan_table, raw_values};
use fsarena_study::study;
use fsarena_testkit::records::{self, SECOND_NS, contender, own_work, real_work};

/// ext4 and tmpfs unpack, copy, pack and delete a tree in two blocks; ext4 starts cold.
fn sample() -> (RunHeader, Vec<TrialRecord>) {
    let mut contenders = vec![contender("ext4", "ext4", 1), contender("tmpfs", "tmpfs", 1)];
    contenders[0].levels.cache = Cache::ColdStart;
    contenders[1].levels.cache = Cache::Warm;
    let header = records::header(contenders, vec![real_work()], 2);
    let mut records: Vec<_> = (0..4).map(|at| records::record(&header, at)).collect();
    for (sequence, record) in records.iter_mut().enumerate() {
        for (at, phase) in record.phases.iter_mut().enumerate() {
            shape(phase, sequence, at);
        }
    }
    (header, records)
}

fn shape(phase: &mut fsarena_model::record::PhaseRecord, sequence: usize, at: usize) {
    let more_ns = sequence as u64 * SECOND_NS / 10;
    let in_memory = sequence % 2 == 1;
    phase.clocks.durable_ns = phase.clocks.durable_ns.map(|ns| ns * (at as u64 + 1) + more_ns);
    if in_memory {
        phase.cache.asked = Cache::Warm;
        phase.cache.state = CacheState::WarmByNature;
        phase.clocks.drained = Drained::NoDevice;
        phase.clocks.durable_ns = phase.clocks.durable_ns.map(|ns| ns / 20);
        phase.clocks.returned_ns /= 10;
        for counters in phase.windows.values_mut() {
            counters.retain(|name, _| !name.starts_with("device."));
        }
    } else if at > 0 {
        phase.cache.asked = Cache::Warm;
        phase.cache.state = CacheState::Warm;
        phase.cache.why = "warm was asked for".to_owned();
    }
}

/// At 80 columns, where one trial of tmpfs failed and `cp` was another in one of ext4.
fn failed_80() -> String {
    let (header, mut records) = sample();
    let last = records.last_mut().unwrap();
    last.phases.truncate(4);
    last.phases[3].ops = 0;
    last.phases[3].error = Some(OpError {
        op_index: 0,
        thread: None,
        call: "tar".to_owned(),
        path: ".".to_owned(),
        errno: 0,
        text: "ended with exit status 2: tar: archive.tar.bz2: Cannot write".to_owned(),
    });
    last.outcome = Outcome::Failed {
        step: "measure".to_owned(),
        error: "tar: ended with exit status 2: tar: archive.tar.bz2: Cannot write".to_owned(),
        remedy: None,
    };
    let report = records[2].phases[1].program.as_mut().unwrap();
    report.tools[0].version = "cp 1.2.4".to_owned();
    let study = study(&header, RunState::Done, &[], &records);
    phase_tables(&study, 80, plain())
}

#[test]
fn phases_80() {
    let text = failed_80();
    let end = text.find("tree / archive").unwrap();
    insta::assert_snapshot!(text[..end], @r"
    sample: A sample by hand
    RUN 0123456789abcdef, 2026-01-01 00:00 UTC, done, 4 trials.
    Linux, 2 × CPUs.

    tree: tree-20m, 1,000 files in 100 directories, 10 symbolic links, 20.0 MB,
    packed as tar.gz; source on the same file system; copies share no blocks; cold
    only at the start of a trial, then warm by the experiment.

    tree / untar: untar gzip (tar); cold (warm rows are not compared with cold ones)
    file system        durable  ratio  returned    drained     CPU  n
    -----------------------------------------------------------------
    ext4                1.10 s      -   0.500 s     1.25 s  25.0 %  2
    tmpfs (warm) [a]  0.0600 s      -  0.0500 s  no device  25.0 %  2
    [a] warm by nature

    work          MB/s  entries/s     user  system   read   written  w. amp.
    ------------------------------------------------------------------------
    ext4          18.2      1,009  0.100 s  0.00 s  4 KiB  45.8 MiB     3.60
    tmpfs (warm)   333     18,500  0.100 s  0.00 s      -         -        -

    tree / copy: copy (cp) of untar; warm
    file system  durable          min - max  ratio  returned    drained     CPU  n
    ------------------------------------------------------------------------------
    ext4          2.10 s    2.00 s - 2.20 s  19.09   0.500 s     1.25 s  25.0 %  2
    tmpfs [a]    0.110 s  0.105 s - 0.115 s   1.00  0.0500 s  no device  25.0 %  2
    [a] warm by nature

    work   MB/s  entries/s     user  system   read   written  w. amp.
    -----------------------------------------------------------------
    ext4   9.52        529  0.100 s  0.00 s  4 KiB  76.3 MiB     6.00
    tmpfs   182     10,091  0.100 s  0.00 s      -         -        -

    tree / copy-engine: copy (engine) of untar; warm
    file system  durable          min - max  ratio  returned    drained     CPU  n
    ------------------------------------------------------------------------------
    ext4          3.10 s    3.00 s - 3.20 s  19.38   0.500 s     1.25 s  25.0 %  2
    tmpfs [a]    0.160 s  0.155 s - 0.165 s   1.00  0.0500 s  no device  25.0 %  2
    [a] warm by nature

    work   MB/s  entries/s     user  system   read   written  w. amp.
    -----------------------------------------------------------------
    ext4   6.45        358  0.100 s  0.00 s  4 KiB  76.3 MiB     6.00
    tmpfs   125      6,938  0.100 s  0.00 s      -         -        -

    latency      p50      p90      p99    p99.9      max
    ----------------------------------------------------
    ext4     10.1 µs  10.1 µs  10.1 µs  10.1 µs  1.05 ms
    tmpfs    10.1 µs  10.1 µs  10.1 µs  10.1 µs  1.05 ms
    ");
}

#[test]
fn partial_phases_80() {
    let text = failed_80();
    let start = text.find("tree / archive").unwrap();
    let end = text.find("Medians over").unwrap();
    insta::assert_snapshot!(text[start..end], @r"
    tree / archive: archive bzip2 (tar) of copy; warm
    file system    durable        min - max  ratio  returned    drained     CPU    n
    --------------------------------------------------------------------------------
    ext4            4.10 s  4.00 s - 4.20 s  20.00   0.500 s     1.25 s  25.0 %    2
    tmpfs [a] [b]  0.205 s                -   1.00  0.0500 s  no device  25.0 %  1/2
    [a] warm by nature
    [b] partial in 1 trial (ended before the end of the work): in no figure

    work   MB/s  entries/s     user  system   read   written  w. amp.
    -----------------------------------------------------------------
    ext4   4.88        271  0.100 s  0.00 s  4 KiB  45.8 MiB    18.00
    tmpfs  97.6      5,415  0.100 s  0.00 s      -         -        -

    tree / delete: delete (rm) of copy; warm
    file system  durable        min - max  ratio  returned    drained     CPU    n
    ------------------------------------------------------------------------------
    ext4          5.10 s  5.00 s - 5.20 s  20.00   0.500 s     1.25 s  25.0 %    2
    tmpfs [a]    0.255 s                -   1.00  0.0500 s  no device  25.0 %  1/2
    [a] warm by nature

    work   entries/s     user  system   read  written
    -------------------------------------------------
    ext4         218  0.100 s  0.00 s  4 KiB    4 KiB
    tmpfs      4,353  0.100 s  0.00 s      -        -
    ");
}

/// The tree of [`sample`] unpacked and copied, by programs in one workload and by the engine in
/// another; in three blocks, of which the last failed for the engine on xfs, and xfs had wrong
/// contents in one.
fn by_both() -> (RunHeader, Vec<TrialRecord>) {
    let mut by_programs = real_work();
    by_programs.phases.truncate(2);
    let mut by_engine = Workload { name: "tree-engine".to_owned(), ..by_programs.clone() };
    for phase in &mut by_engine.phases {
        phase.job.as_mut().unwrap().by = By::Engine;
    }
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let header = records::header(contenders, vec![by_programs, by_engine], 3);
    let trials = header.plan.schedule.len() as u32;
    let mut records: Vec<_> = (0..trials).map(|at| records::record(&header, at)).collect();
    for (at, record) in (0u64..).zip(&mut records) {
        for phase in &mut record.phases {
            phase.clocks.durable_ns = phase.clocks.durable_ns.map(|ns| ns + at * SECOND_NS / 10);
        }
    }
    let own = |records: &mut [TrialRecord], workload: &str, block: u32| {
        records.iter().position(|record| {
            let key = &record.key;
            key.workload == workload && key.block == block && record.filesystem.name == "xfs"
        })
    };
    let failed = own(&mut records, "tree-engine", 2).unwrap();
    records[failed].phases.clear();
    let wrong = own(&mut records, "tree", 1).unwrap();
    let verify = VerifyReport { files: 9, bytes: 9, bad_files: 1, examples: Vec::new() };
    records[wrong].verify = Some(verify);
    (header, records)
}

#[test]
fn programs_and_the_engine_80() {
    let (header, records) = by_both();
    let study = study(&header, RunState::Done, &[], &records);
    let text = phase_tables(&study, 80, plain());
    let start = text.find("Tool overhead (program ÷ engine)").unwrap();
    let end = text.find("Medians over").unwrap();
    insta::assert_snapshot!(text[start..end], @r"
    Tool overhead (program ÷ engine)
    work                          contender  durable        min - max    n  quotient
    --------------------------------------------------------------------------------
    tree / untar (tar)            ext4        1.40 s  1.00 s - 1.80 s    3      0.88
    tree-engine / untar (engine)  ext4        1.60 s  1.20 s - 2.00 s    3
    tree / untar (tar)            xfs [a]     1.50 s  1.10 s - 1.90 s  2/3      1.00
    tree-engine / untar (engine)  xfs         1.50 s  1.30 s - 1.70 s  2/3
    tree / copy (cp)              ext4        1.40 s  1.00 s - 1.80 s    3      0.88
    tree-engine / copy (engine)   ext4        1.60 s  1.20 s - 2.00 s    3
    tree / copy (cp)              xfs [a]     1.50 s  1.10 s - 1.90 s  2/3      1.00
    tree-engine / copy (engine)   xfs         1.50 s  1.30 s - 1.70 s  2/3
    [a] WRONG CONTENTS after 1 trial: in no figure
    The same work in trials of two workloads, by the time to `durable`; a quotient
    of medians, without a verdict. Above 1.00 the program took longer than the
    engine's calls for the same work. tar has its archive decompressed by a second
    process; the engine does all in one thread.
    ");
}

#[test]
fn legend_programs_and_failures_80() {
    let text = failed_80();
    let start = text.find("Medians over").unwrap();
    insta::assert_snapshot!(text[start..], @r"
    Medians over trials, each from a reset state. Compared: time to `durable`; rates
    are computed from it. CPU: the whole machine is 100 %, from start to `durable`.
    ratio: median of the compared time to the best such median among rows that may
    be compared; plain arithmetic. Real work: a longer time is worse. MB/s: contents
    of the tree that is worked on, each byte once, MB = 10^6 bytes. entries/s:
    files, directories and symbolic links; of an encoder its files. user, system:
    processor time of the program and all it starts, or of the engine. read,
    written: by the device, up to `durable` and to `drained`. w. amp.: bytes written
    to the device up to the unmount per byte written by the work. latency: of single
    ops, all trials together; p90 needs 10 ops, p99 100, p99.9 1,000. Whether a
    difference is real is not decided here.

    Programs
      - tar: tar 1.2.3, /usr/bin/tar
      - gzip: gzip 1.2.3, /usr/bin/gzip
      - cp: cp 1.2.3, /usr/bin/cp [3 trials of ext4, tmpfs]
      - cp: cp 1.2.4, /usr/bin/cp [1 trial of ext4]
      - bzip2: bzip2 1.2.3, /usr/bin/bzip2
      - rm: rm 1.2.3, /usr/bin/rm
    Failed
      - tmpfs, tree, measure (trial 4): tar: ended with exit status 2: tar:
        archive.tar.bz2: Cannot write; partial: archive did not come to its end
    Notices
      - cp was not the same in all trials: cp 1.2.3 at /usr/bin/cp in 3, cp 1.2.4 at
        /usr/bin/cp in 1; its own cost may differ [all trials]
    Sampling took 190 samples and 0.10 % of one CPU core.
    ");
}

#[test]
fn phases_120() {
    let (header, records) = sample();
    let study = study(&header, RunState::Done, &[], &records);
    let text = phase_tables(&study, 120, plain());
    let start = text.find("tree / untar").unwrap();
    let end = text.find("tree / copy").unwrap();
    insta::assert_snapshot!(text[start..end], @r"
    tree / untar: untar gzip (tar); cold (warm rows are not compared with cold ones)
    file system        durable            min - max  ratio  returned    drained     CPU  n
    --------------------------------------------------------------------------------------
    ext4                1.10 s      1.00 s - 1.20 s      -   0.500 s     1.25 s  25.0 %  2
    tmpfs (warm) [a]  0.0600 s  0.0550 s - 0.0650 s      -  0.0500 s  no device  25.0 %  2
    [a] warm by nature

    work          MB/s  entries/s     user  system   read   written  w. amp.
    ------------------------------------------------------------------------
    ext4          18.2      1,009  0.100 s  0.00 s  4 KiB  45.8 MiB     3.60
    tmpfs (warm)   333     18,500  0.100 s  0.00 s      -         -        -
    ");
}

#[test]
fn the_users_own_80() {
    let header = records::header(vec![contender("xfs", "xfs", 1)], vec![own_work()], 1);
    let study = study(&header, RunState::Done, &[], &[records::record(&header, 0)]);
    let text = phase_tables(&study, 80, plain());
    let start = text.find("own: ").unwrap();
    let end = text.find("Medians over").unwrap();
    insta::assert_snapshot!(text[start..end], @r"
    own: /srv/our/tree, 1,000 files in 100 directories, 10 symbolic links, 20.0 MB;
    source in memory.

    own / flac: wav to flac (flac); cold
    file system  durable  min - max  ratio  returned  drained     CPU  n
    --------------------------------------------------------------------
    xfs           1.00 s          -      -   0.500 s   1.25 s  25.0 %  1

    work  MB/s  entries/s     user  system   read   written  w. amp.
    ----------------------------------------------------------------
    xfs   20.0      1,000  0.100 s  0.00 s  4 KiB  57.2 MiB     9.00

    own / ogg: wav to ogg (oggenc); cold
    file system  durable  min - max  ratio  returned  drained     CPU  n
    --------------------------------------------------------------------
    xfs           1.00 s          -      -   0.500 s   1.25 s  25.0 %  1

    work  MB/s  entries/s     user  system   read   written  w. amp.
    ----------------------------------------------------------------
    xfs   20.0      1,000  0.100 s  0.00 s  4 KiB  57.2 MiB     9.00

    own / compile: compile, 2 at once (make); cold
    file system  durable  min - max  ratio  returned  drained     CPU  n
    --------------------------------------------------------------------
    xfs           1.00 s          -      -   0.500 s   1.25 s  25.0 %  1

    work  MB/s     user  system   read   written  w. amp.
    -----------------------------------------------------
    xfs   20.0  0.100 s  0.00 s  4 KiB  47.7 MiB    15.00

    own / search: command: grep -r needle {data} > {mnt}/found; cold
    file system  durable  min - max  ratio  returned  drained     CPU  n
    --------------------------------------------------------------------
    xfs           1.00 s          -      -   0.500 s   1.25 s  25.0 %  1

    work     user  system   read  written
    -------------------------------------
    xfs   0.100 s  0.00 s  4 KiB    4 KiB
    ");
}

#[test]
fn ledger_80() {
    let (header, records) = sample();
    let study = study(&header, RunState::Done, &[], &records);
    let text = ledger_tables(&study, 80, plain());
    let middle = text.find("tree / archive").unwrap();
    insta::assert_snapshot!(text[middle..], @r"
    tree / archive: archive bzip2 (tar) of copy; warm
    work   MB/s  entries/s     user  system   read   written  w. amp.
    -----------------------------------------------------------------
    ext4   4.88        271  0.100 s  0.00 s  4 KiB  45.8 MiB    18.00
    tmpfs  95.2      5,286  0.100 s  0.00 s      -         -        -

    device   read   written  to drained  to unmount  w. amp.
    --------------------------------------------------------
    ext4    4 KiB  45.8 MiB    45.8 MiB    68.7 MiB    18.00

    tree / delete: delete (rm) of copy; warm
    work   entries/s     user  system   read  written
    -------------------------------------------------
    ext4         218  0.100 s  0.00 s  4 KiB    4 KiB
    tmpfs      4,269  0.100 s  0.00 s      -        -

    device   read  written  to drained  to unmount  w. amp.
    -------------------------------------------------------
    ext4    4 KiB      0 B       4 KiB         0 B        -

    Space after the last phase
    contender  workload  used empty      used    stored  amp.  unmount  n
    ---------------------------------------------------------------------
    ext4       tree           8 MiB  46.1 MiB  19.1 MiB  2.00  50.0 ms  2
    tmpfs      tree           8 MiB  46.1 MiB  19.1 MiB  2.00  50.0 ms  2

    latency: of single ops, all trials together; p90 needs 10 ops, p99 100, p99.9
    1,000. device: bytes read and written from the phase's start to `durable`, to
    `drained` and to the end of the next unmount. w. amp.: bytes written to the
    device up to the unmount per byte of contents written. Space amplification:
    growth of used space per byte stored. Real work: a longer time is worse. MB/s:
    contents of the tree that is worked on, each byte once, MB = 10^6 bytes.
    entries/s: files, directories and symbolic links; of an encoder its files. user,
    system: processor time of the program and all it starts, or of the engine. read,
    written: by the device, up to `durable` and to `drained`. w. amp.: bytes written
    to the device up to the unmount per byte written by the work.
    ");
}

#[test]
fn raw_100() {
    let (header, records) = sample();
    let text = raw_values(&header, &records, 100, plain());
    let start = text.find("tree / archive").unwrap();
    insta::assert_snapshot!(text[start..], @"
    tree / archive: raw values, archive bzip2 (tar) of copy
    contender  trial  block  cache             returned,    durable, ns    drained, ns
                                                      ns
    ----------------------------------------------------------------------------------
    ext4           1      1  warm            500,000,000  4,000,000,000  1,250,000,000
    tmpfs          2      1  warm by nature   50,000,000    205,000,000              -
    ext4           3      2  warm            500,000,000  4,200,000,000  1,250,000,000
    tmpfs          4      2  warm by nature   50,000,000    215,000,000              -

    contender  trial    ops      asked,      asked    cpu       worker
                                  bytes   written,  share     user, ns
                                             bytes
    ------------------------------------------------------------------
    ext4           1  1,110  24,000,000  4,000,000  0.250  100,000,000
    tmpfs          2  1,110  24,000,000  4,000,000  0.250  100,000,000
    ext4           3  1,110  24,000,000  4,000,000  0.250  100,000,000
    tmpfs          4  1,110  24,000,000  4,000,000  0.250  100,000,000

    contender  trial   worker  device      device          write   own clock,
                      system,   read,    written,  amplification           ns
                           ns   bytes       bytes
    -------------------------------------------------------------------------
    ext4           1        0   4,096  72,000,000           18.0  400,000,000
    tmpfs          2        0       -           -              -  400,000,000
    ext4           3        0   4,096  72,000,000           18.0  400,000,000
    tmpfs          4        0       -           -              -  400,000,000

    tree / delete: raw values, delete (rm) of copy
    contender  trial  block  cache             returned,    durable, ns    drained, ns    ops  asked,
                                                      ns                                        bytes
    -------------------------------------------------------------------------------------------------
    ext4           1      1  warm            500,000,000  5,000,000,000  1,250,000,000  1,110       0
    tmpfs          2      1  warm by nature   50,000,000    255,000,000              -  1,110       0
    ext4           3      2  warm            500,000,000  5,200,000,000  1,250,000,000  1,110       0
    tmpfs          4      2  warm by nature   50,000,000    265,000,000              -  1,110       0

    contender  trial     asked    cpu       worker   worker  device    device   own clock,
                      written,  share     user, ns  system,   read,  written,           ns
                         bytes                           ns   bytes     bytes
    --------------------------------------------------------------------------------------
    ext4           1         0  0.250  100,000,000        0   4,096         0  400,000,000
    tmpfs          2         0  0.250  100,000,000        0       -         -  400,000,000
    ext4           3         0  0.250  100,000,000        0   4,096         0  400,000,000
    tmpfs          4         0  0.250  100,000,000        0       -         -  400,000,000

    In the order in which they were run. Times are from the phase's first clock read. Asked: bytes of
    contents that the work read and wrote. Shares are of 1; CPU: of the whole machine up to durable.
    Worker: processor time of the program and all it starts, or of the engine; per op: with that of
    kernel threads, by the task clock. Device: read up to durable, written up to the next unmount.
    Everything else: --json.
    ");
}

#[test]
fn plan_80() {
    let (header, _) = sample();
    let mut plan = header.plan;
    plan.workloads.push(own_work());
    let needs = vec![PlanNeed { workload: 0, needed_bytes: 64 << 20 }];
    let cost = PlanCost { needs, ..PlanCost::default() };
    let text = plan_table(&plan, &cost, 80, plain());
    let start = text.find("Real work").unwrap();
    insta::assert_snapshot!(text[start..], @r"
    Real work
      - tree: tree-20m, 1,000 files in 100 directories, 10 symbolic links, 20.0 MB,
        packed as tar.gz; source on the same file system; needs 64 MiB
          untar: untar gzip (tar); with gzip
          copy: copy (cp) of untar
          copy-engine: copy (engine) of untar
          archive: archive bzip2 (tar) of copy; with bzip2
          delete: delete (rm) of copy
      - own: /srv/our/tree, 1,000 files in 100 directories, 10 symbolic links, 20.0
        MB; source in memory
          flac: wav to flac (flac)
          ogg: wav to ogg (oggenc)
          compile: compile, 2 at once (make); with cc
          search: command: grep -r needle {data} > {mnt}/found; before it: rm -f
          {mnt}/found; with grep

    4 trials in 2 blocks: expected 0 ns, 0 B written. Nothing has been touched.
    ");
}

#[test]
fn nothing_is_lost_in_json() {
    let (header, records) = sample();
    let study = study(&header, RunState::Done, &[], &records);
    let value = fsarena_report::json::show(&run_of(&header, &records, &study, None));
    let table = &value["study"]["tables"][1];
    assert_eq!(table["job"]["kind"], "copy");
    assert_eq!(table["unit"], "time");
    let row = &table["rows"][0];
    assert_eq!(row["durable"]["median_ns"], 2_100_000_000u64);
    assert_eq!(row["worker"]["user"]["median_ns"], 100_000_000u64);
    assert!(row["entries_per_s"]["median"].is_number(), "{row}");
    assert!(row["returned_entries_per_s"]["median"].is_number(), "{row}");
    let head = &value["study"]["workloads"][0];
    assert_eq!(head["source"]["contents"]["bytes"], 20_000_000u64);
    assert_eq!((&head["source"]["place"], &head["cold_start"]), (&"same".into(), &true.into()));
    assert_eq!(value["study"]["programs"][0]["path"], "/usr/bin/tar");
    let back: Vec<TrialRecord> = serde_json::from_value(value["records"].clone()).unwrap();
    assert_eq!(back, records, "the records are in it as they are");
    let back: RunHeader = serde_json::from_value(value["run"].clone()).unwrap();
    assert_eq!(back, header);
    let (header, records) = by_both();
    let study = fsarena_study::study(&header, RunState::Done, &[], &records);
    let value = fsarena_report::json::show(&run_of(&header, &records, &study, None));
    let cost = &value["study"]["tool_overheads"][1];
    assert_eq!(cost["program"], "cp");
    assert!(cost["work"].to_string().contains("copy"), "{cost}");
    assert_eq!(cost["rows"][0]["program"]["n"], 3);
    assert!(cost["rows"][0]["engine"]["median_ns"].is_number(), "{cost}");
    assert!(cost["rows"][0]["program_to_engine"].is_number(), "{cost}");
}

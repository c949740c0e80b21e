//! Tables of phases and of the ledger.

use crate::golden::{plain, sample, sample_study};
use fsarena_model::record::Window;
use fsarena_model::run::{RateStyle, RunState};
use fsarena_report::{Style, ledger_tables, phase_tables};
use fsarena_study::study;
use fsarena_testkit::records::{self, big_file, contender, small_files};

#[test]
fn phase_tables_80() {
    insta::assert_snapshot!(phase_tables(&sample_study(), 80, plain()), @r"
    sample: A sample by hand
    RUN 0123456789abcdef, 2026-01-01 00:00 UTC, interrupted, 17 of 18 trials.
    Linux, 2 × CPUs.
    Not all trials were done: the figures are of those that were.

    small-files / create: 5,000 files of 256 B, in order; cold (warm rows are not
    compared with cold ones)
    file system                 rate        CPU  durable  returned      drained    n
    --------------------------------------------------------------------------------
    ext4#1             4,717 files/s     25.0 %   1.06 s    500 ms       1.25 s    3
    ext4#2             4,950 files/s     25.0 %   1.01 s    500 ms       1.25 s  1/3
    ext4#2 (warm)      4,545 files/s     25.0 %   1.10 s    500 ms       1.25 s  2/3
    [a]
    ext4 data=write    4,630 files/s     25.0 %   1.08 s    500 ms  not drained    3
    back,noatime,co
    mmit=600 on a
    file system
    with a very
    long label [b]
    xfs [c] [d]        4,464 files/s     25.0 %   1.12 s    500 ms       1.25 s  2/3
    tmpfs (warm)     454,545 files/s  too short  11.0 ms   5.00 ms    no device    3
    [e]
    btrfs                    partial
    bcachefs                 not run
    [a] warm, though cold was asked for: the mount left 812 resident pages
    [b] not drained in 3 of 3 trials: no idle 200 ms within 60 s
    [c] memory not limited to 64 MiB: no cgroup controller for memory
    [d] WRONG CONTENTS after 1 trial: in no figure
    [e] warm by nature: it lives in memory

    Medians over trials, each from a reset state. Compared: time to `durable`; rates
    are computed from it. CPU: the whole machine is 100 %, from start to `durable`.
    ratio: median of the compared time to the best such median among rows that may
    be compared; plain arithmetic. Whether a difference is real is not decided here.

    Contents
      - 15,001 files read again after 3 trials (3.66 MiB): 1 WRONG, missing or
        unreadable
    Failed
      - btrfs, small-files, measure (trials 6, 12): write f00000017: No space left
        on device; take a larger image; partial: create ended after 22 to 28 of
        5,000 ops
    Not run
      - bcachefs: mkfs.bcachefs is missing; install the package bcachefs-tools
    Notices
      - the image is on tmpfs: a loop on tmpfs is memory, not a disk. Choose an
        --image-dir on a disk. [all trials]
      - ext3 is served by the ext4 driver [3 trials of ext4
        data=writeback,noatime,commit=600 on a file system with a very long label]
    Sampling took 170 samples and 0.10 % of one CPU core.
    ");
}

#[test]
fn phase_tables_120() {
    insta::assert_snapshot!("phase_tables_120", phase_tables(&sample_study(), 120, plain()));
}

#[test]
fn article_style_80() {
    let mut header = records::header(
        vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)],
        vec![small_files(), big_file()],
        1,
    );
    header.plan.rate = RateStyle::Article2003;
    let records: Vec<_> = (0..4).map(|at| records::record(&header, at)).collect();
    let study = study(&header, RunState::Done, &[], &records);
    insta::assert_snapshot!(phase_tables(&study, 80, plain()), @r"
    sample: A sample by hand
    RUN 0123456789abcdef, 2026-01-01 00:00 UTC, done, 4 trials.
    Linux, 2 × CPUs.

    small-files / create: 5,000 files of 256 B, in order; cold
    file system          rate     CPU  durable  min - max  returned  drained  n
    ---------------------------------------------------------------------------
    ext4         1250.00 KB/s  25.0 %   1.00 s          -    500 ms   1.25 s  1
    xfs          1250.00 KB/s  25.0 %   1.00 s          -    500 ms   1.25 s  1

    small-files / read-random: 5,000 files of 256 B, in random order; cold
    file system          rate     CPU  durable  min - max  returned  drained  n
    ---------------------------------------------------------------------------
    ext4         1250.00 KB/s  25.0 %   1.00 s          -    500 ms   1.25 s  1
    xfs          1250.00 KB/s  25.0 %   1.00 s          -    500 ms   1.25 s  1

    small-files / delete: 5,000 files of 256 B, in order; cold
    file system           rate     CPU  durable  min - max  returned  drained  n
    ----------------------------------------------------------------------------
    ext4         5,000 files/s  25.0 %   1.00 s          -    500 ms   1.25 s  1
    xfs          5,000 files/s  25.0 %   1.00 s          -    500 ms   1.25 s  1

    big-file / write: one file of 100 MiB; cold
    file system            rate     CPU  durable  min - max  returned  drained  n
    -----------------------------------------------------------------------------
    ext4         102400.00 KB/s  25.0 %   1.00 s          -    500 ms   1.25 s  1
    xfs          102400.00 KB/s  25.0 %   1.00 s          -    500 ms   1.25 s  1

    Medians over trials, each from a reset state. Compared: time to `durable`; rates
    are computed from it. CPU: the whole machine is 100 %, from start to `durable`;
    KB = 1024 bytes. ratio: median of the compared time to the best such median
    among rows that may be compared; plain arithmetic. Whether a difference is real
    is not decided here.

    Sampling took 80 samples and 0.10 % of one CPU core.
    ");
}

#[test]
fn ledger_80() {
    insta::assert_snapshot!(ledger_tables(&sample_study(), 80, plain()), @r"
    small-files / create: 5,000 files of 256 B, in order; cold (warm rows are not
    compared with cold ones)
    latency                                  p50      p90      p99    p99.9      max
    --------------------------------------------------------------------------------
    ext4#1                               10.1 µs  10.1 µs  10.1 µs  10.1 µs  1.05 ms
    ext4#2                               10.1 µs  10.1 µs  10.1 µs  10.1 µs  1.05 ms
    ext4#2 (warm)                        10.1 µs  10.1 µs  10.1 µs  10.1 µs  1.05 ms
    ext4                                 10.1 µs  10.1 µs  10.1 µs  10.1 µs  1.05 ms
    data=writeback,noatime,commit=600
    on a file system with a very long
    label
    xfs                                  10.1 µs  10.1 µs  10.1 µs  10.1 µs  1.05 ms
    tmpfs (warm)                         10.1 µs  10.1 µs  10.1 µs  10.1 µs  1.05 ms

    device                           read   written  to drained  to unmount  w. amp.
    --------------------------------------------------------------------------------
    ext4#1                          4 KiB  2.44 MiB    2.45 MiB    3.66 MiB     3.00
    ext4#2                          4 KiB  2.44 MiB    2.45 MiB    3.66 MiB     3.00
    ext4#2 (warm)                   4 KiB  2.44 MiB    2.45 MiB    3.66 MiB     3.00
    ext4 data=writeback,noatime,co  4 KiB  2.44 MiB    2.45 MiB    3.66 MiB     3.00
    mmit=600 on a file system with
    a very long label
    xfs                             4 KiB  2.44 MiB    2.45 MiB    3.66 MiB     3.00

    Space after the last phase
    contender          workload     used empty      used    stored  amp.  unmount  n
    --------------------------------------------------------------------------------
    ext4#1             small-files       8 MiB  10.4 MiB  1.22 MiB  2.00  50.0 ms  3
    ext4#2             small-files       8 MiB  10.4 MiB  1.22 MiB  2.00  50.0 ms  3
    ext4 data=writeba  small-files       8 MiB  10.4 MiB  1.22 MiB  2.00  50.0 ms  3
    ck,noatime,commit
    =600 on a file
    system with a
    very long label
    xfs                small-files       8 MiB  10.4 MiB  1.22 MiB  2.00  50.0 ms  2
    tmpfs              small-files       8 MiB  10.4 MiB  1.22 MiB  2.00  50.0 ms  3
    btrfs              small-files       8 MiB  10.4 MiB  1.22 MiB  2.00  50.0 ms  2

    latency: of single ops, all trials together; p90 needs 10 ops, p99 100, p99.9
    1,000. device: bytes read and written from the phase's start to `durable`, to
    `drained` and to the end of the next unmount. w. amp.: bytes written to the
    device up to the unmount per byte of contents written. Space amplification:
    growth of used space per byte stored.
    ");
}

#[test]
fn an_empty_run_is_said_to_be_empty() {
    let (header, _) = sample();
    let text = phase_tables(&study(&header, RunState::Interrupted, &[], &[]), 80, plain());
    assert!(text.contains("no trial yet") && text.contains("0 of 18 trials"), "{text}");
}

#[test]
fn colour_only_where_asked() {
    let study = sample_study();
    assert!(!phase_tables(&study, 80, plain()).contains('\u{1b}'));
    let style = Style { colour: true, ..plain() };
    assert!(phase_tables(&study, 80, style).contains("\u{1b}[1m"));
}

#[test]
fn write_amplification_is_of_the_unmounted_window() {
    let (_, records) = sample();
    assert_eq!(records[0].phases[0].windows[&Window::Unmounted]["device.written_bytes"], 3_840_000);
    let study = sample_study();
    let spread = study.tables[0].rows[0].write_amplification.unwrap();
    assert!((spread.median - 3.0).abs() < 1e-9);
}

#[test]
fn a_row_with_only_wrong_contents_is_shown_as_failed() {
    let (header, mut records) = sample();
    let xfs = header.plan.contenders[3].id();
    for record in records.iter_mut().filter(|record| record.key.contender == xfs) {
        record.verify.as_mut().unwrap().bad_files = 1;
    }
    let text = phase_tables(&study(&header, RunState::Interrupted, &[], &records), 80, plain());
    let line = text.lines().find(|line| line.starts_with("xfs")).unwrap();
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells, ["xfs", "[c]", "[d]", "failed", "-", "-", "-", "-", "0/3"], "{text}");
    assert!(text.contains("[d] WRONG CONTENTS after 3 trials: in no figure"), "{text}");
}

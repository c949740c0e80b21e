//! The printed tables of each article, what they give when computed again, and its findings.

use crate::golden::plain;
use fsarena_report::{Style, article, articles};

fn alone(year: u16, width: usize) -> String {
    article(&fsarena_reference::study(year).unwrap(), &[], &[], width, plain())
}

#[test]
fn file_operations_of_2005() {
    insta::assert_snapshot!(alone(2005, 120), @r"
    Seconds, as printed
                                                                                    Data    Data  Ports  Ports   Ports   Big
                                                                                    copy  delete  untar   copy  delete  file
                                                                                                                        copy
    ------------------------------------------------------------------------------------------------------------------------
    AMD64 3200+, SATA Seagate Barracuda 120 GB 7200 rpm, UFS2, FreeBSD 6 beta1       130       8     79    109      58    50
    amd64
    AMD64 3200+, PATA Seagate Barracuda IV 40 GB 7200 rpm, UFS2, FreeBSD 6 beta1     193       5    136    170      91   101
    amd64
    Pentium 4 2.53 GHz, PATA Seagate Barracuda IV 40 GB 7200 rpm, UFS2, FreeBSD      211       7    189    255      92   104
    5.2.1 i386
    Pentium 4 2.66 GHz notebook, 4200 rpm, UFS, DragonFlyBSD                         274      15    235    339     188   115

    Re-computed: ratios of rows, with their bounds
                                                Data copy       Data delete       Ports untar
    -----------------------------------------------------------------------------------------
    PATA / SATA, same machine            1.48 (1.46-1.51)  0.62 (0.37-1.00)  1.72 (1.67-1.77)
    Pentium 4 / AMD64, same PATA disk    1.09 (1.08-1.11)  1.40 (0.85-2.43)  1.39 (1.36-1.42)
    4200 rpm / 7200 rpm, both Pentium 4  1.30 (1.28-1.32)  2.14 (1.59-3.00)  1.24 (1.23-1.26)

                                               Ports copy      Ports delete     Big file copy
    -----------------------------------------------------------------------------------------
    PATA / SATA, same machine            1.56 (1.52-1.60)  1.57 (1.50-1.64)  2.02 (1.93-2.11)
    Pentium 4 / AMD64, same PATA disk    1.50 (1.48-1.52)  1.01 (0.98-1.04)  1.03 (1.00-1.06)
    4200 rpm / 7200 rpm, both Pentium 4  1.33 (1.32-1.34)  2.04 (1.99-2.09)  1.11 (1.08-1.14)
    Bounds: a value is the mean of three readings, each off by less than one second, printed in whole seconds; it can be off
    by 1.5 s. How far the three runs lay apart is not published.

    Re-computed: MB/s written, with their bounds
                                                          Data copy       Ports untar        Ports copy        Big file copy
    ------------------------------------------------------------------------------------------------------------------------
    AMD64 3200+, SATA Seagate Barracuda 120 GB     6.38 (6.31-6.46)  1.57 (1.54-1.60)  1.14 (1.12-1.15)  13.86 (13.46-14.29)
    7200 rpm, UFS2, FreeBSD 6 beta1 amd64
    AMD64 3200+, PATA Seagate Barracuda IV 40 GB   4.30 (4.27-4.33)  0.91 (0.90-0.92)  0.73 (0.72-0.74)     6.86 (6.76-6.96)
    7200 rpm, UFS2, FreeBSD 6 beta1 amd64
    Pentium 4 2.53 GHz, PATA Seagate Barracuda IV  3.93 (3.91-3.96)  0.66 (0.65-0.66)  0.49 (0.48-0.49)     6.66 (6.57-6.76)
    40 GB 7200 rpm, UFS2, FreeBSD 5.2.1 i386
    Pentium 4 2.66 GHz notebook, 4200 rpm, UFS,    3.03 (3.01-3.05)  0.53 (0.52-0.53)  0.37 (0.36-0.37)     6.03 (5.95-6.11)
    DragonFlyBSD
    From the stated sizes, 830, 124 and 693 MB of 10^6 bytes. A copy reads as much from the same disk.

    What becomes of its conclusions: 2 hold, 1 fall, 4 cannot be told
    One rule for all years: a stated number (half, 10 % less) holds where the ratio of the article's own figures lies within
    10 % of the stated ratio; two figures differ from 10 % on; “several times” is 2 or more, “a little” up to 1.25. Whatever
    a clock of whole seconds or published repeats leave open has to bear it, else it cannot be told.
    FALLS  On the PATA disk every operation takes one and a half times to twice as long as on the SATA disk of the same
           machine.
        PATA / SATA: data copy 1.48 (1.46-1.51), data delete 0.62 (0.37-1.00), ports untar 1.72 (1.67-1.77), ports copy 1.56
        (1.52-1.60), ports delete 1.57 (1.50-1.64), big file copy 2.02 (1.93-2.11); as stated is 1.35 to 2.20; outside
        whatever the clock cut off: data delete 0.62 (0.37-1.00).
    CANNOT BE TOLD  The same disk in the other machine takes nearly the same time to copy the data and the big file and to
                    delete the ports.
        Pentium 4 / AMD64: data copy 1.09 (1.08-1.11), big file copy 1.03 (1.00-1.06), ports delete 1.01 (0.98-1.04); taken
        as nearly: 10 %; more than the clock explains: data copy, big file copy.
    HOLDS  Unpacking and copying the ports take longer in the other machine although the disk is the same.
        Pentium 4 / AMD64: ports untar 1.39 (1.36-1.42), ports copy 1.50 (1.48-1.52).
    CANNOT BE TOLD  The faster processor is why unpacking and copying the ports take less time.
        with the machine changed the operating system: FreeBSD 5.2.1 i386 against FreeBSD 6 beta1 amd64.
    CANNOT BE TOLD  These tests measure the disks and their drivers, not the file systems.
        0 pairs of rows differ in the file system alone; and the same disk in another machine differs in ports untar 1.39
        (1.36-1.42), ports copy 1.50 (1.48-1.52).
    HOLDS  The interface, SATA instead of PATA, cannot by itself be one and a half times to twice as fast.
        read and written together, no copy moves more than 28.6 MB/s, under the 100 MB/s of the slower interface; that
        leaves the disks (of different models) and their drivers.
    CANNOT BE TOLD  The notebook's disk of 4200 rpm is slower in every operation than that of 7200 rpm.
        4200 / 7200 rpm: data copy 1.30 (1.28-1.32), data delete 2.14 (1.59-3.00), ports untar 1.24 (1.23-1.26), ports copy
        1.33 (1.32-1.34), ports delete 2.04 (1.99-2.09), big file copy 1.11 (1.08-1.14); system and file system are others
        too.
    ");
}

#[test]
fn all_against_all_of_2008() {
    insta::assert_snapshot!("article_2008", alone(2008, 120));
}

#[test]
fn all_against_all_of_2008_where_it_is_narrow() {
    let text = alone(2008, 80);
    let tables = text.split_once("What becomes").unwrap().0;
    insta::assert_snapshot!(tables.split_once("Re-computed").unwrap().0, @r"
    Table 1: five repeats (AMD, Zenwalk, tmpfs), seconds; printed mean → true mean
               run  run  run  run  run         mean      median
                 1    2    3    4    5                (min-max)
    -----------------------------------------------------------
    untar       15   14   15   15   14  14.5 → 14.6  15 (14-15)
    tar+bzip2   52   53   53   52   53  52.5 → 52.6  53 (52-53)
    tar+gzip     9    9    9    9    9          9.0           9

    Table 2: seconds; printed mean → true mean of the three runs
               AMD Zenwalk  AMD Zenwalk  AMD Slamd64  AMD Slamd64
                     tmpfs         ext3        tmpfs         ext3
    -------------------------------------------------------------
    untar      15.0 → 14.7  27.0 → 26.7  11.5 → 11.3  29.5 → 29.7
    tar+bzip2  52.5 → 52.7         55.0  43.5 → 43.3  46.0 → 45.3
    tar+gzip           9.0         10.0   9.5 → 10.3    9.5 → 9.7
    wav2flac   29.5 → 29.3  30.5 → 30.3  28.5 → 28.3  29.0 → 29.3
    wav2ogg              -            -            -            -

                     Intel        Intel        Intel        Intel
                   Zenwalk      Zenwalk      Slamd64      Slamd64
                     tmpfs         ext3        tmpfs         ext3
    -------------------------------------------------------------
    untar             10.0  28.5 → 27.7  19.5 → 19.3  24.0 → 25.7
    tar+bzip2         35.0  36.0 → 36.3  27.0 → 27.3  29.0 → 28.3
    tar+gzip     8.0 → 8.3          9.0          7.0    9.0 → 8.7
    wav2flac   26.0 → 26.3         27.0  30.5 → 30.3  29.5 → 30.7
    wav2ogg           56.0  56.0 → 55.7  37.5 → 37.7  38.0 → 37.7
    27 of 36 printed means are not means of all three runs; 36 of 36 are (first +
    last) / 2.
    ");
}

#[test]
fn ssd_and_journal_of_2010() {
    insta::assert_snapshot!(alone(2010, 100), @r"
    Minutes and seconds, as printed
                      Flac  Portage     Avi     Iso  Portage
                    copied   copied  copied  copied  deleted
    --------------------------------------------------------
    Ordered, SSD     00:04    00:43   01:03   00:08    00:06
    Writeback, SSD   00:02    00:47   01:02   00:08    00:10
    Ordered, HDD     00:10    00:15   01:44   00:19    00:04

    Re-computed: ratios of rows, with their bounds
                                        Flac copied    Portage copied        Avi copied
    -----------------------------------------------------------------------------------
    writeback / ordered, both SSD  0.50 (0.20-1.00)  1.09 (1.05-1.14)  0.98 (0.95-1.02)
    HDD / SSD, both ordered        2.50 (1.80-3.67)  0.35 (0.32-0.38)  1.65 (1.61-1.69)

                                         Iso copied   Portage deleted
    -----------------------------------------------------------------
    writeback / ordered, both SSD  1.00 (0.78-1.29)  1.67 (1.29-2.20)
    HDD / SSD, both ordered        2.38 (2.00-2.86)  0.67 (0.43-1.00)
    Bounds: a length by whole seconds is off by less than one second. How often a test was repeated, and
    how far the repeats lay apart, is not published.

    Re-computed: MB/s written, with their bounds
                            Flac copied    Portage copied        Avi copied        Iso copied
    -----------------------------------------------------------------------------------------
    Ordered, SSD      89.2 (71.4-119.0)     5.3 (5.2-5.5)  54.0 (53.1-54.8)  73.2 (65.1-83.7)
    Writeback, SSD  178.5 (119.0-357.0)     4.9 (4.8-5.0)  54.8 (54.0-55.7)  73.2 (65.1-83.7)
    Ordered, HDD       35.7 (32.5-39.7)  15.3 (14.3-16.4)  32.7 (32.4-33.0)  30.8 (29.3-32.6)
    From the stated sizes, 357, 229, 3,400 and 586 MB of 10^6 bytes. A copy reads as much from the same
    device.

    What becomes of its conclusions: 3 hold, 1 fall, 4 cannot be told
    One rule for all years: a stated number (half, 10 % less) holds where the ratio of the article's own
    figures lies within 10 % of the stated ratio; two figures differ from 10 % on; “several times” is 2
    or more, “a little” up to 1.25. Whatever a clock of whole seconds or published repeats leave open
    has to bear it, else it cannot be told.
    HOLDS  By the time `cp` came back, the SSD is faster than the hard disk in three of the four copies.
        HDD / SSD: flac copied 2.50 (1.80-3.67), avi copied 1.65 (1.61-1.69), iso copied 2.38
        (2.00-2.86); repeats are not stated; a difference is told from 10 % on, whatever the clock cut
        off.
    CANNOT BE TOLD  In these three the SSD is loosely one and a half times or twice as fast.
        HDD / SSD: flac copied 2.50 (1.80-3.67), avi copied 1.65 (1.61-1.69), iso copied 2.38
        (2.00-2.86) (bounds are not reached); as stated is 1.35 to 2.20; outside 1.50 to 2.00 whatever
        the clock cut off: iso copied.
    HOLDS  Copying very many small files the SSD is slower than the hard disk.
        SSD / HDD: portage copied 2.87 (2.62-3.14); repeats are not stated; a difference is told from
        10 % on, whatever the clock cut off.
    CANNOT BE TOLD  Deleting them the SSD loses to the hard disk too.
        SSD / HDD: portage deleted 1.50 (1.00-2.33); repeats are not stated; a difference is told from
        10 % on, whatever the clock cut off.
    CANNOT BE TOLD  In copies, writeback and ordered differ by no more than the error of the experiment.
        writeback / ordered: flac copied 0.50 (0.20-1.00), portage copied 1.09 (1.05-1.14), avi copied
        0.98 (0.95-1.02), iso copied 1.00 (0.78-1.29); more than the clock explains: flac copied,
        portage copied; the error of the experiment is not stated.
    HOLDS  Deleting the Portage tree, writeback loses to ordered.
        10 s and 6 s by a clock of whole seconds, writeback / ordered: portage deleted 1.67 (1.29-2.20);
        repeats are not stated; a difference is told from 10 % on, whatever the clock cut off.
    CANNOT BE TOLD  The seconds of the short copies are what the SSD took.
        memory and what was in the caches are not stated; MB/s, ordered: flac 89 (71-119), iso 73
        (65-84), avi 54 (53-55); writeback: flac 178 (119-357), iso 73 (65-84), avi 55 (54-56): in 2 of
        2 rows a short copy is faster than that of the file of 3.4 GB, which reads or writes in the page
        cache would explain.
    FALLS  A Portage tree of little more than 12 thousand files and directories, a few hundred bytes to
           a few KB each, takes 229 MB.
        229 MB / 12,000 = 19083 bytes each; with ten times as many entries it is 1908.
    ");
}

#[test]
fn only_what_falls_is_bold() {
    let found = fsarena_reference::study(2005).unwrap();
    let colour = Style { colour: true, ..plain() };
    let text = article(&found, &[], &[], 120, colour);
    let bold: Vec<&str> = text.lines().filter(|line| line.starts_with("\u{1b}[1m")).collect();
    assert_eq!(
        bold.len(),
        3 + 1 + 2,
        "titles of tables and findings, two lines that fall: {bold:?}"
    );
    assert!(bold[4].starts_with("\u{1b}[1mFALLS"), "{bold:?}");
}

#[test]
fn the_list() {
    insta::assert_snapshot!(articles(&fsarena_reference::list(), 80), @r"
    2003  Comparison of popular file systems under Linux and FreeBSD (2003)
    2005  FreeBSD 6 and AMD64: tests of file operations (2005)
    2007  Study of UFS performance: sizes of block and fragment (2007)
    2008  All against all: 32 and 64 bits, AMD and Intel, tmpfs and ext3 (2008)
    2010  SSD and ext4: journal modes, next to a hard disk (2010)
    ");
}

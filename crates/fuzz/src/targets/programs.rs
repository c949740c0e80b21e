//! Output of programs: those that look at devices, and those that tell of a file system.

use crate::target::{PLAIN, Target, choice, chosen};
use fsarena_devices::inventory::{blkid_names, wipefs_names};
use fsarena_filesystems::outputs::{FEATURES, LAYOUTS, count_groups};
use fsarena_guests::parsers::{failed_build, rejected_patch};

pub(super) const DEVICE_PROGRAMS: Target = Target {
    name: "device-programs",
    reads: "output of wipefs, blkid, smartctl, patch and make",
    seeds: || {
        let smart = "{\"smart_status\":{\"passed\":true},\"nvme_smart_health_information_log\":{\
                     \"percentage_used\":3,\"media_errors\":0,\"available_spare\":100,\
                     \"available_spare_threshold\":10},\"ata_smart_attributes\":{\"table\":[\
                     {\"id\":5,\"raw\":{\"value\":0}},{\"id\":197,\"raw\":{\"value\":2}}]}}";
        vec![
            chosen(
                0,
                "{\"signatures\": [{\"offset\":\"0x438\", \"type\":\"ext4\"},{\"type\":\"dos\"}]}",
            ),
            chosen(1, "DEVNAME=/dev/sdb\nLABEL=TYPE\nTYPE=ext4\nPTTYPE=dos\nSEC_TYPE=msdos\n"),
            chosen(2, smart),
            chosen(2, "{\"smartctl\":{\"messages\":[{\"string\":\"no device\"}]}}"),
            chosen(3, "patching file a.c\nHunk #2 FAILED at 17.\n|+++ b/x y\nNo file to patch\n"),
            chosen(4, "  CC a.o\nx.c:3: error: y\nmake: *** [x] Error 2\n"),
        ]
    },
    run: device_programs,
    ..PLAIN
};

pub(super) const FS_PROGRAMS: Target = Target {
    name: "fs-programs",
    reads: "output of dumpe2fs, debugfs, xfs_info, xfs_db, btrfs and others of their kind",
    shares: 2,
    seeds: fs_seeds,
    run: fs_programs,
    ..PLAIN
};

fn device_programs(input: &[u8]) {
    let Some((which, text)) = choice(input) else { return };
    match which % 5 {
        0 => {
            if let Ok(names) = wipefs_names(&text) {
                assert!(names.len() <= text.len());
            }
        }
        1 => {
            let names = blkid_names(&text);
            assert!(names.iter().all(|name| !name.is_empty() && !name.contains('\n')));
        }
        2 => assert!(!fsarena_doctor::smart_reading(&text).is_empty()),
        3 => {
            let why = rejected_patch(&text);
            assert!(!why.contains('\n'), "{why:?}");
        }
        _ => assert!(!failed_build(&text).contains('\n')),
    }
}

fn fs_programs(input: &[u8]) {
    let Some((which, text)) = choice(input) else { return };
    let which = which % (FEATURES.len() + LAYOUTS.len() + 1);
    if let Some((program, read)) = FEATURES.get(which) {
        match read(&text) {
            Ok(features) => assert!(!features.is_empty(), "{program}"),
            Err(error) => {
                assert!(error.to_string().contains("not understood"), "{program}: {error}")
            }
        }
    } else if let Some((program, read)) = LAYOUTS.get(which - FEATURES.len()) {
        let Ok(layout) = read(&text) else { return };
        for range in layout.journal.iter().chain(&layout.metadata) {
            // Beyond 64 bits it ends where they do.
            assert!(range.end_bytes() >= range.start_bytes, "{program}: {range:?}");
        }
        for chunk in &layout.chunks {
            assert!(!chunk.copies_bytes.is_empty(), "{program}: {chunk:?}");
        }
    } else if let Ok((left, all)) = count_groups(&text) {
        assert!(left <= all && all > 0);
    }
}

/// What the programs print of small file systems.
fn fs_seeds() -> Vec<Vec<u8>> {
    let btrfs = "csum_type\t\t0 (crc32c)\ntotal_bytes\t\t536870912\nsectorsize\t\t4096\n\
                 nodesize\t\t16384\nincompat_flags\t\t0x361\n\t\t\t( MIXED_BACKREF |\n\
                 \t\t\t  NO_HOLES )\n";
    let chunks = "\titem 1 key (FIRST_CHUNK_TREE CHUNK_ITEM 22020096) itemoff 1 itemsize 2\n\
                  \t\tlength 8388608 owner 2 stripe_len 65536 type SYSTEM|DUP\n\
                  \t\tnum_stripes 2 sub_stripes 1\n\t\t\tstripe 0 devid 1 offset 22020096\n\
                  \t\t\tstripe 1 devid 1 offset 30408704\n";
    let dumpe2fs = "Filesystem features:      has_journal ext_attr extent 64bit\n\
                    First block:              1\nBlock size:               1024\n\
                    Inode count:              4096\nInode blocks per group:   512\n\
                    Inode size:\t          256\nJournal inode:            8\n";
    let groups = "\ngroup:block:super:gdt:bbitmap:ibitmap:itable\n0:1:1:2-2:259:267:275\n\
                  1:8193:8193:8194-8196:260:268:787\n2:16385:-1:-1:261:269:1299\n";
    let journal = "Inode: 8   Type: regular\nEXTENTS:\n(ETB0):33, (0-4095):16385-20480, \
                   (4096-4097[u]):20481-20482, (4098):9\n\n";
    let xfs_info = "meta-data=/dev/loop0             isize=512    agcount=4, agsize=32768 blks\n\
                    \x20        =                       crc=1        finobt=1\n\
                    data     =                       bsize=4096   blocks=131072, imaxpct=25\n\
                    log      =internal log           bsize=4096   blocks=16384, version=2\n";
    let xfs_db = "blocksize = 4096\nagblocks = 32768\nagcount = 4\nsectsize = 512\n\
                  logstart = 65542\nlogblocks = 16384\nagblklog = 15\n";
    let f2fs = "Info: superblock features = 2928 :  extra_attr inode_checksum\n\
                log_blocksize                 \t\t[0x       c : 12]\n\
                segs_per_sec                  \t\t[0x       1 : 1]\n\
                segment_count_main            \t\t[0x      78 : 120]\n";
    let mut words = vec!["0"; 344];
    for (word, number) in
        [(2, "16"), (5, "536"), (9, "32768"), (11, "2"), (13, "2048"), (47, "20000")]
    {
        words[word] = number;
    }
    words[343] = "72020";
    let od = words.join("\n");
    let header_and_groups = format!("{dumpe2fs}\n--\n{groups}");
    let uninit = "uninit_bg\nGroup 0: (Blocks 1-2) csum 0x1 [ITABLE_ZEROED]\nGroup 1: (x)\n";
    let all = [
        btrfs,
        "Volume Length(sectors): \t\t524288\nCluster size:  \t\t32768\nTotal Clusters: \t\t8128\n",
        dumpe2fs,
        f2fs,
        "JFS version:\t\t1\nJFS flags:\t\tJFS_LINUX  JFS_COMMIT\n\
         Aggregate block size:\t4096 bytes\n",
        "Filesystem features: none\nBlock size: 4096\n# of blocks per segment: 2048\n",
        "\tVolume Version: 3.1\n\tCluster Size: 4096\n\tMFT Record Size: 1024\n",
        "Reiserfs super block in block 16 on 0x700 of format 3.6 with standard journal\n\
         Count of blocks on the device: 65536\nBlocksize: 4096\n\
         Hash function used to sort names: \"r5\"\nSize 8193 blocks\nMax transaction length 1024\n",
        &od,
        "       512 bytes per logical sector\n      4096 bytes per cluster\n2 FATs, 32 bit entries\n\
         \x20    65000 data clusters (266240000 bytes)\n",
        xfs_info,
        chunks,
        xfs_db,
        &od,
        &header_and_groups,
        journal,
        uninit,
    ];
    all.iter().enumerate().map(|(number, text)| chosen(number, text)).collect()
}

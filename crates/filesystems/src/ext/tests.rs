//! Rules, commands and parsers of ext2, ext3 and ext4.

use super::*;
use fsarena_model::contender::Discard;

const DUMP: &str = "\
Filesystem volume name:   <none>
Filesystem revision #:    1 (dynamic)
Filesystem features:      has_journal ext_attr resize_inode extent 64bit metadata_csum
Filesystem flags:         signed_directory_hash 
Default mount options:    user_xattr acl
Filesystem state:         clean
Inode count:              32768
Block count:              131072
Block size:               4096
Filesystem created:       Sat Nov 21 20:41:09 2026
Inode size:\t          256
Directory Hash Seed:      f5a2e4a0-0000-4000-8000-000000000002
Total journal size:       16M
";

fn level(name: &str, mkfs: &[(&str, &str)], mount: &[&str]) -> FsLevel {
    FsLevel {
        mkfs: mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        mount: mount.iter().map(|option| (*option).to_owned()).collect(),
        ..FsLevel::plain(name)
    }
}

fn check(fs: &Ext, mkfs: &[(&str, &str)], mount: &[&str], size_bytes: u64) -> Result<(), String> {
    let level = level(fs.name, mkfs, mount);
    fs.check(&level, Some(size_bytes)).map_err(|error| error.to_string())
}

const GIB: u64 = 1 << 30;

#[test]
fn dumpe2fs_is_read_without_its_times() {
    let map = parse_dumpe2fs(DUMP).unwrap();
    assert_eq!(map["inode_size"], "256");
    assert_eq!(map["total_journal_size"], "16M");
    assert!(map["filesystem_features"].contains("metadata_csum"));
    assert!(!map.contains_key("filesystem_created") && !map.contains_key("filesystem_state"));
    let text = parse_dumpe2fs("Block size: 4096").unwrap_err().to_string();
    assert!(text.contains("dumpe2fs") && text.contains("filesystem features"), "{text}");
}

#[test]
fn every_default_is_written_out() {
    let argv = |fs: &Ext, discard| {
        fs.mkfs_argv(&FsLevel::plain(fs.name), discard, Path::new("/dev/loop0"), GIB).join(" ")
    };
    assert_eq!(
        argv(&EXT4, Discard::None),
        "mke2fs -t ext4 -T default -F -q -b 4096 -I 256 -i 16384 -m 5 -e continue -O \
         none,has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize,\
         sparse_super,large_file,filetype,resize_inode,dir_index,ext_attr -J size=32 -G 16 \
         -U f5a2e4a0-0000-4000-8000-000000000001 -E nodiscard,lazy_itable_init=0,\
         lazy_journal_init=0,root_owner=0:0,hash_seed=f5a2e4a0-0000-4000-8000-000000000002 \
         /dev/loop0"
    );
    let ext2 = argv(&EXT2, Discard::On);
    assert!(!ext2.contains("-J") && !ext2.contains("-G") && ext2.contains("-E discard"), "{ext2}");
}

#[test]
fn journals_are_as_mke2fs_would_choose() {
    for (mib, journal_mib) in [(64, 4), (512, 16), (1024, 32), (2048, 64), (16384, 128)] {
        assert_eq!(default_journal(mib << 20, 4096) >> 20, journal_mib, "{mib} MiB");
    }
}

/// The kernel has a driver of ext2 that refuses the word for what it does anyway.
#[test]
fn ext2_is_not_told_to_discard_nothing() {
    let level = |name: &str| FsLevel { mount: vec!["noatime".to_owned()], ..FsLevel::plain(name) };
    let of = |ext: &Ext, discard| ext.mount_options(&level(ext.name), discard, None);
    assert_eq!(of(&EXT2, Discard::None), ["noatime"]);
    assert_eq!(of(&EXT2, Discard::On), ["noatime", "discard"]);
    assert_eq!(of(&EXT3, Discard::None), ["noatime", "nodiscard"]);
    assert_eq!(of(&EXT4, Discard::None), ["noatime", "nodiscard"]);
    assert_eq!(of(&EXT4, Discard::On), ["noatime", "discard"]);
}

#[test]
fn mount_options_that_need_a_journal_are_refused_without_one() {
    assert_eq!(check(&EXT4, &[], &["data=writeback", "noatime"], GIB), Ok(()));
    assert_eq!(check(&EXT3, &[], &["data=journal"], GIB), Ok(()));
    let text = check(&EXT2, &[], &["data=journal"], GIB).unwrap_err();
    assert!(text.contains("needs a journal") && text.contains("use ext3 or ext4"), "{text}");
    assert!(check(&EXT4, &[("features", "^has_journal")], &["data=ordered"], GIB).is_err());
    assert!(check(&EXT4, &[], &["data=fast"], GIB).unwrap_err().contains("data=ordered"));
    assert!(check(&EXT4, &[], &["stripe=8"], GIB).is_ok(), "left to the kernel");
}

#[test]
fn mkfs_options_are_checked() {
    assert!(check(&EXT4, &[("block_size", "1024"), ("inode_size", "512")], &[], GIB).is_ok());
    assert!(check(&EXT4, &[("block_size", "8192")], &[], GIB).unwrap_err().contains("4096"));
    let text = check(&EXT4, &[("blocksize", "1024")], &[], GIB).unwrap_err();
    assert!(text.contains("did you mean block_size"), "{text}");
    assert!(check(&EXT2, &[("journal_size", "8M")], &[], GIB).is_err());
    assert!(check(&EXT4, &[("journal_size", "1M")], &[], GIB).is_err());
    assert!(check(&EXT4, &[("journal_size", "900M")], &[], GIB).unwrap_err().contains("half"));
    assert!(check(&EXT4, &[("features", "no way")], &[], GIB).is_err());
    assert!(check(&EXT4, &[("features", "^flex_bg"), ("flex_bg_size", "4")], &[], GIB).is_err());
    assert!(check(&EXT4, &[], &[], 1 << 20).unwrap_err().contains("too small"));
    assert!(check(&EXT2, &[], &[], 1 << 20).is_ok());
}

#[test]
fn clusters_are_for_ext4_with_extents() {
    let is = |text: &str, fs: &Ext, mkfs: &[(&str, &str)], size| {
        let error = check(fs, mkfs, &[], size).unwrap_err();
        assert!(error.contains(text), "{error}");
    };
    for size in ["8K", "16K", "256K", "128M"] {
        assert_eq!(check(&EXT4, &[("cluster_size", size)], &[], 64 * GIB), Ok(()), "{size}");
    }
    is("only for ext4", &EXT3, &[("cluster_size", "16K")], GIB);
    is("feature extent", &EXT4, &[("cluster_size", "16K"), ("features", "^extent")], GIB);
    is("from two blocks (8192)", &EXT4, &[("cluster_size", "4096")], GIB);
    is("power of two", &EXT4, &[("cluster_size", "48K")], GIB);
    is("power of two", &EXT4, &[("cluster_size", "256M")], GIB);
    is("cluster_size=64K", &EXT4, &[("features", "bigalloc")], GIB);
    let many = [("cluster_size", "256K"), ("inode_ratio", "16384")];
    is("asks for 524288 inodes in each group", &EXT4, &many, 8 * GIB);
    is("use inode_ratio = 262144 or more", &EXT4, &many, 8 * GIB);
    let whole = [("inode_size", "4096"), ("inode_ratio", "4096")];
    is("take all of it", &EXT4, &whole, GIB);
    is("more than half", &EXT4, &[("journal_size", "256M")], 512 << 20);
    let argv = |size: &str, gib| {
        let level = level("ext4", &[("cluster_size", size)], &[]);
        EXT4.mkfs_argv(&level, Discard::None, Path::new("/dev/loop0"), gib * GIB).join(" ")
    };
    let text = argv("64K", 8);
    assert!(text.contains("-b 4096 -C 65536 -I 256 -i 65536 ") && text.contains(",bigalloc -J"));
    assert!(argv("16K", 8).contains("-i 16384 "));
    assert!(argv("256K", 1).contains("-i 32768 "), "no more than there have to be");
}

#[test]
fn inline_data_is_known_to_the_cold_proof() {
    assert_eq!(EXT4.content(&level("ext4", &[], &[])).inline_max_bytes, 0);
    let inline = level("ext4", &[("features", "inline_data"), ("block_size", "1024")], &[]);
    let rule = EXT4.content(&inline);
    assert_eq!((rule.inline_max_bytes, rule.block_bytes), (256, 1024));
}

#[test]
fn the_driver_that_serves_is_seen_in_sysfs() {
    let sys = tempfile::tempdir().unwrap();
    let device = Path::new("/dev/loop0");
    assert_eq!(EXT2.served_by(sys.path(), device), None);
    std::fs::create_dir_all(sys.path().join("fs/ext4/loop0")).unwrap();
    assert_eq!(EXT2.served_by(sys.path(), device).as_deref(), Some("ext4"));
    assert_eq!(EXT4.served_by(sys.path(), device), None);
}

#[test]
fn groups_of_dumpe2fs() {
    let text = "Filesystem features:      has_journal metadata_csum\n\n\
                Group 0: (Blocks 0-32767) csum 0x1 [ITABLE_ZEROED]\n  Primary superblock at 0\n\
                Group 1: (Blocks 32768-65535) csum 0x2 [INODE_UNINIT, BLOCK_UNINIT]\n";
    assert_eq!(count_groups(text), Ok((1, 2)));
    assert_eq!(count_groups(&text.replace("metadata_csum", "")), Ok((0, 2)), "nothing is put off");
    assert_eq!(count_groups("").unwrap_err(), "dumpe2fs names no group");
}

/// What a loop device delivered from the mount of a fresh file system (e2fsprogs 1.47, Linux 6.18)
/// to the sync behind 4,000 files in 201 directories, which were then removed.
#[test]
fn first_use_is_no_less_than_that_of_real_file_systems() {
    for (fs, mib, read_bytes) in [
        (&EXT3, 512, 28_672),
        (&EXT3, 2048, 81_920),
        (&EXT3, 8192, 155_648),
        (&EXT3, 16384, 155_648),
        (&EXT2, 16384, 147_456),
        (&EXT4, 512, 20_480),
        (&EXT4, 16384, 40_960),
    ] {
        let at_most = fs.first_use_bytes(&level(fs.name, &[], &[]), Some(mib << 20));
        assert!((read_bytes..=256 << 10).contains(&at_most), "{} {mib}: {at_most}", fs.name);
    }
    assert_eq!(EXT4.first_use_bytes(&level("ext4", &[], &[]), Some(16 << 30)), FIRST_USE_BYTES);
}

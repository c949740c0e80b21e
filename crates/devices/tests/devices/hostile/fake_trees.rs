//! Machines that are not here, as trees of files that look like their `/sys` and `/proc`.

use fsarena_devices::inventory::{DeviceKind, Inventory, Roots, SurveyRow, Usage, Verdict, survey};
use fsarena_devices::queue;
use fsarena_model::device::{QueueLevel, WriteCache};
use fsarena_model::memory_device::MemoryDevice;
use std::fs;
use std::path::PathBuf;

struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    /// A machine whose root file system is on `vda1`.
    fn new() -> Self {
        let tree = Self { dir: tempfile::tempdir().unwrap() };
        tree.disk("vda", "254:0", 1 << 30).part("vda", "vda1", "254:1", 2048, 1 << 20);
        tree.mounts("1", &[("254:1", "/", "ext4", "/dev/vda1", "rw")]);
        tree.put("proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn put(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn dirs(&self, base: &str, names: &[&str]) -> &Self {
        for name in names {
            fs::create_dir_all(self.path(base).join(name)).unwrap();
        }
        self
    }

    fn disk(&self, name: &str, number: &str, sectors: u64) -> &Self {
        let base = format!("sys/block/{name}");
        self.dirs(&base, &["holders", "slaves", "queue"]);
        for (file, text) in [
            ("dev", number),
            ("ro", "0\n"),
            ("removable", "0\n"),
            ("diskseq", "7\n"),
            ("queue/rotational", "1\n"),
            ("queue/logical_block_size", "512\n"),
            ("queue/physical_block_size", "4096\n"),
            ("queue/scheduler", "none [mq-deadline] bfq\n"),
        ] {
            self.put(&format!("{base}/{file}"), text);
        }
        self.put(&format!("{base}/size"), &format!("{sectors}\n"))
    }

    fn part(&self, disk: &str, name: &str, number: &str, start: u64, sectors: u64) -> &Self {
        let base = format!("sys/block/{disk}/{name}");
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        self.dirs(&base, &["holders"]);
        self.put(&format!("{base}/partition"), digits);
        self.put(&format!("{base}/dev"), number);
        self.put(&format!("{base}/ro"), "0");
        self.put(&format!("{base}/start"), &start.to_string());
        self.put(&format!("{base}/size"), &sectors.to_string())
    }

    fn holds(&self, holder: &str, part: &str) -> &Self {
        let name = part.rsplit('/').next().unwrap();
        self.dirs(&format!("sys/block/{part}/holders"), &[holder]);
        self.dirs(&format!("sys/block/{holder}/slaves"), &[name])
    }

    /// Number, mount point, type, source, options of the superblock.
    fn mounts(&self, pid: &str, mounts: &[(&str, &str, &str, &str, &str)]) -> &Self {
        let line = |(number, at, fstype, source, options): &(&str, &str, &str, &str, &str)| {
            format!("22 1 {number} / {at} rw,relatime shared:1 - {fstype} {source} {options}\n")
        };
        let text: String = mounts.iter().map(line).collect();
        self.put(&format!("proc/{pid}/mountinfo"), &text)
    }

    fn swap(&self, name: &str) -> &Self {
        let head = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
        self.put("proc/swaps", &format!("{head}{name}   partition\t1\t0\t-2\n"))
    }

    fn roots(&self) -> Roots {
        Roots {
            proc: self.path("proc"),
            sys: self.path("sys"),
            dev: self.path("dev"),
            run: self.path("run"),
        }
    }

    fn inventory(&self) -> Inventory {
        Inventory::read(&self.roots()).unwrap()
    }

    /// All reasons against a device, in one text; empty where there are none.
    fn reasons(&self, name: &str) -> String {
        let inventory = self.inventory();
        let usage = Usage::read(&self.roots(), &inventory).unwrap();
        usage.reasons(&inventory, inventory.get(name).unwrap()).join("; ")
    }

    fn assert_free(&self, name: &str) {
        assert_eq!(self.reasons(name), "", "{name}");
    }

    fn assert_used(&self, name: &str, reason: &str) {
        let reasons = self.reasons(name);
        assert!(reasons.contains(reason), "{name}: no {reason:?} in {reasons:?}");
    }

    fn error(&self) -> String {
        let inventory = match Inventory::read(&self.roots()) {
            Ok(inventory) => inventory,
            Err(error) => return error.to_string(),
        };
        Usage::read(&self.roots(), &inventory).expect_err("read in spite of all").to_string()
    }
}

/// The kernel makes the directory of a partition before the files in it.
#[test]
fn a_partition_that_is_being_made_is_waited_for() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", 1 << 30).part("sda", "sda1", "8:1", 2048, 1 << 20);
    let holders = tree.path("sys/block/sda/sda1/holders");
    fs::remove_dir(&holders).unwrap();
    let maker = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(30));
        fs::create_dir(holders).unwrap();
    });
    tree.assert_free("sda1");
    maker.join().unwrap();
}

#[test]
fn a_mounted_partition_keeps_its_disk_and_not_its_sibling() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", 1 << 30)
        .part("sda", "sda1", "8:1", 2048, 1 << 20)
        .part("sda", "sda2", "8:2", 1 << 21, 1 << 20)
        .mounts("77", &[("8:1", "/mnt/with\\040space\\012line", "xfs", "/dev/sda1", "rw")]);
    tree.assert_used("sda1", r#"mounted at "/mnt/with space\nline" (xfs, as process 77 sees it)"#);
    tree.assert_used("sda", "its partition sda1 is in use: mounted");
    tree.assert_free("sda2");
    tree.assert_used("vda", "its partition vda1 is in use: mounted at / (ext4");
    tree.swap("/dev/sda2");
    tree.assert_used("sda2", "in use as swap");
    tree.assert_used("sda", "its partition sda2 is in use: in use as swap");
}

/// The queue is that of the disk: without flushes the neighbour would lose what it wrote.
#[test]
fn the_queue_of_a_partition_is_left_alone_while_its_neighbour_is_in_use() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", 1 << 30)
        .part("sda", "sda1", "8:1", 2048, 1 << 20)
        .part("sda", "sda2", "8:2", 1 << 21, 1 << 20)
        .put("sys/block/sda/queue/write_cache", "write back\n")
        .put("sys/block/sda/queue/read_ahead_kb", "128\n")
        .dirs("sys/class", &["block"]);
    for part in ["sda1", "sda2"] {
        let link = tree.path("sys/class/block").join(part);
        std::os::unix::fs::symlink(format!("../../block/sda/{part}"), link).unwrap();
    }
    let through =
        QueueLevel { write_cache: Some(WriteCache::WriteThrough), ..QueueLevel::default() };
    let ahead = QueueLevel { read_ahead_bytes: Some(1 << 20), ..QueueLevel::default() };
    let plan =
        |name: &str, level: &QueueLevel| queue::plan(&tree.roots(), name, &crate::settings(level));
    assert_eq!(plan("sda1", &ahead).unwrap().len(), 1, "nobody uses the rest");
    assert_eq!(plan("sda1", &through).unwrap().len(), 2, "nobody uses the rest");
    tree.swap("/dev/sda2");
    for level in [&through, &ahead] {
        let text = plan("sda1", level).unwrap_err().to_string();
        assert!(text.contains("sda2: in use as swap"), "{text}");
        assert!(text.contains("use the whole disk"), "{text}");
    }
    let same = QueueLevel { read_ahead_bytes: Some(128 << 10), ..QueueLevel::default() };
    assert_eq!(plan("sda1", &same).unwrap(), [], "nothing would change");
    assert_eq!(plan("sda", &through).unwrap().len(), 2, "for vetting to refuse");
    tree.put("proc/88/mountinfo", "nonsense\n");
    assert!(plan("sda1", &ahead).unwrap_err().to_string().contains("not understood"));
}

#[test]
fn a_disk_in_use_as_a_whole_keeps_its_partitions() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", 1 << 30).part("sda", "sda1", "8:1", 2048, 1 << 20);
    tree.assert_free("sda1");
    tree.mounts("77", &[("8:0", "/mnt", "ext4", "/dev/sda", "rw")]);
    tree.assert_used("sda1", "the disk sda that it is a part of is in use: mounted");
}

#[test]
fn a_logical_partition_keeps_the_extended_one_around_it() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", 1 << 30)
        .part("sda", "sda4", "8:4", 1 << 20, 1 << 20)
        .part("sda", "sda5", "8:5", (1 << 20) + 2048, 1 << 19)
        .part("sda", "sda6", "8:6", 1 << 22, 1 << 19)
        .mounts("77", &[("8:5", "/mnt", "ext4", "/dev/sda5", "rw")]);
    tree.assert_used("sda4", "sda5 has the same sectors and is in use");
    tree.assert_free("sda6");
}

#[test]
fn nvme_is_known_by_its_own_names_and_hidden_paths_are_left_out() {
    let tree = Tree::new();
    tree.disk("nvme0n1", "259:0", 1 << 30)
        .part("nvme0n1", "nvme0n1p2", "259:2", 4096, 1 << 20)
        .put("sys/block/nvme0n1/wwid", "eui.0025388b710116a1\n")
        .put("sys/block/nvme0n1/device/serial", "S4EWNX0R      \n")
        .put("sys/block/nvme0n1/device/model", "Samsung SSD 970 EVO Plus    \n")
        .put("sys/block/nvme0n1/queue/rotational", "0\n")
        .put("sys/block/nvme0c0n1/hidden", "1\n");
    let inventory = tree.inventory();
    assert!(inventory.get("nvme0c0n1").is_none());
    let disk = inventory.get("nvme0n1").unwrap();
    assert_eq!(disk.kind, DeviceKind::Nvme);
    assert_eq!(disk.hardware["serial"], "S4EWNX0R");
    assert_eq!(disk.hardware["wwid"], "eui.0025388b710116a1");
    assert_eq!(disk.rotational, Some(false));
    assert_eq!(disk.scheduler.as_deref(), Some("mq-deadline"));
    assert_eq!(disk.partitions, ["nvme0n1p2"]);
    let part = inventory.get("nvme0n1p2").unwrap();
    assert_eq!((part.kind, part.parent.as_deref()), (DeviceKind::Partition, Some("nvme0n1")));
    assert_eq!(part.hardware["model"], "Samsung SSD 970 EVO Plus");
    assert_eq!(part.hardware["start_bytes"], "2097152");
    assert_eq!((part.diskseq, part.size_bytes), (Some(7), 512 << 20));
}

#[test]
fn serials_come_from_virtio_from_vpd_pages_and_from_udev() {
    let tree = Tree::new();
    tree.disk("vdb", "254:16", 1 << 30).put("sys/block/vdb/serial", "disk-2");
    tree.disk("sda", "8:0", 1 << 30)
        .put("sys/block/sda/device/vpd_pg80", "\0\u{1}\0\u{8}  WD-1234")
        .put("sys/block/sda/device/wwid", "naa.50014ee2b5e7c3d9\n");
    tree.disk("sdb", "8:16", 1 << 30)
        .put("run/udev/data/b8:16", "I:1\nE:ID_SERIAL=USB_1\nE:ID_WWN=0x5\nE:ID_MODEL=Stick\n");
    let inventory = tree.inventory();
    let of = |name: &str| inventory.get(name).unwrap().hardware.clone();
    assert_eq!(of("vdb")["serial"], "disk-2");
    assert_eq!(of("sda")["serial"], "WD-1234");
    assert_eq!(of("sda")["wwid"], "naa.50014ee2b5e7c3d9");
    assert_eq!(
        [&of("sdb")["serial"], &of("sdb")["wwid"], &of("sdb")["model"]],
        ["USB_1", "0x5", "Stick"]
    );
}

#[test]
fn members_of_an_md_array_are_held() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", 1 << 30).part("sda", "sda1", "8:1", 2048, 1 << 20);
    tree.disk("sdb", "8:16", 1 << 30);
    tree.disk("md127", "9:127", 1 << 20);
    tree.holds("md127", "sda/sda1").holds("md127", "sdb");
    assert_eq!(tree.inventory().get("md127").unwrap().kind, DeviceKind::Md);
    tree.assert_used("sda1", "md127 is made of it");
    tree.assert_used("sda", "its partition sda1 is in use: md127 is made of it");
    tree.assert_used("sdb", "md127 is made of it");
    tree.assert_free("md127");
    tree.mounts("77", &[("9:127", "/mnt", "ext4", "/dev/md127", "rw")]);
    tree.assert_used("md127", "mounted at /mnt");
}

#[test]
fn volumes_of_the_device_mapper_share_what_they_are_made_of() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", 1 << 30).part("sda", "sda2", "8:2", 2048, 1 << 20);
    tree.disk("dm-0", "253:0", 1 << 19).put("sys/block/dm-0/dm/name", "vg-root\n");
    tree.disk("dm-1", "253:1", 1 << 19).put("sys/block/dm-1/dm/uuid", "LVM-abc\n");
    tree.holds("dm-0", "sda/sda2").holds("dm-1", "sda/sda2");
    tree.mounts("77", &[("253:0", "/mnt", "ext4", "/dev/mapper/vg-root", "rw")]);
    tree.assert_used("sda2", "dm-0 is made of it");
    tree.assert_used("dm-0", "mounted at /mnt");
    tree.assert_free("dm-1");
    let inventory = tree.inventory();
    assert_eq!(inventory.get("dm-0").unwrap().hardware["dm_name"], "vg-root");
    assert_eq!(inventory.get("dm-1").unwrap().hardware["dm_uuid"], "LVM-abc");
    assert_eq!(inventory.get("dm-1").unwrap().kind, DeviceKind::Dm);
    // Encryption over a volume: what it is made of is used by another in a way that is not shared.
    tree.swap("/dev/sda2");
    tree.assert_used("dm-1", "sda2 that it is made of is in use: in use as swap");
}

#[test]
fn two_paths_to_one_medium_are_one_medium() {
    let tree = Tree::new();
    for (name, number) in [("sda", "8:0"), ("sdb", "8:16"), ("sdc", "8:32")] {
        let wwid = if name == "sdc" { "naa.2" } else { "naa.1" };
        tree.disk(name, number, 1 << 30).put(&format!("sys/block/{name}/device/wwid"), wwid).part(
            name,
            &format!("{name}1"),
            &number.replace(":", ":10"),
            2048,
            1 << 20,
        );
    }
    tree.assert_free("sda");
    tree.mounts("77", &[("8:1016", "/mnt", "xfs", "/dev/sdb1", "rw")]);
    tree.assert_used("sda", "sdb is the same medium (naa.1) and is in use: its partition sdb1");
    tree.assert_used("sda1", "sdb is the same medium (naa.1)");
    tree.assert_free("sdc");
    tree.disk("dm-3", "253:3", 1 << 30).holds("dm-3", "sda").holds("dm-3", "sdb");
    tree.assert_used("sdb", "dm-3 is made of it");
}

#[test]
fn devices_of_several_kinds_are_known_by_their_names() {
    let tree = Tree::new();
    for (index, name) in [
        "mmcblk0",
        "mmcblk0boot0",
        "sr0",
        "fd0",
        "mtdblock0",
        "nbd0",
        "ram0",
        "pmem0",
        "xvda",
        "nullb0",
    ]
    .into_iter()
    .enumerate()
    {
        tree.disk(name, &format!("200:{index}"), 1 << 20);
    }
    tree.disk("sdz", "201:0", 1 << 20).put("sys/block/sdz/device/type", "5\n");
    tree.disk("cciss!c0d0", "104:0", 1 << 20);
    let inventory = tree.inventory();
    let kind = |name: &str| inventory.get(name).unwrap().kind;
    for (name, is) in [
        ("mmcblk0", DeviceKind::Mmc),
        ("mmcblk0boot0", DeviceKind::MmcBoot),
        ("sr0", DeviceKind::Rom),
        ("sdz", DeviceKind::Rom),
        ("fd0", DeviceKind::Floppy),
        ("mtdblock0", DeviceKind::Flash),
        ("nbd0", DeviceKind::Network),
        ("ram0", DeviceKind::Memory(MemoryDevice::named("brd").unwrap())),
        ("nullb0", DeviceKind::Memory(MemoryDevice::named("null-blk").unwrap())),
        ("pmem0", DeviceKind::Disk),
        ("xvda", DeviceKind::Disk),
    ] {
        assert_eq!(kind(name), is, "{name}");
    }
    for name in ["mmcblk0boot0", "sr0", "sdz", "fd0", "mtdblock0"] {
        assert!(inventory.get(name).unwrap().impossible().is_some(), "{name}");
    }
    assert!(inventory.get("mmcblk0").unwrap().impossible().is_none());
    assert_eq!(inventory.get("cciss!c0d0").unwrap().path, tree.path("dev/cciss/c0d0"));
}

#[test]
fn what_has_no_medium_or_room_or_can_only_be_read_is_impossible() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", 0).put("sys/block/sda/removable", "1");
    tree.disk("sdb", "8:16", 32767);
    tree.disk("sdc", "8:32", 1 << 20).put("sys/block/sdc/ro", "1");
    tree.part("sdc", "sdc1", "8:33", 2048, 1 << 19);
    let inventory = tree.inventory();
    let why = |name: &str| inventory.get(name).unwrap().impossible().unwrap().0;
    assert_eq!(why("sda"), "has no medium");
    assert!(why("sdb").contains("the least"));
    assert_eq!(why("sdc"), "can only be read");
    assert_eq!(why("sdc1"), "can only be read");
}

#[test]
fn members_of_mounted_file_systems_are_found_in_sysfs() {
    let tree = Tree::new();
    for (index, name) in ["sda", "sdb", "sdc", "sdd", "sde", "dm-0"].into_iter().enumerate() {
        tree.disk(name, &format!("8:{}", index * 16), 1 << 30);
    }
    tree.dirs("sys/fs/btrfs/1234-uuid/devices", &["sda"]);
    tree.dirs("sys/fs/btrfs", &["features"]);
    tree.dirs("sys/fs/xfs", &["sdb", "stats"]);
    tree.dirs("sys/fs/bcachefs/5678-uuid", &["dev-0"]);
    let link = tree.path("sys/fs/bcachefs/5678-uuid/dev-0/block");
    std::os::unix::fs::symlink("../../../../block/sdc", link).unwrap();
    tree.dirs("proc/fs/jbd2", &["sdd", "sde-8", "dm-0-8"]);
    tree.assert_used("sda", "a part of the btrfs 1234-uuid");
    tree.assert_used("sdb", "has a mounted file system (xfs)");
    tree.assert_used("sdc", "a part of the bcachefs 5678-uuid");
    tree.assert_used("sdd", "has the journal");
    tree.assert_used("sde", "has the journal");
    tree.assert_used("dm-0", "has the journal");
}

#[test]
fn devices_named_by_mounts_without_a_number_of_their_own_are_found() {
    let tree = Tree::new();
    for (index, name) in ["sda", "sdb", "sdc", "sdd"].into_iter().enumerate() {
        tree.disk(name, &format!("8:{}", index * 16), 1 << 30);
    }
    tree.mounts(
        "77",
        &[
            ("0:42", "/mnt/a", "btrfs", "/dev/sda", "rw,space_cache=v2"),
            ("0:43", "/mnt/b", "fuse.fuse2fs", "/dev/sdb", "rw"),
            ("8:240", "/mnt/c", "xfs", "/dev/sdx", "rw,logdev=/dev/sdc,rtdev=/dev/sdd,noquota"),
        ],
    );
    for name in ["sda", "sdb", "sdc", "sdd"] {
        tree.assert_used(name, "mounted at /mnt/");
    }
}

#[test]
fn a_loop_device_uses_what_it_lies_on() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", 1 << 30).part("sda", "sda1", "8:1", 2048, 1 << 20);
    tree.disk("loop0", "7:0", 1 << 20).put("sys/block/loop0/loop/backing_file", "/dev/sda1\n");
    tree.disk("loop1", "7:1", 1 << 20)
        .put("sys/block/loop1/loop/backing_file", "/gone (deleted)\n");
    tree.disk("loop2", "7:2", 1 << 20)
        .put("sys/block/loop2/loop/backing_file", "/gone (deleted)\n");
    tree.assert_used("sda1", "the loop device loop0 is on it");
    tree.assert_used("sda", "its partition sda1 is in use: the loop device loop0 is on it");
    tree.assert_free("loop0");
    tree.assert_used("loop1", "the loop device loop2 has the same /gone (deleted)");
    tree.mounts("77", &[("8:0", "/mnt", "ext4", "/dev/sda", "rw")]);
    tree.assert_used("loop0", "sda1 below it is in use: the disk sda");
    // And through a volume on top of the loop device, and a partition of that.
    tree.disk("dm-0", "253:0", 1 << 20).holds("dm-0", "loop0");
    tree.part("dm-0", "dm-0p1", "253:1", 2048, 1 << 18);
    tree.assert_used("dm-0", "loop0 that it is made of is in use: sda1 below it is in use");
    tree.assert_used("dm-0p1", "the disk dm-0 that it is a part of is in use: loop0 that it is");
}

#[test]
fn swap_files_and_devices_with_odd_names_are_understood() {
    let tree = Tree::new();
    tree.disk("sda", "8:0", 1 << 30);
    tree.swap("/nowhere/swap\\040file\\040(deleted)");
    tree.assert_free("sda");
    tree.swap("/dev/sda");
    tree.assert_used("sda", "in use as swap");
    fs::remove_file(tree.path("proc/swaps")).unwrap();
    tree.assert_free("sda");
}

#[test]
fn what_is_not_understood_is_an_error_and_no_answer() {
    let tree = Tree::new;
    let with = |name: &str, text: &str| {
        let tree = Tree::new();
        tree.put(name, text);
        tree.error()
    };
    assert!(with("proc/88/mountinfo", "nonsense\n").contains("not understood"));
    assert!(with("proc/swaps", "nonsense\n").contains("Filename"));
    assert!(with("sys/block/vda/dev", "254\n").contains("no device number"));
    assert!(with("sys/block/vda/size", "many\n").contains("no number"));
    assert!(with("sys/block/vda/ro", "perhaps\n").contains("neither 0 nor 1"));
    for missing in ["holders", "vda1/holders", "size", "dev", "ro", "vda1/start"] {
        let tree = tree();
        let path = tree.path("sys/block/vda").join(missing);
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir(&path);
        assert!(tree.error().contains(missing), "{missing}");
    }
    let no_mounts = tree();
    fs::remove_dir_all(no_mounts.path("proc/1")).unwrap();
    assert!(no_mounts.error().contains("no process shows any mount"));
    let no_devices = tree();
    fs::remove_dir_all(no_devices.path("sys/block")).unwrap();
    assert!(no_devices.error().contains("sys/block"));
    fs::create_dir_all(no_devices.path("sys/block")).unwrap();
    assert!(no_devices.error().contains("lists no block device"));
    // A directory where a file belongs cannot be read, root or not.
    let unreadable = tree();
    unreadable.dirs("proc/99/mountinfo", &["sub"]);
    assert!(unreadable.error().contains("proc/99/mountinfo"));
}

#[test]
fn a_survey_leaves_out_free_names_and_never_offers_what_it_cannot_see() {
    let tree = Tree::new();
    tree.disk("loop5", "7:5", 0).disk("zram0", "252:0", 0).disk("sda", "8:0", 1 << 30);
    let rows = survey(&tree.roots()).unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row.identity.name.as_str()).collect();
    assert_eq!(names, ["sda", "vda", "vda1"]);
    for row in &rows {
        assert!(matches!(row.verdict, Verdict::Never { .. }), "{row:?}");
    }
    tree.put("proc/88/mountinfo", "nonsense\n");
    let rows = survey(&tree.roots()).unwrap();
    let blind = |row: &SurveyRow| match &row.verdict {
        Verdict::Never { reason } => reason.contains("not understood"),
        Verdict::WithConsent { .. } => false,
    };
    assert!(rows.iter().all(blind), "{rows:?}");
}

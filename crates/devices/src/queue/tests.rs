//! Queues in a fake tree of sysfs. Its `scheduler` is a plain file: it has what was written last.

use super::*;
use fsarena_model::contender::{DeviceLevel, FsLevel, Levels};
use fsarena_model::device::{QueueLevel, WriteCache};
use fsarena_model::factor;

struct Fake {
    root: tempfile::TempDir,
}

impl Fake {
    fn new() -> Self {
        let this = Self { root: tempfile::tempdir().unwrap() };
        for (file, text) in [
            ("block/sda/diskseq", "7\n"),
            ("block/sda/queue/scheduler", "none [mq-deadline] kyber bfq\n"),
            ("block/sda/queue/read_ahead_kb", "128\n"),
            ("block/sda/queue/write_cache", "write back\n"),
            ("block/sda/queue/nr_requests", "64\n"),
            ("block/sda/sda1/partition", "1\n"),
            ("block/zram0/diskseq", "9\n"),
            ("block/zram0/queue/read_ahead_kb", "128\n"),
            ("block/loop0/diskseq", "11\n"),
            ("block/loop0/queue/read_ahead_kb", "128\n"),
            ("block/loop0/loop/backing_file", "/x\n"),
        ] {
            let path = this.root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let class = this.root.path().join("class/block");
        fs::create_dir_all(&class).unwrap();
        for (name, to) in
            [("sda", "sda"), ("sda1", "sda/sda1"), ("zram0", "zram0"), ("loop0", "loop0")]
        {
            let target = Path::new("../../block").join(to);
            std::os::unix::fs::symlink(target, class.join(name)).unwrap();
        }
        this
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.root.path().join("block").join(file)).unwrap().trim().to_owned()
    }

    fn set(&self, file: &str, text: &str) {
        fs::write(self.root.path().join("block").join(file), text).unwrap();
    }

    fn plan(&self, device: &str, level: &QueueLevel) -> Result<Vec<QueueChange>, String> {
        plan(&self.roots(), device, &settings(level)).map_err(|error| error.to_string())
    }

    fn roots(&self) -> Roots {
        let root = self.root.path();
        let below = |name: &str| root.join(name);
        Roots { sys: root.to_owned(), proc: below("proc"), dev: below("dev"), run: below("run") }
    }
}

/// The settings of a queue at this level: file and text.
fn settings(queue: &QueueLevel) -> Vec<(&'static str, String)> {
    let device = DeviceLevel::Loop { size_bytes: 1 << 30 };
    let levels = Levels::plain(FsLevel::plain("ext4"), device);
    factor::queue_settings(&factor::settings(&Levels { queue: queue.clone(), ..levels }))
}

fn read_ahead(kib: u64) -> QueueLevel {
    QueueLevel { read_ahead_bytes: Some(kib << 10), ..QueueLevel::default() }
}

#[test]
fn everything_is_set_read_back_and_put_back() {
    let fake = Fake::new();
    let level = QueueLevel {
        scheduler: Some("bfq".to_owned()),
        read_ahead_bytes: Some(1 << 20),
        write_cache: Some(WriteCache::WriteThrough),
    };
    let changes = fake.plan("sda", &level).unwrap();
    assert_eq!(changes.len(), 4, "with what follows the scheduler: {changes:?}");
    assert_eq!(fake.read("sda/queue/read_ahead_kb"), "128", "a plan changes nothing");
    let applied = apply(changes.clone()).unwrap();
    assert_eq!(fake.read("sda/queue/scheduler"), "bfq");
    assert_eq!(fake.read("sda/queue/read_ahead_kb"), "1024");
    assert_eq!(fake.read("sda/queue/write_cache"), "write through");
    fake.set("sda/queue/nr_requests", "256");
    let text = serde_json::to_string(applied.changes()).unwrap();
    assert_eq!(serde_json::from_str::<Vec<QueueChange>>(&text).unwrap(), changes);
    applied.restore().unwrap();
    assert_eq!(fake.read("sda/queue/scheduler"), "mq-deadline");
    assert_eq!(fake.read("sda/queue/nr_requests"), "64");
    assert_eq!(fake.read("sda/queue/read_ahead_kb"), "128");
    assert_eq!(fake.read("sda/queue/write_cache"), "write back");
    assert_eq!(restore(&changes).unwrap(), 0, "a second time there is nothing to do");
}

#[test]
fn what_somebody_else_has_set_since_stays() {
    let fake = Fake::new();
    let changes = fake.plan("sda", &read_ahead(512)).unwrap();
    let applied = apply(changes.clone()).unwrap();
    fake.set("sda/queue/read_ahead_kb", "64");
    drop(applied);
    assert_eq!(fake.read("sda/queue/read_ahead_kb"), "64");
    // Another medium under the same name.
    fake.set("sda/queue/read_ahead_kb", "512");
    fake.set("sda/diskseq", "8");
    assert_eq!(restore(&changes).unwrap(), 0);
    assert_eq!(fake.read("sda/queue/read_ahead_kb"), "512");
    fs::remove_dir_all(fake.root.path().join("block/sda")).unwrap();
    assert_eq!(restore(&changes).unwrap(), 0, "a device that is gone needs nothing");
}

#[test]
fn a_loop_device_without_an_image_is_put_back() {
    let fake = Fake::new();
    let changes = fake.plan("loop0", &read_ahead(512)).unwrap();
    let applied = apply(changes.clone()).unwrap();
    fake.set("loop0/diskseq", "12");
    drop(applied);
    assert_eq!(fake.read("loop0/queue/read_ahead_kb"), "512", "another image is attached");
    fs::remove_file(fake.root.path().join("block/loop0/loop/backing_file")).unwrap();
    assert_eq!(restore(&changes).unwrap(), 1);
    assert_eq!(fake.read("loop0/queue/read_ahead_kb"), "128");
}

#[test]
fn what_is_not_offered_is_refused_with_what_is() {
    let fake = Fake::new();
    let level = |name: &str| QueueLevel { scheduler: Some(name.to_owned()), ..Default::default() };
    let text = fake.plan("sda", &level("cfq")).unwrap_err();
    assert!(text.contains("it offers none, mq-deadline, kyber, bfq"), "{text}");
    let text = fake.plan("zram0", &level("none")).unwrap_err();
    assert!(text.contains("it has no scheduler"), "{text}");
    assert_eq!(fake.plan("sda", &level("mq-deadline")).unwrap(), [], "it is so already");
    let now = current(&fake.roots(), "zram0");
    assert_eq!(now, [("read_ahead_kb".to_owned(), "128".to_owned())].into());
}

#[test]
fn a_journal_cannot_lead_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("scheduler");
    fs::write(&file, "ours").unwrap();
    let change = QueueChange {
        file: file.clone(),
        original: "theirs".to_owned(),
        ours: Some("ours".to_owned()),
        diskseq: None,
    };
    assert!(restore(std::slice::from_ref(&change)).unwrap_err().to_string().contains("left alone"));
    assert!(apply(vec![change]).is_err());
    assert_eq!(fs::read_to_string(file).unwrap(), "ours");
}

#[test]
fn names_of_nodes_in_directories() {
    assert_eq!(kernel_name(Path::new("/dev/cciss/c0d0")), "cciss!c0d0");
    assert_eq!(kernel_name(Path::new("/dev/sda")), "sda");
}

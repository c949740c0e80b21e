//! What is left of an arena that could not be taken down whole.

use super::*;
use crate::journal;
use fsarena_testkit::records;

/// A setting that cannot be put back now is not forgotten: the journal stays for a later start.
#[test]
fn what_cannot_be_put_back_stays_in_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let queue = dir.path().join("block/loop0/queue");
    std::fs::create_dir_all(&queue).unwrap();
    // Can be read, and nobody can write it.
    let file = queue.join("read_ahead_kb");
    std::os::unix::fs::symlink("/proc/sys/kernel/ostype", &file).unwrap();
    let change = QueueChange {
        file,
        original: "128".to_owned(),
        ours: Some("Linux".to_owned()),
        diskseq: None,
    };
    let contenders = vec![records::contender("ext4", "ext4", 1)];
    let header = records::header(contenders, vec![records::big_file()], 1);
    let state_dir = dir.path().join("state");
    let request = Request {
        header: &header,
        resumed: None,
        program: Path::new("/nonexistent"),
        state_dir: &state_dir,
        consents: &[],
        keep: false,
        interrupts: &AtomicUsize::new(0),
    };
    let owner = fsarena_store::Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    let mut arena = Arena::open(&request, Path::new("a.db"), &owner).unwrap();
    for _ in 0..3 {
        arena.note_once(Entry::Queue(vec![change.clone()])).unwrap();
    }
    let left = arena.close(false, &mut |_| {});
    assert_eq!(left.failed.len(), 1, "{:?}", left.failed);
    let orphan = journal::orphans(&state_dir).unwrap().remove(0);
    let queues = orphan.entries.iter().filter(|entry| matches!(entry, Entry::Queue(_)));
    assert_eq!(queues.count(), 1, "once for all trials");
    assert!(orphan.owner().unwrap().database.is_absolute());
}

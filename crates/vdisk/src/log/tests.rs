//! The log: epochs, what is durable, and its bytes.

use super::*;

fn done(tag: u16, at_ns: u64) -> Completion {
    Completion { tag, at_ns, outcome: Outcome::Done }
}

/// A write, a flush that does not cover a second one, a forced write, a mark and a torn write.
fn fill(log: &mut WriteLog) {
    let data = |byte| vec![byte; 4096];
    log.completed(&Request::write(0, 0, 8), 0, &done(0, 10), &data(1)).unwrap();
    log.completed(&Request::write(1, 8, 8), 5, &done(1, 30), &data(2)).unwrap();
    log.completed(&Request::flush(2), 20, &done(2, 40), &[]).unwrap();
    log.mark(41, 77).unwrap();
    log.completed(&Request::write_fua(3, 16, 8), 50, &done(3, 60), &data(3)).unwrap();
    log.completed(&Request::read(4, 0, 8), 50, &done(4, 61), &[]).unwrap();
    let torn = Completion { tag: 5, at_ns: 70, outcome: Outcome::Torn { sectors: 4 } };
    log.completed(&Request::write(5, 24, 8), 62, &torn, &data(4)).unwrap();
    let error = Completion { tag: 6, at_ns: 71, outcome: Outcome::MediumError };
    log.completed(&Request::write(6, 0, 8), 62, &error, &data(9)).unwrap();
    log.completed(&Request::discard(7, 0, 8), 72, &done(7, 80), &[]).unwrap();
}

#[test]
fn epochs_count_completed_flushes_and_a_flush_covers_what_was_done_before_it() {
    let mut log = WriteLog::in_memory();
    fill(&mut log);
    let kinds: Vec<EntryKind> = log.entries().iter().map(|entry| entry.kind).collect();
    use EntryKind::{Discard, Flush, Mark, Write, WriteFua, WriteTorn};
    assert_eq!(kinds, [Write, Write, Flush, Mark, WriteFua, WriteTorn, Discard]);
    let epochs: Vec<u64> = log.entries().iter().map(|entry| entry.epoch).collect();
    assert_eq!(epochs, [0, 0, 0, 1, 1, 1, 1]);
    assert_eq!(log.durable(2), [false, false]);
    let durable = log.durable(usize::MAX);
    assert_eq!(durable, [true, false, false, false, true, false, false]);
    assert_eq!((log.entries()[3].sector, log.entries()[5].sectors), (77, 4));
}

#[test]
fn a_file_is_read_back_and_what_is_cut_off_at_its_end_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.log");
    let mut log = WriteLog::in_file(&path).unwrap();
    fill(&mut log);
    let read = WriteLog::open(&path).unwrap();
    assert_eq!(read.entries(), log.entries());
    let mut data = [0; 512];
    read.data(&read.entries()[1], 15, &mut data).unwrap();
    assert_eq!(data, [2; 512]);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 100]).unwrap();
    assert_eq!(WriteLog::open(&path).unwrap().entries(), &log.entries()[..5]);
}

#[test]
fn what_is_damaged_or_no_log_is_said_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.log");
    let mut log = WriteLog::in_file(&path).unwrap();
    fill(&mut log);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[HEAD + ENTRY + 4096 + 9] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let text = WriteLog::open(&path).unwrap_err().to_string();
    assert!(text.contains("byte 4168: entry 1 is damaged"), "{text}");
    std::fs::write(&path, b"something else entirely").unwrap();
    let text = WriteLog::open(&path).unwrap_err().to_string();
    assert!(text.contains("is no write log of a virtual disk"), "{text}");
}

/// The bytes of the format, which later versions have to read.
#[test]
fn the_bytes_of_an_entry_do_not_change() {
    let mut log = WriteLog::in_memory();
    log.completed(&Request::flush(0), 258, &done(0, 513), &[]).unwrap();
    let LogBytes::Memory(bytes) = &log.bytes else { panic!("in memory") };
    assert_eq!(&bytes[..HEAD], b"fsavlog1\0\0\0\0\0\0\0\0");
    assert_eq!(bytes[HEAD], 4);
    assert_eq!(bytes[HEAD + 24..HEAD + 40], [2, 1, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes.len(), HEAD + ENTRY);
    assert_eq!(bytes[HEAD + 48..], checksum(&bytes[HEAD..HEAD + 48]).to_le_bytes());
}

#[test]
fn a_lost_flush_covers_nothing_and_is_so_in_the_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    for mut log in [WriteLog::in_memory(), WriteLog::in_file(&path).unwrap()] {
        fill(&mut log);
        assert!(log.durable(usize::MAX)[0]);
        assert!(!log.lose_flush(0).unwrap() && !log.lose_flush(99).unwrap());
        assert!(log.lose_flush(2).unwrap() && !log.lose_flush(2).unwrap());
        assert!(!log.durable(usize::MAX)[0], "nothing else covers it");
        let mut data = [0; 512];
        log.data(&log.entries()[0], 0, &mut data).unwrap();
        assert_eq!(data, [1; 512]);
        let copied = dir.path().join("copied");
        log.copy_to(&mut File::create(&copied).unwrap()).unwrap();
        let copied = WriteLog::open(&copied).unwrap();
        assert_eq!(copied.entries(), log.entries());
        let LogBytes::File(bytes) = &copied.bytes else { panic!("in a file") };
        assert_eq!(bytes.metadata().unwrap().len(), log.end);
    }
    let read = WriteLog::open(&path).unwrap();
    assert_eq!(read.entries()[2].kind, EntryKind::FlushLost);
    assert_eq!(read.entries().len(), 7);
}

/// A checksum is no secret: sectors beyond any disk are damage, whoever wrote them.
#[test]
fn entries_that_are_on_no_disk_are_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("disk.log");
    for (sector, sectors) in [(0, u64::MAX), (u64::MAX, 2), (SECTORS_MOST, 1), (0, 1 << 56)] {
        let (submitted_ns, completed_ns, epoch, data_at) = (0, 1, 0, (HEAD + ENTRY) as u64);
        for kind in [EntryKind::Write, EntryKind::Discard] {
            let entry = Entry { kind, sector, sectors, submitted_ns, completed_ns, epoch, data_at };
            let log = WriteLog::in_file(&path).unwrap();
            let LogBytes::File(file) = &log.bytes else { panic!("in a file") };
            file.write_all_at(&encode(&entry), HEAD as u64).unwrap();
            let text = WriteLog::open(&path).unwrap_err().to_string();
            assert!(text.contains("entry 0 is damaged"), "{text}");
        }
    }
    // The data of one that is on the largest disk are cut off.
    let mut bytes = std::fs::read(&path).unwrap();
    let (submitted_ns, completed_ns, epoch, data_at) = (0, 1, 0, (HEAD + ENTRY) as u64);
    let (kind, sector, sectors) = (EntryKind::Write, 0, SECTORS_MOST);
    let entry = Entry { kind, sector, sectors, submitted_ns, completed_ns, epoch, data_at };
    bytes[HEAD..].copy_from_slice(&encode(&entry));
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(WriteLog::open(&path).unwrap().entries().len(), 0);
}

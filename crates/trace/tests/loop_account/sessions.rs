//! Sessions that go wrong, and what they leave.

use crate::{TraceFixture, device, number, written_bytes};
use fsarena_model::account::{FsLayout, Part};
use fsarena_trace::{BlockDevice, Kind, Session, TraceError, Tracefs, account};
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;

const MIB: u64 = 1 << 20;

#[test]
fn loop_an_instance_is_ours_alone_and_is_removed() {
    let Some(fixture) = TraceFixture::enter() else { return };
    let claimed = fixture.claim(4 * MIB);
    let number = number(&device(&claimed));
    let start = |device| Session::start(&fixture.tracefs, &fixture.name(), device, 1 << 20);
    let first = start(number).unwrap();
    assert_eq!(fixture.instances(), [fixture.name()]);
    let error = start(number).unwrap_err();
    assert!(matches!(error, TraceError::Exists { .. }), "{error}");
    assert_eq!(fixture.instances(), [fixture.name()], "that of the other one stays");
    drop(first);
    assert_eq!(fixture.instances(), Vec::<String>::new());
    let error = start(BlockDevice { major: 4000, minor: 1 }).unwrap_err();
    assert!(matches!(error, TraceError::NoDevice { .. }), "{error}");
    assert_eq!(fixture.instances(), Vec::<String>::new());
    // What kill -9 leaves.
    fs::create_dir(fixture.tracefs.path().join("instances").join(fixture.name())).unwrap();
    let removed = fixture.tracefs.remove_instance(&fixture.name()).unwrap().unwrap();
    assert!(removed.ends_with(&format!("/instances/{}", fixture.name())), "{removed}");
    assert_eq!(fixture.tracefs.remove_instance(&fixture.name()).unwrap(), None);
    assert_eq!(fixture.instances(), Vec::<String>::new());
    claimed.release().unwrap();
}

/// A machine on which it is mounted nowhere, whether or not this one is.
#[test]
fn loop_a_tracefs_at_no_place_is_that_of_all_and_lasts_as_long_as_its_session() {
    let Some(fixture) = TraceFixture::enter() else { return };
    let claimed = fixture.claim(4 * MIB);
    let number = number(&device(&claimed));
    // Other tests mount file systems meanwhile.
    let mounts = || {
        let all = fs::read_to_string("/proc/self/mountinfo").unwrap();
        all.lines()
            .filter(|line| line.contains(" - tracefs "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let before = mounts();
    let own = Tracefs::open("").unwrap();
    assert!(own.path().starts_with("/proc/self/fd"), "{}", own.path().display());
    let session = Session::start(&own, &fixture.name(), number, 1 << 20).unwrap();
    let error = Session::start(&own, &fixture.name(), number, 1 << 20).unwrap_err().to_string();
    let named = format!("tracefs/instances/{}: there is such", fixture.name());
    assert!(error.starts_with(&named), "{error}");
    drop(own);
    assert_eq!(fixture.instances(), [fixture.name()], "seen in the other mount");
    assert_eq!(mounts(), before);
    session.stop().unwrap();
    assert_eq!(fixture.instances(), Vec::<String>::new());
    claimed.release().unwrap();
}

#[test]
fn loop_a_device_that_vanishes_ends_no_session_and_leaves_no_instance() {
    let Some(fixture) = TraceFixture::enter() else { return };
    let claimed = fixture.claim(4 * MIB);
    let path = device(&claimed);
    let session =
        Session::start(&fixture.tracefs, &fixture.name(), number(&path), 1 << 20).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    file.write_all_at(&[7; 8192], 4096).unwrap();
    file.sync_all().unwrap();
    drop(file);
    claimed.release().unwrap();
    let trace = session.stop().unwrap();
    let writes: Vec<(u64, u64)> = trace
        .requests
        .iter()
        .filter(|request| request.kind == Kind::Write)
        .map(|request| (request.start_bytes, request.length_bytes))
        .collect();
    assert_eq!(writes.iter().map(|(_, length)| length).sum::<u64>(), 8192, "{writes:?}");
    assert_eq!(writes[0].0, 4096);
    assert_eq!(fixture.instances(), Vec::<String>::new());
}

/// Writes single sectors past the page cache, so that each is a request.
fn many_writes(path: &std::path::Path, count: u64) {
    use std::os::unix::fs::OpenOptionsExt as _;
    let direct = i32::try_from(rustix::fs::OFlags::DIRECT.bits()).unwrap();
    let file = File::options().write(true).custom_flags(direct).open(path).unwrap();
    let pool = vec![7u8; 8192];
    let at = pool.as_ptr().align_offset(4096);
    for number in 0..count {
        file.write_all_at(&pool[at..at + 512], number % 1000 * 512).unwrap();
    }
}

#[test]
fn loop_a_session_counts_what_the_device_counts() {
    let Some(fixture) = TraceFixture::enter() else { return };
    let claimed = fixture.claim(4 * MIB);
    let path = device(&claimed);
    let before = written_bytes(&path);
    // The least buffer is emptied while the work goes on.
    let session = Session::start(&fixture.tracefs, &fixture.name(), number(&path), 0).unwrap();
    many_writes(&path, 10_000);
    let zeroout = fsarena_process::cmd::find("blkdiscard").is_some_and(|tool| {
        let limit = std::time::Duration::from_secs(20);
        let path = path.to_str().unwrap();
        fsarena_process::cmd::run(&tool, &["-z", "-o", "1048576", path], limit).is_ok()
    });
    let total_bytes = written_bytes(&path) - before;
    let trace = session.stop().unwrap();
    let account = account(&trace, &FsLayout::default(), &[], &[], total_bytes);
    println!("{} requests, {} lost", trace.requests.len(), trace.lost_events);
    let seen = account.parts().get(&Part::Unknown).copied().unwrap_or_default().bytes();
    assert_eq!(account.lost_events, 0);
    assert_eq!(seen, total_bytes, "zeros made by the device are counted too: {zeroout}");
    claimed.release().unwrap();
}

/// A zram device of our own; removed when dropped.
struct Zram(String);

impl Zram {
    fn add() -> std::io::Result<Self> {
        let number = fs::read_to_string("/sys/class/zram-control/hot_add")?;
        let device = Self(format!("zram{}", number.trim()));
        fs::write(format!("/sys/block/{}/disksize", device.0), "16M")?;
        Ok(device)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let number = self.0.trim_start_matches("zram");
        let _ = fs::write(format!("/sys/block/{}/reset", self.0), "1");
        fs::write("/sys/class/zram-control/hot_remove", number).unwrap();
    }
}

#[test]
fn loop_a_device_without_requests_is_traced_by_its_bios() {
    let Some(fixture) = TraceFixture::enter() else { return };
    let zram = match Zram::add() {
        Ok(zram) => zram,
        Err(error) => return println!("not run: no zram: {error}"),
    };
    let path = std::path::Path::new("/dev").join(&zram.0);
    let before = written_bytes(&path);
    let session = Session::start(&fixture.tracefs, &fixture.name(), number(&path), 0).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    file.write_all_at(&vec![7; 3 << 20], 8192).unwrap();
    file.sync_all().unwrap();
    drop(file);
    let total_bytes = written_bytes(&path) - before;
    let trace = session.stop().unwrap();
    let sum: u64 = trace.requests.iter().map(|request| request.length_bytes).sum();
    assert_eq!((sum, total_bytes, trace.lost_events), (3 << 20, 3 << 20, 0));
    assert_eq!(trace.requests[0].start_bytes, 8192);
    assert!(trace.notes[0].contains("bios"));
}

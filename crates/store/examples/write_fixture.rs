//! Writes a sample database of the present layout: what `test_fixture/layout-N.db` was made with.
//!
//! `cargo run -p fsarena-store --example write_fixture -- PATH`, once, when a layout is released; a
//! file that is there is never overwritten, and never made again to repair a failing test.

use fsarena_model::contender::{Cache, DeviceLevel};
use fsarena_model::device::{QueueLevel, SsdPolicy, WriteCache};
use fsarena_model::job::Reflink;
use fsarena_model::record::Outcome;
use fsarena_model::run::{RunHeader, RunState};
use fsarena_store::{Owner, Store, StoreError};
use fsarena_testkit::records::{
    self, contender, database, fio_job, metadata, own_work, real_work, small_files,
};
use std::path::PathBuf;

/// Two contenders on six workloads: twelve trials.
fn header() -> RunHeader {
    let mut disk = contender("xfs", "xfs", 1);
    disk.levels.device = DeviceLevel::Block { path: "/dev/sdz".into(), size_bytes: 64_000_000_000 };
    disk.levels.ssd = SsdPolicy::Precondition;
    disk.levels.queue = QueueLevel {
        scheduler: Some("kyber".to_owned()),
        read_ahead_bytes: Some(128 << 10),
        write_cache: Some(WriteCache::WriteBack),
    };
    disk.levels.cache = Cache::ColdStart;
    disk.levels.reflink = Reflink::Auto;
    let contenders = vec![contender("ext4", "ext4", 1), disk];
    let works = vec![small_files(), metadata(), database(), fio_job(), real_work(), own_work()];
    records::header(contenders, works, 1)
}

fn main() -> Result<(), StoreError> {
    let path = PathBuf::from(std::env::args_os().nth(1).expect("a path for the new file"));
    assert!(!path.exists(), "a fixture is never written again");
    let header = header();
    let store = Store::open(&path)?;
    let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    let run = store.create_run(&header, &owner)?;
    store.put_session(run, &records::session("b", 0))?;
    for sequence in 0..11 {
        let mut record = records::record(&header, sequence);
        if sequence % 2 == 1 {
            record.conditioning = Some(records::preconditioned(sequence > 1));
        }
        if sequence == 3 {
            let mut broken = record.clone();
            broken.outcome = Outcome::Interrupted;
            broken.phases.truncate(1);
            store.put_record(run, &broken)?;
            store.put_session(run, &records::session("c", 3))?;
        }
        store.put_record(run, &record)?;
    }
    store.set_state(run, RunState::Interrupted, Some("Ctrl-C"))
}

//! Databases of every layout that was ever written: a file made by that version lies in
//! `test_fixture/` and must be readable for ever.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_model::record::{CacheState, Drained, Outcome, Window};
use fsarena_model::run::RunState;
use fsarena_store::{RunId, Store};
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("test_fixture").join(name)
}

/// Values are written out here, not taken from the builder, which may change.
#[test]
fn layout_1_is_readable() {
    // A copy: opening an old layout may raise it.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("layout-1.db");
    std::fs::copy(fixture("layout-1.db"), &path).unwrap();
    let store = Store::open(&path).unwrap();

    let rows = store.runs().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].uid, "0123456789abcdef");
    assert_eq!(rows[0].experiment, "sample");
    assert_eq!(rows[0].created_unix_ns, 1_767_225_600_000_000_000);
    assert_eq!(rows[0].state, RunState::Interrupted);
    assert_eq!(rows[0].note.as_deref(), Some("Ctrl-C"));
    assert_eq!((rows[0].trials_done, rows[0].trials_planned), (3, 4));

    let header = store.header(RunId(1)).unwrap();
    let labels: Vec<&str> = header.plan.contenders.iter().map(|c| c.label.as_str()).collect();
    assert_eq!(labels, ["ext4", "xfs"]);
    assert_eq!(header.plan.workloads[0].dataset.files, 5000);

    let records = store.records(RunId(1)).unwrap();
    assert_eq!(records.len(), 3);
    let last = &records[2];
    assert_eq!((last.key.sequence, last.key.block), (2, 1));
    assert_eq!(last.key.contender, header.plan.contenders[0].id());
    assert_eq!(last.outcome, Outcome::Done);
    assert_eq!(last.phases.len(), 3);
    let create = &last.phases[0];
    assert_eq!(create.name, "create");
    assert_eq!((create.ops, create.asked_bytes), (5000, 1_280_000));
    assert_eq!(create.clocks.returned_ns, 500_000_000);
    assert_eq!(create.clocks.durable_ns, Some(1_000_000_000));
    assert_eq!(create.clocks.drained, Drained::Frozen { drained_ns: 1_250_000_000 });
    assert_eq!(create.cache.state, CacheState::Cold);
    assert_eq!(create.latency.as_ref().unwrap().buckets, [(10_000, 4999), (1 << 20, 1)]);
    assert_eq!(create.windows[&Window::Unmounted]["device.written_bytes"], 3_840_000);
    let series = create.series.as_ref().unwrap();
    assert_eq!(series.t_ns, [-5_000_000, 95_000_000, 195_000_000]);
    assert_eq!(series.columns["device.written_bytes"], [Some(0), None, Some(8192)]);
}

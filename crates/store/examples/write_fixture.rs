//! Writes a sample database of the present layout: what `test_fixture/layout-N.db` was made with.
//!
//! `cargo run -p fsarena-store --example write_fixture -- PATH`, once, when a layout is released; a
//! file that is there is never overwritten, and never made again to repair a failing test.

use fsarena_model::run::RunState;
use fsarena_store::{Owner, Store, StoreError};
use fsarena_testkit::records::{self, contender, small_files};
use std::path::PathBuf;

fn main() -> Result<(), StoreError> {
    let path = PathBuf::from(std::env::args_os().nth(1).expect("a path for the new file"));
    assert!(!path.exists(), "a fixture is never written again");
    let contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    let header = records::header(contenders, vec![small_files()], 2);
    let store = Store::open(&path)?;
    let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    let run = store.create_run(&header, &owner)?;
    for sequence in 0..3 {
        store.put_record(run, &records::record(&header, sequence))?;
    }
    store.set_state(run, RunState::Interrupted, Some("Ctrl-C"))
}

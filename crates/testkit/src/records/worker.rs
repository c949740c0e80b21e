//! What a worker is asked to do.

use fsarena_model::SPEC_SCHEMA;
use fsarena_model::seed::Seed;
use fsarena_model::work::{Dataset, DatasetState, Task, WorkerSpec};
use std::path::Path;

/// One task below `root` on a dataset of one file of a byte, by whoever starts the worker.
#[must_use]
pub fn worker_spec(root: &Path, task: Task) -> WorkerSpec {
    WorkerSpec {
        schema: SPEC_SCHEMA,
        root: root.to_owned(),
        dataset: Dataset::uniform(1, 1, 0),
        state: DatasetState::default(),
        dataset_seed: Seed::from_number(1),
        task,
        rank: 0,
        mounts_of_pid: None,
        warm_memory_bytes: 0,
        cpus: Vec::new(),
        user: None,
        handicap_ns: 0,
        newer_than_unix_ns: 0,
        flush_device: None,
        trust: Vec::new(),
    }
}

//! Lines between processes: runner and executor, executor and worker, and who serves a disk.

use crate::target::{PLAIN, Target, texts};
use fsarena_executor::crash::{NativeAnswer, NativeRequest};
use fsarena_executor::{ExecutorSays, parse_spec};
use fsarena_model::client::ClientSpec;
use fsarena_model::work::{CounterFile, WorkerSays, WorkerSpec};
use fsarena_testkit::records;
use fsarena_vdisk::{Logged, Question, Served, ServedDisk};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(super) const EXECUTOR_LINES: Target = Target {
    name: "executor-lines",
    reads: "lines between runner, executor and who serves a disk",
    seeds: || {
        let record = ExecutorSays::Record(Box::new(records::trial()));
        let record = serde_json::to_vec(&record).expect("plain data");
        let mut all = texts([
            "{\"step\":{\"step\":\"mount\",\"phase\":null}}",
            "{\"refused\":\"why\"}",
            "{\"schema\":1,\"key\":{}}",
            "{\"fresh\":{\"seed\":7}}",
            "\"report\"",
            "{\"reads\":1,\"writes\":2,\"modelled_ns\":3,\"late_ns\":4}",
            "{\"model\":\"hdd-2007\",\"size_bytes\":1,\"store_dir\":null,\"socket\":\"s\"}",
        ]);
        all.push(record);
        all
    },
    run: executor_lines,
    ..PLAIN
};

pub(super) const WORKER_LINES: Target = Target {
    name: "worker-lines",
    reads: "lines between executor and worker",
    seeds: || {
        texts([
            "\"ready\"",
            "\"durable\"",
            "{\"canary\":{\"elapsed_ns\":7}}",
            "{\"refused\":\"why\"}",
            "[{\"path\":\"/proc/stat\",\"most_bytes\":4096,\"at_once\":true}]",
            "{\"schema\":1,\"root\":\"/m/t\",\"mount\":{\"command\":\"m\",\"mount_point\":\"/m\"}}",
            "{\"client\":{\"mounted\":{\"mounts_of_pid\":7,\"fstype\":\"nfs4\"}}}",
            "{\"verified\":{\"files\":1,\"bad_files\":0,\"examples\":[]}}",
        ])
    },
    run: worker_lines,
    ..PLAIN
};

/// A line that is read is said and read the same.
fn stays_the_same<T: Serialize + DeserializeOwned>(line: &str) {
    let Ok(said) = serde_json::from_str::<T>(line) else { return };
    let text = serde_json::to_string(&said).expect("plain data");
    match serde_json::from_str::<T>(&text) {
        Ok(again) => assert_eq!(serde_json::to_string(&again).ok(), Some(text)),
        Err(error) => assert!(text.contains("null"), "{error}: {text}"),
    }
}

fn executor_lines(input: &[u8]) {
    let line = String::from_utf8_lossy(input);
    stays_the_same::<ExecutorSays>(&line);
    stays_the_same::<NativeAnswer>(&line);
    stays_the_same::<NativeRequest>(&line);
    stays_the_same::<Question>(&line);
    stays_the_same::<Served>(&line);
    stays_the_same::<ServedDisk>(&line);
    stays_the_same::<Logged>(&line);
    if let Err(error) = parse_spec(&line) {
        assert!(error.starts_with("trial spec"), "{error}");
    }
}

fn worker_lines(input: &[u8]) {
    let line = String::from_utf8_lossy(input);
    stays_the_same::<WorkerSays>(&line);
    stays_the_same::<WorkerSpec>(&line);
    stays_the_same::<Vec<CounterFile>>(&line);
    stays_the_same::<ClientSpec>(&line);
}

//! Experiments of tests, and whether what was measured is what was planned.

use super::TestEnv;
use fsarena_model::cycle::CyclesRecord;
use fsarena_model::record::{Outcome, PhaseRecord, TrialRecord};
use fsarena_model::run::RunHeader;
use fsarena_model::work::{Dataset, Phase, Workload};

/// A file system `few`: an ext4 with an inode for each 64 KiB, made by commands, so that the plan
/// does not know how many it will have.
pub const FEW_INODES: &str = "\n[[filesystem]]\nname = \"few\"\n\
     create = \"mke2fs -t ext4 -q -F -i 65536 -E nodiscard,lazy_itable_init=0 {dev}\"\n\
     mount = \"mount -t ext4 {dev} {mnt}\"\nprograms = [\"mke2fs\"]\n";

impl TestEnv {
    /// An experiment of one block without a time series; `factors` ends its table, `more` follows.
    pub fn experiment(&self, factors: &str, more: &str) -> String {
        let text = format!(
            "schema = 1\nname = \"test\"\n[run]\nblocks = 1\nseed = 1\nsample_period = \"0 ms\"\n\
             [factors]\n{factors}\n{more}"
        );
        self.write("test.toml", &text)
    }

    /// The records of RUN number `run`, after each of them was found to be what was planned: all
    /// workloads on all contenders, all timed phases in order, each with all its ops, by all its
    /// threads, without an error.
    #[track_caller]
    pub fn records_as_planned(&self, run: usize) -> Vec<TrialRecord> {
        let shown = self.run(&["show", &run.to_string(), "--json"]).good();
        let header: RunHeader = serde_json::from_value(shown.json()["run"].clone()).unwrap();
        let records = shown.records();
        assert_eq!(records.len(), header.plan.schedule.len(), "trials of {}", header.experiment);
        for record in &records {
            let named = |workload: &&Workload| workload.name == record.key.workload;
            let workload = header.plan.workloads.iter().find(named).expect("of the plan");
            assert_eq!(record.outcome, Outcome::Done, "{}", workload.name);
            let timed: Vec<&Phase> = workload.phases.iter().filter(|phase| phase.timed).collect();
            assert_eq!(record.phases.len(), timed.len(), "{}", workload.name);
            for (measured, planned) in record.phases.iter().zip(timed) {
                phase_as_planned(measured, planned, &workload.dataset);
            }
            if let Some(verify) = &record.verify {
                let all = (workload.dataset.files, 0);
                assert_eq!((verify.files, verify.bad_files), all, "{}: {verify:?}", workload.name);
            }
        }
        records
    }
}

#[track_caller]
fn phase_as_planned(measured: &PhaseRecord, planned: &Phase, dataset: &Dataset) {
    let name = &planned.name;
    assert_eq!((&measured.name, measured.op), (name, planned.op));
    assert_eq!((&measured.io, measured.bs_bytes), (&planned.io, planned.bs_bytes), "{name}");
    assert_eq!(measured.error, None, "{name}");
    assert_eq!(measured.ops, planned.count(dataset), "{name}");
    let latency = measured.latency.as_ref().expect("every op's latency is taken");
    // Of cycles, those that are compared.
    let compared = |cycles: &CyclesRecord| cycles.compared().map(|c| c.report.ops).sum();
    let ops = measured.cycles.as_ref().map_or(measured.ops, compared);
    assert_eq!(latency.count(), ops, "{name}");
    let returned_ns = measured.clocks.returned_ns;
    let durable_ns = measured.clocks.durable_ns.expect("syncfs was done");
    assert!(0 < returned_ns && returned_ns <= durable_ns, "{name}");
    let threads = &measured.threads;
    if planned.io.threads == 1 {
        assert_eq!(threads.len(), 0, "{name}");
        return;
    }
    assert_eq!(threads.len(), planned.io.threads as usize, "{name}");
    assert_eq!(threads.iter().map(|thread| thread.ops).sum::<u64>(), measured.ops, "{name}");
    let bytes: u64 = threads.iter().map(|thread| thread.asked_bytes).sum();
    assert_eq!(bytes, measured.asked_bytes, "{name}");
    let (first_ns, last_ns) = measured.first_and_last_done_ns().expect("there are threads");
    assert!(0 < first_ns && first_ns <= last_ns && last_ns <= returned_ns, "{name}: {threads:?}");
}

/// The record of the trial of `workload`; there is one.
#[track_caller]
pub fn record_of<'a>(records: &'a [TrialRecord], workload: &str) -> &'a TrialRecord {
    let mut found = records.iter().filter(|record| record.key.workload == workload);
    let record = found.next().unwrap_or_else(|| panic!("no trial of {workload}"));
    assert!(found.next().is_none(), "several trials of {workload}");
    record
}

/// The record of the phase `name`.
#[track_caller]
pub fn phase<'a>(record: &'a TrialRecord, name: &str) -> &'a PhaseRecord {
    let found = record.phases.iter().find(|phase| phase.name == name);
    found.unwrap_or_else(|| panic!("no phase {name} in {:?}", record.outcome))
}

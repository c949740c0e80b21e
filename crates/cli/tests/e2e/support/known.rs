//! Experiments whose differences are known: each contender sleeps so long in each phase, and next
//! to that the work is nothing, however busy the machine is.

use super::{Ran, TestEnv};
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::run::{RunHeader, RunState, Slot};
use fsarena_model::verdict::Stop;
use fsarena_store::{Owner, RunId, Store};
use fsarena_testkit::records;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// SAME cannot be shown within it: 0.01 % of some ms is less than any call takes.
pub const NEVER_SAME: &str = "margin = \"0.01%\"";

impl TestEnv {
    /// An experiment of a few files on `fs`; `run` and `factors` end their tables.
    ///
    /// Compared up to `returned`: a syncfs waits for whatever else the machine writes. No block is
    /// run again for what a hypervisor or other programs took.
    pub fn known(&self, run: &str, factors: &str, phases: &[&str]) -> String {
        let text = format!(
            "schema = 1\nname = \"known\"\n[run]\nseed = 1\ncompare = \"returned\"\n\
             steal_limit = \"none\"\nforeign_limit = \"none\"\nsample_period = \"0 ms\"\n{run}\n\
             [factors]\ndevice = \"ram:64M\"\ncache = \"warm\"\n{factors}\n\
             [[workload]]\nname = \"few\"\nfiles = 20\nsize = \"4 KiB\"\nphases = {phases:?}\n"
        );
        self.write("known.toml", &text)
    }

    /// RUN 1 as it is stored.
    pub fn course(&self) -> Course {
        self.course_of(1)
    }

    /// RUN number `run` as it is stored.
    pub fn course_of(&self, run: i64) -> Course {
        let (store, run) = (Store::open_read_only(&self.db()).unwrap(), RunId(run));
        let plan = store.header(run).unwrap().plan;
        Course {
            contenders: plan.contenders.into_iter().map(|contender| contender.label).collect(),
            schedule: plan.schedule,
            attempts: store.attempts(run).unwrap(),
            looks: store.looks(run).unwrap().iter().map(|look| look.blocks).collect(),
            stop: store.stop(run).unwrap(),
        }
    }

    /// The document of `study --json` on RUN number `run`.
    #[track_caller]
    pub fn studied(&self, run: usize) -> Value {
        self.run(&["study", &run.to_string(), "--json"]).good().json()
    }
}

/// What became of a RUN.
pub struct Course {
    /// Labels.
    pub contenders: Vec<String>,
    /// All trials that there might have been.
    pub schedule: Vec<Slot>,
    /// All attempts at trials, with their numbers.
    pub attempts: Vec<(u32, TrialRecord)>,
    /// Blocks after which it was looked.
    pub looks: Vec<u32>,
    /// How it ended, where it did.
    pub stop: Option<Stop>,
}

impl Course {
    /// Seconds until the first phase returned in each block of the contender called `label`.
    pub fn returned_s(&self, label: &str) -> BTreeMap<u32, f64> {
        let own = |record: &&TrialRecord| {
            self.contenders[self.schedule[record.key.sequence as usize].contender] == label
        };
        let done = self.attempts.iter().map(|(_, record)| record);
        let done = done.filter(|one| one.outcome == Outcome::Done).filter(own);
        done.map(|one| (one.key.block, one.phases[0].clocks.returned_ns as f64 / 1e9)).collect()
    }

    /// The blocks that were done with each contender, after it was found that no trial was done
    /// twice, or out of its order.
    #[track_caller]
    pub fn done(&self) -> BTreeMap<&str, Vec<u32>> {
        let mut done: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        let mut order = Vec::new();
        for (_, record) in self.attempts.iter().filter(|(_, one)| one.outcome == Outcome::Done) {
            let sequence = record.key.sequence;
            let slot = &self.schedule[sequence as usize];
            assert_eq!((slot.block, slot.position), (record.key.block, record.key.position));
            order.push((sequence, record.started_unix_ns));
            done.entry(&self.contenders[slot.contender]).or_default().push(slot.block);
        }
        let follows = |one: &(u32, u64), next: &(u32, u64)| one.0 < next.0 && one.1 < next.1;
        assert!(order.is_sorted_by(follows), "twice, or out of order: {order:?}");
        done
    }
}

/// A database with a RUN of two contenders that was made by hand and interrupted: three of its four
/// trials have a record. Nothing was asked, and its host has no name.
pub fn store_by_hand(path: &Path, change: impl FnOnce(&mut RunHeader)) {
    let contenders = ["ext4", "xfs"].map(|fs| records::contender(fs, fs, 1)).to_vec();
    let mut header = records::header(contenders, vec![records::small_files()], 2);
    change(&mut header);
    let store = Store::open(path).unwrap();
    let owner = Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
    let run = store.create_run(&header, &owner).unwrap();
    store.put_session(run, &records::session("b", 0)).unwrap();
    for sequence in 0..3 {
        store.put_record(run, &records::record(&header, sequence)).unwrap();
    }
    store.set_state(run, RunState::Interrupted, Some("Ctrl-C")).unwrap();
}

/// The digest of commands that a refusal of `run --resume` names.
#[track_caller]
pub fn digest_in(refused: &Ran) -> String {
    let option = "--allow-commands ";
    let at = refused.stderr.rfind(option).unwrap_or_else(|| panic!("{}", refused.stderr));
    let digest = refused.stderr[at + option.len()..].split_whitespace().next().unwrap();
    assert!(digest.len() == 32 && digest.chars().all(|c| c.is_ascii_hexdigit()), "{digest}");
    digest.to_owned()
}

impl TestEnv {
    /// Goes on with the interrupted RUN by consent to exactly its commands.
    #[track_caller]
    pub fn resume_allowed(&self) -> Ran {
        let digest = digest_in(&self.run(&["run", "--resume"]).code(2));
        self.run(&["run", "--resume", "--allow-commands", &digest])
    }
}

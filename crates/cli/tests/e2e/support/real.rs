//! Real work: records of jobs, and trees that must stay as they are.

use super::TestEnv;
use fsarena_model::record::{CacheState, Drained, Outcome, PhaseRecord, TrialRecord, Window};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

impl TestEnv {
    /// The records of RUN number `run`, each of them done and with all contents right, where they
    /// were checked.
    #[track_caller]
    pub fn done_records(&self, run: usize) -> Vec<TrialRecord> {
        let records = self.records(run);
        for record in &records {
            assert_eq!(record.outcome, Outcome::Done, "{}", record.key.workload);
            if let Some(verify) = &record.verify {
                assert_eq!(verify.bad_files, 0, "{}: {verify:?}", record.key.workload);
            }
        }
        assert!(!records.is_empty(), "nothing was run");
        records
    }

    /// An experiment of one block without a time series, with the check of the contents.
    pub fn real_experiment(&self, factors: &str, workloads: &str) -> String {
        let text = format!(
            "schema = 1\nname = \"real\"\n[run]\nblocks = 1\nseed = 1\nverify = true\n\
             sample_period = \"0 ms\"\n[factors]\n{factors}\n{workloads}"
        );
        self.write("real.toml", &text)
    }
}

/// A phase that programs did: the three clocks in order, and each program with path and version.
#[track_caller]
pub fn by_programs(phase: &PhaseRecord, programs: &[&str]) {
    let name = &phase.name;
    assert!(phase.job.is_some(), "{name}");
    let report = phase.program.as_ref().unwrap_or_else(|| panic!("{name}: no program"));
    let tools: Vec<&str> = report.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, programs, "{name}");
    for tool in &report.tools {
        assert!(tool.path.is_absolute() && tool.path.is_file(), "{name}: {tool:?}");
        // The shell of Debian says none.
        assert!(!tool.version.is_empty() || tool.name == "sh", "{name}: {tool:?}");
    }
    assert_eq!(report.version, report.tools[0].version, "{name}");
    // What was started may be a link to what it is.
    assert!(Path::new(&report.argv[0]).ends_with(programs[0]), "{name}: {:?}", report.argv);
    assert!(phase.latency.is_none(), "{name}: nobody sees the ops of a program");
    clocks_in_order(phase);
}

/// A phase that the engine did: every op with its latency.
#[track_caller]
pub fn by_engine(phase: &PhaseRecord) {
    let name = &phase.name;
    assert!(phase.job.is_some() && phase.program.is_none(), "{name}");
    assert_eq!(phase.latency.as_ref().map(|all| all.count()), Some(phase.ops), "{name}");
    clocks_in_order(phase);
}

/// `returned`, `durable` and `drained`, without an error.
#[track_caller]
fn clocks_in_order(phase: &PhaseRecord) {
    let (name, clocks) = (&phase.name, &phase.clocks);
    assert_eq!(phase.error, None, "{name}");
    let durable_ns = clocks.durable_ns.expect("syncfs was done");
    assert!(0 < clocks.returned_ns && clocks.returned_ns <= durable_ns, "{name}: {clocks:?}");
    match &clocks.drained {
        Drained::NoDevice | Drained::NotDrained { .. } | Drained::NotWaitedFor { .. } => {}
        drained => assert!(durable_ns <= drained.ns().unwrap(), "{name}: {clocks:?}"),
    }
}

/// Cold, and proved.
#[track_caller]
pub fn is_cold(phase: &PhaseRecord) {
    assert_eq!(phase.cache.state, CacheState::Cold, "{}: {:?}", phase.name, phase.cache);
    let proof = &phase.cache.proof;
    let resident = (proof.device_resident_pages, proof.backing_resident_pages);
    assert_eq!(resident, (Some(0), Some(0)), "{}", phase.name);
}

/// What the device read up to `durable`.
pub fn read_bytes(phase: &PhaseRecord) -> u64 {
    phase.windows[&Window::Durable]["device.read_bytes"]
}

/// What was written to the device up to the end of the account.
pub fn written_bytes(phase: &PhaseRecord) -> u64 {
    let (_, last) = phase.windows.last_key_value().unwrap();
    last["device.written_bytes"]
}

/// All of a tree that a copy of it must not change: names, kinds, modes, owners, times of change,
/// links and contents.
pub fn facts(top: &Path) -> Vec<String> {
    let mut facts = Vec::new();
    let mut paths = vec![top.to_owned()];
    while let Some(path) = paths.pop() {
        let meta = fs::symlink_metadata(&path).unwrap();
        let what = if meta.is_symlink() {
            format!("{:?}", fs::read_link(&path).unwrap())
        } else if meta.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            paths.extend(entries.map(|entry| entry.unwrap().path()));
            String::new()
        } else {
            hash_of(&path)
        };
        let owner = (meta.uid(), meta.gid(), meta.mode(), meta.nlink(), meta.ino());
        let times = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
        facts.push(format!(
            "{path:?} {owner:?} {times:?} {} {} {what}",
            meta.size(),
            meta.blocks()
        ));
    }
    facts.sort_unstable();
    facts
}

fn hash_of(path: &Path) -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    fs::read(path).unwrap().hash(&mut hasher);
    format!("{:x}", hasher.finish())
}

/// What a stage of any RUN has left in `dir`.
pub fn stages_in(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_stage = |path: &PathBuf| path.to_string_lossy().ends_with("-stage");
    entries.filter(is_stage).collect()
}

//! Going on with a RUN that was interrupted: what has to be the same, and what is left to do.
//!
//! The schedule and the seeds stand in the stored plan, so the trials that are left are those that
//! would have come. A block is only a block where everything but the contenders is equal: a
//! machine, a device or a program that has changed makes the rest another experiment, and is
//! refused with what has changed. A reboot alone is none of these; each piece is stored with its
//! boot.

use fsarena_model::device::DeviceIdentity;
use fsarena_model::host::Host;
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::run::{RunHeader, RunPlan, Slot};
use fsarena_model::score::TrialScore;
use fsarena_model::verdict::InterimAnalysis;
use fsarena_verdict::Judge;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Weight of the failures of one contender in one workload at which it is left out of later blocks.
const FAILURES_MAX: u32 = 2;

/// Steps that fail the same way every time.
const SET_UP: [&str; 6] = ["condition", "reset", "age", "mount", "make-dirs", "stage"];

/// Share by which the memory of one machine may differ between boots: the kernel keeps a different
/// amount for itself.
const MEMORY_SHARE: f64 = 0.01;

/// Facts of the host that are readings of a moment, or that the kernel works out from the memory
/// that it finds, and no settings.
const OF_THE_MOMENT: [&str; 2] = ["load_1m", "min_free_kib"];

/// Facts of a target that say what lies under it.
const UNDERNEATH: [&str; 5] =
    ["backing_fs", "backing_source", "direct_io", "in_memory", "size_bytes"];

/// The machine as it is now.
#[derive(Debug)]
pub struct Now<'a> {
    pub host: &'a Host,
    /// SHA-256 of the program's file.
    pub program_sha256: &'a str,
    /// What each of the user's paths to a device leads to, as far as it is there; those of trials
    /// that are left.
    pub devices: &'a [(PathBuf, Option<DeviceIdentity>)],
    /// Version line of the program that makes each file system, by its name.
    pub tools: &'a BTreeMap<String, Option<String>>,
    /// SHA-256 of each file of the user's that is a guest kernel, as far as it can be read; those
    /// of trials that are left.
    pub kernel_files: &'a BTreeMap<PathBuf, Option<String>>,
}

/// What has changed since the RUN began, in words; empty where it can go on.
#[must_use]
pub fn differences(header: &RunHeader, records: &[TrialRecord], now: &Now<'_>) -> Vec<String> {
    let Some(place) = &header.place else {
        return vec!["it was begun by a version that did not store what a resume needs".to_owned()];
    };
    let mut found = host_differences(&header.host, now.host);
    if place.program_sha256 != now.program_sha256 {
        found.push(format!(
            "the program: its SHA-256 began with {} and begins with {}",
            first(&place.program_sha256),
            first(now.program_sha256)
        ));
    }
    for (path, is) in now.devices {
        let changes = match is {
            None => vec!["it is not there".to_owned()],
            Some(is) => device_changes(header, path, is, &now.host.boot_id),
        };
        let device = header.device_at(path).filter(|device| device.path != *path);
        let device = device.map(|device| format!(" ({})", device.path.display()));
        let place = format!("{}{}", path.display(), device.unwrap_or_default());
        found.extend(changes.iter().map(|change| format!("{place}: {change}")));
    }
    found.extend(tool_differences(records, now.tools));
    for file in &place.kernel_files {
        let path = file.path.display();
        match now.kernel_files.get(&file.path) {
            Some(None) => found.push(format!("the guest kernel {path}: it cannot be read")),
            Some(Some(is)) if *is != file.sha256 => found.push(format!(
                "the guest kernel {path}: its SHA-256 began with {} and begins with {}",
                first(&file.sha256),
                first(is)
            )),
            Some(Some(_)) | None => {}
        }
    }
    found
}

/// How what `path` leads to in boot `boot_id` differs from what it led to when the RUN began. Each
/// path is compared with its own: two equal disks that have changed places are two changes.
pub(crate) fn device_changes(
    header: &RunHeader,
    path: &Path,
    now: &DeviceIdentity,
    boot_id: &str,
) -> Vec<String> {
    let Some(was) = header.device_at(path) else {
        return vec!["it is not known what it was when the RUN began".to_owned()];
    };
    let same_boot = header.host.boot_id == boot_id;
    let mut found = was.differences(now, same_boot);
    if !same_boot && !was.is_named() {
        found.push(
            "it has neither a serial number nor a world wide name, so it cannot be known whether \
             it is still the same after a reboot"
                .to_owned(),
        );
    }
    if !found.is_empty() && was.path != now.path {
        let (was, is) = (was.path.display(), now.path.display());
        found.insert(0, format!("it led to {was} and leads to {is}"));
    }
    found
}

/// What lies under a target, where that was known: how it was in a record and is now.
pub(crate) fn fact_changes(
    was: &BTreeMap<String, String>,
    is: &BTreeMap<String, String>,
) -> Vec<String> {
    let known = UNDERNEATH.iter().filter_map(|name| Some((name, was.get(*name)?)));
    known
        .filter(|(name, was)| is.get(**name) != Some(was))
        .map(|(name, was)| {
            let is = is.get(*name).map_or("unknown", String::as_str);
            format!("{name}: was {was}, is {is}")
        })
        .collect()
}

fn first(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

fn host_differences(was: &Host, is: &Host) -> Vec<String> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let pairs = [
        ("operating system", was.os.clone(), is.os.clone()),
        ("kernel", was.kernel_release.clone(), is.kernel_release.clone()),
        ("kernel build", was.kernel_version.clone(), is.kernel_version.clone()),
        ("architecture", was.architecture.clone(), is.architecture.clone()),
        ("processor", text(&was.cpu_model), text(&is.cpu_model)),
        ("number of processors", was.cpus.to_string(), is.cpus.to_string()),
        ("hypervisor", text(&was.hypervisor), text(&is.hypervisor)),
        ("clock source", text(&was.clocksource), text(&is.clocksource)),
        ("frequency governor", text(&was.governor), text(&is.governor)),
        ("swap in bytes", was.swap_bytes.to_string(), is.swap_bytes.to_string()),
        ("free page reporting", was.page_reporting.to_string(), is.page_reporting.to_string()),
    ];
    let mut found: Vec<String> = pairs
        .into_iter()
        .filter(|(_, was, is)| was != is)
        .map(|(what, was, is)| format!("{what}: was {was}, is {is}"))
        .collect();
    let memory = (was.memory_bytes as f64 - is.memory_bytes as f64).abs();
    if memory > MEMORY_SHARE * was.memory_bytes as f64 {
        found.push(format!("memory in bytes: was {}, is {}", was.memory_bytes, is.memory_bytes));
    }
    let names: BTreeSet<&String> = was.settings.keys().chain(is.settings.keys()).collect();
    for name in names.into_iter().filter(|name| !OF_THE_MOMENT.contains(&name.as_str())) {
        let value = |of: &Host| of.settings.get(name).cloned().unwrap_or("absent".to_owned());
        if value(was) != value(is) {
            found.push(format!("{name}: was {}, is {}", value(was), value(is)));
        }
    }
    found
}

/// mkfs programs that are no longer those of the records.
fn tool_differences(
    records: &[TrialRecord],
    tools: &BTreeMap<String, Option<String>>,
) -> Vec<String> {
    let mut found = BTreeSet::new();
    for record in records {
        let made = &record.filesystem;
        let Some(now) = tools.get(&made.name) else { continue };
        if made.tool_version.is_some() && made.tool_version != *now {
            let text = |value: &Option<String>| value.clone().unwrap_or("missing".to_owned());
            let (was, is) = (text(&made.tool_version), text(now));
            found.insert(format!("the program that makes {}: was {was}, is {is}", made.name));
        }
    }
    found.into_iter().collect()
}

/// What a RUN has done so far.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// Trials that need not be done again: all but those that were interrupted.
    pub(crate) sequences: BTreeSet<u32>,
    /// Weight of failures by contender and workload (indices into the plan).
    failures: HashMap<(usize, usize), u32>,
}

impl Done {
    /// What `records` say.
    pub(crate) fn from_records(plan: &RunPlan, records: &[TrialRecord]) -> Self {
        let mut done = Self::default();
        for record in records.iter().filter(|record| record.outcome != Outcome::Interrupted) {
            done.sequences.insert(record.key.sequence);
            let slot = usize::try_from(record.key.sequence).ok().and_then(|n| plan.schedule.get(n));
            if let Some(slot) = slot {
                done.take(slot, record);
            }
        }
        done
    }

    /// Counts a trial that has failed or could not be run. What the machine ended need not fail
    /// again, in whatever step.
    pub(crate) fn take(&mut self, slot: &Slot, record: &TrialRecord) {
        let weight = match &record.outcome {
            // It says what this machine or file system has not: that stays.
            Outcome::NotRun { .. } => FAILURES_MAX,
            Outcome::Failed { step, .. }
                if SET_UP.contains(&step.as_str()) && !record.is_ended_by_machine() =>
            {
                FAILURES_MAX
            }
            Outcome::Failed { .. } => 1,
            _ => return,
        };
        *self.failures.entry((slot.contender, slot.workload)).or_default() += weight;
    }

    /// Whether the pair has failed so often that it would fail again in every block.
    pub(crate) fn is_given_up(&self, slot: &Slot) -> bool {
        let times = self.failures.get(&(slot.contender, slot.workload));
        times.is_some_and(|&times| times >= FAILURES_MAX)
    }

    /// Indices into the schedule of the trials that are to be done, in order.
    pub(crate) fn left(&self, plan: &RunPlan) -> Vec<usize> {
        let is_left = |(number, slot): &(usize, &Slot)| {
            !u32::try_from(*number).is_ok_and(|number| self.sequences.contains(&number))
                && !self.is_given_up(slot)
        };
        plan.schedule.iter().enumerate().filter(is_left).map(|(number, _)| number).collect()
    }
}

/// What is left of a RUN: what was done, what was decided by then, and the trials to come, as
/// indices into the schedule. Some of these may turn out not to be needed.
pub(crate) fn left<'p>(
    plan: &'p RunPlan,
    records: &[TrialRecord],
    looks: &[InterimAnalysis],
) -> (Done, Option<Judge<'p>>, Vec<usize>) {
    let done = Done::from_records(plan, records);
    let scores: Vec<TrialScore> = records.iter().map(TrialScore::from_record).collect();
    let judge = Judge::replay(plan, &scores, None, looks);
    let is_wanted = |slot: &Slot| judge.as_ref().is_none_or(|judge| judge.may_want(slot));
    let mut left = done.left(plan);
    left.retain(|&at| is_wanted(&plan.schedule[at]));
    (done, judge, left)
}

/// The part of a RUN's plan that is left after these records and looks: the plan with a shorter
/// schedule.
#[must_use]
pub fn rest(plan: &RunPlan, records: &[TrialRecord], looks: &[InterimAnalysis]) -> RunPlan {
    let (_, _, left) = left(plan, records, looks);
    RunPlan { schedule: left.iter().map(|&n| plan.schedule[n]).collect(), ..plan.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::contender::DeviceLevel;
    use fsarena_model::run::{KernelFile, RunPlace};
    use fsarena_testkit::records;

    fn begun() -> RunHeader {
        records::header(vec![records::contender("ext4", "ext4", 1)], vec![records::big_file()], 1)
    }

    fn host() -> Host {
        Host {
            kernel_release: "6.18".to_owned(),
            cpus: 2,
            memory_bytes: 24 << 30,
            boot_id: "a".to_owned(),
            ..begun().host
        }
    }

    fn disk(serial: &str, diskseq: u64) -> DeviceIdentity {
        DeviceIdentity {
            path: "/dev/sdb".into(),
            name: "sdb".to_owned(),
            number: (8, 16),
            size_bytes: 1 << 40,
            diskseq: Some(diskseq),
            hardware: [("serial".to_owned(), serial.to_owned())].into(),
        }
    }

    fn header() -> RunHeader {
        on_disks(vec![disk("S1", 1)])
    }

    /// A RUN with one contender on each of these: on `/dev/disk/a`, `/dev/disk/b`, …
    fn on_disks(devices: Vec<DeviceIdentity>) -> RunHeader {
        let on = |path: PathBuf| {
            let mut contender = records::contender(&path.display().to_string(), "ext4", 1);
            contender.levels.device = DeviceLevel::Block { path, size_bytes: 1 << 40 };
            contender
        };
        let contenders = [A, B][..devices.len()].iter().map(|path| on(path.into())).collect();
        let place = RunPlace {
            program_sha256: HASH.to_owned(),
            image_dir: "/var/tmp".into(),
            age_image_dir: None,
            user: None,
            cpus: Vec::new(),
            devices,
            kernel_files: Vec::new(),
            programs: None,
            client_mount: None,
            hosts: Vec::new(),
        };
        let header = records::header(contenders, vec![records::big_file()], 1);
        RunHeader { host: host(), place: Some(place), ..header }
    }

    fn changes(host: &Host, hash: &str, device: Option<DeviceIdentity>) -> Vec<String> {
        let tools = BTreeMap::new();
        let devices = [(PathBuf::from(A), device)];
        let now = Now {
            host,
            program_sha256: hash,
            devices: &devices,
            tools: &tools,
            kernel_files: NO_FILES,
        };
        differences(&header(), &[], &now)
    }

    const NO_FILES: &BTreeMap<PathBuf, Option<String>> = &BTreeMap::new();
    const HASH: &str = "0123456789abcdef";
    const A: &str = "/dev/disk/a";
    const B: &str = "/dev/disk/b";

    /// Equal in all but what tells them apart, and each is there: only not where it was.
    #[test]
    fn disks_that_changed_places_are_changes() {
        let other = |name: &str, disk: DeviceIdentity| DeviceIdentity {
            path: Path::new("/dev").join(name),
            name: name.to_owned(),
            ..disk
        };
        let (one, two) = (disk("S1", 1), other("sdc", disk("S2", 2)));
        let header = on_disks(vec![one.clone(), two.clone()]);
        let changes = |first: &DeviceIdentity, second: &DeviceIdentity, boot: &str| {
            let host = Host { boot_id: boot.to_owned(), ..host() };
            let devices = [(A.into(), Some(first.clone())), (B.into(), Some(second.clone()))];
            let tools = BTreeMap::new();
            let now = Now {
                host: &host,
                program_sha256: HASH,
                devices: &devices,
                tools: &tools,
                kernel_files: NO_FILES,
            };
            differences(&header, &[], &now)
        };
        for boot in ["a", "b"] {
            assert!(changes(&one, &two, boot).is_empty());
            let found = changes(&two, &one, boot);
            assert!(
                found[0].starts_with(
                    "/dev/disk/a (/dev/sdb): it led to /dev/sdb and leads to /dev/sdc"
                ),
                "{found:?}"
            );
            assert!(found.iter().any(|change| change.starts_with(B)), "{found:?}");
        }
        // The kernel has named them the other way round in this boot, and the links know better.
        let (one, two) = (other("sdc", one), other("sdb", two));
        assert!(changes(&one, &two, "b").is_empty());
    }

    /// Its size alone says nothing.
    #[test]
    fn a_device_without_a_name_is_another_one_after_a_reboot() {
        let bare = DeviceIdentity { hardware: BTreeMap::new(), ..disk("", 1) };
        let header = on_disks(vec![bare.clone()]);
        assert!(device_changes(&header, Path::new(A), &bare, "a").is_empty());
        let found = device_changes(&header, Path::new(A), &bare, "b");
        assert!(found[0].contains("cannot be known"), "{found:?}");
        assert!(!device_changes(&header, Path::new(B), &bare, "a").is_empty(), "not of this RUN");
    }

    #[test]
    fn what_lies_underneath_has_to_be_the_same() {
        let facts = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let was = facts(&[("backing_fs", "ext4"), ("direct_io", "true"), ("scheduler", "none")]);
        assert!(fact_changes(&was, &was).is_empty());
        let is = facts(&[("backing_fs", "xfs"), ("scheduler", "bfq"), ("size_bytes", "1")]);
        let words = ["backing_fs: was ext4, is xfs", "direct_io: was true, is unknown"];
        assert_eq!(fact_changes(&was, &is), words);
    }

    /// Neither what is done nor what would be skipped is left.
    #[test]
    fn what_is_left() {
        let contenders =
            vec![records::contender("ext4", "ext4", 1), records::contender("xfs", "xfs", 1)];
        let header = records::header(contenders, vec![records::big_file()], 2);
        let with = |sequence: u32, outcome: Outcome| {
            let mut record = records::record(&header, sequence);
            record.outcome = outcome;
            record
        };
        let failed = |step: &str| Outcome::Failed {
            step: step.to_owned(),
            error: String::new(),
            remedy: None,
        };
        let left =
            |records: &[TrialRecord]| Done::from_records(&header.plan, records).left(&header.plan);
        assert_eq!(left(&[]), [0, 1, 2, 3]);
        assert_eq!(left(&[with(0, Outcome::Done), with(1, Outcome::Interrupted)]), [1, 2, 3]);
        let once = with(0, failed("measure write"));
        assert_eq!(left(std::slice::from_ref(&once)), [1, 2, 3]);
        let given_up = header.plan.schedule[0].contender;
        let others: Vec<usize> =
            (1..4).filter(|&n| header.plan.schedule[n].contender != given_up).collect();
        let set_up = with(0, failed("mount"));
        assert_eq!(left(std::slice::from_ref(&set_up)), others);
        assert_eq!(
            rest(&header.plan, std::slice::from_ref(&set_up), &[]).schedule.len(),
            others.len()
        );
        let not_run = Outcome::NotRun { reason: "no room for its age".to_owned() };
        assert_eq!(left(&[with(0, not_run)]), others, "it would say the same in each block");
        let mut killed = set_up;
        killed.end_by_machine("the worker ended without a result (signal: 9 (SIGKILL))", None);
        assert_eq!(left(&[killed]), [1, 2, 3], "the next block may come to its end");
    }

    #[test]
    fn what_the_kernel_works_out_from_its_memory_is_no_setting() {
        let with = |kib: &str| Host {
            settings: [("min_free_kib".to_owned(), kib.to_owned())].into(),
            ..host()
        };
        assert!(host_differences(&with("67584"), &with("67580")).is_empty());
    }

    #[test]
    fn nothing_changed_or_only_the_boot() {
        assert!(changes(&host(), HASH, Some(disk("S1", 1))).is_empty());
        let rebooted = Host { boot_id: "b".to_owned(), memory_bytes: (24 << 30) - 4096, ..host() };
        assert!(changes(&rebooted, HASH, Some(disk("S1", 9))).is_empty());
    }

    #[test]
    fn each_change_is_named() {
        let updated = Host { kernel_release: "6.19".to_owned(), ..host() };
        let words = changes(&updated, HASH, Some(disk("S1", 1)));
        assert_eq!(words, ["kernel: was 6.18, is 6.19"]);
        assert!(changes(&host(), "ffff", Some(disk("S1", 1)))[0].contains("SHA-256"));
        assert!(changes(&host(), HASH, Some(disk("S2", 1)))[0].contains("serial was S1"));
        assert!(changes(&host(), HASH, Some(disk("S1", 2)))[0].contains("diskseq"));
        assert!(changes(&host(), HASH, None)[0].contains("not there"));
        let small = Host { memory_bytes: 12 << 30, ..host() };
        assert!(changes(&small, HASH, Some(disk("S1", 1)))[0].starts_with("memory"));
    }

    #[test]
    fn a_run_of_the_first_version_is_refused() {
        let header = RunHeader { place: None, ..header() };
        let tools = BTreeMap::new();
        let now = Now {
            host: &host(),
            program_sha256: HASH,
            devices: &[],
            tools: &tools,
            kernel_files: NO_FILES,
        };
        assert_eq!(differences(&header, &[], &now).len(), 1);
    }

    /// Only of those that are still needed anything is known.
    #[test]
    fn a_guest_kernel_that_was_built_anew_is_a_change() {
        let mut header = header();
        let path = PathBuf::from("/src/linux");
        let file = KernelFile {
            level: "6.1.7-0123456789ab".to_owned(),
            path: path.clone(),
            sha256: HASH.to_owned(),
            hz: 250,
        };
        header.place.as_mut().unwrap().kernel_files.push(file);
        let changes = |files: &BTreeMap<PathBuf, Option<String>>| {
            let (host, tools) = (host(), BTreeMap::new());
            let now = Now {
                host: &host,
                program_sha256: HASH,
                devices: &[],
                tools: &tools,
                kernel_files: files,
            };
            differences(&header, &[], &now)
        };
        assert_eq!(changes(NO_FILES), [""; 0]);
        let is = |sha256: Option<&str>| [(path.clone(), sha256.map(str::to_owned))].into();
        assert_eq!(changes(&is(Some(HASH))), [""; 0]);
        assert_eq!(changes(&is(None)), ["the guest kernel /src/linux: it cannot be read"]);
        let other = changes(&is(Some("fedcba9876543210")));
        let words = "the guest kernel /src/linux: its SHA-256 began with 0123456789ab and begins \
                     with fedcba987654";
        assert_eq!(other, [words]);
    }

    #[test]
    fn another_mkfs_is_a_change() {
        let mut record = records::record(&begun(), 0);
        record.filesystem.name = "ext4".to_owned();
        record.filesystem.tool_version = Some("mke2fs 1.47.0".to_owned());
        let now = |version: &str| [("ext4".to_owned(), Some(version.to_owned()))].into();
        let records = [record];
        assert!(tool_differences(&records, &now("mke2fs 1.47.0")).is_empty());
        assert_eq!(tool_differences(&records, &now("mke2fs 1.48")).len(), 1);
    }
}

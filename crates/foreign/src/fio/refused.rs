//! The table of what is refused or left out, and why.
//!
//! A trial begins with mkfs and ends with an unmount, and the work in between belongs below one
//! root, as one user, on stated processors. A key that reaches outside of that is refused with its
//! reason; a key that only asks for more output is left out and a notice says so. A key that is not
//! in a table is left to fio, which is asked (`--parse-only`) before the trial touches anything;
//! but no value of any key may look like a path outside the root.

use crate::fio::syntax::{Fault, Setting};

/// A key that is refused where `when` says so of its value.
struct Rule {
    key: &'static str,
    when: fn(&str) -> bool,
    reason: &'static str,
    remedy: &'static str,
}

const fn rule(key: &'static str, reason: &'static str, remedy: &'static str) -> Rule {
    Rule { key, when: always, reason, remedy }
}

const fn switch(key: &'static str, reason: &'static str, remedy: &'static str) -> Rule {
    Rule { key, when: on, reason, remedy }
}

const REMOVE: &str = "remove the line";
const PLACE: &str = "remove the line; `filename` and `directory` are relative to the file system";
const CPUS: &str = "remove the line; `cpus` of the experiment says where the work runs";
const USER: &str = "remove the line; `user` of the experiment says who does the work";
const SIZE: &str = "remove the line and write size=";
const TRACE: &str = "describe the work with rw=, bs= and size= instead";
const RUNS: &str = "remove the line; commands belong into the experiment file";
const DEVICE: &str = "remove the line; the device is a factor of the experiment";

/// Every key that is known to reach outside a trial or to break its life cycle.
const RULES: &[Rule] = &[
    // Files outside the root.
    rule("opendir", "takes whatever files lie in a directory", "name the files with filename="),
    rule("unique_filename", "is for fio's network clients", REMOVE),
    rule("aux-path", "names a directory for fio's own files", PLACE),
    rule("output", "names a file for the output", REMOVE),
    rule("output-format", "is chosen by fsarena, which reads the output", REMOVE),
    rule("write_iolog", "writes a trace into a file", REMOVE),
    rule("read_iolog", "replays a trace, whose paths and devices are its own", TRACE),
    rule("read_iolog_chunked", "replays a trace", TRACE),
    rule("replay_no_stall", "replays a trace", TRACE),
    rule("replay_redirect", "replays a trace onto a device", TRACE),
    rule("replay_scale", "replays a trace", TRACE),
    rule("replay_align", "replays a trace", TRACE),
    rule("replay_time_scale", "replays a trace", TRACE),
    rule("replay_skip", "replays a trace", TRACE),
    rule("merge_blktrace_file", "reads and writes block traces", TRACE),
    rule("merge_blktrace_scalars", "reads and writes block traces", TRACE),
    rule("merge_blktrace_iters", "reads and writes block traces", TRACE),
    switch("verify_state_load", "reads a file that an earlier run left", REMOVE),
    Rule {
        key: "buffer_pattern",
        when: quoted,
        reason: "takes its pattern from a file",
        remedy: "write the pattern as \"text\" or 0x1234",
    },
    Rule {
        key: "verify_pattern",
        when: quoted,
        reason: "takes its pattern from a file",
        remedy: "write the pattern as \"text\" or 0x1234",
    },
    Rule {
        key: "mem",
        when: foreign_memory,
        reason: "takes its buffers from a file or another device",
        remedy: "write mem=malloc, shm, shmhuge or mmap",
    },
    // Devices and what lies under the file system.
    switch("allow_mounted_write", "lets fio write to a mounted device", REMOVE),
    rule("ioscheduler", "changes the device's scheduler", DEVICE),
    Rule {
        key: "zonemode",
        when: |mode| !matches!(mode, "none" | "strided"),
        reason: "drives a zoned device",
        remedy: DEVICE,
    },
    switch("read_beyond_wp", "drives a zoned device", DEVICE),
    rule("zone_reset_threshold", "drives a zoned device", DEVICE),
    rule("zone_reset_frequency", "drives a zoned device", DEVICE),
    switch("ignore_zone_limits", "drives a zoned device", DEVICE),
    rule("dataplacement", "drives an NVMe device", DEVICE),
    // Other programs, other processes, other machines.
    rule("exec_prerun", "runs a command", RUNS),
    rule("exec_postrun", "runs a command", RUNS),
    rule("trigger", "runs a command", RUNS),
    rule("trigger-file", "waits for a file", RUNS),
    rule("trigger-timeout", "stops the work by a command", RUNS),
    rule("trigger-remote", "runs a command on another machine", RUNS),
    rule("daemonize", "lets fio outlive its trial", REMOVE),
    rule("server", "opens fio to the network", REMOVE),
    rule("client", "sends the work to another machine", REMOVE),
    rule("remote-config", "names a job file of another machine", REMOVE),
    rule("profile", "replaces the job by one that is built into fio", "write the job itself"),
    // Who does the work, and where.
    rule("uid", "changes the user", USER),
    rule("gid", "changes the group", USER),
    rule("cgroup", "leaves the trial's cgroup, and with it the memory limit", REMOVE),
    rule("cgroup_weight", "changes a cgroup", REMOVE),
    switch("cgroup_nodelete", "leaves a cgroup behind", REMOVE),
    rule("cpus_allowed", "leaves the processors of the trial", CPUS),
    rule("cpus_allowed_policy", "leaves the processors of the trial", CPUS),
    rule("cpumask", "leaves the processors of the trial", CPUS),
    rule("numa_cpu_nodes", "leaves the processors of the trial", CPUS),
    rule("gtod_cpu", "takes a processor for a clock", CPUS),
    rule("verify_async_cpus", "leaves the processors of the trial", CPUS),
    rule("log_compression_cpus", "leaves the processors of the trial", CPUS),
    switch("sqthread_poll", "has a thread of the kernel work outside the trial's processors", CPUS),
    rule("sqthread_poll_cpu", "leaves the processors of the trial", CPUS),
    rule("numa_mem_policy", "takes memory away from the processors of the trial", CPUS),
    // What fsarena does itself, or has to know beforehand.
    switch("create_only", "does no work", "remove the line; files are laid out before the phase"),
    switch("fill_device", "ends when the file system is full", SIZE),
];

/// Keys that are left out, with the words of the notice.
const LEFT_OUT: &[(&str, &str)] = &[
    ("write_bw_log", "fsarena keeps a time series of its own"),
    ("write_lat_log", "latencies are kept as a histogram"),
    ("write_iops_log", "fsarena keeps a time series of its own"),
    ("write_hist_log", "latencies are kept as a histogram"),
    ("verify_state_save", "it would leave a file behind"),
    ("unified_rw_reporting", "reads and writes are told apart"),
    ("name", "a job is called by the name in brackets"),
    ("randrepeat", "random order comes from the seed of the RUN"),
    ("allrandrepeat", "random order comes from the seed of the RUN"),
    ("disk_util", "fsarena reads the device itself"),
    ("description", "fio would replace words with $ in it and have bc(1) work it out"),
];

/// I/O engines that work on files below a root, or on nothing.
const ENGINES: &[&str] = &[
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "libaio",
    "io_uring",
    "posixaio",
    "mmap",
    "splice",
    "falloc",
    "ftruncate",
    "filecreate",
    "filestat",
    "filedelete",
    "dircreate",
    "dirstat",
    "dirdelete",
    "null",
    "cpuio",
];

fn always(_: &str) -> bool {
    true
}

fn on(value: &str) -> bool {
    value != "0"
}

fn quoted(value: &str) -> bool {
    value.contains('\'')
}

fn foreign_memory(value: &str) -> bool {
    !matches!(value, "malloc" | "shm" | "shmhuge" | "mmap")
}

/// Refuses a setting that reaches outside the trial.
pub(crate) fn check(setting: &Setting) -> Result<(), Fault> {
    let Setting { key, line, .. } = setting;
    let value = setting.value();
    let broken = |rule: &&Rule| rule.key == key && (rule.when)(value);
    if let Some(rule) = RULES.iter().find(broken) {
        return Err(Fault::new(*line, format!("{key:?} {}", rule.reason), rule.remedy));
    }
    if key == "ioengine" && !ENGINES.contains(&value) {
        let what = format!("I/O engine {value:?} does not work on files of the trial");
        return Err(Fault::new(*line, what, format!("use one of {}", ENGINES.join(", "))));
    }
    if matches!(key.as_str(), "description" | "filename" | "directory") {
        return Ok(()); // Words for people, which are left out; and names: see `paths`.
    }
    if key != "filename_format" && value.contains('$') {
        let what = format!("{key}={value} depends on the machine");
        let remedy = "write the value itself: a workload is the same everywhere";
        return Err(Fault::new(*line, what, remedy));
    }
    let words = || value.split([':', ',', '=', '\'', '"', ' ']);
    let outside = |word: &str| {
        word.starts_with('/') || word.contains("/dev/") || word.split('/').any(|s| s == "..")
    };
    if value.contains(['\\', '`']) || words().any(outside) {
        let what = format!("{key}={value} names a path outside the trial");
        return Err(Fault::new(*line, what, PLACE));
    }
    Ok(())
}

/// Why a key is left out of what fio gets; `None` where it is not.
pub(crate) fn left_out(key: &str) -> Option<&'static str> {
    LEFT_OUT.iter().find(|(known, _)| *known == key).map(|&(_, why)| why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(key: &str, value: Option<&str>) -> Option<String> {
        let setting = Setting { key: key.to_owned(), value: value.map(str::to_owned), line: 7 };
        let fault = check(&setting).err()?;
        assert_eq!(fault.line, 7);
        Some(format!("{}; {}", fault.what, fault.remedy))
    }

    #[test]
    fn every_rule_refuses_and_says_what_to_do() {
        for rule in RULES {
            let refusal = refusal(rule.key, Some("'x")).unwrap_or_else(|| panic!("{}", rule.key));
            assert!(refusal.contains(rule.reason) && refusal.ends_with(rule.remedy), "{refusal}");
            assert!(left_out(rule.key).is_none(), "{} is in both tables", rule.key);
        }
        let mut keys: Vec<_> = RULES.iter().map(|rule| rule.key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), RULES.len(), "each key once");
    }

    #[test]
    fn switches_that_are_off_and_plain_values_pass() {
        for (key, value) in [
            ("create_only", Some("0")),
            ("sqthread_poll", Some("0")),
            ("allow_mounted_write", Some("0")),
            ("mem", Some("shmhuge")),
            ("zonemode", Some("none")),
            ("buffer_pattern", Some("\"abc\"")),
            ("bssplit", Some("4k/60:64k/40")),
            ("random_distribution", Some("zoned:60/10:30/20:8/30:2/40")),
            ("description", Some("like /dev/sda at $HOME")),
            ("filename_format", Some("d/$jobname.$jobnum.$filenum")),
            ("thread", None),
            ("made_up", Some("3")),
        ] {
            assert_eq!(refusal(key, value), None, "{key}={value:?}");
        }
    }

    #[test]
    fn engines_that_need_another_target_are_refused() {
        for engine in [
            "net",
            "netsplice",
            "rbd",
            "rados",
            "gfapi",
            "gfapi_async",
            "nbd",
            "http",
            "libpmem",
            "pmemblk",
            "dev-dax",
            "mtd",
            "sg",
            "exec",
            "e4defrag",
            "rdma",
            "libiscsi",
            "nfs",
            "io_uring_cmd",
            "libblkio",
            "external:/tmp/engine.so",
            "",
        ] {
            assert!(refusal("ioengine", Some(engine)).is_some(), "{engine}");
        }
        for engine in ENGINES {
            assert_eq!(refusal("ioengine", Some(engine)), None);
        }
    }

    #[test]
    fn no_value_of_any_key_is_a_path_outside() {
        for value in ["/dev/sda", "a:/etc/passwd", "../x", "a/../../x", "x,/y", "a\\:b", "`id`"] {
            assert!(refusal("some_new_key", Some(value)).is_some(), "{value}");
        }
        assert!(
            refusal("size", Some("8*$mb_memory"))
                .is_some_and(|refusal| refusal.contains("machine"))
        );
        assert_eq!(refusal("filename", Some("a..b")), None);
    }
}

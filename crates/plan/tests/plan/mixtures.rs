//! Mistakes in a workload: each gives one error with its place, what is wrong, and what to do.

use crate::errors::{all, error, workload};
use crate::rules::plan;

#[test]
fn of_datasets() {
    let set = |keys: &str| workload(&format!("name = \"w\"\n{keys}\nphases = [\"create\"]"));
    let size = |size: &str| set(&format!("files = 10\nsize = {size}"));
    let text = all(&[
        set("files = 10\nper_dir = 5\ndirs = 2\nsize = 1"),
        set("per_dir = 5\nsize = 1"),
        set("per_dir = { uniform = { min = 0, max = 0 } }\ndirs = 2\nsize = 1"),
        set("per_dir = 100_000_000\ndirs = 2\nsize = 1"),
        set("files = 10\nsize = 1\ndepth = 3"),
        set("files = 10\nsize = 1\ndirs = 5\ndepth = 65"),
        set("files = 1000\nsize = 1\nname_length = 3"),
        set("files = 10\nsize = 1\nname_length = 256"),
        set("files = 10"),
        size("{ unifrom = { min = 1, max = 2 } }"),
        size("{ uniform = { min = 2, max = 1 } }"),
        size("{ uniform = { min = 2 } }"),
        size("{ uniform = { min = 1, max = 2 }, weighted = [[1, 1]] }"),
        size("{ lognormal = { median = \"4K\", sigma = 0.0, max = \"1M\" } }"),
        size("{ lognormal = { median = \"4K\", sigma = \"2\", max = \"1M\" } }"),
        size("{ lognormal = { median = \"4M\", sigma = 2, max = \"1M\" } }"),
        size("{ weighted = [[\"4K\", 0]] }"),
        size("{ weighted = [[\"4K\", 1], [4096, 1]] }"),
        size("{ weighted = [\"4K\", 1] }"),
        size("{ weighted = [] }"),
        size("\"17 TiB\""),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:9:11: `files` and `per_dir` both say how many files there are
      keep one of them
    t.toml:8:11: `per_dir` without directories
      say how many there are: dirs = 100
    t.toml:8:11: 2 directories hold 0 files in all
      make it 1 to 100000000
    t.toml:8:11: 2 directories hold 200000000 files in all
      make it 1 to 100000000
    t.toml:10:9: levels of directories without directories
      add dirs = 100
    t.toml:11:9: `workload.depth` is 65
      it has to be from 1 to 64
    t.toml:10:15: names of 3 bytes hold numbers of 2 digits, too short for 1000 files
      use name_length = 4 or more
    t.toml:10:15: `workload.name_length` is 256
      it has to be from 2 to 255
    t.toml:6:1: `size` is missing in [workload]
      add size = "4 KiB"
    t.toml:9:10: unknown key in [workload.size]: "unifrom"
      did you mean "uniform"?
    t.toml:9:37: max 1 is below min 2
      exchange them
    t.toml:9:20: `max` is missing in [workload.size.uniform]
      add max, the largest value
    t.toml:9:8: not one distribution
      write one of lognormal, uniform, weighted
    t.toml:9:47: a sigma of 0
      use a number above 0, up to 10
    t.toml:9:47: `workload.size.lognormal.sigma` is text, but has to be a number
      write it like 2.0
    t.toml:9:33: a median of 4194304 is not within 0 and 1048576
      make it at least 1 and put it between min and max
    t.toml:9:29: `workload.size.weighted` is 0
      it has to be from 1 to 1000000
    t.toml:9:34: a value twice
      add their weights up
    t.toml:9:22: `workload.size.weighted` is text, but has to be a value and its weight
      write it like [["4 KiB", 3], ["1 MiB", 1]]
    t.toml:9:21: `workload.size.weighted` is an empty list
      give it a value, such as [["4 KiB", 3], ["1 MiB", 1]]
    t.toml:9:8: a file of 17 TiB is too large
      use up to 16 TiB
    "#);
}

/// A workload over one big file, or over many small ones.
fn mix(set: &str, phases: &str) -> String {
    workload(&format!("name = \"w\"\n{set}\nphases = [{phases}]"))
}

const BIG: &str = "files = 1\nsize = \"64M\"";
const SMALL: &str = "files = 100\nsize = \"4K\"\ndirs = 10";

#[test]
fn of_backends() {
    let text = all(&[
        mix(BIG, "{ op = \"randread\", iodepth = 32 }"),
        mix(BIG, "{ op = \"randread\", iodepth = 32, backend = \"mmap\" }"),
        mix(&format!("{BIG}\niodepth = 32"), "\"randread\""),
        mix(SMALL, "\"create\", { op = \"stat\", backend = \"mmap\" }"),
        mix(&format!("{SMALL}\nbackend = \"mmap\""), "\"create\", \"stat\""),
        mix(SMALL, "\"create\", { op = \"list\", backend = \"io_uring\" }"),
        mix(SMALL, "\"create\", { op = \"read\", backend = \"null\" }"),
        mix(BIG, "{ op = \"big-read\", backend = \"mmap\", direct = true }"),
        mix(BIG, "{ op = \"randwrite\", backend = \"mmap\", fsync = \"dsync\" }"),
        mix(BIG, "{ op = \"randread\", backend = \"uring\" }"),
        mix(BIG, "{ op = \"randread\", backend = \"io_uring\", iodepth = 0 }"),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:10:40: iodepth 32 with backend "sync": one call at a time
      use backend = "io_uring", or more threads
    t.toml:10:40: iodepth 32 with backend "mmap": one call at a time
      use backend = "io_uring", or more threads
    t.toml:10:11: no phase can take `iodepth`
      it needs backend = "io_uring"
    t.toml:11:46: mmap with `stat`: it is for the contents of big files
      use backend = "sync" here, or a big op such as big-read or randread
    t.toml:11:11: no phase can take `backend`
      mmap is for contents of big files; io_uring cannot list or find
    t.toml:11:46: io_uring with `list`: the kernel has no such request
      use backend = "sync" here
    t.toml:11:46: the null backend does nothing that another phase could find
      use it for all phases of a workload
    t.toml:10:57: direct with mmap: a mapping is the page cache
      use direct = false, or another backend
    t.toml:10:57: dsync with mmap: there is no write call to wait for
      use fsync = "op", or another backend
    t.toml:10:40: unknown backend "uring"
      known: sync, io_uring, mmap, null
    t.toml:10:62: `workload.phases.iodepth` is 0
      it has to be from 1 to 4096
    "#);
}

#[test]
fn of_direct_calls() {
    let odd = "files = 10\nsize = \"1000 B\"";
    let drawn = "files = 10\nsize = { uniform = { min = 0, max = 4096 } }";
    let text = all(&[
        mix(BIG, "{ op = \"randread\", direct = true, bs = 256 }"),
        mix(BIG, "{ op = \"randread\", direct = true, bs = 1000 }"),
        mix(&format!("{BIG}\nbs = 1000\ndirect = true"), "\"randread\""),
        mix(SMALL, "\"create\", { op = \"stat\", direct = true }"),
        mix(odd, "{ op = \"create\", direct = true }"),
        mix(drawn, "{ op = \"create\", direct = true }"),
        mix(odd, "{ op = \"overwrite\", direct = true }"),
        mix(SMALL, "{ op = \"append\", bs = 100 }, { op = \"overwrite\", direct = true }"),
        mix(&format!("{SMALL}\ndirect = true"), "\"stat\""),
        mix(BIG, "{ op = \"randread\", direct = \"yes\" }"),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:10:50: direct with calls of 256 B
      use a bs that is a multiple of the logical sector: 512 B or 4 KiB
    t.toml:10:50: direct with calls of 1000 B
      use a bs that is a multiple of the logical sector: 512 B or 4 KiB
    t.toml:10:6: direct with calls of 1000 B
      use a bs that is a multiple of the logical sector: 512 B or 4 KiB
    t.toml:11:45: direct with `stat`, which moves no contents
      leave it out
    t.toml:10:37: direct writes of files that do not end at a sector of 512 B
      use sizes that are multiples of it, or direct = false
    t.toml:10:37: direct writes of files that do not end at a sector of 512 B
      use sizes that are multiples of it, or direct = false
    t.toml:10:40: direct writes of files that do not end at a sector of 512 B
      use sizes that are multiples of it, or direct = false
    t.toml:11:69: direct writes of files that do not end at a sector of 512 B
      use sizes that are multiples of it, or direct = false
    t.toml:11:10: no phase can take `direct`
      it is for phases that read or write contents, not by mmap
    t.toml:10:39: `workload.phases.direct` is text, but has to be true or false
      write it like true
    "#);
    for good in ["{ op = \"read\", direct = true }", "\"stat\", { op = \"read\", direct = true }"] {
        assert_eq!(plan(&mix(odd, good)).map(|_| ()), Ok(()), "tails can be read");
    }
}

#[test]
fn of_threads() {
    let deep = "files = 100\nsize = 1\ndirs = 100\ndepth = 2";
    let text = all(&[
        mix("files = 3\nsize = 1", "{ op = \"create\", threads = 4, sharing = \"shared\" }"),
        mix("files = 30\nsize = 1", "{ op = \"create\", threads = 4 }"),
        mix(&format!("{SMALL}\nthreads = 11"), "\"create\""),
        mix(BIG, "{ op = \"big-read\", threads = 4 }"),
        mix(BIG, "{ op = \"big-write\", threads = 4, sharing = \"shared\" }"),
        mix(BIG, "{ op = \"big-read\", bs = \"32M\", threads = 4, sharing = \"shared\" }"),
        mix(BIG, "{ op = \"randread\", threads = 4, ops = 3 }"),
        mix(deep, "{ op = \"mkdir\", threads = 4 }, \"create\""),
        mix(SMALL, "{ op = \"mkdir\", threads = 11 }, \"create\""),
        mix(SMALL, "\"create\", { op = \"list\", threads = 4, sharing = \"shared\" }"),
        mix("files = 10\nsize = 1", "\"create\", { op = \"list\", threads = 2 }"),
        mix(SMALL, "{ op = \"create\", threads = 1025 }"),
        mix(SMALL, "{ op = \"create\", sharing = \"both\" }"),
        mix(&format!("{SMALL}\nsharing = \"shared\""), "\"mkdir\", \"list\""),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:10:38: 4 threads for 3 files
      use fewer threads
    t.toml:10:38: 4 threads for 0 leaf directories
      add dirs, or sharing = "shared" where all work in one directory
    t.toml:11:11: 11 threads for 10 leaf directories
      use more directories, fewer threads, or sharing = "shared"
    t.toml:10:40: 4 threads for 1 file
      use more files, fewer threads, or sharing = "shared": each its part of every file
    t.toml:10:54: `big-write` cannot be shared by 4 threads
      use sharing = "interleaved", or "own" with as many files, or threads = 1
    t.toml:10:52: 4 threads for 2 calls of a file
      use fewer threads
    t.toml:10:40: 4 threads for 3 ops
      use fewer threads
    t.toml:12:37: `mkdir` of nested directories by 4 threads
      use threads = 1 here, or depth = 1
    t.toml:11:37: 11 threads for 10 leaf directories
      use fewer threads
    t.toml:11:59: `list` cannot be shared by 4 threads
      use sharing = "own": each thread has directories of its own
    t.toml:10:46: 2 threads for 0 leaf directories
      use fewer threads
    t.toml:11:38: `workload.phases.threads` is 1025
      it has to be from 1 to 1024
    t.toml:11:38: unknown sharing "both"
      known: own, shared, interleaved
    t.toml:11:11: no phase can take `sharing`
      shared is for files, by any op that finds them or creates small ones, interleaved for big-write, big-read and big-overwrite
    "#);
    let shared = "{ op = \"randread\", threads = 4 }";
    assert_eq!(plan(&mix(BIG, shared)).map(|_| ()), Ok(()), "blocks are always shared");
}

#[test]
fn of_interleaved_files() {
    let of = |op: &str| format!("{{ {op}, threads = 2, sharing = \"interleaved\" }}");
    let text = all(&[
        mix(SMALL, &of("op = \"create\"")),
        mix(SMALL, &format!("\"create\", {}", of("op = \"list\""))),
        mix(BIG, &of("op = \"randread\"")),
        mix(BIG, &of("op = \"big-write\", backend = \"mmap\"")),
        mix(BIG, &of("op = \"big-write\", bs = 47_008, direct = true")),
        mix(BIG, &of("op = \"big-write\", bs = \"64 MiB\"")),
        mix(&format!("{SMALL}\nsharing = \"interleaved\""), "\"create\""),
    ]);
    insta::assert_snapshot!(text, @"
    t.toml:11:51: `create` cannot be interleaved by 2 threads
      use it for big-write, big-read and big-overwrite
    t.toml:11:59: `list` cannot be interleaved by 2 threads
      use it for big-write, big-read and big-overwrite
    t.toml:10:53: `randread` cannot be interleaved by 2 threads
      use it for big-write, big-read and big-overwrite
    t.toml:10:72: interleaved `big-write` with mmap: a mapping is of a whole file
      use another backend, or write the file by one thread
    t.toml:10:36: direct with calls of 45.9 KiB
      use a bs that is a multiple of the logical sector: 512 B or 4 KiB
    t.toml:10:56: 2 threads for 1 call of a file
      use fewer threads
    t.toml:11:11: no phase can take `sharing`
      shared is for files, by any op that finds them or creates small ones, interleaved for big-write, big-read and big-overwrite
    ");
    let phases = format!("{}, {}", of("op = \"big-write\", bs = 47_008"), of("op = \"big-read\""));
    assert_eq!(plan(&mix(BIG, &phases)).map(|_| ()), Ok(()));
}

#[test]
fn of_rates() {
    let text = all(&[
        mix(SMALL, "{ op = \"create\", rate = 100, backend = \"io_uring\" }"),
        mix(SMALL, "{ op = \"create\", rate = 0 }"),
        mix(&format!("{SMALL}\nrate = 9\nbackend = \"io_uring\""), "\"create\""),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:11:35: a rate with io_uring: ops overlap there and have no time of their own
      use backend = "sync"
    t.toml:11:35: `workload.phases.rate` is 0
      it has to be from 1 to 10000000
    t.toml:11:8: no phase can take `rate`
      it is for blocking calls, not for io_uring
    "#);
    let paced = "\"create\", { op = \"read\", rate = 100 }";
    let plan = plan(&mix(SMALL, paced)).unwrap();
    let asked = plan.verdict.as_ref().unwrap().questions.iter();
    let asked: Vec<_> = asked.map(|one| (one.phase.as_str(), one.metric)).collect();
    use fsarena_model::verdict::Metric::{P99, Time};
    assert_eq!(asked, [("create", Time), ("read", P99)], "its time is set");
}

#[test]
fn of_runtimes() {
    let runs = |op: &str| format!("{{ op = {op}, runtime = \"1 s\" }}");
    let text = all(&[
        mix(BIG, &runs("\"big-write\"")),
        mix(BIG, &runs("\"randread\", ops = 10")),
        mix(BIG, "{ op = \"randread\", runtime = \"8 days\" }"),
        mix(BIG, "{ op = \"randread\", runtime = \"200 h\" }"),
        mix(&format!("{SMALL}\nruntime = \"1 s\""), "\"create\""),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:10:41: a runtime with `big-write`: the dataset says how many ops there are
      leave it out; for create and big-write there is stonewall
    t.toml:10:50: a number of ops and a runtime
      leave one of them out
    t.toml:10:40: "8 days": unknown unit "days"
      use one of ns, us, ms, s, m, h
    t.toml:10:40: a runtime of 200h00m
      use more than 0 and at most a week
    t.toml:11:11: no phase can take `runtime`
      it is for randread, randwrite, randrw and randtrim
    "#);
    let timed = "{ op = \"randread\", runtime = \"90 s\" }, \"randwrite\"";
    let plan = plan(&mix(BIG, timed)).unwrap();
    let asked = plan.verdict.as_ref().unwrap().questions.iter();
    let asked: Vec<_> = asked.map(|one| (one.phase.as_str(), one.metric)).collect();
    use fsarena_model::verdict::Metric::{PerOp, Time};
    assert_eq!(asked, [("randread", PerOp), ("randwrite", Time)]);
    assert_eq!(plan.workloads[0].phases[0].io.runtime_ns, Some(90_000_000_000));
}

#[test]
fn of_stonewalls() {
    let wall = |op: &str| format!("{{ op = {op}, stonewall = \"1 s\" }}");
    let big = "files = 4\nsize = \"64M\"";
    let text = all(&[
        mix(SMALL, &format!("\"create\", {}", wall("\"read\""))),
        mix(SMALL, &format!("\"create\", {}", wall("\"stat\", shift = 1, threads = 2"))),
        mix(BIG, &wall("\"randwrite\"")),
        mix(SMALL, &wall("\"fallocate\"")),
        mix(SMALL, &wall("\"create\", backend = \"io_uring\"")),
        mix(BIG, &wall("\"big-write\", backend = \"mmap\"")),
        mix(SMALL, &wall("\"create\", rate = 100")),
        mix(SMALL, &wall("\"create\", order = \"random\"")),
        mix(SMALL, &wall("\"create\", fsync = \"dir\"")),
        mix(big, &wall("\"big-write\", threads = 2")),
        mix(big, &wall("\"big-write\", threads = 4, sharing = \"interleaved\"")),
        mix(SMALL, "{ op = \"create\", stonewall = \"25 h\" }"),
        mix(SMALL, "{ op = \"create\", stonewall = \"0 s\" }"),
        mix(SMALL, "{ op = \"create\", stonewall = \"soon\" }"),
        mix(SMALL, "{ op = \"cycle\", stonewall = \"1 s\" }"),
        mix(BIG, &format!("{}, \"randread\"", wall("\"big-write\""))),
        mix(&format!("{SMALL}\nstonewall = \"1 s\""), "\"read\""),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:11:48: a stonewall with `read`
      it is for create and big-write; what follows them works on what they made
    t.toml:11:72: a stonewall with `stat`
      it is for create and big-write; what follows them works on what they made
    t.toml:10:43: a stonewall with `randwrite`
      it is for create and big-write; what follows them works on what they made
    t.toml:11:43: a stonewall with `fallocate`
      it is for create and big-write; what follows them works on what they made
    t.toml:11:62: a stonewall with backend "io_uring"
      use backend = "sync"
    t.toml:10:61: a stonewall with backend "mmap"
      use backend = "sync"
    t.toml:11:52: a stonewall with a rate: the one sets the time, the other the work
      leave one of them out
    t.toml:11:58: a stonewall in random order: what is there would follow no order
      use order = "sequential"
    t.toml:11:36: a stonewall with fsync = "dir": which file is the last of a directory is not known
      use "op", "file" or "end"
    t.toml:10:56: a stonewall over 4 big files by 2 thread(s)
      use files = 2: one for each thread
    t.toml:10:81: a stonewall over 4 big files by 4 thread(s)
      use files = 1: all write it in turn
    t.toml:11:40: a stonewall of 25h00m
      use more than 0 and at most 24 h: IO500 has 300 s
    t.toml:11:40: a stonewall of 0 ns
      use more than 0 and at most 24 h: IO500 has 300 s
    t.toml:11:40: "soon" has no number and unit
      write it like 100ms or 30 s
    t.toml:11:27: `stonewall` with `cycle`: it is one thread of blocking calls, as the application was
      leave it out
    t.toml:10:52: phase "randread" draws from all files, and a stonewall cuts them
      leave the stonewall out
    t.toml:11:13: no phase can take `stonewall`
      it is for create and big-write by blocking calls
    "#);
    let default = format!("{SMALL}\nstonewall = \"90 s\"");
    let plan = plan(&mix(&default, "\"create\", \"find\", \"read\", \"delete\"")).unwrap();
    let walls: Vec<_> =
        plan.workloads[0].phases.iter().map(|phase| phase.io.stonewall_ns).collect();
    assert_eq!(walls, [Some(90_000_000_000), None, None, None]);
    let asked = plan.verdict.as_ref().unwrap().questions.iter();
    let asked: Vec<_> = asked.map(|one| one.metric.name()).collect();
    assert_eq!(asked, ["per-op"; 4], "how many ops there are is not known before");
}

#[test]
fn of_shifts() {
    let text = all(&[
        mix(SMALL, "{ op = \"create\", threads = 2, shift = 1 }"),
        mix(BIG, "{ op = \"randread\", threads = 2, shift = 1 }"),
        mix(SMALL, "\"create\", { op = \"read\", threads = 2, shift = 2 }"),
        mix(SMALL, "\"create\", { op = \"read\", threads = 2, shift = 0 }"),
        mix(&format!("{SMALL}\nthreads = 2\nshift = 2"), "\"create\", \"read\""),
    ]);
    insta::assert_snapshot!(text, @"
    t.toml:11:49: shift with `create`: it makes what it works on
      use it in phases that read, stat, overwrite or delete what is there
    t.toml:10:51: shift with `randread`: its threads share all blocks, whoever wrote them
      use it in phases that read, stat, overwrite or delete what is there
    t.toml:11:57: shift 2 of 2 thread(s)
      use a smaller one, or more threads: `shift` has to be less than `threads`
    t.toml:11:57: `workload.phases.shift` is 0
      it has to be from 1 to 1023
    t.toml:12:9: no phase can take `shift`
      it is for phases that read, stat, overwrite or delete what earlier phases made, by more threads than it says
    ");
    let default = format!("{SMALL}\nthreads = 4\nshift = 1");
    let plan = plan(&mix(&default, "\"create\", \"read\", \"delete\"")).unwrap();
    let shifts: Vec<u32> = plan.workloads[0].phases.iter().map(|phase| phase.io.shift).collect();
    assert_eq!(shifts, [0, 1, 1], "a default goes to the phases that can take it");
}

#[test]
fn of_threads_without_work_and_calls_without_room() {
    let few = "files = 24\nsize = 1\ndirs = 16";
    let ring = "backend = \"io_uring\"";
    let text = all(&[
        mix(few, "{ op = \"create\", threads = 16 }"),
        mix(
            "files = 8\nsize = { weighted = [[0, 1], [4096, 1]] }",
            "{ op = \"big-write\", threads = 8 }",
        ),
        mix(&format!("{few}\n{ring}\niodepth = 25"), "\"create\""),
        mix(BIG, &format!("{{ op = \"randread\", ops = 40, threads = 2, iodepth = 21, {ring} }}")),
        mix(
            "files = 1\nsize = \"8G\"\nbs = \"1G\"",
            "{ op = \"big-read\", threads = 5, sharing = \"shared\" }",
        ),
        mix(
            BIG,
            &format!("{{ op = \"randread\", bs = \"2M\", ops = 9000, iodepth = 4096, {ring} }}"),
        ),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:11:38: 16 threads, and one of them has nothing to do
      its directories would be empty; use fewer threads, more files, fewer directories, or sharing = "shared"
    t.toml:10:41: 8 threads, and one of them has nothing to do
      its files would be empty or have too few calls; use fewer threads or larger files
    t.toml:12:11: iodepth 25, and "create" has 24 ops
      use a smaller iodepth, or more ops
    t.toml:10:63: iodepth 21, and a thread of "randread" has 20 ops
      use a smaller iodepth, or more ops
    t.toml:10:6: 5 threads × iodepth 1 × 1 GiB are 5 GiB of buffers
      use a smaller bs or iodepth, or fewer threads: up to 4 GiB in all
    t.toml:10:35: 1 thread × iodepth 4096 × 2 MiB are 8 GiB of buffers
      use a smaller bs or iodepth, or fewer threads: up to 4 GiB in all
    "#);
    let room = "{ op = \"create\", threads = 4, backend = \"io_uring\", iodepth = 4 }";
    assert_eq!(plan(&mix(SMALL, room)).map(|_| ()), Ok(()), "calls are no larger than files");
    assert_eq!(plan(&mix(few, "{ op = \"create\", threads = 3 }")).map(|_| ()), Ok(()));
}

#[test]
fn of_fsync_and_random_ops() {
    let drawn = "files = 10\nsize = { uniform = { min = 0, max = 4096 } }";
    let text = all(&[
        mix(SMALL, "\"create\", { op = \"read\", fsync = \"op\" }"),
        mix(SMALL, "\"create\", { op = \"stat\", fsync = \"end\" }"),
        mix(SMALL, "\"create\", { op = \"list\", fsync = \"dir\" }"),
        mix(SMALL, "\"create\", { op = \"rename\", fsync = \"file\" }"),
        mix(SMALL, "\"create\", { op = \"delete\", fsync = \"dsync\" }"),
        mix(BIG, "{ op = \"randwrite\", fsync = \"dir\" }"),
        mix(&format!("{SMALL}\nfsync = \"file\""), "\"read\", \"delete\""),
        mix(SMALL, "{ op = \"create\", fsync = \"always\" }"),
        mix(BIG, "{ op = \"randread\", rwmixread = 70 }"),
        mix(&format!("{BIG}\nrwmixread = 70"), "\"randread\""),
        mix(BIG, "{ op = \"randrw\", rwmixread = 101 }"),
        mix(BIG, "{ op = \"big-read\", ops = 10 }"),
        mix(&format!("{SMALL}\nops = 10"), "\"create\""),
        mix(drawn, "\"randread\""),
        mix(SMALL, "{ op = \"randread\", bs = \"8K\" }"),
        mix(&format!("{SMALL}\nbs = \"8K\""), "\"randread\""),
        mix("files = 100_000\nsize = \"4K\"", "{ op = \"randread\", threads = 4 }"),
        mix(BIG, "{ op = \"randread\", order = \"random\" }"),
        mix(BIG, "\"randread-random\""),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:11:44: fsync with `read`, which changes nothing
      leave it out
    t.toml:11:44: fsync with `stat`, which changes nothing
      leave it out
    t.toml:11:44: fsync with `list`, which changes nothing
      leave it out
    t.toml:11:46: fsync = "file" with `rename`: it writes no contents
      use "op" or "dir"
    t.toml:11:46: fsync = "dsync" with `delete`: it writes no contents
      use "op" or "dir"
    t.toml:10:39: fsync = "dir" with `randwrite`: it makes no entries
      use "op" or "file"
    t.toml:11:9: no phase can take `fsync`
      op and end are for phases that change something, file for those that change a file, dsync for those that write contents, dir for those that make or remove entries
    t.toml:11:36: unknown fsync policy "always"
      known: none, op, file, dir, end, dsync
    t.toml:10:42: rwmixread with `randread`, which does not mix reads and writes
      leave it out, or use randrw
    t.toml:10:13: no phase can take `rwmixread`
      it is for randrw
    t.toml:10:40: `workload.phases.rwmixread` is 101
      it has to be from 0 to 100
    t.toml:10:36: ops with `big-read`: the dataset says how many there are
      leave it out; it is for randread and the like
    t.toml:11:7: no phase can take `ops`
      it is for randread, randwrite, randrw and randtrim
    t.toml:10:11: `randread` over files of different sizes
      give all files one size
    t.toml:11:35: blocks of 8 KiB in files of 4 KiB: there is no whole one
      use a smaller bs, or larger files
    t.toml:11:6: blocks of 8 KiB in files of 4 KiB: there is no whole one
      use a smaller bs, or larger files
    t.toml:10:11: `randread` would keep 400000 files open: each thread all of them
      use fewer and larger files, or fewer threads
    t.toml:10:38: `randread` is in random order by itself
      leave `order` out
    t.toml:10:11: unknown phase "randread-random"
      did you mean "read-random"?
    "#);
}

#[test]
fn of_sequences() {
    let text = all(&[
        mix(SMALL, "\"create\", \"mkdir\""),
        mix(SMALL, "\"mkdir\", \"read\""),
        mix(SMALL, "\"create\", \"rmdir\""),
        mix(SMALL, "\"create\", \"delete\", \"list\""),
        mix(SMALL, "\"create\", \"delete\", \"rmdir\", \"mkdir\""),
        mix(SMALL, "\"list\", \"create\""),
        mix("files = 10\nsize = 1", "\"mkdir\", \"create\""),
        mix("files = 10\nsize = 1", "\"create\", \"delete\", \"rmdir\""),
        mix("dirs = 10", "\"mkdir\", \"create\", \"rmdir\""),
        mix("dirs = 10", "\"mkdir\", \"mkdir\""),
        mix("size = 1", "\"mkdir\""),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:11:21: phase "mkdir" would make directories that are there already
      begin with it, or leave it out
    t.toml:11:20: phase "read" needs files, and "mkdir" makes none
      put `create` before it
    t.toml:11:21: phase "rmdir" would find files in the directories
      put a deletion before it
    t.toml:11:31: phase "list" comes after "delete", which deletes the files
      put the deletion last
    t.toml:11:40: phase "mkdir" comes after "rmdir", which ends the dataset
      put it last
    t.toml:11:19: phase "create" would create files that are there already
      begin with it, or leave it out: files that a first phase needs are made for it
    t.toml:10:11: phase "mkdir" has no directories
      add dirs = 100
    t.toml:10:31: phase "rmdir" has no directories
      add dirs = 100
    t.toml:9:30: phase "rmdir" would find files in the directories
      put a deletion before it
    t.toml:9:20: phase "mkdir" would make directories that are there already
      begin with it, or leave it out
    t.toml:6:1: `files` is missing in [workload]
      add files = 10_000
    "#);
    for good in [
        "\"mkdir\", \"list\", \"create\", { name = \"list-again\", op = \"list\" }",
        "\"mkdir\", \"create\", \"append\", \"overwrite\", \"rename\", \"delete\", \"rmdir\"",
        "\"rename\", { name = \"back\", op = \"rename\" }, \"read\"",
        "\"rmdir\"",
    ] {
        assert_eq!(plan(&mix(SMALL, good)).map(|_| ()), Ok(()), "{good}");
    }
    let dirs = "\"mkdir\", \"list\", \"rmdir\"";
    assert_eq!(plan(&mix("dirs = 10\ndepth = 3", dirs)).map(|_| ()), Ok(()), "no files at all");
}

#[test]
fn of_fio() {
    let jobs = "[a]\nrw=read\nsize=1m\n";
    let fio = |keys: &str| workload(&format!("name = \"w\"\n{keys}"));
    let text = all(&[
        fio(&format!("fio = \"\"\"\n{jobs}\"\"\"\nfiles = 5")),
        fio(&format!("fio = \"\"\"\n{jobs}\"\"\"\nfio_file = \"x.fio\"")),
        fio("fio_file = \"x.fio\""),
        fio("fio = 5"),
        fio("fio = \"\"\"\n[a]\nrw=read\nsize=1m\nfilename=/dev/sda\n\"\"\""),
        fio("fio = \"\"\"\n[a]\nrw=read\n\"\"\""),
        fio("fio = \"\""),
        workload("fio = \"[a]\""),
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:13:1: `files` in a workload that fio does
      say it in the job file
    t.toml:13:12: `fio` and `fio_file` both give the jobs
      keep one of them
    t.toml:8:12: "x.fio" is another file, and only this one is read
      write its text here: fio = """…"""
    t.toml:8:7: `workload.fio` is a number, but has to be text
      write it like """…"""
    t.toml:8:7: line 4 of the job file: filename=/dev/sda names a device or path outside the trial
      write a name relative to the file system under test, such as data.0
    t.toml:8:7: line 1 of the job file: [a] does not say how much it works on
      add size=, such as size=256m
    t.toml:8:7: line 1 of the job file: there is no job
      add a section such as [randread] with rw=, bs= and size=
    t.toml:6:1: `name` is missing in [workload]
      add a name of its own: name = "my-files"
    "#);
}

#[test]
fn of_what_a_device_cannot_take() {
    let on = |device: &str, set: &str, phases: &str| {
        mix(set, phases).replace("\"loop:2G\"", &format!("\"{device}\""))
    };
    let direct = "{ op = \"randread\", direct = true, bs = 512 }";
    let path = format!("/{}", "x".repeat(3800));
    let nested = "files = 1\nsize = 1\ndirs = 1\ndepth = 40";
    let text = [
        error(&on("/dev/vdb", BIG, direct)),
        error(&on(&path, nested, "\"create\"").replace("\"ext4\"", "\"directory\"")),
    ];
    let text = text.join("\n").replace(&path, "/x…");
    insta::assert_snapshot!(text, @r#"
    t.toml:5:10: phase "randread" of "w" makes direct calls that are no multiples of the sector of /dev/vdb, 4096 B
      use a bs and sizes that are multiples of 4096
    t.toml:5:10: paths of "w" in /x… would be longer than 4096 bytes
      use a shorter directory, less depth, or a shorter name_length
    "#);
    assert_eq!(plan(&on("loop:2G", BIG, direct)).map(|_| ()), Ok(()), "not known there");
}

//! How long a phase of a job file takes, as far as the file itself says.
//!
//! What ends by the clock (`runtime`, `time_based`) and what is slowed down (`rate`, `rate_iops`,
//! `thinktime`) takes a time that no file system changes; what is left takes as long as the work
//! does, and [`PhaseLength`] has the work alone. Jobs of a phase run at once, and so do the clones
//! of `numjobs`: the longest of them counts, and their work adds up.

use crate::fio::amount_bytes;
use crate::fio::job::{Job, JobFile};
use crate::fio::{KbBase, high_bytes};
use std::collections::BTreeMap;

/// fio's own block size.
const DEFAULT_BS_BYTES: u64 = 4096;

/// What a job file says of the length of a phase.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PhaseLength {
    /// The phase takes no less, ns: runtimes, delays, rates, waiting between calls.
    pub least_ns: f64,
    /// And no more, however slow its work is, ns; absent: until the work is done.
    pub most_ns: Option<f64>,
    /// Bytes that its jobs move in all, where no clock ends them.
    pub bytes: f64,
    /// Calls for them.
    pub calls: f64,
    /// Of these, calls that are not in the order of the file.
    pub random_calls: f64,
}

/// The same of one job, from its own start.
#[derive(Clone, Copy, Default)]
struct JobLength {
    least_ns: f64,
    most_ns: Option<f64>,
}

/// Bytes and calls of one clone.
#[derive(Clone, Copy, Default)]
struct Work {
    bytes: f64,
    calls: f64,
}

impl JobFile {
    /// What the file says of the length of the phase called `name`; with `lay_out` of making its
    /// files, which takes as long as the work does.
    #[must_use]
    pub fn length(&self, name: &str, lay_out: bool) -> Option<PhaseLength> {
        let phase = self.phases().iter().find(|phase| phase.name == name)?;
        let sections = if lay_out { &phase.lay_out } else { &phase.sections };
        let jobs: Vec<&Job> = sections.iter().filter_map(|section| self.job(section)).collect();
        if lay_out {
            let bytes: f64 = jobs.iter().map(|job| clones(job) * laid_out_bytes(job)).sum();
            return Some(PhaseLength { bytes, ..PhaseLength::default() });
        }
        let mut all = PhaseLength::default();
        // The ends of jobs, for those that wait for them.
        let mut ends: BTreeMap<&str, JobLength> = BTreeMap::new();
        for job in &jobs {
            let work = work(job);
            let own = job_length(job, work);
            let before = job.value("wait_for").and_then(|name| ends.get(name)).copied();
            let end = after(before, own);
            if own.most_ns.is_none() {
                all.bytes += clones(job) * work.bytes;
                all.calls += clones(job) * work.calls;
                let is_random = job.value("rw").is_some_and(|rw| rw.starts_with("rand"));
                all.random_calls += if is_random { clones(job) * work.calls } else { 0.0 };
            }
            ends.insert(&job.name, end);
        }
        // With exitall the first job that ends takes the others with it.
        let leaves = jobs.iter().any(|job| job.is_on("exitall"));
        let longest = |so_far: f64, end: f64| so_far.max(end);
        let shortest = |so_far: f64, end: f64| so_far.min(end);
        let least = ends.values().map(|end| end.least_ns);
        let most = ends.values().map(|end| end.most_ns.unwrap_or(f64::INFINITY));
        let (least_ns, most_ns) = match leaves {
            true => (least.fold(f64::INFINITY, shortest), most.fold(f64::INFINITY, shortest)),
            false => (least.fold(0.0, longest), most.fold(0.0, longest)),
        };
        let most_ns = Some(most_ns).filter(|ns| ns.is_finite());
        Some(PhaseLength { least_ns, most_ns, ..all })
    }
}

/// A job that begins when the one before it has ended.
fn after(before: Option<JobLength>, own: JobLength) -> JobLength {
    let Some(before) = before else { return own };
    JobLength {
        least_ns: before.least_ns + own.least_ns,
        most_ns: before.most_ns.zip(own.most_ns).map(|(a, b)| a + b),
    }
}

fn clones(job: &Job) -> f64 {
    job.number("numjobs", 1).unwrap_or(1).max(1) as f64
}

/// Length of a job whose work takes no time by itself, and at most.
fn job_length(job: &Job, work: Work) -> JobLength {
    let time = |key: &str| job.value(key).and_then(|text| time_ns(text, "s")).unwrap_or(0.0);
    // A range of delays is drawn from: its larger end is what can come.
    let delay_ns = time("startdelay");
    let runtime_ns = time("runtime");
    let slowed_ns = slowed_ns(job, work);
    if runtime_ns == 0.0 {
        return JobLength { least_ns: delay_ns + slowed_ns, most_ns: None };
    }
    // The clock of the runtime starts after the ramp.
    let most_ns = delay_ns + time("ramp_time") + runtime_ns;
    let steady_ns = job
        .get("steadystate")
        .map(|_| delay_ns + time("steadystate_ramp_time") + time("steadystate_duration"));
    let least_ns = match (job.is_on("time_based"), steady_ns) {
        (true, None) => most_ns,
        (true, Some(steady_ns)) => steady_ns.min(most_ns),
        (false, _) => (delay_ns + slowed_ns).min(most_ns),
    };
    JobLength { least_ns, most_ns: Some(most_ns) }
}

/// Time that a job is made to take by its rates and by waiting between its calls, ns.
fn slowed_ns(job: &Job, work: Work) -> f64 {
    let base = job.kb_base();
    let bytes = |text: &str| amount_bytes(text, base).map(|bytes| bytes as f64);
    let calls = |text: &str| amount_bytes(text, KbBase::K1000).map(|calls| calls as f64);
    let shares = shares(job);
    let by_rate = |key: &str, amount: f64, parse: &dyn Fn(&str) -> Option<f64>| {
        let Some(text) = job.value(key) else { return 0.0 };
        let rates: Vec<Option<f64>> = text.split(',').map(|one| parse(one.trim())).collect();
        let of = |at: usize| match rates.get(at) {
            // What is not given is as the one before it; what is left empty has no rate.
            None => rates.last().copied().flatten(),
            Some(rate) => *rate,
        };
        let each = shares.iter().enumerate().map(|(at, share)| match of(at) {
            Some(rate) if rate > 0.0 => amount * share * 1e9 / rate,
            _ => 0.0,
        });
        each.fold(0.0, f64::max)
    };
    let rate_ns = by_rate("rate", work.bytes, &bytes);
    let iops_ns = by_rate("rate_iops", work.calls, &calls);
    let think_ns = job.value("thinktime").and_then(|text| time_ns(text, "us")).unwrap_or(0.0);
    let blocks = job.number("thinktime_blocks", 1).unwrap_or(1).max(1) as f64;
    rate_ns.max(iops_ns).max((work.calls / blocks).floor() * think_ns)
}

/// Shares of reads, writes and trims.
fn shares(job: &Job) -> [f64; 3] {
    match job.value("rw").unwrap_or("read").split(':').next().unwrap_or("") {
        "write" | "randwrite" => [0.0, 1.0, 0.0],
        "trim" | "randtrim" => [0.0, 0.0, 1.0],
        "rw" | "readwrite" | "randrw" => {
            let reads = job.number("rwmixread", 50).unwrap_or(50).min(100);
            let writes = job.number("rwmixwrite", 100 - reads).unwrap_or(50).min(100);
            [1.0 - writes as f64 / 100.0, writes as f64 / 100.0, 0.0]
        }
        "trimwrite" | "randtrimwrite" => [0.0, 1.0, 1.0],
        _ => [1.0, 0.0, 0.0],
    }
}

/// Bytes of the files of one clone.
fn laid_out_bytes(job: &Job) -> f64 {
    let base = job.kb_base();
    let amount = |key: &str| job.value(key).and_then(|text| high_bytes(text, base));
    let files = match job.value("filename") {
        Some(names) => names.split(':').count() as u64,
        None => job.number("nrfiles", 1).unwrap_or(1).max(1),
    };
    let by_file = amount("filesize").map(|each| each.saturating_mul(files));
    amount("size").or(by_file).unwrap_or(0) as f64
}

/// Bytes and calls of one clone of a job.
fn work(job: &Job) -> Work {
    let base = job.kb_base();
    let amount = |key: &str| job.value(key).and_then(|text| high_bytes(text, base));
    let bs = amount_of_first(job.value("bs"), base).or(amount("bsrange"));
    let bs_bytes = bs.unwrap_or(DEFAULT_BS_BYTES).max(1) as f64;
    let loops = job.number("loops", 1).unwrap_or(1).max(1) as f64;
    let bytes = amount("io_size").map_or_else(|| laid_out_bytes(job), |bytes| bytes as f64);
    let mut calls = (bytes / bs_bytes).ceil();
    if let Ok(most @ 1..) = job.number("number_ios", 0) {
        calls = calls.min(most as f64);
    }
    let bytes = bytes.min(calls * bs_bytes);
    Work { bytes: bytes * loops, calls: calls * loops }
}

/// The first of `4k,64k`: block sizes of reads, writes and trims.
fn amount_of_first(text: Option<&str>, base: KbBase) -> Option<u64> {
    amount_bytes(text?.split(',').next()?, base)
}

/// A time as fio reads it, ns: a number with `d`, `h`, `m`, `s`, `ms` or `us`, without one in
/// `unit`. Of a range (`5-10`) the larger end.
fn time_ns(text: &str, unit: &str) -> Option<f64> {
    let one = |part: &str| {
        let part = part.trim().to_ascii_lowercase();
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let (digits, own) = part.split_at(end);
        let factor = match if own.is_empty() { unit } else { own.trim() } {
            "us" | "usec" => 1e3,
            "ms" | "msec" => 1e6,
            "s" | "sec" => 1e9,
            "m" => 60e9,
            "h" => 3600e9,
            "d" => 86_400e9,
            _ => return None,
        };
        digits.parse::<f64>().ok().map(|number| number * factor)
    };
    text.split('-').map(one).try_fold(0.0, |most: f64, part| Some(most.max(part?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> (f64, Option<f64>) {
        let file = JobFile::parse(text, "x.fio").unwrap_or_else(|error| panic!("{error}"));
        let name = file.phases()[0].name.clone();
        let length = file.length(&name, false).expect("the phase is there");
        (length.least_ns / 1e9, length.most_ns.map(|ns| ns / 1e9))
    }

    #[test]
    fn what_ends_by_the_clock_takes_that_time() {
        let exact = |s: f64| (s, Some(s));
        for (text, expected) in [
            ("[a]\nsize=8m\ntime_based\nruntime=100\n", exact(100.0)),
            ("[a]\nsize=8m\ntime_based=1\nruntime=1h\n", exact(3600.0)),
            ("[a]\nsize=8m\ntime_based\nruntime=2m\n", exact(120.0)),
            ("[a]\nsize=8m\ntime_based\nruntime=1500ms\n", exact(1.5)),
            ("[a]\nsize=8m\ntime_based\nruntime=2500000us\n", exact(2.5)),
            ("[a]\nsize=8m\ntime_based\nruntime=1d\n", exact(86_400.0)),
            ("[a]\nsize=8m\ntime_based\ntimeout=5\n", exact(5.0)),
            ("[a]\nsize=8m\ntime_based\nruntime=5\nramp_time=2\n", exact(7.0)),
            ("[a]\nsize=8m\ntime_based\nruntime=5\nstartdelay=1-3\n", exact(8.0)),
            ("[a]\nsize=8m\ntime_based\nruntime=5\nnumjobs=4\n", exact(5.0)),
            ("[a]\nsize=8m\ntime_based\nruntime=5\nloops=9\n", exact(5.0)),
            ("[global]\nsize=1m\ntime_based\nruntime=4\n[a]\n[b]\nruntime=9\n", exact(9.0)),
            (
                "[global]\nsize=1m\ntime_based\nexitall\nruntime=4\n[a]\n[b]\nruntime=9\n",
                exact(4.0),
            ),
            ("[a]\nsize=8m\nruntime=100\n", (0.0, Some(100.0))),
            ("[a]\nsize=8m\ntime_based=0\nruntime=100\n", (0.0, Some(100.0))),
            ("[a]\nsize=8m\n", (0.0, None)),
            ("[a]\nsize=1m\nruntime=3\ntime_based\n[b]\nsize=1m\n", (3.0, None)),
            (
                "[a]\nsize=1m\ntime_based\nruntime=9\nsteadystate=iops:1%\nss_dur=2\nss_ramp=1\n",
                (3.0, Some(9.0)),
            ),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_slowed_down_takes_its_work_over_the_rate() {
        for (text, least_s) in [
            ("[a]\nrw=randwrite\nbs=4k\nsize=2m\nrate_iops=200\n", 2.56),
            ("[a]\nrw=write\nsize=8m\nrate=1m\n", 8.0),
            ("[a]\nrw=write\nsize=8m\nrate=1m\nloops=2\n", 16.0),
            ("[a]\nrw=write\nsize=8m\nrate=1m\nnumjobs=3\n", 8.0),
            ("[a]\nrw=write\nsize=8m\nrate=9m,2m\n", 4.0),
            ("[a]\nrw=read\nsize=8m\nrate=,2m\n", 0.0),
            ("[a]\nrw=rw\nsize=8m\nrwmixread=75\nrate=1m\n", 6.0),
            ("[a]\nrw=write\nsize=8m\nio_size=2m\nrate=1m\n", 2.0),
            ("[a]\nrw=write\nbs=1m\nsize=8m\nnumber_ios=3\nrate=1m\n", 3.0),
            ("[a]\nrw=write\nbs=1m\nsize=4m\nthinktime=500000\n", 2.0),
            ("[a]\nrw=write\nbs=1m\nsize=4m\nthinktime=1s\nthinktime_blocks=2\n", 2.0),
            ("[a]\nrw=write\nsize=1m\nstartdelay=5\n", 5.0),
        ] {
            assert_eq!(seconds(text), (least_s, None), "{text}");
        }
        let cut = "[a]\nrw=write\nsize=8m\nrate=1m\nruntime=3\n";
        assert_eq!(seconds(cut), (3.0, Some(3.0)), "the clock ends it before its work");
        let chain = "[a]\nsize=1m\ntime_based\nruntime=2\n[b]\nsize=1m\ntime_based\nruntime=9\n\
                     [c]\nsize=1m\ntime_based\nruntime=8\nwait_for=a\n";
        assert_eq!(seconds(chain), (10.0, Some(10.0)));
    }

    #[test]
    fn work_is_what_no_clock_ends() {
        let text = "[a]\nrw=randread\nbs=4k\nsize=1m\nnumjobs=2\n[b]\nrw=write\nbs=64k\nsize=1m\n\
                    [c]\nsize=9m\nruntime=5\n";
        let file = JobFile::parse(text, "x.fio").unwrap();
        let length = file.length("a", false).unwrap();
        assert_eq!((length.bytes, length.calls, length.random_calls), (3_145_728.0, 528.0, 512.0));
        assert_eq!(file.length("a", true).unwrap().bytes, (11 << 20) as f64, "a twice, and c");
        assert!(file.length("b", false).is_none(), "it is no phase of its own");
    }
}

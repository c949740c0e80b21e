//! What fio gets: a job file of one phase, written anew, and arguments; and the scaled text.
//!
//! Nothing of the original text reaches fio unread: each line is `key=value` as it was understood.
//! What is set here: `randseed` (derived from the seed of the RUN, unless the job has one, so that
//! the same trial takes the same random order again), `disk_util=0` and `verify_state_save=0`; for
//! a lay-out `create_only=1`. The job file goes to fio's standard input, and fio runs with the root
//! of the trial as its working directory, so that every name in it is relative.

use crate::fio::amount_bytes;
use crate::fio::job::{Job, JobFile};
use crate::fio::paths::{DEFAULT_FORMAT, below};
use crate::fio::refused;
use crate::fio::syntax::{self, FioError};

/// Smallest amount that scaling leaves, and the grain of scaled amounts.
const GRAIN_BYTES: u64 = 4096;

/// A phase as fio gets it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PhaseRun {
    /// For fio's standard input.
    pub job_file: String,
    /// Arguments of fio, without its own name.
    pub args: Vec<String>,
    /// Arguments to have the same text parsed and nothing done.
    pub check_args: Vec<String>,
    /// The seed that was set where a job has none.
    pub randseed: u64,
    /// Whether all jobs start at once, so that the longest by fio's clock is the whole phase.
    pub starts_at_once: bool,
}

impl JobFile {
    /// The phase called `name`; with `lay_out` only its files are made. `None` where there is no
    /// such phase, or nothing to lay out.
    #[must_use]
    pub fn for_phase(&self, name: &str, lay_out: bool, seed: u64) -> Option<PhaseRun> {
        let phase = self.phases().iter().find(|phase| phase.name == name)?;
        let sections = if lay_out { &phase.lay_out } else { &phase.sections };
        // fio takes 63 bits; 0 would be its own default of the same name.
        let randseed = (seed >> 33) | 1;
        let mut job_file = String::new();
        for section in sections {
            write_job(&mut job_file, self.job(section)?, sections, lay_out, randseed);
        }
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let starts_at_once = sections
            .iter()
            .filter_map(|section| self.job(section))
            .all(|job| !job.is_on("startdelay") && !waits_within(job, sections));
        (!sections.is_empty()).then(|| PhaseRun {
            job_file,
            starts_at_once,
            args: words(&["--output-format=json+", "--eta=never", "-"]),
            check_args: words(&["--parse-only", "-"]),
            randseed,
        })
    }

    /// The same job file with `factor` times the work.
    ///
    /// `size`, `io_size` and `number_ios` are multiplied; `nrfiles` too, so that the size of a
    /// small file stays; `filesize` only where no job has several files. Amounts are rounded to
    /// 4096 bytes and never become 0. `runtime` stays: it is a time.
    ///
    /// # Errors
    /// Where one of these is not a plain number (a share, an expression).
    ///
    /// # Panics
    /// When `factor` is not above 0.
    pub fn scaled(&self, factor: f64) -> Result<Self, FioError> {
        assert!(factor > 0.0 && factor.is_finite(), "work is scaled by a factor above 0");
        let many_files = self.jobs.iter().any(|job| job.number("nrfiles", 1).is_ok_and(|n| n > 1));
        let mut lines: Vec<String> = self.text.lines().map(str::to_owned).collect();
        for setting in self.jobs.iter().flat_map(|job| {
            let base = job.kb_base();
            job.settings.iter().map(move |setting| (setting, base))
        }) {
            let (setting, base) = setting;
            let grain = match setting.key.as_str() {
                "size" | "io_size" => GRAIN_BYTES,
                "filesize" if !many_files => GRAIN_BYTES,
                "number_ios" | "nrfiles" => 1,
                _ => continue,
            };
            let parts = setting.value().split('-').map(|part| amount_bytes(part, base));
            let Some(parts) = parts.collect::<Option<Vec<u64>>>() else {
                let what = format!("{}={} cannot be scaled", setting.key, setting.value());
                let remedy = "write a plain number, or leave --scale out".to_owned();
                let (file, line) = (self.file.clone(), setting.line);
                return Err(FioError { file, line, what, remedy });
            };
            let parts = parts.into_iter().map(|part| times(part, factor, grain).to_string());
            let line = &mut lines[setting.line - 1];
            let value = parts.collect::<Vec<_>>().join("-");
            let comment = line[syntax::bare(line).len()..].find([';', '#']).is_some();
            let tail = if comment { "  ; scaled" } else { "" };
            *line = format!("{}={value}{tail}", setting.key);
        }
        Self::parse(&(lines.join("\n") + "\n"), &self.file)
    }
}

/// `value × factor` in whole grains, at least one, but never more than an unscaled small value.
fn times(value: u64, factor: f64, grain: u64) -> u64 {
    let grain = grain.min(value.max(1));
    let grains = (value as f64 * factor / grain as f64).round();
    (grains as u64).max(1).saturating_mul(grain)
}

/// Whether a job waits for another one of the same phase; one of an earlier phase has ended.
fn waits_within(job: &Job, sections: &[String]) -> bool {
    job.value("wait_for").is_some_and(|name| sections.iter().any(|section| section == name))
}

fn write_job(text: &mut String, job: &Job, sections: &[String], lay_out: bool, randseed: u64) {
    let mut line = |words: &str| {
        text.push_str(words);
        text.push('\n');
    };
    line(&format!("[{}]", job.name));
    line(&place(job));
    for setting in &job.settings {
        match setting.key.as_str() {
            "stonewall" | "directory" | "filename" | "filename_format" => {}
            "wait_for" if !waits_within(job, sections) => {}
            "startdelay" | "pre_read" if lay_out => {}
            key if refused::left_out(key).is_some() => {}
            key => line(&match &setting.value {
                Some(value) => format!("{key}={value}"),
                None => key.to_owned(),
            }),
        }
    }
    if job.get("randseed").is_none() {
        line(&format!("randseed={randseed}"));
    }
    line("disk_util=0");
    line("verify_state_save=0");
    if lay_out {
        line("create_only=1");
    }
}

/// Where its files lie, as one line.
fn place(job: &Job) -> String {
    let directory = job.value("directory");
    match job.value("filename") {
        Some(list) => {
            let list: Vec<_> = list.split(':').map(|name| below(directory, name)).collect();
            format!("filename={}", list.join(":"))
        }
        None => {
            let format = job.value("filename_format").unwrap_or(DEFAULT_FORMAT);
            format!("filename_format={}", below(directory, format))
        }
    }
}

/// The major version in fio's `fio-3.33`; before 3 its latencies were not in nanoseconds.
#[must_use]
pub fn version_of(line: &str) -> Option<u32> {
    line.trim().strip_prefix("fio-")?.split(['.', '-']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> JobFile {
        JobFile::parse(text, "x.fio").unwrap_or_else(|error| panic!("{error}"))
    }

    const SEED: u64 = 7 << 33;

    #[test]
    fn a_phase_is_written_anew() {
        let file = parse(
            "[global]\ndirectory=d\nsize = 1m ; c\nrandrepeat=0\nwrite_bw_log\n[w]\nrw=write\n\
             thread\n[r]\nstonewall\nfilename=x:y\nrandseed=3\nwait_for=w\nstartdelay=1\n",
        );
        let run = file.for_phase("w", false, SEED).expect("a phase");
        assert_eq!(
            run.job_file,
            "[w]\nfilename_format=d/$jobname.$jobnum.$filenum\nsize=1m\nrw=write\nthread\n\
             randseed=7\ndisk_util=0\nverify_state_save=0\n"
        );
        assert_eq!(run.args, ["--output-format=json+", "--eta=never", "-"]);
        let run = file.for_phase("r", true, SEED).expect("a lay-out");
        assert_eq!(
            run.job_file,
            "[r]\nfilename=d/x:d/y\nsize=1m\nrandseed=3\ndisk_util=0\nverify_state_save=0\n\
             create_only=1\n"
        );
        assert_eq!(file.for_phase("w", true, SEED), None, "it makes its files itself");
        assert_eq!(file.for_phase("x", false, SEED), None);
    }

    #[test]
    fn a_phase_of_several_jobs_keeps_their_waiting() {
        let file = parse("[a]\nsize=1m\n[b]\nsize=1m\n[c]\nwait_for=a\nsize=1m\n");
        let run = file.for_phase("a", false, SEED).expect("a phase");
        assert_eq!(run.job_file.matches('[').count(), 3);
        assert!(run.job_file.contains("wait_for=a\n"));
    }

    #[test]
    fn jobs_that_start_at_different_times_are_known() {
        let at_once = |text: &str, phase: &str| {
            let run = parse(text).for_phase(phase, false, SEED).expect("a phase");
            run.starts_at_once
        };
        assert!(at_once("[a]\nnumjobs=2\n[b]\nstartdelay=0\n", "a"));
        assert!(!at_once("[a]\nstartdelay=2\n", "a"));
        assert!(!at_once("[a]\n[b]\nstartdelay=100ms\n", "a"));
        assert!(!at_once("[a]\n[b]\n[c]\nwait_for=a\n", "a"));
        assert!(at_once("[a]\n[b]\nwait_for=a\n", "b"), "a has ended before");
    }

    #[test]
    fn words_for_people_never_reach_fio() {
        let file = parse("[a]\nsize=1m\ndescription=$ncpus' | id '\n");
        let run = file.for_phase("a", false, SEED).expect("a phase");
        assert!(!run.job_file.contains("ncpus"), "{}", run.job_file);
    }

    #[test]
    fn the_name_of_a_job_may_have_dots() {
        let file = parse("[a..]\nsize=1m\n");
        let run = file.for_phase("a..", false, SEED).expect("a phase");
        assert!(run.job_file.starts_with("[a..]\nfilename_format=$jobname.$jobnum.$filenum\n"));
        let files: Vec<String> = file.job("a..").expect("it").files().into_iter().collect();
        assert_eq!(files, ["a...0.0"]);
        for text in ["[..]\nfilename_format=$jobname\n", "[..]\nfilename_format=$jobname/x\n"] {
            JobFile::parse(text, "x.fio").expect_err("it would leave the root");
        }
    }

    #[test]
    fn what_is_written_is_read_again_as_the_same() {
        let file = parse("[a]\nsize=1m\ndirectory=q\nfilename=b\nnumjobs=2\n");
        let run = file.for_phase("a", false, SEED).expect("a phase");
        let again = parse(&run.job_file);
        assert_eq!(again.needed_bytes(), file.needed_bytes());
        assert_eq!(again.for_phase("a", false, SEED).map(|run| run.job_file), Some(run.job_file));
    }

    #[test]
    fn work_is_scaled_and_files_keep_their_size() {
        let text = "[global]\nsize=8m   ; whole\nbs=4k\n[a]\nio_size=1g\nnumber_ios=1000\n\
                    runtime=30\n[b]\nnrfiles=100\nfilesize=4k-64k\nsize=1k\n";
        let scaled = parse(text).scaled(0.1).expect("plain numbers");
        assert_eq!(
            scaled.text(),
            "[global]\nsize=839680  ; scaled\nbs=4k\n[a]\nio_size=107374182\nnumber_ios=100\n\
             runtime=30\n[b]\nnrfiles=10\nfilesize=4k-64k\nsize=1024\n"
                .replace("107374182", "107372544")
        );
        let one = parse("[a]\nfilesize=1m\n").scaled(2.0).expect("plain numbers");
        assert_eq!(one.text(), "[a]\nfilesize=2097152\n");
        let error = parse("[a]\nsize=10%\n").scaled(0.5).expect_err("a share");
        assert!(error.to_string().starts_with("x.fio:2: size=10% cannot be scaled"), "{error}");
        assert_eq!(times(1, 1e-9, 1), 1);
        assert_eq!(times(100, 3.0, GRAIN_BYTES), 300);
    }

    proptest! {
        /// Whatever is accepted, what fio gets of it says the same, and stays below the root.
        #[test]
        fn nothing_outside_the_root_is_ever_written(
            lines in proptest::collection::vec(
                (
                    "\\[[a-c./-]{1,3}\\]|filename|directory|filename_format|size|mem|rw|\
                     ioengine|buffer_pattern|stonewall|wait_for|exec_prerun|made_up|include",
                    "=? ?(/dev/sda|\\.\\.|[a-c:/.$ ;#\\\\-]{0,6}|read|write|sync|1m|\\$jobnum)",
                ),
                0..8,
            ),
        ) {
            let text: String = lines
                .iter()
                .map(|(key, value)| {
                    let value = if key.starts_with('[') { "" } else { value };
                    format!("{key}{value}\n")
                })
                .collect();
            let Ok(file) = JobFile::parse(&text, "x.fio") else { return Ok(()) };
            for phase in file.phases() {
                let run = file.for_phase(&phase.name, false, SEED).expect("a phase of its own");
                let again = JobFile::parse(&run.job_file, "again");
                let again = again.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
                prop_assert_eq!(&again.phases()[0].sections, &phase.sections);
                for line in run.job_file.lines().filter(|line| !line.starts_with('[')) {
                    let value = line.split_once('=').map_or("", |(_, value)| value);
                    // `a..` is no step upwards: a name, or a word that fio itself refuses.
                    let climbs = line.split(['=', '/', ':', ' ']).any(|step| step == "..");
                    prop_assert!(!climbs && !line.contains("/dev/"), "{}", line);
                    let outside = |name: &str| name.starts_with('/') || name == "-";
                    prop_assert!(!value.split(':').any(outside), "{}", line);
                }
                for job in &phase.sections {
                    let files = |file: &JobFile| file.job(job).map(Job::files);
                    let made = files(&file).unwrap_or_default();
                    let leaves = |name: &String| name.split('/').any(|step| step == "..");
                    prop_assert!(!made.iter().any(leaves), "{:?}", made);
                    prop_assert_eq!(files(&again), files(&file));
                }
            }
        }
    }

    #[test]
    fn versions() {
        assert_eq!(version_of("fio-3.33\n"), Some(3));
        assert_eq!(version_of("fio-3.41-12-gabc"), Some(3));
        assert_eq!(version_of("fio 2.0"), None);
    }
}

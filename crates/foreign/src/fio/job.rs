//! A whole job file: jobs with their globals, the phases they make, and what is to be said of them.
//!
//! **Phases.** A phase is what fio would run at one time: a job alone, or several jobs where
//! nothing (`stonewall`, `wait_for`) keeps them apart; it bears the name of its first job. Each
//! phase is a run of fio of its own, so that the cache can be made cold between phases and each has
//! its ledger. A job with `wait_for=X` begins a phase where X is all that is running; where others
//! run next to X, fio itself does the waiting within one phase.
//!
//! **Files laid out beforehand.** fio makes missing files at the start of a job, within the time of
//! the phase. Jobs that read (or write over) files which no earlier phase leaves behind are named
//! in [`JobPhase::lay_out`], so that their files can be made before the clock runs.

use crate::fio::KbBase;
use crate::fio::constraints;
use crate::fio::paths::{self, DEFAULT_FORMAT, below};
use crate::fio::refused;
use crate::fio::syntax::{self, Fault, FioError, Part, Setting};
use fsarena_model::record::Notice;
use fsarena_model::work::Constraints;
use std::collections::BTreeSet;

/// Most files of a job that are known one by one.
const MAX_NAMES: u64 = 10_000;

/// A job file that may run inside a trial.
#[derive(Clone, PartialEq, Debug)]
pub struct JobFile {
    pub(crate) file: String,
    pub(crate) text: String,
    pub(crate) jobs: Vec<Job>,
    phases: Vec<JobPhase>,
}

/// What fio runs at one time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobPhase {
    /// Name of its first job.
    pub name: String,
    pub sections: Vec<String>,
    /// Of these, the jobs whose files have to be there before; empty: nothing to lay out.
    pub lay_out: Vec<String>,
}

/// A job section with the settings of the globals before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) settings: Vec<Setting>,
}

impl Job {
    /// Merges: what the job says wins, but `filename` adds to the global one, as in fio.
    fn new(part: Part, globals: &[Setting]) -> Self {
        let Part { name, line, settings: own } = part;
        let mut settings = globals.to_vec();
        own.into_iter().for_each(|setting| set(&mut settings, setting));
        Self { name, line, settings }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key == key)
    }

    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        self.get(key).map(Setting::value)
    }

    pub(crate) fn is_on(&self, key: &str) -> bool {
        self.get(key).is_some_and(Setting::is_on)
    }

    pub(crate) fn kb_base(&self) -> KbBase {
        KbBase::read(self.value("kb_base"))
    }

    /// A whole number without a unit; absent: `default`.
    pub(crate) fn number(&self, key: &str, default: u64) -> Result<u64, Fault> {
        let Some(setting) = self.get(key) else { return Ok(default) };
        setting.value().parse().map_err(|_| {
            let what = format!("{key}={} is not a whole number", setting.value());
            Fault::new(setting.line, what, format!("write {key}=4, for example"))
        })
    }

    /// `read`, `randwrite`, … without the part after a colon.
    fn direction(&self) -> &str {
        self.value("rw").unwrap_or("read").split(':').next().unwrap_or("")
    }

    pub(crate) fn engine(&self) -> &str {
        self.value("ioengine").unwrap_or("psync")
    }

    /// Whether it works on no file at all.
    pub(crate) fn has_no_files(&self) -> bool {
        matches!(self.engine(), "null" | "cpuio")
    }

    fn makes_files(&self) -> bool {
        let kept = !self.is_on("unlink") && !matches!(self.engine(), "filedelete" | "dirdelete");
        kept && !self.has_no_files()
    }

    fn needs_files(&self) -> bool {
        let makes = matches!(self.engine(), "filecreate" | "dircreate");
        let reads = matches!(self.direction(), "read" | "randread" | "rw" | "readwrite" | "randrw");
        !self.has_no_files() && !makes && (reads || self.is_on("overwrite"))
    }

    /// Names of its files, directory included; where they are very many, one pattern with `*` for
    /// the numbers.
    pub(crate) fn files(&self) -> BTreeSet<String> {
        let directory = self.value("directory");
        if let Some(names) = self.value("filename") {
            return names.split(':').map(|name| below(directory, name)).collect();
        }
        let format = self.value("filename_format").unwrap_or(DEFAULT_FORMAT);
        let named = |clone: &str, file: &str| {
            let name = format.replace("$jobname", &self.name);
            below(directory, &name.replace("$jobnum", clone).replace("$filenum", file))
        };
        // A number that cannot be read is told by `needed_bytes`.
        let count = |key: &str| self.number(key, 1).unwrap_or(1).max(1);
        let (clones, files) = (count("numjobs"), count("nrfiles"));
        if clones.saturating_mul(files) > MAX_NAMES {
            return BTreeSet::from([named("*", "*")]);
        }
        let each = |clone| (0..files).map(move |file: u64| (clone, file));
        let numbers = (0..clones).flat_map(each);
        numbers.map(|(clone, file)| named(&clone.to_string(), &file.to_string())).collect()
    }
}

/// Sets a key; a second `filename` adds to the first.
fn set(settings: &mut Vec<Setting>, setting: Setting) {
    match settings.iter_mut().find(|known| known.key == setting.key) {
        Some(known) if setting.key == "filename" => {
            known.value = Some(format!("{}:{}", known.value(), setting.value()));
            known.line = setting.line;
        }
        Some(known) => *known = setting,
        None => settings.push(setting),
    }
}

impl JobFile {
    /// Reads and checks a job file; `file` is its name in messages.
    ///
    /// ```
    /// use fsarena_foreign::fio::JobFile;
    ///
    /// let jobs = JobFile::parse("[global]\nsize=1m\n[seq]\nrw=read\n", "jobs.fio")?;
    /// assert_eq!(jobs.phases()[0].name, "seq");
    ///
    /// let error = JobFile::parse("[x]\nfilename=/dev/sda\n", "jobs.fio").unwrap_err();
    /// assert!(error.to_string().starts_with("jobs.fio:2:"), "{error}");
    /// # Ok::<(), fsarena_foreign::fio::FioError>(())
    /// ```
    ///
    /// # Errors
    /// At the first line that fio would not read as meant, or that would reach outside the trial.
    pub fn parse(text: &str, file: &str) -> Result<Self, FioError> {
        Self::read(text, file).map_err(|fault| fault.in_file(file))
    }

    fn read(text: &str, file: &str) -> Result<Self, Fault> {
        let mut globals = Vec::new();
        let mut jobs: Vec<Job> = Vec::new();
        for part in syntax::read(text)? {
            for setting in &part.settings {
                refused::check(setting)?;
                paths::check(setting)?;
            }
            if part.name == "global" {
                part.settings.into_iter().for_each(|setting| set(&mut globals, setting));
            } else {
                jobs.push(Job::new(part, &globals));
            }
        }
        if jobs.is_empty() {
            let remedy = "add a section such as [randread] with rw=, bs= and size=";
            return Err(Fault::new(1, "there is no job", remedy));
        }
        let phases = phases(&jobs)?;
        Ok(Self { file: file.to_owned(), text: text.to_owned(), jobs, phases })
    }

    /// What runs after each other, in order.
    #[must_use]
    pub fn phases(&self) -> &[JobPhase] {
        &self.phases
    }

    /// What the jobs of a phase were told, together.
    #[must_use]
    pub fn constraints(&self, phase: &JobPhase) -> Constraints {
        let jobs = phase.sections.iter().filter_map(|name| self.job(name));
        constraints::together(jobs.map(|job| constraints::constraints_of(&|key| job.value(key))))
    }

    /// The text it was read from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn job(&self, name: &str) -> Option<&Job> {
        self.jobs.iter().find(|job| job.name == name)
    }

    /// What is to be said with every result of it.
    #[must_use]
    pub fn notices(&self) -> Vec<Notice> {
        let named = |wanted: &dyn Fn(&Job) -> bool| {
            let names: Vec<_> =
                self.jobs.iter().filter(|job| wanted(job)).map(|job| job.name.as_str()).collect();
            names.join(", ")
        };
        let mut notices = Vec::new();
        for &(code, key, why, remedy) in SAID {
            let names = named(&|job| job.is_on(key) && job.value(key) != Some("none"));
            if !names.is_empty() {
                let text = format!("fio job {names}: {key} {why}");
                notices.push(Notice::new(code, text, Some(remedy)));
            }
        }
        let settings = self.jobs.iter().flat_map(|job| &job.settings);
        let dropped: BTreeSet<&str> =
            settings.map(|s| s.key.as_str()).filter(|k| refused::left_out(k).is_some()).collect();
        for key in dropped {
            let why = refused::left_out(key).unwrap_or_default();
            let text = format!("{} in {} is left out: {why}", key, self.file);
            notices.push(Notice::new("fio-left-out", text, None));
        }
        notices
    }
}

const SYNCED: &str = "has no part in the latency that is shown: that is of the write call without \
                      the sync";
const SYNC_FIGURES: &str = "see sync_p50_ns, sync_p99_ns and sync_p99.9_ns among the figures";

/// Keys that are kept and make a result mean something else: code, key, what it does, remedy.
const SAID: &[(&str, &str, &str, &str)] = &[
    (
        "fio-time-based",
        "time_based",
        "fixes the time and not the work: contenders move different amounts of data, and fsarena \
         compares the time of an op",
        "give size= or number_ios= instead of time_based to have the same work in each trial",
    ),
    (
        "fio-runtime",
        "runtime",
        "may end the work early: contenders then move different amounts of data, and fsarena \
         compares the time of an op",
        "give size= or number_ios= alone to have the same work in each trial",
    ),
    (
        "fio-steadystate",
        "steadystate",
        "ends the work by what it measures: contenders move different amounts of data",
        "give size= or number_ios= alone",
    ),
    (
        "fio-continue-on-error",
        "continue_on_error",
        "passes over errors: a contender that fails may look fast",
        "leave it out; errors_passed_over among the figures counts them",
    ),
    (
        "fio-ramp-time",
        "ramp_time",
        "leaves the first I/O out of fio's figures; the clocks and the ledger count it",
        "leave it out: the phase starts from a stated cache",
    ),
    (
        "fio-pre-read",
        "pre_read",
        "fills the cache before the work",
        "leave it out, and ask for cache = \"warm\"",
    ),
    ("fio-fsync", "fsync", SYNCED, SYNC_FIGURES),
    ("fio-fdatasync", "fdatasync", SYNCED, SYNC_FIGURES),
    ("fio-sync-file-range", "sync_file_range", SYNCED, SYNC_FIGURES),
];

/// Cuts jobs into what runs together.
fn phases(jobs: &[Job]) -> Result<Vec<JobPhase>, Fault> {
    let mut groups: Vec<Vec<&Job>> = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let running = groups.last();
        let awaited = job.get("wait_for");
        if let Some(setting) = awaited
            && !jobs[..index].iter().any(|earlier| earlier.name == setting.value())
        {
            let what = format!("wait_for={}: no job of that name stands before", setting.value());
            return Err(Fault::new(setting.line, what, "name an earlier job"));
        }
        let alone = |name: &str| running.is_some_and(|g| g.len() == 1 && g[0].name == name);
        let begins = job.is_on("stonewall") || awaited.is_some_and(|w| alone(w.value()));
        match groups.last_mut() {
            Some(group) if !begins => group.push(job),
            _ => groups.push(vec![job]),
        }
    }
    let mut there: BTreeSet<String> = BTreeSet::new();
    let mut phases = Vec::new();
    for group in groups {
        let missing = |job: &&&Job| job.needs_files() && !job.files().is_subset(&there);
        let lay_out = group.iter().filter(missing).map(|job| job.name.clone()).collect();
        let sections = group.iter().map(|job| job.name.clone()).collect();
        phases.push(JobPhase { name: group[0].name.clone(), sections, lay_out });
        for job in group {
            if job.makes_files() {
                there.append(&mut job.files());
            } else {
                there.retain(|name| !job.files().contains(name));
            }
        }
    }
    Ok(phases)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> JobFile {
        JobFile::parse(text, "x.fio").unwrap_or_else(|error| panic!("{error}"))
    }

    fn groups(text: &str) -> Vec<String> {
        parse(text).phases().iter().map(|phase| phase.sections.join("+")).collect()
    }

    fn lay_out(text: &str) -> Vec<String> {
        parse(text).phases().iter().map(|phase| phase.lay_out.join("+")).collect()
    }

    #[test]
    fn globals_apply_to_the_jobs_after_them() {
        let file = parse(
            "[a]\n[global]\nbs=4k\nfilename=x\n[b]\nbs=8k\nfilename=y\n[global]\nbs=1m\n[c]\n",
        );
        let of = |name: &str, key: &str| {
            file.job(name).and_then(|job| job.value(key)).map(str::to_owned)
        };
        assert_eq!(of("a", "bs"), None);
        assert_eq!(of("b", "bs").as_deref(), Some("8k"));
        assert_eq!(of("b", "filename").as_deref(), Some("x:y"), "fio adds names");
        assert_eq!(of("c", "bs").as_deref(), Some("1m"));
        assert_eq!(of("c", "filename").as_deref(), Some("x"));
    }

    #[test]
    fn jobs_run_together_unless_something_keeps_them_apart() {
        assert_eq!(groups("[a]\n[b]\n[c]\nstonewall\n[d]\n"), ["a+b", "c+d"]);
        assert_eq!(groups("[global]\nstonewall\n[a]\n[b]\n"), ["a", "b"]);
        assert_eq!(groups("[a]\n[b]\nwait_for_previous=1\n[c]\nstonewall=0\n"), ["a", "b+c"]);
        assert_eq!(groups("[a]\n[b]\nwait_for=a\n"), ["a", "b"]);
        assert_eq!(groups("[a]\n[b]\n[c]\nwait_for=a\n"), ["a+b+c"], "b runs beside c");
        let error = JobFile::parse("[a]\nwait_for=b\n[b]\n", "x.fio").unwrap_err();
        assert!(error.to_string().starts_with("x.fio:2: wait_for=b"), "{error}");
    }

    #[test]
    fn files_that_nobody_leaves_are_laid_out() {
        assert_eq!(lay_out("[r]\nrw=randread\n"), ["r"]);
        assert_eq!(lay_out("[r]\n"), ["r"], "rw=read is the default");
        assert_eq!(lay_out("[w]\nrw=write\n"), [""]);
        assert_eq!(lay_out("[w]\nrw=write\noverwrite=1\n"), ["w"]);
        let shared = "[global]\nfilename=f\n[w]\nrw=write\n[r]\nstonewall\nrw=read\n";
        assert_eq!(lay_out(shared), ["", ""], "the first phase leaves the file");
        let apart = "[w]\nrw=write\n[r]\nstonewall\nrw=read\n";
        assert_eq!(lay_out(apart), ["", "r"], "each has files of its own");
        let by_name = "[w]\nrw=write\nnumjobs=2\n[r]\nstonewall\nrw=read\nfilename=w.1.0\n";
        assert_eq!(lay_out(by_name), ["", ""], "the name that fio gives is known");
        let unlinked = "[global]\nfilename=f\n[w]\nrw=write\nunlink=1\n[r]\nstonewall\nrw=read\n";
        assert_eq!(lay_out(unlinked), ["", "r"]);
        let dirs = "[w]\nrw=write\ndirectory=d\nfilename=f\n[r]\nstonewall\nfilename=d/f\n";
        assert_eq!(lay_out(dirs), ["", ""]);
        assert_eq!(lay_out("[c]\nioengine=cpuio\n[n]\nioengine=null\n"), [""]);
    }

    #[test]
    fn errors_name_file_line_and_remedy() {
        let told = |text| JobFile::parse(text, "x.fio").unwrap_err().to_string();
        let error = told("[global]\nsize=1m\n[a]\nfilename=/dev/sda\n");
        assert!(error.starts_with("x.fio:4: filename=/dev/sda names a"), "{error}");
        assert!(error.contains("; "), "{error}");
        assert!(told("").contains("there is no job"));
        assert!(told("[global]\nexec_prerun=id\n[a]\n").contains("runs a command"));
    }

    #[test]
    fn what_changes_the_meaning_is_said() {
        let file = parse("[a]\ntime_based\nruntime=5\nwrite_bw_log=x\n[b]\nruntime=0\n");
        let codes: Vec<_> = file.notices().into_iter().map(|notice| notice.code).collect();
        assert_eq!(codes, ["fio-time-based", "fio-runtime", "fio-left-out"]);
        assert!(file.notices()[0].text.starts_with("fio job a: time_based fixes"));
        assert!(parse("[a]\n").notices().is_empty());
        let file = parse(
            "[a]\nfsync=4\n[b]\nfdatasync=1\n[c]\nsync_file_range=write:8\n[d]\nfsync=0\n\
             description=x\n",
        );
        let codes: Vec<_> = file.notices().into_iter().map(|notice| notice.code).collect();
        assert_eq!(codes, ["fio-fsync", "fio-fdatasync", "fio-sync-file-range", "fio-left-out"]);
        assert!(file.notices()[0].text.starts_with("fio job a: fsync has no part in the latency"));
    }
}

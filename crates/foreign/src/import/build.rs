//! From what was measured to a plan and its records.

use crate::import::notices;
use crate::seen::{escaped, quoted};
use fsarena_model::contender::{Cache, Contender, DeviceLevel, FsLevel, Levels};
use fsarena_model::host::Host;
use fsarena_model::job::{Command, DATA, Job, JobKind};
use fsarena_model::record::{
    CacheRecord, Clocks, Effective, Notice, Outcome, PhaseRecord, Rank, TrialRecord,
};
use fsarena_model::run::{Clock, NotRun, RateStyle, RunHeader, RunPlan, Slot};
use fsarena_model::seed::Seed;
use fsarena_model::spec::TrialKey;
use fsarena_model::verdict::{Limits, METHOD_VERSION, Pairs, Question, Rule, VerdictPlan};
use fsarena_model::work::{Dataset, OpError, Phase, ProgramReport, Workload};
use sha2::{Digest, Sha256};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// A file of another program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Given {
    /// The label of its contender, where one was given.
    pub label: Option<String>,
    /// Where it lies, for messages.
    pub path: PathBuf,
    /// What stands in it.
    pub text: String,
}

/// What the RUN is told from outside.
#[derive(Clone, PartialEq, Debug)]
pub struct Terms {
    /// Unique id of the RUN.
    pub uid: String,
    /// Now, ns since 1970.
    pub now_unix_ns: u64,
    pub program_version: String,
    /// Arguments of the command line.
    pub arguments: Vec<String>,
    /// SAME means within 1 ÷ (1 + margin) and 1 + margin.
    pub margin: f64,
}

/// A RUN that is done.
#[derive(Clone, PartialEq, Debug)]
pub struct Imported {
    pub header: RunHeader,
    /// Its records, in the order of the schedule.
    pub records: Vec<TrialRecord>,
}

/// What was seen of each input, so that one measurement is one trial.
#[derive(Default)]
pub(crate) struct Seen {
    known: HashMap<[u8; 32], (String, String)>,
    /// Where one stands again, and where it stood first.
    again: Vec<(String, String)>,
}

impl Seen {
    /// Whether contents were not there before; white space is none of them.
    ///
    /// # Errors
    /// Where they were there under another label: one measurement is of one contender.
    pub(crate) fn is_new(
        &mut self,
        given: &Given,
        place: &str,
        label: &str,
        contents: &[u8],
    ) -> Result<bool, ImportError> {
        let here = match place.is_empty() {
            true => name_of(given),
            false => format!("{} ({place})", name_of(given)),
        };
        match self.known.entry(digest(contents)) {
            Entry::Vacant(free) => {
                free.insert((here, label.to_owned()));
                Ok(true)
            }
            Entry::Occupied(known) if known.get().1 == label => {
                self.again.push((here, known.get().0.clone()));
                Ok(false)
            }
            Entry::Occupied(known) => {
                let (first, other) = known.get();
                let detail = format!(
                    "{}{}is the same as {first}, which was given as {}; one measurement is of one \
                     contender: give each label its own files",
                    place,
                    if place.is_empty() { "" } else { " " },
                    quoted(other)
                );
                Err(ImportError::Differs { path: given.path.clone(), detail })
            }
        }
    }

    /// What is to be said of it.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        let has_some = !self.again.is_empty();
        has_some.then(|| notices::same_contents(&self.again)).into_iter().collect()
    }
}

/// What stands for contents; white space is none of them.
pub(crate) fn digest(contents: &[u8]) -> [u8; 32] {
    let mut digest = Sha256::new();
    let words = contents.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    for word in words {
        digest.update(word);
        digest.update(b" ");
    }
    digest.finalize().into()
}

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// There is nothing to import.
    #[error("no file was given")]
    NoFile,
    /// There is nothing in the file.
    #[error("{}: is empty; {program} writes such a file with {option}", shown(path))]
    Empty {
        path: PathBuf,
        /// The program whose file it should be.
        program: &'static str,
        option: &'static str,
    },
    /// It is not a file of that program, or not a whole one.
    #[error("{}: is not what {program} writes with {option}: {detail}", shown(path))]
    Foreign {
        path: PathBuf,
        /// The program whose file it should be.
        program: &'static str,
        option: &'static str,
        /// What is wrong, with line and column where they are known.
        detail: String,
    },
    /// A value that cannot be.
    #[error("{}: {place}: {detail}", shown(path))]
    Value {
        path: PathBuf,
        place: String,
        /// What is wrong, and what to do.
        detail: String,
    },
    /// Files that are not of one kind.
    #[error("{}: {detail}", shown(path))]
    Differs {
        path: PathBuf,
        /// How it differs from the others, and what to do.
        detail: String,
    },
    /// More than a RUN can hold.
    #[error(
        "more than {most} {what}, and a RUN holds no more; import fewer files, or parts of them"
    )]
    TooMany {
        what: &'static str,
        /// How many there may be.
        most: usize,
    },
}

/// Name of the file system of what was measured elsewhere.
const FS: &str = "imported";
/// Files that a title names.
const MOST_NAMED: usize = 8;
/// A RUN with more contenders asks more pairs than anybody reads.
const MOST_CONTENDERS: usize = 200;
/// More than that no database takes of a RUN.
const MOST_WORKLOADS: usize = 1000;
/// Nobody gives more files by hand.
const MOST_FILES: usize = 10_000;

/// All that files say.
pub(crate) struct Measured {
    pub(crate) program: &'static str,
    /// The files, as they were given.
    files: Vec<File>,
    /// Labels, each with the number of its replicate.
    pub(crate) contenders: Vec<(String, u32)>,
    pub(crate) workloads: Vec<Workload>,
    pub(crate) trials: Vec<Trial>,
    /// What holds for every record.
    pub(crate) notices: Vec<Notice>,
}

/// A file that was given.
struct File {
    name: String,
    sha256: String,
}

/// One run of a contender.
pub(crate) struct Trial {
    pub(crate) contender: usize,
    pub(crate) workload: usize,
    /// Number among the contender's own, from 0.
    pub(crate) block: u32,
    pub(crate) started_unix_ns: Option<u64>,
    /// Number of its file.
    pub(crate) file: usize,
    pub(crate) phases: Vec<PhaseRecord>,
    /// What went wrong.
    pub(crate) failure: Option<String>,
    pub(crate) notices: Vec<Notice>,
}

impl Trial {
    /// A trial of a file that went well: the first of its contender and of the first workload.
    pub(crate) fn done(file: usize, phases: Vec<PhaseRecord>) -> Self {
        Self {
            contender: 0,
            workload: 0,
            block: 0,
            started_unix_ns: None,
            file,
            phases,
            failure: None,
            notices: Vec::new(),
        }
    }
}

/// # Errors
/// When there are more than a RUN holds. It is asked before they are compared with each other.
pub(crate) fn few_workloads(count: usize) -> Result<(), ImportError> {
    few(count, "workloads", MOST_WORKLOADS)
}

fn few(count: usize, what: &'static str, most: usize) -> Result<(), ImportError> {
    if count > most { Err(ImportError::TooMany { what, most }) } else { Ok(()) }
}

/// A workload that a program did by itself, on data that nothing is known of.
pub(crate) fn workload(name: String, title: String, phases: Vec<Phase>) -> Workload {
    let dataset = Dataset::default();
    Workload { name, title, dataset, phases, fio: None, source: None, levels: None }
}

/// A phase of which nothing is known but what it is called.
pub(crate) fn command_phase(name: &str, run: String) -> Phase {
    let command = Command { run, prepare: None, cleanup: None, programs: Vec::new() };
    Phase::of_job(name, Job::new(JobKind::Command(command), DATA))
}

impl Measured {
    /// Of these files, without anything of them yet.
    pub(crate) fn new(program: &'static str, files: &[Given]) -> Self {
        let file = |given: &Given| File {
            name: name_of(given),
            sha256: Sha256::digest(&given.text).iter().map(|byte| format!("{byte:02x}")).collect(),
        };
        let files = files.iter().map(file).collect();
        let (contenders, workloads, trials) = (Vec::new(), Vec::new(), Vec::new());
        Self { program, files, contenders, workloads, trials, notices: Vec::new() }
    }

    /// The place of a contender, which is new or was there before.
    ///
    /// # Errors
    /// When they are too many.
    pub(crate) fn place_of(&mut self, label: String, replicate: u32) -> Result<usize, ImportError> {
        let place = place_of(&mut self.contenders, (label, replicate));
        few(self.contenders.len(), "contenders", MOST_CONTENDERS).map(|()| place)
    }

    pub(crate) fn imported(mut self, terms: &Terms) -> Result<Imported, ImportError> {
        few(self.files.len(), "files", MOST_FILES)?;
        self.trials.sort_by_key(|trial| (trial.block, trial.workload, trial.contender));
        let blocks = self.trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0);
        self.notices.insert(0, notices::foreign(self.program));
        if blocks == 1 {
            self.notices.push(notices::one_run(self.program));
        }
        let header = self.header(terms, blocks);
        let records = self.records(&header);
        Ok(Imported { header, records })
    }

    fn header(&self, terms: &Terms, blocks: u32) -> RunHeader {
        let names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        let files = match names.len() > MOST_NAMED {
            true => {
                format!("{} and {} more", names[..MOST_NAMED].join(", "), names.len() - MOST_NAMED)
            }
            false => names.join(", "),
        };
        RunHeader {
            uid: terms.uid.clone(),
            experiment: format!("import-{}", self.program),
            title: format!("{} of {files}", self.program),
            experiment_toml: format!("# Imported, not run: what {} wrote.\n", self.program),
            created_unix_ns: terms.now_unix_ns,
            program_version: terms.program_version.clone(),
            arguments: terms.arguments.clone(),
            // The machine that imports is not the one that was measured.
            host: Host::default(),
            plan: self.plan(terms, blocks),
            place: None,
            findings: Vec::new(),
        }
    }

    fn plan(&self, terms: &Terms, blocks: u32) -> RunPlan {
        let mut positions: BTreeMap<u32, u32> = BTreeMap::new();
        let slot = |trial: &Trial| {
            let next = positions.entry(trial.block).or_default();
            let position = *next;
            *next += 1;
            let (contender, workload) = (trial.contender, trial.workload);
            Slot { block: trial.block, position, contender, workload }
        };
        let schedule: Vec<Slot> = self.trials.iter().map(slot).collect();
        let questions: Vec<Question> = self
            .workloads
            .iter()
            .enumerate()
            .flat_map(|(workload, work)| {
                work.phases.iter().enumerate().filter_map(move |(at, phase)| {
                    let (phase, metric) = (phase.name.clone(), work.free(at).metric()?);
                    Some(Question { workload, phase, metric, clock: Clock::Returned })
                })
            })
            .collect();
        RunPlan {
            seed: Seed::from_number(0),
            blocks,
            contenders: self.contenders.iter().map(|one| self.contender(one)).collect(),
            workloads: self.workloads.clone(),
            not_run: self.not_run(),
            schedule,
            compared_clock: Clock::Returned,
            scale: 1.0,
            verify: false,
            sample_period_ns: 0,
            account: false,
            rate: RateStyle::Auto,
            verdict: Some(VerdictPlan {
                method: METHOD_VERSION,
                rule: Rule::Fixed { blocks },
                margin: terms.margin,
                headline: (!questions.is_empty()).then_some(0),
                questions,
                pairs: Pairs::All,
                budget_ns: None,
                begun_unix_ns: None,
                spare_blocks: 0,
                limits: Limits::default(),
            }),
            crash: None,
        }
    }

    fn contender(&self, (what, replicate): &(String, u32)) -> Contender {
        let several = self.contenders.iter().filter(|(other, _)| other == what).count() > 1;
        let label = if several { format!("{what}#{replicate}") } else { what.clone() };
        let (program, what) = (self.program.to_owned(), what.clone());
        let device = DeviceLevel::Elsewhere { program, what };
        let levels = Levels { cache: Cache::Unknown, ..Levels::plain(FsLevel::plain(FS), device) };
        Contender::new(&label, *replicate, levels)
    }

    /// Workloads that a contender has no trial of.
    fn not_run(&self) -> Vec<NotRun> {
        let there: BTreeSet<(usize, usize)> =
            self.trials.iter().map(|trial| (trial.contender, trial.workload)).collect();
        let all = (0..self.contenders.len())
            .flat_map(|contender| (0..self.workloads.len()).map(move |work| (contender, work)));
        all.filter(|pair| !there.contains(pair))
            .map(|(contender, workload)| NotRun {
                contender,
                workload: Some(workload),
                reason: "its files have no such run".to_owned(),
            })
            .collect()
    }

    fn records(self, header: &RunHeader) -> Vec<TrialRecord> {
        let plan = &header.plan;
        let numbered = (0u32..).zip(self.trials).zip(&plan.schedule);
        numbered
            .map(|((sequence, trial), slot)| {
                let key = TrialKey::new(header, sequence);
                let rank = Rank::new(&header.host, &plan.workloads[slot.workload].phases);
                let started_unix_ns = trial.started_unix_ns.unwrap_or(header.created_unix_ns);
                let lengths = trial.phases.iter().map(|phase| phase.clocks.returned_ns);
                let outcome = match trial.failure {
                    None => Outcome::Done,
                    Some(error) => {
                        Outcome::Failed { step: "measure".to_owned(), error, remedy: None }
                    }
                };
                let mut notices = self.notices.clone();
                notices.extend(trial.notices);
                TrialRecord {
                    outcome,
                    elapsed_ns: lengths.fold(0, u64::saturating_add),
                    filesystem: Effective { name: FS.to_owned(), ..Effective::default() },
                    device: BTreeMap::from([
                        ("imported_from".to_owned(), self.files[trial.file].name.clone()),
                        ("imported_sha256".to_owned(), self.files[trial.file].sha256.clone()),
                    ]),
                    phases: trial.phases,
                    notices,
                    ..TrialRecord::new(key, rank, started_unix_ns)
                }
            })
            .collect()
    }
}

/// A phase of which nothing is known but how long it took.
pub(crate) fn phase(
    planned: &Phase,
    returned_ns: u64,
    program: ProgramReport,
    error: Option<OpError>,
) -> PhaseRecord {
    let clocks =
        Clocks::not_waited_for(returned_ns, &format!("{} does not wait for that", program.name));
    let cache = CacheRecord::unknown("measured by another program: nothing is known of its caches");
    PhaseRecord { program: Some(program), error, ..PhaseRecord::new(planned, clocks, cache) }
}

/// Where an item stands in a list, or behind it.
fn place_of<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter().position(|known| *known == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

/// A file, as people know it.
pub(crate) fn name_of(given: &Given) -> String {
    shown(&given.path)
}

/// A path without anything that a terminal obeys.
fn shown(path: &Path) -> String {
    escaped(&path.display().to_string()).into_owned()
}

/// Refuses a file without contents.
pub(crate) fn filled(
    given: &Given,
    program: &'static str,
    option: &'static str,
) -> Result<(), ImportError> {
    match given.text.trim().is_empty() {
        true => Err(ImportError::Empty { path: given.path.clone(), program, option }),
        false => Ok(()),
    }
}

/// The refusal of a file that is not what `program` writes with `option`.
pub(crate) fn foreign(
    given: &Given,
    program: &'static str,
    option: &'static str,
    detail: impl Into<String>,
) -> ImportError {
    ImportError::Foreign { path: given.path.clone(), program, option, detail: detail.into() }
}

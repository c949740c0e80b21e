//! Programs whose output is one or several documents, each of which is a trial: what is the same
//! document, what is the same work, and the RUN that is made of them.

use crate::import::build::{
    Given, ImportError, Imported, Measured, Seen, Terms, Trial, digest, few_workloads, name_of,
    phase, workload,
};
use crate::import::notices;
use crate::seen::{escaped, quoted};
use fsarena_model::record::Notice;
use fsarena_model::sample::LatencyHistogram;
use fsarena_model::work::{Constraints, OpError, Phase, ProgramReport};
use indexmap::IndexMap;
use std::collections::{BTreeMap, BTreeSet};

/// What the work was, as far as it decides how long it takes: options, sizes, numbers of tasks.
pub(super) type Work = BTreeMap<String, String>;

/// Differences that a sentence names.
const MOST_NAMED: usize = 3;

/// A phase of a document.
#[derive(Default)]
pub(super) struct Timed {
    pub(super) name: String,
    pub(super) constraints: Constraints,
    /// What it took; where the program prints rates alone, what its work takes at them.
    pub(super) returned_ns: u64,
    pub(super) ops: u64,
    pub(super) asked_bytes: u64,
    pub(super) written_bytes: Option<u64>,
    pub(super) own_ns: Option<u64>,
    pub(super) p99_ns: Option<u64>,
    pub(super) latency: Option<LatencyHistogram>,
    pub(super) write_latency: Option<LatencyHistogram>,
    pub(super) error: Option<OpError>,
    /// What the program prints next to it.
    pub(super) figures: BTreeMap<String, String>,
}

/// A trial, as a file tells it.
pub(super) struct Document<'a> {
    /// The number of its file, and that file.
    pub(super) file: usize,
    pub(super) given: &'a Given,
    /// The label that it has itself; that of the file goes before it.
    pub(super) label: Option<String>,
    /// Where it stands in the file.
    pub(super) place: String,
    /// Its own text: the same text is the same trial.
    pub(super) text: &'a str,
    /// Which of the trials of that text it is.
    pub(super) number: u64,
    pub(super) written_unix_ns: Option<u64>,
    pub(super) version: String,
    pub(super) work: Work,
    pub(super) phases: Vec<Timed>,
    pub(super) notices: Vec<Notice>,
}

impl Document<'_> {
    fn label(&self) -> String {
        let label = self.given.label.clone().or_else(|| self.label.clone());
        escaped(&label.unwrap_or_else(|| stem(self.given))).into_owned()
    }

    /// What makes it comparable: its work and its phases.
    fn key(&self) -> (&Work, Vec<&str>) {
        (&self.work, self.phases.iter().map(|timed| timed.name.as_str()).collect())
    }
}

/// What is said of all files.
pub(super) struct Source {
    pub(super) program: &'static str,
    pub(super) title: &'static str,
    pub(super) notices: Vec<Notice>,
    /// The plan of a phase.
    pub(super) planned: fn(&str) -> Phase,
}

/// A RUN of the documents, in their order: those of one label are its blocks, those of one work a
/// workload.
///
/// # Errors
/// Where a document stands under two labels, or two labels have no work in common.
pub(super) fn imported(
    source: Source,
    files: &[Given],
    documents: Vec<Document<'_>>,
    terms: &Terms,
) -> Result<Imported, ImportError> {
    let documents = once_each(documents)?;
    let mut groups: IndexMap<(Work, Vec<String>), Vec<Document<'_>>> = IndexMap::new();
    for document in documents.kept {
        let (work, names) = document.key();
        let key = (work.clone(), names.into_iter().map(str::to_owned).collect());
        groups.entry(key).or_default().push(document);
    }
    let groups: Vec<Vec<Document<'_>>> = groups.into_values().collect();
    few_workloads(groups.len())?;
    have_common_work(&groups)?;
    let mut measured = Measured::new(source.program, files);
    measured.notices.extend(source.notices.iter().cloned());
    measured.notices.extend(documents.notices);
    let names = names(source.program, &groups);
    if groups.len() > 1 {
        measured.notices.push(notices::other_work(&names));
    }
    for (name, group) in names.into_iter().zip(groups) {
        let phases = planned(&source, &group);
        let title = format!("{}{}", source.title, &name[source.program.len()..]);
        measured.workloads.push(workload(name, title, phases.clone()));
        let at = measured.workloads.len() - 1;
        let mut done: BTreeMap<usize, u32> = BTreeMap::new();
        for document in group {
            let contender = measured.place_of(document.label(), 1)?;
            let block = done.entry(contender).or_default();
            let trial = trial(source.program, document, &phases);
            measured.trials.push(Trial { contender, workload: at, block: *block, ..trial });
            *block += 1;
        }
    }
    measured.imported(terms)
}

fn trial(program: &str, document: Document<'_>, phases: &[Phase]) -> Trial {
    let mut trial = Trial::done(document.file, Vec::new());
    trial.started_unix_ns = document.written_unix_ns;
    trial.notices = document.notices;
    for (planned, timed) in phases.iter().zip(document.phases) {
        let report = ProgramReport {
            name: program.to_owned(),
            version: document.version.clone(),
            own_ns: timed.own_ns,
            p99_ns: timed.p99_ns,
            figures: timed.figures,
            ..ProgramReport::default()
        };
        if let Some(error) = &timed.error {
            trial.failure.get_or_insert_with(|| error.text.clone());
        }
        let mut record = phase(planned, timed.returned_ns, report, timed.error);
        record.ops = timed.ops;
        record.asked_bytes = timed.asked_bytes;
        record.asked_written_bytes = timed.written_bytes;
        record.latency = timed.latency;
        record.write_latency = timed.write_latency;
        trial.phases.push(record);
    }
    trial
}

/// Phases of documents of one work: what one of them was told holds for all.
fn planned(source: &Source, group: &[Document<'_>]) -> Vec<Phase> {
    let first = group.first().map_or(&[][..], |document| &document.phases);
    let all = first.iter().enumerate().map(|(at, timed)| {
        let constraints = group.iter().fold(timed.constraints, |constraints, document| {
            let own = document.phases[at].constraints;
            Constraints {
                time_is_set: constraints.time_is_set || own.time_is_set,
                rate_is_set: constraints.rate_is_set || own.rate_is_set,
                lacks_latency: constraints.lacks_latency || own.lacks_latency,
                work: constraints.work,
            }
        });
        Phase { constraints: Some(constraints), ..(source.planned)(&timed.name) }
    });
    all.collect()
}

/// Documents, each once.
struct OnceEach<'a> {
    kept: Vec<Document<'a>>,
    notices: Vec<Notice>,
}

fn once_each(documents: Vec<Document<'_>>) -> Result<OnceEach<'_>, ImportError> {
    let mut seen = Seen::default();
    let mut kept = Vec::new();
    // A text of many trials is read once.
    let mut digests: BTreeMap<(usize, usize), [u8; 32]> = BTreeMap::new();
    for document in documents {
        let label = document.label();
        let known = digests.entry((document.file, document.text.as_ptr() as usize));
        let text = *known.or_insert_with(|| digest(document.text.as_bytes()));
        let contents = format!("{text:?} {} {:?}", document.number, document.work);
        if seen.is_new(document.given, &document.place, &label, contents.as_bytes())? {
            kept.push(document);
        }
    }
    Ok(OnceEach { kept, notices: seen.notices() })
}

/// The name of the file without its ending.
pub(super) fn stem(given: &Given) -> String {
    let stem = given.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_else(|| name_of(given))
}

/// Two labels that share no work cannot be compared.
fn have_common_work(groups: &[Vec<Document<'_>>]) -> Result<(), ImportError> {
    let labels =
        |group: &[Document<'_>]| group.iter().map(Document::label).collect::<BTreeSet<_>>();
    let all: Vec<BTreeSet<String>> = groups.iter().map(|group| labels(group)).collect();
    let several = all.iter().flatten().collect::<BTreeSet<_>>().len() > 1;
    if !several || all.iter().any(|labels| labels.len() > 1) {
        return Ok(());
    }
    let first = &groups[0][0];
    let other = groups[1..].iter().flatten().find(|document| document.label() != first.label());
    let Some(other) = other else { return Ok(()) };
    let here = match other.place.as_str() {
        "" => String::new(),
        place => format!("{place} "),
    };
    let detail = format!(
        "{here}is of other work than {} ({}); what is not the same work is not compared: import them \
         apart",
        place_of_document(first),
        difference(first, other)
    );
    Err(ImportError::Differs { path: other.given.path.clone(), detail })
}

/// Its file, and where it stands there.
fn place_of_document(document: &Document<'_>) -> String {
    match document.place.as_str() {
        "" => name_of(document.given),
        place => format!("{} ({place})", name_of(document.given)),
    }
}

/// How the work of two documents differs, in a few words.
fn difference(one: &Document<'_>, other: &Document<'_>) -> String {
    let names = |document: &Document<'_>| {
        let names = document.phases.iter().map(|timed| timed.name.as_str());
        quoted(&names.collect::<Vec<_>>().join(", "))
    };
    if names(one) != names(other) {
        return format!("{} in place of {}", names(other), names(one));
    }
    let keys: BTreeSet<&String> = one.work.keys().chain(other.work.keys()).collect();
    let differing = keys.into_iter().filter(|key| one.work.get(*key) != other.work.get(*key));
    let value = |document: &Document<'_>, key: &str| {
        let value = document.work.get(key).map(String::as_str);
        match value {
            None => "not given".to_owned(),
            Some("") => "given".to_owned(),
            Some(value) => quoted(value),
        }
    };
    let words = |key: &String| {
        format!("{}: {} in place of {}", escaped(key), value(other, key), value(one, key))
    };
    let mut words: Vec<String> = differing.map(words).collect();
    if words.len() > MOST_NAMED {
        let more = words.len() - MOST_NAMED;
        words.truncate(MOST_NAMED);
        words.push(format!("{more} more"));
    }
    words.join("; ")
}

/// Names of the workloads, by what they differ in.
fn names(program: &str, groups: &[Vec<Document<'_>>]) -> Vec<String> {
    if groups.len() == 1 {
        return vec![program.to_owned()];
    }
    let firsts: Vec<&Document<'_>> = groups.iter().map(|group| &group[0]).collect();
    let keys: BTreeSet<&String> = firsts.iter().flat_map(|first| first.work.keys()).collect();
    let is_same =
        |key: &String| firsts.iter().all(|one| one.work.get(key) == firsts[0].work.get(key));
    let keys: Vec<&String> = keys.into_iter().filter(|key| !is_same(key)).collect();
    let mut names: Vec<String> = Vec::new();
    for first in firsts {
        let given = |key: &&String| {
            let value = first.work.get(*key)?;
            Some(match value.as_str() {
                "" => escaped(key).into_owned(),
                value => format!("{}={}", escaped(key), quoted(value).trim_matches('"')),
            })
        };
        let mut words: Vec<String> = keys.iter().filter_map(given).collect();
        if words.len() > MOST_NAMED {
            words.truncate(MOST_NAMED);
            words.push("…".to_owned());
        }
        let mut name = match words.is_empty() {
            true => program.to_owned(),
            false => format!("{program} ({})", words.join(", ")),
        };
        let again =
            names.iter().filter(|known| **known == name || known.starts_with(&format!("{name} #")));
        let again = again.count();
        if again > 0 {
            name = format!("{name} #{}", again + 1);
        }
        names.push(name);
    }
    names
}

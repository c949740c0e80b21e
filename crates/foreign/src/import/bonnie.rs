//! What bonnie++ 1.96 and later print as CSV: each line is a trial.
//!
//! bonnie++ prints rates. What its fields are depends on the form that a line names first: from
//! 1.98 on the seeks and their processes stand among them. A length is what the work of the line
//! takes at its rate.

use crate::import::build::{Given, ImportError, Imported, Terms, command_phase, filled, foreign};
use crate::import::documents::{Document, Source, Timed, Work, imported};
use crate::import::notices;
use crate::seen::{first_line, quoted};
use fsarena_model::work::{Constraints, CountedWork};
use std::collections::{BTreeMap, BTreeSet};

const PROGRAM: &str = "bonnie++";
/// What its standard output is with this option.
const OPTION: &str = "-q";
/// Field with the version of the form, and that with the program's own.
const FORM: usize = 0;
const VERSION: usize = 1;
/// Field with the name of the machine (`-m`).
const NAME: usize = 2;
/// Fields of a line of version 1.03, which begins with the name of the machine.
const FIELDS_OF_103: usize = 27;
/// What is written where the work ended too soon to be timed.
const TOO_SOON: &str = "+++";
/// What bonnie++ does where no other number of seeks is printed.
const SEEKS: u64 = 8192;
/// Files are counted in so many.
const FILES: u64 = 1024;
/// A faster one is a mistake.
const MOST_PER_S: f64 = 1e12;

/// A form of lines.
struct Form {
    /// Names of the first ones with it.
    versions: &'static [&'static str],
    fields: usize,
    /// What the work was: fields and their names.
    work: &'static [(usize, &'static str)],
    /// Field with the size of the large file, those with the numbers of seeks and of files.
    size: usize,
    seeks: Option<usize>,
    files: usize,
    /// Field of the first rate, of the first of the small files, and of the first latency.
    large: usize,
    small: usize,
    latencies: usize,
}

const FORMS: [Form; 2] = [
    Form {
        versions: &["1.96", "1.97"],
        fields: 48,
        work: &[
            (3, "concurrency"),
            (5, "size"),
            (6, "chunk size"),
            (19, "files"),
            (20, "largest file"),
            (21, "smallest file"),
            (22, "directories"),
            (23, "chunk of files"),
        ],
        size: 5,
        seeks: None,
        files: 19,
        large: 7,
        small: 24,
        latencies: 36,
    },
    Form {
        versions: &["1.98", "1.99", "2.00", "2.01"],
        fields: 50,
        work: &[
            (3, "concurrency"),
            (5, "size"),
            (6, "chunk size"),
            (7, "seeks"),
            (8, "processes that seek"),
            (21, "files"),
            (22, "largest file"),
            (23, "smallest file"),
            (24, "directories"),
            (25, "chunk of files"),
        ],
        size: 5,
        seeks: Some(7),
        files: 21,
        large: 9,
        small: 26,
        latencies: 38,
    },
];

/// Rates in their order; the processor is behind each.
const LARGE: [&str; 6] = ["putc", "put-block", "rewrite", "getc", "get-block", "seeks"];
const SMALL: [&str; 6] =
    ["seq-create", "seq-stat", "seq-delete", "random-create", "random-stat", "random-delete"];

/// A line of a file.
struct Line<'a> {
    file: usize,
    given: &'a Given,
    number: usize,
    text: &'a str,
    cells: Vec<&'a str>,
    form: &'static Form,
    work: Work,
    /// By name; 0 where it ended too soon.
    rates: BTreeMap<&'static str, (usize, f64)>,
}

/// A RUN of what bonnie++ measured: a block a line; lines of one label go on with its numbers. A
/// rate that a line of the same work lacks is left out of all of these.
///
/// # Errors
/// Where a file has no such line, labels have no work in common, or lines have values that cannot
/// be.
pub fn bonnie(files: &[Given], terms: &Terms) -> Result<Imported, ImportError> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (file, given) in files.iter().enumerate() {
        lines.extend(read(file, given)?);
    }
    let first = lines.first().map(|line| line.given).ok_or(ImportError::NoFile)?;
    let mut said = vec![notices::order_unknown(), notices::rates_alone(PROGRAM)];
    let mut kept: BTreeMap<Work, BTreeSet<&'static str>> = BTreeMap::new();
    for line in &lines {
        let own: BTreeSet<&str> = line.rates.keys().copied().collect();
        let known = kept.entry(line.work.clone()).or_insert_with(|| own.clone());
        known.retain(|name| own.contains(name));
    }
    for name in LARGE.into_iter().chain(SMALL) {
        let soon = |line: &&Line<'_>| line.rates.get(name).is_some_and(|(_, rate)| *rate == 0.0);
        let too_soon: Vec<&Line<'_>> = lines.iter().filter(soon).collect();
        if !too_soon.is_empty() {
            said.push(notices::too_soon(PROGRAM, name, too_soon.len(), lines.len()));
        }
        for line in too_soon {
            kept.entry(line.work.clone()).or_default().remove(name);
        }
    }
    if kept.values().all(BTreeSet::is_empty) {
        let detail = "no rate is in all lines: the work was too little to be timed";
        return Err(foreign(first, PROGRAM, OPTION, detail));
    }
    let has_some = |line: &Line<'_>| kept.get(&line.work).is_some_and(|kept| !kept.is_empty());
    let documents = lines.into_iter().filter(has_some).map(|line| document(line, &kept)).collect();
    let planned = |name: &str| command_phase(name, format!("{PROGRAM}: {name}"));
    let title = "large and small files, by bonnie++";
    imported(Source { program: PROGRAM, title, notices: said, planned }, files, documents, terms)
}

fn read(file: usize, given: &Given) -> Result<Vec<Line<'_>>, ImportError> {
    filled(given, PROGRAM, OPTION)?;
    let mut found = Vec::new();
    for (at, text) in given.text.lines().enumerate() {
        let text = text.trim();
        let cells: Vec<&str> = text.split(',').collect();
        let bad = |detail: String| ImportError::Value {
            path: given.path.clone(),
            place: format!("line {}", at + 1),
            detail,
        };
        if cells[FORM].parse::<f64>().is_err() || cells.len() <= NAME {
            if cells.len() == FIELDS_OF_103 {
                let detail = "has 27 fields and no version, as of bonnie++ 1.03; lines of the forms \
                              1.96 to 2.01 are read";
                return Err(bad(detail.to_owned()));
            }
            continue;
        }
        let form = FORMS.iter().find(|form| form.versions.contains(&cells[FORM]));
        let form = form.ok_or_else(|| {
            bad(format!("is of form {}; those from 1.96 to 2.01 are known", quoted(cells[FORM])))
        })?;
        if cells.len() != form.fields {
            return Err(bad(format!(
                "has {} fields, and the form {} has {}",
                cells.len(),
                cells[FORM],
                form.fields
            )));
        }
        let work = form.work.iter().filter(|(cell, _)| !cells[*cell].is_empty());
        let work = work.map(|(cell, name)| {
            ((*name).to_owned(), crate::seen::escaped(cells[*cell]).into_owned())
        });
        let rates = rates(form, &cells).map_err(bad)?;
        let work = work.collect();
        found.push(Line { file, given, number: at + 1, text, cells, form, work, rates });
    }
    match found.is_empty() {
        true => {
            let seen = first_line(&given.text);
            let detail = format!("it has no line of its CSV; it begins with {seen}");
            Err(foreign(given, PROGRAM, OPTION, detail))
        }
        false => Ok(found),
    }
}

/// The rates of a line, with their fields.
fn rates(form: &Form, cells: &[&str]) -> Result<BTreeMap<&'static str, (usize, f64)>, String> {
    let large = LARGE.into_iter().enumerate().map(|(at, name)| (name, form.large + 2 * at));
    let small = SMALL.into_iter().enumerate().map(|(at, name)| (name, form.small + 2 * at));
    let mut rates = BTreeMap::new();
    for (name, cell) in large.chain(small) {
        let rate = match cells[cell] {
            "" => continue,
            soon if soon.starts_with(TOO_SOON) => 0.0,
            text => text
                .parse()
                .ok()
                .filter(|rate| (f64::MIN_POSITIVE..MOST_PER_S).contains(rate))
                .ok_or_else(|| format!("{name}: {} is a rate that cannot be", quoted(text)))?,
        };
        rates.insert(name, (cell, rate));
    }
    Ok(rates)
}

fn document<'a>(line: Line<'a>, kept: &BTreeMap<Work, BTreeSet<&str>>) -> Document<'a> {
    let kept = &kept[&line.work];
    let names = LARGE.into_iter().chain(SMALL).enumerate();
    let phases = names.filter(|(_, name)| kept.contains(name));
    let phases = phases.map(|(at, name)| timed(&line, at, name)).collect();
    Document {
        file: line.file,
        given: line.given,
        label: Some(line.cells[NAME]).filter(|name| !name.is_empty()).map(str::to_owned),
        place: format!("line {}", line.number),
        text: line.text,
        number: 0,
        written_unix_ns: None,
        version: format!("{PROGRAM} {}", crate::seen::escaped(line.cells[VERSION])),
        work: line.work,
        phases,
        notices: Vec::new(),
    }
}

/// Number `at` among all rates.
fn timed(line: &Line<'_>, at: usize, name: &str) -> Timed {
    let (cell, rate) = line.rates[name];
    let number = |cell: usize| line.cells[cell].parse::<u64>().ok().filter(|number| *number > 0);
    let is_file = at + 1 < LARGE.len();
    let mut figures = BTreeMap::new();
    let per_s = if is_file { "kib_per_s" } else { "ops_per_s" };
    figures.insert(per_s.to_owned(), line.cells[cell].to_owned());
    for (key, cell) in [("cpu_percent", cell + 1), ("max_latency", line.form.latencies + at)] {
        if !line.cells[cell].is_empty() {
            figures.insert(key.to_owned(), crate::seen::escaped(line.cells[cell]).into_owned());
        }
    }
    let (ops, bytes) = match is_file {
        true => (0, size_bytes(line.cells[line.form.size])),
        false if name == "seeks" => (line.form.seeks.and_then(number).unwrap_or(SEEKS), 0),
        false => (number(line.form.files).unwrap_or(1).saturating_mul(FILES), 0),
    };
    let seconds = match is_file {
        true => bytes as f64 / 1024.0 / rate,
        false => ops as f64 / rate,
    };
    let work = if is_file { CountedWork::Bytes } else { CountedWork::Ops };
    Timed {
        name: name.to_owned(),
        constraints: Constraints {
            time_is_set: true,
            work,
            lacks_latency: true,
            ..Constraints::default()
        },
        returned_ns: ((seconds * 1e9).round() as u64).max(1),
        ops,
        asked_bytes: bytes,
        figures,
        ..Timed::default()
    }
}

/// Bytes of `16G`, or of a GiB where it cannot be told.
fn size_bytes(text: &str) -> u64 {
    let base = crate::fio::KbBase::K1024;
    let whole = text.split(':').next().unwrap_or(text);
    crate::fio::amount_bytes(whole, base).filter(|bytes| *bytes > 0).unwrap_or(1 << 30)
}

//! What mdtest printed: under each `SUMMARY` a table of rates or times. Each run is a trial.
//!
//! What a column is, its header says. Of tables with figures per rank and per iteration the latter
//! are those of all ranks together. Where a run has a table of rates and one of times (`-P`), the
//! rates are taken: they have more digits.

use crate::import::arguments::Options;
use crate::import::build::{Given, ImportError, Imported, Terms, command_phase, filled, foreign};
use crate::import::documents::{Document, Source, Timed, Work, imported};
use crate::import::notices;
use crate::seen::quoted;
use fsarena_model::work::{Constraints, CountedWork};
use std::collections::BTreeMap;

const PROGRAM: &str = "mdtest";
/// What its standard output is.
const OPTION: &str = "its standard output";
/// Beginning of the line above a table.
const SUMMARY: &str = "SUMMARY";
/// Beginning of the line below it, with the columns.
const HEADER: &str = "Operation";
/// Behind the version in the first line of a run.
const LAUNCHED: &str = " was launched with ";
const COMMAND: &str = "Command line used:";
/// Ops of a phase where mdtest does not say how many there were.
const OPS: u64 = 1000;
/// Rows of a table, and what their phases are called.
const ROWS: [(&str, &str); 11] = [
    ("Directory creation", "directory-creation"),
    ("Directory stat", "directory-stat"),
    ("Directory read", "directory-read"),
    ("Directory rename", "directory-rename"),
    ("Directory removal", "directory-removal"),
    ("File creation", "file-creation"),
    ("File stat", "file-stat"),
    ("File read", "file-read"),
    ("File removal", "file-removal"),
    ("Tree creation", "tree-creation"),
    ("Tree removal", "tree-removal"),
];
/// Sums over the iterations up to a stonewall, next to the rows of the whole.
const NO_ROWS: [&str; 1] = ["File create (stonewall)"];
/// A larger rate or time is a mistake.
const MOST: f64 = 1e10;
/// Times have three digits behind the point: below this a step is more than one in a hundred.
const COARSE_BELOW: f64 = 0.1;

const OPTIONS: Options = Options {
    with_value: "abdefGiIlnNpqsVwWxXz",
    neutral: &[
        "d",
        "i",
        "v",
        "V",
        "P",
        "Z",
        "p",
        "x",
        "print-all-procs",
        "print-time",
        "saveRankPerformanceDetails",
        "show-perrank-statistics",
        "showRankStatistics",
        "warningAsErrors",
    ],
    amounts: "ew",
};

/// What the figures of a table are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    OpsPerS,
    MsPerOp,
    /// Of the whole phase.
    Seconds,
}

impl Unit {
    /// From what stands between `SUMMARY` and the number of iterations.
    fn from_words(words: &str) -> Option<Self> {
        Some(match words.trim().trim_end_matches(':').trim() {
            "" | "rate" | "rate (in ops/sec)" => Self::OpsPerS,
            "time (in ms/op)" => Self::MsPerOp,
            "time" | "time (in sec)" | "time (in s)" => Self::Seconds,
            _ => return None,
        })
    }

    /// How long so many ops take at a mean in this unit, ns.
    fn length_ns(self, mean: f64, ops: u64) -> f64 {
        match self {
            Self::OpsPerS => ops as f64 * 1e9 / mean,
            Self::MsPerOp => ops as f64 * 1e6 * mean,
            Self::Seconds => 1e9 * mean,
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::OpsPerS => "per_s",
            Self::MsPerOp => "ms_per_op",
            Self::Seconds => "s",
        }
    }
}

/// A column, with the name of its figure.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Column {
    /// Over what it is taken, where the header says so: `rank` or `iteration`.
    of: Option<&'static str>,
    what: &'static str,
}

/// A table, as far as it was read.
struct Table {
    unit: Unit,
    columns: Option<Vec<Column>>,
    rows: Vec<(&'static str, f64, BTreeMap<String, String>)>,
}

/// A run, as far as it was read.
#[derive(Default)]
struct Run {
    /// Where its text begins.
    start: usize,
    line: usize,
    version: String,
    work: Work,
    items: Option<u64>,
    tables: Vec<Table>,
}

/// A RUN of what mdtest measured: runs of one label are its blocks, in the order given.
///
/// # Errors
/// Where a file has no such table, a table has headers or units that are not known, or values that
/// cannot be.
pub fn mdtest(files: &[Given], terms: &Terms) -> Result<Imported, ImportError> {
    if files.is_empty() {
        return Err(ImportError::NoFile);
    }
    let mut documents = Vec::new();
    for (file, given) in files.iter().enumerate() {
        documents.extend(read(file, given)?);
    }
    let planned = |name: &str| command_phase(name, format!("{PROGRAM}: {name}"));
    let notices = vec![notices::order_unknown(), notices::rates_alone(PROGRAM)];
    let title = "operations on metadata, by mdtest";
    imported(Source { program: PROGRAM, title, notices, planned }, files, documents, terms)
}

fn read(file: usize, given: &Given) -> Result<Vec<Document<'_>>, ImportError> {
    filled(given, PROGRAM, OPTION)?;
    let mut runs: Vec<Run> = Vec::new();
    let mut is_inside = false;
    let mut start = 0;
    for (at, whole) in given.text.split_inclusive('\n').enumerate() {
        let line = whole.trim();
        let bad = |detail: String| bad(given, at + 1, detail);
        if let Some((version, ranks)) = line.split_once(LAUNCHED) {
            is_inside = false;
            let mut run =
                Run { start, line: at + 1, version: version.to_owned(), ..Run::default() };
            run.work.insert("launched with".to_owned(), ranks.to_owned());
            runs.push(run);
        } else if let Some(words) = line.strip_prefix(SUMMARY) {
            let (words, _) = words.split_once("(of").unwrap_or((words, ""));
            let unit = Unit::from_words(words).ok_or_else(|| {
                bad(format!("heads a table {}, which is not known", quoted(line)))
            })?;
            let again = |run: &Run| run.tables.iter().any(|table| table.unit == unit);
            if runs.last().is_none_or(again) {
                let work = runs.last().map(|run| run.work.clone()).unwrap_or_default();
                let items = runs.last().and_then(|run| run.items);
                runs.push(Run { start, line: at + 1, work, items, ..Run::default() });
            }
            let run = runs.last_mut().expect("there is one");
            run.tables.push(Table { unit, columns: None, rows: Vec::new() });
            is_inside = true;
        } else if let Some(run) = runs.last_mut() {
            match run.tables.last_mut().filter(|_| is_inside) {
                None => note(run, line),
                Some(table) if line.starts_with(HEADER) => {
                    table.columns = Some(columns(line).map_err(bad)?);
                }
                Some(table) if line.is_empty() || line.starts_with("-- ") => {
                    is_inside = table.rows.is_empty() && line.is_empty();
                }
                Some(table) => row(table, line).map_err(bad)?,
            }
        }
        start += whole.len();
    }
    let ends: Vec<usize> =
        runs.iter().skip(1).map(|run| run.start).chain([given.text.len()]).collect();
    let several = runs.len() > 1;
    if runs.is_empty() {
        let detail = format!(
            "it has no table under {SUMMARY}; it begins with {}",
            crate::seen::first_line(&given.text)
        );
        return Err(foreign(given, PROGRAM, OPTION, detail));
    }
    let of = |(run, end): (Run, usize)| {
        let place = if several { format!("run in line {}", run.line) } else { String::new() };
        document(file, given, run, end, place)
    };
    runs.into_iter().zip(ends).map(of).collect()
}

fn bad(given: &Given, line: usize, detail: String) -> ImportError {
    ImportError::Value { path: given.path.clone(), place: format!("line {line}"), detail }
}

/// What a line above the tables says of the work.
fn note(run: &mut Run, line: &str) {
    if let Some(command) = line.strip_prefix(COMMAND) {
        run.work.extend(OPTIONS.work(command));
    } else if let Some((tasks, items)) = line.split_once(" tasks, ")
        && tasks.parse::<u64>().is_ok()
    {
        run.items = items.split_whitespace().next().and_then(|items| items.parse().ok());
        run.work.insert("items".to_owned(), items.to_owned());
    }
}

/// The columns of a header, or what is wrong with it.
fn columns(line: &str) -> Result<Vec<Column>, String> {
    let mut columns = Vec::new();
    let mut of = None;
    let mut words = line.split_whitespace().skip(1);
    while let Some(word) = words.next() {
        let unknown =
            |word: &str| Err(format!("has a column {}, which is not known", quoted(word)));
        let what = match word {
            "per" => {
                of = Some(match words.next().unwrap_or_default() {
                    "Rank:" => "rank",
                    "Iteration:" => "iteration",
                    other => return unknown(&format!("per {other}")),
                });
                continue;
            }
            "Max" => "max",
            "Min" => "min",
            "Mean" => "mean",
            "Std" => match words.next() {
                Some("Dev") => "std_dev",
                other => return unknown(&format!("Std {}", other.unwrap_or_default())),
            },
            other => return unknown(other),
        };
        columns.push(Column { of, what });
    }
    match compared(&columns) {
        Some(_) => Ok(columns),
        None if columns.iter().any(|column| column.of.is_some()) => {
            Err("has figures of single ranks alone, and no Mean of all per iteration".to_owned())
        }
        None => Err("has no column Mean".to_owned()),
    }
}

/// The column with what all ranks come to, of all iterations.
fn compared(columns: &[Column]) -> Option<usize> {
    columns.iter().position(|column| column.what == "mean" && column.of != Some("rank"))
}

/// The columns of a table without a line of headers.
fn usual() -> Vec<Column> {
    ["max", "min", "mean", "std_dev"].map(|what| Column { of: None, what }).to_vec()
}

/// Adds a row to a table; a line without figures is none.
fn row(table: &mut Table, line: &str) -> Result<(), String> {
    if NO_ROWS.iter().any(|other| line.starts_with(other)) || line.starts_with("---") {
        return Ok(());
    }
    let Some((row, name)) = ROWS.iter().find(|(row, _)| line.starts_with(row)) else {
        let figures = line.split_whitespace().filter(|word| word.parse::<f64>().is_ok());
        return match figures.count() > 2 {
            true => Err(format!("has a row {}, which is not known", quoted(line))),
            false => Ok(()),
        };
    };
    let columns = table.columns.clone().unwrap_or_else(usual);
    // Some versions have a colon behind the name.
    let cells: Vec<&str> =
        line[row.len()..].trim_start().trim_start_matches(':').split_whitespace().collect();
    if cells.len() != columns.len() {
        return Err(format!(
            "has {} figures below {} columns: {}",
            cells.len(),
            columns.len(),
            quoted(line)
        ));
    }
    let mean = compared(&columns).expect("a header without one is refused");
    let mean: f64 = cells[mean]
        .parse()
        .ok()
        .filter(|mean| (0.0..MOST).contains(mean))
        .ok_or_else(|| format!("has a mean of {}, which cannot be", quoted(cells[mean])))?;
    if table.rows.iter().any(|(known, ..)| known == name) {
        return Err(format!("has {row} a second time in one table"));
    }
    let suffix = table.unit.suffix();
    let key = |column: &Column| match column.of {
        Some("rank") => format!("rank_{}_{suffix}", column.what),
        _ => format!("{}_{suffix}", column.what),
    };
    let figures =
        columns.iter().zip(&cells).map(|(column, cell)| (key(column), (*cell).to_owned()));
    table.rows.push((name, mean, figures.collect()));
    Ok(())
}

fn document<'a>(
    file: usize,
    given: &'a Given,
    run: Run,
    end: usize,
    place: String,
) -> Result<Document<'a>, ImportError> {
    let Run { start, line, version, mut work, items, mut tables } = run;
    let refused = |detail: &str| bad(given, line, detail.to_owned());
    if tables.is_empty() {
        return Err(refused("begins a run that has no table: it is cut off"));
    }
    // Rates go first.
    tables.sort_by_key(|table| table.unit != Unit::OpsPerS);
    let mut said = Vec::new();
    let unit = tables[0].unit;
    let is_stonewalled = work.contains_key("-W");
    if unit != Unit::OpsPerS {
        work.insert("figures".to_owned(), "times".to_owned());
    }
    if unit == Unit::MsPerOp {
        said.push(notices::time_per_op());
    }
    let mut phases = Vec::new();
    let rest: Vec<(&str, BTreeMap<String, String>)> = tables
        .drain(1..)
        .flat_map(|table| table.rows.into_iter().map(|(name, _, figures)| (name, figures)))
        .collect();
    let first = tables.pop().expect("there is one");
    for (name, mean, mut figures) in first.rows {
        if mean == 0.0 {
            // A rate of nothing is a phase that was left out, a time of nothing is too short.
            if unit != Unit::OpsPerS {
                said.push(notices::no_digits(name));
            }
            continue;
        }
        if unit != Unit::OpsPerS && mean < COARSE_BELOW {
            said.push(notices::few_digits(name, mean));
        }
        let more = rest.iter().filter(|(other, _)| *other == name);
        figures.extend(more.flat_map(|(_, figures)| figures.clone()));
        // How many directories a tree has is not printed.
        let ops = items.filter(|items| *items > 0 && !name.starts_with("tree")).unwrap_or(OPS);
        let ns = unit.length_ns(mean, ops);
        let counted = if unit == Unit::Seconds { CountedWork::Uncounted } else { CountedWork::Ops };
        let time_is_set = unit != Unit::Seconds || is_stonewalled;
        phases.push(Timed {
            name: name.to_owned(),
            constraints: Constraints {
                time_is_set,
                work: counted,
                lacks_latency: true,
                ..Constraints::default()
            },
            returned_ns: (ns.round() as u64).max(1),
            ops,
            figures,
            ..Timed::default()
        });
    }
    if phases.is_empty() {
        return Err(refused("begins a run whose table has no figures"));
    }
    let text = &given.text[start..end];
    Ok(Document {
        file,
        given,
        label: None,
        place,
        text,
        number: 0,
        written_unix_ns: None,
        version,
        work,
        phases,
        notices: said,
    })
}

//! What bonnie++ 1.96 and later print as CSV: each line is a trial.
//!
//! bonnie++ prints rates. Compared is the time that a GiB or a thousand ops take at them.

use crate::import::build::{Given, ImportError, Imported, Terms, filled, foreign, name_of};
use crate::import::by_files::{Source, Timed, imported};
use crate::import::notices;
use std::collections::BTreeMap;

const PROGRAM: &str = "bonnie++";
/// What its standard output is with this option.
const OPTION: &str = "-q";
/// Cells of a line.
const CELLS: usize = 50;
/// Cell with the version of the form; those before 1.96 have other places.
const FORM: usize = 0;
const FIRST_FORM: f64 = 1.96;
/// Cell with the name of the machine (`-m`).
const NAME: usize = 2;
/// What the work was: machines, sizes and numbers of files.
const WORK: [usize; 10] = [3, 5, 6, 7, 8, 21, 22, 23, 24, 25];
/// What is written where the work ended too soon to be timed.
const TOO_SOON: &str = "+++";
const GIB: u64 = 1 << 30;
const OPS: u64 = 1000;
/// A faster one is a mistake.
const MOST_PER_S: f64 = 1e12;

/// What a rate counts.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Kib,
    Op,
}

/// Cells with rates, their names in bonnie++ and what they count; the processor is in the next.
const RATES: [(usize, &str, Unit); 12] = [
    (9, "putc", Unit::Kib),
    (11, "put-block", Unit::Kib),
    (13, "rewrite", Unit::Kib),
    (15, "getc", Unit::Kib),
    (17, "get-block", Unit::Kib),
    (19, "seeks", Unit::Op),
    (26, "seq-create", Unit::Op),
    (28, "seq-stat", Unit::Op),
    (30, "seq-delete", Unit::Op),
    (32, "random-create", Unit::Op),
    (34, "random-stat", Unit::Op),
    (36, "random-delete", Unit::Op),
];

/// A line of a file.
struct Line<'a> {
    /// Its file, with the label that was given or else the name in the line.
    given: Given,
    cells: Vec<&'a str>,
    /// By name; 0 where it ended too soon.
    rates: BTreeMap<&'static str, f64>,
}

/// A RUN of what bonnie++ measured: a block a line; lines of one label go on with its numbers. A
/// rate that a line lacks is left out of all.
///
/// # Errors
/// Where a file has no such line, a line is of other work than the first, or has values that cannot
/// be.
pub fn bonnie(files: &[Given], terms: &Terms) -> Result<Imported, ImportError> {
    let lines: Vec<Vec<Line<'_>>> = files.iter().map(read).collect::<Result<_, _>>()?;
    let lines: Vec<Line<'_>> = lines.into_iter().flatten().collect();
    let first = lines.first().ok_or(ImportError::NoFile)?;
    for line in &lines {
        if let Some(cell) = WORK.into_iter().find(|cell| line.cells[*cell] != first.cells[*cell]) {
            let detail = format!(
                "is of other work than what came before it (field {}: {:?} and {:?}); what is not \
                 the same work is not compared: import them apart",
                cell + 1,
                line.cells[cell],
                first.cells[cell]
            );
            return Err(ImportError::Differs { path: line.given.path.clone(), detail });
        }
    }
    let mut said = vec![notices::order_unknown(), notices::rates_alone(PROGRAM, OPS)];
    let mut kept = Vec::new();
    for rate @ (_, name, _) in RATES {
        let of: Vec<f64> = lines.iter().filter_map(|one| one.rates.get(name).copied()).collect();
        let too_soon = of.iter().filter(|rate| **rate == 0.0).count();
        if too_soon > 0 {
            said.push(notices::too_soon(PROGRAM, name, too_soon, lines.len()));
        } else if of.len() == lines.len() {
            kept.push(rate);
        }
    }
    if kept.is_empty() {
        let detail = "no rate is in all lines: the work was too little to be timed";
        return Err(foreign(&first.given, PROGRAM, OPTION, detail));
    }
    let trials = lines.iter().map(|line| vec![timed(line, &kept)]).collect();
    let given: Vec<Given> = lines.into_iter().map(|line| line.given).collect();
    let title = "large and small files, by bonnie++";
    imported(Source { program: PROGRAM, title, notices: said }, &given, trials, terms)
}

fn read(given: &Given) -> Result<Vec<Line<'_>>, ImportError> {
    filled(given, PROGRAM, OPTION)?;
    let mut found = Vec::new();
    for (at, text) in given.text.lines().enumerate() {
        let cells: Vec<&str> = text.trim().split(',').collect();
        let Some(form) = cells[FORM].parse::<f64>().ok().filter(|_| cells.len() > WORK[0]) else {
            continue;
        };
        let bad = |detail: String| ImportError::Value {
            path: given.path.clone(),
            place: format!("line {}", at + 1),
            detail,
        };
        if form < FIRST_FORM {
            return Err(bad(format!("is of form {form}; those from {FIRST_FORM} on are known")));
        }
        if cells.len() < CELLS - 2 {
            return Err(bad(format!("has {} fields of {CELLS}: it is cut off", cells.len())));
        }
        let mut rates = BTreeMap::new();
        for (cell, name, _) in RATES {
            let rate = match cells[cell] {
                "" => continue,
                soon if soon.starts_with(TOO_SOON) => 0.0,
                text => text
                    .parse()
                    .ok()
                    .filter(|rate| (f64::MIN_POSITIVE..MOST_PER_S).contains(rate))
                    .ok_or_else(|| bad(format!("{name}: {text:?} is a rate that cannot be")))?,
            };
            rates.insert(name, rate);
        }
        let label = given.label.clone().unwrap_or_else(|| match cells[NAME] {
            "" => name_of(given),
            name => name.to_owned(),
        });
        let path = given.path.clone();
        found.push(Line {
            given: Given { label: Some(label), path, text: String::new() },
            cells,
            rates,
        });
    }
    match found.is_empty() {
        true => Err(foreign(given, PROGRAM, OPTION, "it has no line of its CSV")),
        false => Ok(found),
    }
}

fn timed(line: &Line<'_>, kept: &[(usize, &'static str, Unit)]) -> Vec<Timed> {
    let of = |(cell, name, unit): &(usize, &'static str, Unit)| {
        let rate = line.rates[name];
        let (amount, ops, asked_bytes) = match unit {
            Unit::Kib => ((GIB / 1024) as f64, 1, GIB),
            Unit::Op => (OPS as f64, OPS, 0),
        };
        let per_s = if *unit == Unit::Kib { "kib_per_s" } else { "ops_per_s" };
        let mut figures = BTreeMap::from([(per_s.to_owned(), line.cells[*cell].to_owned())]);
        if !line.cells[cell + 1].is_empty() {
            figures.insert("cpu_percent".to_owned(), line.cells[cell + 1].to_owned());
        }
        let returned_ns = ((amount * 1e9 / rate).round() as u64).max(1);
        Timed { name, returned_ns, ops, asked_bytes, figures }
    };
    kept.iter().map(of).collect()
}

//! What IOR printed: the table of its results, of which each iteration is a trial.

use crate::import::build::{Given, ImportError, Imported, Terms, filled, foreign};
use crate::import::by_files::{Source, Timed, imported};
use crate::import::notices;
use std::collections::BTreeMap;

const PROGRAM: &str = "IOR";
/// What its standard output is.
const OPTION: &str = "its standard output";
/// First column of the table.
const ACCESS: &str = "access";
const RATE: &str = "bw(MiB/s)";
const TOTAL: &str = "total(s)";
const ITERATION: &str = "iter";
/// Accesses of the table, and what their phases are called.
const ACCESSES: [(&str, &str); 2] = [("write", "write"), ("read", "read")];
const MIB: f64 = 1_048_576.0;
/// A run of more than 31 years is a mistake.
const MOST_SECONDS: f64 = 1e9;
/// A faster one is a mistake: an exbibyte in a second.
const MOST_MIB_PER_S: f64 = 1e12;

/// A RUN of what IOR measured: a block an iteration; files of one label go on with its numbers.
///
/// # Errors
/// Where a file has no such table, an iteration has other accesses than the first, or values that
/// cannot be.
pub fn ior(files: &[Given], terms: &Terms) -> Result<Imported, ImportError> {
    let trials: Vec<Vec<Vec<Timed>>> = files.iter().map(read).collect::<Result<_, _>>()?;
    let source = Source {
        program: PROGRAM,
        title: "large files, by IOR",
        notices: vec![notices::order_unknown()],
    };
    imported(source, files, trials, terms)
}

/// Its iterations, in their order.
fn read(given: &Given) -> Result<Vec<Vec<Timed>>, ImportError> {
    filled(given, PROGRAM, OPTION)?;
    let refused = |detail: &str| foreign(given, PROGRAM, OPTION, detail);
    let mut lines = given.text.lines().enumerate();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
    let heads = lines
        .by_ref()
        .map(|(_, line)| words(line))
        // Among the options above the table one is called access as well.
        .find(|heads| heads.len() > 1 && heads[0] == ACCESS && heads[1] == RATE)
        .ok_or_else(|| refused("it has no table that begins with access"))?;
    let column = |name: &str| heads.iter().position(|head| head == name);
    let (Some(rate), Some(total)) = (column(RATE), column(TOTAL)) else {
        return Err(refused("its table has no bw(MiB/s) and total(s)"));
    };
    let iteration = column(ITERATION);
    let mut iterations: BTreeMap<u64, Vec<Timed>> = BTreeMap::new();
    for (at, line) in lines {
        let cells = words(line);
        let access = cells.first().map(String::as_str).unwrap_or_default();
        let Some((_, name)) = ACCESSES.iter().find(|(own, _)| *own == access) else {
            // A summary has the same words in other columns.
            if access == "Max" || access == "Summary" { break } else { continue }
        };
        let bad = |detail: &str| ImportError::Value {
            path: given.path.clone(),
            place: format!("line {}", at + 1),
            detail: detail.to_owned(),
        };
        let number = |at: usize| cells.get(at).and_then(|cell| cell.parse::<f64>().ok());
        let (Some(rate), Some(seconds)) = (number(rate), number(total)) else {
            return Err(bad("has no rate and time"));
        };
        let can_be = |value: f64, most: f64| value.is_finite() && value > 0.0 && value < most;
        if !can_be(seconds, MOST_SECONDS) || !can_be(rate, MOST_MIB_PER_S) {
            return Err(bad("has a rate or time that cannot be"));
        }
        let number = iteration.and_then(number).filter(|number| (0.0..1e9).contains(number));
        let own = iterations.entry(number.unwrap_or(0.0) as u64).or_default();
        if own.iter().any(|timed| timed.name == *name) {
            return Err(bad("is there twice for one iteration; give one output a file"));
        }
        let asked_bytes = (rate * MIB * seconds).round() as u64;
        let figures = heads.iter().zip(&cells).skip(1);
        own.push(Timed {
            name,
            returned_ns: ((seconds * 1e9).round() as u64).max(1),
            ops: 1,
            asked_bytes,
            figures: figures.map(|(head, cell)| (head.clone(), cell.clone())).collect(),
        });
    }
    match iterations.is_empty() {
        true => Err(refused("its table has no lines of write or read")),
        false => Ok(iterations.into_values().collect()),
    }
}

//! What IOR printed, as text, JSON or CSV: each iteration is a trial.
//!
//! | module | what |
//! |---|---|
//! | `text` | tables of the standard output, and CSV |
//! | `test` | what both have |
//! | `json` | `summaryFormat=JSON` |
//!
//! The work is compared by its time where that has digits enough, else by the amount at the rate
//! next to it; where a stonewall (`-D`) ended it, by the rate.

mod json;
mod test;
mod text;

use crate::import::build::{Given, ImportError, Imported, Terms, command_phase, filled, foreign};
use crate::import::documents::{Document, Source, Timed, Work, imported};
use crate::import::ior::test::{ACCESSES, Line, OPTION, PROGRAM, Test, bad};
use crate::import::notices;
use crate::seen::{first_line, quoted};
use fsarena_model::work::{Constraints, CountedWork};
use std::collections::BTreeMap;

const KIB: f64 = 1024.0;
/// A run of more than 31 years is a mistake.
const MOST_SECONDS: f64 = 1e9;
/// A faster one is a mistake: an exbibyte in a second.
const MOST_MIB_PER_S: f64 = 1e12;
/// A share by which the figures of a line may differ from each other, beyond their digits.
const SAME: f64 = 0.02;

/// A RUN of what IOR measured: a block an iteration; files of one label go on with its numbers.
///
/// # Errors
/// Where a file has no such table, a table has columns that are not known, or values that cannot
/// be.
pub fn ior(files: &[Given], terms: &Terms) -> Result<Imported, ImportError> {
    if files.is_empty() {
        return Err(ImportError::NoFile);
    }
    let mut documents = Vec::new();
    for (file, given) in files.iter().enumerate() {
        filled(given, PROGRAM, OPTION)?;
        let tests = match given.text.trim_start().starts_with('{') {
            true => json::tests(given)?,
            false => text::tests(given)?,
        };
        if tests.is_empty() {
            let seen = first_line(&given.text);
            let detail = format!("it has no table that begins with access; it begins with {seen}");
            return Err(foreign(given, PROGRAM, OPTION, detail));
        }
        let several = tests.len() > 1;
        for test in tests {
            documents.extend(iterations(file, given, test, several)?);
        }
    }
    let planned = |name: &str| command_phase(name, format!("{PROGRAM}: {name}"));
    let notices = vec![notices::order_unknown()];
    let title = "large files, by IOR";
    imported(Source { program: PROGRAM, title, notices, planned }, files, documents, terms)
}

/// The trials of a test.
fn iterations(
    file: usize,
    given: &Given,
    test: Test,
    several: bool,
) -> Result<Vec<Document<'_>>, ImportError> {
    let Test { version, mut work, lines, span, number, at } = test;
    let blocks: Vec<Option<f64>> = lines.iter().map(|(_, line)| line.block_kib).collect();
    if let Some(Some(kib)) = blocks.first() {
        work.insert("block(KiB)".to_owned(), kib.to_string());
    }
    let mut all: BTreeMap<u64, Vec<Timed>> = BTreeMap::new();
    for (row, line) in lines {
        if !ACCESSES.contains(&line.access.as_str()) {
            continue;
        }
        let own = all.entry(line.iteration).or_default();
        if own.iter().any(|timed| timed.name == line.access) {
            let detail = format!("has {} a second time for one iteration", quoted(&line.access));
            return Err(bad(given, row, detail));
        }
        own.push(
            timed(&work, line)
                .ok_or_else(|| bad(given, row, "has a rate or time that cannot be"))?,
        );
    }
    if all.is_empty() {
        return Err(bad(given, at, "begins a table that has no lines of write or read"));
    }
    let of = |(iteration, phases): (u64, Vec<Timed>)| {
        let place = match several {
            true => format!("table in line {at}, iteration {iteration}"),
            false => format!("iteration {iteration}"),
        };
        Document {
            file,
            given,
            label: None,
            place,
            // Iterations of one text differ by their number.
            text: &given.text[span.0..span.1],
            number: (number << 32) | iteration,
            written_unix_ns: None,
            version: version.clone(),
            work: work.clone(),
            phases,
            notices: Vec::new(),
        }
    };
    Ok(all.into_iter().map(of).collect())
}

/// Whether the clock ended the accesses.
fn is_stonewalled(work: &Work) -> bool {
    ["-D", "stonewallingTime", "deadlineForStonewall"]
        .iter()
        .any(|name| work.get(*name).is_some_and(|seconds| seconds != "0"))
}

/// A phase of a line; `None` where its figures cannot be.
fn timed(work: &Work, line: Line) -> Option<Timed> {
    let can_be = |value: f64, most: f64| value.is_finite() && value > 0.0 && value < most;
    let ((rate, rate_step), (seconds, seconds_step)) = (line.rate, line.seconds);
    if !can_be(rate, MOST_MIB_PER_S) || !(seconds == 0.0 || can_be(seconds, MOST_SECONDS)) {
        return None;
    }
    let per_s = rate * KIB * KIB;
    let stonewalled = is_stonewalled(work);
    let number = |name: &str| work.get(name)?.split_whitespace().next()?.parse::<f64>().ok();
    let tasks = number("tasks").or_else(|| number("clients"));
    let segments = number("segments").or_else(|| number("segmentCount")).unwrap_or(1.0);
    // What was to be moved, where that is what the rate was computed of.
    let whole = tasks.zip(line.block_kib).map(|(tasks, kib)| tasks * segments * kib * KIB);
    let whole = whole.filter(|bytes| {
        let own = bytes / per_s;
        let digits = own * (SAME + rate_step) + seconds * seconds_step;
        !stonewalled && (seconds == 0.0 || (own - seconds).abs() <= digits)
    });
    let (bytes, seconds) = match whole {
        Some(bytes) if rate_step < seconds_step => (bytes, bytes / per_s),
        Some(bytes) => (bytes, seconds),
        None if seconds > 0.0 => (per_s * seconds, seconds),
        // The rate alone is known.
        None => (per_s, 1.0),
    };
    let is_whole = whole.is_some() || !stonewalled && line.seconds.0 > 0.0;
    Some(Timed {
        name: line.access,
        constraints: Constraints {
            time_is_set: !is_whole,
            work: CountedWork::Bytes,
            lacks_latency: true,
            ..Constraints::default()
        },
        returned_ns: ((seconds * 1e9).round() as u64).max(1),
        ops: 0,
        asked_bytes: bytes.round() as u64,
        figures: line.figures,
        ..Timed::default()
    })
}

//! Tables of IOR's standard output, and its CSV.

use crate::import::build::{Given, ImportError};
use crate::import::ior::test::{ACCESSES, Line, OPTIONS, Test, bad, listed, number};
use crate::seen::quoted;
use std::collections::BTreeMap;

/// First column of a table; among the options one is called access as well.
const ACCESS: &str = "access";
/// Beginning of the second column; behind it stands the unit.
const RATE: &str = "bw(";
const MIB_PER_S: &str = "bw(MiB/s)";
const TOTAL: &str = "total(s)";
const BLOCK: &str = "block(KiB)";
const ITERATION: &str = "iter";
const TASKS: &str = "numTasks";
/// Further columns of versions 2.10 to 4.1.
const OTHERS: [&str; 7] =
    ["IOPS", "Latency(s)", "Latency", "xfer(KiB)", "open(s)", "wr/rd(s)", "close(s)"];
/// What begins a run.
const RUN: &str = "IOR-";
/// What begins the list of options: as `Summary:` up to version 3.0.
const LISTS: [&str; 2] = ["Options:", "Summary:"];
/// What ends a table.
const ENDS: [&str; 5] = ["Max", "Summary", "Operation", "Finished", "Run"];

/// Where one is in a text.
#[derive(Default)]
struct State {
    test: Test,
    heads: Vec<String>,
    is_in_list: bool,
    is_in_table: bool,
}

/// Tests of a text, in their order.
pub(super) fn tests(given: &Given) -> Result<Vec<Test>, ImportError> {
    let mut state = State::default();
    let mut tests: Vec<Test> = Vec::new();
    let mut start = 0;
    for (at, whole) in given.text.split_inclusive('\n').enumerate() {
        let line = whole.trim();
        let cells = cells(line);
        let second = cells.get(1).copied().unwrap_or_default();
        if cells.first() == Some(&ACCESS) && second.starts_with(RATE) {
            state.is_in_list = false;
            state.is_in_table = true;
            state.heads = heads(&cells).map_err(|detail| bad(given, at + 1, detail))?;
            let test = Test {
                version: state.test.version.clone(),
                work: state.test.work.clone(),
                span: (start, start),
                at: at + 1,
                ..Test::default()
            };
            tests.push(test);
        } else if let Some(version) = line.strip_prefix(RUN) {
            let (version, _) = version.split_once(':').unwrap_or((version, ""));
            let version = format!("{RUN}{version}");
            state = State { test: Test { version, ..Test::default() }, ..State::default() };
        } else if LISTS.contains(&line) {
            // Those of a test before it are none of this one.
            state.test.work.retain(|name, _| name.starts_with('-'));
            (state.is_in_list, state.is_in_table) = (true, false);
        } else if state.is_in_table {
            match cells.first() {
                Some(first) if ENDS.contains(first) => state.is_in_table = false,
                _ => {
                    let test = tests.last_mut().expect("its line of headers made it");
                    row(test, &state.heads, &cells)
                        .map_err(|detail| bad(given, at + 1, detail))?
                        .into_iter()
                        .for_each(|line| test.lines.push((at + 1, line)));
                    test.span.1 = start + whole.len();
                }
            }
        } else {
            note(&mut state, line);
        }
        start += whole.len();
    }
    Ok(tests)
}

fn cells(line: &str) -> Vec<&str> {
    match line.contains(',') && !line.contains(' ') {
        true => line.split(',').map(str::trim).collect(),
        false => line.split_whitespace().collect(),
    }
}

/// What a line above a table says of the work.
fn note(state: &mut State, line: &str) {
    let pair = line.split_once(':').or_else(|| line.split_once('='));
    let Some((name, value)) = pair.map(|(name, value)| (name.trim(), value.trim())) else { return };
    if name.eq_ignore_ascii_case("command line") || name == "Command line used" {
        state.test.work.extend(OPTIONS.work(value));
    } else if state.is_in_list {
        listed(&mut state.test.work, name, value);
    }
}

/// The columns, where all of them are known.
fn heads(cells: &[&str]) -> Result<Vec<String>, String> {
    let known = [ACCESS, MIB_PER_S, TOTAL, BLOCK, ITERATION, TASKS];
    let unknown = cells.iter().find(|cell| !known.contains(cell) && !OTHERS.contains(cell));
    if let Some(unknown) = unknown {
        return Err(format!("has a column {}, which is not known", quoted(unknown)));
    }
    match cells.contains(&TOTAL) {
        true => Ok(cells.iter().map(|cell| (*cell).to_owned()).collect()),
        false => Err(format!("has no column {TOTAL}")),
    }
}

/// The line of an access; nothing where it is another line.
fn row(test: &mut Test, heads: &[String], cells: &[&str]) -> Result<Option<Line>, String> {
    let Some(access) = cells.first().filter(|first| ACCESSES.contains(first)) else {
        return Ok(None);
    };
    if cells.len() != heads.len() {
        return Err(format!("has {} cells below {} columns", cells.len(), heads.len()));
    }
    let all: BTreeMap<&str, &str> =
        heads.iter().map(String::as_str).zip(cells.iter().copied()).collect();
    let of = |name: &str| all.get(name).and_then(|cell| number(cell));
    let (Some(rate), Some(seconds)) = (of(MIB_PER_S), of(TOTAL)) else {
        return Err("has no rate and time".to_owned());
    };
    if let Some(tasks) = all.get(TASKS) {
        listed(&mut test.work, "tasks", tasks);
    }
    if let Some(xfer) = all.get("xfer(KiB)") {
        let text = number(xfer).map_or_else(|| (*xfer).to_owned(), |(kib, _)| kib.to_string());
        listed(&mut test.work, "xfer(KiB)", &text);
    }
    let iteration = all.get(ITERATION).map(|cell| cell.parse::<u64>());
    let iteration = iteration.transpose().map_err(|_| "has an iteration that is no number")?;
    let figures = all.iter().filter(|(name, _)| **name != ACCESS && **name != ITERATION);
    Ok(Some(Line {
        access: (*access).to_owned(),
        iteration: iteration.unwrap_or(0),
        rate,
        seconds,
        block_kib: of(BLOCK).map(|(kib, _)| kib),
        figures: figures.map(|(name, cell)| ((*name).to_owned(), (*cell).to_owned())).collect(),
    }))
}

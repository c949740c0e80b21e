//! Watched RUNs in other commands: shown, exported and compared.

use super::loaded::LoadedRun;
use crate::args::CompareArgs;
use crate::context::{self, Usage};
use anyhow::{Context as _, Result};
use fsarena_model::units::Nanos;
use fsarena_report::Style;
use fsarena_store::{RunId, Store};
use fsarena_study::watched::{Interval, Part, interval, side_by_side};

/// Columns of tables in a document.
const WIKI_WIDTH: usize = 100;

/// Prints the tables of a watched RUN.
pub fn show(loaded: &LoadedRun) -> Result<()> {
    context::print(&text(loaded, context::width(), context::style()))
}

/// The same for a wiki: as they are, since they are wide.
pub fn markdown(loaded: &LoadedRun) -> String {
    format!("```\n{}```\n", text(loaded, WIKI_WIDTH, Style::default()))
}

fn text(loaded: &LoadedRun, width: usize, style: Style) -> String {
    let LoadedRun { header, records, study, .. } = loaded;
    let name = loaded.id.to_string();
    let whole = records.first().and_then(|record| interval(&name, record, Part::default()));
    fsarena_report::watched_tables(header, whole.as_ref(), study, width, style)
}

/// The refusal of a command that needs a measured RUN.
pub fn refuse_watched(run: RunId) -> Usage {
    Usage(format!(
        "RUN {run} is a watch: it asks no question and has no verdicts; `fsarena show {run}` prints \
         its figures, `fsarena compare {run} OTHER` compares it with another watch"
    ))
}

/// Prints two watched intervals next to each other, which is always UNDECIDED; gives whether any
/// is a watch.
pub fn compare(args: &CompareArgs, store: &Store) -> Result<bool> {
    let parts: Vec<WatchedPart> =
        args.runs.iter().map(|text| parse_part(text)).collect::<Result<_>>()?;
    let mut headers = Vec::new();
    for one in &parts {
        let run = store.find(one.run)?;
        headers.push((run, store.header(run)?));
    }
    let watches = headers.iter().filter(|(_, header)| header.plan.is_watched()).count();
    if watches == 0 {
        return match parts.iter().find(|one| one.part != Part::default()) {
            None => Ok(false),
            Some(one) => {
                refuse!("{}: only a watch has parts, and RUN {} was measured", one.text, one.run)
            }
        };
    }
    if let Some((run, _)) = headers.iter().find(|(_, header)| !header.plan.is_watched()) {
        refuse!("RUN {run} was measured and others were watched; the two cannot be compared");
    }
    refuse_options(args)?;
    let [a, b] = parts.as_slice() else {
        return Err(match headers.as_slice() {
            [(run, _)] => refuse_watched(*run).into(),
            _ => Usage("watches are compared two at a time".to_owned()).into(),
        });
    };
    let pair = side_by_side(
        read_interval(store, headers[0].0, a)?,
        read_interval(store, headers[1].0, b)?,
    );
    let tables = |width, style| fsarena_report::watched_pair_tables(&pair, width, style);
    context::print_as(
        args.json,
        || fsarena_report::compare_json("compare-watched", &pair, &[]),
        tables,
    )?;
    Ok(true)
}

/// Refuses what asks for a question or a margin.
fn refuse_options(args: &CompareArgs) -> Result<()> {
    let asked = [
        ("--pair", args.pair.is_some()),
        ("--question", args.question.is_some()),
        ("--all", args.all),
        ("--margin", args.margin.is_some()),
        ("--csv", args.csv),
    ];
    match context::first_given(&asked) {
        None => Ok(()),
        Some(option) => refuse!("{option}: watches have no questions and no verdicts"),
    }
}

fn read_interval(store: &Store, run: RunId, named: &WatchedPart<'_>) -> Result<Interval> {
    let records = store.records(run)?;
    let record = records.first().with_context(|| format!("RUN {run} has no samples yet"))?;
    interval(named.text, record, named.part).ok_or_else(|| {
        let whole = Nanos(record.elapsed_ns);
        let text = format!("{}: has no two samples; RUN {run} lasted {whole}", named.text);
        Usage(text).into()
    })
}

/// A RUN or a part of it, as it was named.
struct WatchedPart<'a> {
    text: &'a str,
    run: &'a str,
    part: Part,
}

/// `12`, `12@10m-20m`, `12@-5m`, `12@1h-`.
fn parse_part(text: &str) -> Result<WatchedPart<'_>> {
    let Some((run, times)) = text.split_once('@') else {
        return Ok(WatchedPart { text, run: text, part: Part::default() });
    };
    let bad = |why: &str| Usage(format!("{text}: {why}; expected RUN@FROM-TO, as in 12@10m-20m"));
    let (from, to) = times.split_once('-').ok_or_else(|| bad("there is no -"))?;
    let time = |time: &str| match time.trim() {
        "" => Ok(None),
        time => match time.parse::<Nanos>() {
            Ok(Nanos(ns)) => Ok(Some(ns as f64 / 1e9)),
            Err(error) => Err(bad(&error.to_string())),
        },
    };
    let part = Part { from_s: time(from)?, to_s: time(to)? };
    match (part.from_s, part.to_s) {
        _ if run.trim().is_empty() => Err(bad("no RUN is named").into()),
        (None, None) => Err(bad("no time is named").into()),
        (Some(from), Some(to)) if from >= to => Err(bad("it ends before it begins").into()),
        _ => Ok(WatchedPart { text, run, part }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_times_since_the_start() {
        let of = |text: &str| parse_part(text).map(|one| (one.run.to_owned(), one.part));
        let part = |from_s, to_s| Part { from_s, to_s };
        assert_eq!(of("12").unwrap(), ("12".to_owned(), Part::default()));
        let both = part(Some(600.0), Some(1_200.0));
        assert_eq!(of("latest@10m-20m").unwrap(), ("latest".to_owned(), both));
        assert_eq!(of("12@-90s").unwrap().1, part(None, Some(90.0)));
        assert_eq!(of("12@1h-").unwrap().1, part(Some(3_600.0), None));
        for (text, why) in [
            ("12@10m", "there is no -"),
            ("12@-", "no time is named"),
            ("@1s-2s", "no RUN is named"),
            ("12@2s-1s", "it ends before it begins"),
            ("12@x-1s", "expected RUN@FROM-TO"),
        ] {
            let said = of(text).unwrap_err().to_string();
            assert!(said.contains(why) && said.contains("12@10m-20m"), "{said}");
        }
    }
}

//! Watched RUNs where other commands meet them: shown, compared, and stored after a kill.

use super::loaded::Loaded;
use crate::args::CompareArgs;
use crate::context::{self, Usage};
use anyhow::{Context as _, Result};
use fsarena_model::record::Outcome;
use fsarena_model::run::RunState;
use fsarena_model::units::Nanos;
use fsarena_model::verdict::Verdict;
use fsarena_report::Style;
use fsarena_store::{RunId, Store, StoreError};
use fsarena_study::watched::{Interval, Part, beside, interval};
use fsarena_watch::journal::Dead;

/// Columns of tables in a document.
const WIKI_WIDTH: usize = 100;

/// Stores what a dead watch had seen, once.
pub fn store_dead(store: &Store, run: RunId, dead: &Dead) -> Result<()> {
    let row = store.run(run)?;
    if row.state != RunState::Running && row.trials_done > 0 {
        // It died between its last two steps.
        return Ok(());
    }
    let Some(sitting) = &dead.sitting else {
        let note = "the watch ended without a word, before its first sample";
        return Ok(store.set_state(run, RunState::Interrupted, Some(note))?);
    };
    let notice = fsarena_watch::cut_short(sitting);
    let note = format!("killed after {}", Nanos(sitting.length_ns()));
    let header = store.header(run)?;
    let record = fsarena_watch::record(&header, sitting, Outcome::Interrupted, Some(notice));
    match store.put_record(run, &record) {
        // It had stored its record, and died before it could say so.
        Err(StoreError::AlreadyRecorded { .. }) => {
            return Ok(store.set_state(run, RunState::Done, None)?);
        }
        stored => stored?,
    }
    store.set_state(run, RunState::Interrupted, Some(&note))?;
    say!("RUN {run}, a watch that was {note}, is stored");
    Ok(())
}

/// Prints the tables of a watched RUN.
pub fn show(loaded: &Loaded) -> Result<()> {
    context::print(&text(loaded, context::width(), context::style()))
}

/// The same for a wiki: as they are, since they are wide.
pub fn markdown(loaded: &Loaded) -> String {
    format!("```\n{}```\n", text(loaded, WIKI_WIDTH, Style::default()))
}

fn text(loaded: &Loaded, width: usize, style: Style) -> String {
    let Loaded { header, records, study, .. } = loaded;
    let name = loaded.id.to_string();
    let whole = records.first().and_then(|record| interval(&name, record, Part::default()));
    fsarena_report::watched_tables(header, whole.as_ref(), study, width, style)
}

/// The refusal of what only a measured RUN has.
pub fn asked_nothing(run: RunId) -> Usage {
    Usage(format!(
        "RUN {run} was watched and not measured: it asks nothing, and nothing can be decided from \
         it; `fsarena show {run}` prints its figures, `fsarena compare {run} OTHER` sets another \
         watch beside it"
    ))
}

/// Two watched intervals beside each other; `None` where what is named are no watches. What they
/// are is said, and nothing is decided.
pub fn compare(args: &CompareArgs, store: &Store) -> Result<Option<Vec<Verdict>>> {
    let named: Vec<Named> = args.runs.iter().map(|text| named(text)).collect::<Result<_>>()?;
    let mut headers = Vec::new();
    for one in &named {
        let run = store.find(one.run)?;
        headers.push((run, store.header(run)?));
    }
    let watches = headers.iter().filter(|(_, header)| header.plan.is_watched()).count();
    if watches == 0 {
        return match named.iter().find(|one| one.part != Part::default()) {
            None => Ok(None),
            Some(one) => Err(Usage(format!(
                "{}: only a watched RUN has parts, and RUN {} was measured",
                one.text, one.run
            ))
            .into()),
        };
    }
    if let Some((run, _)) = headers.iter().find(|(_, header)| !header.plan.is_watched()) {
        return Err(Usage(format!(
            "RUN {run} was measured and others were watched: the two are never compared"
        ))
        .into());
    }
    only_plain(args)?;
    let [a, b] = named.as_slice() else {
        return Err(match headers.as_slice() {
            [(run, _)] => asked_nothing(*run).into(),
            _ => Usage("watches are compared two at a time".to_owned()).into(),
        });
    };
    let pair = beside(of(store, headers[0].0, a)?, of(store, headers[1].0, b)?);
    if args.json {
        context::print_json(&fsarena_report::compare_json("compare-watched", &pair))?;
    } else {
        let (width, style) = (context::width(), context::style());
        context::print(&fsarena_report::watched_pair_tables(&pair, width, style))?;
    }
    Ok(Some(vec![pair.verdict]))
}

/// Refuses what asks for a question or a margin.
fn only_plain(args: &CompareArgs) -> Result<()> {
    let asked = [
        ("--pair", args.pair.is_some()),
        ("--question", args.question.is_some()),
        ("--all", args.all),
        ("--margin", args.margin.is_some()),
    ];
    match asked.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Usage(format!(
            "{option}: watches have no questions, and nothing is decided from them"
        ))
        .into()),
    }
}

fn of(store: &Store, run: RunId, named: &Named<'_>) -> Result<Interval> {
    let records = store.records(run)?;
    let record = records.first().with_context(|| format!("RUN {run} has no samples yet"))?;
    interval(named.text, record, named.part).ok_or_else(|| {
        let whole = Nanos(record.elapsed_ns);
        let text = format!("{}: has no two samples; RUN {run} lasted {whole}", named.text);
        Usage(text).into()
    })
}

/// A RUN or a part of it, as it was named.
struct Named<'a> {
    text: &'a str,
    run: &'a str,
    part: Part,
}

/// `12`, `12@10m-20m`, `12@-5m`, `12@1h-`.
fn named(text: &str) -> Result<Named<'_>> {
    let Some((run, times)) = text.split_once('@') else {
        return Ok(Named { text, run: text, part: Part::default() });
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
        _ => Ok(Named { text, run, part }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_times_since_the_start() {
        let of = |text: &str| named(text).map(|one| (one.run.to_owned(), one.part));
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

//! Watched RUNs where other commands meet them: shown, compared, and stored after a kill.

use super::loaded::Loaded;
use crate::args::CompareArgs;
use crate::context::{self, Usage};
use anyhow::{Context as _, Result};
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::run::RunState;
use fsarena_model::units::Nanos;
use fsarena_model::verdict::Verdict;
use fsarena_report::Style;
use fsarena_store::{RunId, Store};
use fsarena_study::watched::{Interval, Part, interval, side_by_side};
use fsarena_watch::journal::Dead;

/// Columns of tables in a document.
const WIKI_WIDTH: usize = 100;

/// Stores what a dead watch had seen, once.
pub fn store_dead(store: &Store, run: RunId, dead: &Dead) -> Result<()> {
    match store.run(run)?.state {
        // It died between its last two steps.
        RunState::Done | RunState::Failed => return Ok(()),
        RunState::Running | RunState::Interrupted => {}
    }
    // It had stored its record, and died before it could say so.
    if let Some(record) = store.records(run)?.first() {
        return stands(store, run, record);
    }
    let Some(session) = &dead.session else {
        let note = "the watch ended without a word, before its first sample";
        return Ok(store.set_state(run, RunState::Interrupted, Some(note))?);
    };
    let notice = fsarena_watch::cut_short(session);
    let header = store.header(run)?;
    let record = fsarena_watch::record(&header, session, Outcome::Interrupted, Some(notice));
    store.put_record(run, &record)?;
    stands(store, run, &record)?;
    say!("RUN {run}, a watch that was killed after {}, is stored", Nanos(session.length_ns()));
    Ok(())
}

/// Sets the state and the note that a record says.
fn stands(store: &Store, run: RunId, record: &TrialRecord) -> Result<()> {
    let (state, note) = fsarena_watch::standing(record);
    Ok(store.set_state(run, state, note.as_deref())?)
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

/// Two watched intervals side by side; `None` where what is named are no watches. What they
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
    let pair = side_by_side(of(store, headers[0].0, a)?, of(store, headers[1].0, b)?);
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
    use fsarena_metrics::Roots;
    use fsarena_watch::journal::{self, Journal, Opening};
    use fsarena_watch::{Terms, WatchTarget};
    use std::io::Write as _;

    fn target() -> WatchTarget {
        WatchTarget {
            asked: "/dev/sda".into(),
            name: "sda".to_owned(),
            path: "/dev/sda".into(),
            kind: "disk".to_owned(),
            size_bytes: 1 << 20,
            diskseq: None,
            fstype: None,
            mounted_at: None,
            mount_options: None,
            below: Vec::new(),
            notices: Vec::new(),
        }
    }

    /// The RUN of a watch that is at work, by this process.
    fn begun(store: &Store, uid: &str) -> RunId {
        let terms = Terms {
            uid: uid.to_owned(),
            now_unix_ns: 7,
            program_version: "0".to_owned(),
            arguments: Vec::new(),
            title: None,
            host: fsarena_metrics::host(&Roots::default()),
            every_ns: 10,
        };
        let header = fsarena_watch::header(&target(), &terms);
        store.create_run(&header, &fsarena_runner::this_process()).unwrap()
    }

    /// It died after samples at these times.
    fn died(dir: &std::path::Path, uid: &str, times: &[u64]) -> Dead {
        drop(Journal::begin(dir, &Opening::new(uid, dir, &target(), 10, 7)).unwrap());
        let file = journal::file_of(dir, uid);
        let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
        times.iter().for_each(|time| writeln!(file, "[{time},1,1,0]").unwrap());
        let mut all = journal::dead(dir).unwrap();
        all.remove(all.iter().position(|dead| dead.opening.run == uid).unwrap())
    }

    #[test]
    fn a_dead_watch_stands_as_its_record_says_where_it_had_stored_one() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("x.db")).unwrap();
        let gone = "sda disappeared: its number is another device's";
        let failed =
            Outcome::Failed { step: "watch".to_owned(), error: gone.to_owned(), remedy: None };
        for (at, outcome, state, note) in [
            (1, None, RunState::Interrupted, Some("killed after 20 ns")),
            (2, Some(Outcome::Done), RunState::Done, None),
            (3, Some(failed), RunState::Failed, Some(gone)),
            (4, Some(Outcome::Interrupted), RunState::Interrupted, Some("killed after 20 ns")),
        ] {
            let uid = format!("{at:016x}");
            let run = begun(&store, &uid);
            let dead = died(dir.path(), &uid, &[10, 20, 30]);
            let session = dead.session.as_ref().unwrap();
            if let Some(outcome) = outcome {
                let header = store.header(run).unwrap();
                let record = fsarena_watch::record(&header, session, outcome, None);
                store.put_record(run, &record).unwrap();
            }
            // A second time changes nothing: whoever stored it may have died as well.
            for _ in 0..2 {
                store_dead(&store, run, &dead).unwrap();
                let row = store.run(run).unwrap();
                assert_eq!((row.state, row.note.as_deref()), (state, note), "{at}");
                assert_eq!(store.attempts(run).unwrap().len(), 1, "{at}");
            }
        }
    }

    #[test]
    fn a_watch_that_has_said_how_it_ended_is_not_called_interrupted() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("x.db")).unwrap();
        let run = begun(&store, "0000000000000001");
        let dead = died(dir.path(), "0000000000000001", &[]);
        store.set_state(run, RunState::Failed, Some("the terminal is gone")).unwrap();
        store_dead(&store, run, &dead).unwrap();
        let row = store.run(run).unwrap();
        assert_eq!(
            (row.state, row.note.as_deref()),
            (RunState::Failed, Some("the terminal is gone"))
        );
    }

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

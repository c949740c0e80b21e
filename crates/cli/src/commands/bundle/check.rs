//! Checking a bundle that somebody else may have made: its hashes, and what its records say when
//! everything is computed anew.

use super::names::{DATABASE, TRIALS, VERDICTS};
use crate::args::BundleCheckArgs;
use crate::commands::loaded::{Identity, LoadedRun};
use crate::commands::report;
use crate::context::{self, exit};
use anyhow::{Context as _, Result, bail};
use fsarena_bounded::Bounded;
use fsarena_bundle::{Unpacked, differences, unpack};
use fsarena_store::{RunId, Store};
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

/// Most bytes of a text that is compared.
const TEXT_MOST_BYTES: u64 = 512 << 20;
/// Most differences that are printed.
const MOST_LINES: usize = 20;

/// Unpacks a bundle, compares its hashes, recomputes its verdicts and its table of trials, and says
/// what differs.
pub(super) fn run(args: &BundleCheckArgs) -> Result<ExitCode> {
    let place = || args.file.display().to_string();
    let file = File::open(&args.file).with_context(|| format!("{}: cannot be read", place()))?;
    let scratch = context::scratch_dir()?;
    let Unpacked { names, wrong } = unpack(file, scratch.path()).with_context(place)?;
    for name in [DATABASE, VERDICTS, TRIALS] {
        if !names.iter().any(|own| own == name) {
            bail!("{}: is no whole bundle: {name} is missing", place());
        }
    }
    let store = Store::open_read_only(&scratch.path().join(DATABASE)).with_context(place)?;
    let run = only_run(&store).with_context(place)?;
    let loaded = LoadedRun::read(&store, run, Identity::Kept).with_context(place)?;
    let recomputed = recomputed(&loaded, scratch.path()).with_context(place)?;
    let all: Vec<String> = wrong.into_iter().chain(recomputed).collect();
    let what = what_was_checked(&loaded, names.len());
    if all.is_empty() {
        context::print(&format!("{}: the same: {what}", place()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut lines = vec![format!("{}: DIFFERS: {what}", place())];
    lines.extend(all.iter().take(MOST_LINES).map(|line| format!("  {line}")));
    if all.len() > MOST_LINES {
        lines.push(format!("  and {} more", all.len() - MOST_LINES));
    }
    let (made_by, own) = (&loaded.header.program_version, env!("CARGO_PKG_VERSION"));
    if made_by != own {
        lines.push(format!("  it was made by fsarena {made_by}, and this is {own}"));
    }
    context::print(&lines.join("\n"))?;
    Ok(ExitCode::from(exit::FAILED))
}

fn only_run(store: &Store) -> Result<RunId> {
    match &store.runs()?[..] {
        [row] => Ok(row.id),
        rows => bail!("{DATABASE} has {} RUNs in place of one", rows.len()),
    }
}

/// What differs between the files and what is computed from the records now.
fn recomputed(loaded: &LoadedRun, dir: &Path) -> Result<Vec<String>> {
    let read = |name: &str| {
        let text =
            Bounded::open(dir.join(name), TEXT_MOST_BYTES).and_then(|mut file| file.whole_text());
        text.with_context(|| name.to_owned())
    };
    let there = serde_json::from_str(&read(VERDICTS)?).context(VERDICTS)?;
    let here = serde_json::to_value(loaded.verdicts.as_ref().map(fsarena_report::json::verdicts))?;
    let named = |line: String| format!("{VERDICTS}: {line}");
    let mut found: Vec<String> = differences(&there, &here).into_iter().map(named).collect();
    let (there, here) = (read(TRIALS)?, report::csv_of(loaded));
    if there != here {
        let same = there.lines().zip(here.lines()).take_while(|(a, b)| a == b).count();
        found.push(format!("{TRIALS}: line {} is not what the records say", same + 1));
    }
    Ok(found)
}

/// `RUN 3f2a9c01, 12 files, 96 trials, 36 verdicts recomputed`.
fn what_was_checked(loaded: &LoadedRun, files: usize) -> String {
    let questions = loaded.verdicts.iter().flat_map(|verdicts| &verdicts.questions);
    let pairs: usize = questions.map(|question| question.pairs.len()).sum();
    format!(
        "RUN {} of fsarena {}, {files} files, {} trials, {pairs} verdicts recomputed",
        loaded.header.uid.get(..8).unwrap_or(&loaded.header.uid),
        loaded.header.program_version,
        loaded.records.len()
    )
}

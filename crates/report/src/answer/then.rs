//! What a study said about reliability without figures, judged by those of a RUN that repeats its
//! question.

use crate::context::Run;
use crate::format::count;
use crate::verdict::text::listed;
use fsarena_model::contender::Contender;
use fsarena_reference::{Holds, ReliabilityClaim, reliability_sentence};
use fsarena_study::{CrashFigures, FigureShare};

/// `2010: "writeback is less reliable to some degree": holds for ext3 …; for ext4 no difference was
/// shown.` `unsynced` are rows of one state, a contender each.
pub(super) fn then_and_now(run: &Run<'_>, unsynced: &[&CrashFigures]) -> Option<String> {
    let sentence = reliability_sentence(&run.header.experiment)?;
    if unsynced.is_empty() {
        return None;
    }
    let (holds, why) = match sentence.claim {
        ReliabilityClaim::HardlyInFigures => in_figures(unsynced),
        ReliabilityClaim::WritebackLosesMore => writeback(run, unsynced)?,
    };
    let (year, says, holds) = (sentence.year, sentence.says, holds.name());
    Some(format!("{year}: \u{201c}{says}\u{201d}: {holds}: {why}."))
}

fn in_figures(unsynced: &[&CrashFigures]) -> (Holds, String) {
    let cuts: u64 = unsynced.iter().map(|row| row.row.crash_points).sum();
    let who = count(unsynced.len(), "contender");
    let why = format!("{who} have figures of {cuts} power cuts of unsynced work");
    if unsynced.len() > 1 { (Holds::Falls, why) } else { (Holds::CannotBeTold, why) }
}

/// Pairs of contenders that differ in the journal mode alone.
fn writeback(run: &Run<'_>, unsynced: &[&CrashFigures]) -> Option<(Holds, String)> {
    let contenders = &run.header.plan.contenders;
    let contender = |row: &CrashFigures| &contenders[row.contender];
    let (mut worse, mut alike) = (Vec::new(), Vec::new());
    for writeback in unsynced.iter().filter(|row| has(contender(row), "data=writeback")) {
        let other = without_mode(contender(writeback));
        let is_twin = |row: &&&CrashFigures| {
            has(contender(row), "data=ordered") && without_mode(contender(row)) == other
        };
        let Some(ordered) = unsynced.iter().find(is_twin) else { continue };
        let label = ordered.row.contender.replace(" data=ordered", "");
        match loses_more(writeback, ordered) {
            Some(how) => worse.push(format!("{label} ({how})")),
            None => alike.push(label),
        }
    }
    let more = match alike.is_empty() {
        true => String::new(),
        false => format!("; for {} no difference was shown", listed(&alike)),
    };
    match (worse.is_empty(), alike.is_empty()) {
        (true, true) => None,
        (true, false) => {
            let of = listed(&alike);
            Some((Holds::CannotBeTold, format!("for {of} no difference was shown")))
        }
        (false, _) => Some((Holds::Holds, format!("for {}{more}", listed(&worse)))),
    }
}

fn has(contender: &Contender, option: &str) -> bool {
    contender.levels.fs.mount.iter().any(|one| one == option)
}

/// The levels of a contender but for its journal mode, as text that can be compared.
fn without_mode(contender: &Contender) -> String {
    let mut levels = contender.levels.clone();
    levels.fs.mount.retain(|option| !option.starts_with("data="));
    format!("{levels:?}")
}

/// In what the first is worse, where intervals part.
fn loses_more(one: &CrashFigures, other: &CrashFigures) -> Option<&'static str> {
    let parts = |a: &FigureShare, b: &FigureShare| {
        a.share.low.zip(b.share.high).is_some_and(|(low, high)| low > high)
    };
    let (a, b) = (&one.figures, &other.figures);
    if parts(&a.stale_bytes_seen, &b.stale_bytes_seen) {
        return Some("bytes of other files in its files");
    }
    if parts(&a.replace_damaged, &b.replace_damaged) {
        return Some("damaged files");
    }
    let (a, b) = (a.loss_window.p50_ns, b.loss_window.p50_ns);
    let is_longer = a.low.zip(b.high).is_some_and(|(low, high)| low > high);
    is_longer.then_some("a longer loss window")
}

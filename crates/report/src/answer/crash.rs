//! What a power cut leaves, in a few sentences beside those of speed. Each kind of promise has a
//! sentence of its own; a word that blames stands only where a promise was broken, and one that
//! compares only where intervals part.

use super::model::{Answer, Mark, NotRunGroup};
use super::sentences::change_range;
use super::then::then_and_now;
use crate::context::Run;
use crate::crash::seconds;
use crate::format::{bytes, grouped};
use crate::verdict::text::{listed, some_of};
use fsarena_study::{CrashFigures, CrashMeasure, CrashRunsView};
use indexmap::IndexMap;

/// With more contenders than this loss windows are not told one by one.
const EACH_UP_TO: usize = 4;
/// Contenders that a sentence names of one kind.
const NAMED: usize = 3;

/// The sentences of a RUN's crash runs; none where no power was cut.
pub(crate) fn crash_sentences(run: &Run<'_>, answer: &Answer) -> Vec<String> {
    let Some(view) = run.crash else { return Vec::new() };
    if view.rows.is_empty() {
        return first_measures(view).into_iter().chain(how_far(view)).collect();
    }
    let Some(state) = view.states.iter().find(|state| !state.starts_with("lying=")) else {
        return Vec::new();
    };
    // What a disk did that an honest one does not says nothing of file systems.
    let of_state = |row: &&CrashFigures| row.row.state == *state && row.row.disk_fault.is_none();
    let rows: Vec<&CrashFigures> = view.rows.iter().filter(of_state).collect();
    let unsynced: Vec<&CrashFigures> = first_of_each(&rows, |row| row.row.sync_p50_ns.is_none());
    let mut all = loss(answer, &unsynced);
    all.extend(replaced(&unsynced));
    all.extend(stale(&unsynced));
    all.extend(acknowledged(&rows));
    all.extend(documented(&rows));
    all.extend(then_and_now(run, &unsynced));
    all.extend(how_far(view));
    all
}

/// `Fsync broken (length 1): ext4 2 of 358, xfs 0 of 358.`: the first measure of campaigns whose
/// rows are no power cuts at uniform times, a sentence a workload; without what a disk did that an
/// honest one does not.
fn first_measures(view: &CrashRunsView) -> Vec<String> {
    let all = view.measures();
    let honest: Vec<&CrashMeasure> = all.iter().filter(|one| !one.is_of_disk).collect();
    let Some(first) = honest.first().map(|one| &one.measure) else { return Vec::new() };
    let mut of_workload: IndexMap<&str, IndexMap<&str, (u64, u64)>> = IndexMap::new();
    for one in honest.iter().filter(|one| one.measure == *first) {
        let of_contender = of_workload.entry(&one.workload).or_default();
        let (hits, of) = of_contender.entry(&one.contender).or_default();
        (*hits, *of) = (hits.saturating_add(one.hits), of.saturating_add(one.of));
    }
    let (head, rest) = first.split_at(1);
    let sentence = |(workload, sums): (&str, IndexMap<&str, (u64, u64)>)| {
        let words = sums.iter().map(|(who, (hits, of))| format!("{who} {hits} of {of}"));
        let words: Vec<String> = words.collect();
        format!("{}{rest} ({workload}): {}.", head.to_uppercase(), words.join(", "))
    };
    of_workload.into_iter().map(sentence).collect()
}

/// Contenders whose power was not cut, a group a reason.
pub(super) fn crash_not_run(run: &Run<'_>) -> Vec<NotRunGroup> {
    let mut groups: Vec<NotRunGroup> = Vec::new();
    for row in run.crash.iter().flat_map(|view| &view.not_run) {
        let what = format!("crash runs of {}", row.label);
        match groups.iter_mut().find(|group| group.reason == row.reason) {
            Some(group) => group.what.push(what),
            None => groups.push(NotRunGroup {
                what: vec![what],
                reason: row.reason.clone(),
                packages: Vec::new(),
            }),
        }
    }
    groups
}

/// The first row of each contender that is wanted.
fn first_of_each<'a>(
    rows: &[&'a CrashFigures],
    is_wanted: impl Fn(&CrashFigures) -> bool,
) -> Vec<&'a CrashFigures> {
    let mut found: Vec<&CrashFigures> = Vec::new();
    for row in rows.iter().copied().filter(|row| is_wanted(row)) {
        if found.iter().all(|known| known.contender != row.contender) {
            found.push(row);
        }
    }
    found
}

fn most_lost(row: &CrashFigures) -> String {
    seconds(row.row.loss_window_max_ns as f64)
}

/// `xfs is faster than ext4 in small-files create (10-12 % less time) and may lose 60.7 s of
/// unsynced work, ext4 39.0 s.`
fn loss(answer: &Answer, unsynced: &[&CrashFigures]) -> Vec<String> {
    let baseline = unsynced.iter().find(|row| Some(row.contender) == answer.baseline);
    let Some(baseline) = baseline.or_else(|| unsynced.first()) else { return Vec::new() };
    let others: Vec<&&CrashFigures> =
        unsynced.iter().filter(|row| row.contender != baseline.contender).collect();
    let own = format!("{} {}", baseline.row.contender, most_lost(baseline));
    if others.is_empty() {
        let (who, most) = (&baseline.row.contender, most_lost(baseline));
        return vec![format!("{who} may lose {most} of unsynced work.")];
    }
    if unsynced.len() > EACH_UP_TO {
        return vec![extremes(unsynced)];
    }
    let sentence = |row: &&&CrashFigures| {
        let speed = faster(answer, row.contender, &baseline.row.contender);
        let (who, most) = (&row.row.contender, most_lost(row));
        let speed = speed.map(|speed| format!(" is {speed} and")).unwrap_or_default();
        format!("{who}{speed} may lose {most} of unsynced work, {own}.")
    };
    others.iter().map(sentence).collect()
}

/// `faster than ext4 in small-files create (10-12 % less time)`, where that is decided in the first
/// question.
fn faster(answer: &Answer, contender: usize, baseline: &str) -> Option<String> {
    let row = answer.rows.get(answer.headline.unwrap_or(0))?;
    let cell = row.cells.iter().find(|cell| cell.contender == contender)?;
    let word = match cell.mark {
        Mark::Faster => "faster than",
        Mark::Slower => "slower than",
        Mark::Same => "as fast as",
        _ => return None,
    };
    let range = match cell.mark {
        Mark::Same => String::new(),
        _ => format!(" ({})", change_range(row.metric, cell)),
    };
    Some(format!("{word} {baseline} in {} {}{range}", row.workload, row.phase))
}

/// The least and the most of many.
fn extremes(unsynced: &[&CrashFigures]) -> String {
    let by = |row: &&&CrashFigures| row.row.loss_window_max_ns;
    let (least, most) = (unsynced.iter().min_by_key(by), unsynced.iter().max_by_key(by));
    let words = |row: Option<&&CrashFigures>| {
        row.map_or_else(String::new, |row| format!("{} ({})", most_lost(row), row.row.contender))
    };
    format!(
        "The most that a power cut took of unsynced work: from {} to {}.",
        words(least),
        words(most)
    )
}

/// Contenders at whose power cuts something was found, where intervals part, and those with none.
struct Parted<'a> {
    /// The most first.
    more: Vec<&'a CrashFigures>,
    none: Vec<&'a CrashFigures>,
}

impl<'a> Parted<'a> {
    /// `share` is of crash points.
    fn new(rows: &[&'a CrashFigures], share: fn(&CrashFigures) -> Bounds) -> Option<Self> {
        let least = rows.iter().map(|row| share(row).high).fold(f64::INFINITY, f64::min);
        let is_more = |row: &&&CrashFigures| share(row).low > least;
        let mut more: Vec<&CrashFigures> = rows.iter().filter(is_more).copied().collect();
        more.sort_by(|a, b| share(b).value.total_cmp(&share(a).value));
        let is_none = |row: &&&CrashFigures| share(row).value == 0.0;
        let none = rows.iter().filter(is_none).copied().collect();
        (!more.is_empty()).then_some(Self { more, none })
    }

    /// `, ext3 and btrfs at none`; many are counted.
    fn rest(&self) -> String {
        let names: Vec<String> = self.none.iter().map(|row| row.row.contender.clone()).collect();
        match names.len() {
            0 => String::new(),
            1..=NAMED => format!(", {} at none", listed(&names)),
            many => format!(", {many} at none"),
        }
    }
}

/// A share of crash points with its interval; without one it parts from nothing.
#[derive(Clone, Copy)]
struct Bounds {
    value: f64,
    low: f64,
    high: f64,
}

fn bounds(share: &fsarena_study::FigureShare) -> Bounds {
    let figure = share.share;
    Bounds { value: figure.value, low: figure.low.unwrap_or(0.0), high: figure.high.unwrap_or(1.0) }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// `ext4 damages files that were replaced by rename at 46 % of power cuts, ext4 dioread_lock at
/// none.`
fn replaced(unsynced: &[&CrashFigures]) -> Option<String> {
    let share = |row: &CrashFigures| bounds(&row.figures.replace_damaged);
    let parted = Parted::new(unsynced, share)?;
    Some(shares(("damages files that were replaced by rename", ""), &parted, share))
}

/// The same of bytes of other files.
fn stale(unsynced: &[&CrashFigures]) -> Option<String> {
    let share = |row: &CrashFigures| bounds(&row.figures.stale_bytes_seen);
    let parted = Parted::new(unsynced, share)?;
    let most = parted.more.first()?;
    let all = format!(" ({} in {})", bytes(Some(most.row.stale_bytes)), most.row.crash_points);
    Some(shares(("shows bytes of other files", &all), &parted, share))
}

/// What the first does, something about it in brackets, and who does so too.
fn shares(
    (does, about_first): (&str, &str),
    parted: &Parted<'_>,
    share: fn(&CrashFigures) -> Bounds,
) -> String {
    let mut names = parted
        .more
        .iter()
        .take(NAMED)
        .map(|row| (row.row.contender.as_str(), percent(share(row).value)));
    let Some((first, at)) = names.next() else { return String::new() };
    let mut further: String = names.map(|(name, at)| format!(", {name} at {at}")).collect();
    if parted.more.len() > NAMED {
        let (more, least) = (parted.more.len() - NAMED, parted.more.last());
        let least = least.map(|row| percent(share(row).value)).unwrap_or_default();
        further.push_str(&format!(", {more} more at {least} or more"));
    }
    format!("{first} {does} at {at} of power cuts{about_first}{further}{}.", parted.rest())
}

/// Acknowledged work that is gone on a disk that kept what it flushed, or that none is.
fn acknowledged(rows: &[&CrashFigures]) -> Option<String> {
    let checked: Vec<&&CrashFigures> =
        rows.iter().filter(|row| row.row.acknowledged_lost.of > 0).collect();
    // Of all crash workloads together: it is one promise.
    let mut sums: Vec<LostOf<'_>> = Vec::new();
    for row in &checked {
        let one = LostOf::new(row);
        match sums.iter_mut().find(|known| known.who == one.who) {
            Some(sum) => sum.add(&one),
            None => sums.push(one),
        }
    }
    sums.retain(|sum| sum.hits > 0);
    let words = |sum: &LostOf<'_>| {
        let (hits, of) = (grouped(sum.hits), grouped(sum.of));
        format!("{} lost synced work in {hits} of {of} checks{}", sum.who, sum.why())
    };
    let lost: Vec<String> = sums.iter().map(words).collect();
    if !lost.is_empty() {
        return Some(format!("Broken: {}; fsync had returned.", listed(&lost)));
    }
    let most = checked.iter().filter_map(|row| row.row.acknowledged_lost.high);
    let most = most.fold(0.0, f64::max);
    (!checked.is_empty()).then(|| {
        format!("Synced work was lost by none (at most {:.1} % of power cuts).", 100.0 * most)
    })
}

/// Synced work that a contender lost, over its workloads.
#[derive(Clone, Copy)]
struct LostOf<'a> {
    who: &'a str,
    hits: u64,
    of: u64,
    sends_no_flush: bool,
    crash_points: u64,
    failed_replays: u64,
}

impl<'a> LostOf<'a> {
    fn new(figures: &'a CrashFigures) -> Self {
        let row = &figures.row;
        Self {
            who: &row.contender,
            hits: row.acknowledged_lost.hits,
            of: row.acknowledged_lost.of,
            sends_no_flush: row.sends_no_flush,
            crash_points: row.crash_points,
            failed_replays: row.failed_replays,
        }
    }

    fn add(&mut self, other: &Self) {
        self.hits += other.hits;
        self.of += other.of;
        self.crash_points += other.crash_points;
        self.failed_replays += other.failed_replays;
    }

    /// ` (it sends no flush to the disk, …)`; nothing where it is the order of its writes.
    fn why(&self) -> String {
        let no_flush = self.sends_no_flush.then(|| "it sends no flush to the disk".to_owned());
        let no_replay = (self.failed_replays > 0).then(|| {
            let (failed, of) = (grouped(self.failed_replays), grouped(self.crash_points));
            format!("its repair could not replay the log after {failed} of {of} power cuts")
        });
        let reasons: Vec<String> = no_flush.into_iter().chain(no_replay).collect();
        if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", and ")) }
    }
}

/// Promises that a file system documents with its options and that were broken.
fn documented(rows: &[&CrashFigures]) -> Option<String> {
    let broken: Vec<String> = rows
        .iter()
        .filter(|row| row.row.documented_broken.hits > 0)
        .map(|row| {
            let found = row.row.documented_broken;
            let (who, work) = (&row.row.contender, &row.row.workload);
            format!("{who} at {} of {} power cuts ({work})", found.hits, found.of)
        })
        .collect();
    let names = some_of(&broken, NAMED);
    (!broken.is_empty()).then(|| format!("Broken, of what its documents promise: {names}."))
}

fn how_far(view: &CrashRunsView) -> Option<String> {
    let (done, planned) = (view.crash_runs_done, view.crash_runs_planned);
    (done < planned).then(|| format!("{done} of {planned} crash runs are done."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_fault_a_loss_is_stands_behind_it() {
        let order = LostOf {
            who: "jfs",
            hits: 2,
            of: 9,
            sends_no_flush: false,
            crash_points: 40,
            failed_replays: 0,
        };
        assert_eq!(order.why(), "");
        let cache = LostOf { sends_no_flush: true, ..order };
        assert_eq!(cache.why(), " (it sends no flush to the disk)");
        let mut both = LostOf { failed_replays: 1200, crash_points: 1200, ..cache };
        both.add(&LostOf { who: "jfs", failed_replays: 34, crash_points: 95, ..both });
        let words = both.why();
        assert!(
            words.ends_with("could not replay the log after 1,234 of 1,295 power cuts)"),
            "{words}"
        );
        assert!(words.starts_with(" (it sends no flush to the disk, and its repair"), "{words}");
    }
}

//! The answer in words: three to six plain sentences with the numbers of an account.

use super::view::{AccountMeans, AccountPart, AccountRow, UNATTRIBUTED_MUCH};
use fsarena_model::units::{grouped, three_digits};

/// Parts under this share of the counter are left out of the list of the others.
const SMALL_SHARE: f64 = 0.005;

/// How a note begins on files that were not looked at: then contents that a file still held
/// may have been taken for gone.
const NOT_LOOKED_AT: &str = "The files were not looked at";

impl AccountMeans {
    /// What amounts of a cycle are means of, where a trial has several: `mean of all 4 cycles, 1 of
    /// them with the second load, unmount included`.
    #[must_use]
    pub fn scope(&self) -> Option<String> {
        let number = |count: f64| match (count - count.round()).abs() {
            rest if rest < 1e-9 => format!("{count:.0}"),
            _ => format!("{count:.1}"),
        };
        let loaded = match self.disturbed_cycles {
            count if count > 0.0 => format!(", {} of them with the second load", number(count)),
            _ => String::new(),
        };
        (self.cycles > 1.0).then(|| {
            format!("mean of all {} cycles{loaded}, unmount included", number(self.cycles))
        })
    }
}

/// Sentences on the account of a contender.
pub(super) fn sentences(row: &AccountRow, per_cycle: bool) -> Vec<String> {
    let Some(means) = &row.means else { return without(row) };
    let mut sentences = vec![total(means, per_cycle)];
    sentences.extend(means.scope().map(|scope| format!("Amounts of a cycle are the {scope}.")));
    sentences.extend(others(means));
    sentences.extend(row.notes.iter().filter(|note| note.starts_with(NOT_LOOKED_AT)).cloned());
    sentences.extend(journal(means, per_cycle));
    sentences.push(allocated(means));
    sentences.extend(never_written(means));
    sentences.push(rest(row, means));
    sentences
}

/// What is said where no account is sound.
fn without(row: &AccountRow) -> Vec<String> {
    let mut sentences = Vec::new();
    if !row.spoilt.is_empty() {
        let lost: u64 = row.spoilt.iter().fold(0, |sum, one| sum.saturating_add(one.lost_events));
        sentences.push(format!(
            "No account is sound: the kernel lost {lost} events of the trace in {}, so that what \
             is missing is not known.",
            trials(row.spoilt.len())
        ));
    }
    let reasons = row.not_taken.iter();
    sentences.extend(
        reasons.map(|one| format!("No account in {}: {}.", trials(one.trials), one.reason)),
    );
    sentences
}

fn total(means: &AccountMeans, per_cycle: bool) -> String {
    let counter = means.check.counter_bytes;
    let data = means.bytes(AccountPart::Data);
    let when = if per_cycle { " in a cycle" } else { " for the phase" };
    if counter <= 0.0 {
        return format!("The device wrote nothing{when}.");
    }
    let by_disturber = match means.asked_by_disturber_bytes {
        bytes if bytes > 0.0 => format!(" ({} of them by the second load)", size(bytes)),
        _ => String::new(),
    };
    let asked = match means.asked_bytes {
        asked if asked > 0.0 => format!(
            "; {} were asked for{by_disturber}, so that the device wrote {} times as much",
            size(asked),
            three_digits(counter / asked)
        ),
        _ => "; none were asked for".to_owned(),
    };
    format!(
        "Of the {} that the device wrote{when}, {} ({}) are the data as asked for{asked}.",
        size(counter),
        size(data),
        percent(data / counter)
    )
}

/// The other parts, the largest first.
fn others(means: &AccountMeans) -> Option<String> {
    let what = |part: AccountPart| match part {
        AccountPart::Rounding => Some("rounding: blocks written beyond the end of a file"),
        AccountPart::Gone => Some("taken for contents of files replaced or deleted afterwards"),
        AccountPart::Again => Some("contents written again on the same sectors"),
        AccountPart::Journal => Some("the journal"),
        AccountPart::Metadata => Some("other metadata"),
        AccountPart::Data | AccountPart::Unattributed => None,
    };
    let mut parts: Vec<(f64, f64, &str)> = means
        .lines
        .iter()
        .filter_map(|line| Some((line.bytes, line.share?, what(line.part)?)))
        .filter(|(_, share, _)| *share >= SMALL_SHARE)
        .collect();
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    let listed: Vec<String> = parts
        .iter()
        .map(|(bytes, share, what)| format!("{} ({}) {what}", size(*bytes), percent(*share)))
        .collect();
    match listed.as_slice() {
        [] => None,
        [one] => Some(format!("In addition it wrote {one}.")),
        _ => Some(format!("In addition it wrote, the largest first, {}.", listed.join("; "))),
    }
}

/// What the journal wrote more than once; and where there is none.
fn journal(means: &AccountMeans, per_cycle: bool) -> Option<String> {
    let line = means.lines.iter().find(|line| line.part == AccountPart::Journal)?;
    if means.journal.is_empty() && line.bytes == 0.0 {
        return Some("No journal of a fixed place is known here.".to_owned());
    }
    let share = line.again_bytes / line.bytes;
    (share >= SMALL_SHARE).then(|| {
        format!(
            "Of what went into the journal, {} ({}) went over sectors of it that had been written \
             before in the same {}.",
            size(line.again_bytes),
            percent(share),
            if per_cycle { "cycle" } else { "phase" }
        )
    })
}

/// Rounding as allocated, kept apart from what was written.
fn allocated(means: &AccountMeans) -> String {
    let all = &means.allocated;
    let written = means.bytes(AccountPart::Rounding);
    let whole = |count: f64| grouped(count.round() as u64);
    let files = |count: f64| match count.round() {
        1.0 => "1 file".to_owned(),
        _ => format!("{} files", whole(count)),
    };
    if all.unplaced_files > 0.0 {
        return format!(
            "Of {} the kernel does not tell where {} of them lie: their contents are in other \
             parts of this account, and nothing is sentences of what they round up to.",
            files(all.files),
            whole(all.unplaced_files)
        );
    }
    let round = match all.rounding_bytes {
        bytes if bytes > 0.0 => format!("{} more than they hold", size(bytes)),
        _ => "no more than they hold".to_owned(),
    };
    let but = if all.rounding_bytes > 0.0 && written == 0.0 {
        "; none of that rounding was seen as written"
    } else {
        ""
    };
    format!(
        "As allocated, which is not as written, {} with {} of contents take {}: {round}{but}.",
        files(all.files),
        size(all.contents_bytes),
        size(all.allocated_bytes)
    )
}

fn never_written(means: &AccountMeans) -> Option<String> {
    let bytes = means.never_written_bytes?;
    let share = bytes / means.asked_bytes;
    (share >= SMALL_SHARE).then(|| {
        format!(
            "At least {} ({}) of the bytes asked for never reached the device as data: they were \
             deleted or replaced before they were written back.",
            size(bytes),
            percent(share)
        )
    })
}

/// What no part holds, and the accounts that are in no figure.
fn rest(row: &AccountRow, means: &AccountMeans) -> String {
    let bytes = means.bytes(AccountPart::Unattributed);
    let mut text = match means.check.unattributed_share {
        Some(share) if share > UNATTRIBUTED_MUCH => format!(
            "{} ({}) are unattributed, more than {}: take every part as a rough figure",
            size(bytes),
            percent(share),
            percent(UNATTRIBUTED_MUCH)
        ),
        Some(_) if bytes < 0.5 => "Nothing is unattributed".to_owned(),
        Some(share) => format!("{} ({}) are unattributed", size(bytes), percent(share)),
        None => "Nothing was to be attributed".to_owned(),
    };
    let seen_too_much = -means.check.unseen_bytes;
    if seen_too_much >= 0.5 {
        text.push_str(&format!(
            "; the trace saw {} more than the counter, so that the lines add up to more than it",
            size(seen_too_much)
        ));
    }
    if !row.spoilt.is_empty() {
        let lost: u64 = row.spoilt.iter().fold(0, |sum, one| sum.saturating_add(one.lost_events));
        text.push_str(&format!(
            "; {} more {} spoilt by {lost} lost events and excluded from these results",
            trials(row.spoilt.len()),
            if row.spoilt.len() == 1 { "is" } else { "are" }
        ));
    }
    text + "."
}

fn trials(n: usize) -> String {
    if n == 1 { "1 trial".to_owned() } else { format!("{n} trials") }
}

/// A size in powers of ten, as datasets are sized: `2.73 GB`, `300 MB`, `8.40 kB`, `12 B`.
fn size(bytes: f64) -> String {
    match bytes {
        b if b < 999.5 => format!("{b:.0} B"),
        b if b < 999.5e3 => format!("{} kB", three_digits(b / 1e3)),
        b if b < 999.5e6 => format!("{} MB", three_digits(b / 1e6)),
        b => format!("{} GB", three_digits(b / 1e9)),
    }
}

/// `70 %`, `3.1 %`, `under 0.1 %`.
fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0 %".to_owned(),
        p if p < 0.1 => "under 0.1 %".to_owned(),
        p if p < 9.95 => format!("{p:.1} %"),
        p => format!("{p:.0} %"),
    }
}

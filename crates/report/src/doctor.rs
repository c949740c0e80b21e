//! What `doctor` found: by place, the heaviest first; in two lines for `run`; and how much equal
//! runs differ.

use crate::format::{count, seconds};
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::{MIN_WIDTH, Style, bold, capital, clean, width_of, wrap};
use fsarena_model::host::{Finding, Noise, NoiseClass, Smallest, Weight};
use std::cmp::Reverse;

/// Indent of the sentences below a reading.
const INDENT: &str = "      ";
/// Runs below which the spread is known to no better than a third: 1 ÷ √(2(n - 1)).
const RUNS_FEW: u32 = 6;

/// All findings by place, in the order of their places; those that found nothing only where `all`
/// is asked for.
#[must_use]
pub fn doctor_table(findings: &[Finding], all: bool, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut places: Vec<&str> = Vec::new();
    for finding in findings {
        if !places.contains(&finding.place.as_str()) {
            places.push(&finding.place);
        }
    }
    let mut out = String::new();
    for place in places {
        let shown = |f: &&Finding| f.place == place && (all || f.weight != Weight::Fine);
        let mut of_place: Vec<&Finding> = findings.iter().filter(shown).collect();
        of_place.sort_by_key(|finding| Reverse(finding.weight));
        out.push_str(&bold(&clean(place), style.colour));
        out.push('\n');
        if of_place.is_empty() {
            out.push_str("  nothing to object to\n");
        }
        for finding in of_place {
            out.push_str(&one(finding, width, style));
        }
        out.push('\n');
    }
    let hidden = findings.iter().any(|f| f.weight == Weight::Fine) && !all;
    let hint = if hidden { "; --all shows those that are fine, too" } else { "" };
    out.push_str(&wrap("", &format!("{}{hint}.", counts(findings)), width));
    out
}

/// A finding: its reading, why it matters, what mends it. The command stands on a line of its own,
/// unbroken.
fn one(finding: &Finding, width: usize, style: Style) -> String {
    let is_heavy = finding.weight >= Weight::Warning;
    let word = finding.weight.word();
    let word = if is_heavy { word.to_uppercase() } else { word.to_owned() };
    let reading = format!("{word} {}: {}.", finding.code, finding.reading);
    // Later lines stand under the sentences below; the first begins further out.
    let lines = wrap(INDENT, &reading, width);
    let rest = lines.trim_start().strip_prefix(&word).unwrap_or_default();
    let mut out = format!("  {}{rest}", bold(&word, style.colour && is_heavy));
    if !finding.why.is_empty() {
        out.push_str(&wrap(INDENT, &format!("{}.", capital(&finding.why)), width));
    }
    if let Some(remedy) = &finding.remedy {
        let stop = if finding.command.is_some() { ':' } else { '.' };
        out.push_str(&wrap(INDENT, &format!("{}{stop}", capital(remedy)), width));
    }
    if let Some(command) = &finding.command {
        out.push_str(&format!("{INDENT}  {}\n", clean(command)));
    }
    out
}

/// `1 bad, 2 warnings, 3 notes, 4 unknown, 20 fine`.
fn counts(findings: &[Finding]) -> String {
    let of = |weight: Weight| findings.iter().filter(|f| f.weight == weight).count();
    let parts = Weight::ALL.into_iter().rev().filter_map(|weight| match (weight, of(weight)) {
        (_, 0) => None,
        (Weight::Warning | Weight::Note, n) => Some(count(n, weight.word())),
        (_, n) => Some(format!("{n} {}", weight.word())),
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "nothing was looked at".to_owned() } else { parts.join(", ") }
}

/// Two lines at most, for `run`: how many findings of each weight, and the readings of the
/// heaviest, cut off at `width` columns.
#[must_use]
pub fn doctor_lines(findings: &[Finding], width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    if findings.is_empty() {
        return String::new();
    }
    let head = format!("doctor: {} (fsarena doctor says more)", counts(findings));
    let mut heavy: Vec<&Finding> =
        findings.iter().filter(|finding| finding.weight >= Weight::Warning).collect();
    heavy.sort_by_key(|finding| Reverse(finding.weight));
    let is_bad = heavy.first().is_some_and(|finding| finding.weight == Weight::Bad);
    let readings: Vec<String> =
        heavy.iter().map(|f| clean(&format!("{}: {}", f.place, f.reading))).collect();
    let mut out = format!("{}\n", bold(&cut(&head, width), style.colour && is_bad));
    if !readings.is_empty() {
        out.push_str(&format!("  {}\n", cut(&readings.join("; "), width - 2)));
    }
    out
}

/// The beginning of a line, with `…` where it is cut off.
fn cut(text: &str, columns: usize) -> String {
    if width_of(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        let mut longer = out.clone();
        longer.push(c);
        if width_of(&longer) + 1 > columns {
            break;
        }
        out = longer;
    }
    out.truncate(out.trim_end().len());
    out + "…"
}

/// How much equal runs differ, and the smallest differences that can be shown.
#[must_use]
pub fn noise_table(noise: &Noise, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let minutes: Vec<u32> = noise
        .classes
        .first()
        .map_or(Vec::new(), |c| c.smallest.iter().map(|s| s.minutes).collect());
    let heads: Vec<String> = minutes.iter().map(|minutes| format!("in {minutes} min")).collect();
    let mut columns = vec![
        Column::text("class of work"),
        Column::text("cache").optional(1),
        Column::figure("runs"),
        Column::figure("phase"),
        Column::figure("one run"),
        Column::figure("cv"),
    ];
    columns.extend(heads.iter().map(|head| Column::figure(head.as_str())));
    let mut grid = Table::new(columns);
    for class in &noise.classes {
        grid.row(row(class));
    }
    let title =
        format!("Equal runs on {}, for {}", clean(&noise.place), seconds(Some(noise.elapsed_ns)));
    let mut out = format!("{}\n", bold(&title, style.colour));
    if grid.is_empty() {
        out.push_str("No run came to its end: nothing can be said.\n");
        return out;
    }
    out.push_str(&text::table(&grid, width));
    out.push_str(&wrap("", &legend(noise), width));
    out
}

fn row(class: &NoiseClass) -> Vec<String> {
    let share = |share: f64| format!("{} %", fsarena_model::units::three_digits(share * 100.0));
    let dash = || "-".to_owned();
    let mut cells = vec![
        class.class.clone(),
        if class.cold { "cold" } else { "warm" }.to_owned(),
        class.runs.to_string(),
        seconds(Some(class.phase_ns)),
        seconds(Some(class.trial_ns)),
        class.cv.map_or_else(dash, share),
    ];
    cells.extend(class.smallest.iter().map(|smallest| {
        let mark = if smallest.capped { "*" } else { "" };
        smallest.difference.map_or_else(dash, |found| format!("{}{mark}", share(found)))
    }));
    cells
}

fn legend(noise: &Noise) -> String {
    let mut text =
        "cv: standard deviation of the logarithms of the phase's time. one run: a whole \
                    trial, with making, mounting and clearing up. in 10 min: the smallest \
                    difference between two contenders that the rule of fsarena shows in that time \
                    with a chance of 90 %, for work of this size, one question and a machine as \
                    quiet as now; both are estimates from the runs counted here."
            .to_owned();
    let all = || noise.classes.iter().flat_map(|class| &class.smallest);
    if all().any(|smallest: &Smallest| smallest.capped) {
        text.push_str(&format!(
            " *: {} blocks, the most of a run, are done earlier; --cap 96 goes on.",
            noise.cap
        ));
    }
    if all().any(|smallest| smallest.difference.is_none()) {
        text.push_str(" -: fewer than 3 runs here, or fewer than 4 blocks there: no verdict.");
    }
    if noise.classes.iter().any(|class| class.runs < RUNS_FEW) {
        text.push_str(&format!(
            " Of fewer than {RUNS_FEW} runs the spread is hardly known: the machine is slow or \
             busy."
        ));
    }
    text
}

#[cfg(test)]
mod tests;

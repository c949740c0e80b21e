//! What `fsarena selftest honesty` found: facts, a table and words a tape.

mod families;
mod power;

pub use families::family_tables;
pub use power::power_tables;

use crate::format::{count, grouped};
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::Style;
use crate::text::{bold, wrap};
use fsarena_honesty::{FALSE_PER_THOUSAND, Replayed, RuleFigures, TapeFacts};
use fsarena_model::units::{Nanos, three_digits};

/// Injected effects that power is shown of.
const SHOWN: [f64; 4] = [1.02, 1.05, 1.10, 1.30];
/// The effect that wrong signs are shown of.
const SMALL: f64 = 1.02;
/// The effect that costs are shown of.
const MIDDLE: f64 = 1.05;

/// All tapes, each with its facts, its table and what follows from it; then what each rule is.
#[must_use]
pub fn honesty_tables(tapes: &[Replayed], width: usize, style: Style) -> String {
    let mut out = String::new();
    for tape in tapes {
        let head = wrap("", &heading(&tape.tape), width);
        out.push_str(&bold(head.trim_end(), style.colour));
        out.push('\n');
        out.push_str(&wrap("  ", &facts(&tape.tape), width));
        out.push('\n');
        out.push_str(&table(tape, width));
        out.push('\n');
        out.push_str(&wrap("", &words(tape), width));
        out.push('\n');
    }
    if let Some(first) = tapes.first() {
        out.push_str(&legend(first, width, style));
    }
    out
}

fn heading(tape: &TapeFacts) -> String {
    format!("{}: {}, {} ({})", tape.source, tape.workload, tape.phase, tape.clock.name())
}

fn facts(tape: &TapeFacts) -> String {
    let minutes = tape.span_s / 60.0;
    let lag1 = tape.lag1.map_or_else(|| "-".to_owned(), |lag1| format!("{lag1:.2}"));
    let mut text = format!(
        "{} of one configuration in {minutes:.0} min, {} s each; median {}, CV {} %, lag-1 \
         autocorrelation {lag1}, longest stretch on one side of the median {}, last quarter ÷ \
         first {:.3}, every second trial ÷ the others {:.3}, longest pause {:.1} s",
        count(tape.trials, "trial"),
        three_digits(tape.trial_s),
        Nanos(tape.median.round() as u64),
        three_digits(100.0 * tape.cv),
        count(tape.longest_stretch, "trial"),
        tape.last_to_first,
        tape.second_to_first,
        tape.longest_pause_s,
    );
    let left = tape.left;
    for (trials, why) in [
        (left.incomplete, "incomplete"),
        (left.bad_contents, "with wrong contents"),
        (left.other_conditions, "in another state of caches or memory"),
    ] {
        if trials > 0 {
            text.push_str(&format!("; left out {trials} {why}"));
        }
    }
    text
}

fn table(tape: &Replayed, width: usize) -> String {
    let powers = SHOWN.map(|factor| format!("+{} %", percent(factor - 1.0)));
    let mut columns = vec![
        Column::text("rule"),
        Column::figure("A/A false %").narrow(),
        Column::figure("95 %"),
        Column::figure("tapes like it").optional(4),
        Column::figure("wrong sign").narrow(),
    ];
    columns.extend(powers[..3].iter().map(|power| Column::figure(power.as_str())));
    columns.push(Column::figure(powers[3].as_str()).optional(1));
    columns.extend([
        Column::figure("false SAME").narrow(),
        Column::figure("covers").optional(2),
        Column::figure("runs"),
        Column::figure("p90").optional(3),
        Column::figure("time s").narrow(),
    ]);
    let mut grid = Table::new(columns);
    for rule in &tape.rules {
        grid.row(cells(rule));
    }
    text::table(&grid, width)
}

fn cells(rule: &RuleFigures) -> Vec<String> {
    let dash = || "-".to_owned();
    let rate = &rule.false_verdicts;
    let clusters = match (rule.clusters_low, rule.clusters_high) {
        (Some(low), Some(high)) => range(low, high),
        _ => dash(),
    };
    let mut cells = vec![
        rule.name.clone(),
        format!("{:.1}", 100.0 * rate.share()),
        range(rate.low, rate.high),
        clusters,
        rule.effect(SMALL).map_or_else(dash, |effect| share(effect.wrong_sign())),
    ];
    cells.extend(SHOWN.map(|factor| {
        rule.effect(factor).map_or_else(dash, |effect| format!("{:.0}", 100.0 * effect.power()))
    }));
    let cost = rule.effect(MIDDLE);
    cells.extend([
        rule.false_same.map_or_else(dash, |same| share(same.share())),
        rule.least_coverage.map_or_else(dash, share),
        cost.map_or_else(dash, |effect| format!("{:.0}", effect.runs_median)),
        cost.map_or_else(dash, |effect| format!("{:.0}", effect.runs_p90)),
        cost.map_or_else(dash, |effect| three_digits(effect.seconds_median)),
    ]);
    cells
}

/// What the tape says of the promise, and of the habit that everyone knows.
fn words(tape: &Replayed) -> String {
    let wrong = |rule: &RuleFigures| rule.false_verdicts.count;
    let plays = grouped(u64::from(tape.replays));
    let mut text = String::new();
    for rule in tape.rules.iter().filter(|rule| rule.is_ours) {
        let kept = match (rule.is_over_limit(), rule.is_gate) {
            (false, _) => "in keeping with 5 %".to_owned(),
            (true, true) => {
                format!("MORE than the {FALSE_PER_THOUSAND} per 1,000 that 5 % allows: a failure")
            }
            (true, false) => {
                format!("more than the {FALSE_PER_THOUSAND} per 1,000 that 5 % allows")
            }
        };
        text.push_str(&format!(
            "{}: {} false verdicts in {plays} comparisons of the configuration with itself, \
             {kept}. ",
            rule.name,
            grouped(wrong(rule) as u64),
        ));
    }
    let others = tape.rules.iter().filter(|rule| !rule.is_ours);
    if let Some(worst) = others.max_by_key(|rule| wrong(rule)) {
        text.push_str(&format!("The most: {} with {}.", worst.name, grouped(wrong(worst) as u64)));
    }
    text
}

fn legend(tape: &Replayed, width: usize, style: Style) -> String {
    let mut out = bold("The rules", style.colour);
    out.push('\n');
    for rule in &tape.rules {
        out.push_str(&wrap("- ", &format!("{}: {}.", rule.name, rule.legend), width));
    }
    let notes = [
        "The rules named after tools are made here of what each tool prints, on one value a trial: \
         they are not the tools' own words, and the tools are usually run on other values."
            .to_owned(),
        format!(
            "Every rule plays {} times for each effect, from the same {} starting slots, drawn at \
             random; no window goes past the end of its tape. The values of B are multiplied by \
             the effect, which also lengthens the machine's time.",
            grouped(u64::from(tape.replays)),
            tape.starts
        ),
        "A/A false %: FASTER and SLOWER where nothing was done to B. 95 %: the exact binomial \
         interval for this very tape; windows overlap, so that 'tapes like it' is a bootstrap over \
         stretches of the tape, absent where there are fewer than five."
            .to_owned(),
        format!(
            "wrong sign: FASTER at +{0} %. +n %: SLOWER where B takes n % longer. false SAME: \
             where the truth is exactly the margin, +{1} %. covers: the share of intervals that \
             contain the truth, the least over all effects. runs (both sides together; p90: \
             90 % of plays need no more) and time (of the machine, median; whole trials with \
             reset and mount): at +{2} %. All shares in %; a dash where the rule says no such \
             thing.",
            percent(SMALL - 1.0),
            percent(tape.margin),
            percent(MIDDLE - 1.0)
        ),
    ];
    for note in notes {
        out.push_str(&wrap("", &note, width));
    }
    out
}

/// `5`, `2.5`.
fn percent(share: f64) -> String {
    let text = format!("{:.1}", 100.0 * share);
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn share(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

fn range(low: f64, high: f64) -> String {
    format!("{:.1}–{:.1}", 100.0 * low, 100.0 * high)
}

#[cfg(test)]
mod tests;

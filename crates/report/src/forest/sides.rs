//! Before and after a change on one machine: what changed, one row a contender, and each boot.

use super::{Ends, SAME_INTERVAL, bare, decisive, units};
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::wrap;
use crate::text::{MIN_WIDTH, Style};
use crate::text::{heading, titled_list};
use crate::verdict::text::{Claim, claim, level, margin, metric, value};
use fsarena_model::verdict::Verdict;
use fsarena_verdict::compare::{Change, SideRow, Sides, SidesQuestion, UnitValue};

/// Digits of a digest, enough to tell two apart.
const DIGEST_DIGITS: usize = 12;

/// The same contenders before and after.
#[must_use]
pub fn sides_tables(sides: &Sides, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out =
        heading(&format!("Before and after on one machine: {}", sides.machine), width, style);
    out.push_str(&titled_list("Before", &units(&sides.before), width, style));
    out.push_str(&titled_list("After", &units(&sides.after), width, style));
    let mut changed: Vec<String> = sides.changes.iter().map(change).collect();
    if changed.is_empty() {
        changed.push("nothing that is recorded".to_owned());
    }
    out.push_str(&titled_list("Changed", &changed, width, style));
    out.push_str(&titled_list("Notes", &sides.notes, width, style));
    for question in &sides.questions {
        out.push('\n');
        let what = metric(question.metric, question.clock);
        let title = format!("{} / {}: {what}", question.workload, question.phase);
        out.push_str(&heading(&title, width, style));
        if question.rows.is_empty() {
            out.push_str("No contender has values.\n");
            continue;
        }
        out.push_str(&text::table(&table(sides, question), width));
        for row in &question.rows {
            out.push_str(&wrap("  - ", &format!("{}.", sentence(sides, question, row)), width));
        }
    }
    out.push('\n');
    out.push_str(&wrap("", &legend(sides), width));
    out
}

/// `kernel release: 6.1 → 6.2`.
fn change(change: &Change) -> String {
    let text = |values: &[String]| {
        let one = |value: &String| {
            let is_digest = value.len() == 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
            if is_digest { value[..DIGEST_DIGITS].to_owned() } else { value.clone() }
        };
        let values: Vec<String> = values.iter().map(one).collect();
        if values.is_empty() { "-".to_owned() } else { values.join(" | ") }
    };
    format!("{}: {} → {}", change.what, text(&change.before), text(&change.after))
}

/// The interval that the verdict on a contender rests on.
fn of_row(row: &SideRow) -> Ends {
    match row.verdict {
        Verdict::Same => Ends { low: row.same_low, high: row.same_high, level: row.same_level },
        _ => Ends { low: row.low, high: row.high, level: row.level },
    }
}

fn table(sides: &Sides, question: &SidesQuestion) -> Table {
    let mut grid = Table::new([
        Column::text("contender"),
        Column::figure("before"),
        Column::figure("after"),
        Column::figure("boots"),
        Column::figure("ratio"),
        Column::figure("interval"),
        Column::text("after is"),
    ]);
    for row in &question.rows {
        let (text, interval) = match row.low {
            Some(_) => decisive(row.verdict, sides.margin, row.ratio, of_row(row)),
            None => (bare(row.ratio), None),
        };
        grid.row(vec![
            row.label.clone(),
            mean(question, &row.before),
            mean(question, &row.after),
            format!("{} + {}", row.before.len(), row.after.len()),
            text,
            interval.unwrap_or_else(|| "-".to_owned()),
            row.verdict.word().to_owned(),
        ]);
    }
    grid
}

/// Geometric mean over boots.
fn mean(question: &SidesQuestion, side: &[UnitValue]) -> String {
    if side.is_empty() {
        return "-".to_owned();
    }
    let logs: f64 = side.iter().map(|one| one.value.ln()).sum();
    value(question.metric, (logs / side.len() as f64).exp())
}

/// What is said of a contender, with the value of each boot.
fn sentence(sides: &Sides, question: &SidesQuestion, row: &SideRow) -> String {
    let (after, before) = (format!("{} after", row.label), "before");
    let own = of_row(row);
    let mut text = claim(&Claim {
        a: &after,
        b: before,
        verdict: row.verdict,
        metric: question.metric,
        margin: sides.margin,
        ratio: row.ratio,
        low: own.low,
        high: own.high,
    });
    text.push_str(&format!(", {} + {} boots", row.before.len(), row.after.len()));
    if row.verdict != Verdict::Same {
        text.push_str(&format!(", margin {}", margin(sides.margin)));
    }
    for (name, side) in [("before", &row.before), ("after", &row.after)] {
        if !side.is_empty() {
            let values: Vec<String> =
                side.iter().map(|one| value(question.metric, one.value)).collect();
            text.push_str(&format!("; {name} {}", values.join(", ")));
        }
    }
    if let Some(why) = &row.why {
        text.push_str(&format!("; {why}"));
    }
    text
}

fn legend(sides: &Sides) -> String {
    let rows = || sides.questions.iter().flat_map(|one| &one.rows);
    let mut levels: Vec<f64> = rows().filter_map(|row| of_row(row).level).collect();
    levels.sort_by(f64::total_cmp);
    let brackets = match (levels.first(), levels.last()) {
        (Some(&least), Some(&most)) if level(least) != level(most) => {
            format!(" Intervals: {} to {} each,", level(least), level(most))
        }
        (Some(&only), _) => format!(" Intervals: {} each,", level(only)),
        _ => String::new(),
    };
    let same = if rows().any(|row| row.verdict == Verdict::Same) { SAME_INTERVAL } else { "" };
    let corrected = if brackets.is_empty() {
        String::new()
    } else {
        format!(
            " by Welch's t on log means of boots, corrected for all contenders and questions \
             above{same}."
        )
    };
    format!(
        "Each boot counts once, whatever the number of its RUNs and trials; values are geometric \
         means.{brackets}{corrected} What changed is listed, not tested: anything on that list, \
         and whatever is not recorded, can be the cause."
    )
}

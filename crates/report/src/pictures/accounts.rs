//! Where the written bytes went: the parts of an account as one bar a contender, and what the
//! files hold on the device beside it.

use super::{key, phase_id_of};
use crate::context::SectionContext;
use crate::format::three;
use crate::labels::account_title;
use fsarena_chart::{Axis, Head, Segment, Spot, Stack, Stacks};
use fsarena_study::{AccountMeans, AccountPart, AccountRow, AccountView};

/// Bytes of a megabyte, as everywhere in accounts.
const MB: f64 = 1e6;

/// The parts of what was written.
pub(crate) fn account(context: &SectionContext<'_>, view: &AccountView) -> Stacks {
    let per =
        if view.per_cycle { "written to the device a cycle" } else { "written to the device" };
    Stacks {
        head: Head {
            id: phase_id_of(context, (&view.workload, &view.phase), "account"),
            title: account_title(view),
            description: description(view),
        },
        axis: Axis { title: format!("{per}, MB"), log: false, unit: " MB".to_owned() },
        names: AccountPart::ALL.iter().map(|(name, _)| (*name).to_owned()).collect(),
        by_name: true,
        against: "asked for".to_owned(),
        stacks: view.rows.iter().map(parts).collect(),
    }
}

/// What the files hold at the end: contents, and what is allocated beyond them. `None` where
/// nothing is known of it.
pub(crate) fn allocated(context: &SectionContext<'_>, view: &AccountView) -> Option<Stacks> {
    let stack = |row: &AccountRow| {
        let own = row.means.as_ref()?.allocated;
        let (contents, end) =
            (own.contents_bytes / MB, (own.contents_bytes + own.rounding_bytes) / MB);
        let tip = |what: &str, mb: f64| format!("{}: {what} {} MB", row.label, three(mb));
        let contents_tip = tip("contents", contents);
        let rounding_tip = tip("rounding as allocated", end - contents);
        Some(Stack {
            key: key(row.contender, row.label.as_str()),
            segments: vec![
                Segment { name: 0, from: 0.0, to: contents, tip: contents_tip },
                Segment { name: 1, from: contents, to: end, tip: rounding_tip },
            ],
            note: match own.unplaced_files {
                0.0 => String::new(),
                _ => "not all places known".to_owned(),
            },
            ..Stack::default()
        })
    };
    let stacks: Vec<Stack> = view.rows.iter().filter_map(stack).collect();
    let said: Vec<String> = stacks
        .iter()
        .flat_map(|stack| stack.segments.iter().map(|segment| segment.tip.clone()))
        .collect();
    (!stacks.is_empty()).then(|| Stacks {
        head: Head {
            id: phase_id_of(context, (&view.workload, &view.phase), "allocated"),
            title: format!("{} / {}: space of the files at the end", view.workload, view.phase),
            description: format!("What the files hold on the device: {}.", said.join("; ")),
        },
        axis: Axis {
            title: "held by all files at the end, MB".to_owned(),
            log: false,
            unit: " MB".to_owned(),
        },
        names: ["contents", "rounding as allocated"].map(str::to_owned).to_vec(),
        stacks,
        ..Stacks::default()
    })
}

fn parts(row: &AccountRow) -> Stack {
    let mut end = 0.0;
    let mut segments = Vec::new();
    let lines = row.means.iter().flat_map(|means| &means.lines).enumerate();
    for (name, line) in lines.filter(|(_, line)| line.bytes > 0.0) {
        let from = end;
        end += line.bytes / MB;
        let share = line.share.map_or_else(String::new, |share| {
            format!(", {:.1} % of what the device wrote", share * 100.0)
        });
        let tip = format!("{} {} MB{share}", line.part.name(), three(line.bytes / MB));
        segments.push(Segment { name, from, to: end, tip });
    }
    let asked = row.means.as_ref().map(|means| Spot {
        value: means.asked_bytes / MB,
        tip: format!("asked for {} MB", three(means.asked_bytes / MB)),
    });
    Stack {
        key: key(row.contender, row.label.as_str()),
        segments,
        held_against: asked,
        note: note(row),
    }
}

/// What must not be overlooked, then how many times the asked bytes it is.
fn note(row: &AccountRow) -> String {
    let mut said = Vec::new();
    if !row.spoilt.is_empty() {
        said.push(format!("{} SPOILT", row.spoilt.len()));
    }
    match &row.means {
        Some(means) if means.asked_bytes > 0.0 => {
            said.push(format!("{} × asked", three(means.check.counter_bytes / means.asked_bytes)));
        }
        None if row.spoilt.is_empty() => said.push("no account".to_owned()),
        _ => {}
    }
    said.join(", ")
}

fn description(view: &AccountView) -> String {
    let of = |means: &AccountMeans| {
        let parts = means.lines.iter().filter(|line| line.bytes > 0.0);
        let words = parts.map(|line| format!("{} {} MB", line.part.name(), three(line.bytes / MB)));
        words.collect::<Vec<_>>().join(", ")
    };
    let row = |row: &AccountRow| match &row.means {
        Some(means) => format!(
            "{}: asked for {} MB, written {} MB ({})",
            row.label,
            three(means.asked_bytes / MB),
            three(means.check.counter_bytes / MB),
            of(means)
        ),
        None => format!("{}: {}", row.label, note(row)),
    };
    let rows: Vec<String> = view.rows.iter().map(row).collect();
    format!("{}.", rows.join("; "))
}

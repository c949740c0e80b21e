//! A RUN that was planned without questions: medians, and that nothing more is claimed.

use crate::context::SectionContext;
use crate::format::ns;
use crate::labels::{absence, row_label};
use crate::render::html as parts;
use crate::verdict::answers::listed;
use fsarena_study::PhaseTable;
use maud::{Markup, html};

/// Contenders that a sentence names at most.
const NAMED: usize = 8;

/// What can be said without verdicts.
pub(super) fn section(context: &SectionContext<'_>) -> Markup {
    let study = context.run.study;
    if study.tables.iter().all(|table| table.rows.is_empty()) {
        return html! {
            (parts::missing("There is no answer: no trial of this RUN came to its end."))
        };
    }
    html! {
        (parts::warning(
            "this RUN was planned without questions, so there are no verdicts. What follows are \
             medians; whether a difference between them is real is not said."
        ))
        ul.answers {
            @for table in &study.tables {
                li {
                    span.what { (table.phase) " of " (table.workload) ", median time to "
                        (study.compared_clock.name()) }
                    (sentence(table)) "."
                }
            }
        }
    }
}

/// The medians, least first.
fn sentence(table: &PhaseTable) -> String {
    let mut rows: Vec<(u64, String)> = table
        .rows
        .iter()
        .filter_map(|row| Some((row.compared.as_ref()?.median_ns, row_label(table, row))))
        .collect();
    rows.sort();
    let mut items: Vec<String> = rows
        .iter()
        .take(NAMED)
        .map(|(median, who)| format!("{who} {}", ns(Some(*median))))
        .collect();
    if rows.len() > NAMED {
        items.push(format!("{} more", rows.len() - NAMED));
    }
    let absent: Vec<String> = table
        .absent
        .iter()
        .take(NAMED)
        .map(|row| format!("{} {}", row.label, absence(row.why)))
        .collect();
    match (items.is_empty(), absent.is_empty()) {
        (true, true) => "no figures".to_owned(),
        (true, false) => format!("no figures: {}", listed(&absent)),
        (false, true) => listed(&items),
        (false, false) => format!("{}; without figures: {}", listed(&items), listed(&absent)),
    }
}

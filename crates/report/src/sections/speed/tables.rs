//! The tables of speed, those of `show`: figures, amounts, latency and traffic of a phase; space;
//! what programs cost.

use crate::context::SectionContext;
use crate::pictures;
use crate::render::html as parts;
use crate::table::Table;
use crate::{job, ledger, phases};
use fsarena_study::{PhaseTable, Study};
use maud::{Markup, html};

/// The figures of a phase and, below them, why contenders have none.
pub(crate) fn figures(context: &SectionContext<'_>, table: &PhaseTable) -> Markup {
    let tables = phases::phase_grids(context.run.study, table, context.style);
    let traffic = ledger::traffic(table);
    let all = tables.into_iter().chain([traffic]).map(Table::without_empty_columns);
    let why = |absent| pictures::why_absent(context, table, absent);
    let absent = table.absent.iter().map(|one| format!("{}: {}", one.label, why(one)));
    html! {
        @for own in all { (own) }
        (parts::list(&absent.collect::<Vec<_>>()))
    }
}

/// Space after the last phase and how long the unmount took.
pub(crate) fn space(study: &Study) -> Markup {
    let table = ledger::space(study);
    html! {
        (parts::heading("Space and unmount"))
        @if table.is_empty() {
            (parts::missing("No trial has a reading of space."))
        } @else {
            (table)
            (parts::note(
                "amp.: growth of used space per byte stored; a dash where nothing is left stored. \
                 Unmount: the last one of a trial."
            ))
        }
    }
}

/// The same work by a program and by the engine; nothing where no two workloads have both.
pub(crate) fn tool_overhead(study: &Study) -> Markup {
    let table = job::tool_overhead(study);
    html! {
        @if !table.is_empty() {
            (parts::heading(job::TOOL_OVERHEAD))
            (table)
            @for line in job::tool_overhead_notes(study) { (parts::note(&line)) }
        }
    }
}

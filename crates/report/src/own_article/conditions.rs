//! Under which conditions a RUN was measured, and what to mind with its figures: by the views that
//! `show` and the page are made of.

use super::phrases::Phrases;
use crate::answer::answer;
use crate::context::{Run, SectionContext};
use crate::format::cache;
use crate::labels::not_cold;
use crate::section::{Block, Section};
use crate::table::{Cell, Column, Table};
use crate::text::begun;
use fsarena_model::contender::Levels;
use fsarena_model::units::Bytes;
use fsarena_study::{AsMade, Fact, Fairness, MemoryView, PhaseRow, PhaseTable};

/// What to mind: the cautions of the answer, for what all holds, and what is not decided yet.
pub(super) fn mind(run: &Run<'_>, phrases: &dyn Phrases) -> Section {
    let answer = answer(run, None);
    let contenders = &run.header.plan.contenders;
    let names: Vec<&str> = contenders.iter().map(|one| one.label.as_str()).collect();
    let sentence = |text: &str| format!("{}.", begun(&phrases.words(text), &names));
    let cautions = answer.cautions.iter().map(|caution| match &caution.remedy {
        Some(remedy) => format!("{} {}", sentence(&caution.text), sentence(remedy)),
        None => sentence(&caution.text),
    });
    let open = Some(&answer.undecided.sentence).filter(|_| answer.undecided.unknown > 0);
    let ends = [open, Some(&answer.scope)].into_iter().flatten();
    let ends = ends.filter(|text| !text.is_empty()).map(|text| phrases.words(text));
    let items: Vec<String> = cautions.chain(ends).collect();
    match items.is_empty() {
        true => Section::none(),
        false => Section::new(vec![Block::List(None, items)]),
    }
}

/// Facts of the host that an article states.
const HOST: [&str; 8] = [
    "kernel",
    "distribution",
    "memory",
    "swap",
    "virtualisation",
    "clock source",
    "frequency governor",
    "steal",
];

/// The machine, programs with their versions, contenders as they were made and mounted, caches and
/// memory of each phase.
pub(super) fn section(context: &SectionContext<'_>, phrases: &dyn Phrases) -> Section {
    let run = context.run;
    let view = fsarena_study::fairness(run.header, run.sessions, run.records);
    let mut blocks = vec![Block::List(None, facts(&view, phrases))];
    let made = made(&view.contenders);
    if !made.is_empty() {
        blocks.push(Block::Table(made));
    }
    let states = states(run, phrases);
    if !states.is_empty() {
        blocks.push(Block::Table(states));
    }
    Section::new(blocks)
}

fn facts(view: &Fairness, phrases: &dyn Phrases) -> Vec<String> {
    let host = HOST.iter().filter_map(|name| view.host.iter().find(|fact| fact.name == *name));
    let said =
        |fact: &Fact| format!("{}: {}", phrases.words(&fact.name), phrases.words(&fact.value));
    host.chain(&view.tools).map(said).collect()
}

/// Contenders with the command that made each and the mount options in force.
fn made(contenders: &[AsMade]) -> Table {
    let columns = [
        Column::text("contender"),
        Column::code("made by"),
        Column::code("mount options asked for"),
        Column::code("mount options in force"),
    ];
    let mut table = Table::new(columns).titled("Contenders as they were made and mounted");
    for own in contenders {
        let typed = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
        let mounted = own.mounted.as_deref().unwrap_or_default();
        let notes = own.varied.iter().map(|how| format!("not all its trials were alike: {how}"));
        table.row([
            Cell::contender(own.contender, &own.label).notes(notes.collect()),
            Cell::text(typed(&own.mkfs)),
            Cell::text(typed(&own.mount_asked)),
            Cell::text(typed(mounted)),
        ]);
    }
    table
}

/// Phases of one workload that were measured alike.
#[derive(PartialEq)]
struct State {
    workload: String,
    phases: Vec<String>,
    asked: &'static str,
    had: &'static str,
    why: Option<String>,
    memory: String,
    labels: Vec<String>,
}

impl State {
    fn is_of(&self, workload: &str, other: &Self) -> bool {
        let own = (self.asked, self.had, &self.why, &self.memory);
        self.workload == workload && own == (other.asked, other.had, &other.why, &other.memory)
    }
}

/// State of caches and memory, asked and had.
fn states(run: &Run<'_>, phrases: &dyn Phrases) -> Table {
    let mut all: Vec<State> = Vec::new();
    for table in &run.study.tables {
        for one in of_phase(run, table) {
            let alike = |known: &&mut State| {
                known.is_of(&table.workload, &one) && known.labels == one.labels
            };
            match all.iter_mut().find(alike) {
                Some(known) => known.phases.extend(one.phases),
                None => all.push(one),
            }
        }
    }
    let heads = ["workload", "phases", "caches asked for", "caches had", "memory", "contenders"];
    let mut table = Table::new(heads.map(Column::text)).titled("Caches and memory of the phases");
    let measured = run.study.tables.iter().flat_map(|table| &table.rows);
    let most = measured.map(|row| row.contender).collect::<std::collections::BTreeSet<_>>().len();
    for state in all {
        let phases: Vec<String> = state.phases.iter().map(|own| phrases.words(own)).collect();
        let who = match state.labels.len() {
            n if n == most => "all".to_owned(),
            _ => state.labels.join(", "),
        };
        table.row([
            Cell::text(state.workload),
            Cell::text(phases.join(", ")),
            Cell::text(state.asked),
            Cell::text(state.had).notes(state.why.into_iter().collect()),
            Cell::text(state.memory),
            Cell::text(who),
        ]);
    }
    table
}

/// The rows of a phase, those that were measured alike together.
fn of_phase(run: &Run<'_>, table: &PhaseTable) -> Vec<State> {
    let mut all: Vec<State> = Vec::new();
    for row in &table.rows {
        let Some(contender) = run.header.plan.contenders.get(row.contender) else { continue };
        let one = State {
            workload: table.workload.clone(),
            phases: vec![table.phase.clone()],
            asked: contender.levels.cache.name(),
            had: cache(row.cache),
            why: row.not_cold_because.as_ref().and_then(|_| not_cold(row)),
            memory: memory(&contender.levels, row),
            labels: vec![row.label.clone()],
        };
        match all.iter_mut().find(|known| known.is_of(&table.workload, &one)) {
            Some(known) => known.labels.extend(one.labels),
            None => all.push(one),
        }
    }
    all
}

/// Memory that the work had, and by what it was limited.
fn memory(levels: &Levels, row: &PhaseRow) -> String {
    match (&row.memory, levels.memory_bytes) {
        (MemoryView::Limited { limit_bytes, by }, _) => format!("{} by {by}", Bytes(*limit_bytes)),
        (MemoryView::NotLimited { limit_bytes, reason }, _) => {
            format!("not limited to {}: {reason}", Bytes(*limit_bytes))
        }
        (MemoryView::Whole, Some(bytes)) if levels.device.is_virtual() => {
            format!("{} of the guest", Bytes(bytes))
        }
        (MemoryView::Whole, _) => "not limited".to_owned(),
    }
}

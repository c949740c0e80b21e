//! Every trial of ours, as the appendix of 2008 lists every run: a row a block, a column a
//! contender, and the median that stands in the tables.

use super::measured::contenders;
use super::model::OwnRun;
use super::ours::{By, Ours};
use crate::format::bare_seconds;
use crate::section::Block;
use crate::table::{Cell, Column, Table};
use fsarena_model::contender::Cache;
use fsarena_model::record::{CacheState, Outcome, TrialRecord};
use std::collections::BTreeSet;

/// All trials of all machines, in the order of their blocks.
pub(super) fn every_trial(ours: &Ours<'_>) -> Vec<Block> {
    let tables = ours.runs.iter().enumerate().map(|(at, run)| {
        let (uid, tag) = (&run.study.uid, ours.tag(at));
        let title = format!("Appendix: every trial, seconds by `returned`, RUN {uid}{tag}");
        Block::Table(table(ours, run).titled(title))
    });
    let note = Block::Note("- is a trial that is not there.".to_owned());
    tables.chain([note]).collect()
}

fn table(ours: &Ours<'_>, run: &OwnRun<'_>) -> Table {
    let own = contenders(run.study);
    let heads = own.iter().map(|(_, label)| Column::figure(label.as_str()).narrow());
    let columns: Vec<Column> = std::iter::once(Column::text("")).chain(heads).collect();
    let mut table = Table::new(columns).in_groups(1);
    for test in &ours.tests {
        let (test_heading, Some(phase)) = (test.0.heading, test.1) else { continue };
        for block in blocks(run, &phase.workload) {
            let title = Cell::text(format!("{test_heading}, block {}", block + 1));
            let cells = own.iter().map(|(contender, _)| {
                trial(find(run, &phase.workload, *contender, block), &phase.phase)
            });
            table.row(std::iter::once(title).chain(cells));
        }
        let title = Cell::text(format!("{test_heading}, median"));
        let cells = own.iter().map(|(contender, _)| ours.cell(run, test, *contender, By::Returned));
        table.row(std::iter::once(title).chain(cells));
    }
    table
}

/// The blocks in which a workload is planned.
fn blocks(run: &OwnRun<'_>, workload: &str) -> BTreeSet<u32> {
    let plan = &run.header.plan;
    let named = |at: usize| plan.workloads.get(at).is_some_and(|w| w.name == workload);
    plan.schedule.iter().filter(|slot| named(slot.workload)).map(|slot| slot.block).collect()
}

fn find<'a>(
    run: &OwnRun<'a>,
    workload: &str,
    contender: usize,
    block: u32,
) -> Option<&'a TrialRecord> {
    let id = run.header.plan.contenders.get(contender)?.id();
    run.records.iter().find(|record| {
        let key = &record.key;
        key.block == block && key.workload == workload && key.contender == id
    })
}

fn trial(record: Option<&TrialRecord>, phase: &str) -> Cell {
    let Some(record) = record else { return Cell::none() };
    let Some(found) = record.phases.iter().find(|found| found.name == phase) else {
        return Cell::text(match record.outcome {
            Outcome::Done => "-",
            Outcome::NotRun { .. } => "not run",
            Outcome::Failed { .. } => "failed",
            Outcome::Interrupted => "interrupted",
        });
    };
    let mut notes = Vec::new();
    if !found.is_complete() {
        notes.push("partial: ended before the end of the work, in no figure".to_owned());
    }
    if record.has_bad_contents() {
        notes.push("WRONG CONTENTS: in no figure".to_owned());
    }
    if found.cache.asked == Cache::Cold && found.cache.state == CacheState::Warm {
        notes.push(format!("warm, though cold was asked for: {}", found.cache.why));
    }
    Cell::text(bare_seconds(found.clocks.returned_ns)).notes(notes)
}

//! Every trial of ours, as the appendix of 2008 lists every run: a row a block, a column a
//! contender, and the median that stands in the tables.

use super::layout::{Values, tables};
use super::measured::contenders;
use super::seconds::{By, Ours};
use crate::article::model::OwnRun;
use crate::footnotes::Footnotes;
use crate::format::bare_seconds;
use crate::style::Style;
use crate::text::heading;
use crate::text::wrap;
use fsarena_model::contender::Cache;
use fsarena_model::record::{CacheState, Outcome, TrialRecord};
use fsarena_reference::Test;

/// All trials of all machines, in the order of their blocks.
pub(super) fn every_trial(ours: &Ours<'_>, width: usize, style: Style) -> String {
    let mut out = String::new();
    let mut footnotes = Footnotes::default();
    for (at, run) in ours.runs.iter().enumerate() {
        let title = format!(
            "Appendix: every trial, seconds by `returned`, RUN {}{}",
            run.study.uid,
            ours.tag(at)
        );
        out.push_str(&heading(&title, width, style));
        let (mut titles, mut columns): (Vec<String>, Vec<Values>) = (Vec::new(), columns(run));
        for (test, phase) in &ours.tests {
            let Some(phase) = phase else { continue };
            for block in blocks(run, &phase.workload) {
                titles.push(format!("{}, block {}", test.heading, block + 1));
                for ((index, _), column) in contenders(run.study).iter().zip(&mut columns) {
                    let record = find(run, &phase.workload, *index, block);
                    column.cells.push(trial(record, &phase.phase, &mut footnotes));
                }
            }
            titles.push(median_title(test));
            for ((index, _), column) in contenders(run.study).iter().zip(&mut columns) {
                column.cells.push(ours.cell(
                    run,
                    Some(phase),
                    *index,
                    By::Returned,
                    &mut footnotes,
                ));
            }
        }
        out.push_str(&tables(&titles, &columns, width));
    }
    out.push_str(&footnotes.render(width));
    out.push_str(&wrap("", "- is a trial that is not there.", width));
    out
}

fn median_title(test: &Test) -> String {
    format!("{}, median", test.heading)
}

fn columns(run: &OwnRun<'_>) -> Vec<Values> {
    let empty = |(_, head): (usize, String)| Values { head, cells: Vec::new() };
    contenders(run.study).into_iter().map(empty).collect()
}

/// The blocks in which a workload is planned.
fn blocks(run: &OwnRun<'_>, workload: &str) -> Vec<u32> {
    let plan = &run.header.plan;
    let named = |at: usize| plan.workloads.get(at).is_some_and(|w| w.name == workload);
    let mut blocks: Vec<u32> =
        plan.schedule.iter().filter(|slot| named(slot.workload)).map(|slot| slot.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
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

fn trial(record: Option<&TrialRecord>, phase: &str, footnotes: &mut Footnotes) -> String {
    let Some(record) = record else { return "-".to_owned() };
    let Some(found) = record.phases.iter().find(|found| found.name == phase) else {
        let ended = match record.outcome {
            Outcome::Done => "-",
            Outcome::NotRun { .. } => "not run",
            Outcome::Failed { .. } => "failed",
            Outcome::Interrupted => "interrupted",
        };
        return ended.to_owned();
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
    footnotes.annotate(bare_seconds(found.clocks.returned_ns), notes)
}

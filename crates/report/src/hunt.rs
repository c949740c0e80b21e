//! Crash states at the entries of write logs as a table, and the promises that they break: for
//! finding bugs. There is no share and no interval: how many of these states break a promise says
//! nothing about the chance of it.

use crate::campaign_tables::CampaignTables;
use crate::crash::{CrashHead, place_words};
use crate::table::{Column, Table};
use fsarena_model::units::Bytes;
use fsarena_study::{HuntCase, HuntRow};

/// What was done, all rows, and a case of each broken promise.
pub(crate) fn hunt_tables(head: &CrashHead, states_most: u32, rows: &[HuntRow]) -> CampaignTables {
    let CrashHead { kernel, device_model, seconds, runs, seed, .. } = head;
    let last = seed.wrapping_add(u64::from(*runs).saturating_sub(1));
    let words = format!(
        "Linux {kernel} {}, {device_model} of {}, {runs} runs of {seconds} s (seeds \
         {seed} to {last}); power cuts at the entries of the write log, at most {states_most} \
         states a run.",
        place_words(head),
        Bytes(head.device_bytes)
    );
    let mut grid = Table::new([
        Column::text("contender"),
        Column::text("workload"),
        Column::figure("entries"),
        Column::figure("states"),
        Column::figure("looked at"),
        Column::figure("recoveries").optional(1),
        Column::figure("fsync broken"),
        Column::figure("documents broken"),
    ]);
    for row in rows {
        grid.row(vec![
            row.contender.clone(),
            row.workload.clone(),
            row.events.to_string(),
            row.states_made.to_string(),
            row.states_checked.to_string(),
            row.recoveries_checked.to_string(),
            row.contract_broken.to_string(),
            row.documented_broken.to_string(),
        ]);
    }
    let read = "Looked at: states that differ in what is on the disk. How many of them break a \
                promise says nothing about how often that happens: power cuts at uniform times do.";
    let notes = rows.iter().flat_map(notes).map(|(lead, words)| (lead.to_owned(), words));
    let above = vec![(String::new(), words)];
    CampaignTables { above, grid, notes: notes.collect(), read, few_runs: None }
}

fn notes(row: &HuntRow) -> Vec<(&'static str, String)> {
    let mut out = Vec::new();
    let who = format!("{}, {}: ", row.contender, row.workload);
    if row.events_taken < row.events {
        let what = format!("{who}{} of {} entries were drawn", row.events_taken, row.events);
        out.push(("mind: ", what));
    }
    if row.states_checked < row.states_made {
        let what = format!("{who}{} of {} states were drawn", row.states_checked, row.states_made);
        out.push(("mind: ", what));
    }
    if let Some(fault) = &row.disk_fault {
        let what = format!("{who}{fault}: what is broken is broken by the disk");
        out.push(("mind: ", what));
    }
    for case in &row.cases {
        let lead = if row.disk_fault.is_some() { "the disk's fault: " } else { "broken: " };
        let HuntCase { sentence, states, seed, missing, found, .. } = case;
        out.push((lead, format!("{who}in {states} states: {sentence}")));
        let after_s = case.after_ns as f64 / 1e9;
        let kept = case.kept.as_ref().map(|kept| format!(" (fsarena crash show {kept})"));
        let words = format!(
            "{}, seed {seed}, cut at {after_s:.6} s: {missing}: {found}{}",
            case.state,
            kept.unwrap_or_default()
        );
        out.push(("  such as ", words));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Style;

    fn head() -> CrashHead {
        CrashHead {
            kernel: "6.12.117-2df9".to_owned(),
            memory_bytes: Some(256 << 20),
            device_model: "hdd-2007".to_owned(),
            device_bytes: 8 << 30,
            seconds: 120,
            runs: 2,
            points: 200,
            seed: 7,
        }
    }

    #[test]
    fn cases_are_told_with_whose_fault_they_are_and_what_was_drawn() {
        let case = HuntCase {
            is_contract: true,
            sentence: "fsync(2): kept".to_owned(),
            states: 3,
            state: "dropall".to_owned(),
            seed: 7,
            after_ns: 1_500_000,
            missing: "1 write lost".to_owned(),
            found: "f: the name is not there".to_owned(),
            kept: Some("3f9a".to_owned()),
        };
        let honest = HuntRow {
            contender: "ext4".to_owned(),
            workload: "synced".to_owned(),
            events: 90,
            events_taken: 80,
            states_made: 300,
            states_checked: 200,
            contract_broken: 3,
            cases: vec![case],
            ..HuntRow::default()
        };
        let lost = Some("the disk lost flush 7 of the work".to_owned());
        let lost = HuntRow { disk_fault: lost, ..honest.clone() };
        assert!(honest.breaks_the_contract() && !lost.breaks_the_contract());
        let style = Style { colour: false, ..Style::default() };
        let rows = [honest, lost];
        let body = serde_json::json!({"head": head(), "states": 200, "rows": rows});
        crate::schema::assert_valid("crash-hunt", "hunt", body);
        let text = hunt_tables(&head(), 200, &rows).text(160, style);
        // Where lines are broken does not matter.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in [
            "at most 200 states a run",
            "mind: ext4, synced: 80 of 90 entries were drawn",
            "mind: ext4, synced: 200 of 300 states were drawn",
            "broken: ext4, synced: in 3 states: fsync(2): kept",
            "the disk's fault: ext4, synced: in 3 states: fsync(2): kept",
            "such as dropall, seed 7, cut at 0.001500 s: 1 write lost: f: the name is not there",
            "(fsarena crash show 3f9a)",
            "says nothing about how often",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
}

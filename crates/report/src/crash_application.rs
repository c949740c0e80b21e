//! Crash safety of applications as a table: acknowledged work lost, checks that failed, cases.

use crate::campaign_tables::CampaignTables;
use crate::crash::{CrashHead, few_runs, head_words};
use crate::format::ns;
use crate::table::{Column, Table};
use fsarena_study::{CrashApplication, CrashApplicationRow, CrashShare};
use serde::Serialize;

/// What all rows have in common; the seconds are those that the command was told.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CrashApplicationHead {
    #[serde(flatten)]
    pub campaign: CrashHead,
    pub applications: Vec<CrashApplication>,
}

/// What was done, all rows, what was found, and how it is read.
pub(crate) fn application_tables(
    head: &CrashApplicationHead,
    rows: &[CrashApplicationRow],
) -> CampaignTables {
    let mut above = vec![(String::new(), head_words(&head.campaign))];
    for application in &head.applications {
        let CrashApplication { name, title, source, notes } = application;
        above.push((format!("{name}: "), format!("{title}. {source}")));
        above.extend(notes.iter().map(|note| ("  ".to_owned(), note.clone())));
    }
    let read = "Acknowledged: units of work that the application said are durable, in all runs. \
                Lost: of those acknowledged before the cut, over all crash points at which its \
                check passed; at most at one cut, and the age of the oldest. Check failed: crash \
                points at which the check of the application says that its data are not whole, of \
                those at which it was run. Where there is none, ≤ is the upper end of the interval \
                (95 %) of the share of power cuts with any. Mounted: crash points at which the \
                file system could be mounted as before.";
    let notes = rows.iter().flat_map(findings).map(|(lead, words)| (lead.to_owned(), words));
    CampaignTables {
        above,
        grid: table(rows),
        notes: notes.collect(),
        read,
        few_runs: few_runs(head.campaign.runs),
    }
}

fn table(rows: &[CrashApplicationRow]) -> Table {
    let mut grid = Table::new([
        Column::text("contender"),
        Column::text("application"),
        Column::text("state"),
        Column::figure("acknowledged").optional(2),
        Column::figure("lost"),
        Column::figure("at most").optional(1),
        Column::figure("oldest").optional(1),
        Column::figure("check failed"),
        Column::figure("mounted").optional(3),
    ]);
    for row in rows {
        let is_lost = row.lost_max > 0;
        let if_lost = |text: String| if is_lost { text } else { "-".to_owned() };
        grid.row(vec![
            row.contender.clone(),
            row.application.clone(),
            row.state.clone(),
            row.acknowledged_units.to_string(),
            none_or_hits(&row.acknowledged_lost),
            if_lost(row.lost_max.to_string()),
            if_lost(ns(Some(row.lost_age_max_ns))),
            with_interval(&row.check_failed),
            row.mounted_as_before
                .as_ref()
                .map_or("repaired first".to_owned(), |it| format!("{}/{}", it.hits, it.of)),
        ]);
    }
    grid
}

/// What has to be known with a row.
fn findings(row: &CrashApplicationRow) -> Vec<(&'static str, String)> {
    let who = format!("{}, {}, {}: ", row.contender, row.application, row.state);
    let mut out = Vec::new();
    if row.kernel_reported > 0 {
        let times = row.kernel_reported;
        let what = format!("{who}the kernel reported damage at {times} crash points");
        out.push(("mind: ", what));
    }
    let failed = &row.check_failed;
    let mut what = Vec::new();
    if failed.hits > 0 {
        what.push(format!("its data were not whole at {} of {} cuts", failed.hits, failed.of));
    }
    if row.acknowledged_lost.crash_points > 0 {
        what.push(format!(
            "acknowledged work was lost at {} of {} cuts, {} at most",
            row.acknowledged_lost.crash_points,
            row.crash_points,
            units(row.lost_max)
        ));
    }
    if failed.of < row.crash_points {
        what.push(format!(
            "it could not be mounted at {} of {} cuts",
            row.crash_points - failed.of,
            row.crash_points
        ));
    }
    let lead = match () {
        () if row.state.starts_with("lying") => "the disk lied: ",
        () if failed.hits > 0 || failed.of < row.crash_points => "not whole: ",
        () => "lost: ",
    };
    if !what.is_empty() {
        out.push((lead, format!("{who}{}", what.join("; "))));
    }
    out.extend(row.cases.iter().map(|case| ("  such as ", case.clone())));
    out
}

/// `24/900`; `0/900 (≤1.9 %)` where there is none; `-` where there was nothing to look at.
fn none_or_hits(share: &CrashShare) -> String {
    let CrashShare { hits, of, .. } = share;
    match share.high.filter(|_| *hits == 0) {
        _ if *of == 0 => "-".to_owned(),
        Some(high) => format!("0/{of} (≤{:.1} %)", 100.0 * high),
        None => format!("{hits}/{of}"),
    }
}

fn units(number: u64) -> String {
    format!("{number} {}", if number == 1 { "unit" } else { "units" })
}

/// `24/200 (8.0 to 17.5 %)`; `0/200 (≤1.9 %)`.
fn with_interval(share: &CrashShare) -> String {
    match (share.low, share.high) {
        (Some(low), Some(high)) if share.hits > 0 => {
            let (low, high) = (100.0 * low, 100.0 * high);
            format!("{}/{} ({low:.1} to {high:.1} %)", share.hits, share.of)
        }
        _ => none_or_hits(share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Style;

    fn points(hits: u64, of: u64) -> CrashShare {
        CrashShare { hits, of, crash_points: hits, low: Some(0.08), high: Some(0.1751) }
    }

    fn row(failed: u64, lost: u64) -> CrashApplicationRow {
        CrashApplicationRow {
            contender: "ext4".to_owned(),
            application: "sqlite-off".to_owned(),
            state: "dropall".to_owned(),
            runs: 10,
            crash_points: 200,
            mount_options: "rw".to_owned(),
            acknowledged_units: 4800,
            acknowledged_lost: CrashShare { crash_points: lost.min(3), ..points(lost, 48_000) },
            lost_max: lost,
            lost_age_max_ns: 31_400_000_000,
            check_failed: points(failed, 200),
            mounted_as_before: Some(points(200, 200)),
            kernel_reported: 0,
            cases: if failed > 0 { vec!["seed 1, cut at 2.5 s: bad".to_owned()] } else { vec![] },
        }
    }

    fn text(rows: &[CrashApplicationRow]) -> String {
        text_of(rows, 10)
    }

    fn text_of(rows: &[CrashApplicationRow], runs: u32) -> String {
        let application = CrashApplication {
            name: "sqlite-off".to_owned(),
            title: "SQLite".to_owned(),
            source: "its documents".to_owned(),
            notes: vec!["nothing is promised".to_owned()],
        };
        let campaign = CrashHead {
            kernel: "6.12".to_owned(),
            memory_bytes: Some(256 << 20),
            device_model: "hdd-2007".to_owned(),
            device_bytes: 8 << 30,
            seconds: 120,
            runs,
            points: 20,
            seed: 1,
        };
        let head = CrashApplicationHead { campaign, applications: vec![application] };
        let body = serde_json::json!({"head": head, "rows": rows});
        crate::schema::assert_valid("crash-application", "crash_application", body);
        application_tables(&head, rows).text(160, Style::default())
    }

    #[test]
    fn what_is_not_safe_is_said_with_its_interval_and_cases() {
        let shown = text(&[row(24, 120)]);
        for words in [
            "24/200 (8.0 to 17.5 %)",
            "120/48000",
            "31.4 s",
            "not whole: ext4, sqlite-off, dropall: its data were not whole at 24 of 200 cuts; \
             acknowledged work was lost at 3 of 200 cuts, 120 units at most",
            "such as seed 1, cut at 2.5 s: bad",
            "SQLite. its documents",
            "nothing is promised",
        ] {
            assert!(shown.contains(words), "{words}\n{shown}");
        }
        let lying = CrashApplicationRow { state: "lying=2".to_owned(), ..row(24, 0) };
        assert!(text(&[lying]).contains("the disk lied: ext4, sqlite-off, lying=2"));
    }

    #[test]
    fn what_is_safe_says_how_sure_that_is() {
        let shown = text(&[row(0, 0)]);
        assert!(shown.contains("0/200 (≤17.5 %)") && shown.contains("0/48000"), "{shown}");
        for (runs, is_few) in [(1, false), (3, true), (10, false)] {
            assert_eq!(text_of(&[row(0, 0)], runs).contains("fewer than 10"), is_few, "{runs}");
        }
        assert!(!shown.contains("not whole: ") && !shown.contains("\nlost: "), "{shown}");
        let lost = text(&[row(0, 1)]);
        let words = "acknowledged work was lost at 1 of 200 cuts, 1 unit at most";
        assert!(lost.contains(&format!("lost: ext4, sqlite-off, dropall: {words}")), "{lost}");
        let unmounted = CrashApplicationRow { check_failed: points(0, 150), ..row(0, 0) };
        assert!(text(&[unmounted]).contains("could not be mounted at 50 of 200 cuts"));
    }
}

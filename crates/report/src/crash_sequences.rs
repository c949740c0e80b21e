//! Short sequences of file operations and what power cuts left of them, as tables.

use crate::campaign_tables::CampaignTables;
use crate::table::{Column, Table};
use fsarena_study::{BrokenRule, LitmusRow, SequenceCase, SequenceRow};
use serde::Serialize;

/// What all rows have in common.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SequenceHead {
    /// Kernel of the guests: release and first digits of the hash of its binary.
    pub kernel: String,
    pub device_model: String,
    pub device_bytes: u64,
    pub seed: u64,
    /// What was carried out, and at which moments the power went.
    pub what: String,
}

/// Rows of sequences, their broken rules, and so many cases of each rule.
pub(crate) fn sequence_tables(
    head: &SequenceHead,
    rows: &[SequenceRow],
    cases_most: usize,
) -> CampaignTables {
    let mut grid = Table::new([
        Column::text("contender"),
        Column::figure("length"),
        Column::figure("sequences"),
        Column::figure("not judged").optional(2),
        Column::figure("states").optional(1),
        Column::figure("different"),
        Column::figure("mounted"),
        Column::figure("fsync broken"),
        Column::figure("custom not kept"),
        Column::figure("damaged"),
    ]);
    for row in rows {
        grid.row(vec![
            row.contender.clone(),
            row.length.to_string(),
            row.sequences.to_string(),
            row.not_judged.to_string(),
            row.states.to_string(),
            row.different.to_string(),
            format!("{}/{}", row.mounted, row.different),
            row.contract_broken.to_string(),
            row.customary_broken.to_string(),
            row.damaged.to_string(),
        ]);
    }
    let read = "Different: states that differ in what is on the disk. Mounted: those of them that \
                could be mounted as before. Fsync broken: sequences with a state in which something \
                is missing that fsync, fdatasync, msync or sync had reported; more than 0 on an \
                honest disk is a bug. Custom not kept: sequences with a state in which something \
                is missing that Linux file systems keep and no one promises. Damaged: sequences \
                with a state that is not whole, by its check or by what was found.";
    let notes = rows.iter().flat_map(|row| notes(row, cases_most)).collect();
    CampaignTables { above: above(head), grid, notes, read, few_runs: None }
}

fn above(head: &SequenceHead) -> Vec<(String, String)> {
    let SequenceHead { kernel, device_model, device_bytes, seed, what } = head;
    let size = fsarena_model::units::Bytes(*device_bytes);
    let words = format!("Linux {kernel} in guests, {device_model} of {size}, seed {seed}: {what}.");
    vec![(String::new(), words)]
}

fn notes(row: &SequenceRow, cases_most: usize) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let who = &row.contender;
    for (op, times) in &row.failed {
        let what = format!("{who}: not judged: {times} sequences in which this failed: {op}");
        out.push(("mind: ".to_owned(), what));
    }
    if row.died > 0 {
        let what = format!("{who}: the guest did not survive {} sequences", row.died);
        out.push(("broken: ".to_owned(), what));
    }
    if row.failed_replays > 0 {
        let what = format!(
            "{who}: in {} of {} different states the repair before the mount could not replay the \
             log: what was in it is lost by this repair",
            row.failed_replays, row.different
        );
        out.push(("mind: ".to_owned(), what));
    }
    for rule in &row.rules {
        let BrokenRule { class, sentence, sequences, states } = rule;
        let what = format!("{who}: {sequences} sequences, {states} states: {sentence}");
        out.push((format!("{class}: "), what));
        let cases = row.cases.iter().filter(|case| case.sentence == *sentence);
        out.extend(cases.take(cases_most).map(case_words));
    }
    out
}

fn case_words(case: &SequenceCase) -> (String, String) {
    let place = case.path.as_ref().map_or_else(String::new, |path| format!("{path}: "));
    let expected =
        if case.expected.is_empty() { String::new() } else { format!(", not {}", case.expected) };
    let SequenceCase { program, state, entries, found, .. } = case;
    let what = format!(
        "{program}; power cut ({state}, {entries} entries of the log): {place}{found}{expected}"
    );
    ("  such as ".to_owned(), what)
}

/// Rows of litmus programs, with a case of each wrong outcome.
pub(crate) fn litmus_tables(head: &SequenceHead, rows: &[LitmusRow]) -> CampaignTables {
    let mut grid = Table::new([
        Column::text("contender"),
        Column::text("litmus"),
        Column::text("holds"),
        Column::figure("programs"),
        Column::figure("broken in"),
        Column::figure("states"),
        Column::figure("mounted").optional(1),
        Column::text("seen"),
    ]);
    for row in rows {
        let seen: Vec<String> =
            row.outcomes.iter().map(|(outcome, states)| format!("{outcome} {states}")).collect();
        grid.row(vec![
            row.contender.clone(),
            row.litmus.clone(),
            if row.programs_broken == 0 { "yes" } else { "no" }.to_owned(),
            row.programs.to_string(),
            row.programs_broken.to_string(),
            row.states.to_string(),
            format!("{}/{}", row.mounted, row.states),
            seen.join(", "),
        ]);
    }
    let mut notes = Vec::new();
    for row in rows {
        for case in &row.cases {
            notes.push((String::new(), format!("{}, {}: ", row.contender, row.litmus)));
            notes.push(case_words(case));
        }
    }
    let read = "Holds: the answer was yes in every state that was looked at, which proves nothing \
                of others. Seen: what was found, and in how many states. None of it is promised, \
                but for replace-after-fsync, and replace-via-rename on ext3 and on ext4 with \
                auto_da_alloc.";
    CampaignTables { above: above(head), grid, notes, read, few_runs: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Style;

    fn head() -> SequenceHead {
        SequenceHead {
            kernel: "6.12.117-2df9".to_owned(),
            device_model: "hdd-2007".to_owned(),
            device_bytes: 512 << 20,
            seed: 7,
            what: "sequences of 1 operation".to_owned(),
        }
    }

    fn case() -> SequenceCase {
        SequenceCase {
            class: "contract".to_owned(),
            sentence: "fsync(2): kept".to_owned(),
            program: "open foo (O_CREAT); sync".to_owned(),
            state: "dropall".to_owned(),
            entries: 9,
            path: Some("foo".to_owned()),
            expected: "a file of 0 bytes".to_owned(),
            found: "absent".to_owned(),
        }
    }

    #[test]
    fn a_broken_promise_is_told_as_a_program() {
        let row = SequenceRow {
            contender: "ext4".to_owned(),
            length: 1,
            sequences: 318,
            not_judged: 2,
            failed: vec![("fallocate foo zero_range 0+5000: errno 95".to_owned(), 2)],
            died: 1,
            states: 400,
            different: 350,
            mounted: 349,
            failed_replays: 3,
            contract_broken: 1,
            customary_broken: 0,
            damaged: 0,
            rules: vec![BrokenRule {
                class: "contract".to_owned(),
                sentence: "fsync(2): kept".to_owned(),
                sequences: 1,
                states: 2,
            }],
            cases: vec![case(), SequenceCase { program: "second".to_owned(), ..case() }],
        };
        let body = serde_json::json!({"head": head(), "rows": [row]});
        crate::schema::assert_valid("crash-sequences", "crash_sequences", body);
        let text = sequence_tables(&head(), &[row], 1).text(200, Style::default());
        for said in [
            "hdd-2007 of 512 MiB, seed 7: sequences of 1 operation",
            "349/350",
            "in 3 of 350 different states the repair before the mount could not replay the log",
            "errno 95",
            "contract: ext4: 1 sequences, 2 states: fsync(2): kept",
            "open foo (O_CREAT); sync; power cut (dropall, 9 entries of the log): foo: absent, not a \
             file of 0 bytes",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert!(!text.contains("second"), "{text}");
    }

    #[test]
    fn a_litmus_that_does_not_hold_says_what_was_seen() {
        let row = LitmusRow {
            contender: "xfs".to_owned(),
            litmus: "replace-via-rename".to_owned(),
            programs: 10,
            programs_broken: 4,
            states: 300,
            mounted: 300,
            outcomes: vec![("old".to_owned(), 200), ("of length zero".to_owned(), 100)],
            cases: vec![case()],
        };
        let body = serde_json::json!({"head": head(), "rows": [row]});
        crate::schema::assert_valid("crash-litmus", "crash_litmus", body);
        let text = litmus_tables(&head(), &[row]).text(160, Style::default());
        assert!(text.contains("old 200, of length zero 100"), "{text}");
        assert!(text.contains("no "), "{text}");
    }
}

//! Cycles, sweeps, accounts and the article of 2007, over hand-made records.

use super::{plain, run_of};
use fsarena_model::account::{AccountRecord, Part};
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunState};
use fsarena_report::{
    Detail, OwnRun, Style, article, csv, in_shape_of, markdown, phase_tables, run_text,
};
use fsarena_study::{Study, points, study};
use fsarena_testkit::records::{self, SECOND_NS, add_account, block_sizes, periodic};

/// Three sizes of blocks, four blocks of trials; the largest blocks take a quarter more and write
/// the most, and an account of theirs is spoilt.
fn sample() -> (RunHeader, Vec<TrialRecord>, Study) {
    let header = records::header(block_sizes("xfs", &[4096, 16384, 65536]), vec![periodic()], 4);
    let mut all = Vec::new();
    for sequence in 0..12u32 {
        let mut record = records::record(&header, sequence);
        let slot = header.plan.schedule[sequence as usize];
        shape(&mut record, slot.contender, u64::from(slot.block));
        all.push(record);
    }
    let study = study(&header, RunState::Done, &[], &all);
    (header, all, study)
}

fn shape(record: &mut TrialRecord, contender: usize, block: u64) {
    let phase = &mut record.phases[0];
    let (work, share) = [(1.0, 0.2), (1.0, 0.3), (1.25, 1.0)][contender];
    let jitter = 1.0 + ((block * 3 + contender as u64) % 5) as f64 / 1000.0;
    for cycle in &mut phase.cycles.as_mut().unwrap().cycles {
        let work_ns = (cycle.work_ns() as f64 * work * jitter) as u64;
        cycle.report.returned_ns = cycle.report.started_ns + work_ns;
        cycle.report.durable_ns = Some(cycle.report.returned_ns + 10 * SECOND_NS);
        let written = cycle.period.get_mut("device.written_bytes").unwrap();
        *written = (*written as f64 * share) as u64;
    }
    add_account(phase, if contender == 2 && block == 0 { 12 } else { 0 });
    let Some(AccountRecord::Taken(account)) = &mut phase.account else { return };
    account.total_bytes = (account.total_bytes as f64 * share) as u64;
    if contender == 2 {
        return;
    }
    // Less rounding and metadata: of 546 and 819 MB, 16 and 9 MB stay unattributed.
    let rounding_bytes = [0, 140_000_000][contender];
    for span in &mut account.spans {
        for (part, written) in &mut span.parts {
            match part {
                Part::Rounding => (written.first_bytes, written.again_bytes) = (rounding_bytes, 0),
                Part::Journal | Part::Metadata => {
                    written.first_bytes = [72, 134][contender] * 1_000_000
                }
                Part::Data | Part::Gone | Part::Unknown => {}
            }
        }
    }
}

fn all((header, records, study): &(RunHeader, Vec<TrialRecord>, Study), width: usize) -> String {
    let style = Style { bars: true, ..plain() };
    run_text(&run_of(header, records, study, None), Detail::Full, false, width, style)
}

#[test]
fn tables_of_120_columns() {
    insta::assert_snapshot!(all(&sample(), 120));
}

#[test]
fn nothing_is_wider_than_asked() {
    let sample = sample();
    for width in [80, 100] {
        let text = all(&sample, width) + &phase_tables(&sample.2, width, plain());
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn what_a_run_without_cycles_shows_of_them() {
    let header =
        records::header(vec![records::contender("xfs", "xfs", 1)], vec![records::small_files()], 1);
    let records = vec![records::record(&header, 0)];
    let study = study(&header, RunState::Done, &[], &records);
    let text = all(&(header, records, study), 100);
    for said in ["worst stall", "Account:", "Response"] {
        assert!(!text.contains(said), "{said}: {text}");
    }
}

#[test]
fn the_article_with_ours_beside_it() {
    let (header, records, study) = sample();
    let known = fsarena_reference::study(2007).unwrap();
    let run = OwnRun { header: &header, records: &records, study: &study, notes: &[] };
    insta::assert_snapshot!(article(&known, &[], &[run], 110, plain()));
    let alone = article(&known, &[], &[], 110, plain());
    assert!(alone.contains("inference, not measurement") && !alone.contains("This machine"));
    let shape = in_shape_of(&known, &[], &[run], 110, plain());
    assert!(shape.contains("xfs 65536, disturbed") && !shape.contains("as printed"), "{shape}");
}

#[test]
fn markdown_has_sections_of_its_own() {
    let (header, records, study) = sample();
    let text = markdown(&run_of(&header, &records, &study, None), plain());
    let from = text.find("## Response curves").unwrap();
    let to = text.find("## How it was done").unwrap();
    insta::assert_snapshot!(text[from..to]);
}

#[test]
fn a_row_of_the_csv_is_of_a_cycle() {
    let (header, records, _) = sample();
    let text = csv(&header, &points(&header.plan, &records));
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let cell = |row: usize, name: &str| {
        rows[row][heads.iter().position(|head| head == name).unwrap()].to_owned()
    };
    assert_eq!(rows.len(), 12);
    assert_eq!((cell(0, "asked_bytes"), cell(0, "cycles")), ("300000000".into(), "2".into()));
    assert_eq!(cell(0, "device_busy_share"), "0.44");
    assert_eq!(cell(0, "device_written_bytes"), "546000000");
    assert_eq!(cell(2, "account_cycles"), "3");
    assert_eq!(cell(2, "account_lost_events"), "12");
    assert_eq!(cell(0, "account_journal_bytes"), "112000000");
}

#[test]
fn cycles_that_lay_beside_others_are_marked() {
    let (header, mut all, _) = sample();
    for record in &mut all {
        let cycles = &mut record.phases[0].cycles.as_mut().unwrap().cycles;
        cycles[1].report.durable_ns = Some(cycles[2].report.started_ns + 1);
        cycles[2].report.beside = 1;
    }
    let study = study(&header, RunState::Done, &[], &all);
    let run = run_of(&header, &all, &study, None);
    let tables = run_text(&run, Detail::Brief, false, 200, Style::default());
    assert!(tables.contains("xfs 4096, met the load of another"), "{tables}");
    assert!(tables.contains("- xfs 4096: 4 cycles met the load of another: left out"), "{tables}");
    assert!(tables.contains("cycles overlapped"), "{tables}");
    let phases = phase_tables(&study, 200, Style::default());
    assert!(phases.contains("cycles overlapped"), "{phases}");
}

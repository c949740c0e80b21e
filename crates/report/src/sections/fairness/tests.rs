//! The order of what is objected to, and what is said where nothing is known.

use super::*;
use crate::pictures::sample::{Sample, html_of};
use fsarena_testkit::records;

fn finding(code: &str, weight: Weight) -> Finding {
    Finding {
        code: code.to_owned(),
        place: "host".to_owned(),
        weight,
        reading: format!("reading of {code}"),
        why: String::new(),
        remedy: None,
        command: None,
    }
}

fn text(sample: &Sample) -> String {
    let run = sample.run();
    html_of(&build(&SectionContext::new(0, &run)))
}

#[test]
fn what_is_not_under_test_comes_first() {
    let one = |what: &str, under_test| Difference {
        what: what.to_owned(),
        under_test,
        values: vec![None, Some("4096".to_owned())],
    };
    let all = [one("a", true), one("b", false), one("c", true), one("d", false)];
    let order: Vec<&str> = by_loudness(&all).iter().map(|one| one.what.as_str()).collect();
    assert_eq!(order, ["b", "d", "a", "c"]);
    let contenders = vec![AsMade::default(), AsMade::default()];
    let view = Fairness { contenders, differences: all.to_vec(), ..Fairness::default() };
    let page = html_of(&Section::new(differences(&view, &["ext4", "xfs"])));
    assert!(page.contains("differ in 2 things that the experiment does not test"), "{page}");
    assert_eq!(page.matches("<strong>NO</strong>").count(), 2);
}

#[test]
fn the_gravest_finding_comes_first() {
    let found = [
        finding("a", Weight::Fine),
        finding("b", Weight::Bad),
        finding("c", Weight::Note),
        finding("d", Weight::Warning),
        finding("e", Weight::Bad),
    ];
    let order: Vec<&str> = by_weight(&found).iter().map(|one| one.code.as_str()).collect();
    assert_eq!(order, ["b", "e", "d", "c", "a"]);
    let page = html_of(&Section::new(findings(&found)));
    assert!(page.contains("3 findings that change or spoil figures"), "{page}");
}

#[test]
fn advice_and_command_stand_with_the_reading() {
    let grave = Finding {
        why: "It moves figures.".to_owned(),
        remedy: Some("Set it.".to_owned()),
        command: Some("cpupower <x>".to_owned()),
        ..finding("governor", Weight::Warning)
    };
    let page = html_of(&Section::new(findings(&[grave])));
    assert!(page.contains("It moves figures. Set it."), "{page}");
    assert!(page.contains("cpupower &lt;x&gt;"), "{page}");
}

#[test]
fn without_findings_the_doctor_was_not_asked() {
    let sample = Sample::with_labels(&["ext4", "xfs"], vec![records::small_files()], 1);
    assert!(text(&sample).contains("Not asked: the RUN has no findings"));
}

/// Of three contenders the first was never made: its column stays, and no value stands in the
/// column of another.
#[test]
fn a_contender_that_was_never_made_keeps_its_column() {
    let mut sample =
        Sample::with_labels(&["bcachefs", "ext4", "xfs"], vec![records::small_files()], 2);
    for record in &mut sample.records {
        match record.filesystem.name.as_str() {
            "bcachefs" => {
                record.phases.clear();
                record.filesystem.mkfs_argv.clear();
                record.filesystem.mounted_options = None;
            }
            "xfs" => record.filesystem.mounted_options = Some("rw,noatime".to_owned()),
            _ => {}
        }
    }
    let page = text(&sample.again());
    let start = page.find("In what the contenders differ").expect("a table");
    let table = &page[start..start + page[start..].find("</table>").expect("its end")];
    assert_eq!(table.matches("<th scope=\"col\"").count(), 5, "{table}");
    let row = &table[table.find("mount option noatime").expect("a row")..];
    let cells: Vec<&str> =
        row.split("<td>").skip(2).take(3).map(|cell| cell.split("</td>").next().unwrap()).collect();
    assert_eq!(cells[1..], ["off", "on"], "{cells:?}");
    assert!(cells[0].contains('–'), "{cells:?}");
    assert!(page.contains("bcachefs: never made or mounted by fsarena"), "{page}");
}

/// Measured by another program, as `fsarena import` writes it.
#[test]
fn what_was_brought_in_claims_nothing_of_the_host_the_seed_or_the_method() {
    let sample = Sample::brought_in(&["a", "b"]);
    let run = sample.run();
    let page = crate::page::page(&[run], "0.0.0");
    assert!(page.contains("None was made or mounted by fsarena."), "{page}");
    assert!(page.contains("Measured by fio") && page.contains("chosen after the data"), "{page}");
    assert!(page.contains("Nothing is stored of the host."), "{page}");
    for claim in [
        "One contender alone",
        "page reporting",
        "none that says so",
        "The seed is",
        "No seed was stated",
        "stored before block 1",
        "mkfs with",
        "syncfs",
        "sampling cost nothing",
    ] {
        assert!(!page.contains(claim), "{claim}");
    }
}

#[test]
fn every_contender_is_there_as_it_was_made() {
    let sample = Sample::with_labels(&["ext4", "xfs"], vec![records::small_files()], 1);
    let page = text(&sample);
    assert_eq!(page.matches("details class=\"made\"").count(), 2, "{page}");
    assert!(page.contains("mkfs.xfs 1.2.3") && page.contains("rw,relatime"), "{page}");
}

#[test]
fn nothing_recorded_is_said_part_by_part() {
    let page = text(&Sample::with_labels(&["ext4"], vec![records::small_files()], 1).unmeasured());
    for words in ["One contender alone", "No phase was begun", "None was seen"] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

//! Every sheet against the published figures of its device, in simulated time.
#![allow(clippy::unwrap_used)] // helpers of tests

use fsarena_vdisk::measure::{Row, compare};
use fsarena_vdisk::{Role, Sheet};

fn sheets() -> Vec<Sheet> {
    fsarena_vdisk::names().into_iter().map(|name| fsarena_vdisk::builtin(name).unwrap()).collect()
}

fn words(row: &Row) -> String {
    let figure = row.figure.as_ref().unwrap();
    format!(
        "{} {}: model {:.4}, published {} {} ({:+.1} %), {}",
        figure.role.name(),
        row.probe.words(),
        row.measured.value,
        figure.value,
        row.probe.unit(),
        row.deviation().unwrap() * 100.0,
        figure.source
    )
}

#[test]
fn fitted_figures_are_within_two_percent_and_held_out_ones_within_fifteen() {
    let mut wrong = Vec::new();
    for sheet in sheets() {
        let rows = compare(&sheet, 1).unwrap();
        for row in rows.iter().filter(|row| row.figure.is_some()) {
            let deviates = row.figure.as_ref().is_some_and(|figure| figure.deviates.is_some());
            if row.is_near() == Some(deviates) {
                wrong.push(format!("{}: {}", sheet.name, words(row)));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Two figures at least were left out of the fit, or the sheet says that it is uncalibrated.
#[test]
fn the_uncalibrated_sheets_are_known() {
    let uncalibrated: Vec<String> =
        sheets().iter().filter(|sheet| !sheet.is_calibrated()).map(|s| s.name.clone()).collect();
    assert_eq!(uncalibrated, ["hdd-2003", "ssd-x25m", "ssd-slow-2009", "const"]);
    for sheet in sheets() {
        let fitted = sheet.figures.iter().filter(|figure| figure.role == Role::Fitted).count();
        let is_invented = ["const", "ssd-slow-2009"].contains(&sheet.name.as_str());
        assert!(fitted >= 2 || is_invented, "{}", sheet.name);
    }
}

/// Another seed is another angle of the disk: figures move less than their tolerance.
#[test]
fn a_seed_decides_the_beginning_and_not_the_device() {
    let sheet = fsarena_vdisk::builtin("hdd-2007").unwrap();
    let of = |seed| compare(&sheet, seed).unwrap();
    let (one, other) = (of(1), of(2));
    assert_eq!(one, of(1));
    assert_ne!(one, other);
    for (one, other) in one.iter().zip(&other) {
        let ratio = one.measured.value / other.measured.value;
        assert!((0.97..1.03).contains(&ratio), "{}: {ratio}", one.probe.words());
    }
}

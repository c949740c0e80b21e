//! Goldens of the findings, and that no line is wider than asked.

use super::*;
use proptest::prelude::*;

fn finding(code: &str, place: &str, weight: Weight, reading: &str) -> Finding {
    let objects = weight > Weight::Unknown;
    Finding {
        code: code.to_owned(),
        place: place.to_owned(),
        weight,
        reading: reading.to_owned(),
        why: if objects {
            "it makes the first reads of a tree write".to_owned()
        } else {
            String::new()
        },
        remedy: objects.then(|| "mount with noatime".to_owned()),
        command: (weight == Weight::Warning)
            .then(|| "sudo mount -o remount,noatime /data".to_owned()),
    }
}

fn several() -> Vec<Finding> {
    vec![
        finding("governor", "host", Weight::Unknown, "no scaling_governor"),
        finding("swap", "host", Weight::Fine, "there is no swap"),
        finding("access-times", "/data", Weight::Note, "relatime"),
        finding("load", "host", Weight::Warning, "77 % of 2 processors busy in one second"),
        finding("free-space", "/data", Weight::Bad, "1 GiB of 100 GiB free (1.0 %)"),
        finding("scheduler", "/dev/sda", Weight::Fine, "the scheduler is none"),
    ]
}

#[test]
fn by_place_the_heaviest_first() {
    let text = doctor_table(&several(), false, 80, Style::default());
    insta::assert_snapshot!(text, @r"
    host
      WARNING load: 77 % of 2 processors busy in one second.
          It makes the first reads of a tree write.
          Mount with noatime:
            sudo mount -o remount,noatime /data
      unknown governor: no scaling_governor.

    /data
      BAD free-space: 1 GiB of 100 GiB free (1.0 %).
          It makes the first reads of a tree write.
          Mount with noatime.
      note access-times: relatime.
          It makes the first reads of a tree write.
          Mount with noatime.

    /dev/sda
      nothing to object to

    1 bad, 1 warning, 1 note, 1 unknown, 2 fine; --all shows those that are fine,
    too.
    ");
}

#[test]
fn all_shows_what_is_fine() {
    let text = doctor_table(&several(), true, 80, Style::default());
    assert!(text.contains("  fine swap: there is no swap.") && !text.contains("--all"), "{text}");
    assert_eq!(doctor_table(&[], true, 80, Style::default()), "nothing was looked at.\n");
}

#[test]
fn two_lines_for_a_run() {
    let text = doctor_lines(&several(), 100, Style::default());
    insta::assert_snapshot!(text, @r"
    doctor: 1 bad, 1 warning, 1 note, 1 unknown, 2 fine (fsarena doctor says more)
      /data: 1 GiB of 100 GiB free (1.0 %); host: 77 % of 2 processors busy in one second
    ");
    let quiet = [finding("swap", "host", Weight::Fine, "there is no swap")];
    let text = doctor_lines(&quiet, 100, Style::default());
    assert_eq!(text, "doctor: 1 fine (fsarena doctor says more)\n");
    assert_eq!(doctor_lines(&[], 100, Style::default()), "");
}

#[test]
fn colour_only_where_it_is_asked_for() {
    let style = Style { colour: true, ..Style::default() };
    let text = doctor_table(&several(), false, 80, style);
    assert!(text.contains("  \u{1b}[1mBAD\u{1b}[0m free-space: 1 GiB"), "{text:?}");
    assert!(!doctor_table(&several(), false, 80, Style::default()).contains('\u{1b}'));
}

fn noise() -> Noise {
    let smallest =
        |minutes, blocks, capped, difference| Smallest { minutes, blocks, capped, difference };
    let class = |class: &str, cv: Option<f64>, shares: [Option<f64>; 3]| NoiseClass {
        class: class.to_owned(),
        workload: "w".to_owned(),
        phase: "p".to_owned(),
        cold: true,
        runs: if cv.is_some() { 9 } else { 2 },
        phase_ns: 1_234_000_000,
        trial_ns: 4_500_000_000,
        cv,
        smallest: vec![
            smallest(10, 32, false, shares[0]),
            smallest(30, 32, true, shares[1]),
            smallest(60, 32, true, shares[2]),
        ],
    };
    Noise {
        place: "loop:1G, ext4".to_owned(),
        elapsed_ns: 118_000_000_000,
        cap: 32,
        classes: vec![
            class("small files, created", Some(0.0213), [Some(0.0172), Some(0.0171), Some(0.0171)]),
            class("fsync", None, [None, None, None]),
        ],
    }
}

#[test]
fn spreads_and_smallest_differences() {
    insta::assert_snapshot!(noise_table(&noise(), 80, Style::default()), @r"
    Equal runs on loop:1G, ext4, for 118 s
    class of work     runs   phase  one run      cv  in 10 min  in 30 min  in 60 min
    --------------------------------------------------------------------------------
    small files,         9  1.23 s   4.50 s  2.13 %     1.72 %    1.71 %*    1.71 %*
    created
    fsync                2  1.23 s   4.50 s       -          -          -          -
    cv: standard deviation of the logarithms of the phase's time. one run: a whole
    trial, with making, mounting and clearing up. in 10 min: the smallest difference
    between two contenders that the rule of fsarena shows in that time with a chance
    of 90 %, for work of this size, one question and a machine as quiet as now; both
    are estimates from the runs counted here. *: 32 blocks, the most of a run, are
    done earlier; --cap 96 goes on. -: fewer than 3 runs here, or fewer than 4
    blocks there: no verdict. Of fewer than 6 runs the spread is hardly known: the
    machine is slow or busy.
    ");
    let none = Noise { classes: Vec::new(), ..noise() };
    assert!(noise_table(&none, 80, Style::default()).contains("No run came to its end"));
}

proptest! {
    /// But for commands, which are to be copied.
    #[test]
    fn never_wider_than_asked(
        texts in proptest::collection::vec((".{0,200}", ".{0,60}"), 1..6),
        width in 80usize..160,
    ) {
        let findings: Vec<Finding> = texts
            .iter()
            .map(|(reading, code)| finding(code, "host", Weight::Bad, reading))
            .collect();
        let table = doctor_table(&findings, true, width, Style::default());
        let lines = doctor_lines(&findings, width, Style::default());
        prop_assert!(lines.lines().count() <= 2, "{lines:?}");
        for line in table.lines().chain(lines.lines()) {
            prop_assert!(width_of(line) <= width, "{} > {width}: {line:?}", width_of(line));
        }
    }
}

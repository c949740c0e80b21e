//! The section and the sentences over crash runs made by hand.

use super::*;
use crate::answer::answer;
use crate::pictures::sample::{Sample, charts_of, html_of};
use crate::render::text;
use crate::text::Style;
use fsarena_model::crash::{CrashNotRun, CrashSlot};
use fsarena_testkit::crash::{self, Traits};
use fsarena_testkit::records;

const LABELS: [&str; 4] = ["ext4", "ext4 dioread_lock", "xfs", "tmpfs"];

/// ext4 damages files that it promises to keep whole, xfs some that it does not; the power of the
/// last is not cut, and one crash run has failed.
fn sample() -> (Sample, CrashRunsView) {
    let mut sample = Sample::with_labels(&LABELS, vec![records::small_files()], 6);
    let mut crash = crash::plan();
    crash.runs = 10;
    let reason = "power is cut on modelled disks alone".to_owned();
    crash.not_run.push(CrashNotRun { contender: 3, reason });
    sample.header.plan.crash = Some(crash);
    let header = &sample.header;
    let run = |slot: CrashSlot| {
        let traits = match slot.contender {
            0 => Traits { loss_s: 39, damaged: 3, is_promised: true, ..Traits::default() },
            1 => Traits { loss_s: 36, ..Traits::default() },
            _ => Traits { loss_s: 61, damaged: 9, stale_bytes: 4096, ..Traits::default() },
        };
        crash::run(header, slot, traits)
    };
    let mut stored: Vec<_> = header.plan.crash_slots().into_iter().map(run).collect();
    let last = stored.len() - 1;
    stored[last] = crash::failed(stored[last].slot, "the guest ended without a record");
    let view = fsarena_study::crash(&header.plan, &stored).unwrap();
    (sample, view)
}

#[test]
fn a_row_a_contender_beside_its_speed() {
    let (sample, view) = sample();
    let run = Run { crash: Some(&view), ..sample.run() };
    let context = SectionContext::new(0, &run);
    let section = build(&context);
    let shown = text::section(&section, 118, Style::default());
    insta::assert_snapshot!(shown);
    let charts = charts_of(&section);
    assert_eq!(charts.len(), 1);
    assert_eq!(charts[0].marks, 3, "tmpfs has no loss window: {}", charts[0].inline);
    assert!(charts[0].inline.contains("may lose 38.1 s (median), 61.0 s at most"), "{charts:?}");
    let page = html_of(&section);
    for said in [
        "Power cuts of tmpfs: not run: power is cut on modelled disks alone",
        "xfs, synced: no record: the guest ended without a record",
        "59 of 60 crash runs are done",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
}

/// What is said of one is said where intervals part, and of broken promises in any case.
#[test]
fn sentences_are_of_what_was_measured() {
    let (sample, view) = sample();
    let run = Run { crash: Some(&view), ..sample.run() };
    let answer = answer(&run, None);
    let said = answer.sentences.join(" ");
    for words in [
        "may lose 61.0 s of unsynced work, ext4 39.0 s.",
        "may lose 36.0 s of unsynced work, ext4 39.0 s.",
        "ext4 damages files that were replaced by rename at 100 % of power cuts, xfs at 100 %, \
         ext4 dioread_lock at none.",
        "xfs shows bytes of other files at 100 % of power cuts (160 KiB in 40), ext4 and ext4 \
         dioread_lock at none.",
        "Synced work was lost by none (at most 9.6 % of power cuts).",
        "Broken, of what its documents promise: ext4 at 40 of 40 power cuts (unsynced).",
        "59 of 60 crash runs are done.",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let group = answer.not_run.last().unwrap();
    assert_eq!(group.what, ["crash runs of tmpfs"]);
    // With one contender there is nothing to compare, and what it may lose is said all the same.
    let mut alone = view.clone();
    alone.rows.retain(|row| row.contender == 1);
    let run = Run { crash: Some(&alone), ..sample.run() };
    let said = crate::answer::answer(&run, None).sentences.join(" ");
    assert!(said.contains("ext4 dioread_lock may lose 36.0 s of unsynced work."), "{said}");
    assert!(!said.contains("damages") && !said.contains("Broken"), "{said}");
}

/// The sentences of 2003 and 2010 are judged by the RUNs that repeat their question, and no others.
#[test]
fn then_and_now_is_judged() {
    let (mut sample, view) = sample();
    let judged = |sample: &Sample, view: &CrashRunsView| {
        let run = Run { crash: Some(view), ..sample.run() };
        answer(&run, None).sentences.into_iter().find(|text| text.starts_with("20"))
    };
    assert_eq!(judged(&sample, &view), None);
    sample.header.experiment = "2003-reliability".to_owned();
    let text = judged(&sample, &view).unwrap();
    assert!(text.ends_with("falls: 3 contenders have figures of 120 power cuts of unsynced work."));
    sample.header.experiment = "2010-writeback-safety".to_owned();
    assert_eq!(judged(&sample, &view), None, "no pair of journal modes");
    let modes = [(0, "data=ordered"), (2, "data=writeback")];
    for (contender, mode) in modes {
        sample.header.plan.contenders[contender].levels = {
            let mut levels = sample.header.plan.contenders[0].levels.clone();
            levels.fs.mount = vec![mode.to_owned()];
            levels
        };
    }
    let text = judged(&sample, &view).unwrap();
    assert!(text.ends_with("holds: for ext4 (bytes of other files in its files)."), "{text}");
    let mut alike = view.clone();
    for row in &mut alike.rows {
        row.figures = view.rows[0].figures.clone();
    }
    let text = judged(&sample, &alike).unwrap();
    assert!(text.ends_with("cannot be told: for ext4 no difference was shown."), "{text}");
}

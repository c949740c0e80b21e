//! The method in one page: what `docs/method.md` and `docs/verdict.md` say at length.

use crate::context::SectionContext;
use crate::render::html as parts;
use crate::verdict::answers::margin;
use fsarena_model::run::Clock;
use maud::{Markup, html};

/// What was measured, from when to when, and by which rule differences are called real.
pub(super) fn section(context: &SectionContext<'_>) -> Markup {
    let compared = context.run.header.plan.compared_clock;
    let elsewhere = context.measured_by();
    let body = html! {
        @match elsewhere {
            Some(program) => (brought_in(program)),
            None => { (trial()) (clocks(compared)) (cold()) }
        }
        @if let Some(verdicts) = context.run.verdicts {
            (rule(verdicts.margin, elsewhere.is_some()))
        }
        (parts::note("At length: `fsarena doc method` and `fsarena doc verdict`."))
    };
    html! { (parts::heading("The method in one page")) (parts::fold("Read it", &body)) }
}

/// Of values that another program measured.
fn brought_in(program: &str) -> Markup {
    html! {
        p {
            strong { "Measured by " (program) } ", brought in by fsarena. Nothing of this method "
            "but the arithmetic of the verdict holds: how the contenders were made, in which order "
            "they ran, what the times mean and whether caches were cold is not known here. The "
            "question was chosen after the data."
        }
    }
}

fn trial() -> Markup {
    html! {
        p {
            strong { "A trial" } " is one workload on one contender, from a reset state: mkfs with "
            "its options written out, mount, what is not timed, then the timed phases, then the "
            "unmount. Where devices are images, one that was fully written serves all contenders "
            "of a device level that do not discard, so each mkfs gets the same sectors. The "
            "options and features in effect are read back."
        }
        p {
            strong { "A block" } " runs every contender that is still needed once, in fresh random "
            "order from the stored seed. What drifts slowly is in both of a pair and cancels. The "
            "trial is what is repeated: ops within a phase are no repetitions."
        }
    }
}

fn clocks(compared: Clock) -> Markup {
    html! {
        p { strong { "Three clocks" } " start together:" }
        ul {
            li { em { "returned" } ": the calls came back. This is what " code { "time cp" }
                " measures." }
            li { em { "durable" } ": " code { "syncfs" } " is done." }
            li { em { "drained" } ": the file system was frozen and thawed, so that journal and "
                "log are written back; or, where it cannot be frozen, the device's own cache was "
                "written and it was idle for 200 ms, which are not counted." }
        }
        p { "This RUN compares up to " em { (compared.name()) } ", where a question names no other "
            "clock." }
        p {
            strong { "Device bytes" } " of a phase end with the next unmount: what an unmount "
            "writes belongs to the phase. Write amplification is these bytes ÷ the bytes that the "
            "work wrote. " strong { "CPU" } " is of the whole machine up to durable; under 100 "
            "clock ticks there is no figure. " strong { "Latencies" } " are of every op, in "
            "buckets of under 1 % width, over all trials together."
        }
    }
}

fn cold() -> Markup {
    html! {
        p {
            strong { "Cold" } " needs two proofs. Before the mount no page of the device, its "
            "image or a source on another file system that the phase reads is in the page cache. "
            "And the device then delivered what the phase needed. Otherwise the phase is "
            "called warm, whatever was asked for. Cold and warm are never compared. It means cold "
            "for this kernel: a cache in the disk or in the host of a virtual machine is not seen."
        }
    }
}

fn rule(within: f64, is_brought_in: bool) -> Markup {
    html! {
        p {
            strong { "Verdicts." } " In each block the logarithm of the ratio of two contenders is "
            "taken. Below 12 blocks its mean with Student's t gives ratio and interval, from 12 "
            "the Hodges-Lehmann estimate with the exact interval of signed ranks."
            @if !is_brought_in {
                " Questions, rule, margin, headline and seed are stored before block 1."
            }
        }
        ul {
            li { strong { "FASTER" } ": the interval lies below 1; " strong { "SLOWER" }
                ": above 1. Of every metric less is better." }
            li { strong { "SAME" } ": the whole interval lies within " (margin(within)) "." }
            li { strong { "UNDECIDED" } ": none of these is shown. It is never called “no "
                "difference”." }
        }
        p {
            "Who looks more than once at 5 % is wrong far more often than in 5 %. Where "
            "interim analyses follow 4, 6, 8, 12 blocks and so on, the level of each is set so "
            "that all of them together stay below 5 %. Among all pairs of a question Holm's "
            "procedure holds the chance of one wrong difference, and that of one wrong SAME, at "
            "the level of the look. Over several questions nothing is corrected"
            @if is_brought_in { ", and none of them was fixed beforehand." }
            @else { ": the headline, fixed beforehand, is the one to quote." }
        }
        p {
            "SAME is refused where two contenders spread in different shapes. Values that stand "
            "out are marked and kept."
            @if !is_brought_in {
                " A block is run again only for a reason that is visible without its scores: too "
                "much of the processors taken by the hypervisor."
            }
        }
    }
}

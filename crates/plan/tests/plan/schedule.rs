//! Order of trials and their seeds.

use crate::rules::{TestRules, file, plan};
use fsarena_model::seed::Seed;
use fsarena_plan::{Overrides, expand, parse, schedule, trial_seed};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Changing this changes every schedule ever stored: never.
#[test]
fn golden_schedule() {
    let text = file("fs = [\"ext4\", \"xfs\", \"btrfs\"]\ndevice = \"loop:2G\"");
    let text = text.replace("[factors]", "[run]\nseed = 2003\nblocks = 4\n[factors]");
    let plan = plan(&text).unwrap();
    let order: Vec<String> = plan
        .schedule
        .iter()
        .map(|s| format!("{}.{} {}", s.block, s.position, plan.contenders[s.contender].label))
        .collect();
    insta::assert_snapshot!(order.join("\n"), @r#"
    0.0 ext4
    0.1 btrfs
    0.2 xfs
    1.0 btrfs
    1.1 xfs
    1.2 ext4
    2.0 ext4
    2.1 xfs
    2.2 btrfs
    3.0 btrfs
    3.1 ext4
    3.2 xfs
    "#);
    let seed = trial_seed(&plan, &plan.schedule[5]);
    assert_eq!(seed, Seed::from_number(2003).child("block", 1).child("trial", 2));
}

/// As above, where there are several workloads: their order is drawn first.
#[test]
fn golden_schedule_of_several_workloads() {
    let pairs = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1), (2, 2)];
    let slots = schedule(&Seed::from_number(2003), 2, &pairs);
    let order: Vec<String> = slots
        .iter()
        .map(|s| format!("{}.{} {}:{}", s.block, s.position, s.workload, s.contender))
        .collect();
    insta::assert_snapshot!(order.join("\n"), @r"
    0.0 0:0
    0.1 0:2
    0.2 0:1
    0.3 2:1
    0.4 2:0
    0.5 2:2
    0.6 1:0
    0.7 1:2
    1.0 2:0
    1.1 2:2
    1.2 2:1
    1.3 1:2
    1.4 1:0
    1.5 0:2
    1.6 0:0
    1.7 0:1
    ");
}

#[test]
fn seed_of_the_option_goes_before_the_file_and_the_fallback_comes_last() {
    let text = file("fs = \"ext4\"\ndevice = \"loop:2G\"");
    let seed = |text: &str, seed: Option<u64>| {
        let overrides = Overrides { seed, fallback_seed: 5, ..Overrides::default() };
        expand(&parse(text, "t").unwrap(), &overrides, &TestRules).unwrap().seed
    };
    assert_eq!(seed(&text, None), Seed::from_number(5));
    assert_eq!(seed(&text, Some(6)), Seed::from_number(6));
    let text = text.replace("[factors]", "[run]\nseed = 7\n[factors]");
    assert_eq!(seed(&text, None), Seed::from_number(7));
    assert_eq!(seed(&text, Some(6)), Seed::from_number(6));
}

/// Workloads and contenders have each place equally often.
#[test]
fn every_order_of_workloads_and_contenders_comes_up() {
    let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let slots = schedule(&Seed::from_number(1), 4000, &pairs);
    let mut seen: BTreeMap<Vec<(usize, usize)>, u32> = BTreeMap::new();
    for block in slots.chunks(4) {
        let order = block.iter().map(|slot| (slot.workload, slot.contender)).collect();
        *seen.entry(order).or_default() += 1;
    }
    // Two orders of workloads times two of each one's contenders; 500 each, standard deviation 21.
    assert_eq!(seen.len(), 8, "{seen:?}");
    assert!(seen.values().all(|count| (400..600).contains(count)), "{seen:?}");
}

proptest! {
    #[test]
    fn each_block_holds_each_pair_once(
        seed in any::<u64>(), blocks in 1u32..6, workloads in 1usize..4, contenders in 1usize..8,
    ) {
        let pairs: Vec<(usize, usize)> =
            (0..workloads).flat_map(|w| (0..contenders).map(move |c| (w, c))).collect();
        let seed = Seed::from_number(seed);
        let slots = schedule(&seed, blocks, &pairs);
        prop_assert_eq!(slots.len(), pairs.len() * blocks as usize);
        for (block, slots) in (0..blocks).zip(slots.chunks(pairs.len())) {
            let mut held: Vec<(usize, usize)> =
                slots.iter().map(|slot| (slot.workload, slot.contender)).collect();
            held.sort_unstable();
            prop_assert_eq!(&held, &pairs);
            let mut by_workload: Vec<usize> = slots.iter().map(|slot| slot.workload).collect();
            by_workload.dedup();
            prop_assert_eq!(by_workload.len(), workloads, "contenders of a workload are together");
            prop_assert!(slots.iter().all(|slot| slot.block == block));
            prop_assert!(slots.iter().zip(0..).all(|(slot, n)| slot.position == n));
        }
        prop_assert_eq!(slots, schedule(&seed, blocks, &pairs));
    }
}

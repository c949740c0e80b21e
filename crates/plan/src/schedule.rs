//! The schedule: block by block, every pair of workload and contender in fresh random order.
//!
//! The order of block `b` is a shuffle by `seed.child("block", b)`; the seed of a trial is the
//! child `("trial", position)` of its block. Golden vectors in the tests fix both for ever.

use fsarena_model::run::{RunPlan, Slot};
use fsarena_model::seed::Seed;

/// The trials of `blocks` blocks over these pairs of (workload, contender).
#[must_use]
pub fn schedule(seed: &Seed, blocks: u32, pairs: &[(usize, usize)]) -> Vec<Slot> {
    let mut slots = Vec::with_capacity(pairs.len() * blocks as usize);
    for block in 0..blocks {
        let mut order = pairs.to_vec();
        seed.child("block", u64::from(block)).rng().shuffle(&mut order);
        slots.extend(order.into_iter().zip(0..).map(|((workload, contender), position)| Slot {
            block,
            position,
            contender,
            workload,
        }));
    }
    slots
}

/// The seed of one trial.
#[must_use]
pub fn trial_seed(plan: &RunPlan, slot: &Slot) -> Seed {
    plan.seed.child("block", u64::from(slot.block)).child("trial", u64::from(slot.position))
}

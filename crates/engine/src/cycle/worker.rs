//! A worker: all that one cycle at a time needs, and the loop of its thread.

use super::scheduler::{CycleOrder, EndedCycle, ThreadEvent};
use super::updates::{CycleUpdates, Update};
use crate::InjectedDelay;
use crate::backend::Backend;
use crate::clock::{Monotonic, TickClock, monotonic_ns};
use crate::hist::Histogram;
use crate::op::cycle::{
    self as op, CycleContext, CycleEnv, CycleOutcome, NoUpdateLatency, UpdateLatency, Worst,
};
use crate::outcome::{Failure, at, sync_error};
use crate::resources::Usage;
use crate::threads::Latency;
use fsarena_model::cycle::CycleReport;
use fsarena_model::work::{Fsync, OpError};
use rustix::io::Errno;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};

/// All that one cycle at a time needs, made before the clock runs.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct CycleWorker {
    pub context: CycleContext,
    /// Slept after the last op of each cycle.
    pub delay: InjectedDelay,
    pub latency: Option<Latency>,
    /// Ops of its disturbed cycles, by the same clock; absent where there can be none.
    pub disturbed: Option<Histogram>,
}

impl CycleWorker {
    /// Runs each cycle that is ordered, until there are no more.
    pub(super) fn run<B: Backend>(
        &mut self,
        index: usize,
        env: CycleEnv<'_, B>,
        updates: &CycleUpdates,
        orders: &Receiver<CycleOrder>,
        events: &Sender<ThreadEvent>,
    ) {
        while let Ok(order) = orders.recv() {
            let ended = self.cycle(&order, updates.of_cycle(order.number), env);
            if events.send(ThreadEvent::EndedCycle(index, Box::new(ended))).is_err() {
                return;
            }
        }
    }

    /// One cycle between its clock reads.
    fn cycle<B: Backend>(
        &mut self,
        order: &CycleOrder,
        updates: &[Update],
        env: CycleEnv<'_, B>,
    ) -> EndedCycle {
        self.context.contents.set_version(order.version);
        self.context.sibling.take_cycle(order.number);
        let mut worst = Worst::default();
        let before = Usage::now();
        let started_ns = monotonic_ns();
        let mut done = self.work(updates, env, order.is_disturbed, &mut worst);
        if self.context.fsync == Fsync::End
            && let (Err(failure), None) = (at("syncfs", env.backend.sync()), done.tally.failure)
        {
            done.tally.failure = Some(failure);
        }
        if done.tally.failure.is_none() {
            self.delay.sleep();
        }
        let returned_ns = monotonic_ns();
        let usage = Usage::now().since(&before);
        if done.tally.failure.is_some() {
            env.stopped.store(true, Ordering::SeqCst);
        }
        // Also after a failure: what was done is made durable.
        let durable_ns = env.backend.make_durable().map(|durable| durable.monotonic_ns);
        if durable_ns.is_err() {
            env.stopped.store(true, Ordering::SeqCst);
        }
        let since = |at_ns: u64| at_ns.saturating_sub(order.start_ns);
        let report = CycleReport {
            number: order.number,
            due_ns: since(order.due_ns),
            started_ns: since(started_ns),
            returned_ns: since(returned_ns),
            durable_ns: durable_ns.ok().map(since),
            ops: done.tally.ops,
            asked_bytes: done.tally.bytes,
            kinds: done.kinds,
            worst_ns: worst.ns,
            worst_kind: worst.kind,
            beside: order.concurrent,
            collisions: done.collisions,
            disturb: None,
        };
        // By its number in the phase, as if no start had been skipped.
        let earlier = u64::from(order.number - 1) * updates.len() as u64;
        let op_index = earlier + done.tally.ops;
        let error = self.op_error(&done, op_index, || env.backend.free_bytes());
        let not_synced = |errno: Errno| sync_error(op_index, errno);
        EndedCycle { report, usage, error: error.or_else(|| durable_ns.err().map(not_synced)) }
    }

    /// Chooses the clock, once a cycle.
    fn work<B: Backend>(
        &mut self,
        updates: &[Update],
        env: CycleEnv<'_, B>,
        is_disturbed: bool,
        worst: &mut Worst,
    ) -> CycleOutcome {
        let Some(mut latency) = self.latency.take() else {
            return op::run(&mut self.context, updates, env, &mut NoUpdateLatency);
        };
        let mut disturbed = self.disturbed.take();
        let own = disturbed.as_mut().filter(|_| is_disturbed).unwrap_or(&mut latency.all);
        let done = match &latency.clock {
            TickClock::Tsc(tsc) => {
                let mut recorder = UpdateLatency::new(tsc.ticker(), own, worst);
                op::run(&mut self.context, updates, env, &mut recorder)
            }
            TickClock::Monotonic => {
                let mut recorder = UpdateLatency::new(Monotonic, own, worst);
                op::run(&mut self.context, updates, env, &mut recorder)
            }
        };
        (self.latency, self.disturbed) = (Some(latency), disturbed);
        done
    }

    fn op_error(
        &self,
        done: &CycleOutcome,
        op_index: u64,
        free_bytes: impl FnOnce() -> Option<u64>,
    ) -> Option<OpError> {
        let failure: Failure = done.tally.failure?;
        let (errno, text) = failure.describe(self.context.contents.call_bytes() as u64, free_bytes);
        let path = match failure.call {
            "syncfs" => ".",
            _ if done.failed_sibling => self.context.sibling.as_str(),
            _ => self.context.names.as_str(),
        };
        let (call, path) = (failure.call.to_owned(), path.to_owned());
        Some(OpError { op_index, thread: None, call, path, errno, text })
    }
}

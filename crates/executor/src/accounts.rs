//! The accounts of phases: counters from a phase's start to the end of the next unmount, and where
//! one was asked for, a trace of its block requests over the same time.
//!
//! Phases that share an unmount have counters that overlap: each ends there. A trace does not
//! overlap with another: it ends where the trace of the next phase begins, because a byte that is
//! written back later than that cannot be told to be of the one or of the other.

use crate::tracing::{Account, Traced, Tracing};
use crate::trial::{StepError, Trial};
use fsarena_metrics::{Snapshot, Sources, block_stat, delta};
use fsarena_model::account::{AccountRecord, Places};
use fsarena_model::contender::Cache;
use fsarena_model::record::{Notice, PhaseRecord, Window};
use fsarena_model::score::WRITTEN;
use fsarena_targets::cache;
use std::path::Path;

/// A phase whose account has not ended.
pub(crate) struct OpenAccount {
    /// Its number in the record.
    phase: usize,
    /// Its first readings.
    before: Snapshot,
    tracing: Option<Tracing>,
}

impl Trial<'_> {
    /// Puts a phase into the record, with its account open.
    pub(crate) fn close_phase(
        &mut self,
        mut record: PhaseRecord,
        before: Snapshot,
        account: Account,
    ) {
        record.account = account.so_far();
        let tracing = account.into_tracing();
        let phase = self.record.phases.len();
        self.open_accounts.push(OpenAccount { phase, before, tracing });
        self.record.phases.push(record);
    }

    /// What comes now, which is `what`, belongs to no phase that was measured: their accounts end,
    /// with an unmount where the caches are made cold anyway, else without one.
    pub(crate) fn end_accounts(&mut self, what: &str) -> Result<(), StepError> {
        if self.open_accounts.is_empty() || self.spec.target.device().is_none() {
            self.open_accounts.clear();
            return Ok(());
        }
        if self.spec.contender.levels.cache == Cache::Cold {
            self.unmount()?;
            return self.mount();
        }
        self.end_traces(what);
        let phases: Vec<String> = std::mem::take(&mut self.open_accounts)
            .into_iter()
            .map(|account| self.record.phases[account.phase].name.clone())
            .collect();
        let text = format!(
            "the account of written bytes of phase {} was ended by {what}, without an unmount: \
             what is written back after it is not in it",
            phases.join(", ")
        );
        let remedy = "use cache = \"cold\", which unmounts there".to_owned();
        self.notice("account-ended", text, Some(remedy));
        Ok(())
    }

    /// Ends the traces that are under way; `what` comes now.
    pub(crate) fn end_traces(&mut self, what: &str) {
        let written = self.device_name().and_then(|name| block_stat(&self.roots, &name).ok());
        let Some(to_bytes) = written.map(|stat| stat.written_bytes) else { return };
        for index in 0..self.open_accounts.len() {
            let account = &mut self.open_accounts[index];
            let (phase, tracing) = (account.phase, account.tracing.take());
            self.end_trace(phase, tracing, to_bytes, Some(what));
        }
    }

    /// Ends a trace, where there is one; what it saw waits for the places of the journal.
    fn end_trace(
        &mut self,
        phase: usize,
        tracing: Option<Tracing>,
        to_bytes: u64,
        what: Option<&str>,
    ) {
        let Some(tracing) = tracing else { return };
        match tracing.stop(phase, to_bytes, what) {
            Ok(traced) => self.traced.push(traced),
            Err(error) => {
                let reason = error.to_string();
                self.record.phases[phase].account = Some(AccountRecord::NotTaken { reason });
            }
        }
    }

    /// Closes the accounts of the phases since the mount, after the unmount: what that wrote is
    /// part of them.
    pub(crate) fn close_accounts(&mut self) -> Result<(), StepError> {
        let accounts = std::mem::take(&mut self.open_accounts);
        let Some(device) = self.spec.target.device() else { return Ok(()) };
        if (accounts.is_empty() && self.traced.is_empty()) || self.device_name().is_none() {
            return Ok(());
        }
        // What a file system in user space left in the cache of the device is part of its work.
        cache::flush_device(device)?;
        let end = Sources::open(&self.roots, &self.watch(None))?.read()?;
        for OpenAccount { phase, before, tracing } in accounts {
            let counters = delta(&before, &end);
            self.record.phases[phase].windows.insert(Window::Unmounted, counters);
            match end.get(WRITTEN) {
                Some(to_bytes) => self.end_trace(phase, tracing, to_bytes, None),
                None if tracing.is_some() => {
                    // Dropped, the trace is ended as well.
                    let reason = format!("the device has no counter {WRITTEN} at its end");
                    self.record.phases[phase].account = Some(AccountRecord::NotTaken { reason });
                }
                None => {}
            }
        }
        if self.traced.is_empty() {
            return Ok(());
        }
        let places = self.places(device);
        for traced in std::mem::take(&mut self.traced) {
            self.account(&traced, &places);
        }
        // What was read for them is not to be found in the cache by what comes.
        cache::flush_device(device)?;
        Ok(())
    }

    /// Where the journal and other metadata lie on the unmounted device.
    fn places(&self, device: &Path) -> Places {
        self.driver.places(device).unwrap_or_else(|error| Places {
            notes: vec![format!("Where its journal lies is not known: {error}.")],
            ..Places::default()
        })
    }

    /// Puts the account of a phase into its record.
    fn account(&mut self, traced: &Traced, places: &Places) {
        let Traced { phase, trace, maps, cuts, total_bytes, notes, .. } = traced;
        let mut account = fsarena_trace::account(trace, places, maps, cuts, *total_bytes);
        account.notes.extend_from_slice(notes);
        account.looks_cpu_ns = traced.looks_cpu_ns;
        account.longest_look_ns = traced.longest_look_ns;
        let record = &mut self.record.phases[*phase];
        if account.lost_events > 0 {
            let text = format!(
                "{} events of block requests were lost in phase {}: its account of written bytes \
                 is not whole",
                account.lost_events, record.name
            );
            let remedy = crate::tracing::remedy_for_lost();
            self.record.notices.push(Notice {
                code: "account-spoilt".to_owned(),
                text,
                remedy: Some(remedy),
                measure: Some(account.lost_events as f64),
            });
        }
        self.record.phases[*phase].account = Some(AccountRecord::Taken(Box::new(account)));
    }
}

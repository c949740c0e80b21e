//! The accounts of phases: counters from a phase's start to the end of the next unmount, and where
//! one was asked for, a trace of its block requests over the same time.
//!
//! Phases that share an unmount have counters that overlap: each ends there. A trace does not
//! overlap with another: it ends where the trace of the next phase begins, because a byte that is
//! written back later than that cannot be told to be of the one or of the other.

use crate::error::StepError;
use crate::filesystem::{TestedFs, notice};
use crate::tracing::{Account, Traced, Tracing};
use fsarena_devices::cache;
use fsarena_metrics::{Snapshot, Sources, delta};
use fsarena_model::account::{AccountRecord, FsLayout};
use fsarena_model::record::{Notice, PhaseRecord, TrialRecord, Window};
use fsarena_model::score::WRITTEN;
use std::path::Path;

/// A phase whose account has not ended.
pub(crate) struct OpenAccount {
    /// Its number in the record.
    phase: usize,
    /// Its first readings.
    before: Snapshot,
    tracing: Option<Tracing>,
}

/// The accounts of a trial.
#[derive(Default)]
pub(crate) struct WriteAccounts {
    /// Phases whose accounts have not ended: the next unmount closes them.
    open: Vec<OpenAccount>,
    /// Traces that have ended; the next unmount makes accounts of them.
    traced: Vec<Traced>,
}

impl WriteAccounts {
    /// Puts a phase into the record, with its account open.
    pub(crate) fn open_phase(
        &mut self,
        record: &mut TrialRecord,
        mut phase: PhaseRecord,
        before: Snapshot,
        account: Account,
    ) {
        phase.account = account.so_far();
        let tracing = account.into_tracing();
        self.open.push(OpenAccount { phase: record.phases.len(), before, tracing });
        record.phases.push(phase);
    }

    /// Whether none is open that could be closed on `fs`; what is open otherwise is forgotten.
    pub(crate) fn is_closed(&mut self, fs: &TestedFs<'_>) -> bool {
        if fs.spec.target.device().is_none() {
            self.open.clear();
        }
        self.open.is_empty()
    }

    /// Ends all that are open without an unmount: what comes now, which is `what`, belongs to no
    /// phase that was measured.
    pub(crate) fn end(&mut self, fs: &TestedFs<'_>, record: &mut TrialRecord, what: &str) {
        self.end_traces(fs, record, what);
        let phases: Vec<String> = std::mem::take(&mut self.open)
            .into_iter()
            .map(|account| record.phases[account.phase].name.clone())
            .collect();
        let text = format!(
            "the account of written bytes of phase {} was ended by {what}, without an unmount: \
             what is written back after it is not in it",
            phases.join(", ")
        );
        let remedy = "use cache = \"cold\", which unmounts there".to_owned();
        record.notices.push(notice("account-ended", text, Some(remedy)));
    }

    /// Begins the trace of `phase`, where an account was asked for; one that is under way ends.
    pub(crate) fn start_trace(
        &mut self,
        fs: &TestedFs<'_>,
        record: &mut TrialRecord,
        phase: &str,
    ) -> Account {
        const CODE: &str = "account-not-taken";
        if fs.spec.account {
            self.end_traces(fs, record, &format!("the beginning of phase {phase}"));
        }
        let account = Account::start(fs);
        if let Account::NotTaken(reason) = &account
            && !record.notices.iter().any(|notice| notice.code == CODE)
        {
            let text = format!("where the written bytes went is not known: {reason}");
            record.notices.push(notice(CODE, text, None));
        }
        account
    }

    /// Ends the traces that are under way; `what` comes now.
    fn end_traces(&mut self, fs: &TestedFs<'_>, record: &mut TrialRecord, what: &str) {
        let Some(to_bytes) = fs.written_bytes() else { return };
        for index in 0..self.open.len() {
            let account = &mut self.open[index];
            let (phase, tracing) = (account.phase, account.tracing.take());
            self.end_trace(&mut record.phases[phase], (phase, tracing), to_bytes, Some(what));
        }
    }

    /// Ends a trace, where there is one; what it saw waits for the places of the journal.
    fn end_trace(
        &mut self,
        record: &mut PhaseRecord,
        (phase, tracing): (usize, Option<Tracing>),
        to_bytes: u64,
        what: Option<&str>,
    ) {
        let Some(tracing) = tracing else { return };
        match tracing.stop(phase, to_bytes, what) {
            Ok(traced) => self.traced.push(traced),
            Err(error) => {
                let reason = error.to_string();
                record.account = Some(AccountRecord::NotTaken { reason });
            }
        }
    }

    /// Closes the accounts of the phases since the mount, after the unmount: what that wrote is
    /// part of them.
    pub(crate) fn close(
        &mut self,
        fs: &TestedFs<'_>,
        record: &mut TrialRecord,
    ) -> Result<(), StepError> {
        let accounts = std::mem::take(&mut self.open);
        let devices = fs.spec.target.devices();
        let Some(device) = devices.first() else { return Ok(()) };
        if (accounts.is_empty() && self.traced.is_empty()) || fs.device_names().is_empty() {
            return Ok(());
        }
        // What a file system in user space left in the cache of the device is part of its work.
        devices.iter().try_for_each(|device| cache::flush_device(device))?;
        let end = Sources::open(&fs.roots, &fs.watch(None))?.read()?;
        for OpenAccount { phase, before, tracing } in accounts {
            let counters = delta(&before, &end);
            let row = &mut record.phases[phase];
            row.windows.insert(Window::Unmounted, counters);
            match end.get(WRITTEN) {
                Some(to_bytes) => self.end_trace(row, (phase, tracing), to_bytes, None),
                None if tracing.is_some() => {
                    // Dropped, the trace is ended as well.
                    let reason = format!("the device has no counter {WRITTEN} at its end");
                    row.account = Some(AccountRecord::NotTaken { reason });
                }
                None => {}
            }
        }
        if self.traced.is_empty() {
            return Ok(());
        }
        let layout = journal_layout(fs, device);
        for traced in std::mem::take(&mut self.traced) {
            put_account(record, &traced, &layout);
        }
        // What was read for them is not to be found in the cache by what comes.
        cache::flush_device(device)?;
        Ok(())
    }
}

/// Where the journal and other metadata are on the unmounted device.
fn journal_layout(fs: &TestedFs<'_>, device: &Path) -> FsLayout {
    fs.driver.layout(device).unwrap_or_else(|error| FsLayout {
        notes: vec![format!("Where its journal lies is not known: {error}.")],
        ..FsLayout::default()
    })
}

/// Puts the account of a phase into its record.
fn put_account(record: &mut TrialRecord, traced: &Traced, layout: &FsLayout) {
    let Traced { phase, trace, maps, cuts, total_bytes, notes, .. } = traced;
    let mut account = fsarena_trace::account(trace, layout, maps, cuts, *total_bytes);
    account.notes.extend_from_slice(notes);
    account.looks_cpu_ns = traced.looks_cpu_ns;
    account.longest_look_ns = traced.longest_look_ns;
    let name = record.phases[*phase].name.clone();
    if account.lost_events > 0 {
        let text = format!(
            "{} events of block requests were lost in phase {}: its account of written bytes \
             is not whole",
            account.lost_events, name
        );
        let remedy = crate::tracing::remedy_for_lost();
        let measure = Some(account.lost_events as f64);
        let spoilt = notice("account-spoilt", text, Some(remedy));
        record.notices.push(Notice { measure, ..spoilt });
    }
    record.phases[*phase].account = Some(AccountRecord::Taken(Box::new(account)));
}

//! `fsarena crash`: what a power cut leaves of work on a modelled disk, in guest kernels or under
//! the kernel of this machine.

use super::crash_contenders::{
    AllowedDevices, ContenderOrder, ResolvedContenders, WorkloadNames, contenders,
};
use super::crash_hunt::HuntTally;
use super::crash_keep::{DoneRun, KeptStateWriter, ViolatingState};
use crate::args::CrashArgs;
use crate::context::{self, Usage, exit};
use anyhow::{Context as _, Result};
use fsarena_crash::crash_workload::CrashWorkload;
use fsarena_crash::record::RECOVERY_SUFFIX;
use fsarena_crash::state::Class;
use fsarena_crash_runs::crash_run::CrashRunError;
use fsarena_guests::guest::{GuestOptions, Program};
use fsarena_guests::kernel::{Kernels, Named};
use fsarena_model::contender::{Contender, DeviceLevel};
use fsarena_report::{CrashHead, HuntRow, crash_text, hunt_text};
use fsarena_runner::{CrashExtras, CrashJob, CrashJobError, CrashJobPlace};
use fsarena_study::{CrashRow, RowNames, crash_rows};
use indicatif::ProgressBar;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(super) const SECOND_NS: u64 = 1_000_000_000;
/// Real time after which a guest is given up.
pub(super) const LIMIT: Duration = Duration::from_secs(1200);
/// Cases of broken promises that are told.
pub(super) const CASES_MOST: usize = 3;

pub fn run(args: &CrashArgs) -> Result<ExitCode> {
    let names = |text: &String| list(text, "--workload", |name| Some(name.to_owned()));
    let names = args.workload.as_ref().map(names).transpose()?;
    let named = WorkloadNames::new(names, args.experiment.as_deref(), args.scale)?;
    let classes = list(&args.state, "--state", Class::from_name)?;
    if !args.every_event {
        check_points(args, &classes)?;
    }
    let own = context::scratch_dir()?;
    let mut kernels = Kernels::new(context::kernels()?);
    let order = ContenderOrder {
        fs: &args.fs,
        on: &args.on,
        allowed: AllowedDevices::Modelled,
        phases: named.phases.as_ref(),
    };
    let ResolvedContenders { contenders, not_run, workloads } =
        contenders(&order, &mut kernels, own.path())?;
    hold_apart(&contenders)?;
    let workloads = named.crash_workloads(&workloads)?;
    for line in &not_run {
        say!("not run: {line}");
    }
    let Some(first) = contenders.first() else {
        anyhow::bail!("nothing can be run");
    };
    let head = head(args, first)?;
    let keeper = KeptStateWriter::new(context::crash_states()?, args.keep);
    let program = Program::this(own.path())?;
    let native_dir = own.path();
    let interrupts = context::count_interrupts()?;
    let stop = || interrupts.load(Ordering::SeqCst) > 0;
    let all = contenders.len() * workloads.len();
    let bar = ProgressBar::new(all as u64 * u64::from(args.runs));
    let mut answer = Answer::default();
    for contender in &contenders {
        for workload in &workloads {
            let (kernels, program, keeper) = (&kernels, &program, &keeper);
            let campaign = Campaign { args, kernels, program, native_dir, keeper, workload };
            match campaign.answer(contender, &classes, &stop, &bar, &mut answer) {
                Ok(()) if bar.is_hidden() => {
                    say!("{}, {}: {} runs", contender.label, workload.name(), args.runs);
                }
                Ok(()) => {}
                Err(error) if is_stop(&error) => break,
                Err(error) => say!(
                    "{}, {}: failed: {}",
                    contender.label,
                    workload.name(),
                    context::reason(&error)
                ),
            }
        }
    }
    bar.finish_and_clear();
    if stop() {
        say!("stopped: what was finished before is all there is");
    }
    keeper.tell();
    answer.print(args, &head)?;
    Ok(match (stop(), answer.is_broken(), answer.is_whole(all, classes.len())) {
        (true, _, _) => ExitCode::from(exit::INTERRUPTED),
        (false, true, _) => ExitCode::from(exit::BROKEN),
        (false, false, true) => ExitCode::SUCCESS,
        (false, false, false) => ExitCode::FAILURE,
    })
}

/// What the campaigns have shown: rows of power cuts at uniform times, or of hunts.
#[derive(Default)]
struct Answer {
    rows: Vec<CrashRow>,
    hunts: Vec<HuntRow>,
}

impl Answer {
    fn print(&self, args: &CrashArgs, head: &CrashHead) -> Result<()> {
        if args.every_event {
            return print_hunts(args, head, &self.hunts);
        }
        let both = serde_json::json!({"head": head, "rows": self.rows});
        let document = || fsarena_report::json::document("crash", "crash", &both);
        let text = |width, style| crash_text(head, &self.rows, width, style);
        context::print_as(args.json, document, text)
    }

    fn is_broken(&self) -> bool {
        self.rows.iter().any(CrashRow::breaks_the_contract)
            || self.hunts.iter().any(HuntRow::breaks_the_contract)
    }

    /// Whether every campaign has given its rows.
    fn is_whole(&self, campaigns: usize, classes: usize) -> bool {
        let uniform = self.rows.iter().filter(|row| !row.state.ends_with(RECOVERY_SUFFIX));
        self.hunts.len() == campaigns || uniform.count() == campaigns * classes
    }
}

fn print_hunts(args: &CrashArgs, head: &CrashHead, hunts: &[HuntRow]) -> Result<()> {
    let both = serde_json::json!({"head": head, "states": args.states, "rows": hunts});
    let document = || fsarena_report::json::document("crash-hunt", "hunt", &both);
    let text = |width, style| hunt_text(head, args.states, hunts, width, style);
    context::print_as(args.json, document, text)
}

/// Each class of states has a power cut at least.
pub(super) fn check_points(args: &CrashArgs, classes: &[Class]) -> Result<()> {
    if (args.points as usize) < classes.len() {
        let what = format!("--points: {} for {} states; give each one", args.points, classes.len());
        return Err(Usage(what).into());
    }
    Ok(())
}

pub(super) fn head(args: &CrashArgs, contender: &Contender) -> Result<CrashHead> {
    let (size_bytes, model, kernel) = match &contender.levels.device {
        DeviceLevel::Virtual { size_bytes, model, kernel, .. } => {
            (*size_bytes, model, kernel.clone())
        }
        DeviceLevel::Vdisk { size_bytes, model } => (*size_bytes, model, context::kernel_release()),
        _ => anyhow::bail!("{} is not on a modelled disk", contender.label),
    };
    let is_virtual = contender.levels.device.is_virtual();
    Ok(CrashHead {
        kernel,
        memory_bytes: is_virtual.then(|| GuestOptions::new(Path::new("")).memory_bytes),
        device_model: model.clone(),
        device_bytes: size_bytes,
        seconds: args.seconds,
        runs: args.runs,
        points: args.points,
        seed: args.seed,
    })
}

/// One table is of one kernel and one time.
fn hold_apart(contenders: &[Contender]) -> Result<()> {
    let is_virtual = |contender: &Contender| contender.levels.device.is_virtual();
    if contenders.windows(2).all(|pair| is_virtual(&pair[0]) == is_virtual(&pair[1])) {
        return Ok(());
    }
    let what = "--on: guests and this machine have clocks of their own; ask one after the other";
    Err(Usage(what.to_owned()).into())
}

pub(super) fn is_stop(error: &anyhow::Error) -> bool {
    error.downcast_ref::<CrashJobError>().is_some_and(CrashJobError::is_stop)
        || error.downcast_ref::<CrashRunError>().is_some_and(CrashRunError::is_stop)
}

/// The words of an option, each once.
pub(super) fn list<T: PartialEq>(
    text: &str,
    option: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for word in text.split(',').map(str::trim) {
        let none = || Usage(format!("{option}: {word:?} is none; see fsarena crash --help"));
        let one = read(word).ok_or_else(none)?;
        if all.contains(&one) {
            return Err(Usage(format!("{option}: {word:?} is named twice")).into());
        }
        all.push(one);
    }
    Ok(all)
}

/// One workload on contenders.
pub(super) struct Campaign<'a> {
    args: &'a CrashArgs,
    kernels: &'a Kernels,
    program: &'a Program,
    /// For what native crash runs write.
    native_dir: &'a Path,
    keeper: &'a KeptStateWriter,
    workload: &'a CrashWorkload,
}

impl Campaign<'_> {
    /// Adds what it shows.
    fn answer(
        &self,
        contender: &Contender,
        classes: &[Class],
        stop: &(dyn Fn() -> bool + Sync),
        bar: &ProgressBar,
        answer: &mut Answer,
    ) -> Result<()> {
        if self.args.every_event {
            answer.hunts.push(self.hunt(contender, stop, bar)?);
        } else {
            answer.rows.extend(self.rows(contender, classes, stop, bar)?);
        }
        Ok(())
    }

    /// A row for each class of states.
    fn rows(
        &self,
        contender: &Contender,
        classes: &[Class],
        stop: &(dyn Fn() -> bool + Sync),
        bar: &ProgressBar,
    ) -> Result<Vec<CrashRow>> {
        let mut records = Vec::new();
        self.each_run(contender, classes, stop, |done| {
            self.keeper.keep(&done, done.candidates());
            bar.inc(1);
            records.push(done.record);
        })?;
        let names = RowNames {
            contender: &contender.label,
            file_system: &contender.levels.fs.name,
            workload: self.workload.name(),
        };
        Ok(crash_rows(names, &records)?)
    }

    fn hunt(
        &self,
        contender: &Contender,
        stop: &(dyn Fn() -> bool + Sync),
        bar: &ProgressBar,
    ) -> Result<HuntRow> {
        let mut tally = HuntTally::new(&contender.label, self.workload.name());
        self.each_run(contender, &[], stop, |done| {
            let mut found = done.candidates();
            found.sort_by_key(ViolatingState::complexity);
            let kept = self.keeper.keep(&done, found);
            tally.add(&done, &kept);
            bar.inc(1);
        })?;
        Ok(tally.row())
    }

    /// Each run, with its record.
    fn each_run(
        &self,
        contender: &Contender,
        classes: &[Class],
        stop: &(dyn Fn() -> bool + Sync),
        mut take: impl FnMut(DoneRun<'_>),
    ) -> Result<()> {
        let guest = match &contender.levels.device {
            DeviceLevel::Virtual { kernel, .. } => {
                let binary = |named: Named<'_>| {
                    let is_file = matches!(named, Named::File { .. });
                    named.binary().map(|binary| (binary, is_file))
                };
                Some(self.kernels.named(kernel, binary).context("its guest kernel is gone")??)
            }
            _ => None,
        };
        let place = match &guest {
            Some((kernel, _)) => CrashJobPlace::Guests { kernel, program: self.program },
            None => CrashJobPlace::Native { scratch_dir: self.native_dir },
        };
        for number in 0..self.args.runs {
            let job = CrashJob {
                contender,
                place,
                workload: self.workload,
                seed: self.args.seed.wrapping_add(u64::from(number)),
                seconds: self.args.seconds,
                points: self.args.points,
                classes,
                more: CrashExtras {
                    recovery_every: self.args.recovery_every,
                    lose_flush: self.args.lose_flush,
                    hunted_states: self.args.every_event.then_some(self.args.states),
                },
            };
            let ran = job.crash_run(stop)?;
            if let (Some(flush), None) = (self.args.lose_flush, ran.lost_flush_ns) {
                say!("mind: seed {}: the work has fewer than {flush} flushes", job.seed);
            }
            let record = job.record(&ran)?;
            let file = guest.as_ref().filter(|(_, is_file)| *is_file);
            let kernel_file = file.map(|(kernel, _)| kernel.clone());
            take(DoneRun { job: &job, ran, record, kernel_file });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_and_written_alike() {
        for word in ["prefix", "dropall", "drop-one", "keep-one", "subset", "torn", "lying=2"] {
            assert_eq!(Class::from_name(word).map(Class::name).as_deref(), Some(word));
        }
        for wrong in ["", "lying", "lying=x", "all"] {
            assert_eq!(Class::from_name(wrong), None, "{wrong}");
        }
        let twice = list("prefix,prefix", "--state", Class::from_name).unwrap_err().to_string();
        assert!(twice.contains("named twice"), "{twice}");
        let error = list("prefix,none", "--state", Class::from_name).unwrap_err().to_string();
        assert!(error.contains("--state: \"none\""), "{error}");
    }
}

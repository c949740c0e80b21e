//! `fsarena crash states`, `show`, `export`, `delete`: crash states that were kept.

use super::delete::is_confirmed;
use super::kernel::age;
use super::output_file::NewFile;
use super::trust::check_guest_kernel;
use crate::args::{
    CrashDeleteArgs, CrashExportArgs, CrashShowArgs, CrashStatesArgs, KeptStatesCommand,
    StateFormat,
};
use crate::context::{self, Usage, exit};
use anyhow::{Context as _, Result};
use fsarena_crash::observation::{MountStep, Observation};
use fsarena_crash::oracle::Oracle;
use fsarena_crash::{Findings, SectorRun};
use fsarena_crash_runs::crash_run::{CrashRunError, StateInspector};
use fsarena_crash_runs::kept_states::{KeptContents, KeptState, KeptStates};
use fsarena_crash_runs::{NativeCheck, inspect_state_natively, missing_writes};
use fsarena_disk_server::DiskOrder;
use fsarena_guests::guest::{GuestOptions, Program};
use fsarena_guests::kernel::Kernels;
use fsarena_model::units::Bytes;
use fsarena_vdisk::{Discarded, Store};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, UNIX_EPOCH};

/// Real time after which a guest is given up.
const LIMIT: Duration = Duration::from_secs(1200);
/// Files whose sectors are told, and broken promises.
const FILES_MOST: usize = 8;
const BROKEN_MOST: usize = 24;

pub fn run(what: &KeptStatesCommand) -> Result<ExitCode> {
    let states = context::crash_states()?;
    match what {
        KeptStatesCommand::States(args) => list(&states, args)?,
        KeptStatesCommand::Show(args) => return show(&states, args),
        KeptStatesCommand::Export(args) => export(&states, args)?,
        KeptStatesCommand::Delete(args) => delete(&states, args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn find(states: &KeptStates, name: &str) -> Result<KeptState> {
    states.find(name).map_err(|error| Usage(error.to_string()).into())
}

/// A kept state in the list.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct KeptStateLine<'s> {
    state: &'s KeptState,
    /// What it takes where it is kept; files that it shares with others count whole.
    size_bytes: u64,
}

fn list(states: &KeptStates, args: &CrashStatesArgs) -> Result<()> {
    let all = states.list()?;
    if args.json {
        let of = |state| KeptStateLine { state, size_bytes: states.size_bytes(state) };
        let all: Vec<KeptStateLine<'_>> = all.iter().map(of).collect();
        return context::print_json(&fsarena_report::json::document(
            "crash-states",
            "states",
            &all,
        ));
    }
    if all.is_empty() {
        say!("no crash state was kept; fsarena crash keeps those that break a promise");
        return Ok(());
    }
    let all: Vec<String> = all.iter().map(|state| describe(states, state)).collect();
    context::print(&all.join("\n"))
}

fn describe(states: &KeptStates, state: &KeptState) -> String {
    let kept = UNIX_EPOCH + Duration::from_secs(state.kept_unix_s);
    let mut text = format!(
        "{}  {}; {}, kept {}\n",
        state.id,
        what(state),
        Bytes(states.size_bytes(state)),
        age(kept)
    );
    let mut broken: BTreeMap<&str, usize> = BTreeMap::new();
    for violation in &state.violations {
        *broken.entry(violation.promise.sentence()).or_default() += 1;
    }
    for (sentence, count) in broken {
        let _ = writeln!(text, "  {count} × {sentence}");
    }
    if let Some(fault) = &state.disk_fault {
        let _ = writeln!(text, "  {fault}");
    }
    text
}

fn what(state: &KeptState) -> String {
    let after_s = state.after_ns as f64 / 1e9;
    let KeptState { contender, workload, class, seed, .. } = state;
    format!("{contender}, {workload}, {class}, seed {seed}, cut at {after_s:.6} s")
}

/// The kernel of the guests that the state is of.
fn kernel_of(state: &KeptState, own: &Path) -> Result<PathBuf> {
    let mut kernels = Kernels::new(context::kernels()?);
    if let Some(path) = &state.kernel_file {
        check_guest_kernel(path)?;
        let added = kernels.add_file(path, own, &|| false);
        added.map_err(|error| Usage(format!("the guest kernel {error}")))?;
    }
    let gone = || {
        let kernel = &state.kernel;
        Usage(format!("the guest kernel {kernel} is gone; build it: fsarena kernel build"))
    };
    let found = kernels.named(&state.kernel, |named| named.binary()).ok_or_else(gone)??;
    check_guest_kernel(&found)?;
    Ok(found)
}

fn show(states: &KeptStates, args: &CrashShowArgs) -> Result<ExitCode> {
    let state = find(states, &args.state)?;
    let contents = states.contents(&state)?;
    let interrupts = context::count_interrupts()?;
    let stop = || interrupts.load(Ordering::SeqCst) > 0;
    let look = if state.is_native { seen_natively } else { seen_in_guest };
    let seen = match look(&state, &contents, &stop) {
        Err(error) if error.downcast_ref::<CrashRunError>().is_some_and(CrashRunError::is_stop) => {
            return Ok(ExitCode::from(exit::INTERRUPTED));
        }
        seen => seen?,
    };
    let oracle = Oracle::new(&contents.ops, state.seed, state.promises)?;
    let findings = oracle.judge(&state.state, &seen);
    let paths = findings.violations.iter().filter_map(|violation| violation.path.clone());
    let sectors: BTreeMap<String, Vec<SectorRun>> =
        paths.map(|path| (path.clone(), oracle.sectors(&state.state, &seen, &path))).collect();
    let shown = Shown { state: &state, contents: &contents, seen, findings, sectors };
    if args.json {
        let shown = shown.inspected();
        context::print_json(&fsarena_report::json::document("crash-state", "shown", &shown))?;
    } else {
        context::print(&shown.text())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn seen_in_guest(
    state: &KeptState,
    contents: &KeptContents,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Observation> {
    let own = context::scratch_dir()?;
    let kernel = kernel_of(state, own.path())?;
    let program = Program::this(own.path())?;
    let options =
        GuestOptions { syscall_ns: state.syscall_ns, limit: LIMIT, ..GuestOptions::new(&kernel) };
    let checker = StateInspector {
        fs: &state.fs,
        options: &options,
        program: &program,
        seed: state.seed,
        disk: None,
        has_fsck: true,
        base: Store::in_memory(state.size_bytes, Discarded::Zeros),
        log: &contents.log,
    };
    let recovery = contents.recovery.as_ref().zip(state.cut.as_ref());
    Ok(checker.inspect_state(&state.state, recovery, stop)?)
}

fn seen_natively(
    state: &KeptState,
    contents: &KeptContents,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Observation> {
    let release = context::kernel_release();
    if release != state.kernel {
        say!("mind: it was found under Linux {}; this is {release}", state.kernel);
    }
    let own = context::scratch_dir()?;
    let disk = DiskOrder { model: &state.model, size_bytes: state.size_bytes, store_dir: None };
    let scratch_dir = own.path();
    let how = NativeCheck { fs: &state.fs, disk, has_fsck: true, is_detailed: true, scratch_dir };
    let recovery = contents.recovery.as_ref().zip(state.cut.as_ref());
    let seen = inspect_state_natively(&how, &contents.log, (&state.state, recovery), stop);
    Ok(seen.map_err(CrashRunError::from)?)
}

/// A state that was mounted again, as JSON.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct InspectedState<'s> {
    state: &'s KeptState,
    seen: &'s Observation,
    findings: &'s Findings,
    /// Of files that break a promise, by path.
    sectors: &'s BTreeMap<String, Vec<SectorRun>>,
}

/// A state that was mounted again.
struct Shown<'s> {
    state: &'s KeptState,
    contents: &'s KeptContents,
    seen: Observation,
    findings: Findings,
    /// Of files that break a promise.
    sectors: BTreeMap<String, Vec<SectorRun>>,
}

impl Shown<'_> {
    fn inspected(&self) -> InspectedState<'_> {
        let Self { state, seen, findings, sectors, .. } = self;
        InspectedState { state, seen, findings, sectors }
    }

    fn text(&self) -> String {
        let Self { state, contents, .. } = self;
        let mut text = format!(
            "{}  {}\nLinux {}, {} of {}, {}\n{}\n",
            state.id,
            what(state),
            state.kernel,
            state.model,
            Bytes(state.size_bytes),
            state.mount_options,
            missing_writes(&contents.log, &state.state)
        );
        if let (Some(log), Some(cut)) = (&contents.recovery, &state.cut) {
            let _ = writeln!(text, "in its recovery: {}", missing_writes(log, cut));
        }
        if let Some(fault) = &state.disk_fault {
            let _ = writeln!(text, "{fault}: what is broken is broken by the disk");
        }
        self.mounts(&mut text);
        self.broken(&mut text);
        for (title, lines) in [("check", &self.seen.fsck_output), ("kernel", &self.seen.kernel_log)]
        {
            for line in lines {
                let _ = writeln!(text, "{title}: {line}");
            }
        }
        text
    }

    fn mounts(&self, text: &mut String) {
        for mount in &self.seen.mounts {
            let step = step(mount.step);
            let _ = match mount.errno {
                None => writeln!(text, "mount, {step}: done"),
                Some(errno) => {
                    let why = std::io::Error::from_raw_os_error(errno);
                    writeln!(text, "mount, {step}: {why}")
                }
            };
        }
        if let Some(is_usable) = self.seen.is_usable {
            let word = if is_usable { "can" } else { "cannot" };
            let _ = writeln!(text, "a file {word} be made, synced and deleted");
        }
        if let Some(fsck) = self.seen.fsck {
            let word = if fsck.is_clean { "clean" } else { "damage" };
            let _ = writeln!(text, "its check: {word}, exit code {}", fsck.exit_code);
        }
    }

    fn broken(&self, text: &mut String) {
        if self.findings.violations.is_empty() {
            let _ = writeln!(text, "mind: no promise was broken this time");
        }
        let mut sentence = "";
        for violation in self.findings.violations.iter().take(BROKEN_MOST) {
            if violation.promise.sentence() != sentence {
                sentence = violation.promise.sentence();
                let _ = writeln!(text, "broken: {sentence}");
            }
            let path = violation.path.as_deref().unwrap_or("the file system");
            let _ = writeln!(text, "  {path}: {}", violation.found);
        }
        let more = self.findings.violations.len().saturating_sub(BROKEN_MOST);
        if more > 0 {
            let _ = writeln!(text, "  and {more} more; --json has all");
        }
        for (path, runs) in self.sectors.iter().take(FILES_MOST) {
            let _ = writeln!(text, "{path}:");
            for run in runs {
                let SectorRun { from, sectors, expected, found, is_as_expected } = run;
                let mark = if *is_as_expected { "" } else { "  <- broken" };
                let which = match sectors {
                    0 => "name".to_owned(),
                    1 => format!("sector {from}"),
                    _ => format!("sectors {from} to {}", from + sectors - 1),
                };
                let _ = writeln!(text, "  {which}: expected {expected}; found {found}{mark}");
            }
        }
        if let Some(more) = self.sectors.len().checked_sub(FILES_MOST).filter(|more| *more > 0) {
            let _ = writeln!(text, "and {more} more files; --json has all");
        }
    }
}

fn step(step: MountStep) -> &'static str {
    match step {
        MountStep::ReadWrite => "as it was",
        MountStep::ReadOnly => "read-only",
        MountStep::WithoutRecovery => "read-only and without recovery",
        MountStep::AfterRepair => "after a repair",
    }
}

fn export(states: &KeptStates, args: &CrashExportArgs) -> Result<()> {
    let state = find(states, &args.state)?;
    check_output(&args.output, args.force)?;
    let contents = states.contents(&state)?;
    let path = &args.output;
    let place = || format!("{}: cannot be written; name another file", path.display());
    let new = NewFile::begin(path)?;
    match args.format {
        StateFormat::Image => contents.write_image(&state, new.file()),
        StateFormat::LogWrites => contents.write_log_writes(&state, new.file()),
    }
    .with_context(place)?;
    if args.force {
        new.replace()?;
    } else if !new.place()? {
        exists(path)?;
    }
    let written = fs::metadata(path).with_context(place)?;
    let in_use = std::os::unix::fs::MetadataExt::blocks(&written) * 512;
    say!("{}: {}, {} in use", path.display(), Bytes(written.len()), Bytes(in_use));
    Ok(())
}

fn exists(path: &Path) -> Result<()> {
    refuse!("{}: is there already; name another file, or pass --force", path.display());
}

/// Nothing is written through a link, or into what is no file.
fn check_output(path: &Path, force: bool) -> Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("{}", path.display())),
        Ok(meta) if !meta.is_file() => {
            refuse!("{}: is no regular file; name another one", path.display());
        }
        Ok(_) if force => Ok(()),
        Ok(_) => exists(path),
    }
}

fn delete(states: &KeptStates, args: &CrashDeleteArgs) -> Result<()> {
    let mut chosen: Vec<KeptState> = Vec::new();
    for name in &args.states {
        let state = find(states, name)?;
        if !chosen.contains(&state) {
            chosen.push(state);
        }
    }
    if args.all {
        chosen = states.list()?;
        if chosen.is_empty() {
            say!("no crash state was kept");
            return Ok(());
        }
    }
    let lines: Vec<String> = chosen.iter().map(|state| describe(states, state)).collect();
    context::print_text(&lines.concat());
    let what = match chosen.len() {
        1 => "this crash state".to_owned(),
        number => format!("these {number} crash states"),
    };
    if !args.yes && !is_confirmed(&what)? {
        refuse!("nothing was deleted");
    }
    for state in &chosen {
        states.remove(state)?;
    }
    say!("{} deleted from {}", chosen.len(), states.dir().display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_replaces_no_file_unasked_and_no_link_ever() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.img");
        assert!(check_output(&path, false).is_ok());
        fs::write(&path, "mine").unwrap();
        let error = check_output(&path, false).unwrap_err();
        assert!(error.is::<Usage>() && error.to_string().contains("pass --force"), "{error}");
        assert!(check_output(&path, true).is_ok());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let error = check_output(&link, true).unwrap_err().to_string();
        assert!(error.contains("is no regular file"), "{error}");
    }
}

//! An application in a guest: its work until the power goes, and its own check of what that left.
//!
//! Its commands run in the root of the mounted file system. What they print is read here, outside
//! of that file system, and this is when a unit of work counts as acknowledged.

use super::error::CrashError;
use super::kernel_log::KernelLog;
use super::mounting::{FileSystemOn, each_contents, target, with_file_system};
use super::observed::{TakeObservation, hand_on};
use fsarena_crash::application::{
    Acknowledged, Application, ApplicationFault, ApplicationSeen, ApplicationWork, CheckRun,
    Ending, found_units,
};
use fsarena_crash::observation::{MountAttempt, MountStep};
use fsarena_devices::{format, mount, settle};
use fsarena_filesystems::driver;
use fsarena_metrics::monotonic_ns;
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_process::cmd::{Captured, End, SearchPath};
use fsarena_process::program::TrustedProgram;
use fsarena_process::script::Script;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::time::Duration;

/// In memory in a guest.
const HOME: &str = "/tmp";
/// Beyond its seconds, a command has so much virtual time to end.
const PATIENCE_S: u64 = 600;
/// Of the output of a check that is kept.
const LINES_MOST: usize = 3;
const CHARS_MOST: usize = 240;

/// A file system on `/dev/vdisk0`, and the work of an application on it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplicationTask {
    pub fs: FsLevel,
    pub size_bytes: u64,
    pub application: Application,
    /// The command knows both, and ends by itself after so many seconds of virtual time.
    pub seed: u64,
    pub seconds: u64,
}

/// The same file system on `/dev/vdisk0`, whose contents are those after one power cut after
/// another.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplicationCheck {
    pub fs: FsLevel,
    pub size_bytes: u64,
    pub application: Application,
    pub seed: u64,
    pub seconds: u64,
    /// Lines that were acknowledged, of all power cuts.
    pub lines: Vec<String>,
    /// So many of them at each.
    pub acknowledged: Vec<u32>,
}

/// Works, looks whether all is well without a power cut, and leaves.
pub(super) fn work(task: &ApplicationTask, mnt: &Path) -> Result<ApplicationWork, CrashError> {
    let driver = driver(&task.fs)?;
    let target = target(0, task.size_bytes);
    let formatted = format::format(&target, &*driver, &task.fs, Discard::None)?;
    let mounted = mount::mount(&formatted, mnt)?;
    let mount_options = mounted.options().to_owned();
    // What is left of both goes with the guest.
    mounted.keep();
    formatted.keep();
    let mut work = ApplicationWork {
        acknowledged: Vec::new(),
        begin_ns: monotonic_ns(),
        end_ns: monotonic_ns(),
        mount_options,
        fault: None,
    };
    let shell = Shell::new(&task.application, mnt, task.seed, task.seconds);
    let limit_s = task.seconds + PATIENCE_S;
    let (ran, ending) = shell.run(&task.application.setup, "", 0, limit_s, &mut |_| {})?;
    settle::syncfs(mnt)?;
    if ending != Ending::Code(0) {
        work.fault = Some(ApplicationFault::Setup { ending, output: last_lines(&ran) });
        return Ok(work);
    }
    work.begin_ns = monotonic_ns();
    let units = &mut work.acknowledged;
    let mut take =
        |line: &str| units.push(Acknowledged { at_ns: monotonic_ns(), line: line.to_owned() });
    let (ran, ending) = shell.run(&task.application.command, "", 0, limit_s, &mut take)?;
    work.end_ns = monotonic_ns();
    if ending != Ending::Code(0) {
        let said = if ran.stderr.trim().is_empty() { last_lines(&ran) } else { tail(&ran.stderr) };
        work.fault = Some(ApplicationFault::Command { ending, output: said });
        return Ok(work);
    }
    if work.acknowledged.is_empty() {
        work.fault = Some(ApplicationFault::Silent);
        return Ok(work);
    }
    let again = |errno: Errno| CrashError::io(mnt)(errno.into());
    with_file_system(&task.fs, &target, |fs| {
        fs.unmount(mnt).map_err(again)?;
        fs.mount(MountStep::ReadWrite, mnt).map_err(again)
    })?;
    let lines: Vec<&str> = work.acknowledged.iter().map(|unit| unit.line.as_str()).collect();
    let check = shell.check(&task.application, &lines)?;
    work.fault = fault_of(check, work.acknowledged.len() as u64);
    Ok(work)
}

/// What is wrong with a check of the uncrashed state.
fn fault_of(check: CheckRun, acknowledged: u64) -> Option<ApplicationFault> {
    match (check.ending, check.found) {
        (Ending::Code(0), None) => Some(ApplicationFault::NotCounted),
        (Ending::Code(0), Some(found)) => {
            (found < acknowledged).then_some(ApplicationFault::Fewer { found, acknowledged })
        }
        (ending, _) => Some(ApplicationFault::Check { ending, output: check.output }),
    }
}

/// Mounts the disk after each power cut and has the application check it.
pub(super) fn check(
    task: &ApplicationCheck,
    mnt: &Path,
    take: &mut TakeObservation<'_>,
) -> Result<(), CrashError> {
    let shell = Shell::new(&task.application, mnt, task.seed, task.seconds);
    let mut counts = task.acknowledged.iter();
    let contents = u32::try_from(counts.len()).unwrap_or(u32::MAX);
    each_contents(&task.fs, &[contents], task.size_bytes, |fs| {
        let acknowledged = counts.next().copied().unwrap_or(0);
        let lines: Vec<&str> =
            task.lines.iter().take(acknowledged as usize).map(String::as_str).collect();
        hand_on(&check_one(fs, mnt, &shell, &task.application, &lines)?, take)
    })
}

fn check_one(
    fs: &FileSystemOn<'_>,
    mnt: &Path,
    shell: &Shell<'_>,
    application: &Application,
    lines: &[&str],
) -> Result<ApplicationSeen, CrashError> {
    let mut seen = ApplicationSeen::default();
    let kernel_log = KernelLog::from_now(fs.kernel_name());
    let mount_steps = fs.mount_steps().into_iter();
    for step in
        mount_steps.filter(|step| matches!(step, MountStep::ReadWrite | MountStep::AfterRepair))
    {
        let began_ns = monotonic_ns();
        let errno = fs.mount(step, mnt).err().map(Errno::raw_os_error);
        let duration_ns = monotonic_ns() - began_ns;
        seen.mounts.push(MountAttempt { step, errno, began_ns, duration_ns });
        if errno.is_none() {
            seen.check = Some(shell.check(application, lines)?);
            seen.unmount_errno = fs.unmount(mnt).err().map(Errno::raw_os_error);
            break;
        }
    }
    seen.kernel_messages = kernel_log.messages();
    Ok(seen)
}

/// Where commands of an application run, and what they know.
struct Shell<'a> {
    dir: &'a Path,
    env: Vec<(&'a str, OsString)>,
}

impl<'a> Shell<'a> {
    fn new(application: &Application, dir: &'a Path, seed: u64, seconds: u64) -> Self {
        let own = application.path.iter().map(|path| path.as_os_str().to_owned());
        let all = own.chain([SearchPath::from_env().joined()]);
        let path = all.collect::<Vec<_>>().join(&OsString::from(":"));
        let env = vec![
            ("PATH", path),
            ("HOME", HOME.into()),
            ("TMPDIR", HOME.into()),
            ("LC_ALL", "C".into()),
            ("FSARENA_SEED", seed.to_string().into()),
            ("FSARENA_SECONDS", seconds.to_string().into()),
        ];
        Self { dir, env }
    }

    /// Runs a command, and says how it ended.
    fn run(
        &self,
        text: &str,
        input: &str,
        acknowledged: usize,
        limit_s: u64,
        on_line: &mut dyn FnMut(&str),
    ) -> Result<(Captured, Ending), CrashError> {
        let mut env = self.env.clone();
        env.push(("FSARENA_ACKNOWLEDGED", acknowledged.to_string().into()));
        let limit = Duration::from_secs(limit_s);
        let command = &TrustedProgram::confirmed(text);
        let script = Script { command, dir: self.dir, env: &env, input, limit };
        let ran = script.run(on_line).map_err(CrashError::io(Path::new("/bin/sh")))?;
        let ending = match ran.end {
            End::Ended(status) => match (status.code(), status.signal()) {
                (Some(code), _) => Ending::Code(code),
                (None, signal) => Ending::Signal(signal.unwrap_or(0)),
            },
            End::TooMuchOutput => Ending::TooMuchOutput,
            End::TimedOut | End::Stopped => Ending::TimedOut(limit_s),
        };
        Ok((ran, ending))
    }

    /// Runs the check, which has the acknowledged lines on its standard input.
    fn check(&self, application: &Application, lines: &[&str]) -> Result<CheckRun, CrashError> {
        let input: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        let limit_s = application.check_limit_s;
        let (ran, ending) =
            self.run(&application.check, &input, lines.len(), limit_s, &mut |_| {})?;
        let found = found_units(&ran.stdout);
        let output = if ending == Ending::Code(0) && found.is_some() {
            String::new()
        } else {
            last_lines(&ran)
        };
        Ok(CheckRun { ending, found, output })
    }
}

/// What it said on both streams, at its end.
fn last_lines(ran: &Captured) -> String {
    let is_count = |line: &&str| !line.trim_start().starts_with("found ");
    let said: Vec<&str> = ran.stdout.lines().filter(is_count).chain(ran.stderr.lines()).collect();
    tail(&said.join("\n"))
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LINES_MOST)..].join(" | ");
    match last.char_indices().nth(CHARS_MOST) {
        Some((at, _)) => format!("{}…", &last[..at]),
        None => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn application(check: &str) -> Application {
        let text = format!(
            "schema = 1\nname = \"a\"\ntitle = \"t\"\nsource = \"s\"\ncommand = \"true\"\n\
             check_limit_s = 1\npath = [\"/opt/own/bin\"]\ncheck = '''\n{check}\n'''\n"
        );
        Application::parse(&text, "a.toml").unwrap()
    }

    fn checked(check: &str, lines: &[&str]) -> CheckRun {
        let dir = tempfile::tempdir().unwrap();
        let application = application(check);
        Shell::new(&application, dir.path(), 3, 20).check(&application, lines).unwrap()
    }

    #[test]
    fn a_check_knows_what_was_acknowledged_and_where_it_is() {
        let text = "test \"$FSARENA_ACKNOWLEDGED $FSARENA_SEED $FSARENA_SECONDS\" = '2 3 20' || \
                    exit 7\ncase $PATH in /opt/own/bin:*) ;; *) exit 8 ;; esac\n\
                    test \"$(cat)\" = \"$(printf 'a b\\nc')\" || exit 9\n\
                    touch here && test -e $PWD/here && echo found 2";
        let check = checked(text, &["a b", "c"]);
        assert_eq!(check, CheckRun { ending: Ending::Code(0), found: Some(2), output: "".into() });
    }

    #[test]
    fn a_check_that_fails_says_why() {
        let failed = checked("echo bad row 3; echo found 1; echo why >&2; exit 4", &[]);
        assert_eq!((failed.ending, failed.found), (Ending::Code(4), Some(1)));
        assert_eq!(failed.output, "bad row 3 | why");
        assert_eq!(checked("kill -9 $$", &[]).ending, Ending::Signal(9));
        let slow = checked("echo begun; sleep 60", &[]);
        assert_eq!((slow.ending, slow.output.as_str()), (Ending::TimedOut(1), "begun"));
        assert_eq!(tail(&"é".repeat(500)).chars().count(), CHARS_MOST + 1);
    }

    #[test]
    fn an_uncrashed_state_has_all_that_was_acknowledged() {
        let check =
            |code, found| CheckRun { ending: Ending::Code(code), found, output: "said".to_owned() };
        assert_eq!(fault_of(check(0, Some(5)), 5), None);
        assert_eq!(fault_of(check(0, Some(9)), 5), None);
        assert_eq!(fault_of(check(0, None), 5), Some(ApplicationFault::NotCounted));
        let fewer = ApplicationFault::Fewer { found: 4, acknowledged: 5 };
        assert_eq!(fault_of(check(0, Some(4)), 5), Some(fewer));
        let failed = ApplicationFault::Check { ending: Ending::Code(1), output: "said".to_owned() };
        assert_eq!(fault_of(check(1, Some(5)), 5), Some(failed));
    }
}

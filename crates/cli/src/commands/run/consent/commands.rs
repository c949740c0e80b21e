//! Commands that an experiment or a RUN contains, shown as they are and confirmed before the first
//! is run.
//!
//! A Makefile in the user's own data is one of them, and so is a guest kernel that the user has not
//! named on this command line: it is a program. What is shown cannot change how the rest of the
//! screen looks.
//!
//! An experiment file is named by who runs it, and `--yes` is for whatever it says. What a database
//! says may be anybody's, also that it was confirmed before: it is confirmed anew whenever it is
//! run, on the terminal or by a digest of all that was shown, which holds for nothing else.

use crate::args::RunArgs;
use crate::commands::confirm::{is_answered, shown, this_user};
use crate::context;
use anyhow::Result;
use fsarena_crash::application::Application;
use fsarena_model::crash::Campaign;
use fsarena_model::job::{Job, JobKind, Origin};
use fsarena_model::run::{KernelFile, RunPlan};
use fsarena_model::seed::hex;
use fsarena_model::work::{UserIds, Workload};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::PathBuf;

/// Of a digest, as it is written on the command line.
const DIGEST_DIGITS: usize = 32;

/// Shows the commands of the experiment file, and asks; a dry run does not ask, as it runs none.
/// `user` is the user of the work, where it is another one.
pub(in super::super) fn confirm_commands(
    args: &RunArgs,
    plan: &RunPlan,
    user: Option<UserIds>,
) -> Result<()> {
    let heading =
        if args.is_crash { "Commands of the files" } else { "Commands of the experiment file" };
    if !show_commands(heading, plan, user) || args.yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        say!("(pass --yes to run them without a terminal)");
    } else if args.dry_run || is_answered("Run them?")? {
        return Ok(());
    }
    match args.is_crash {
        false => refuse!("commands of the experiment file were not confirmed"),
        true => refuse!("commands of the application files were not confirmed"),
    }
}

/// Shows the guest kernels that the experiment file names, and asks; a dry run, too: to see what a
/// kernel is it is booted.
pub(in super::super) fn confirm_kernels(args: &RunArgs, kernels: &[PathBuf]) -> Result<()> {
    if kernels.is_empty() {
        return Ok(());
    }
    say!("Guest kernels of the experiment file, to be run as {}:", this_user());
    kernels.iter().for_each(|path| say!("  {}", shown(&path.display().to_string())));
    if args.yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        say!("(pass --yes to run them without a terminal, or name them with --kernel)");
    } else if is_answered("Run them?")? {
        return Ok(());
    }
    refuse!("guest kernels of the experiment file were not confirmed")
}

/// A RUN as a database has it.
#[derive(Clone, Copy)]
pub(in super::super) struct StoredCommands<'a> {
    /// How it is called: `RUN 3`.
    pub(in super::super) run: &'a str,
    /// What is left of it.
    pub(in super::super) rest: &'a RunPlan,
    /// The user of the work, where it is another one.
    pub(in super::super) user: Option<UserIds>,
    /// Files that its guests boot.
    pub(in super::super) kernels: &'a [KernelFile],
}

/// Shows what a stored RUN would run, and asks, or compares with `--allow-commands`.
pub(in super::super) fn confirm_stored(args: &RunArgs, stored: StoredCommands<'_>) -> Result<()> {
    let run = stored.run;
    let heading = format!("Commands of {run}, as the database has them");
    let has_commands = show_commands(&heading, stored.rest, stored.user);
    if !stored.kernels.is_empty() {
        say!("Guest kernels of {run}, as the database names them, to be run as {}:", this_user());
        let line = |file: &KernelFile| format!("{} (SHA-256 {})", file.path.display(), file.sha256);
        stored.kernels.iter().for_each(|file| say!("  {}", shown(&line(file))));
    }
    let digest = stored.digest();
    match &args.allow_commands {
        Some(_) if !has_commands && stored.kernels.is_empty() => {
            refuse!("--allow-commands: {run} has no commands; leave it out")
        }
        _ if !has_commands && stored.kernels.is_empty() => return Ok(()),
        Some(given) if *given == digest => return Ok(()),
        Some(given) => refuse!(
            "--allow-commands {given}: the commands of {run} are others than those that this allows; \
             read them, and pass --allow-commands {digest} for these"
        ),
        None => {}
    }
    let why = if args.yes { " (--yes is for an experiment file that you name)" } else { "" };
    if std::io::stdin().is_terminal() && is_answered("Run them?")? {
        return Ok(());
    }
    refuse!(
        "commands of {run} were not confirmed{why}; read them, and pass --allow-commands {digest} to \
         run exactly these"
    )
}

impl StoredCommands<'_> {
    /// Of all that is run, with what it is run for and as whom.
    fn digest(self) -> String {
        let contenders = self.rest.contenders.iter().map(|one| &one.levels.fs);
        let filesystems: Vec<_> =
            contenders.filter_map(|fs| Some((&fs.name, fs.external.as_ref()?))).collect();
        let mut jobs = Vec::new();
        for workload in &self.rest.workloads {
            for phase in &workload.phases {
                if let Some(job) = phase.job.as_ref().filter(|job| is_shown(workload, job)) {
                    jobs.push((&workload.name, &workload.source, &phase.name, job));
                }
            }
        }
        let applications = described_applications(self.rest);
        let all = (context::is_root(), filesystems, jobs, self.user, self.kernels, applications);
        let text = serde_json::to_string(&all).expect("plain data are representable as JSON");
        let mut digits = hex(&Sha256::digest(text.as_bytes()));
        digits.truncate(DIGEST_DIGITS);
        digits
    }
}

/// Shows all commands of a plan; whether there are any.
fn show_commands(heading: &str, plan: &RunPlan, user: Option<UserIds>) -> bool {
    let (of_filesystems, phase_commands) = (filesystem_commands(plan), phase_commands(plan));
    let of_applications = application_commands(plan);
    if !of_applications.is_empty() {
        say!("{heading} for applications, to be run as {} in guests:", this_user());
        of_applications.iter().for_each(|command| say!("  {}", shown(command)));
    }
    if !of_filesystems.is_empty() {
        say!("{heading}, to be run as {} in /:", this_user());
        of_filesystems.iter().for_each(|command| say!("  {}", shown(command)));
    }
    if !phase_commands.is_empty() {
        let who = user.map(|user| format!("user {} group {}", user.uid, user.gid));
        let who = who.as_deref().unwrap_or(this_user());
        say!("Commands of the workloads, to be run as {who} in the file system under test:");
        phase_commands.iter().for_each(|command| say!("  {}", shown(command)));
    }
    !of_filesystems.is_empty() || !phase_commands.is_empty() || !of_applications.is_empty()
}

/// Descriptions of applications that are not built in, by name.
fn described_applications(plan: &RunPlan) -> Option<&BTreeMap<String, String>> {
    match &plan.crash.as_ref()?.campaign {
        Campaign::Applications { described } if !described.is_empty() => Some(described),
        _ => None,
    }
}

/// Commands of these applications, each once.
fn application_commands(plan: &RunPlan) -> Vec<String> {
    let mut commands = Vec::new();
    for (name, text) in described_applications(plan).into_iter().flatten() {
        match Application::parse(text, name) {
            Ok(Application { setup, command, check, path, .. }) => {
                for dir in path {
                    let dir = dir.display();
                    add(&mut commands, &format!("PATH={dir}:$PATH  (all commands of {name})"));
                }
                for text in [setup, command, check].iter().filter(|text| !text.is_empty()) {
                    add(&mut commands, text);
                }
            }
            // What cannot be read is not run.
            Err(_) => add(&mut commands, text),
        }
    }
    commands
}

/// Commands that make, mount and destroy file systems, each once.
fn filesystem_commands(plan: &RunPlan) -> Vec<String> {
    let mut commands = Vec::new();
    for external in plan.contenders.iter().filter_map(|c| c.levels.fs.external.as_ref()) {
        external.commands().for_each(|command| add(&mut commands, command));
    }
    commands
}

/// What phases run that is not of this program's choice, each once.
fn phase_commands(plan: &RunPlan) -> Vec<String> {
    let mut commands = Vec::new();
    for workload in &plan.workloads {
        let jobs = workload.phases.iter().filter_map(|phase| phase.job.as_ref());
        for job in jobs.filter(|job| is_shown(workload, job)) {
            match &job.kind {
                JobKind::Command(command) => {
                    command.texts().for_each(|text| add(&mut commands, text));
                    for program in &command.programs {
                        add(&mut commands, &format!("{program} --version"));
                    }
                }
                _ => {
                    if let Some(makefile) = own_makefile(workload) {
                        add(&mut commands, &makefile);
                    }
                }
            }
        }
    }
    commands
}

/// Whether a job runs what is not of this program's choice.
fn is_shown(workload: &Workload, job: &Job) -> bool {
    match &job.kind {
        JobKind::Command(_) => true,
        JobKind::Compile { .. } => own_makefile(workload).is_some(),
        _ => false,
    }
}

/// A Makefile can run whatever it likes; those of generated trees are ours.
fn own_makefile(workload: &Workload) -> Option<String> {
    let Origin::Own { path } = &workload.source.as_ref()?.origin else { return None };
    Some(format!("make -C {{data}}: the Makefile in {}", path.display()))
}

fn add(commands: &mut Vec<String>, command: &str) {
    if !commands.iter().any(|known| known == command) {
        commands.push(command.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Usage;
    use fsarena_model::contender::ExternalFs;
    use fsarena_model::job::{Command, DATA};
    use fsarena_model::phase::Phase;
    use fsarena_model::run::RunHeader;
    use fsarena_testkit::records;

    /// A RUN of a database with commands of both kinds and a kernel.
    fn header() -> RunHeader {
        let contenders = vec![records::contender("own", "own", 1)];
        let mut header = records::header(contenders, vec![records::small_files()], 1);
        header.plan.contenders[0].levels.fs.external = Some(ExternalFs {
            create: Some("mkfs.own {dev}".to_owned()),
            ..records::external_fs("mount.own {dev} {mnt}")
        });
        let command = Command {
            run: "touch x".to_owned(),
            prepare: None,
            cleanup: None,
            programs: Vec::new(),
        };
        let job = Job::new(JobKind::Command(command), DATA);
        header.plan.workloads[0].phases.push(Phase::of_job("c", job));
        header
    }

    fn stored(header: &RunHeader) -> StoredCommands<'_> {
        StoredCommands { run: "RUN 1", rest: &header.plan, user: None, kernels: &[] }
    }

    fn refused(header: &RunHeader, args: &RunArgs) -> Option<String> {
        let error = confirm_stored(args, stored(header)).err()?;
        assert!(error.is::<Usage>());
        Some(error.to_string())
    }

    #[test]
    fn what_a_database_says_is_run_by_its_digest_alone() {
        let header = header();
        let digest = stored(&header).digest();
        let args = |allow_commands: Option<&str>, yes| RunArgs {
            allow_commands: allow_commands.map(str::to_owned),
            yes,
            ..RunArgs::default()
        };
        for yes in [false, true] {
            assert_eq!(refused(&header, &args(Some(&digest), yes)), None);
            let other = refused(&header, &args(Some("00"), yes)).unwrap();
            assert!(other.contains("are others than those that this allows"), "{other}");
        }
        if !std::io::stdin().is_terminal() {
            let error = refused(&header, &args(None, true)).unwrap();
            assert!(error.contains(&format!("pass --allow-commands {digest}")), "{error}");
            assert!(error.contains("--yes is for an experiment file"), "{error}");
        }
        let plain = records::header(
            vec![records::contender("ext4", "ext4", 1)],
            vec![records::small_files()],
            1,
        );
        assert_eq!(refused(&plain, &args(None, false)), None);
        let error = refused(&plain, &args(Some(&digest), false)).unwrap();
        assert!(error.contains("has no commands"), "{error}");
    }

    #[test]
    fn any_change_of_what_is_run_is_another_digest() {
        let was = header();
        let digest = |change: &dyn Fn(&mut RunHeader)| {
            let mut header = header();
            change(&mut header);
            stored(&header).digest()
        };
        let before = stored(&was).digest();
        assert_eq!((before.len(), digest(&|_| ())), (DIGEST_DIGITS, before.clone()));
        let external = |header: &mut RunHeader, change: &dyn Fn(&mut ExternalFs)| {
            change(header.plan.contenders[0].levels.fs.external.as_mut().unwrap());
        };
        let mut all = vec![
            before,
            digest(&|header| external(header, &|fs| fs.mount.push('\u{200b}'))),
            digest(&|header| external(header, &|fs| fs.version = Some("id".to_owned()))),
            // The same texts for something else.
            digest(&|header| external(header, &|fs| fs.destroy = fs.create.take())),
            digest(&|header| {
                let job = header.plan.workloads[0].phases.last_mut().unwrap().job.as_mut().unwrap();
                let JobKind::Command(command) = &mut job.kind else { unreachable!() };
                command.prepare = Some(std::mem::replace(&mut command.run, "true".to_owned()));
            }),
        ];
        let user = Some(UserIds { uid: 1, gid: 1 });
        all.push(StoredCommands { user, ..stored(&was) }.digest());
        let kernels = [KernelFile {
            level: "6.1-abc".to_owned(),
            path: "/k/linux".into(),
            sha256: "0".repeat(64),
            hz: 250,
        }];
        all.push(StoredCommands { kernels: &kernels, ..stored(&was) }.digest());
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}

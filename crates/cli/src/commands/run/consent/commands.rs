//! Commands that an experiment contains, shown as they are and confirmed before the first is run.
//!
//! A Makefile in the user's own data is one of them. What is shown cannot change how the rest of
//! the screen looks.

use crate::args::RunArgs;
use crate::context;
use anyhow::Result;
use fsarena_model::job::{JobKind, Origin};
use fsarena_model::run::RunPlan;
use fsarena_model::visible;
use fsarena_model::work::{UserIds, Workload};
use std::io::{IsTerminal as _, Write as _};

/// Shows the commands of the experiment file, and asks; a dry run does not ask, as it runs none.
/// `user` is the user of the work, where it is another one.
pub(in super::super) fn confirm_commands(
    args: &RunArgs,
    plan: &RunPlan,
    user: Option<UserIds>,
) -> Result<()> {
    if confirmed(args, plan, user)? {
        return Ok(());
    }
    refuse!("commands of the experiment file were not confirmed")
}

fn confirmed(args: &RunArgs, plan: &RunPlan, user: Option<UserIds>) -> Result<bool> {
    let (of_filesystems, phase_commands) = (filesystem_commands(plan), phase_commands(plan));
    if of_filesystems.is_empty() && phase_commands.is_empty() {
        return Ok(true);
    }
    let this_user = if context::is_root() { "root" } else { "this user" };
    if !of_filesystems.is_empty() {
        say!("Commands of the experiment file, to be run as {this_user} in /:");
        of_filesystems.iter().for_each(|command| say!("  {}", shown(command)));
    }
    if !phase_commands.is_empty() {
        let who = user.map(|user| format!("user {} group {}", user.uid, user.gid));
        let who = who.as_deref().unwrap_or(this_user);
        say!("Commands of the workloads, to be run as {who} in the file system under test:");
        phase_commands.iter().for_each(|command| say!("  {}", shown(command)));
    }
    if args.yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        say!("(pass --yes to run them without a terminal)");
        return Ok(false);
    }
    if args.dry_run {
        return Ok(true);
    }
    if write!(std::io::stderr(), "Run them? [y/N] ").is_err() {
        // The terminal is gone.
        return Ok(false);
    }
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Commands that make, mount and destroy file systems, each once.
fn filesystem_commands(plan: &RunPlan) -> Vec<String> {
    let mut commands = Vec::new();
    for external in plan.contenders.iter().filter_map(|c| c.levels.fs.external.as_ref()) {
        let all = [
            &external.create,
            &Some(external.mount.clone()),
            &external.unmount,
            &external.destroy,
            &external.version,
        ];
        all.into_iter().flatten().for_each(|command| add(&mut commands, command));
    }
    commands
}

/// What phases run that is not of this program's choice, each once.
fn phase_commands(plan: &RunPlan) -> Vec<String> {
    let mut commands = Vec::new();
    for workload in &plan.workloads {
        for job in workload.phases.iter().filter_map(|phase| phase.job.as_ref()) {
            match &job.kind {
                JobKind::Command(command) => {
                    let hooks = [&command.prepare, &Some(command.run.clone()), &command.cleanup];
                    hooks.into_iter().flatten().for_each(|text| add(&mut commands, text));
                    for program in &command.programs {
                        add(&mut commands, &format!("{program} --version"));
                    }
                }
                JobKind::Compile { .. } => {
                    if let Some(makefile) = own_makefile(workload) {
                        add(&mut commands, &makefile);
                    }
                }
                _ => {}
            }
        }
    }
    commands
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

/// A command as it can be shown: what would move the cursor or turn the text around is escaped, and
/// further lines are indented.
fn shown(command: &str) -> String {
    let command = command.trim_end().replace('\t', "\\t");
    visible::lines(&command).replace('\n', "\n    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_shown_moves_the_cursor() {
        assert_eq!(shown("ls -l \"\u{e9}\"\n"), "ls -l \"\u{e9}\"");
        assert_eq!(shown("a\nb"), "a\n    b");
        let hidden = "rm -rf x\rls \u{1b}[8m\u{9b}2K\u{202e}\t\u{7f}";
        let wanted = r"rm -rf x\rls \u{1b}[8m\u{9b}2K\u{202e}\t\u{7f}";
        assert_eq!(shown(hidden), wanted);
    }
}

//! Programs that are written out by their paths in commands, so that it can be asked who may change
//! them.
//!
//! A command is text for a shell, and only the shell knows what it runs: what is computed (a
//! variable, `~`, a pattern) is not found here. The whole text is shown before it is run.

use fsarena_model::contender::ExternalFs;
use fsarena_model::job::{Job, JobKind, Origin};
use fsarena_model::run::RunPlan;
use fsarena_model::work::{UserIds, Workload};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Programs that run what a file says, whose right to be executed is not asked for.
const INTERPRETERS: [&str; 13] = [
    ".", "awk", "bash", "dash", "ksh", "make", "node", "perl", "ruby", "sed", "sh", "source", "zsh",
];
const PYTHON: &str = "python";
/// In the order in which make looks for them.
const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
/// A command in a command in a command: deeper is not looked.
const DEPTH_MAX: u32 = 4;

/// The programs of a plan that are written out and that root runs. `user` is the user of the work,
/// where it is another one.
pub(in super::super) fn written_out(plan: &RunPlan, user: Option<UserIds>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for external in plan.contenders.iter().filter_map(|c| c.levels.fs.external.as_ref()) {
        of_filesystem(external, &mut found);
    }
    if user.is_none_or(|user| user.uid == 0) {
        for workload in &plan.workloads {
            let jobs = workload.phases.iter().filter_map(|phase| phase.job.as_ref());
            jobs.for_each(|job| of_job(workload, job, &mut found));
        }
    }
    found
}

fn of_filesystem(external: &ExternalFs, found: &mut Vec<PathBuf>) {
    // Their working directory is the root.
    external.commands().for_each(|text| of_command(text, Some(Path::new("/")), found));
    of_programs(&external.programs, found);
}

fn of_job(workload: &Workload, job: &Job, found: &mut Vec<PathBuf>) {
    match (&job.kind, workload.source.as_ref().map(|source| &source.origin)) {
        (JobKind::Command(command), _) => {
            // What is below their working directory was made by the work itself.
            command.texts().for_each(|text| of_command(text, None, found));
            of_programs(&command.programs, found);
        }
        // Its Makefile is run; that of an archive is as much its own as the archive.
        (JobKind::Compile { .. }, Some(Origin::Own { path })) => {
            let makefiles = MAKEFILES.map(|name| path.join(name));
            let there = makefiles.into_iter().find(|makefile| makefile.is_file());
            found.push(there.unwrap_or_else(|| path.clone()));
        }
        _ => {}
    }
}

fn of_programs(programs: &[String], found: &mut Vec<PathBuf>) {
    let paths = programs.iter().map(PathBuf::from);
    found.extend(paths.filter(|path| path.is_absolute() && path.is_file()));
}

fn of_command(text: &str, dir: Option<&Path>, found: &mut Vec<PathBuf>) {
    of_words(text, dir, 0, found);
}

fn of_words(text: &str, dir: Option<&Path>, depth: u32, found: &mut Vec<PathBuf>) {
    let mut before = String::new();
    for word in words(text) {
        if word.contains(char::is_whitespace) && depth < DEPTH_MAX {
            of_words(&word, dir, depth + 1, found);
        }
        let path = Path::new(&word);
        let path = match dir {
            _ if path.is_absolute() => Some(path.to_owned()),
            Some(dir) if word.contains('/') => Some(dir.join(path)),
            _ => None,
        };
        if let Some(path) = path.filter(|path| is_program(path, &before)) {
            found.push(path);
        }
        // Between an interpreter and its file options may stand.
        if !(word.starts_with('-') && is_interpreter(&before)) {
            before = word;
        }
    }
}

/// Words as a shell has them, without their quotes; what separates commands separates words, and so
/// does `=`, behind which the value of an option or a variable stands.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), close) if open == close => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None | Some('"'), '\\') => {
                words.last_mut().expect("one word at least").extend(letters.next());
            }
            (None, ' ' | '\t' | '\n' | ';' | '|' | '&' | '<' | '>' | '=')
            | (None | Some('"'), '(' | ')' | '`') => words.push(String::new()),
            _ => words.last_mut().expect("one word at least").push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a path is run where it stands behind the word `before`.
fn is_program(path: &Path, before: &str) -> bool {
    let Ok(meta) = path.metadata() else { return false };
    meta.is_file() && (meta.permissions().mode() & 0o111 != 0 || is_interpreter(before))
}

fn is_interpreter(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    INTERPRETERS.contains(&name) || name.starts_with(PYTHON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_shell() {
        let text = "A=/b/c '/d e/f' \"/g\\\"h\" /i\\ j;/k|/l>/m `/n` \"$(/o p)\" --opt=/q {mnt}/r";
        let wanted = [
            "A", "/b/c", "/d e/f", "/g\"h", "/i j", "/k", "/l", "/m", "/n", "$", "/o p", "--opt",
            "/q", "{mnt}/r",
        ];
        assert_eq!(words(text), wanted);
        assert_eq!(words("'never closed"), ["never closed"]);
        assert!(words(" ; ").is_empty());
    }

    #[test]
    fn programs_are_found_and_data_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let text = |name: &str| path(name).display().to_string();
        for name in ["mkfs.own", "my tool", "data", "script"] {
            std::fs::write(path(name), "#!/bin/sh\n").unwrap();
        }
        for name in ["mkfs.own", "my tool"] {
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(path(name), mode).unwrap();
        }
        let found = |command: &str| {
            let mut found = Vec::new();
            of_command(command, Some(Path::new("/")), &mut found);
            found
        };
        let own = text("mkfs.own");
        for command in [
            format!("{own} -q {{dev}}"),
            format!("true && {own}"),
            format!("X=$({own} --size) mkfs"),
            format!("sh -c '{own} -q; true'"),
            format!("mount --helper={own} x"),
            own.trim_start_matches('/').to_owned(),
        ] {
            assert_eq!(found(&command), [path("mkfs.own")], "{command}");
        }
        assert_eq!(found(&format!("'{}' x", text("my tool"))), [path("my tool")]);
        assert!(found(&format!("cp {} {{mnt}}", text("data"))).is_empty());
        assert_eq!(found(&format!("sh -e {}", text("script"))), [path("script")]);
        assert_eq!(found(&format!("python3.11 {}", text("script"))), [path("script")]);
        assert!(found(&format!("{} /none", dir.path().display())).is_empty());
    }
}

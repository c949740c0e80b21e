//! The ranks of a RUN: the options by which it has some, and whoever starts those that come by
//! themselves, as a launcher of an allocation does when it has read the command.

use super::kind::Setting;
use anyhow::Result;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How the ranks of a RUN come to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ranks {
    /// There are none.
    None,
    /// They dial the runner, when it has said how.
    Dial,
    /// The runner starts them by a shell that stands for ssh.
    ByShell,
}

const NUMBER: u32 = 2;
/// A rank ends this soon after its runner: one that has lost it dials again for 30 s.
const END_LIMIT: Duration = Duration::from_secs(40);
const LOOK_EVERY: Duration = Duration::from_millis(2);
/// Starts its command here.
const SHELL: &str = "while [ $# -gt 2 ]; do shift; done; exec sh -c \"$2\"";

/// Options of `run` for its ranks.
///
/// # Errors
/// When what stands for ssh cannot be written.
pub(super) fn options(ranks: Ranks, setting: &Setting) -> Result<Vec<String>> {
    let words = match ranks {
        Ranks::None => return Ok(Vec::new()),
        // One that is killed before all are there is not waited for long.
        Ranks::Dial => {
            ["--rendezvous", "127.0.0.1:0", "--rendezvous-limit", "10s"].map(str::to_owned).into()
        }
        Ranks::ByShell => {
            let shell = setting.fixture.dir.join("ssh");
            if !shell.exists() {
                fsarena_testkit::write_script(&shell, SHELL);
            }
            let [shell, program] = [&shell, &setting.program].map(|path| path.display());
            let words = [&*format!("--ssh={shell}"), &format!("--remote-program={program}")];
            [&["--hosts", "a,b"][..], &words].concat().into_iter().map(str::to_owned).collect()
        }
    };
    Ok(words)
}

/// Options of a new RUN besides: how many there are.
pub(super) fn number(ranks: Ranks) -> Vec<String> {
    match ranks {
        Ranks::None => Vec::new(),
        Ranks::Dial | Ranks::ByShell => vec!["--ranks".to_owned(), NUMBER.to_string()],
    }
}

/// Starts ranks as soon as their runner says how.
pub(super) struct Launcher {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Child>>,
}

impl Launcher {
    /// For the start called `name`.
    pub(super) fn start(setting: &Setting, name: &str) -> Self {
        let said = setting.fixture.dir.join(format!("{name}.err"));
        // What an earlier start of this name has said is not for its ranks.
        let _ = std::fs::remove_file(&said);
        let is_over = Arc::new(AtomicBool::new(false));
        let (fixture, program) = (setting.fixture.clone(), setting.program.clone());
        let (variables, over) = (setting.variables(), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            let Some(options) = options_in(&said, &over) else { return Vec::new() };
            let rank = |rank: u32| {
                let mut command = Command::new(&program);
                fixture.set_environment(&mut command);
                command.arg("rank").args(&options);
                command.args(["--rank", &rank.to_string(), "--of", &NUMBER.to_string()]);
                // One that comes when its runner was killed dials in vain.
                command.args(["--limit", "10s"]);
                command.envs(variables.iter().map(|(name, value)| (*name, value)));
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                command.spawn().ok()
            };
            (0..NUMBER).filter_map(rank).collect()
        });
        Self { is_over, thread }
    }

    /// After the end of the runner: what is wrong with its ranks.
    pub(super) fn end(self) -> Vec<String> {
        self.is_over.store(true, Ordering::SeqCst);
        let until = Instant::now() + END_LIMIT;
        let mut faults = Vec::new();
        for (number, mut rank) in self.thread.join().unwrap_or_default().into_iter().enumerate() {
            while matches!(rank.try_wait(), Ok(None)) {
                if Instant::now() >= until {
                    faults.push(format!("rank {number} works on without its runner"));
                    let _ = rank.kill();
                }
                std::thread::sleep(LOOK_EVERY);
            }
        }
        faults
    }
}

/// The options of a rank, as the runner prints them; nothing where it has ended before.
fn options_in(said: &Path, is_over: &AtomicBool) -> Option<Vec<String>> {
    while !is_over.load(Ordering::SeqCst) {
        if let Some(options) = parsed(&std::fs::read_to_string(said).unwrap_or_default()) {
            return Some(options);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    None
}

fn parsed(said: &str) -> Option<Vec<String>> {
    let (_, rest) = said.split_once("mpirun -np ")?;
    let (line, _) = rest.split_once('\n')?;
    // The number, the program and its subcommand are before; no path here has a blank.
    Some(line.split_whitespace().skip(3).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_of_a_rank_are_read_when_their_line_is_whole() {
        let text = "waiting up to 10m for 2 ranks; start them by one of\n  srun -n 2 fsarena rank \
                    --rendezvous 127.0.0.1:7 --secret-file /s/secret\n  mpirun -np 2 fsarena rank \
                    --rendezvous 127.0.0.1:7 --secret-file /s/secret";
        assert_eq!(parsed(text), None);
        let options = ["--rendezvous", "127.0.0.1:7", "--secret-file", "/s/secret"];
        assert_eq!(parsed(&format!("{text}\n")).unwrap(), options);
    }
}

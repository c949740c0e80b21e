//! What is done with one host: a look at its program, copying ours, and its RUN. Whatever goes
//! wrong becomes one sentence that begins with the name of the host.

use crate::connections::{Connection, Connections, Ended, TakeLine};
use crate::task::{FleetTask, ReadyHost};
use fsarena_hosts::{Answer, Ending, Host, script};
use fsarena_model::exit;
use fsarena_process::private;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::Duration;

/// What fsarena calls itself with `--version`.
pub(super) const VERSION: &str = concat!("fsarena ", env!("CARGO_PKG_VERSION"));
/// A host that has connected says its version in this time.
const PROBE_LIMIT: Duration = Duration::from_secs(60);
/// Bytes of a database, at most.
const DATABASE_MAX_BYTES: u64 = 64 << 30;
/// How much of a program is sent at once, bytes.
const CHUNK_BYTES: usize = 256 << 10;

/// A host, and the way to it.
#[derive(Clone, Copy)]
pub(super) struct Session<'a> {
    pub(super) host: &'a Host,
    pub(super) task: &'a FleetTask,
    pub(super) connections: &'a Connections,
    /// Begins what is said by our scripts.
    pub(super) token: &'a str,
}

/// This program, to be copied.
#[derive(Debug)]
pub struct OwnProgram {
    pub bytes: Vec<u8>,
    /// SHA-256, 64 hex digits.
    pub sha256: String,
    /// Kernel and architecture that it is for, as uname(1) says them.
    pub machine: String,
}

impl OwnProgram {
    /// Name of the file on a host: another program has another one.
    fn file_name(&self) -> String {
        format!("fsarena-{}-{}", env!("CARGO_PKG_VERSION"), &self.sha256[..12])
    }
}

/// What came of a RUN.
#[derive(Debug)]
pub struct CarriedOut {
    /// Whether there is a database.
    pub has_database: bool,
    /// What is to be said of it, unless all went well.
    pub sentence: Option<String>,
}

impl Session<'_> {
    fn open(
        &self,
        words: &[String],
        limit: Option<Duration>,
        take_line: TakeLine,
    ) -> Result<Connection, String> {
        if self.connections.is_interrupted() {
            return Err(self.says("not begun: stopped before"));
        }
        let way = (&self.task.ssh, self.host);
        self.connections.open(way, words, self.token, limit, take_line).map_err(|error| {
            let program = self.task.ssh.program().path().display();
            self.says(&format!("{program} cannot be started: {error}; --ssh names another"))
        })
    }

    fn says(&self, text: &str) -> String {
        format!("{}: {text}", self.host)
    }

    /// Looks at a program on the host.
    pub(super) fn probe(&self, program: &str) -> Result<ReadyHost, String> {
        let words = script::probe(self.token, program);
        let mut connection = self.open(&words, Some(PROBE_LIMIT), Box::new(|_| ()))?;
        connection.close_input();
        let (mut machine, mut version) = (None, None);
        let read = loop {
            match connection.answers.next_answer() {
                Ok(Some(Answer::Machine(text))) => machine = Some(text),
                Ok(Some(Answer::Version(text))) => version = Some(text),
                Ok(Some(_)) => {}
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        let ended = self.end(connection, machine.is_some(), read)?;
        match (ended.ending, machine, version) {
            (Ending::Done, Some(machine), Some(version)) => {
                Ok(ReadyHost { program: program.to_owned(), machine, version })
            }
            (Ending::Done, ..) => Err(self.says("its shell does not do what a script says")),
            (Ending::NotFound { .. }, Some(_), _) => Err(self.says(&format!(
                "there is no {program}; --remote-program names it with its path, --install copies \
                 this one"
            ))),
            (ending @ Ending::Failed { .. }, Some(machine), _) => {
                let sentence = ending.sentence(self.host, program);
                Err(format!("{sentence}; is it for that machine ({machine})?"))
            }
            (ending, ..) => Err(ending.sentence(self.host, program)),
        }
    }

    /// Copies our program to the host, where it is not there yet; gives its path there.
    pub(super) fn install(
        &self,
        own: &OwnProgram,
        progress: &dyn Fn(&str),
    ) -> Result<String, String> {
        let bytes = own.bytes.len() as u64;
        let words = script::install(self.token, bytes, &own.sha256, &own.file_name());
        let mut connection = self.open(&words, None, Box::new(|_| ()))?;
        let (mut program, mut foreign, mut has_answered) = (None, None, false);
        let read = loop {
            let answer = match connection.answers.next_answer() {
                Ok(Some(answer)) => answer,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            has_answered = true;
            match answer {
                Answer::Machine(machine) if machine != own.machine => {
                    foreign = Some(machine);
                    connection.kill();
                }
                Answer::Send => {
                    // What went wrong is said at the end.
                    let _ = send(&connection, &own.bytes, progress);
                    connection.close_input();
                }
                Answer::Program(path) => program = Some(path),
                _ => {}
            }
        };
        if let Some(machine) = foreign {
            return Err(self.says(&format!(
                "it is {machine}, and this program is for {}; copy one for it by hand, and name it \
                 with --remote-program",
                own.machine
            )));
        }
        let ended = self.end(connection, has_answered, read)?;
        match (ended.ending, program) {
            (Ending::Done, Some(path)) => Ok(path),
            (Ending::Failed { reason, .. }, _) => {
                Err(self.says(&format!("the program could not be copied: {reason}")))
            }
            (Ending::Done, None) => Err(self.says("the program could not be copied")),
            (ending, _) => Err(ending.sentence(self.host, "the copy")),
        }
    }

    /// Carries out the RUN with this program; its database goes to the new file `database`.
    pub(super) fn carry_out(
        &self,
        program: &str,
        database: &Path,
        take_line: TakeLine,
    ) -> CarriedOut {
        let failed = |sentence| CarriedOut { has_database: false, sentence: Some(sentence) };
        let arguments: Vec<&str> = self.task.arguments.iter().map(String::as_str).collect();
        let experiment = &self.task.experiment;
        let words = script::run(self.token, program, experiment.len(), &arguments);
        let mut connection = match self.open(&words, None, take_line) {
            Ok(connection) => connection,
            Err(sentence) => return failed(sentence),
        };
        // What went wrong is said at the end.
        let _ = connection.write(experiment);
        let (mut directory, mut has_database) = (None, false);
        let read = loop {
            match connection.answers.next_answer() {
                Ok(Some(Answer::Directory(path))) => directory = Some(path),
                Ok(Some(Answer::Database(bytes))) => {
                    match fetch(&mut connection, bytes, database) {
                        Ok(()) => has_database = true,
                        Err(error) => {
                            let text = format!("its database could not be fetched: {error}");
                            break Err(io::Error::new(error.kind(), text));
                        }
                    }
                }
                Ok(Some(_)) => {}
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        // What is cut off is said by the end of the connection.
        let read = match read {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            other => other,
        };
        match self.end(connection, directory.is_some(), read) {
            Err(sentence) => failed(sentence),
            Ok(ended) => {
                let sentence = self.sentence_of_run(&ended, directory.as_deref(), has_database);
                CarriedOut { has_database, sentence }
            }
        }
    }

    /// The end of a connection, of which `read` says whether its answers were any.
    fn end(
        &self,
        connection: Connection,
        has_answered: bool,
        read: io::Result<()>,
    ) -> Result<Ended, String> {
        if read.is_err() {
            connection.kill();
        }
        let ended = connection.end(has_answered).map_err(|error| self.says(&error.to_string()))?;
        read.map_err(|error| self.says(&error.to_string()))?;
        match ended.is_late {
            true => Err(self.says(&format!(
                "it was not ready after {} s; see that `ssh {} true` ends",
                PROBE_LIMIT.as_secs(),
                self.host
            ))),
            false => Ok(ended),
        }
    }

    /// What is to be said of the end of a RUN; nothing where all went well.
    fn sentence_of_run(
        &self,
        ended: &Ended,
        directory: Option<&str>,
        has_database: bool,
    ) -> Option<String> {
        let stays = directory.map_or(String::new(), |path| {
            format!("; its RUN is asked to end there, and may leave {path}")
        });
        let text = match &ended.ending {
            Ending::Done if has_database => return None,
            Ending::Done => "it gave no database".to_owned(),
            Ending::Failed { code, .. } => match u8::try_from(*code) {
                // Undecided where that was to be no success: the comparison says it, too.
                Ok(exit::UNDECIDED) if has_database => return None,
                Ok(exit::INTERRUPTED) => "its RUN was interrupted".to_owned(),
                Ok(exit::INVALID) => {
                    "some phases were to be cold, or warm, and were not".to_owned()
                }
                Ok(exit::USAGE) => with("its RUN was refused", &ended.lines),
                _ => with("its RUN failed", &ended.lines),
            },
            ending @ (Ending::Lost { .. } | Ending::Killed { .. }) => {
                return Some(format!("{}{stays}", ending.sentence(self.host, "the RUN")));
            }
            ending => return Some(ending.sentence(self.host, "the RUN")),
        };
        Some(self.says(&text))
    }
}

/// With the error that `fsarena run` printed, else with its last line.
fn with(text: &str, lines: &[String]) -> String {
    let error = lines.iter().rev().find_map(|line| line.strip_prefix("fsarena: "));
    let last = || lines.iter().rev().map(String::as_str).find(|line| !line.trim().is_empty());
    match error.or_else(last) {
        Some(line) => format!("{text}: {}", line.trim()),
        None => text.to_owned(),
    }
}

fn send(connection: &Connection, bytes: &[u8], progress: &dyn Fn(&str)) -> io::Result<()> {
    for (number, chunk) in bytes.chunks(CHUNK_BYTES).enumerate() {
        connection.write(chunk)?;
        let sent = (number * CHUNK_BYTES + chunk.len()) * 100 / bytes.len();
        progress(&format!("copying the program: {sent} %"));
    }
    Ok(())
}

/// Writes what follows an answer to a new file of the user's own.
fn fetch(connection: &mut Connection, bytes: u64, to: &Path) -> io::Result<()> {
    if bytes > DATABASE_MAX_BYTES {
        return Err(io::Error::other("its database is larger than 64 GiB"));
    }
    let mut file = private::create_file(to)?;
    let copied = io::copy(&mut connection.answers.rest().take(bytes), &mut file)?;
    if copied < bytes { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_run_is_told_from_its_other_lines() {
        let lines = ["a warning", "fsarena: /srv is full", "RUN 1 is stored in /tmp/x"];
        let lines = lines.map(str::to_owned);
        assert_eq!(with("failed", &lines), "failed: /srv is full");
        assert_eq!(with("failed", &lines[..1]), "failed: a warning");
        assert_eq!(with("failed", &[]), "failed");
    }
}

//! A record outside of the database: three lines, the last the SHA-256 of the others. What is read
//! is not believed: it is one only where its sum, its form and its RUN's id are in order. Whether
//! the RUN has such a trial is asked of the database.

use crate::journal::SPOOLED;
use fsarena_bounded::Bounded;
use fsarena_crash::record::StoredCrashRun;
use fsarena_devices::state_file;
use fsarena_model::header_rules;
use fsarena_model::record::TrialRecord;
use fsarena_model::seed::hex;
use fsarena_store::{RunId, Store, StoreError};
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt::Display;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Version of the form.
const FORM: u32 = 1;

/// As much as is read of one: what the database takes of a record.
const MAX_BYTES: u64 = 512 << 20;

/// The first line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Head {
    /// [`FORM`].
    pub(super) form: u32,
    /// Id of the RUN.
    pub(super) run: String,
    /// Database that lacks it.
    pub(super) database: PathBuf,
    /// Why, in words.
    pub(super) cause: String,
}

impl Head {
    pub(super) fn new(run: &str, database: &Path, cause: &str) -> Self {
        let (run, cause) = (run.to_owned(), cause.to_owned());
        Self { form: FORM, run, database: database.to_owned(), cause }
    }
}

/// The second line: what was measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Measured {
    Trial(Box<TrialRecord>),
    CrashRun(Box<StoredCrashRun>),
}

impl Measured {
    /// Stores it as new.
    pub(super) fn put(&self, store: &Store, run: RunId) -> Result<(), StoreError> {
        match self {
            Self::Trial(record) => store.put_record(run, record),
            Self::CrashRun(stored) => store.put_crash_run(run, stored),
        }
    }

    /// Stores it unless it is stored already; whether it was stored now.
    pub(super) fn take_in(&self, store: &Store, run: RunId) -> Result<bool, StoreError> {
        match self {
            Self::Trial(record) => store.take_in_record(run, record),
            Self::CrashRun(stored) => store.take_in_crash_run(run, stored),
        }
    }

    /// In words, counted from 1.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Trial(record) => format!("trial {}", u64::from(record.key.sequence) + 1),
            Self::CrashRun(stored) => format!("crash run {}", u64::from(stored.slot.number) + 1),
        }
    }
}

/// Where number `number` of a RUN's records is kept.
pub(super) fn file_of(dir: &Path, run: &str, number: u32) -> PathBuf {
    dir.join(format!("fsarena-{run}-{number:04}.{SPOOLED}"))
}

/// Whether a file is one of these by its name, or was to become one.
pub(super) fn is_named(path: &Path) -> bool {
    let named = |path: &Path| path.extension().is_some_and(|ending| ending == SPOOLED);
    let is_half_made = is_half_made(path);
    named(path) || (is_half_made && path.file_stem().is_some_and(|stem| named(Path::new(stem))))
}

/// Whether it has not got its name yet.
pub(super) fn is_half_made(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == state_file::TEMPORARY)
}

/// Keeps it at `path`, whole and on the disk, locked as long as the file is open.
///
/// # Errors
/// `AlreadyExists` where there is one; otherwise nothing of it is left.
pub(super) fn write(path: &Path, head: &Head, measured: &Measured) -> io::Result<File> {
    state_file::create(path, &text(head, measured)?, FlockOperation::NonBlockingLockShared)
}

fn text(head: &Head, measured: &Measured) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(head)?;
    text.push(b'\n');
    serde_json::to_writer(&mut text, measured)?;
    text.push(b'\n');
    let sum = hex(&Sha256::digest(&text));
    text.extend_from_slice(sum.as_bytes());
    text.push(b'\n');
    Ok(text)
}

/// What is in a file.
///
/// # Errors
/// Why it is none of these, in words.
pub(super) fn read(file: &File) -> Result<(Head, Measured), String> {
    let bytes = Bounded::new(file, MAX_BYTES).whole().map_err(|error| error.to_string())?;
    parse(&bytes)
}

/// What is in such a file, as it would be written: for the targets of `fsarena-fuzz`.
///
/// # Errors
/// As a file is refused.
pub fn spooled_again(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let (head, measured) = parse(bytes)?;
    text(&head, &measured).map_err(|error| error.to_string())
}

fn parse(bytes: &[u8]) -> Result<(Head, Measured), String> {
    let damaged = || "it is damaged: its text does not fit its SHA-256".to_owned();
    let text = str::from_utf8(bytes).map_err(|_| damaged())?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let [head, body, sum] = lines[..] else { return Err(damaged()) };
    let digest = hex(&Sha256::digest(&bytes[..head.len() + body.len()]));
    if sum != format!("{digest}\n") {
        return Err(damaged());
    }
    let unknown = |what: &dyn Display| format!("it is no record of fsarena: {what}");
    let head: Head = serde_json::from_str(head).map_err(|error| unknown(&error))?;
    if head.form > FORM || is_newer(body) {
        return Err("a newer fsarena wrote it; use that one".to_owned());
    }
    let measured: Measured = serde_json::from_str(body).map_err(|error| unknown(&error))?;
    header_rules::uid(&head.run).map_err(|rule| unknown(&rule))?;
    match &measured {
        Measured::Trial(record) if record.key.run != head.run => {
            Err(unknown(&format!("it is of RUN {} and of {}", head.run, record.key.run)))
        }
        _ => Ok((head, measured)),
    }
}

/// Whether a later program has written a record.
fn is_newer(body: &str) -> bool {
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Outcome {
        Done(Version),
        Failed {},
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Versions {
        Trial(Version),
        CrashRun { outcome: Outcome },
    }
    match serde_json::from_str(body) {
        Ok(Versions::Trial(Version { schema })) => schema > fsarena_model::RECORD_SCHEMA,
        Ok(Versions::CrashRun { outcome: Outcome::Done(Version { schema }) }) => {
            schema > fsarena_crash::record::RECORD_SCHEMA
        }
        Ok(Versions::CrashRun { outcome: Outcome::Failed {} }) | Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_testkit::records;

    fn example() -> (Head, Measured) {
        let contenders = vec![records::contender("ext4", "ext4", 1)];
        let header = records::header(contenders, vec![records::small_files()], 2);
        let record = records::record(&header, 1);
        let head = Head::new(&header.uid, Path::new("/x/results.db"), "no space left to write");
        (head, Measured::Trial(Box::new(record)))
    }

    /// The file of these lines, with the sum that is right for them.
    fn summed(lines: &str) -> Vec<u8> {
        let sum = hex(&Sha256::digest(lines));
        format!("{lines}{sum}\n").into_bytes()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let (head, measured) = example();
        assert_eq!(measured.name(), "trial 2");
        let text = text(&head, &measured).unwrap();
        assert_eq!(parse(&text), Ok((head, measured)));
    }

    #[test]
    fn what_was_cut_off_or_changed_is_none() {
        let (head, measured) = example();
        let whole = text(&head, &measured).unwrap();
        for length in [0, 1, whole.len() / 2, whole.len() - 66, whole.len() - 1] {
            let error = parse(&whole[..length]).unwrap_err();
            assert!(error.contains("does not fit its SHA-256"), "{length}: {error}");
        }
        for at in (0..whole.len()).step_by(97) {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert!(parse(&changed).is_err(), "{at}");
        }
        let more = [&whole[..], b"\n"].concat();
        assert!(parse(&more).is_err());
    }

    /// A sum that is right says nothing about what is summed.
    #[test]
    fn what_is_of_another_program_is_none() {
        let (head, measured) = example();
        let whole = String::from_utf8(text(&head, &measured).unwrap()).unwrap();
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        let with = |from: &str, to: &str| {
            let text = lines[..2].concat();
            assert!(text.contains(from), "{from} is not in {text}");
            parse(&summed(&text.replacen(from, to, 1))).unwrap_err()
        };
        assert!(parse(&summed(&lines[..2].concat())).is_ok());
        assert!(with("\"form\":1", "\"form\":2").contains("a newer fsarena"));
        let schema = format!("\"schema\":{}", fsarena_model::RECORD_SCHEMA);
        assert!(with(&schema, "\"schema\":999").contains("a newer fsarena"));
        let uid = format!("\"run\":\"{}\"", head.run);
        assert!(with(&uid, "\"run\":\"../../etc/passwd\"").contains("16 lower-case hex digits"));
        assert!(with(&uid, "\"run\":\"ffffffffffffffff\"").contains("and of"));
        assert!(with("{\"trial\"", "{\"other\"").contains("no record of fsarena"));
        assert!(parse(&summed("{}\n[]\n")).is_err());
    }

    #[test]
    fn names() {
        let path = file_of(Path::new("/s"), "0123456789abcdef", 7);
        assert_eq!(path, Path::new("/s/fsarena-0123456789abcdef-0007.spool"));
        let half_made = state_file::temporary(&path);
        assert!(is_named(&path) && is_named(&half_made));
        assert!(is_half_made(&half_made) && !is_half_made(&path));
        assert!(!is_named(Path::new("/s/x.journal.new")) && !is_named(Path::new("/s/x.watch")));
    }
}

//! What is done on another machine, as scripts for its `sh`: a look at the program there, copying a
//! program to it, and a RUN.
//!
//! A script says what it found in lines that begin with a token of the caller's
//! ([`crate::Answers`]): whatever else a login prints is passed over. A host needs a shell and the
//! usual tools (mktemp, dd, wc, cat); nothing stays there but a program that was copied.
//!
//! Without a terminal sshd ends nothing when a connection goes: it closes standard input. So the
//! RUN has a watcher that reads standard input and ends it when that does.

/// Seconds that a RUN has for cleaning up after it was asked to end; then it is killed.
const CLEAN_UP_SECONDS: u32 = 60;

/// Arguments: token, program.
const PROBE: &str = r#"
t=$1; p=$2;
printf '%s machine %s\n' "$t" "$(uname -sm)";
command -v "$p" >/dev/null || exit 127;
v=$("$p" --version </dev/null) || exit;
printf '%s version %s\n' "$t" "$v"
"#;

/// Arguments: token, bytes, SHA-256 and name of the file. Standard input: the file, after the line
/// `send`.
const INSTALL: &str = r#"
t=$1; b=$2; h=$3; umask 077;
printf '%s machine %s\n' "$t" "$(uname -sm)";
d=${XDG_DATA_HOME:-$HOME/.local/share}/fsarena/bin; f=$d/$4;
sum() { sha256sum <"$1" 2>/dev/null | cut -c1-64; };
if [ -x "$f" ] && [ "$(sum "$f")" = "$h" ]; then printf '%s program %s\n' "$t" "$f"; exit 0; fi;
mkdir -p "$d" && n=$(mktemp "$d/new-XXXXXXXX") || exit 1;
trap 'rm -f "$n"' EXIT;
printf '%s send\n' "$t";
cat >"$n" || exit 1;
if [ "$(wc -c <"$n")" -ne "$b" ]; then echo 'not all of the program has come' >&2; exit 1; fi;
s=$(sum "$n");
if [ -n "$s" ] && [ "$s" != "$h" ]; then echo 'the program has changed on its way' >&2; exit 1; fi;
chmod 755 "$n" && mv -f "$n" "$f" && printf '%s program %s\n' "$t" "$f"
"#;

/// Arguments: token, program, bytes of the experiment file (0 for none), seconds for cleaning up,
/// and those of `fsarena run`. Standard input: the file, and then nothing, as long as it shall run.
/// What is started in the background has no standard input of its own: it goes by another number.
const RUN: &str = r#"
t=$1; p=$2; b=$3; g=$4; shift 4; umask 077;
d=$(mktemp -d "${TMPDIR:-/tmp}/fsarena-fleet-XXXXXXXX") || exit 1;
printf '%s directory %s\n' "$t" "$d";
if [ "$b" -gt 0 ]; then
dd bs=1 count="$b" of="$d/experiment.toml" 2>/dev/null;
if [ "$(wc -c <"$d/experiment.toml")" -ne "$b" ]; then rm -rf "$d"; exit 1; fi;
set -- "$d/experiment.toml" "$@"; fi;
exec 3<&0 </dev/null;
trap : HUP INT TERM;
"$p" run "$@" --no-report --db "$d/results.db" >/dev/null 3<&- & r=$!;
(while read -r x; do :; done; kill -TERM $r; i=0;
while [ $i -lt "$g" ] && kill -0 $r; do sleep 1; i=$((i+1)); done;
kill -TERM $r; sleep 2; kill -KILL $r) <&3 >/dev/null 2>&1 & w=$!;
exec 3<&-;
while :; do wait $r; c=$?; kill -0 $r 2>/dev/null || break; done;
{ kill -KILL $w; wait $w; } 2>/dev/null;
trap '' PIPE;
f=$d/results.db;
[ $c -lt 128 ] || [ $c -eq 130 ] || "$p" list --db "$f" >/dev/null 2>&1;
if [ -s "$f" ]; then printf '%s database %s\n' "$t" $(($(wc -c <"$f"))); cat "$f"; fi;
rm -rf "$d";
exit $c
"#;

/// The words of a script; its lines become one, which csh takes as well.
fn words(script: &str, arguments: &[&str]) -> Vec<String> {
    let line = script.trim().replace('\n', " ");
    let fixed = ["sh", "-c", &line, "sh"];
    fixed.iter().chain(arguments).map(|&word| word.to_owned()).collect()
}

/// Says machine and version ([`crate::Answer::Machine`], [`crate::Answer::Version`]).
///
/// Ends with 127 where there is no such program.
#[must_use]
pub fn probe(token: &str, program: &str) -> Vec<String> {
    words(PROBE, &[token, program])
}

/// Copies a file of this many bytes and this SHA-256 (64 hex digits) to `fsarena/bin/NAME` in the
/// user's data directory, readable by all (0755), in one step, in a directory of the user's own.
///
/// Says [`crate::Answer::Machine`], [`crate::Answer::Send`] where it wants the file on standard
/// input, to its end, and [`crate::Answer::Program`] when it is there.
#[must_use]
pub fn install(token: &str, bytes: u64, sha256: &str, name: &str) -> Vec<String> {
    words(INSTALL, &[token, &bytes.to_string(), sha256, name])
}

/// Carries out `program run ARGUMENTS` in a directory of its own, and gives its database back.
///
/// The first `experiment_bytes` of standard input are the experiment file, and the first argument
/// is its path then; with 0 there is none. The RUN goes on as long as standard input is open: it
/// is asked to end when that ends, and killed after a minute.
///
/// Says [`crate::Answer::Directory`], and [`crate::Answer::Database`] where there is one, which
/// follows. The exit code is that of the RUN.
#[must_use]
pub fn run(token: &str, program: &str, experiment_bytes: usize, arguments: &[&str]) -> Vec<String> {
    let (bytes, seconds) = (experiment_bytes.to_string(), CLEAN_UP_SECONDS.to_string());
    let own = [token, program, &bytes, &seconds];
    words(RUN, &[&own[..], arguments].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write as _;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    /// Starts a script here; `dir` is the home and has the temporary files.
    fn start(words: &[String], dir: &Path) -> Child {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).env("TMPDIR", dir).env("HOME", dir).env_remove("XDG_DATA_HOME");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Its exit code, standard output and standard error, with `input` and its end.
    fn done(words: &[String], dir: &Path, input: &[u8]) -> (Option<i32>, String, String) {
        let mut child = start(words, dir);
        child.stdin.take().unwrap().write_all(input).unwrap();
        read(child)
    }

    /// The same, where standard input ends after the script does.
    fn done_by_itself(words: &[String], dir: &Path, input: &[u8]) -> (Option<i32>, String, String) {
        let mut child = start(words, dir);
        let mut held = child.stdin.take().unwrap();
        held.write_all(input).unwrap();
        read(child)
    }

    fn read(child: Child) -> (Option<i32>, String, String) {
        let ran = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (ran.status.code(), text(ran.stdout), text(ran.stderr))
    }

    /// Standard output of a shell command.
    fn sh(text: &str, argument: &Path, input: &[u8]) -> String {
        let words = ["sh", "-ec", text].map(str::to_owned);
        let words = [&words[..], &[argument.display().to_string()]].concat();
        done(&words, Path::new("/"), input).1
    }

    /// A program that is a shell script. Another process writes it: nothing here has it open when
    /// it is started.
    fn program(dir: &Path, text: &str) -> String {
        let path = dir.join("it's \"a\" program");
        let script = format!("#!/bin/sh\n{text}\n");
        sh("cat >\"$0\"; chmod 755 \"$0\"", &path, script.as_bytes());
        path.display().to_string()
    }

    fn entries(dir: &Path) -> Vec<String> {
        let all = fs::read_dir(dir).unwrap().flatten();
        all.map(|entry| entry.file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_program_says_its_version() {
        let dir = tempfile::tempdir().unwrap();
        let path = program(dir.path(), "echo fsarena 0.1.0");
        let (code, out, _) = done(&probe("T", &path), dir.path(), b"");
        assert_eq!(code, Some(0));
        assert!(
            out.starts_with("T machine Linux ") && out.ends_with("\nT version fsarena 0.1.0\n")
        );
        let (code, out, _) = done(&probe("T", "/nonexistent/fsarena"), dir.path(), b"");
        assert_eq!((code, out.lines().count()), (Some(127), 1), "{out}");
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        let (code, ..) = done(&probe("T", &path), dir.path(), b"");
        assert!(matches!(code, Some(126 | 127)), "{code:?}");
    }

    #[test]
    fn a_program_is_copied_once_and_whole() {
        let dir = tempfile::tempdir().unwrap();
        let bytes = b"#!/bin/sh\necho fsarena 0.1.0\n";
        let sum = sh("sha256sum", Path::new("sh"), bytes)[..64].to_owned();
        let words = install("T", bytes.len() as u64, &sum, "fsarena-1");
        let path = dir.path().join(".local/share/fsarena/bin/fsarena-1");
        let said = format!("T program {}\n", path.display());
        // Without the line about the machine.
        let done = |input: &[u8]| {
            let (code, out, err) = done(&words, dir.path(), input);
            (code, out.split_once('\n').unwrap().1.to_owned(), err)
        };
        let (code, out, _) = done(&bytes[..10]);
        assert_eq!((code, out.as_str()), (Some(1), "T send\n"), "cut off");
        let (code, out, err) = done(&[b'x'; 29]);
        assert_eq!((code, out.as_str(), err.contains("changed")), (Some(1), "T send\n", true));
        assert_eq!(entries(path.parent().unwrap()), [""; 0], "nothing is left");
        let (code, out, err) = done(bytes);
        assert_eq!((code, out), (Some(0), format!("T send\n{said}")), "{err}");
        let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
        assert_eq!((mode & 0o777, fs::read(&path).unwrap()), (0o755, bytes.to_vec()));
        assert_eq!(entries(path.parent().unwrap()), ["fsarena-1"]);
        assert_eq!(done(b"").1, said, "it is there already");
    }

    /// A script done by each shell that may be `sh`.
    fn by_each_shell(words: &[String], check: impl Fn(&[String])) {
        for shell in ["sh", "bash", "dash"] {
            let is_there = Command::new(shell).args(["-c", ":"]).status().is_ok();
            if is_there {
                check(&[&[shell.to_owned()], &words[1..]].concat());
            }
        }
    }

    #[test]
    fn a_run_gets_its_file_and_gives_its_database() {
        let dir = tempfile::tempdir().unwrap();
        let text = "for x; do f=$x; done; printf '%s|' \"$@\" >\"$f\"; cat \"$2\" >>\"$f\"; \
                    echo said >&2; exit 4";
        let path = program(dir.path(), text);
        let words = run("T", &path, 6, &["--title", "it's $HOME"]);
        by_each_shell(&words, |words| {
            let (code, out, err) = done_by_itself(words, dir.path(), b"a = 1\nrest");
            assert_eq!((code, err.as_str()), (Some(4), "said\n"), "{out}");
            let lines: Vec<&str> = out.lines().collect();
            let [directory, database, contents, ..] = lines[..] else { panic!("{out}") };
            let own = directory.strip_prefix("T directory ").unwrap();
            assert!(own.starts_with(&format!("{}/fsarena-fleet-", dir.path().display())), "{own}");
            let wanted = format!(
                "run|{own}/experiment.toml|--title|it's $HOME|--no-report|--db|{own}/results.db|\
                 a = 1"
            );
            assert_eq!(contents, wanted);
            assert_eq!(database, format!("T database {}", wanted.len() + 1));
            assert_eq!(entries(dir.path()).len(), 1, "the directory is removed");
            let (code, out, _) = done(words, dir.path(), b"a =");
            assert_eq!((code, out.lines().count()), (Some(1), 1), "cut off");
        });
    }

    /// The watcher may not have begun when it is to end.
    #[test]
    fn a_run_that_is_over_at_once_ends() {
        let dir = tempfile::tempdir().unwrap();
        let path = program(dir.path(), "exit 3");
        by_each_shell(&run("T", &path, 0, &["quick"]), |words| {
            for _ in 0..30 {
                assert_eq!(done_by_itself(words, dir.path(), b"").0, Some(3));
            }
        });
    }

    #[test]
    fn a_run_ends_when_standard_input_does() {
        let dir = tempfile::tempdir().unwrap();
        let text = "for x; do f=$x; done; trap 'echo part >\"$f\"; exit 130' TERM; : >\"$f\"; \
                    while :; do sleep 0.05; done";
        let path = program(dir.path(), text);
        by_each_shell(&run("T", &path, 0, &["quick"]), |words| {
            let mut child = start(words, dir.path());
            let begun = Instant::now();
            while entries(dir.path()).iter().all(|name| {
                !name.starts_with("fsarena-fleet")
                    || !dir.path().join(name).join("results.db").exists()
            }) {
                assert!(begun.elapsed() < Duration::from_secs(60), "it does not begin");
                std::thread::sleep(Duration::from_millis(10));
            }
            assert!(child.try_wait().unwrap().is_none());
            drop(child.stdin.take());
            let ran = child.wait_with_output().unwrap();
            assert_eq!(ran.status.code(), Some(130));
            assert!(String::from_utf8(ran.stdout).unwrap().ends_with("database 5\npart\n"));
            assert!(begun.elapsed() < Duration::from_secs(60));
            assert_eq!(entries(dir.path()).len(), 1, "the directory is removed");
        });
    }
}

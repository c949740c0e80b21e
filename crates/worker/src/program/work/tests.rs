//! What programs are told, and what is refused, without starting any.

use super::kinds::{flac_args, ogg_args};
use super::*;
use fsarena_model::job::{Command, Compression, Contents, Job, Reflink};
use std::ffi::OsString;

const ROOT: &str = "/mnt/a b";

fn task(kind: JobKind, name: &str, input: &str) -> JobTask {
    let of = input.split('.').next().unwrap_or_default().to_owned();
    JobTask {
        name: name.to_owned(),
        job: Job { kind, by: By::Program, of },
        input: input.into(),
        data: "data".into(),
        contents: Contents::default(),
        reflink: Reflink::Never,
        latency: false,
    }
}

/// The arguments of a program that is started once, in one line.
fn line(kind: JobKind, name: &str, input: &str) -> String {
    let task = task(kind, name, input);
    let invocations = invocations(&task, Path::new(ROOT)).unwrap();
    let Invocations::Once(args) = invocations else { panic!("several starts") };
    let args: Vec<String> = args.into_iter().map(|arg| arg.into_string().unwrap()).collect();
    args.join(" ")
}

#[test]
fn what_each_program_is_told() {
    let gzip = Compression::Gzip;
    assert_eq!(line(JobKind::Copy, "copy", "data"), "-a --reflink=never -- data copy");
    assert_eq!(line(JobKind::Delete, "delete", "copy"), "-rf -- copy");
    assert_eq!(
        line(JobKind::Untar { compression: gzip }, "unpack", "data.tar.gz"),
        "-x --gzip --force-local -f data.tar.gz -C unpack"
    );
    assert_eq!(
        line(JobKind::Untar { compression: Compression::None }, "unpack", "/x/y.tar"),
        "-x --force-local -f /x/y.tar -C unpack"
    );
    assert_eq!(
        line(JobKind::Archive { compression: Compression::Zstd }, "pack", "data"),
        "-c --zstd --force-local -f pack.tar.zst -C data ."
    );
    let compile = |input: &str| line(JobKind::Compile { jobs: 3 }, "build", input);
    assert_eq!(compile("data"), "-s -C data -j3 OUT=../build");
    assert_eq!(compile("x/y"), "-s -C x/y -j3 OUT=../../build");
    assert_eq!(compile("/elsewhere/data"), "-s -C /elsewhere/data -j3 OUT=/mnt/a b/build");
}

#[test]
fn words_of_a_command_are_filled_in_as_single_words() {
    let command = |run: &str| {
        JobKind::Command(Command {
            run: run.to_owned(),
            prepare: None,
            cleanup: None,
            programs: Vec::new(),
        })
    };
    assert_eq!(
        line(command("cp -r {data} {mnt}/x ${HOME} {{}}"), "c", "data"),
        "-c cp -r '/mnt/a b/data' '/mnt/a b'/x ${HOME} {}"
    );
    let printed = JobRun::prepare(&task(command("echo {dev}"), "c", "data"), Path::new(ROOT));
    let printed = printed.unwrap_err().to_string();
    assert!(printed.starts_with("command \"echo {dev}\": {dev} has no meaning here"), "{printed}");
    let elsewhere = filled_with("ls {data}", "/o'x");
    assert_eq!(elsewhere, r"ls '/o'\''x'");
}

fn filled_with(run: &str, data: &str) -> String {
    let command =
        Command { run: run.to_owned(), prepare: None, cleanup: None, programs: Vec::new() };
    let task = JobTask { data: data.into(), ..task(JobKind::Command(command), "c", "data") };
    let invocations = invocations(&task, Path::new(ROOT)).unwrap();
    let Invocations::Once(args) = invocations else { panic!("several starts") };
    args[1].clone().into_string().unwrap()
}

#[test]
fn wav_files_are_given_to_as_few_starts_as_hold_them() {
    let flac = task(JobKind::Flac, "f", "data");
    let names: Vec<OsString> = ["a.wav", "-b.wav"].map(OsString::from).to_vec();
    let invocations = flac_args(&flac, &names);
    assert_eq!(
        invocations,
        [["--best", "--silent", "--output-prefix=f/", "--", "data/a.wav", "data/-b.wav"]
            .map(OsString::from)]
    );
    let many: Vec<OsString> = (0..5000).map(|n| OsString::from(format!("{n:0>60}.wav"))).collect();
    let invocations = flac_args(&flac, &many);
    assert_eq!(invocations.len(), 4, "350 kB of names");
    let given: usize = invocations.iter().map(|args| args.len() - 4).sum();
    assert_eq!(given, many.len());
    for args in &invocations {
        assert!(args.iter().map(|arg| arg.len() + 1).sum::<usize>() <= 100 << 10);
    }

    let ogg = task(JobKind::Ogg, "o", "data");
    let invocations = ogg_args(&ogg, &names);
    assert_eq!(invocations.len(), 2, "one each");
    assert_eq!(
        invocations[1],
        ["-q", "10", "--quiet", "-o", "o/-b.ogg", "--", "data/-b.wav"].map(OsString::from)
    );
}

#[test]
fn what_would_work_outside_the_root_is_refused() {
    let refused = |task: &JobTask| JobRun::prepare(task, Path::new(ROOT)).unwrap_err().to_string();
    for input in ["/home", "..", "../x", ".", "", "data/../..", "/"] {
        let printed = refused(&task(JobKind::Delete, "delete", input));
        assert!(
            printed.contains("leaves the root") || printed.contains("would delete"),
            "{printed}"
        );
    }
    assert!(refused(&task(JobKind::Copy, "copy", "../x")).contains("its input ../x leaves"));
    for name in ["..", "a/b", "/x", "-x", "", "."] {
        let printed = refused(&task(JobKind::Copy, name, "data"));
        assert!(printed.contains("what it makes would be called"), "{printed}");
    }
    let same = refused(&task(JobKind::Copy, "data", "data"));
    assert!(same.contains("would be called like its input, data"), "{same}");
    let engine = task(JobKind::Copy, "copy", "data");
    let engine = JobTask { job: Job { by: By::Engine, ..engine.job.clone() }, ..engine };
    assert!(refused(&engine).contains("by = \"program\""));
}

#[test]
fn ends_are_told_in_words() {
    use std::os::unix::process::ExitStatusExt as _;
    let ended =
        |program: &str, raw: i32| runs::ended(program, std::process::ExitStatus::from_raw(raw));
    assert_eq!(ended("cp", 1 << 8), "cp ended with exit code 1");
    assert_eq!(ended("cp", 9), "cp was killed by signal 9");
    assert_eq!(
        ended("sh", 137 << 8),
        "sh ended with exit code 137 (perhaps what it ran was killed by signal 9)"
    );
    assert_eq!(ended("cp", 137 << 8), "cp ended with exit code 137");
    assert!(ended("sh", 192 << 8).contains("signal 64"));
    for no_signal in [128, 193, 255] {
        let plain = format!("sh ended with exit code {no_signal}");
        assert_eq!(ended("sh", no_signal << 8), plain);
    }
}

//! What is to be carried out on the hosts, read and checked before the first of them is asked.

use crate::args::{Cli, Command, FleetRunArgs, RunArgs};
use crate::commands::remote;
use crate::commands::run::read_experiment;
use crate::context::Usage;
use anyhow::Result;
use clap::Parser as _;
use fsarena_fleet::FleetTask;

/// Reads arguments, hosts and experiment.
pub(super) fn read(args: &FleetRunArgs) -> Result<FleetTask> {
    let hosts = remote::hosts(&args.hosts)?;
    let ssh = remote::find_ssh(&args.ssh, |_| Ok(()))?;
    let program = args.remote_program.clone();
    remote::check_program(&program)?;
    let run = run_options(args)?;
    let (experiment, own_seed) = experiment(args.experiment.as_deref())?;
    // Hosts must not draw one each.
    let drawn = fsarena_metrics::realtime_ns() % 1_000_000_000;
    let seed = args.seed.or(own_seed).unwrap_or(drawn);
    let name = args.experiment.iter().filter(|_| experiment.is_empty()).cloned();
    let mut arguments: Vec<String> = name.collect();
    arguments.extend(["--seed".to_owned(), seed.to_string()]);
    if args.yes && !run.yes {
        arguments.push("--yes".to_owned());
    }
    arguments.extend(args.run_options.iter().cloned());
    Ok(FleetTask { hosts, ssh, program, experiment, arguments, seed })
}

/// The options behind `--`, which have to be those of a `run` that a fleet can have.
fn run_options(args: &FleetRunArgs) -> Result<Box<RunArgs>> {
    let words = ["fsarena", "run"].map(str::to_owned).into_iter();
    let words = words.chain(args.experiment.clone()).chain(args.run_options.iter().cloned());
    let parsed = Cli::try_parse_from(words).map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        Usage(format!("options of run: {first}; `fsarena run --help` lists them"))
    })?;
    let Command::Run(run) = parsed.command else { refuse!("options of run: they are none") };
    if run.experiment != args.experiment {
        refuse!("options of run: name the experiment before --hosts, and options alone after --");
    }
    let is_database = |word: &String| word == "--db" || word.starts_with("--db=");
    let unfit = [
        (
            run.resume.is_some(),
            "--resume",
            "a RUN is gone on with on the host where it was started",
        ),
        (run.seed.is_some(), "--seed", "write it before --: it is that of all hosts"),
        (run.dry_run, "--dry-run", "write it before --"),
        (run.json, "--json", "write it before --"),
        (run.full || run.raw || run.quiet, "--full, --raw and -q", "nothing is printed there"),
        (run.report.is_some(), "--report", "`fsarena report RUN` writes one from the merged RUN"),
        (run.no_report, "--no-report", "there is none in any case"),
        (args.run_options.iter().any(is_database), "--db", "write it before --"),
        (
            run.workload.as_deref().is_some_and(|list| list.contains(".fio")),
            "--workload",
            "job files are not sent; name them in an experiment file",
        ),
    ];
    match unfit.iter().find(|(is_given, ..)| *is_given) {
        Some((_, option, why)) => refuse!("options of run: {option} is not for a fleet: {why}"),
        None => Ok(run),
    }
}

/// The text of an experiment of the user's, and the seed that it states. A built-in one has no
/// text: the hosts have it, too.
fn experiment(name: Option<&str>) -> Result<(Vec<u8>, Option<u64>)> {
    let Some(name) = name else { return Ok((Vec::new(), None)) };
    let experiment = read_experiment(name)?;
    if fsarena_plan::builtin::experiment(name).is_some() {
        return Ok((Vec::new(), experiment.run.seed));
    }
    // Files that it names are put into it, where they can be.
    let whole = fsarena_plan::to_toml(&experiment);
    let texts = [experiment.text.clone(), whole];
    let alone = |text: &String| fsarena_plan::parse(text, name);
    match texts.iter().find(|text| alone(text).is_ok()) {
        Some(text) => Ok((text.clone().into_bytes(), experiment.run.seed)),
        None => {
            let why = alone(&texts[0]).err().map(|error| error.to_string()).unwrap_or_default();
            refuse!("only the experiment file itself is sent to the hosts: {why}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::FleetCommand;

    fn read_words(words: &[&str]) -> Result<FleetTask> {
        let all = ["fsarena", "fleet", "run"].iter().chain(words);
        let Command::Fleet(args) = Cli::try_parse_from(all)?.command else { panic!("{words:?}") };
        let FleetCommand::Run(args) = args.what;
        read(&FleetRunArgs { ssh: args.ssh.replace("ssh", "/bin/sh"), ..*args })
    }

    #[test]
    fn options_of_run_are_handed_on_with_one_seed() {
        let request = read_words(&[
            "quick", "--hosts", "a,b", "--seed", "7", "--yes", "--", "--fs", "ext4,xfs",
        ]);
        let wanted = ["quick", "--seed", "7", "--yes", "--fs", "ext4,xfs"];
        assert_eq!(request.unwrap().arguments, wanted);
        let drawn = read_words(&["--hosts", "a"]).unwrap();
        assert_eq!(drawn.arguments, ["--seed", &drawn.seed.to_string()]);
    }

    #[test]
    fn a_file_is_sent_and_its_seed_is_that_of_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("it's \"mine\".toml");
        let text = "schema = 1\nname = \"x\"\n[run]\nseed = 5\n[factors]\ndevice = \"/srv\"\n\
                    [[workload]]\nname = \"w\"\nfiles = 10\nsize = \"256 B\"\nphases = [\"create\"]\n";
        std::fs::write(&path, text).unwrap();
        let request = read_words(&[path.to_str().unwrap(), "--hosts", "a"]).unwrap();
        assert_eq!(request.experiment, text.as_bytes());
        assert_eq!((request.seed, request.arguments), (5, vec!["--seed".into(), "5".into()]));
    }

    #[test]
    fn what_does_not_fit_is_refused_before_any_host_is_asked() {
        let refused = |words: &[&str]| read_words(words).expect_err("refused").to_string();
        let cases: [(&[&str], &str); 8] = [
            (&["--hosts=-oProxyCommand=x"], "--hosts: \"-oProxyCommand=x\""),
            (&["nonsense", "--hosts", "a"], "unknown experiment \"nonsense\""),
            (&["--hosts", "a", "--ssh", "ssh 'x"], "--ssh: "),
            (&["--hosts", "a", "--remote-program=-x"], "--remote-program"),
            (&["--hosts", "a", "--", "--resume"], "--resume is not for a fleet"),
            (&["--hosts", "a", "--", "--db", "x"], "--db is not for a fleet"),
            (&["--hosts", "a", "--", "--nonsense"], "options of run: unexpected argument"),
            (&["--hosts", "a", "--", "quick"], "options alone after --"),
        ];
        for (words, part) in cases {
            let text = refused(words);
            assert!(text.contains(part), "{words:?}: {text}");
        }
    }
}

//! `fsarena crash --application`: what a power cut leaves of the work of an application, by its
//! own check.

use super::confirm::{is_answered, shown, this_user};
use super::crash::{CASES_MOST, LIMIT, SECOND_NS, check_points, head, is_stop, list};
use super::crash_contenders::{AllowedDevices, ContenderOrder, ResolvedContenders, contenders};
use super::crash_guest::guest_of;
use crate::args::CrashArgs;
use crate::context::{self, Usage, exit};
use anyhow::Result;
use fsarena_crash::application::{
    Application, ApplicationFigures, ApplicationFindings, application, application_figures,
    application_names, judge_application,
};
use fsarena_crash::figures::FigureOptions;
use fsarena_crash::observation::MountStep;
use fsarena_crash::state::Class;
use fsarena_crash_runs::application_run::{ApplicationOrder, ApplicationRun, application_run};
use fsarena_guests::guest::Program;
use fsarena_guests::kernel::Kernels;
use fsarena_model::contender::Contender;
use fsarena_process::cmd::SearchPath;
use fsarena_report::{
    CrashApplication, CrashApplicationHead, CrashApplicationRow, crash_application_text,
};
use fsarena_study::CrashShare;
use indicatif::ProgressBar;
use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

pub fn run(args: &CrashArgs, names: &str) -> Result<ExitCode> {
    let applications = applications(names)?;
    confirm(&applications, names, args.yes)?;
    let classes = list(&args.state, "--state", Class::from_name)?;
    check_points(args, &classes)?;
    let (applications, lacking) = with_their_programs(applications);
    let own = context::scratch_dir()?;
    let mut kernels = Kernels::new(context::kernels()?);
    let order = ContenderOrder {
        fs: &args.fs,
        on: &args.on,
        allowed: AllowedDevices::Guests("applications work"),
        phases: None,
    };
    let ResolvedContenders { contenders, not_run, .. } =
        contenders(&order, &mut kernels, own.path())?;
    for line in not_run.iter().chain(&lacking) {
        say!("not run: {line}");
    }
    let Some(first) = contenders.first().filter(|_| !applications.is_empty()) else {
        anyhow::bail!("nothing can be run");
    };
    let applications_run = applications.iter().map(about).collect();
    let head =
        CrashApplicationHead { campaign: head(args, first)?, applications: applications_run };
    let program = Program::this(own.path())?;
    let interrupts = context::count_interrupts()?;
    let stop = || interrupts.load(Ordering::SeqCst) > 0;
    let all = contenders.len() * applications.len();
    let bar = ProgressBar::new(all as u64 * u64::from(args.runs));
    let mut rows = Vec::new();
    for contender in &contenders {
        for application in &applications {
            let job = Job { args, kernels: &kernels, program: &program, application };
            let who = format!("{}, {}", contender.label, application.name);
            match job.rows(contender, &classes, &stop, &bar) {
                Ok(found) => {
                    if bar.is_hidden() {
                        say!("{who}: {} runs", args.runs);
                    }
                    rows.extend(found);
                }
                Err(error) if is_stop(&error) => break,
                Err(error) => {
                    bar.suspend(|| say!("{who}: not judged: {}", context::reason(&error)))
                }
            }
        }
    }
    bar.finish_and_clear();
    if stop() {
        say!("stopped: what was finished before is all there is");
    }
    let both = serde_json::json!({"head": head, "rows": rows});
    let document =
        || fsarena_report::json::document("crash-application", "crash_application", &both);
    context::print_as(args.json, document, |width, style| {
        crash_application_text(&head, &rows, width, style)
    })?;
    Ok(match (stop(), rows.len() == all * classes.len()) {
        (true, _) => ExitCode::from(exit::INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    })
}

/// Those of the list, each once: a name, or a file, which has a `/` or ends with `.toml`.
fn applications(names: &str) -> Result<Vec<Application>> {
    let mut all: Vec<Application> = Vec::new();
    for word in words(names) {
        let one = if is_file(word) {
            let unread = |error| Usage(format!("--application {word}: {error}; name a file"));
            let text = context::description_text(word).map_err(unread)?;
            Application::parse(&text, word).map_err(|error| Usage(error.to_string()))?
        } else {
            let none = || {
                let known = application_names().join(", ");
                Usage(format!("--application: {word:?} is none; use {known}, or ./FILE.toml"))
            };
            application(word).ok_or_else(none)?
        };
        if all.iter().any(|other| other.name == one.name) {
            return Err(Usage(format!("--application: {:?} is named twice", one.name)).into());
        }
        all.push(one);
    }
    Ok(all)
}

/// Shows the commands of applications that are files, and asks.
fn confirm(applications: &[Application], names: &str, yes: bool) -> Result<()> {
    let files: Vec<&Application> = words(names)
        .zip(applications)
        .filter(|(word, _)| is_file(word))
        .map(|(_, application)| application)
        .collect();
    if files.is_empty() {
        return Ok(());
    }
    say!("Commands of the application files, to be run as {} in guests:", this_user());
    for Application { setup, command, check, .. } in files {
        for text in [setup, command, check].into_iter().filter(|text| !text.is_empty()) {
            say!("  {}", shown(text));
        }
    }
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        say!("(pass --yes to run them without a terminal)");
    } else if is_answered("Run them?")? {
        return Ok(());
    }
    refuse!("commands of the application files were not confirmed")
}

fn words(names: &str) -> impl Iterator<Item = &str> {
    names.split(',').map(str::trim)
}

fn is_file(word: &str) -> bool {
    word.contains('/') || word.ends_with(".toml")
}

/// Those whose programs are on this machine, and what the others lack.
fn with_their_programs(applications: Vec<Application>) -> (Vec<Application>, Vec<String>) {
    let mut lacking = Vec::new();
    let has_all = |one: &Application| {
        let (own, usual) = (SearchPath::new(one.path.clone()), SearchPath::from_env());
        let is_lacking =
            |program: &str| own.find(program).is_none() && usual.find(program).is_none();
        match one.needs.iter().find(|(program, _)| is_lacking(program)) {
            None => true,
            Some((program, package)) => {
                let name = &one.name;
                let why = usual.why_missing(program);
                lacking.push(format!("{name}: {why} (package {package})"));
                false
            }
        }
    };
    let there = applications.into_iter().filter(has_all).collect();
    (there, lacking)
}

fn about(application: &Application) -> CrashApplication {
    let Application { name, title, source, notes, .. } = application.clone();
    CrashApplication { name, title, source, notes }
}

/// One application on contenders.
struct Job<'a> {
    args: &'a CrashArgs,
    kernels: &'a Kernels,
    program: &'a Program,
    application: &'a Application,
}

impl Job<'_> {
    /// A row for each class of states.
    fn rows(
        &self,
        contender: &Contender,
        classes: &[Class],
        stop: &(dyn Fn() -> bool + Sync),
        bar: &ProgressBar,
    ) -> Result<Vec<CrashApplicationRow>> {
        let mut runs: Vec<Vec<ApplicationFindings>> = Vec::new();
        let mut facts = Facts::default();
        for number in 0..self.args.runs {
            let seed = self.args.seed.wrapping_add(u64::from(number));
            let ran = self.application_run(contender, seed, classes, stop)?;
            if let Some(fault) = &ran.work.fault {
                anyhow::bail!("seed {seed}: {fault}");
            }
            let judged = ran.observed().map(|(state, seen)| {
                facts.is_repaired_first |=
                    seen.mounted() == Some(MountStep::AfterRepair) && seen.mounts.len() == 1;
                judge_application(&ran.work, state, seen)
            });
            let findings: Vec<ApplicationFindings> = judged.collect();
            facts.add(seed, &ran, &findings);
            runs.push(findings);
            bar.inc(1);
        }
        let of_classes = application_figures(&runs, &FigureOptions::default())?;
        Ok(of_classes.iter().map(|(class, of)| self.row(contender, *class, of, &facts)).collect())
    }

    fn application_run(
        &self,
        contender: &Contender,
        seed: u64,
        classes: &[Class],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<ApplicationRun> {
        let (disk, options) = guest_of(contender, self.kernels, LIMIT)?;
        let order = ApplicationOrder {
            fs: &contender.levels.fs,
            disk,
            options: &options,
            program: self.program,
            application: self.application,
            seed,
            seconds: self.args.seconds,
            points: self.args.points,
            classes: classes.to_vec(),
            guests_at_once: std::thread::available_parallelism().map_or(1, usize::from),
        };
        Ok(application_run(&order, stop)?)
    }

    fn row(
        &self,
        contender: &Contender,
        class: Class,
        of: &ApplicationFigures,
        facts: &Facts,
    ) -> CrashApplicationRow {
        let cases = facts.cases.iter().filter(|(of_class, _)| *of_class == class);
        let told = facts.kernel_reported.iter().filter(|of_class| **of_class == class);
        CrashApplicationRow {
            contender: contender.label.clone(),
            application: self.application.name.clone(),
            state: class.name(),
            runs: of.runs,
            crash_points: of.crash_points,
            mount_options: facts.mount_options.clone(),
            acknowledged_units: facts.acknowledged_units,
            acknowledged_lost: CrashShare::new(&of.lost_units, &of.lost_points),
            lost_max: of.lost_units_max,
            lost_age_max_ns: of.lost_age_max_ns,
            check_failed: CrashShare::new(&of.check_failed, &of.check_failed),
            mounted_as_before: (!facts.is_repaired_first)
                .then(|| CrashShare::new(&of.mounted, &of.mounted)),
            kernel_reported: told.count() as u64,
            cases: cases.map(|(_, words)| words.clone()).collect(),
        }
    }
}

/// What is kept of all runs of a contender beside its figures.
#[derive(Default)]
struct Facts {
    mount_options: String,
    acknowledged_units: u64,
    /// Its documents or its kernel ask for a repair before the mount.
    is_repaired_first: bool,
    /// The class of each crash point at which the kernel reported damage.
    kernel_reported: Vec<Class>,
    /// The first ones of each class.
    cases: Vec<(Class, String)>,
}

impl Facts {
    fn add(&mut self, seed: u64, ran: &ApplicationRun, findings: &[ApplicationFindings]) {
        self.mount_options.clone_from(&ran.work.mount_options);
        self.acknowledged_units += ran.work.acknowledged.len() as u64;
        for found in findings {
            if found.kernel_messages > 0 {
                self.kernel_reported.push(found.class);
            }
            let many = self.cases.iter().filter(|(class, _)| *class == found.class).count();
            if found.is_broken() && many < CASES_MOST {
                let after_ns = found.at_ns.saturating_sub(ran.work.begin_ns);
                let after_s = after_ns as f64 / SECOND_NS as f64;
                let words = format!("seed {seed}, cut at {after_s:.3} s: {}", found.words);
                self.cases.push((found.class, words));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applications_are_named_once_and_known() {
        let names = |text| -> Vec<String> {
            applications(text).unwrap().into_iter().map(|one| one.name).collect()
        };
        assert_eq!(names("maildir, git"), ["maildir", "git"]);
        let refused = |text| applications(text).unwrap_err().to_string();
        assert!(refused("git,git").contains("\"git\" is named twice"));
        let none = refused("oracle");
        assert!(none.contains("\"oracle\" is none; use sqlite-wal"), "{none}");
        assert!(refused("./none.toml").starts_with("--application ./none.toml: No such file"));
    }

    #[test]
    fn commands_of_files_are_confirmed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mine.toml");
        let text = "schema = 1\nname = \"mine\"\ntitle = \"t\"\nsource = \"s\"\n\
                    command = \"echo 1\"\ncheck = \"echo found 1\"\n";
        std::fs::write(&file, text).unwrap();
        let names = format!("maildir, {}", file.display());
        let all = applications(&names).unwrap();
        confirm(&all, &names, true).unwrap();
        if !std::io::stdin().is_terminal() {
            let refused = confirm(&all, &names, false).unwrap_err();
            assert!(refused.is::<Usage>() && refused.to_string().contains("not confirmed"));
        }
        confirm(&all[..1], "maildir", false).unwrap();
    }

    #[test]
    fn what_an_application_lacks_is_named_with_its_package() {
        let mut one = application("maildir").unwrap();
        one.needs = [("no-such-program".to_owned(), "its-package".to_owned())].into();
        let there = application("maildir").unwrap();
        let (kept, lacking) = with_their_programs(vec![one, there.clone()]);
        assert_eq!(kept, [there]);
        assert_eq!(lacking, ["maildir: no-such-program is not installed (package its-package)"]);
    }
}

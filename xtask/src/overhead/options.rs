//! The command line of the benchmark: one set of options for all sections.

use anyhow::{Context as _, Result, bail};
use std::path::PathBuf;
use std::time::Duration;

pub(super) const USAGE: &str = "\
usage: cargo xtask overhead [SECTION…] [options]

sections; without names all:
  small     one thread of small files against a bare loop on tmpfs; the sampler
  threads   two threads against two bare loops on tmpfs
  null      no calls at all: what the engine itself costs, with and without latencies
  uring     4 KiB random reads by io_uring against fio, on tmpfs and on a loop device (root)
  scale     ten million files against a hundred thousand, without calls: memory and cost of an op
  corpus    contents of datasets: how fast they are made; trees of files against bare loops, on
            tmpfs and on ext4 on a loop device (root)

  --reference PATH    another source of the bare loop, compiled with cc -O2; or env FSARENA_RAWLOOP
                      [xtask/reference/rawloop.c]
  --dir DIR           a directory on tmpfs [/dev/shm]
  --pairs N           interleaved pairs of each comparison
                      [small 101, threads 41, uring 21, scale 11, corpus 31;
                      judged from 21, 21, 11, 11, 21]
  --files N           small, threads, null: files of 256 B in 100 directories; judged from 50000
                      [50000]
  --big-mib N         size of the big file, for information; 0: none [500]
  --big-pairs N       pairs of the big file [5]
  --uring-mib N       file on tmpfs; on the loop device it is half of that; judged from 1024 [1024]
  --scale-files N     the larger of the two numbers; judged from 10000000 [10000000]
  --corpus-files N    files of each tree; judged from 20000 [20000]
  --foreign SHARE     a pair counts when other programs took at most this share of one CPU
                      meanwhile; a large number: any pair counts [0.3]
  --patience SEC      how long each comparison goes on for enough such pairs [900]
  --smoke             everything as small as it can be, nothing judged: shows that it works

exit code: not 0 when a figure is missed; a section that cannot run here says `not run: reason`";

/// Files of the figures of small files.
pub(super) const JUDGED_FILES: u64 = 50_000;
/// Files of the figures of trees.
pub(super) const CORPUS_JUDGED_FILES: u64 = 20_000;
/// Most files of a tree: about those of the whole dataset.
const CORPUS_FILES_MOST: u64 = 100_000;

/// What a command line asks for.
pub(super) enum Asked {
    Help,
    Run(Options),
}

/// The command line, with defaults filled in.
#[derive(Debug)]
pub(super) struct Options {
    /// Names of sections; none: all.
    sections: Vec<String>,
    pub(super) reference: Option<PathBuf>,
    pub(super) dir: PathBuf,
    /// Pairs, where the sections' own numbers are not wanted.
    pairs: Option<u32>,
    pub(super) files: u64,
    pub(super) big_mib: u64,
    pub(super) big_pairs: u32,
    pub(super) uring_mib: u64,
    pub(super) scale_files: u64,
    pub(super) corpus_files: u64,
    pub(super) foreign: f64,
    pub(super) patience: Duration,
    pub(super) smoke: bool,
}

impl Options {
    /// Reads the arguments; the reference may come from the environment.
    ///
    /// # Errors
    /// An option or a section that there is not, or a value that is none.
    pub(super) fn parse(args: &[String], from_env: Option<PathBuf>) -> Result<Asked> {
        let mut options = Self {
            sections: vec![],
            reference: from_env,
            dir: PathBuf::from("/dev/shm"),
            pairs: None,
            files: JUDGED_FILES,
            big_mib: 500,
            big_pairs: 5,
            uring_mib: 1024,
            scale_files: 10_000_000,
            corpus_files: CORPUS_JUDGED_FILES,
            foreign: 0.3,
            patience: Duration::from_secs(900),
            smoke: false,
        };
        if args.iter().any(|arg| arg == "--smoke") {
            options.make_small();
        }
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            if arg == "--help" || arg == "-h" {
                return Ok(Asked::Help);
            }
            if arg == "--smoke" {
                continue;
            }
            if !arg.starts_with('-') {
                options.sections.push(arg.to_owned());
                continue;
            }
            let value = args.next().with_context(|| format!("{arg}: give a value\n{USAGE}"))?;
            options.set(arg, value)?;
        }
        Ok(Asked::Run(options))
    }

    fn set(&mut self, flag: &str, value: &str) -> Result<()> {
        let number = || value.parse::<u64>().with_context(|| format!("{flag} {value}"));
        let count = || value.parse::<u32>().with_context(|| format!("{flag} {value}"));
        match flag {
            "--reference" => self.reference = Some(PathBuf::from(value)),
            "--dir" => self.dir = PathBuf::from(value),
            "--pairs" => self.pairs = Some(count()?.max(1)),
            "--files" => self.files = number()?.max(2),
            "--big-mib" => self.big_mib = number()?,
            "--big-pairs" => self.big_pairs = count()?,
            "--uring-mib" => self.uring_mib = number()?.max(2),
            "--scale-files" => self.scale_files = number()?.max(1),
            "--corpus-files" => self.corpus_files = number()?.clamp(1, CORPUS_FILES_MOST),
            "--foreign" => {
                self.foreign = value.parse().with_context(|| format!("{flag} {value}"))?
            }
            "--patience" => self.patience = Duration::from_secs(number()?),
            other => bail!("unknown option {other}\n{USAGE}"),
        }
        Ok(())
    }

    /// Enough to see that everything works.
    fn make_small(&mut self) {
        self.smoke = true;
        self.pairs = Some(2);
        self.files = 2000;
        self.big_mib = 16;
        self.big_pairs = 1;
        self.uring_mib = 16;
        self.scale_files = 200_000;
        self.corpus_files = 300;
    }

    /// Whether a section was named, or none was.
    pub(super) fn wants(&self, name: &str) -> bool {
        self.sections.is_empty() || self.sections.iter().any(|wanted| wanted == name)
    }

    /// Refuses the name of a section that there is not.
    pub(super) fn check_names(&self, known: impl Iterator<Item = &'static str>) -> Result<()> {
        let known: Vec<&str> = known.collect();
        match self.sections.iter().find(|name| !known.contains(&name.as_str())) {
            Some(name) => bail!("no section is called {name}\n{USAGE}"),
            None => Ok(()),
        }
    }

    /// Pairs of a section that usually has `usual`.
    pub(super) fn pairs(&self, usual: u32) -> u32 {
        self.pairs.unwrap_or(usual)
    }
}

pub(super) const MIB: u64 = 1 << 20;

/// A part of the benchmark, with figures of its own.
pub(super) struct Section {
    pub(super) name: &'static str,
    /// Whether its figures mean something with these options.
    pub(super) judged: fn(&Options) -> bool,
    pub(super) run: fn(&Options) -> Result<Verdict>,
}

/// What came of a section.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// Figures that were missed.
    pub(super) missed: Vec<String>,
    /// What could not be run here.
    pub(super) not_run: Vec<String>,
}

impl Verdict {
    /// A part that cannot run here; said at once and again at the end.
    pub(super) fn not_run(&mut self, what: &str, why: &str) {
        println!("not run: {what}: {why}");
        self.not_run.push(what.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overhead::SECTIONS;
    use std::path::Path;

    fn options(args: &[&str], env: Option<&str>) -> Result<Options> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        match Options::parse(&args, env.map(PathBuf::from))? {
            Asked::Run(options) => {
                options.check_names(SECTIONS.iter().map(|one| one.name))?;
                Ok(options)
            }
            Asked::Help => bail!("help"),
        }
    }

    fn wanted(args: &[&str]) -> Vec<&'static str> {
        let options = options(args, None).unwrap();
        SECTIONS.iter().filter(|one| options.wants(one.name)).map(|one| one.name).collect()
    }

    fn judged(args: &[&str]) -> Vec<&'static str> {
        let options = options(args, None).unwrap();
        SECTIONS.iter().filter(|one| (one.judged)(&options)).map(|one| one.name).collect()
    }

    #[test]
    fn the_reference_is_given_by_path_or_environment() {
        assert_eq!(options(&[], None).unwrap().reference, None);
        let from_env = options(&[], Some("a.c")).unwrap();
        assert_eq!(from_env.reference.as_deref(), Some(Path::new("a.c")));
        let given = options(&["--reference", "b.c", "--pairs", "30"], Some("a.c")).unwrap();
        assert_eq!(given.reference.as_deref(), Some(Path::new("b.c")));
        assert_eq!(given.pairs(101), 30);
    }

    #[test]
    fn sections_run_that_are_named_or_all() {
        assert_eq!(wanted(&["uring", "--pairs", "3", "null"]), ["null", "uring"]);
        assert_eq!(wanted(&["--smoke"]).len(), SECTIONS.len());
    }

    #[test]
    fn few_pairs_or_files_are_not_judged() {
        let all = ["small", "threads", "null", "uring", "scale", "corpus"];
        assert_eq!(judged(&[]), all);
        assert_eq!(judged(&["--pairs", "11"]), ["null", "uring", "scale"]);
        assert_eq!(judged(&["--pairs", "3"]), ["null"]);
        assert_eq!(judged(&["--files", "2000"]), ["uring", "scale", "corpus"]);
        let few = judged(&["--corpus-files", "2000"]);
        assert_eq!(few, ["small", "threads", "null", "uring", "scale"]);
        let few = ["--scale-files", "100000", "--uring-mib", "8"];
        assert_eq!(judged(&few), ["small", "threads", "null", "corpus"]);
        assert_eq!(judged(&["--smoke"]), [""; 0]);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for wrong in [&["--pairs"][..], &["--pears", "3"], &["tiny"], &["--files", "many"]] {
            assert!(options(wrong, Some("a.c")).is_err(), "{wrong:?}");
        }
        let smaller = options(&["--files", "10", "--smoke"], None).unwrap();
        assert_eq!((smaller.files, smaller.smoke), (10, true));
    }
}

//! The command line of the benchmark: one set of options for all sections.

use anyhow::Result;
use clap::builder::ArgPredicate::IsPresent;
use clap::builder::PossibleValuesParser;
use clap::{Args, value_parser};
use std::path::PathBuf;

/// Names of the sections, in the order of the run.
pub(super) const NAMES: [&str; 10] = [
    "small",
    "threads",
    "null",
    "uring",
    "corpus",
    "vdisk",
    "virtual",
    "crash",
    "agreement",
    "fleet",
];

/// Those that run only where they are named.
const NAMED_ONLY: [&str; 3] = ["cost", "rendezvous", "load"];

const SECTIONS_HELP: &str = "\
Sections:
  small     one thread of small files against a bare loop on tmpfs; the sampler
  threads   two threads against two bare loops on tmpfs
  null      no calls at all: what the engine itself costs, with and without latencies
  uring     4 KiB random reads by io_uring against fio, on tmpfs and on a loop device (root)
  corpus    contents of datasets: how fast they are made; trees of files against bare loops, on
            tmpfs and on ext4 on a loop device (root)
  vdisk     device models of virtual disks: what each request costs; reads through FUSE and a loop
            device that are answered at once (root)
  virtual   guest kernels: a boot, two virtual minutes of creations, memory (a kernel of the cache)
  crash    crash states a second that are checked in guests, and a thousand power cuts
  agreement one modelled disk under the kernel of the machine and in a guest (root), not judged
  fleet     ranks: four against mdtest on tmpfs (--mdtest), reports merged, bytes of a rank
  cost      only where it is named: what the dry run foretells after one equal RUN, against what six
            experiments took (root; an hour)
  rendezvous  only where it is named: strangers at the port of a RUN with ranks, a thousand a second
            for --attack-s each from one and from many addresses
  load      only where it is named: commands on made databases of 16,000 and 200,000 trials, and the
            migration of one (4 GiB on tmpfs; some minutes)

Exit code: not 0 when a figure is missed; a section that cannot run here says `not run: reason`";

/// Files of the figures of small files.
pub(super) const JUDGED_FILES: u64 = 50_000;
/// Files of the figures of trees.
pub(super) const CORPUS_JUDGED_FILES: u64 = 20_000;
/// Most files of a tree: about those of the whole dataset.
const CORPUS_FILES_MOST: u64 = 100_000;

#[derive(Debug, Args)]
#[command(after_help = SECTIONS_HELP)]
pub(crate) struct Options {
    /// Sections to run; without names all.
    #[arg(value_name = "SECTION",
          value_parser = PossibleValuesParser::new(NAMES.into_iter().chain(NAMED_ONLY)))]
    sections: Vec<String>,
    /// Another source of the bare loop than xtask/reference/rawloop.c, compiled with cc -O2.
    #[arg(long, value_name = "PATH", env = "FSARENA_RAWLOOP")]
    pub(super) reference: Option<PathBuf>,
    /// A built mdtest, for the figures of ranks; mpirun is in PATH.
    #[arg(long, value_name = "PATH", env = "FSARENA_MDTEST")]
    pub(super) mdtest: Option<PathBuf>,
    /// A directory on tmpfs.
    #[arg(long, default_value = "/dev/shm")]
    pub(super) dir: PathBuf,
    /// Interleaved pairs of each comparison [small 101, threads 41, uring 21, corpus 31, fleet
    /// 15; judged from 21, 21, 11, 21, 10].
    #[arg(long, value_parser = value_parser!(u32).range(1..),
          default_value_if("smoke", IsPresent, "2"))]
    pairs: Option<u32>,
    /// Small, threads, null: files of 256 B in 100 directories; judged from 50000.
    #[arg(long, value_parser = value_parser!(u64).range(2..), default_value_t = JUDGED_FILES,
          default_value_if("smoke", IsPresent, "2000"))]
    pub(super) files: u64,
    /// Size of the big file, for information; 0: none.
    #[arg(long, default_value_t = 500, default_value_if("smoke", IsPresent, "16"))]
    pub(super) big_mib: u64,
    /// Pairs of the big file.
    #[arg(long, default_value_t = 5, default_value_if("smoke", IsPresent, "1"))]
    pub(super) big_pairs: u32,
    /// File on tmpfs; on the loop device it is half of that; judged from 1024.
    #[arg(long, value_parser = value_parser!(u64).range(2..), default_value_t = 1024,
          default_value_if("smoke", IsPresent, "16"))]
    pub(super) uring_mib: u64,
    /// Files of each tree; judged from 20000.
    #[arg(long, value_parser = value_parser!(u64).range(1..=CORPUS_FILES_MOST),
          default_value_t = CORPUS_JUDGED_FILES, default_value_if("smoke", IsPresent, "300"))]
    pub(super) corpus_files: u64,
    /// A pair counts when other programs took at most this share of one CPU meanwhile; a large
    /// number: any pair counts.
    #[arg(long, value_name = "SHARE", default_value_t = 0.3)]
    pub(super) foreign: f64,
    /// How many seconds each comparison goes on for enough such pairs.
    #[arg(long, value_name = "SEC", default_value_t = 900)]
    pub(super) patience: u64,
    /// Cost: the one experiment to run.
    #[arg(long, value_name = "NAME")]
    pub(super) experiment: Option<String>,
    /// Cost: RUNs beside whose times the forecasts are laid; judged from 3.
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = value_parser!(u32).range(1..))]
    pub(super) repeat: u32,
    /// Rendezvous: how many seconds each attack goes on; judged from 300.
    #[arg(long, value_name = "SEC", default_value_t = 300)]
    #[arg(value_parser = value_parser!(u64).range(1..), default_value_if("smoke", IsPresent, "3"))]
    pub(super) attack_s: u64,
    /// Everything as small as it can be, nothing judged: shows that it works.
    #[arg(long)]
    pub(super) smoke: bool,
    /// One side of a pair, for this task's own use.
    #[arg(long, hide = true)]
    pub(super) child: Option<String>,
    /// A tree of files, for this task's own use.
    #[arg(long, hide = true)]
    pub(super) corpus_child: Option<String>,
    /// Reports of ranks, for this task's own use.
    #[arg(long, hide = true)]
    pub(super) merge_child: Option<String>,
}

impl Options {
    /// Whether a section was named, or none was.
    pub(super) fn wants(&self, name: &str) -> bool {
        (self.sections.is_empty() && !NAMED_ONLY.contains(&name)) || self.is_named(name)
    }

    /// Whether a section was named.
    pub(super) fn is_named(&self, name: &str) -> bool {
        self.sections.iter().any(|wanted| wanted == name)
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
    /// Prints a figure with the most that it may be, in a unit of so many, and notes a miss.
    pub(super) fn judge(
        &mut self,
        what: &str,
        (value, most): (u64, u64),
        (unit, name): (f64, &str),
    ) {
        let is_missed = value > most;
        let words = if is_missed { "MISSES" } else { "meets" };
        let (value, most) = (value as f64 / unit, most as f64 / unit);
        println!("  {what:44} {value:8.2} {name}  {words} {most} {name}");
        if is_missed {
            self.missed.push(format!("{what}: {value:.2} {name}"));
        }
    }

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
    use clap::{CommandFactory as _, Parser as _};
    use std::ffi::OsStr;
    use std::path::Path;

    #[derive(clap::Parser)]
    struct CommandLine {
        #[command(flatten)]
        options: Options,
    }

    fn options(args: &[&str]) -> Result<Options, clap::Error> {
        let line = CommandLine::try_parse_from([&["overhead"], args].concat());
        line.map(|line| line.options)
    }

    fn wanted(args: &[&str]) -> Vec<&'static str> {
        let options = options(args).unwrap();
        SECTIONS.iter().filter(|one| options.wants(one.name)).map(|one| one.name).collect()
    }

    fn judged(args: &[&str]) -> Vec<&'static str> {
        let options = options(args).unwrap();
        SECTIONS.iter().filter(|one| (one.judged)(&options)).map(|one| one.name).collect()
    }

    #[test]
    fn the_reference_is_given_by_path_or_environment() {
        let command = CommandLine::command();
        let argument = command.get_arguments().find(|one| one.get_id() == "reference").unwrap();
        assert_eq!(argument.get_env(), Some(OsStr::new("FSARENA_RAWLOOP")));
        let given = options(&["--reference", "b.c", "--pairs", "30"]).unwrap();
        assert_eq!(given.reference.as_deref(), Some(Path::new("b.c")));
        assert_eq!(given.pairs(101), 30);
    }

    #[test]
    fn sections_run_that_are_named_or_all() {
        assert_eq!(wanted(&["uring", "--pairs", "3", "null"]), ["null", "uring"]);
        assert_eq!(wanted(&["--smoke"]), NAMES);
        assert_eq!(wanted(&["cost", "--experiment", "quick"]), ["cost"]);
        assert_eq!(judged(&["cost"])[NAMES.len()..], ["cost"]);
        assert!(!judged(&["cost", "--repeat", "2"]).contains(&"cost"));
        assert_eq!(judged(&["rendezvous"])[NAMES.len()..], ["rendezvous"]);
        assert!(!judged(&["rendezvous", "--attack-s", "60"]).contains(&"rendezvous"));
        assert_eq!(judged(&["load"])[NAMES.len()..], ["load"]);
        assert!(!judged(&["load", "--smoke"]).contains(&"load"));
    }

    #[test]
    fn few_pairs_or_files_are_not_judged() {
        assert_eq!(judged(&[]), NAMES);
        assert_eq!(
            judged(&["--pairs", "11"]),
            ["null", "uring", "vdisk", "virtual", "crash", "agreement", "fleet"]
        );
        assert_eq!(judged(&["--pairs", "3"]), ["null", "vdisk", "virtual", "crash", "agreement"]);
        assert_eq!(
            judged(&["--files", "2000"]),
            ["uring", "corpus", "virtual", "crash", "agreement", "fleet"]
        );
        let few = judged(&["--corpus-files", "2000"]);
        assert_eq!(
            few,
            [
                "small",
                "threads",
                "null",
                "uring",
                "vdisk",
                "virtual",
                "crash",
                "agreement",
                "fleet"
            ]
        );
        let few = judged(&["--uring-mib", "8"]);
        assert_eq!(
            few,
            [
                "small",
                "threads",
                "null",
                "corpus",
                "vdisk",
                "virtual",
                "crash",
                "agreement",
                "fleet"
            ]
        );
        assert_eq!(judged(&["--smoke"]), [""; 0]);
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for wrong in [&["--pairs"][..], &["--pears", "3"], &["tiny"], &["--files", "many"]] {
            assert!(options(wrong).is_err(), "{wrong:?}");
        }
        let smaller = options(&["--files", "10", "--smoke"]).unwrap();
        assert_eq!((smaller.files, smaller.smoke), (10, true));
    }
}

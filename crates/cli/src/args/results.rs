//! Arguments of the commands that read or write the database: `list`, `show`, `study`, `report`,
//! `compare`, `history`, `merge`, `delete`, `export`, `import`, `reference`.

use crate::complete;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use fsarena_report::Language;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  fsarena list\n  fsarena list --db all.db\n  fsarena list --json"
)]
pub struct ListArgs {
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  fsarena show\n  fsarena show 3 --raw\n  fsarena show --json | jq ."
)]
pub struct ShowArgs {
    /// Number of the RUN, or the first digits of its id. Without it: the latest.
    #[arg(add = complete::runs())]
    pub run: Option<String>,
    /// Print one JSON document with every record.
    #[arg(long)]
    pub json: bool,
    /// Print the raw values of every trial after the tables.
    #[arg(long)]
    pub raw: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  fsarena study\n  fsarena study 3 --all-pairs\n  fsarena study \
                        latest --require-decision\n  fsarena study --json | jq ."
)]
pub struct StudyArgs {
    /// Number of the RUN, or the first digits of its id. Without it: the latest.
    #[arg(add = complete::runs())]
    pub run: Option<String>,
    /// Print every pair, even of many contenders.
    #[arg(long)]
    pub all_pairs: bool,
    /// Exit with code 4 if a question remains undecided.
    #[arg(long)]
    pub require_decision: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena report\n  fsarena report 3 -o copy.html\n  fsarena \
                        report --open\n  fsarena report 3 5 --assets charts\n  fsarena report --assets charts \
                        --assets-format svg,pdf --width 85mm\n  fsarena report --identify")]
pub struct ReportArgs {
    /// Numbers of RUNs, or the first digits of their ids. Without one: the latest.
    #[arg(value_name = "RUN", add = complete::runs())]
    pub runs: Vec<String>,
    /// File to write; `-` is standard output. Without it: next to the database.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Open the page in a browser; under sudo as the user who called it.
    #[arg(long)]
    pub open: bool,
    /// Also write each chart as a file of its own into this directory.
    #[arg(long, value_name = "DIR")]
    pub assets: Option<PathBuf>,
    /// Formats of these files (svg if not given); pdf and png need the program rsvg-convert.
    #[arg(long, value_enum, value_name = "FORMAT,…", value_delimiter = ',', requires = "assets")]
    pub assets_format: Vec<AssetFormat>,
    /// Width of these files on paper, such as 85mm (120mm if not given); png has 300 dots an inch.
    #[arg(long, value_name = "LENGTH", requires = "assets")]
    pub width: Option<String>,
    /// Keep serial numbers and the names of host, user and home directory.
    #[arg(long)]
    pub identify: bool,
}

/// Format of a chart in a file of its own.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum AssetFormat {
    /// Lines and letters, for browsers, office programs and drawing programs.
    Svg,
    /// The same, for LaTeX.
    Pdf,
    /// Dots.
    Png,
}

#[derive(Args, Debug, Default)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct CompareArgs {
    /// Numbers of RUNs, or the first digits of their ids. One (without any, the latest): its own
    /// verdicts. Several, for example of other machines after `fsarena merge`: the same contenders
    /// in each, and what holds for all. Two watches, or parts of them (RUN@FROM-TO, times since the
    /// start; either may be left out): their figures.
    #[arg(value_name = "RUN", add = complete::runs())]
    pub runs: Vec<String>,
    /// RUNs before a change on one machine, such as a new kernel. Each boot counts once; a verdict
    /// needs three boots on each side.
    #[arg(
        long,
        value_name = "RUN,…",
        value_delimiter = ',',
        requires = "after",
        conflicts_with = "runs",
        add = complete::runs()
    )]
    pub before: Vec<String>,
    /// RUNs after the change.
    #[arg(
        long,
        value_name = "RUN,…",
        value_delimiter = ',',
        requires = "before",
        add = complete::runs()
    )]
    pub after: Vec<String>,
    /// Compare only this pair, the first against the second. With --before: only these two
    /// contenders.
    #[arg(long, value_name = "A,B")]
    pub pair: Option<String>,
    /// Answer only this question, such as small-files:create. Without this and --all: the headline
    /// of the RUNs.
    #[arg(long, value_name = "WORKLOAD:PHASE", conflicts_with = "all")]
    pub question: Option<String>,
    /// Answer all questions of the RUNs.
    #[arg(long)]
    pub all: bool,
    /// Ratios within this margin are the SAME, such as 5% or 0.05. Without it: that of the RUNs.
    #[arg(long, value_name = "SHARE")]
    pub margin: Option<String>,
    /// slower: exit with code 3 if a contender is slower than the baseline (with --pair, the first
    /// than the second; with --before, after than before). missing: exit with code 6 if something
    /// that was asked has no figures on one side. Separated by commas.
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    pub fail_on: Vec<FailOn>,
    /// Exit with code 4 if a question remains undecided.
    #[arg(long)]
    pub require_decision: bool,
    /// Exit codes for `git bisect run`: 1 if anything is SLOWER (125 if that was the machine: more
    /// time, the same CPU time, and other programs around it), 125 if anything else is UNDECIDED,
    /// 128 on an error, else 0.
    #[arg(long, conflicts_with_all = ["fail_on", "require_decision"])]
    pub bisect: bool,
    /// Print a line of CSV for each comparison, and one for each that has no figures on one side.
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Print Markdown, for a wiki or a pull request: what became slower first.
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub markdown: bool,
    /// Print JUnit's XML, for a nightly job: SLOWER is a failure, UNDECIDED is skipped.
    #[arg(long, conflicts_with_all = ["json", "csv", "markdown"])]
    pub junit: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailOn {
    /// SLOWER.
    Slower,
    /// A side without figures.
    Missing,
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  fsarena compare 3 --fail-on slower,missing
  fsarena compare 3 4 5 --pair xfs,ext4
  fsarena merge laptop.db server.db && fsarena compare 7 1f3a 88c0
  fsarena compare --before 3,4,5 --after 6,7,8 --all
  fsarena compare latest --bisect
  fsarena compare --before 3,4,5 --after 6,7,8 --junit > nightly.xml
  fsarena compare 12@-10m 13@10m-20m";

#[derive(Args, Debug)]
#[command(after_help = HISTORY_EXAMPLES)]
pub struct HistoryArgs {
    /// The workload: every timed phase of it. A phase may follow, and what is shown of it: :cpu,
    /// :written, :p99 or :per-op instead of the time, :time:returned for another clock. Without
    /// it: the time, by the clock of the latest RUN.
    #[arg(value_name = "WORKLOAD[:PHASE[:METRIC]]", add = complete::workloads())]
    pub what: String,
    /// Show only this contender, by its label.
    #[arg(long, value_name = "LABEL")]
    pub contender: Option<String>,
    /// What is one point: a RUN, a boot, a release of the kernel, a version of fsarena, or a title
    /// of RUNs (run --title), such as a commit. Changes are looked for between points.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = HistoryBy::Run)]
    pub by: HistoryBy,
    /// Leave out RUNs that began before this day or time, such as 2026-01-31 or
    /// 2026-01-31T12:00Z; in UTC.
    #[arg(long, value_name = "DATE")]
    pub since: Option<String>,
    /// A change within this margin is none, such as 5% or 0.05. Without it: that of the RUNs.
    #[arg(long, value_name = "SHARE")]
    pub margin: Option<String>,
    /// Also write a chart as SVG into this file.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print Markdown, for a wiki or a bug report.
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// What is one point of a history.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum HistoryBy {
    Run,
    Boot,
    Kernel,
    Version,
    Title,
}

const HISTORY_EXAMPLES: &str = "\
Examples:
  fsarena history small-files
  fsarena history small-files:create --contender ext4 --by kernel -o create.svg
  fsarena history small-files:read-random:p99 --since 2026-01-01
  fsarena history small-files --markdown > nightly.md
  fsarena merge --db all.db host.db && fsarena history --db all.db big-file --json";

#[derive(Args, Debug)]
#[command(after_help = MERGE_EXAMPLES)]
pub struct MergeArgs {
    /// Databases to merge; they are only read (a transaction that a crash cut off is rolled back).
    /// Each is merged completely or, on an error, not at all. RUNs that are already here stay as
    /// they are.
    #[arg(required = true, value_name = "OTHER.db")]
    pub others: Vec<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

const MERGE_EXAMPLES: &str = "\
Examples:
  fsarena merge laptop.db
  fsarena merge --db all.db desk.db laptop.db server.db
  fsarena merge laptop.db --json | jq .";

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena delete 3\n  fsarena delete 3 5 1f3a --yes")]
pub struct DeleteArgs {
    /// Numbers of RUNs, or the first digits of their ids.
    #[arg(required = true, value_name = "RUN", add = complete::runs())]
    pub runs: Vec<String>,
    /// Delete without asking.
    #[arg(long)]
    pub yes: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena export > trials.csv\n  fsarena export 3 --format \
                        markdown\n  fsarena export latest --format json -o run.json")]
pub struct ExportArgs {
    /// Number of the RUN, or the first digits of its id. Without it: the latest.
    #[arg(add = complete::runs())]
    pub run: Option<String>,
    /// Format of the output.
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    pub format: Format,
    /// With JSON: also the latency of single ops, bucket by bucket, and the readings over time
    /// (several times as long).
    #[arg(long)]
    pub raw: bool,
    /// File to write. Without it: standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Keep serial numbers and the names of host, user and home directory.
    #[arg(long)]
    pub identify: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena article 3 -o article\n  fsarena article latest -o \
                        statya --lang ru")]
pub struct ArticleArgs {
    /// Number of the RUN, or the first digits of its id. Without it: the latest.
    #[arg(add = complete::runs())]
    pub run: Option<String>,
    /// Directory of article.html, article.md, article.bbcode and charts.
    #[arg(long, short, value_name = "DIR")]
    pub output: PathBuf,
    /// Language of headings, captions and sentences.
    #[arg(long, value_name = "TAG", value_parser = language_parser(), default_value = "en")]
    pub lang: Language,
    /// Keep serial numbers and the names of host, user and home directory.
    #[arg(long)]
    pub identify: bool,
}

/// The languages of articles, by their tags.
fn language_parser() -> impl TypedValueParser<Value = Language> {
    let value = |language: Language| PossibleValue::new(language.tag()).help(language.name());
    let values: Vec<PossibleValue> = Language::all().map(value).collect();
    PossibleValuesParser::new(values)
        .try_map(|tag| Language::named(&tag).ok_or("there is no such language"))
}

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, after_help = BUNDLE_EXAMPLES)]
pub struct BundleArgs {
    #[command(subcommand)]
    pub what: Option<BundleCommand>,
    /// Number of the RUN, or the first digits of its id. Without it: the latest.
    #[arg(add = complete::runs())]
    pub run: Option<String>,
    /// File to write. Without it: fsarena-ID.tar.zst in the working directory.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Keep serial numbers and the names of host, user and home directory.
    #[arg(long)]
    pub identify: bool,
}

#[derive(Subcommand, Debug)]
pub enum BundleCommand {
    /// Check a bundle: its hashes, and its verdicts recomputed from its records. Exit code 1 if
    /// anything differs.
    #[command(after_help = "Examples:\n  fsarena bundle check paper.tar.zst")]
    Check(BundleCheckArgs),
}

#[derive(Args, Debug)]
pub struct BundleCheckArgs {
    /// The bundle.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

const BUNDLE_EXAMPLES: &str = "\
Examples:
  fsarena bundle
  fsarena bundle 3 -o paper.tar.zst
  fsarena bundle check paper.tar.zst";

/// Format of an export.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Raw values, one row for each trial and phase.
    Csv,
    /// Figures of power cuts, one row for each contender, crash workload and state.
    #[value(alias = "safety-csv")]
    CrashCsv,
    /// Every record, as described by `fsarena schema run`; a line each.
    Json,
    /// Verdicts and tables, for a wiki or a bug report.
    Markdown,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena import fio ext4=a.json xfs=b.json\n  fsarena import \
                        hyperfine times.json")]
pub struct ImportArgs {
    #[command(subcommand)]
    pub from: Foreign,
}

/// Programs whose results can be imported.
#[derive(Subcommand, Debug)]
pub enum Foreign {
    /// Import output of `fio --output-format=json`: each file is one trial; files with the same
    /// label are blocks, in the order given.
    #[command(after_help = "Examples:\n  fsarena import fio ext4=a.json xfs=b.json\n  fsarena \
                            import fio ext4=a1.json ext4=a2.json ext4=a3.json xfs=b1.json \
                            xfs=b2.json xfs=b3.json")]
    Fio(FilesArgs),
    /// Import output of `hyperfine --export-json`: each command is a contender, each of its runs a
    /// block.
    #[command(after_help = "Examples:\n  fsarena import hyperfine times.json\n  fsarena import \
                            hyperfine ext4=e.json xfs=x.json")]
    Hyperfine(FilesArgs),
    /// Import the output of mdtest: each file is one trial, by the mean rates of its summary.
    #[command(after_help = "Examples:\n  fsarena import mdtest nfs=1.txt nfs=2.txt nfs=3.txt \
                            local=4.txt local=5.txt local=6.txt")]
    Mdtest(FilesArgs),
    /// Import the output of IOR: each iteration is one trial.
    #[command(after_help = "Examples:\n  fsarena import ior nfs=nfs.txt local=local.txt")]
    Ior(FilesArgs),
    /// Import the CSV of bonnie++ (1.96 or later): each line is one trial.
    #[command(after_help = "Examples:\n  fsarena import bonnie all.csv\n  fsarena import bonnie \
                            ext4=ext4.csv xfs=xfs.csv")]
    Bonnie(FilesArgs),
    /// Import a result of the Phoronix Test Suite: its systems are contenders, each run one trial.
    #[command(after_help = "Examples:\n  fsarena import phoronix composite.xml\n  fsarena import \
                            phoronix ext4=a/composite.xml xfs=b/composite.xml")]
    Phoronix(FilesArgs),
}

#[derive(Args, Debug)]
pub struct FilesArgs {
    /// Files to import, each with an optional label for its contender.
    #[arg(required = true, value_name = "[LABEL=]FILE")]
    pub files: Vec<String>,
    /// Ratios within this margin are the SAME, such as 5% or 0.05 (5% if not given).
    #[arg(long, value_name = "SHARE")]
    pub margin: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena reference\n  fsarena reference 2008\n  fsarena \
                        reference 2003 --markdown > 2003.md\n  fsarena reference 2010 --format \
                        bbcode > 2010.txt")]
pub struct ReferenceArgs {
    /// Year of the article. Without it, all articles are listed.
    pub year: Option<u16>,
    /// RUN to print next to the article. Without it: the latest of its experiment on each machine.
    #[arg(long, add = complete::runs())]
    pub run: Option<String>,
    /// Print one JSON document instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Print Markdown, for a wiki, a forum or a bug report.
    #[arg(long, conflicts_with = "json", requires = "year")]
    pub markdown: bool,
    /// How to print the article.
    #[arg(long, value_enum, conflicts_with_all = ["json", "markdown"], requires = "year")]
    pub format: Option<ArticleFormat>,
    /// What to print next to the article.
    #[arg(long, value_enum, default_value_t = Beside::Latest)]
    pub beside: Beside,
}

impl ReferenceArgs {
    /// As asked for, by `--format` or by a flag of its own.
    pub fn article_format(&self) -> ArticleFormat {
        match (self.format, self.json, self.markdown) {
            (Some(format), ..) => format,
            (None, true, _) => ArticleFormat::Json,
            (None, false, true) => ArticleFormat::Markdown,
            (None, false, false) => ArticleFormat::Text,
        }
    }
}

/// How an article is printed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArticleFormat {
    /// Tables for a terminal.
    Text,
    /// For a wiki or a bug report.
    Markdown,
    /// For a forum: tables as text of even width.
    Bbcode,
    /// One JSON document.
    Json,
}

/// What is printed next to an article's table.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beside {
    /// The latest RUN of each machine in the database, if any.
    Latest,
    /// Nothing.
    Nothing,
}

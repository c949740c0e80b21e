//! Arguments of the everyday commands: `report`, `export`, `import`, `doctor`, `doc`, `schema`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Arguments of `report`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena report\n  fsarena report 3 -o copy.html\n  fsarena \
                        report 3 5 --assets charts\n  fsarena report --identify")]
pub struct ReportArgs {
    /// Numbers or first digits of the ids of RUNs; `latest` where absent.
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// File to write; `-` is standard output. Beside the database where absent.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write each chart as an SVG file into this directory too.
    #[arg(long, value_name = "DIR")]
    pub assets: Option<PathBuf>,
    /// Keep serial numbers and the names of host, user and home directory.
    #[arg(long)]
    pub identify: bool,
}

/// Arguments of `export`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena export > trials.csv\n  fsarena export 3 --format \
                        markdown\n  fsarena export latest --format json -o run.json")]
pub struct ExportArgs {
    /// Number or first digits of the id of a RUN; `latest` where absent.
    pub run: Option<String>,
    /// csv: one row a trial and phase, raw; json: everything, as in `schema run`; markdown:
    /// verdicts and tables for a wiki or a bug report.
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    pub format: Format,
    /// File to write; standard output where absent.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Keep serial numbers and the names of host, user and home directory.
    #[arg(long)]
    pub identify: bool,
}

/// Format of an export.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// One row a trial and phase.
    Csv,
    /// One document.
    Json,
    /// Tables for a wiki.
    Markdown,
}

/// Arguments of `import`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena import fio ext4=a.json xfs=b.json\n  fsarena import \
                        hyperfine times.json")]
pub struct ImportArgs {
    /// Whose records.
    #[command(subcommand)]
    pub from: Foreign,
}

/// Programs whose records can be brought in.
#[derive(Subcommand, Debug)]
pub enum Foreign {
    /// What `fio --output-format=json` printed: one trial a file; files of one label are its
    /// blocks, in the order given.
    #[command(after_help = "Examples:\n  fsarena import fio ext4=a.json xfs=b.json\n  fsarena \
                            import fio ext4=a1.json ext4=a2.json ext4=a3.json xfs=b1.json \
                            xfs=b2.json xfs=b3.json")]
    Fio(FilesArgs),
    /// What `hyperfine --export-json` wrote: one contender a command, one block a run.
    #[command(after_help = "Examples:\n  fsarena import hyperfine times.json\n  fsarena import \
                            hyperfine ext4=e.json xfs=x.json")]
    Hyperfine(FilesArgs),
}

/// Files of another program.
#[derive(Args, Debug)]
pub struct FilesArgs {
    /// Files, each with the label of its contender before it where it has one.
    #[arg(required = true, value_name = "[LABEL=]FILE")]
    pub files: Vec<String>,
    /// SAME means a ratio within this margin, such as 5% or 0.05.
    #[arg(long, value_name = "SHARE")]
    pub margin: Option<String>,
}

/// Arguments of `doctor`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena doctor\n  fsarena doctor /dev/sdb\n  fsarena doctor \
                        /srv/data --all\n  fsarena doctor --noise")]
pub struct DoctorArgs {
    /// A block device or a directory; the machine alone where absent.
    #[arg(value_name = "DEVICE|DIR")]
    pub place: Vec<PathBuf>,
    /// Print the checks that found nothing, too.
    #[arg(long)]
    pub all: bool,
    /// Measure for two minutes how much equal runs differ here, and say the smallest difference
    /// that this machine can see in 10, 30 and 60 minutes.
    #[arg(long)]
    pub noise: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `doc`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  fsarena doc\n  fsarena doc verdict\n  fsarena doc guide | less"
)]
pub struct DocArgs {
    /// The topic; all are listed where absent.
    pub topic: Option<String>,
}

/// Arguments of `schema`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena schema\n  fsarena schema run > run.schema.json")]
pub struct SchemaArgs {
    /// The kind of document; all are listed where absent.
    pub kind: Option<String>,
}

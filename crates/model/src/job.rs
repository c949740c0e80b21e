//! Real work: what is done with a tree or an archive, by a program that people use or by the
//! engine, and on what.
//!
//! Where things lie below the root of the file system under test: the source is `data` (or
//! `data.tar.gz`, where it is an archive), unless it lies elsewhere; what a phase makes bears the
//! name of the phase ([`Job::product`]). All paths are relative to the root.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Name of the source of a workload, as `of` says it and as it lies below the root.
pub const DATA: &str = "data";

/// Where programs that do the work are looked for, with colons in between, and their `PATH`: not
/// the user's, because the same machine must give the same program to everybody.
pub const PROGRAM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What a phase of real work does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// What is done.
    pub kind: JobKind,
    /// Who does it.
    pub by: By,
    /// What it is done with: [`DATA`], or the name of an earlier phase that made something.
    pub of: String,
}

/// A kind of real work.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum JobKind {
    /// `cp -a`: a tree copied into a new one.
    Copy,
    /// `rm -rf`: a tree or file removed.
    Delete,
    /// `tar -x`: an archive unpacked into a new directory.
    Untar {
        /// How the archive is compressed.
        compression: Compression,
    },
    /// `tar -c`: a tree packed into a new archive.
    Archive {
        /// How the archive is compressed.
        compression: Compression,
    },
    /// `flac --best`: every wav file of a tree encoded into a new directory.
    Flac,
    /// `oggenc -q 10`: every wav file of a tree encoded into a new directory.
    Ogg,
    /// `make`: a generated tree of C built into a new directory.
    Compile {
        /// Compilers that run at once (`make -j`).
        jobs: u32,
    },
    /// A shell command of the user's.
    Command(Command),
}

/// A shell command with its hooks; `{mnt}` is the root of the file system under test, `{data}` the
/// source. Each is run by `sh -c` with the root as its working directory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// What is timed.
    pub run: String,
    /// Run before it, and before the caches are made cold; not timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// Run after it, not timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cleanup: Option<String>,
    /// Programs that have to be there; their paths and versions are recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
}

impl Command {
    /// All that is run of it by a shell, in its order. Whoever asks for consent or looks for
    /// programs takes them from here, so that none is forgotten.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let Self { run, prepare, cleanup, programs: _ } = self;
        [prepare.as_ref(), Some(run), cleanup.as_ref()].into_iter().flatten().map(String::as_str)
    }
}

/// Who does the work.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The program that people use.
    #[default]
    Program,
    /// The engine: the same kind of calls, without the program's own cost.
    Engine,
}

names!(By.name { Program = "program", Engine = "engine" });

/// Compression of an archive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// None: a plain tar.
    None,
    /// gzip.
    Gzip,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
    /// zstd.
    Zstd,
}

names!(Compression.name {
    None = "none", Gzip = "gzip", Bzip2 = "bzip2", Xz = "xz", Zstd = "zstd",
});

impl Compression {
    /// Ending of an archive: `tar.gz`.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::None => "tar",
            Self::Gzip => "tar.gz",
            Self::Bzip2 => "tar.bz2",
            Self::Xz => "tar.xz",
            Self::Zstd => "tar.zst",
        }
    }

    /// The program that compresses; absent where nothing is compressed.
    #[must_use]
    pub fn program(self) -> Option<&'static str> {
        (self != Self::None).then(|| self.name())
    }
}

/// Whether a copy may share blocks with what is copied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reflink {
    /// Never: every byte is written.
    #[default]
    Never,
    /// Where the file system can.
    Auto,
    /// Always; a file system that cannot fails.
    Always,
}

names!(Reflink.name { Never = "never", Auto = "auto", Always = "always" });

impl Job {
    /// A job of a program on `of`.
    #[must_use]
    pub fn new(kind: JobKind, of: &str) -> Self {
        Self { kind, by: By::Program, of: of.to_owned() }
    }

    /// What a phase called `name` makes, relative to the root; nothing where it makes nothing of
    /// its own (a command makes what it likes).
    #[must_use]
    pub fn product(&self, name: &str) -> Option<String> {
        match &self.kind {
            JobKind::Delete | JobKind::Command(_) => None,
            JobKind::Archive { compression } => Some(format!("{name}.{}", compression.ending())),
            _ => Some(name.to_owned()),
        }
    }

    /// Programs that do it; none where the engine does.
    #[must_use]
    pub fn programs(&self) -> Vec<&str> {
        if self.by == By::Engine {
            return Vec::new();
        }
        match &self.kind {
            JobKind::Copy => vec!["cp"],
            JobKind::Delete => vec!["rm"],
            JobKind::Untar { compression } | JobKind::Archive { compression } => {
                ["tar"].into_iter().chain(compression.program()).collect()
            }
            JobKind::Flac => vec!["flac"],
            JobKind::Ogg => vec!["oggenc"],
            JobKind::Compile { .. } => vec!["make", "cc"],
            JobKind::Command(command) => {
                ["sh"].into_iter().chain(command.programs.iter().map(String::as_str)).collect()
            }
        }
    }
}

kinds!(
    /// Its name in files and tables.
    JobKind.name {
        Copy = "copy",
        Delete = "delete",
        Untar = "untar",
        Archive = "archive",
        Flac = "flac",
        Ogg = "ogg",
        Compile = "compile",
        Command = "command",
    }
);

/// The Debian package that brings a program of [`Job::programs`], where it is known.
#[must_use]
pub fn package_of(program: &str) -> Option<&'static str> {
    Some(match program {
        "cp" | "rm" => "coreutils",
        "sh" => "dash",
        "tar" => "tar",
        "gzip" => "gzip",
        "bzip2" => "bzip2",
        "xz" => "xz-utils",
        "zstd" => "zstd",
        "flac" => "flac",
        "oggenc" => "vorbis-tools",
        "make" => "make",
        "cc" => "gcc",
        _ => return None,
    })
}

/// What real work is done with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Name in tables: that of the dataset, or of the user's path.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Where it lies while the work is done.
    pub place: SourcePlace,
    /// How it is compressed, where it is an archive; absent: it is a tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive: Option<Compression>,
    /// What is in it (in the tree, also where it is packed).
    pub contents: Contents,
}

impl Source {
    /// Its name below the root, or in the stage: `data`, `data.tar.gz`.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.archive.map_or_else(|| DATA.to_owned(), |kind| format!("{DATA}.{}", kind.ending()))
    }

    /// Whether it is made or copied once a RUN, outside the file system under test: archives, whose
    /// compression takes long, and what does not lie on the file system under test. The user's own
    /// that stays where it is needs no stage.
    #[must_use]
    pub fn is_staged(&self) -> bool {
        match (&self.origin, self.place) {
            (Origin::Made { .. }, SourcePlace::Same) => self.archive.is_some(),
            (Origin::Own { .. }, SourcePlace::Same | SourcePlace::Other) => false,
            (_, SourcePlace::Memory) | (Origin::Made { .. }, SourcePlace::Other) => true,
        }
    }
}

/// Where a source comes from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Origin {
    /// Generated by `fsarena-corpus`.
    Made {
        /// The description, TOML, as scaled: it has a `scale` key where that is not 1.
        description: String,
    },
    /// The user's own.
    Own {
        /// A directory or an archive.
        path: PathBuf,
    },
}

/// Where a source lies while the work is done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourcePlace {
    /// On the file system under test.
    #[default]
    Same,
    /// On another file system: in the directory of images, or where the user has it.
    Other,
    /// In memory.
    Memory,
}

names!(SourcePlace.name { Same = "same", Other = "other", Memory = "memory" });

/// What a tree holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contents {
    /// Regular files; names of one inode count each.
    pub files: u64,
    /// Directories, its root not among them.
    pub dirs: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Bytes of the files: their lengths, or what is stored of them where that is less.
    pub bytes: u64,
    /// Bytes of the files, each rounded up to blocks of 4 KiB.
    pub block_bytes: u64,
    /// Size of the largest file, bytes.
    pub largest_bytes: u64,
    /// Length of the longest path below the root of the tree, bytes.
    pub longest_path_bytes: u64,
    /// Size of the archive, where it is one that is there already; else a guess is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_bytes: Option<u64>,
}

impl Contents {
    /// Files, directories and symbolic links.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.files + self.dirs + self.symlinks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_programs() {
        let untar = Job::new(JobKind::Untar { compression: Compression::Bzip2 }, DATA);
        assert_eq!(untar.product("unpack").as_deref(), Some("unpack"));
        assert_eq!(untar.programs(), ["tar", "bzip2"]);
        let archive = Job::new(JobKind::Archive { compression: Compression::Gzip }, "unpack");
        assert_eq!(archive.product("pack").as_deref(), Some("pack.tar.gz"));
        assert_eq!(Job::new(JobKind::Delete, "unpack").product("delete"), None);
        assert_eq!(Job { by: By::Engine, ..untar.clone() }.programs(), Vec::<&str>::new());
        for program in untar.programs().into_iter().chain(archive.programs()) {
            assert!(package_of(program).is_some(), "{program}");
        }
    }

    #[test]
    fn stages() {
        let made = Origin::Made { description: String::new() };
        let own = Origin::Own { path: "/data".into() };
        let source = |origin: &Origin, place, archive| Source {
            name: "x".to_owned(),
            origin: origin.clone(),
            place,
            archive,
            contents: Contents::default(),
        };
        let gzip = Some(Compression::Gzip);
        assert!(!source(&made, SourcePlace::Same, None).is_staged());
        assert!(source(&made, SourcePlace::Same, gzip).is_staged());
        assert!(source(&made, SourcePlace::Other, None).is_staged());
        assert!(!source(&own, SourcePlace::Other, gzip).is_staged());
        assert!(source(&own, SourcePlace::Memory, None).is_staged());
        assert_eq!(source(&made, SourcePlace::Same, gzip).file_name(), "data.tar.gz");
    }
}

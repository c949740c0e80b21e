//! Operations of a phase.

use serde::{Deserialize, Serialize};

/// One operation of a phase.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Op {
    /// open(`O_CREAT|O_WRONLY|O_EXCL`), write, close; one op a file.
    Create,
    /// open(`O_RDONLY`), read, close; one op a file.
    Read,
    /// stat; one op a file.
    Stat,
    /// unlink; one op a file.
    Delete,
    /// Each file written from its start to its end; one op a write call.
    BigWrite,
    /// Each file read from its start to its end; one op a read call.
    BigRead,
    /// open(`O_WRONLY`), written over in place from start to end, close; one op a file.
    Overwrite,
    /// open(`O_WRONLY|O_APPEND`), one write of the block size, close; one op a file.
    Append,
    /// rename within its directory; one op a file.
    Rename,
    /// mkdir, from the root to the leaves; one op a directory.
    Mkdir,
    /// rmdir, from the leaves to the root; one op a directory.
    Rmdir,
    /// open of a directory, getdents64 to its end, close; one op a directory.
    List,
    /// Each file written over in place from start to end; one op a write call.
    BigOverwrite,
    /// Blocks of the files read in random order; one op a block.
    #[serde(rename = "randread")]
    RandRead,
    /// Blocks of the files written over in random order; one op a block.
    #[serde(rename = "randwrite")]
    RandWrite,
    /// Random reads and writes in a stated mixture; one op a block.
    #[serde(rename = "randrw")]
    RandRw,
    /// A job of a fio job file.
    Fio,
    /// Real work on a tree or an archive; what, the phase's job says.
    Job,
    /// Many files updated every period; how, the phase's cycle says. One op a file and cycle.
    Cycle,
    /// The work of an application that is not ours, watched from beside.
    Watched,
}

impl Op {
    /// Every op of the engine, in the order of documentation.
    pub const ALL: [Self; 17] = [
        Self::Create,
        Self::Read,
        Self::Overwrite,
        Self::Append,
        Self::Stat,
        Self::Rename,
        Self::Delete,
        Self::Mkdir,
        Self::List,
        Self::Rmdir,
        Self::BigWrite,
        Self::BigRead,
        Self::BigOverwrite,
        Self::RandRead,
        Self::RandWrite,
        Self::RandRw,
        Self::Cycle,
    ];

    /// Its name in files and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::Stat => "stat",
            Self::Delete => "delete",
            Self::BigWrite => "big-write",
            Self::BigRead => "big-read",
            Self::Overwrite => "overwrite",
            Self::Append => "append",
            Self::Rename => "rename",
            Self::Mkdir => "mkdir",
            Self::Rmdir => "rmdir",
            Self::List => "list",
            Self::BigOverwrite => "big-overwrite",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::RandRw => "randrw",
            Self::Fio => "fio",
            Self::Job => "job",
            Self::Cycle => "cycle",
            Self::Watched => "watched",
        }
    }

    /// Whether it makes the files of the dataset.
    #[must_use]
    pub fn creates(self) -> bool {
        matches!(self, Self::Create | Self::BigWrite)
    }

    /// Whether the files must be there before the phase.
    #[must_use]
    pub fn needs_files(self) -> bool {
        !self.creates()
            && !matches!(self, Self::Mkdir | Self::Rmdir | Self::Fio | Self::Job | Self::Watched)
    }

    /// Whether contents are moved, so that a rate in bytes means something.
    #[must_use]
    pub fn moves_bytes(self) -> bool {
        self.reads() || self.writes()
    }

    /// Whether contents are written.
    #[must_use]
    pub fn writes(self) -> bool {
        self.creates()
            || matches!(
                self,
                Self::Overwrite
                    | Self::Append
                    | Self::BigOverwrite
                    | Self::RandWrite
                    | Self::RandRw
                    | Self::Fio
                    | Self::Job
                    | Self::Cycle
            )
    }

    /// Whether contents are read.
    #[must_use]
    pub fn reads(self) -> bool {
        matches!(
            self,
            Self::Read | Self::BigRead | Self::RandRead | Self::RandRw | Self::Fio | Self::Job
        )
    }

    /// Whether an op is one call in a file, not a whole file or directory.
    #[must_use]
    pub fn is_big(self) -> bool {
        matches!(self, Self::BigWrite | Self::BigRead | Self::BigOverwrite) || self.is_random()
    }

    /// Whether it goes over the blocks of its files in random order by itself.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw)
    }

    /// Whether it works on directories, not on files.
    #[must_use]
    pub fn is_about_dirs(self) -> bool {
        matches!(self, Self::Mkdir | Self::Rmdir | Self::List)
    }
}

//! Texts of the experiments, workloads and purposes that are part of the program: one file each,
//! one line each here. Nothing is read here.

/// A file that is part of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Builtin {
    /// Name, as in `fsarena run NAME` or `--workload NAME`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! builtin {
    ($folder:literal, $name:literal) => {
        Builtin {
            name: $name,
            text: include_str!(concat!("../../../", $folder, "/", $name, ".toml")),
        }
    };
}

/// The experiments.
pub const EXPERIMENTS: &[Builtin] = &[
    builtin!("experiments", "quick"),
    builtin!("experiments", "quick-all"),
    builtin!("experiments", "2003-linux-vs-freebsd"),
    builtin!("experiments", "2003-ext3-directory-index"),
    builtin!("experiments", "2003-reliability"),
    builtin!("experiments", "2005-file-operations"),
    builtin!("experiments", "2007-ufs-block-fragment"),
    builtin!("experiments", "2008-all-against-all"),
    builtin!("experiments", "2008-32-against-64"),
    builtin!("experiments", "2010-ssd-ext4-journal"),
    builtin!("experiments", "2010-writeback-safety"),
    builtin!("experiments", "small-devices"),
    builtin!("experiments", "io500-like"),
];

/// The workloads.
pub const WORKLOADS: &[Builtin] = &[
    builtin!("experiments/workloads", "small-files"),
    builtin!("experiments/workloads", "tiny-files"),
    builtin!("experiments/workloads", "big-file"),
    builtin!("experiments/workloads", "metadata-threads"),
    builtin!("experiments/workloads", "metadata-calls"),
    builtin!("experiments/workloads", "allocate"),
    builtin!("experiments/workloads", "fsync-latency"),
    builtin!("experiments/workloads", "random-io"),
    builtin!("experiments/workloads", "mail-server"),
    builtin!("experiments/workloads", "database"),
    builtin!("experiments/workloads", "vm-images"),
    builtin!("experiments/workloads", "backup"),
    builtin!("experiments/workloads", "backup-streams"),
    builtin!("experiments/workloads", "cycle"),
    builtin!("experiments/workloads", "copy"),
    builtin!("experiments/workloads", "delete"),
    builtin!("experiments/workloads", "untar"),
    builtin!("experiments/workloads", "archive"),
    builtin!("experiments/workloads", "flac"),
    builtin!("experiments/workloads", "ogg"),
    builtin!("experiments/workloads", "compile"),
];

/// The purposes.
pub(crate) const PURPOSES: &[Builtin] = &[
    builtin!("experiments/purposes", "mail"),
    builtin!("experiments/purposes", "vm"),
    builtin!("experiments/purposes", "backup"),
    builtin!("experiments/purposes", "database"),
    builtin!("experiments/purposes", "build"),
    builtin!("experiments/purposes", "desktop"),
];

/// Whether a place in a file of this name is in one that is part of the program.
pub(crate) fn is_builtin(file: &str) -> bool {
    let mut all = EXPERIMENTS.iter().chain(WORKLOADS).chain(PURPOSES);
    all.any(|builtin| builtin.name == file)
}

/// Names of the experiments.
#[must_use]
pub fn experiment_names() -> Vec<&'static str> {
    EXPERIMENTS.iter().map(|builtin| builtin.name).collect()
}

/// Names of the workloads.
#[must_use]
pub fn workload_names() -> Vec<&'static str> {
    WORKLOADS.iter().map(|builtin| builtin.name).collect()
}

//! The files of `kernel/`, carried inside the program as data. They have a licence of their own
//! (GPL-2.0), and are handed to `patch` and `make` alone.

/// A file that is put into the source.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// Name of a patch, or path in the source.
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! embedded {
    ($dir:literal, $($name:literal),+ $(,)?) => {
        &[$(Embedded {
            name: $name,
            text: include_str!(concat!("../../../../kernel/", $dir, $name)),
        }),+]
    };
}

/// Changes of Linux 6.1 to 6.8, in their order.
pub const PATCHES_6_1: &[Embedded] = embedded!(
    "patches/6.1/",
    "0001-um-size-of-the-saved-state-of-the-CPU.patch",
    "0002-um-random-numbers-of-a-seed.patch",
    "0003-um-price-of-a-system-call.patch",
    "0004-um-choice-of-HZ.patch",
    "0005-um-guest-processes-end-with-the-kernel.patch",
    "0006-um-vdisk-block-driver.patch",
    "0007-um-reclaim-takes-time.patch",
    "0008-um-yield-takes-time.patch",
    "0009-um-crc32c-by-the-processor.patch",
    "0010-um-strings-by-the-processor.patch",
    "0011-um-floating-point-state-where-it-changed.patch",
);

/// Changes of Linux 6.11 and later.
pub const PATCHES_6_12: &[Embedded] = embedded!(
    "patches/6.12/",
    "0001-um-size-of-the-saved-state-of-the-CPU.patch",
    "0002-um-random-numbers-of-a-seed.patch",
    "0003-um-price-of-a-system-call.patch",
    "0004-um-choice-of-HZ.patch",
    "0005-um-guest-processes-end-with-the-kernel.patch",
    "0006-um-vdisk-block-driver.patch",
    "0007-um-reclaim-takes-time.patch",
    "0008-um-yield-takes-time.patch",
    "0009-um-crc32c-by-the-processor.patch",
    "0010-um-strings-by-the-processor.patch",
    "0011-um-floating-point-state-where-it-changed.patch",
);

/// New files.
pub const OVERLAY: &[Embedded] = embedded!(
    "overlay/",
    "arch/um/drivers/crc32c.c",
    "arch/um/drivers/vdisk.h",
    "arch/um/drivers/vdisk_kern.c",
    "arch/um/drivers/vdisk_user.c",
);

/// Options that every guest kernel has.
pub const BASE_CONFIG: &str = include_str!("../../../../kernel/config/base.config");
/// File systems and devices of the full kernel.
pub const FULL_CONFIG: &str = include_str!("../../../../kernel/config/full.config");
/// Those of the trimmed one.
pub const TRIMMED_CONFIG: &str = include_str!("../../../../kernel/config/trimmed.config");
/// Options that not every source has.
pub const OPTIONAL_CONFIG: &str = include_str!("../../../../kernel/config/optional.config");

#[cfg(test)]
mod tests {
    use super::*;

    /// `series` is for people and for quilt; both lists are one.
    #[test]
    fn the_lists_are_those_of_the_series_files() {
        let names = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let of = |all: &[Embedded]| all.iter().map(|one| one.name.to_owned()).collect::<Vec<_>>();
        assert_eq!(of(PATCHES_6_1), names(include_str!("../../../../kernel/patches/6.1/series")));
        assert_eq!(of(PATCHES_6_12), names(include_str!("../../../../kernel/patches/6.12/series")));
    }
}

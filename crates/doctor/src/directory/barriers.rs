//! Mount options that trade safety for speed, or speed for safety.

use crate::check::Said;
use crate::scene::{Directory, Scene};

/// Option, its value where one is meant, and what it does.
const UNSAFE: [(&str, &str, &str); 7] = [
    ("nobarrier", "", "nobarrier: no flush of the disk's cache"),
    ("barrier", "0", "barrier=0: no flush of the disk's cache"),
    ("barrier", "none", "barrier=none: no flush of the disk's cache"),
    ("data", "writeback", "data=writeback: names of files may be durable before their contents"),
    ("norecovery", "", "norecovery: the journal is not replayed"),
    ("notreelog", "", "notreelog: each fsync commits the whole tree"),
    ("fsync_mode", "nobarrier", "fsync_mode=nobarrier: fsync does not flush the disk's cache"),
];
/// The same for options that write more than usual.
const SLOW: [(&str, &str, &str); 1] =
    [("data", "journal", "data=journal: all contents are written twice")];

pub(crate) fn look(_: &Scene, dir: &Directory) -> Option<Said> {
    let in_force = |list: &[(&str, &str, &'static str)]| -> Vec<&'static str> {
        let set = |&&(name, value, _): &&(&str, &str, &str)| dir.option(name) == Some(value);
        list.iter().filter(set).map(|(_, _, what)| *what).collect()
    };
    let (unsafe_ones, slow) = (in_force(&UNSAFE), in_force(&SLOW));
    let reading = [unsafe_ones.as_slice(), slow.as_slice()].concat().join("; ");
    let remedy = "mount without it, or make it a level that the other contenders have, too";
    Some(if !unsafe_ones.is_empty() {
        Said::warning(reading, "its figures are of another promise than those of usual mounts")
            .remedy(remedy)
    } else if !slow.is_empty() {
        Said::note(reading, "its figures are of a stronger promise than those of usual mounts")
            .remedy(remedy)
    } else {
        Said::fine("no option changes what is promised of written data")
    })
}

#[cfg(test)]
mod tests {
    use crate::stage::directory;

    #[test]
    fn options() {
        let said = |options: &str| directory("promises", "ext4", options).unwrap();
        assert_eq!(said("rw,relatime / rw,data=ordered").0, "fine");
        assert_eq!(said("rw / rw,nobarrier").0, "warning");
        assert_eq!(said("rw / rw,barrier=1").0, "fine");
        assert_eq!(said("rw / rw,barrier=0").0, "warning");
        assert_eq!(said("rw / rw,data=journal").0, "note");
        let both = said("rw / rw,nobarrier,data=writeback");
        assert!(
            both.1.starts_with("nobarrier: ") && both.1.contains("; data=writeback: "),
            "{both:?}"
        );
    }
}

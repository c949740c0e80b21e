//! What is private is so under every umask, which is one of the whole process: so it is a process
//! of its own that changes it.

use fsarena_process::private::{PrivateListener, create_dir, create_dirs, create_file, temp_dir};
use rustix::fs::Mode;
use rustix::process::umask;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

fn mode(path: &Path) -> u32 {
    path.metadata().expect("it is there").mode() & 0o7777
}

#[test]
fn nobody_else_gets_in_whatever_the_umask() {
    let dir = tempfile::tempdir().unwrap();
    for mask in [0o000, 0o002, 0o022, 0o077, 0o277] {
        let at = |name: &str| dir.path().join(format!("{mask:03o}-{name}"));
        umask(Mode::from_raw_mode(mask));
        create_dir(&at("one")).unwrap();
        assert!(create_dir(&at("one")).is_err(), "it is there");
        create_dirs(&at("a").join("b")).unwrap();
        create_dirs(&at("a").join("b")).unwrap();
        drop(create_file(&at("file")).unwrap());
        drop(PrivateListener::bind(&at("socket")).unwrap());
        let temporary = temp_dir(dir.path(), "fsarena-").unwrap();
        for path in [at("one"), at("a"), at("a").join("b")] {
            assert_eq!(mode(&path), 0o700, "{}", path.display());
        }
        for path in [at("file"), at("socket"), temporary.path().to_owned()] {
            assert_eq!(mode(&path) & 0o077, 0, "{} under {mask:03o}", path.display());
        }
    }
}

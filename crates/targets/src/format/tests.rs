//! What making and mounting promise that can be seen without a device.

use super::*;
use crate::fs::driver;

#[test]
fn no_configuration_of_the_machine_decides_how_ext_is_made() {
    for name in ["ext2", "ext3", "ext4"] {
        let driver = driver(&FsLevel::plain(name)).unwrap();
        let args = ["-c", "echo $MKE2FS_CONFIG"].map(str::to_owned);
        let ran = run_tool(&*driver, "/bin/sh", &args).unwrap();
        assert_eq!(ran.stdout, "/nonexistent\n", "{name}");
    }
}

#[test]
fn a_directory_that_is_not_ours_is_not_emptied() {
    let dir = tempfile::tempdir().unwrap();
    let theirs = dir.path().join("my-fsarena-results");
    std::fs::create_dir(&theirs).unwrap();
    std::fs::write(theirs.join("file"), "").unwrap();
    let driver = driver(&FsLevel::plain("directory")).unwrap();
    let target = TargetSpec::Directory { path: theirs.clone() };
    let level = FsLevel::plain("directory");
    let error = format(&target, &*driver, &level, Discard::None).unwrap_err();
    assert!(error.to_string().contains("left alone"), "{error}");
    assert!(theirs.join("file").exists());
}

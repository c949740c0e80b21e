//! `fsarena bundle`: a RUN that is passed on in one file, and checked by somebody else.

use crate::support::{TestEnv, assert_nothing_left, sh};
use fsarena_bundle::{Contents, Part, SUMS, pack, unpack};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A RUN of two directories that asks something.
fn with_run() -> TestEnv {
    let env = TestEnv::new();
    let (one, two) = (env.make_dir("one"), env.make_dir("two"));
    let on = format!("{one},{two}");
    let run = ["run", "--workload", "small-files", "--scale", "0.01", "--runs", "3", "--on", &on];
    env.run(&[&run[..], &["--sample-period", "0s"]].concat()).good();
    env
}

/// The bundle of the latest RUN, at a name of its own.
fn bundled(env: &TestEnv, more: &[&str]) -> PathBuf {
    let path = env.path("paper.tar.zst");
    let output = path.display().to_string();
    let ran = env.run(&[&["bundle", "latest", "-o", &output][..], more].concat()).good();
    ran.says(&["bundle: ", "fsarena bundle check"]);
    path
}

fn check(env: &TestEnv, bundle: &Path) -> crate::support::Ran {
    env.run(&["bundle", "check", &bundle.display().to_string()])
}

/// The files of a bundle, each changed by `change`, as a bundle with hashes of their own.
fn changed(env: &TestEnv, bundle: &Path, change: impl Fn(&str, String) -> String) -> PathBuf {
    let dir = tempfile::tempdir().unwrap();
    let unpacked = unpack(File::open(bundle).unwrap(), dir.path()).unwrap();
    let part = |name: &String| {
        let path = dir.path().join(name);
        let contents = match fs::read_to_string(&path) {
            Ok(text) => Contents::Bytes(change(name, text).into_bytes()),
            Err(_) => Contents::File(path),
        };
        Part { name: name.clone(), contents }
    };
    let parts: Vec<Part> = unpacked.names.iter().map(part).collect();
    let path = env.path("changed.tar.zst");
    pack(File::create(&path).unwrap(), ("x", 7), &parts).unwrap();
    path
}

#[test]
fn a_bundle_is_checked_where_the_run_was_never_seen() {
    let env = with_run();
    let bundle = bundled(&env, &[]);
    let other = TestEnv::new();
    check(&other, &bundle).good().says(&["the same", "6 trials", "verdicts recomputed"]);
    assert!(!other.db().exists(), "a check stores nothing");
    let dir = tempfile::tempdir().unwrap();
    let unpacked = unpack(File::open(&bundle).unwrap(), dir.path()).unwrap();
    for name in ["README.txt", "results.db", "report.html", "report.md", "trials.csv"] {
        assert!(unpacked.names.iter().any(|own| own == name), "{name}: {:?}", unpacked.names);
    }
    for begin in ["figures/small-files-create-", "tables/figures-"] {
        assert!(unpacked.names.iter().any(|own| own.starts_with(begin)), "{begin}");
    }
    sh(&format!("cd '{}' && sha256sum --quiet -c {SUMS}", dir.path().display()));
    // The database is one that others take.
    let database = dir.path().join("results.db").display().to_string();
    other.run(&["merge", &database]).good().says(&["1 RUN taken"]);
    other.run(&["show", "latest"]).good().says(&["small-files"]);
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let secrets = [boot.trim(), &*env.path("").display().to_string()].map(str::to_owned);
    for name in &unpacked.names {
        let bytes = fs::read(dir.path().join(name)).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(&secrets[0]), "{name} has the boot of this machine");
    }
    assert_nothing_left(&env);
}

#[test]
fn what_was_changed_in_a_bundle_is_found() {
    let env = with_run();
    let bundle = bundled(&env, &["--identify"]);
    let nothing = changed(&env, &bundle, |_, text| text);
    check(&env, &nothing).good().says(&["the same"]);
    let verdict = changed(&env, &bundle, |name, text| match name {
        "verdicts.json" => text.replacen("\"verdict\": \"", "\"verdict\": \"not-", 1),
        _ => text,
    });
    check(&env, &verdict).code(1).says(&["DIFFERS", "verdicts.json: questions[0].pairs[0]"]);
    let trials = changed(&env, &bundle, |name, text| match name {
        "trials.csv" => text.replacen("create", "delete", 1),
        _ => text,
    });
    check(&env, &trials).code(1).says(&["trials.csv: line 2 is not what the records say"]);
    let bytes = fs::read(&bundle).unwrap();
    let cut = env.path("cut.tar.zst");
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    check(&env, &cut).code(1).says(&["cut.tar.zst: ", "no bundle of fsarena, or a damaged one"]);
    check(&env, &env.db()).code(1).says(&["no bundle of fsarena"]);
    check(&env, &env.path("nowhere")).code(1).says(&["nowhere: cannot be read"]);
}

#[test]
fn what_cannot_be_bundled_is_refused() {
    let env = TestEnv::new();
    env.run(&["bundle"]).code(2).says(&["there is no database yet"]);
    let env = with_run();
    env.run(&["bundle", "99"]).code(1).says(&["\"99\": no such RUN"]);
    let dir = env.make_dir("full");
    let ran = env.run(&["bundle", "-o", &dir]);
    assert_ne!(ran.code, Some(0));
    ran.says(&["full: "]);
}

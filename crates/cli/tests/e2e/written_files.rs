//! Every file that is written for people, of a RUN with hidden characters in all its texts: none of
//! them is in a file as it is.

use crate::bad_database::{assert_visible, store_hidden};
use crate::support::TestEnv;
use fsarena_bundle::unpack;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// How files come to be written.
const CALLS: &[&str] = &[
    "output_file::write",
    "NewFile::begin(",
    "fs::write(",
    "File::create",
    "private::create_file(",
    ".create_new(true)",
    ".tempfile_in(",
];

/// The files of the program that write, and what they write. Who adds one says which test below
/// makes it, or what it is that is no text of a RUN.
const WRITERS: &[(&str, &str)] = &[
    ("cli/src/commands/alike.rs", "an experiment of its own"),
    ("cli/src/commands/article.rs", "article"),
    ("cli/src/commands/bundle/write.rs", "bundle"),
    ("cli/src/commands/chart_files.rs", "report --assets"),
    ("cli/src/commands/crash_states.rs", "an image of a disk"),
    ("cli/src/commands/dataset/write.rs", "contents of a dataset"),
    ("cli/src/commands/describe.rs", "manual pages of its own"),
    ("cli/src/commands/device_model.rs", "a chart, by the one way of texts"),
    ("cli/src/commands/history.rs", "history"),
    ("cli/src/commands/machine.rs", "an experiment of its own"),
    ("cli/src/commands/open.rs", "an empty database"),
    ("cli/src/commands/output_file.rs", "the one way of texts, and pictures"),
    ("cli/src/commands/report.rs", "report, export"),
    ("fleet/src/gather.rs", "a database as it came"),
    ("fleet/src/session.rs", "a database as it came"),
];

/// Names of the files in `dir` that write, from `crates` on.
fn writers(dir: &Path, crates: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            writers(&path, crates, found);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let program = text.split("#[cfg(test)]").next().unwrap_or_default();
        if CALLS.iter().any(|call| program.contains(call)) {
            found.push(path.strip_prefix(crates).unwrap().display().to_string());
        }
    }
}

#[test]
fn all_writers_are_known() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for own in ["cli/src", "fleet/src"] {
        writers(&crates.join(own), crates, &mut found);
    }
    found.sort();
    let known: Vec<&str> = WRITERS.iter().map(|(file, _)| *file).collect();
    assert_eq!(found, known, "what does each write, and which test here makes it?");
}

/// Nothing hidden is in a file, or in those below a directory; pictures and databases are no texts.
/// How many texts there were.
fn assert_files_visible(path: &Path) -> usize {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap().flatten();
        return entries.map(|entry| assert_files_visible(&entry.path())).sum();
    }
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    if ["png", "pdf", "db"].contains(&end) {
        return 0;
    }
    println!("{}", path.display());
    assert_visible(&fs::read_to_string(path).unwrap(), false);
    1
}

/// A RUN with hidden characters, and a place for what is written of it.
fn hidden() -> (TestEnv, PathBuf) {
    let env = TestEnv::new();
    store_hidden(&env);
    let place = env.path("written");
    fs::create_dir(&place).unwrap();
    (env, place)
}

#[test]
fn of_reports_exports_and_articles() {
    let (env, place) = hidden();
    let path = |name: &str| place.join(name).display().to_string();
    for (command, name) in [
        (&["export"][..], "x.csv"),
        (&["export", "--format", "json"], "x.json"),
        (&["export", "--format", "json", "--raw"], "raw.json"),
        (&["export", "--format", "markdown"], "x.md"),
        (&["export", "--identify"], "own.csv"),
        (&["report"], "x.html"),
        (&["report", "--identify"], "own.html"),
        (&["article"], "article"),
        (&["article", "--lang", "ru", "--identify"], "article-ru"),
    ] {
        let ran = env.run(&[command, &["-o", &path(name)]].concat()).good();
        assert_visible(&ran.stderr, false);
        assert!(assert_files_visible(&place.join(name)) > 0, "{name}");
    }
    env.run(&["report", "-o", &path("y.html"), "--assets", &path("charts")]).good();
    assert!(assert_files_visible(&place.join("charts")) > 0);
    // Where it has nothing to draw it says so.
    env.run(&["history", "-o", &path("history.svg")]);
    assert_files_visible(&place);
}

#[test]
fn of_a_bundle() {
    let (env, place) = hidden();
    for more in [&[][..], &["--identify"]] {
        let bundle = env.path("x.tar.zst");
        let output = bundle.display().to_string();
        env.run(&[&["bundle", "-o", &output][..], more].concat()).good();
        let dir = place.join(format!("unpacked{}", more.len()));
        fs::create_dir(&dir).unwrap();
        let unpacked = unpack(File::open(&bundle).unwrap(), &dir).unwrap();
        assert_eq!(unpacked.wrong, [""; 0]);
        let texts = assert_files_visible(&dir);
        assert!(texts > 6, "{:?}", unpacked.names);
        let checked = env.run(&["bundle", "check", &output]).good();
        assert_visible(&checked.stdout, false);
    }
}

//! Records of other programs come in and RUNs go out: `import` and `export`.

use crate::support::{TestEnv, assert_nothing_left};
use fsarena_model::run::RunState;
use fsarena_store::{RunId, Store};
use serde_json::Value;
use std::fs;

/// What hyperfine writes of two commands; the second takes half as long again.
fn hyperfine(env: &TestEnv, name: &str) -> String {
    let times = |base: f64| -> Vec<f64> {
        [0.99, 1.01, 1.0, 1.02, 0.98, 1.0].iter().map(|factor| base * factor).collect()
    };
    let one = |command: &str, base: f64| {
        serde_json::json!({ "command": command, "times": times(base), "exit_codes": vec![0; 6],
            "user": 0.1, "system": 0.1 })
    };
    let results = [one("cp -r a b", 1.0), one("rsync -a a b", 1.5)];
    env.write(name, &serde_json::json!({ "results": results }).to_string())
}

/// mdtest and IOR print text; what is compared of it is said.
#[test]
fn what_mdtest_and_ior_measured_is_shown() {
    let env = TestEnv::new();
    let row = |rate: f64| {
        format!(
            "SUMMARY rate (in ops/sec): (of 1 iterations)\n File creation {rate} {rate} {rate} 0\n"
        )
    };
    let files: Vec<String> = [("nfs", 100.0), ("local", 200.0)]
        .iter()
        .flat_map(|(label, rate)| {
            let one = |number: u32| (number, row(rate * (1.0 + 0.001 * f64::from(number))));
            (0..4)
                .map(one)
                .map(|(number, text)| {
                    let file = env.write(&format!("{label}{number}.txt"), &text);
                    format!("{label}={file}")
                })
                .collect::<Vec<_>>()
        })
        .collect();
    let words: Vec<&str> = files.iter().map(String::as_str).collect();
    env.run(&[&["import", "mdtest"][..], &words].concat()).good().says(&[
        "local is FASTER than nfs",
        "mdtest prints rates",
        "caches unknown",
        "imported as RUN 1, 8 trials",
    ]);
    let head = "access bw(MiB/s) block(KiB) xfer(KiB) open(s) wr/rd(s) close(s) total(s) iter\n";
    let lines: String = (0..3).map(|at| format!("write 10 1 1 0 0 0 0.{at}5 {at}\n")).collect();
    let file = env.write("ior.txt", &format!("{head}{lines}"));
    let ran = env.run(&["import", "ior", &format!("a={file}")]).good();
    ran.says(&["measured by IOR and not by fsarena", "imported as RUN 2, 3 trials"]);
    env.run(&["import", "ior", &words[0][4..]]).refused(1, &["is not what IOR writes"]);
}

#[test]
fn what_hyperfine_measured_is_shown_studied_compared_and_exported() {
    let env = TestEnv::new();
    let file = hyperfine(&env, "times.json");
    env.run(&["import", "hyperfine", &file]).good().says(&[
        "cp -r a b is FASTER than rsync -a a b",
        "measured by hyperfine and not by fsarena",
        "the machine is not known",
        "imported as RUN 1, 12 trials",
    ]);
    env.run(&["show", "--raw"]).good();
    let study = env.run(&["study", "--json"]).good().stdout;
    let study: Value = serde_json::from_str(&study).unwrap();
    assert_eq!(study["agrees_with_stored_looks"], true);
    assert_eq!(study["questions"][0]["clock"], "returned");
    assert_eq!(study["questions"][0]["pairs"][0]["verdict"], "FASTER");
    env.run(&["list"]).good().says(&["import-hyperfine"]);
    env.run(&["import", "hyperfine", &file]).good();
    env.run(&["compare", "1", "2"]).good();
    env.run(&["run", "--resume=1"]).refused(2, &["RUN 1 is done"]);
    // As where the disk was full in the middle of an import.
    Store::open(&env.db()).unwrap().set_state(RunId(2), RunState::Failed, None).unwrap();
    let resumed = env.run(&["run", "--resume=2"]);
    resumed.refused(2, &["was measured by hyperfine and cannot be run by fsarena"]);

    let csv = env.run(&["export"]).good().stdout;
    assert_eq!(csv.lines().count(), 13);
    let markdown = env.run(&["export", "1", "--format", "markdown"]).good().stdout;
    assert!(markdown.contains("| contender |") && markdown.contains("FASTER"), "{markdown}");
    let out = env.path("run.json").display().to_string();
    env.run(&["export", "1", "--format", "json", "-o", &out]).good();
    let document: Value = serde_json::from_str(&fs::read_to_string(&out).unwrap()).unwrap();
    assert_eq!(document["kind"], "run");
    assert_eq!(document["records"].as_array().unwrap().len(), 12);
    let raw = env.run(&["export", "1", "--format", "json", "--raw"]).good().stdout;
    assert!(raw.contains("\"kind\": \"run\""), "{raw}");
    env.run(&["export", "--raw"]).refused(2, &["--raw: only JSON", "--format json"]);
    let nowhere = env.path("no/such/x.csv").display().to_string();
    env.run(&["export", "-o", &nowhere]).refused(1, &["no/such/x.csv: cannot be written"]);
    assert_nothing_left(&env);
}

#[test]
fn charts_travel_as_files_of_their_own() {
    let env = TestEnv::new();
    env.run(&["import", "hyperfine", &hyperfine(&env, "times.json")]).good();
    let (page, dir) = (env.path("x.html"), env.path("charts"));
    let (page, dir_text) = (page.display().to_string(), dir.display().to_string());
    let report = |more: &[&str]| {
        let arguments = ["report", "1", "-o", &page, "--assets", &dir_text];
        env.run(&[&arguments[..], more].concat())
    };
    report(&["--width", "85"]).refused(2, &["--width: \"85\" is no width", "such as 85mm"]);
    report(&["--width", "85mm"]).good();
    let files = || -> Vec<String> {
        let entries = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name());
        entries.map(|name| name.into_string().unwrap()).collect()
    };
    let drawn = files();
    assert!(drawn.len() > 1, "{drawn:?}");
    let fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
    for name in &drawn {
        assert!(name.ends_with(".svg") && name.chars().all(fit), "{name}");
        let text = fs::read_to_string(dir.join(name)).unwrap();
        assert!(text.contains("width=\"85mm\"") && !text.contains("var("), "{name}: {text}");
    }
    let all = report(&["--assets-format", "pdf,png", "--width", "85mm"]);
    if all.code == Some(0) {
        assert_eq!(files().len(), 3 * drawn.len(), "{:?}", files());
        for name in files().iter().filter(|name| !name.ends_with(".svg")) {
            let bytes = fs::read(dir.join(name)).unwrap();
            // 85 mm at 300 dots an inch; the width is the first number of a PNG.
            let is_whole = match name.ends_with(".png") {
                true => bytes[16..20] == 1004_u32.to_be_bytes(),
                false => bytes.starts_with(b"%PDF"),
            };
            assert!(is_whole, "{name}: {:?}", &bytes[..24]);
        }
    } else {
        println!("not run: rsvg-convert is not installed (librsvg2-bin)");
        all.refused(1, &["rsvg-convert, which is not installed (package librsvg2-bin)"]);
    }
    env.run(&["report", "1", "--width", "85mm"]).code(2).says(&["--assets <DIR>"]);
    env.run(&["reference", "2003", "--run", "1"]).refused(
        2,
        &["--run 1: RUN 1 is of ", "repeats no article", "2010 (2010-ssd-ext4-journal)"],
    );
    assert_nothing_left(&env);
}

#[test]
fn nothing_is_stored_when_a_file_is_bad() {
    let env = TestEnv::new();
    let good = hyperfine(&env, "good.json");
    let cut = env.write("cut.json", "{\"results\": [");
    let long = env.write("long.json", &"what is this? ".repeat(1000));
    for (arguments, words) in [
        (vec!["import", "hyperfine", &good, &cut], "cut.json: is not what hyperfine writes"),
        (vec!["import", "fio", &good], "good.json: is not what fio writes"),
        (vec!["import", "fio", &good], "missing field `fio version` at line 1"),
        (vec!["import", "fio", &long], "long.json: is not what fio writes"),
        (vec!["import", "fio", "ext4=nowhere.json"], "nowhere.json: cannot be read"),
    ] {
        let refused = env.run(&arguments).refused(1, &[words]);
        let said = refused.stderr.trim_end();
        assert!(said.lines().count() == 1 && said.len() < 500, "a whole document: {said}");
    }
    env.run(&["import", "hyperfine", "--margin", "no", &good]).refused(2, &["--margin"]);
    assert!(!env.db().exists(), "a database was made for nothing");
    assert_nothing_left(&env);
}

#[test]
fn names_are_taken_out_of_an_export_unless_they_are_asked_for() {
    let env = TestEnv::new();
    let file = hyperfine(&env, "times.json");
    let text = fs::read_to_string(&file).unwrap().replace("cp -r a", "cp -r /home/zaphod/a");
    fs::write(&file, text).unwrap();
    env.run(&["import", "hyperfine", &file]).good();
    for format in ["csv", "json", "markdown"] {
        let plain = env.run(&["export", "--format", format]).good().stdout;
        assert!(!plain.contains("zaphod") && plain.contains("~/a"), "{format}");
        let named = env.run(&["export", "--format", format, "--identify"]).good().stdout;
        assert!(named.contains("/home/zaphod/a"), "{format}");
    }
    assert_nothing_left(&env);
}

/// The files that the two wrote, as the tests of the parsers have them.
#[test]
fn what_bonnie_and_phoronix_measured_is_shown() {
    let env = TestEnv::new();
    let fixture = |name: &str| {
        format!("{}/../foreign/tests/fixtures/import/{name}", env!("CARGO_MANIFEST_DIR"))
    };
    env.run(&["import", "bonnie", &fixture("bonnie_1.csv")]).good().says(&[
        "seq-create is left out: in 1 of 4 lines it ended too soon to be timed",
        "measured by bonnie++ and not by fsarena",
        "imported as RUN 1, 4 trials",
    ]);
    env.run(&["import", "phoronix", &fixture("phoronix_1.xml")]).good().says(&[
        "spreads look smaller than they are",
        "before is FASTER than after",
        "imported as RUN 2",
    ]);
    env.run(&["import", "phoronix", &fixture("bonnie_1.csv")])
        .refused(1, &["is not what Phoronix Test Suite writes"]);
}

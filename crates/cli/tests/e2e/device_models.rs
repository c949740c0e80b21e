//! `fsarena devices --models` and `--model`: listed, measured beside published figures, drawn, and
//! refused in one sentence.

use crate::support::{TestEnv, assert_nothing_left};
use std::fs;

#[test]
fn models_are_listed() {
    let env = TestEnv::new();
    let ran = env.run(&["devices", "--models"]).good();
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
    ran.says(&["hdd-1998", "nvme-plp", "uncalibrated", "rotating", "notebook"]);
    let json = env.run(&["devices", "--models", "--json"]).good().json();
    assert_eq!(json["kind"], "device-models");
    assert_eq!(json["models"].as_array().unwrap().len(), 13);
    assert_nothing_left(&env);
}

#[test]
fn a_model_is_measured_beside_published_figures_and_drawn() {
    let env = TestEnv::new();
    let ran = env.run(&["devices", "--model", "hdd-2007", "--svg", "disk.svg"]).good();
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 100), "{}", ran.stdout);
    ran.says(&["hdd-2007: A SATA disk of 2007", "held out", "fitted", "access between 25 %"])
        .says(&["Reads of one sector over the distance", "* seek o mean access", "time, ms"]);
    let svg = fs::read_to_string(env.path("disk.svg")).unwrap();
    for words in ["Sequential reads of 1 MiB", "random read 4 KiB, QD 1", "Latency of each"] {
        assert!(svg.contains(words), "{words}");
    }
    let json = || env.run(&["devices", "--model", "hdd-2007", "--json"]).good().json();
    let one = json();
    assert_eq!(one, json(), "the same on every run");
    let rows = one["device_model"]["rows"].as_array().unwrap();
    let held_out = rows.iter().filter(|row| row["role"] == "held out");
    assert!(held_out.count() >= 2);
    for row in rows.iter().filter(|row| !row["published"].is_null()) {
        assert_eq!(row["is_near"], true, "{row}");
    }
    let seek = &one["device_model"]["curves"][0];
    assert_eq!(
        (seek["name"].as_str(), seek["upright"]["unit"].as_str()),
        (Some("seek"), Some("ms"))
    );
    env.run(&["devices", "--model", "const"]).good().says(&["Uncalibrated: fewer than two"]);
    assert_nothing_left(&env);
}

#[test]
fn what_cannot_be_is_refused_in_one_sentence() {
    let env = TestEnv::new();
    let refused = |args: &[&str], says: &str| {
        let ran = env.run(&[&["devices"], args].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(says), "{}\n{says}", ran.stderr);
    };
    refused(
        &["--model", "hdd-2008"],
        "--model: no device model \"hdd-2008\"; did you mean hdd-2003 or hdd-2007 or hdd-2012?",
    );
    let sheet = "schema = 1\nname = \"mine\"\ntitle = \"Mine\"\ncapacity_bytes = 1_000_000_000\n\
                 queue_depth = 1\n\n[constant]\nread_ns = 1\nwrite_ns = 1\nflush_ns = 0\n\
                 discard_ns = 0\nbytes_per_s = 1_000_000\nservers = 0\n";
    fs::write(env.path("mine.toml"), sheet).unwrap();
    let says = "mine.toml, line 13: `servers` is 0, which cannot be; use 1 to 256";
    refused(&["--model", "mine.toml"], says);
    fs::write(env.path("mine.toml"), sheet.replace("servers = 0", "servers = 1")).unwrap();
    env.run(&["devices", "--model", "mine.toml"]).good().says(&["mine: Mine"]);
    let ran = env.run(&["devices", "--svg", "x.svg"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert_nothing_left(&env);
}

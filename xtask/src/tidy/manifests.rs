//! Rules about the Cargo manifests: who may depend on whom, inheritance, lints.

use super::tree::{Finding, Tree, parent};

/// Which crates of the workspace a crate may name, dev-dependencies included. The flow is
/// `cli → runner → {plan, executor, store, verdict}`, `executor → {devices, engine, metrics}`,
/// `devices → filesystems → process` and `report → study → verdict → stats`, all of them → `model`,
/// which depends on nothing here but a derive.
const MAY_USE: &[(&str, &str)] = &[
    // Readers with limits: bytes, and nothing of what they mean.
    ("bounded", ""),
    // Files in, one file out, and back.
    ("bundle", "bounded"),
    // Plain values in, SVG out.
    ("chart", ""),
    // The cli is where every part is put together, and the same binary is executor and worker.
    (
        "cli",
        "bounded bundle corpus crash crash-runs devices disk-server doctor engine executor \
         filesystems fleet foreign guests honesty hosts metrics model plan process reference report \
         runner stats store study trace vdisk verdict watch worker",
    ),
    ("corpus", "bounded model"),
    // Pure logic: crash states, the oracle, figures. Others boot, mount and print.
    ("crash", "model schema-stub stats vdisk"),
    // Crash runs in guests and under this kernel; the states that are kept. It judges nothing.
    (
        "crash-runs",
        "bounded crash devices disk-server executor filesystems guests model process \
         schema-stub vdisk",
    ),
    // Everything that can destroy data.
    ("devices", "bounded filesystems model process schema-stub vdisk"),
    // Requests in, completions out, in their time.
    ("disk-server", "vdisk"),
    // Readings of the machine and of devices; how much equal runs differ.
    ("doctor", "bounded devices filesystems metrics model process stats"),
    ("engine", "model"),
    (
        "executor",
        "bounded corpus crash devices engine filesystems metrics model process trace vdisk",
    ),
    // Drivers: commands and options; their programs are asked, and nothing is made.
    ("filesystems", "model process"),
    // RUNs of other hosts over ssh, and their databases: it says nothing, and compares nothing.
    ("fleet", "bounded hosts model process store"),
    // Files of other programs: text in, workloads, plans and records out.
    ("foreign", "model"),
    // For tests only: whatever reads foreign input, and what shows it.
    (
        "fuzz",
        "bundle corpus crash crash-runs devices disk-server doctor executor filesystems foreign \
         guests hosts metrics model plan report runner store study testkit trace vdisk verdict \
         watch worker",
    ),
    // A guest kernel: its build and its boot are programs that are started; its disks are models.
    ("guests", "bounded devices disk-server executor model process schema-stub vdisk"),
    // The shipped rule and rules of the field on tapes: plain numbers in, figures out.
    ("honesty", "model schema-stub stats verdict"),
    // Names of hosts, text of a command line that others start, and who may be a rank.
    ("hosts", "bounded model process"),
    ("metrics", "model"),
    ("model", "schema-stub"),
    // A job file is read with the experiment: what it needs and what it may not do.
    // The same holds for a description of a dataset. Words of `[crash]` are those of `crash`.
    // It names itself for its tests alone, with the feature that computes the JSON Schema.
    ("plan", "corpus crash filesystems foreign model schema-stub vdisk"),
    // Every external tool is started here.
    ("process", "bounded model"),
    // Published numbers: plain data of other people.
    ("reference", ""),
    // Views, sentences and drawings put together. It names itself for its tests alone, with the
    // feature that computes JSON Schemas.
    ("report", "chart honesty model reference study verdict"),
    // Besides the flow: devices, because the runner claims the device, outlives the executor and
    // cleans up after it, of traces as well; metrics, because the journal names its owner by pid
    // and start time.
    (
        "runner",
        "bounded corpus crash crash-runs devices disk-server executor filesystems guests \
         metrics model plan process store trace verdict",
    ),
    // A derive that derives nothing.
    ("schema-stub", ""),
    ("stats", ""),
    // What a crash run left is stored as it is.
    ("store", "crash model"),
    // Views; it decides nothing. Of crash runs the figures of `crash`.
    ("study", "crash filesystems model schema-stub stats store verdict"),
    // For tests only: fake trees, a loop-device guard, sample databases, a browser.
    ("testkit", "crash metrics model store"),
    // Block requests of the kernel's trace; devices makes what its tests trace.
    ("trace", "devices filesystems model process"),
    // The virtual disk: a pure function of requests and times.
    ("vdisk", ""),
    // What decides: from plan and scores alone; the store for its example.
    ("verdict", "model schema-stub stats store"),
    // A watched device: where it lies and what it is comes from doctor, figures from study.
    ("watch", "bounded devices doctor metrics model process study"),
    // The worker starts programs, fio among them, and reads what they print.
    ("worker", "bounded corpus engine foreign model process"),
    // `overhead` measures the engine, the sampler, device models and crash states, and estimates
    // ratios. `chaos` reads what RUNs have stored, and has scenes as the end-to-end tests have.
    (
        "xtask",
        "corpus crash crash-runs devices disk-server engine executor filesystems guests metrics \
         model process stats store testkit trace vdisk",
    ),
];

/// Any crate may have these for its tests, and for nothing else.
const FOR_TESTS: &[&str] = &["testkit"];

/// The crates whose errors are read by people only; the others have typed errors.
const MAY_USE_ANYHOW: &[&str] = &["cli", "xtask"];

const DEPENDENCY_TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

struct Manifest<'a> {
    path: &'a str,
    text: &'a str,
    table: toml::Table,
}

impl<'a> Manifest<'a> {
    /// Every `Cargo.toml`; one that cannot be parsed is cargo's to complain about.
    fn all(tree: &'a Tree) -> impl Iterator<Item = Manifest<'a>> {
        tree.ending("Cargo.toml")
            .filter_map(|(path, text)| Some(Manifest { path, text, table: text.parse().ok()? }))
    }

    /// `plan` for `fsarena-plan`; `None` for the workspace's own manifest.
    fn short_name(&self) -> Option<&str> {
        let name = self.table.get("package")?.get("name")?.as_str()?;
        Some(name.strip_prefix("fsarena-").unwrap_or(name))
    }

    /// Table, key and value of every dependency, those under `[target.…]` included.
    fn dependencies(&self) -> Vec<(&str, &str, &toml::Value)> {
        let targets = self.table.get("target").and_then(toml::Value::as_table);
        let mut places = vec![&self.table];
        places
            .extend(targets.iter().flat_map(|all| all.values()).filter_map(toml::Value::as_table));
        let mut found = Vec::new();
        for place in places {
            for table in DEPENDENCY_TABLES {
                if let Some(entries) = place.get(*table).and_then(toml::Value::as_table) {
                    found.extend(entries.iter().map(|(key, value)| (*table, key.as_str(), value)));
                }
            }
        }
        found
    }

    /// The line on which `key` is set.
    fn line_of(&self, key: &str) -> usize {
        let sets = |line: &str| {
            line.strip_prefix(key).is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
        };
        self.text.lines().position(sets).map_or(1, |index| index + 1)
    }
}

/// Dependencies point one way only.
pub fn direction(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in Manifest::all(tree) {
        let Some(name) = manifest.short_name() else { continue };
        let Some((_, allowed)) = MAY_USE.iter().find(|(from, _)| *from == name) else {
            let text =
                format!("`{name}` is not in the table of allowed dependencies; add it there");
            findings.push(Finding::new(manifest.path, 1, text));
            continue;
        };
        for (table, key, value) in manifest.dependencies() {
            let dependency = value.get("package").and_then(toml::Value::as_str).unwrap_or(key);
            let line = manifest.line_of(key);
            if dependency == "anyhow" && !MAY_USE_ANYHOW.contains(&name) {
                let text = "anyhow is for the cli; give this crate an error type with thiserror";
                findings.push(Finding::new(manifest.path, line, text));
            }
            let Some(other) = dependency.strip_prefix("fsarena-") else { continue };
            // Itself: with features that its tests want.
            let for_tests = FOR_TESTS.contains(&other) || other == name;
            let testing = for_tests && table == "dev-dependencies";
            if !testing && allowed.split(' ').all(|name| name != other) {
                let text = format!(
                    "`{name}` may not use `{other}`; allowed: {}. Move the code, or pass the value \
                     in from above",
                    if allowed.is_empty() { "nothing" } else { allowed }
                );
                findings.push(Finding::new(manifest.path, line, text));
            }
        }
    }
    findings
}

/// Versions stand in one place: crates write `x.workspace = true`.
pub fn inherited(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in Manifest::all(tree) {
        for (_, key, value) in manifest.dependencies() {
            if value.get("workspace").and_then(toml::Value::as_bool) != Some(true) {
                let text = format!(
                    "`{key}` has its own version; put it into [workspace.dependencies] and write \
                     `{key}.workspace = true`"
                );
                findings.push(Finding::new(manifest.path, manifest.line_of(key), text));
            }
        }
    }
    findings
}

/// Every crate takes the workspace's lints, and the length of a function is one of them.
pub fn lints(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in Manifest::all(tree) {
        let lints = manifest.table.get("lints");
        let inherits = lints.and_then(|lints| lints.get("workspace")?.as_bool()) == Some(true);
        if manifest.short_name().is_some() && !inherits {
            let text = "does not take the workspace's lints; add `[lints]` and `workspace = true`";
            findings.push(Finding::new(manifest.path, 1, text));
        }
        if let Some(workspace) = manifest.table.get("workspace") {
            let level = |group: &str, name: &str| {
                workspace.get("lints")?.get(group)?.get(name)?.as_str().map(str::to_owned)
            };
            if level("clippy", "too_many_lines").as_deref() != Some("deny") {
                let text = "functions of more than 70 lines pass; set `too_many_lines = \"deny\"` \
                            in [workspace.lints.clippy]";
                findings.push(Finding::new(manifest.path, 1, text));
            }
            let clippy = format!("{}clippy.toml", prefix(parent(manifest.path)));
            let limit = "too-many-lines-threshold = 70";
            if !tree.text(&clippy).is_some_and(|text| text.lines().any(|line| line == limit)) {
                findings.push(Finding::new(&clippy, 1, format!("the line `{limit}` is missing")));
            }
        }
    }
    findings
}

fn prefix(dir: &str) -> String {
    if dir.is_empty() { String::new() } else { format!("{dir}/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crate_with(name: &str, body: &str) -> Vec<(String, String)> {
        let path = format!("crates/{name}/Cargo.toml");
        vec![(path, format!("[package]\nname = \"fsarena-{name}\"\n{body}"))]
    }

    fn check(rule: fn(&Tree) -> Vec<Finding>, name: &str, body: &str) -> Vec<Finding> {
        let files = crate_with(name, body);
        let files: Vec<_> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
        rule(&Tree::fake(&files))
    }

    #[test]
    fn allowed_direction_passes() {
        let body = "[dependencies]\nfsarena-plan.workspace = true\nserde.workspace = true\n\
                    [dev-dependencies]\nfsarena-testkit.workspace = true\n";
        assert_eq!(check(direction, "runner", body), []);
    }

    #[test]
    fn wrong_direction_is_named_with_its_line() {
        let body = "[dependencies]\nserde.workspace = true\nfsarena-store.workspace = true\n";
        let findings = check(direction, "engine", body);
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].file.as_str(), findings[0].line), ("crates/engine/Cargo.toml", 5));
        assert!(findings[0].text.contains("allowed: model. "), "{}", findings[0].text);
    }

    #[test]
    fn direction_sees_renamed_targeted_and_shipped_testkit_dependencies() {
        let renamed = "[dependencies]\nm = { package = \"fsarena-model\", path = \"../model\" }\n";
        assert_eq!(check(direction, "stats", renamed).len(), 1);
        let targeted = "[target.'cfg(unix)'.dependencies]\nfsarena-store.workspace = true\n";
        assert_eq!(check(direction, "plan", targeted).len(), 1);
        let shipped = "[dependencies]\nfsarena-testkit.workspace = true\n";
        assert_eq!(check(direction, "plan", shipped).len(), 1);
    }

    #[test]
    fn the_table_has_no_cycle_and_is_sorted() {
        // A crate is removed once everything it may use is removed; a cycle would never go.
        let mut left: Vec<_> = MAY_USE.to_vec();
        while !left.is_empty() {
            let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
            let before = left.len();
            left.retain(|(_, uses)| uses.split(' ').any(|other| names.contains(&other)));
            assert!(left.len() < before, "cycle among {names:?}");
        }
        assert!(MAY_USE.is_sorted_by_key(|(name, _)| *name));
        assert!(MAY_USE.iter().all(|(_, uses)| uses.split(' ').is_sorted()));
    }

    #[test]
    fn unknown_crates_and_anyhow_are_reported() {
        assert!(check(direction, "newcomer", "")[0].text.contains("table"));
        let body = "[dependencies]\nanyhow.workspace = true\n";
        assert_eq!(check(direction, "plan", body).len(), 1);
        assert_eq!(check(direction, "cli", body), []);
    }

    #[test]
    fn versions_stand_in_the_workspace() {
        assert_eq!(check(inherited, "plan", "[dependencies]\ntoml.workspace = true\n"), []);
        let features = "[dependencies]\ntoml = { workspace = true, features = [\"x\"] }\n";
        assert_eq!(check(inherited, "plan", features), []);
        assert_eq!(check(inherited, "plan", "[dependencies]\ntoml = \"1\"\n").len(), 1);
    }

    #[test]
    fn lints_are_taken_and_set() {
        assert_eq!(check(lints, "plan", "[lints]\nworkspace = true\n"), []);
        assert_eq!(check(lints, "plan", "").len(), 1);
        let good = "[workspace.lints.clippy]\ntoo_many_lines = \"deny\"\n";
        let clippy = ("clippy.toml", "too-many-lines-threshold = 70\n");
        assert_eq!(lints(&Tree::fake(&[("Cargo.toml", good), clippy])), []);
        let bad = "[workspace.lints.clippy]\ntoo_many_lines = \"warn\"\n";
        assert_eq!(lints(&Tree::fake(&[("Cargo.toml", bad)])).len(), 2);
    }
}

//! Real work that cannot be done is refused where it is written.

use crate::programs::{read, text};
use crate::rules::TestRules;
use fsarena_plan::{Overrides, expand};

fn error(body: &str) -> String {
    let done = read(&text(body))
        .and_then(|experiment| expand(&experiment, &Overrides::default(), &TestRules));
    match done {
        Ok(_) => format!("no error in:\n{body}"),
        Err(error) => format!("{}: {}\n  {}", error.place, error.what, error.remedy),
    }
}

fn all(bodies: &[&str]) -> String {
    bodies.iter().map(|body| error(body)).collect::<Vec<_>>().join("\n")
}

fn phases(phases: &str) -> String {
    error(&format!("dataset = \"small-100\"\nphases = {phases}"))
}

#[test]
fn of_datasets() {
    let text = all(&[
        "dataset = \"mixed\"\nphases = [\"copy\"]",
        "dataset = \"mixed-830\"\nphases = [\"copy\"]",
        "dataset = \"small-0\"\nphases = [\"copy\"]",
        "dataset = { smal = 3 }\nphases = [\"copy\"]",
        "dataset = { size = 3 }\nphases = [\"copy\"]",
        "dataset = { small = 3, from = \"tree\" }\nphases = [\"copy\"]",
        "dataset = { from = \"tree\", dirs = 2 }\nphases = [\"copy\"]",
        "dataset = { small = 0 }\nphases = [\"copy\"]",
        "dataset = { small = 5, dirs = 6 }\nphases = [\"copy\"]",
        "dataset = { small = 5, size = \"2 GiB\" }\nphases = [\"copy\"]",
        "dataset = { from = \"socket\" }\nphases = [\"copy\"]",
        "dataset = { from = \"empty\" }\nphases = [\"copy\"]",
        "dataset = \"small-100\"\nsource = \"ram\"\nphases = [\"copy\"]",
        "dataset = \"small-100\"",
        "dataset = \"small-100\"\nfiles = 10\nphases = [\"copy\"]",
        "dataset = \"small-100\"\nthreads = 2\nphases = [\"copy\"]",
        "source = \"same\"\nfiles = 10\nsize = 1\nphases = [\"create\"]",
        "files = 10\nsize = 1\nphases = [\"create\", \"copy\"]",
        "files = 10\nsize = 1\nphases = [{ op = \"untar\" }]",
        "use = \"small-files\"\ndataset = \"small-100\"",
    ]);
    insta::assert_snapshot!(text, @r#"
    t.toml:8:11: unknown dataset "mixed"
      known: mixed-830m, ports-2004, portage-2008, portage-2010, flac-16, wav-5, big-693m, iso-586m, avi-3400m, c-tree, small-N
    t.toml:8:11: unknown dataset "mixed-830"
      did you mean "mixed-830m"?
    t.toml:8:11: unknown dataset "small-0"
      small-N has N files, from 1 to 25 million: write it like small-10000
    t.toml:8:13: unknown key in [workload.dataset]: "smal"
      did you mean "small"?
    t.toml:8:11: not one dataset
      write one of small, file, description, from
    t.toml:8:11: not one dataset
      write one of small, file, description, from
    t.toml:8:35: `size` and `dirs` belong to `small`, not to `from`
      leave them out
    t.toml:8:21: `workload.dataset.small` is 0
      it has to be from 1 to 100000000
    t.toml:8:31: `workload.dataset.dirs` is 6
      it has to be from 1 to 5
    t.toml:8:31: small files of more than 1 GiB
      describe the dataset in a file: { file = … }
    t.toml:8:20: socket: it is a socket
      give a directory or an archive
    t.toml:8:20: /srv/our/empty is empty
      give one that holds files
    t.toml:9:10: unknown place of the source "ram"
      known: same, other, memory
    t.toml:6:1: `phases` is missing in [workload]
      add phases = ["copy"]
    t.toml:9:1: `files` is of work that the engine does on files of its own
      leave it out: the dataset says what there is, and the phases what is done
    t.toml:9:1: `threads` is of work that the engine does on files of its own
      leave it out: the dataset says what there is, and the phases what is done
    t.toml:8:10: `source` says where a dataset is, and there is none
      add dataset = "mixed-830m"
    t.toml:10:21: `copy` is done with a dataset, and there is none
      say dataset = "mixed-830m" in place of `files` and `size`
    t.toml:10:18: `untar` is done with a dataset, and there is none
      say dataset = "mixed-830m" in place of `files` and `size`
    t.toml:6:1: `phases` is missing in [workload]
      add phases = ["copy"]
    "#);
}

#[test]
fn of_phases() {
    let shown = [
        phases("[\"create\"]"),
        phases("[\"cpy\"]"),
        phases("[\"command\"]"),
        phases("[{ op = \"copy\", compression = \"gzip\" }]"),
        phases("[{ op = \"copy\", jobs = 2 }]"),
        phases("[{ op = \"untar\", compression = \"gz\" }]"),
        phases("[{ op = \"archive\", by = \"engine\" }]"),
        phases("[{ op = \"copy\", by = \"cp\" }]"),
        phases("[\"copy\", \"copy\"]"),
        phases("[{ name = \"data\", op = \"copy\" }]"),
        phases("[\"untar\", { name = \"data.tar.gz\", op = \"copy\" }]"),
        phases("[{ name = \"lost+found\", op = \"copy\" }]"),
        phases("[{ op = \"copy\", timed = false }]"),
    ];
    insta::assert_snapshot!(shown.join("\n"), @r#"
    t.toml:9:11: "create" is done by the engine on files of its own
      leave `dataset` out and say `files` and `size`, in a workload of its own
    t.toml:9:11: unknown phase "cpy"
      did you mean "copy"?
    t.toml:9:11: a command as a word does not say what is run
      write { op = "command", run = "…" }
    t.toml:9:26: unknown key in [workload.phases]: "compression"
      known: op, name, of, by, timed
    t.toml:9:26: unknown key in [workload.phases]: "jobs"
      known: op, name, of, by, timed
    t.toml:9:41: unknown compression "gz"
      did you mean "xz"?
    t.toml:9:34: the engine has no `archive`
      it does copy, delete and untar; leave `by` out
    t.toml:9:31: unknown worker "cp"
      known: program, engine
    t.toml:9:19: two phases are named "copy"
      name one: { op = "copy", name = "copy-2" }
    t.toml:9:11: phase "data" would make "data", which is there already
      name one: { op = "copy", name = "copy-2" }
    t.toml:9:20: phase "data.tar.gz" would make "data.tar.gz", which is there already
      name one: { op = "copy", name = "copy-2" }
    t.toml:9:11: phase "lost+found" would make "lost+found", which is there already
      name one: { op = "copy", name = "copy-2" }
    t.toml:9:10: no phase is timed: there is nothing to measure
      leave `timed = false` out of at least one
    "#);
}

#[test]
fn of_what_phases_work_on() {
    let shown = [
        phases("[{ op = \"copy\", of = \"coppy\" }]"),
        phases("[\"copy\", { op = \"delete\", of = \"coppy\" }]"),
        phases(
            "[\"copy\", { op = \"delete\", of = \"data\" }, \
             { name = \"b\", op = \"copy\", of = \"data\" }]",
        ),
        phases("[\"delete\", \"copy\"]"),
        phases("[\"delete\", { name = \"b\", op = \"delete\" }]"),
        phases("[\"delete\", { op = \"copy\", of = \"delete\" }]"),
        phases("[\"untar\", { op = \"archive\", of = \"data\" }]"),
        phases("[\"copy\", { op = \"untar\", of = \"copy\" }]"),
        phases("[\"archive\", { op = \"untar\", of = \"archive\", compression = \"xz\" }]"),
        phases("[\"untar\", { name = \"b\", op = \"untar\", compression = \"xz\" }]"),
        phases("[\"flac\"]"),
        phases("[\"compile\"]"),
        phases("[{ op = \"compile\", jobs = 0 }]"),
    ];
    insta::assert_snapshot!(shown.join("\n"), @r#"
    t.toml:9:31: unknown earlier phase "coppy"
      known: data
    t.toml:9:41: unknown earlier phase "coppy"
      did you mean "copy"?
    t.toml:9:83: "data" is not there any more: "delete" deletes it
      put this phase before the deletion
    t.toml:9:21: phase "copy": no tree is there any more
      put it before the deletion
    t.toml:9:21: phase "b": nothing is there any more
      end before it
    t.toml:9:41: phase "delete" leaves nothing to work on
      name `data`, or a phase that copies, unpacks, packs, encodes or builds
    t.toml:9:43: phase "archive": "data" is an archive
      archive needs a tree: unpack it before
    t.toml:9:40: phase "untar": "copy" is a tree
      untar needs an archive
    t.toml:9:68: compression "xz", and "archive" is packed with "gzip"
      leave `compression` out
    t.toml:9:62: the data is packed with gzip already, and here with xz
      make two workloads of it
    t.toml:9:11: phase "flac": "data" holds no wav files
      use dataset = "wav-5", or a tree of yours with *.wav directly in it
    t.toml:9:11: phase "compile": "data" has no Makefile
      use dataset = "c-tree", or a tree of yours with a Makefile that puts what it makes into $(OUT)
    t.toml:9:36: `workload.phases.jobs` is 0
      it has to be from 1 to 1024
    "#);
}

#[test]
fn of_your_own() {
    let own = |name: &str, rest: &str| error(&format!("dataset = {{ from = \"{name}\" }}\n{rest}"));
    let other = |phases: &str| own("tree", &format!("source = \"other\"\nphases = [{phases}]"));
    let shown = [
        own("tree", "phases = [\"untar\"]"),
        own("tree.tar.xz", "phases = [\"copy\"]"),
        own("tree.tar.xz", "phases = [{ op = \"untar\", compression = \"gzip\" }]"),
        own("tree.tar.xz", "phases = [\"flac\"]"),
        own("tree", "phases = [\"flac\"]"),
        own("wavs", "phases = [\"compile\"]"),
        own("sources", "phases = [\"copy\", { op = \"ogg\", of = \"copy\" }]"),
        own("tree.tar.xz", "phases = [\"untar\", \"compile\"]"),
        other("\"delete\""),
        own("sources", "source = \"other\"\nphases = [\"compile\"]"),
        other("{ op = \"command\", run = \"rm -r {data}\" }"),
        other("{ op = \"command\", run = \"true\", cleanup = \"rm -r {data}\" }"),
        error("dataset = \"small-100\"\nsource = \"memory\"\nphases = [\"delete\"]"),
    ];
    insta::assert_snapshot!(shown.join("\n"), @r#"
    t.toml:9:11: phase "untar": "data" is a tree
      untar needs an archive
    t.toml:9:11: phase "copy": the data is an archive
      put an `untar` before it, or copy the archive itself: { op = "copy", of = "data" }
    t.toml:9:41: compression "gzip", and "data" is packed with "xz"
      leave `compression` out
    t.toml:9:11: phase "flac": the data is an archive
      put an `untar` before it
    t.toml:9:11: phase "flac": "data" holds no wav files
      use dataset = "wav-5", or a tree of yours with *.wav directly in it
    t.toml:9:11: phase "compile": "data" has no Makefile
      use dataset = "c-tree", or a tree of yours with a Makefile that puts what it makes into $(OUT)
    t.toml:9:38: phase "ogg": "copy" holds no wav files
      use dataset = "wav-5", or a tree of yours with *.wav directly in it
    t.toml:9:20: phase "compile": "untar" has no Makefile
      use dataset = "c-tree", or a tree of yours with a Makefile that puts what it makes into $(OUT)
    t.toml:10:11: phase "delete" deletes the data, which is yours and stays where it is
      say source = "same": then it works on a copy
    t.toml:10:11: phase "compile" may write into the data, which is yours and stays where it is
      say source = "same": then it works on a copy
    t.toml:10:11: phase "command" may change the data, which is yours and stays where it is
      say source = "same": then it works on a copy
    t.toml:10:11: phase "command" may change the data, which is yours and stays where it is
      say source = "same": then it works on a copy
    t.toml:10:11: phase "delete" deletes the data, which is outside the file system under test and every trial needs it
      say source = "same"
    "#);
    for fine in ["\"copy\"", "\"copy\", \"delete\"", "{ op = \"command\", run = \"ls {mnt}\" }"] {
        assert!(other(fine).starts_with("no error"), "{fine}: {}", other(fine));
    }
    let wavs = "phases = [\"flac\", \"copy\", { op = \"ogg\", of = \"copy\" }]";
    assert!(own("wavs", wavs).starts_with("no error"), "{}", own("wavs", wavs));
    for (name, phases) in [
        ("wavs.tar.xz", "phases = [\"untar\", \"flac\"]"),
        ("sources", "phases = [\"compile\"]"),
        ("sources.tar.xz", "phases = [\"untar\", \"compile\"]"),
        ("tree.tar.xz", "phases = [{ op = \"copy\", of = \"data\" }]"),
    ] {
        let shown = own(name, phases);
        assert!(shown.starts_with("no error"), "{name} {phases}: {shown}");
    }
    let memory = "dataset = { from = \"tree\" }\nsource = \"memory\"\n\
                  phases = [{ op = \"command\", run = \"ls {data}\" }]";
    assert!(error(memory).starts_with("no error"), "it reads a copy");
    let text = text("dataset = { from = \"tree\" }\nphases = [\"copy\"]");
    let error = fsarena_plan::parse(&text, "t.toml").unwrap_err().to_string();
    assert!(error.contains("only this file is read here"), "{error}");
}

#[test]
fn of_commands() {
    let run = |keys: &str| phases(&format!("[{{ op = \"command\", {keys} }}]"));
    let shown = [
        run("name = \"c\""),
        run("run = \" \""),
        run("run = \"ls {dev}\""),
        run("run = \"ls\", prepare = \"awk '{print}'\""),
        run("run = \"ls\", programs = [\"/bin/ls\"]"),
        run("run = \"ls\", of = \"data\""),
        run("run = \"ls\", by = \"engine\""),
        phases("[\"delete\", { op = \"command\", run = \"ls {data}\" }]"),
    ];
    insta::assert_snapshot!(shown.join("\n"), @r#"
    t.toml:9:11: `run` is missing in [workload.phases]
      add run = "grep -r foo {data}"
    t.toml:9:35: an empty command
      leave the key out
    t.toml:9:35: {dev} is not filled in
      use {mnt} or {data}; ${NAME} is a variable of the shell, {{ and }} are braces
    t.toml:9:51: {print} is not filled in
      use {mnt} or {data}; ${NAME} is a variable of the shell, {{ and }} are braces
    t.toml:9:53: "/bin/ls" is no name of a program
      write it like grep
    t.toml:9:41: unknown key in [workload.phases]: "of"
      did you mean "op"?
    t.toml:9:41: unknown key in [workload.phases]: "by"
      known: op, name, timed, run, prepare, cleanup, programs
    t.toml:9:21: "data" is not there any more: "delete" deletes it
      put this phase before the deletion
    "#);
    assert!(phases("[\"delete\", { op = \"command\", run = \"ls\" }]").starts_with("no error"));
    assert!(run("run = \"awk '{{print}}' ${HOME} {data}\"").starts_with("no error"));
}

#[test]
fn of_what_does_not_fit() {
    let text = text("dataset = \"avi-3400m\"\nphases = [\"copy\"]").replace("20G", "7G");
    let plan = read(&text).and_then(|read| expand(&read, &Overrides::default(), &TestRules));
    let error = plan.unwrap_err().to_string();
    assert!(
        error.starts_with("t.toml:5:10: loop:7G is too small for \"w\", which needs "),
        "{error}"
    );
    let overrides = Overrides { scale: Some(0.5), ..Overrides::default() };
    assert!(expand(&read(&text).unwrap(), &overrides, &TestRules).is_ok());
    let elsewhere = text.replace("phases", "source = \"memory\"\nphases");
    assert!(expand(&read(&elsewhere).unwrap(), &Overrides::default(), &TestRules).is_ok());
}

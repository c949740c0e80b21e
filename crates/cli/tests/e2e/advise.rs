//! `fsarena advise`: purposes asked as an ordinary RUN, told again from the database, and refused
//! where they are unknown.

use crate::support::{TestEnv, assert_nothing_left};

#[test]
fn an_unknown_purpose_is_refused_before_anything_is_made() {
    let env = TestEnv::new();
    env.run(&["advise", "--for", "mial"])
        .code(2)
        .says(&["unknown purpose", "did you mean \"mail\"?"]);
    env.run(&["advise"]).code(2).says(&["--for"]);
    env.run(&["advise", "--run", "latest"]).code(2).says(&["no database yet"]);
    let both = ["advise", "--for", "mail", "--device", "hdd-2007", "--on", "loop:1G"];
    env.run(&both).code(2).says(&["cannot be used with"]);
    assert_nothing_left(&env);
}

#[test]
fn loop_a_purpose_is_asked_and_told_again() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let args = [
        "advise",
        "--for",
        "mail",
        "--fs",
        "ext4,ext4:noatime",
        "--on",
        "loop:256M",
        "--runs",
        "3",
        "--scale",
        "0.02",
    ];
    let ran = env.run(&args).good();
    let told = ran.stdout.clone();
    assert!(told.starts_with("mail: "), "{told}");
    for words in ["decided by: mail-server deliver, add,", "with fsync", "no crash run"] {
        let flat = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(words), "{words:?} is not in\n{told}");
    }
    let again = env.run(&["advise", "--run", "latest"]).good();
    assert_eq!(again.stdout, told, "the same RUN says the same");
    let json = env.run(&["advise", "--run", "1", "--for", "mail,vm", "--json"]).good().json();
    assert_eq!(json["kind"], "advice");
    assert_eq!(json["purposes"][0]["purpose"], "mail");
    assert_eq!(json["purposes"][1]["kind"], "not-asked");
    assert_nothing_left(&env);
}

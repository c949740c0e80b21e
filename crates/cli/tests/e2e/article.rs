//! `fsarena article`: a RUN as an article, in two languages.

use crate::support::{TestEnv, assert_nothing_left};
use std::fs;

/// A RUN of these directories that asks something.
fn with_run(env: &TestEnv, dirs: &[&str]) {
    let dirs: Vec<String> = dirs.iter().map(|name| env.make_dir(name)).collect();
    let run = ["run", "--workload", "small-files", "--scale", "0.01", "--runs", "3", "--on"];
    env.run(&[&run[..], &[&dirs.join(","), "--sample-period", "0s"]].concat()).good();
}

/// The texts of an article: page, Markdown, BBCode.
fn article(env: &TestEnv, name: &str, more: &[&str]) -> [String; 3] {
    let dir = env.path(name);
    let output = dir.display().to_string();
    env.run(&[&["article", "latest", "-o", &output][..], more].concat())
        .good()
        .says(&["article of RUN 1", &output]);
    let text = |file: &str| fs::read_to_string(dir.join(file)).unwrap();
    let texts = ["article.html", "article.md", "article.bbcode"].map(text);
    let of_markdown = texts[1].lines().filter_map(|line| line.split_once("](charts/"));
    let charts: Vec<&str> = of_markdown.map(|(_, rest)| rest.trim_end_matches(')')).collect();
    assert!(!charts.is_empty(), "{}", texts[1]);
    for chart in charts {
        let svg = fs::read_to_string(dir.join("charts").join(chart)).unwrap();
        assert!(svg.starts_with("<svg") || svg.starts_with("<?xml"), "{chart}");
    }
    texts
}

#[test]
fn an_article_is_written_in_two_languages() {
    let env = TestEnv::new();
    with_run(&env, &["one", "two"]);
    let [page, markdown, bbcode] = article(&env, "en", &[]);
    for text in [&page, &markdown, &bbcode] {
        assert!(text.contains("Machine and method") && text.contains("Results"), "{text}");
        assert!(text.contains("the least median is that of"), "{text}");
        assert!(text.contains("small-files") && text.contains(" ms"), "{text}");
    }
    assert!(page.contains("<html lang=\"en\">") && page.contains("<svg"));
    assert_eq!(bbcode.matches("[code]").count(), bbcode.matches("[/code]").count());
    let [page, markdown, bbcode] = article(&env, "ru", &["--lang", "ru"]);
    for text in [&page, &markdown, &bbcode] {
        assert!(text.contains("Машина и методика") && text.contains("наименьшая медиана у"));
        assert!(text.contains("мс"), "{text}");
    }
    assert!(page.contains("<html lang=\"ru\">"));
    assert_nothing_left(&env);
}

#[test]
fn what_cannot_be_compared_is_said() {
    let env = TestEnv::new();
    with_run(&env, &["one"]);
    let [_, markdown, _] = article(&env, "alone", &[]);
    assert!(markdown.contains("nothing is compared"), "{markdown}");
    let dir = env.path("none").display().to_string();
    env.run(&["article", "7", "-o", &dir]).refused(1, &["7"]);
    let file = env.write("file", "");
    env.run(&["article", "latest", "-o", &file]).refused(1, &["file"]);
    // Charts go into no directory that somebody else has chosen.
    let (linked, elsewhere) = (env.make_dir("linked"), env.make_dir("elsewhere"));
    std::os::unix::fs::symlink(&elsewhere, env.path("linked/charts")).unwrap();
    let words = ["charts in it is a link", "name another directory"];
    env.run(&["article", "latest", "-o", &linked]).refused(2, &words);
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

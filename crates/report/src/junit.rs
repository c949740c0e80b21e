//! Tests and how they ended as JUnit's XML, the form that servers of nightly jobs read.

use fsarena_model::visible::one_line;
use quick_xml::se::Serializer;
use serde::Serialize;
use std::collections::BTreeMap;

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Passed,
    /// What was tested is at fault.
    Failed,
    /// The test could not be done.
    Error,
    Skipped,
}

/// One test.
#[derive(Debug)]
pub(crate) struct Case {
    pub name: String,
    pub ended: Ended,
    /// The outcome in a word, where it has not passed.
    pub kind: String,
    /// The same in a sentence.
    pub message: String,
}

/// A document of all suites, by name, each with its tests.
pub(crate) fn document(title: &str, suites: &BTreeMap<&str, Vec<Case>>) -> String {
    let whole = Group {
        suites: suites.iter().map(|(name, cases)| suite(title, name, cases)).collect(),
        ..group(title, suites.values().flatten())
    };
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let serializer = Serializer::with_root(&mut text, Some("testsuites"));
    let mut serializer = serializer.expect("the name of an element");
    serializer.indent(' ', 2);
    whole.serialize(serializer).expect("text and numbers in memory");
    text.push('\n');
    text
}

fn suite(title: &str, name: &str, cases: &[Case]) -> Group {
    let class = format!("{title}.{name}");
    let tests = cases.iter().map(|case| test_case(&class, case)).collect();
    Group { tests, ..group(name, cases.iter()) }
}

/// A group of this name that counts these tests and holds none.
fn group<'a>(name: &str, cases: impl Iterator<Item = &'a Case> + Clone) -> Group {
    let of = |ended: Ended| cases.clone().filter(|case| case.ended == ended).count();
    Group {
        name: printable(name),
        count: cases.clone().count(),
        failures: of(Ended::Failed),
        errors: of(Ended::Error),
        skipped: of(Ended::Skipped),
        suites: Vec::new(),
        tests: Vec::new(),
    }
}

fn test_case(class: &str, case: &Case) -> TestCase {
    let of = |ended: Ended| {
        (case.ended == ended)
            .then(|| Reason { kind: printable(&case.kind), message: printable(&case.message) })
    };
    TestCase {
        name: printable(&case.name),
        classname: printable(class),
        failure: of(Ended::Failed),
        error: of(Ended::Error),
        skipped: of(Ended::Skipped),
    }
}

/// Text as one line, with escapes for what is hidden, and without what XML 1.0 has no way to write.
fn printable(text: &str) -> String {
    one_line(text).chars().filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}')).collect()
}

/// A suite, or all of them: what it counts is below it.
#[derive(Serialize)]
struct Group {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "@tests")]
    count: usize,
    #[serde(rename = "@failures")]
    failures: usize,
    #[serde(rename = "@errors")]
    errors: usize,
    #[serde(rename = "@skipped")]
    skipped: usize,
    #[serde(rename = "testsuite")]
    suites: Vec<Group>,
    #[serde(rename = "testcase")]
    tests: Vec<TestCase>,
}

#[derive(Serialize)]
struct TestCase {
    #[serde(rename = "@name")]
    name: String,
    #[serde(rename = "@classname")]
    classname: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<Reason>,
}

#[derive(Serialize)]
struct Reason {
    #[serde(rename = "@type")]
    kind: String,
    #[serde(rename = "@message")]
    message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As it is written.
    const NAME: &str = "a < b & \"c\" \\u{1b}[1m \\u{202e} ]]>";

    #[test]
    fn a_document_is_well_formed_whatever_the_names() {
        let case = Case {
            name: "a < b & \"c\" \u{1b}[1m \u{202e}\u{ffff}\n]]>".to_owned(),
            ended: Ended::Failed,
            kind: "SLOWER".to_owned(),
            message: "</failure>".to_owned(),
        };
        let text = document("nightly", &BTreeMap::from([("small\u{0}files", vec![case])]));
        let parsed = roxmltree::Document::parse(&text).unwrap();
        let of = |tag: &str| parsed.descendants().find(|node| node.has_tag_name(tag)).unwrap();
        assert_eq!(of("testcase").attribute("name"), Some(NAME));
        assert_eq!(of("testcase").attribute("classname"), Some("nightly.small\\u{0}files"));
        assert_eq!(of("failure").attribute("message"), Some("</failure>"));
        assert_eq!(of("testsuites").attribute("failures"), Some("1"));
    }

    #[test]
    fn nothing_is_a_document_too() {
        let text = document("nightly", &BTreeMap::new());
        let parsed = roxmltree::Document::parse(&text).unwrap();
        assert_eq!(parsed.root_element().attribute("tests"), Some("0"));
        assert!(!parsed.root_element().has_children());
    }
}

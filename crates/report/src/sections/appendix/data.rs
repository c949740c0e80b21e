//! The data of a RUN inside the page, as text that cannot be mistaken for markup.

use crate::context::Run;
use fsarena_study::PhasePoints;
use fsarena_verdict::Verdicts;
use serde_json::{Value, json};

/// Phases of trials beyond which the page has the CSV alone: tables and JSON would be most of it,
/// and no browser sorts them in no time.
pub(crate) const MOST_POINTS: usize = 5_000;

/// Beyond this JSON is without the points, which are in the CSV: with names for every value they
/// would be the largest part of the page.
const MOST_IN_JSON: usize = 1_000;

/// Pairs, over all questions, beyond which JSON has the rankings alone: of 60 contenders there are
/// 1,770 a question.
pub(crate) const MOST_PAIRS: usize = 1_000;

/// One row a trial and phase.
pub(crate) fn csv(run: &Run<'_>, points: &[PhasePoints]) -> String {
    crate::csv(run.header, points)
}

/// Header, verdicts and points as JSON for a `<script>` element: what a parser of HTML could take
/// for anything but text is written as escapes of JSON.
pub(crate) fn json(run: &Run<'_>, points: &[PhasePoints]) -> String {
    let mut verdicts = run.verdicts.map(crate::verdict_json);
    if run.verdicts.is_some_and(|all| pairs(all) > MOST_PAIRS) {
        let questions = verdicts.as_mut().and_then(|all| all["questions"].as_array_mut());
        for question in questions.into_iter().flatten() {
            question["pairs"] = Value::Null;
        }
    }
    let document = json!({
        "schema": crate::json::SCHEMA,
        "kind": "report",
        "run": run.header,
        "sessions": run.sessions,
        "verdicts": verdicts,
        "points": is_small(points).then_some(points),
    });
    for_script(&document.to_string())
}

/// Phases of trials.
pub(crate) fn many(points: &[PhasePoints]) -> usize {
    points.iter().map(|phase| phase.points.len()).sum()
}

/// Whether JSON has the points.
pub(crate) fn is_small(points: &[PhasePoints]) -> bool {
    many(points) <= MOST_IN_JSON
}

/// Pairs over all questions.
pub(crate) fn pairs(verdicts: &Verdicts) -> usize {
    verdicts.questions.iter().map(|question| question.pairs.len()).sum()
}

/// JSON whose strings hold nothing that ends a `<script>`, begins a comment, or ends a line of
/// JavaScript. Outside its strings none of these characters occurs.
fn for_script(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_ends_the_script() {
        let hostile = "</script><!--<script>&amp;]]>\u{2028}\u{2029}";
        let json = for_script(&json!({ hostile: hostile }).to_string());
        assert!(!json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{json}");
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read[hostile], hostile);
    }

    proptest! {
        #[test]
        fn it_reads_back_the_same(text in "\\PC{0,80}|[<>&\u{2028}\u{2029}\"\\\\]{0,20}") {
            let json = for_script(&json!([text]).to_string());
            let is_left = json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']);
            prop_assert!(!is_left, "{}", json);
            let read: serde_json::Value = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(read, json!([text]));
        }
    }
}

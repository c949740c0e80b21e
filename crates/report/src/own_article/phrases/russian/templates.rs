//! Texts of the program by their English, with places for what varies in them.
//!
//! A place of the English text says what may stand there, that of the Russian one how it is
//! written: `{}` a figure with or without its unit, `{=}` a name that stays as it is, `{word}` one
//! without spaces, `{~}` a text with Russian of its own, `{,}` several names or such texts, `{[}`
//! an interval, `{#}` a list of figures, `{unit}` and `{phase}` one of these, `{files}` and its
//! like a number of these in the case that the sentence needs. Places are filled in their order, or
//! by their number, `{~2}`.

use super::numbers::{figure, is_figure, number, plural};

/// English and Russian.
pub(super) type Template = (&'static str, &'static str);

/// A noun that is counted: how its place is called, its English beginning, its Russian forms.
type Noun = (&'static str, &'static str, [&'static str; 3]);

const NOUNS: [Noun; 17] = [
    ("files", "file", ["файл", "файла", "файлов"]),
    ("dirs", "director", ["каталог", "каталога", "каталогов"]),
    ("trials", "trial", ["испытание", "испытания", "испытаний"]),
    ("of_trials", "trial", ["испытания", "испытаний", "испытаний"]),
    ("in_trials", "trial", ["испытании", "испытаниях", "испытаниях"]),
    ("planned", "planned trial", ["испытание", "испытания", "испытаний"]),
    ("of_planned", "planned trial", ["испытания", "испытаний", "испытаний"]),
    ("blocks", "block", ["блок", "блока", "блоков"]),
    ("of_blocks", "block", ["блока", "блоков", "блоков"]),
    ("more_blocks", "more block", ["блок", "блока", "блоков"]),
    ("contenders", "contender", ["участник", "участника", "участников"]),
    ("of_contenders", "contender", ["участника", "участников", "участников"]),
    ("comparisons", "comparison", ["сравнение", "сравнения", "сравнений"]),
    ("phases", "phase", ["фаза", "фазы", "фаз"]),
    ("over_phases", "phase", ["фазе", "фазам", "фазам"]),
    ("rows", "pair", ["пара", "пары", "пар"]),
    ("sessions", "session", ["сеанс", "сеанса", "сеансов"]),
];

/// Phases of the built-in experiments.
pub(super) const PHASES: &[Template] = &[
    ("create", "создание"),
    ("read", "чтение"),
    ("read-random", "чтение вразброс"),
    ("write", "запись"),
    ("write-random", "запись вразброс"),
    ("delete", "удаление"),
    ("copy", "копирование"),
    ("big-write", "запись большого файла"),
    ("big-read", "чтение большого файла"),
    ("cycle", "цикл"),
    ("untar", "распаковка"),
    ("tar+bzip2", "упаковка bzip2"),
    ("tar+gzip", "упаковка gzip"),
    ("wav2flac", "кодирование flac"),
    ("wav2ogg", "кодирование ogg"),
    ("Untar", "Распаковка"),
    ("Flac copied", "Копирование flac"),
    ("Portage copied", "Копирование Portage"),
    ("Avi copied", "Копирование avi"),
    ("Iso copied", "Копирование iso"),
    ("Portage deleted", "Удаление Portage"),
    ("rewrite", "перезапись"),
];

/// Words within lists of figures: `{#}`.
const WITHIN: &[(&str, &str)] = &[
    (" against ", " против "),
    (", true ", ", верно "),
    (" on AMD", " на AMD"),
    (" on Intel", " на Intel"),
    ("data copy", "копирование данных"),
    ("data delete", "удаление данных"),
    ("ports untar", "распаковка портов"),
    ("ports copy", "копирование портов"),
    ("ports delete", "удаление портов"),
    ("big file copy", "копирование большого файла"),
    ("flac copied", "копирование flac"),
    ("portage copied", "копирование Portage"),
    ("avi copied", "копирование avi"),
    ("iso copied", "копирование iso"),
    ("portage deleted", "удаление Portage"),
    (" MB at ", "\u{a0}МБ при "),
    (" s)", "\u{a0}с)"),
    (" times less", " раза меньше"),
    ("none", "нет"),
    (" and ", " и "),
];

/// The text in Russian by the first template that fits; `words` is for what stands in its places.
pub(super) fn turned(
    templates: &[Template],
    text: &str,
    words: &dyn Fn(&str) -> String,
) -> Option<String> {
    let fits = |(from, to): &Template| Some(filled(to, &captured(from, text)?, words));
    templates.iter().find_map(fits)
}

/// What stands in the places of a template, in their order; nothing where `text` is not of it.
fn captured<'t>(template: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let Some((fixed, rest)) = template.split_once('{') else {
        return (template == text).then(Vec::new);
    };
    let text = text.strip_prefix(fixed)?;
    let (kind, after) = rest.split_once('}')?;
    let with = |value: &'t str, behind: &'t str| {
        let mut found = vec![is_of_kind(value, kind).then_some(value)?];
        found.extend(captured(after, behind)?);
        Some(found)
    };
    // A value ends where the fixed text behind it begins: at any place where that stands.
    match after.split_once('{') {
        Some((fixed, _)) => {
            text.match_indices(fixed).find_map(|(end, _)| with(&text[..end], &text[end..]))
        }
        None => {
            let end = text.strip_suffix(after)?.len();
            with(&text[..end], &text[end..])
        }
    }
}

fn noun(kind: &str) -> Option<&'static Noun> {
    NOUNS.iter().find(|(own, ..)| *own == kind)
}

fn is_of_kind(value: &str, kind: &str) -> bool {
    match (kind, noun(kind)) {
        (_, Some(noun)) => counted(value, noun).is_some(),
        ("[", _) => value.starts_with('[') && value.ends_with(']'),
        ("", _) => is_figure(value),
        ("phase", _) => PHASES.iter().any(|(own, _)| *own == value),
        ("word", _) => !value.is_empty() && !value.contains([' ', ',']),
        ("unit", _) => is_figure(&format!("1 {value}")),
        _ => !value.is_empty(),
    }
}

/// The number and its digits: 2500 and `2,500` of `2,500 files`.
fn counted<'v>(value: &'v str, (_, english, _): &Noun) -> Option<(usize, &'v str)> {
    let (digits, word) = value.split_once(' ')?;
    let is_it = word.strip_prefix(english).is_some_and(|end| matches!(end, "" | "s" | "y" | "ies"));
    is_it.then(|| Some((digits.replace(',', "").parse().ok()?, digits)))?
}

/// The template with these values in its places.
fn filled(template: &str, values: &[&str], words: &dyn Fn(&str) -> String) -> String {
    let mut in_order = values.iter();
    let mut text = String::new();
    for part in template.split_inclusive('}') {
        let Some((fixed, place)) = part.split_once('{') else {
            text.push_str(part);
            continue;
        };
        text.push_str(fixed);
        let place = place.trim_end_matches('}');
        let kind = place.trim_end_matches(|c: char| c.is_ascii_digit());
        let value = match place[kind.len()..].parse::<usize>() {
            Ok(at) => values.get(at.wrapping_sub(1)),
            Err(_) => in_order.next(),
        };
        text.push_str(&written(kind, value.copied().unwrap_or_default(), words));
    }
    text
}

fn written(kind: &str, value: &str, words: &dyn Fn(&str) -> String) -> String {
    match (kind, noun(kind)) {
        (_, Some(noun)) => match counted(value, noun) {
            Some((own, digits)) => format!("{} {}", number(digits), plural(own, noun.2)),
            None => value.to_owned(),
        },
        ("~", _) => words(value),
        (",", _) => listed(value, words),
        ("[", _) => interval(value),
        ("#", _) => figures(value),
        ("=", _) => value.to_owned(),
        ("unit", _) => figure(&format!("1 {value}")).trim_start_matches(['1', '\u{a0}']).to_owned(),
        _ => figure(value),
    }
}

/// `[1.38, 1.47]` as `[1,38; 1,47]`.
pub(super) fn interval(text: &str) -> String {
    text.split(", ").map(number).collect::<Vec<_>>().join("; ")
}

/// `untar 0.97, true 0.98 (28-29 against 29-30 s)`: names with their figures.
fn figures(text: &str) -> String {
    let turned = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    number(&WITHIN.iter().fold(text.to_owned(), turned)).trim_end_matches(" s").to_owned()
        + if text.ends_with(" s") { "\u{a0}с" } else { "" }
}

/// `a, b and 2 more` as `a, b и ещё 2`, each in its own words.
fn listed(text: &str, words: &dyn Fn(&str) -> String) -> String {
    let one = |item: &str| match item.strip_suffix(" more") {
        Some(more) if is_figure(more) => format!("ещё {}", number(more)),
        _ => words(item),
    };
    let (head, last) = match text.rsplit_once(" and ") {
        Some((head, last)) => (head, Some(last)),
        None => (text, None),
    };
    let head = head.split(", ").map(one).collect::<Vec<_>>().join(", ");
    last.map_or(head.clone(), |last| format!("{head} и {}", one(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(template: Template, text: &str) -> Option<String> {
        let words = |text: &str| match text {
            "cold" => "холодный".to_owned(),
            other => other.to_owned(),
        };
        turned(&[template], text, &words)
    }

    #[test]
    fn places_are_of_their_kind_and_in_any_order() {
        let template = ("{~} after {trials}: {} of {=}", "{=4}, {}: {~1}, {trials2}");
        let own = with(template, "cold after 2 trials: 1.50 MiB of a: b").unwrap();
        assert_eq!(own, "a: b, cold: холодный, 2 испытания");
        let template = ("{~} after {trials}: {} of {=}", "{~}: {trials}, {}, {=}");
        let own = with(template, "cold after 2 trials: 1.50 MiB of a: b").unwrap();
        assert_eq!(own, "холодный: 2 испытания, 1,50\u{a0}МиБ, a: b");
        assert_eq!(with(template, "cold after 2 blocks: 1.50 MiB of a"), None);
        assert_eq!(with(template, "cold after 2 trials: many of a"), None);
    }

    #[test]
    fn a_value_may_hold_what_stands_behind_it() {
        let template = ("{=} in {trials}", "{=}: {trials}");
        let own = with(template, "a in b in 21 trials").unwrap();
        assert_eq!(own, "a in b: 21 испытание");
        assert_eq!(
            with(("in {in_trials}", "в {in_trials}"), "in 3 trials").unwrap(),
            "в 3 испытаниях"
        );
    }

    #[test]
    fn lists_and_intervals() {
        let template = ("{,}: {[}", "{,}: {[}");
        let own = with(template, "a, cold and 2 more: [<0.01, 1.5]").unwrap();
        assert_eq!(own, "a, холодный и ещё 2: [<0,01; 1,5]");
    }
}

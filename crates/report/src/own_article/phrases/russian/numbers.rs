//! Figures in Russian: decimal comma, spaces between thousands, units, and the forms of words
//! behind whole numbers.

/// Units that have Russian names.
const UNITS: [(&str, &str); 23] = [
    ("ns", "нс"),
    ("µs", "мкс"),
    ("ms", "мс"),
    ("s", "с"),
    ("min", "мин"),
    ("h", "ч"),
    ("B", "Б"),
    ("KB", "КБ"),
    ("KiB", "КиБ"),
    ("MB", "МБ"),
    ("MiB", "МиБ"),
    ("GB", "ГБ"),
    ("GiB", "ГиБ"),
    ("TiB", "ТиБ"),
    ("KB/s", "КБ/с"),
    ("MB/s", "МБ/с"),
    ("MiB/s", "МиБ/с"),
    ("files/s", "файлов/с"),
    ("dirs/s", "каталогов/с"),
    ("ns/op", "нс/оп."),
    ("µs/op", "мкс/оп."),
    ("ms/op", "мс/оп."),
    ("s/op", "с/оп."),
];

/// The form of a word that a whole number takes: 1, 21; 2 to 4, 22; 0, 5 to 20, 25.
pub(super) fn plural(number: usize, forms: [&str; 3]) -> &str {
    match (number % 100, number % 10) {
        (11..=14, _) => forms[2],
        (_, 1) => forms[0],
        (_, 2..=4) => forms[1],
        _ => forms[2],
    }
}

/// Whether a text is a number, with or without a sign before it and a unit behind it: `1,234.5 ms`,
/// `<0.01`, `2m05s`.
pub(super) fn is_figure(text: &str) -> bool {
    let bare = text.trim_start_matches(['=', '<', '>', '±', '+', '-', '~', ' ']);
    let (value, unit) = bare.split_once(' ').unwrap_or((bare, ""));
    let is_number = value.starts_with(|c: char| c.is_ascii_digit())
        && value.matches('.').count() < 2
        && value.chars().all(|c| c.is_ascii_digit() || ".,:smhe-".contains(c));
    is_number && (matches!(unit, "" | "%" | "×") || UNITS.iter().any(|(own, _)| *own == unit))
}

pub(super) fn count(number: usize, forms: [&str; 3]) -> String {
    format!("{number} {}", plural(number, forms))
}

/// `2m05s` and `1h02m` as `2 мин 05 с` and `1 ч 02 мин`; a number as [`number`] has it.
fn long_time(text: &str) -> String {
    let minutes = text.strip_suffix('s').and_then(|rest| rest.split_once('m'));
    let hours = text.strip_suffix('m').and_then(|rest| rest.split_once('h'));
    match (minutes, hours) {
        (Some((minutes, seconds)), _) => format!("{minutes}\u{a0}мин {seconds}\u{a0}с"),
        (None, Some((hours, minutes))) => format!("{hours}\u{a0}ч {minutes}\u{a0}мин"),
        (None, None) => number(text),
    }
}

/// A decimal comma, and spaces that do not break between thousands.
pub(super) fn number(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_digit =
        |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(char::is_ascii_digit);
    let mut turned = String::new();
    for (at, &c) in chars.iter().enumerate() {
        let is_between = is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
        match c {
            '.' if is_between => turned.push(','),
            ',' if is_between => {}
            '-' if is_between => turned.push('–'),
            c => turned.push(c),
        }
        let whole = chars[at + 1..].iter().take_while(|c| c.is_ascii_digit() || **c == ',');
        let behind = whole.filter(|c| c.is_ascii_digit()).count();
        let before = chars[..at].iter().rev().find(|c| !c.is_ascii_digit());
        let is_whole = c.is_ascii_digit() && before != Some(&'.');
        if is_whole && behind > 0 && behind.is_multiple_of(3) {
            turned.push('\u{a0}');
        }
    }
    turned
}

/// A figure with or without its unit.
pub(super) fn figure(text: &str) -> String {
    let Some((value, unit)) = text.rsplit_once(' ') else { return long_time(text) };
    let unit = UNITS.iter().find(|(own, _)| *own == unit).map_or(unit, |(_, own)| own);
    format!("{}\u{a0}{unit}", number(value))
}

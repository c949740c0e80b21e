//! Names of generated files and directories, from templates.
//!
//! A name follows from the template, from hashes of the number of what bears it, and from the
//! directory it lies in. That no two names of a directory are the same is up to the caller.

use fsarena_model::dataset::mix;
use std::fmt::Write as _;

/// Longest fixed text of a template, bytes, and most parts: the longest name stays below NAME_MAX.
const TEXT_BYTES: usize = 80;
const PARTS: usize = 8;
/// So much of the name of a directory is used for `{dir}`, bytes.
const DIR_BYTES: usize = 48;
/// Tells the hashes of names apart from others.
const NAME_SALT: u64 = 0x6673_6172_656e_6111;

/// A template, cut into parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    /// Itself.
    Text(String),
    /// `{n}`, `{n:5}`: the number within the directory, from 1, with so many digits at least.
    Number(usize),
    /// `{aa}`: the same in letters: aa, ab … zz, baa.
    Letters,
    /// `{word}`: two to four syllables.
    Word,
    /// `{version}`: 1.2, 0.14.3.
    Version,
    /// `{dir}`: the name of the directory it lies in.
    Dir,
}

impl Template {
    /// Cuts a template; the error says what is wrong with it.
    pub(crate) fn parse(template: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = template;
        while !rest.is_empty() {
            let (text, from) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
            if !text.is_empty() {
                parts.push(Part::Text(text.to_owned()));
            }
            let Some(from) = from.strip_prefix('{') else { break };
            let Some((inner, after)) = from.split_once('}') else {
                return Err(format!("{template:?} has a {{ without its }}"));
            };
            parts.push(Part::parse(inner).ok_or(format!("{{{inner}}} is not known in a name"))?);
            rest = after;
        }
        let text: usize = parts.iter().map(Part::text_bytes).sum();
        if parts.is_empty() || parts.len() > PARTS || text > TEXT_BYTES {
            return Err(format!("{template:?} is empty or too long for a name"));
        }
        if matches!(template, "." | "..") || template.contains(['/', '\0']) {
            return Err(format!("{template:?} is no name of a file"));
        }
        Ok(Self { parts })
    }

    /// Whether it gives different names in one directory.
    pub(crate) fn varies(&self) -> bool {
        self.parts.iter().any(|part| !matches!(part, Part::Text(_) | Part::Dir))
    }

    /// Whether its names mean nothing to make and a shell, which take them as they are in the
    /// recipes of a Makefile.
    pub(crate) fn is_plain(&self) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+');
        let mut texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text),
            _ => None,
        });
        texts.all(|text| text.chars().all(plain))
    }

    /// Appends the name of number `number` (from 0) in the directory called `dir`; `salt` is its
    /// own for each file.
    pub(crate) fn write(&self, number: u64, dir: &str, salt: u64, out: &mut String) {
        for (at, part) in self.parts.iter().enumerate() {
            let hash = mix(salt ^ mix(NAME_SALT ^ at as u64));
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Number(digits) => {
                    write!(out, "{:0digits$}", number + 1).expect("a string takes all");
                }
                Part::Letters => letters(number, out),
                Part::Word => word(hash, out),
                Part::Version => version(hash, out),
                Part::Dir => out.push_str(cut(dir, DIR_BYTES)),
            }
        }
    }
}

impl Part {
    fn parse(inner: &str) -> Option<Self> {
        Some(match inner {
            "n" => Self::Number(1),
            "aa" => Self::Letters,
            "word" => Self::Word,
            "version" => Self::Version,
            "dir" => Self::Dir,
            _ => {
                let digits = inner.strip_prefix("n:")?.parse().ok()?;
                (1..=12).contains(&digits).then_some(Self::Number(digits))?
            }
        })
    }

    fn text_bytes(&self) -> usize {
        if let Self::Text(text) = self { text.len() } else { 0 }
    }
}

/// The first `most` bytes of `text`, or a little less.
fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

const ONSETS: &[&str] = &[
    "b", "br", "c", "ch", "cl", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "kr", "l", "m",
    "n", "p", "pl", "qu", "r", "s", "st", "sh", "t", "tr", "v", "w", "x", "z", "",
];
const VOWELS: &[&str] = &["a", "e", "i", "o", "u", "ea", "io", "y"];
const CODAS: &[&str] = &["", "", "", "n", "r", "s", "t", "x", "m", "l", "ck", "nd"];

/// Two to four syllables, by weights 2:1:1.
fn word(hash: u64, out: &mut String) {
    let syllables = 2 + [0, 0, 1, 2][(hash >> 62) as usize];
    let mut bits = hash;
    let mut pick = |from: &[&'static str]| {
        bits = mix(bits);
        from[((bits >> 33) % from.len() as u64) as usize]
    };
    for syllable in 0..syllables {
        out.push_str(pick(ONSETS));
        out.push_str(pick(VOWELS));
        if syllable + 1 == syllables {
            out.push_str(pick(CODAS));
        }
    }
}

/// Two numbers or three, small ones more often.
fn version(hash: u64, out: &mut String) {
    let small = |bits: u64, most: u64| (bits & 0xffff) * (bits & 0xffff) % (most * most + 1) / most;
    let (first, second, third) = (small(hash, 6), small(hash >> 16, 20), (hash >> 32) & 7);
    write!(out, "{first}.{second}").expect("a string takes all");
    if hash >> 63 == 1 {
        write!(out, ".{third}").expect("a string takes all");
    }
}

/// `number` in base 26, two letters at least.
fn letters(number: u64, out: &mut String) {
    let mut digits = [0u8; 14];
    let mut at = digits.len();
    let mut rest = number;
    while rest > 0 || digits.len() - at < 2 {
        at -= 1;
        digits[at] = b'a' + (rest % 26) as u8;
        rest /= 26;
    }
    out.extend(digits[at..].iter().map(|digit| char::from(*digit)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(template: &str, number: u64) -> String {
        let mut out = String::new();
        Template::parse(template).unwrap().write(number, "port", number, &mut out);
        out
    }

    #[test]
    fn numbers_letters_and_directories() {
        assert_eq!(name("f{n}", 0), "f1");
        assert_eq!(name("f{n:5}.c", 41), "f00042.c");
        assert_eq!(name("patch-{aa}", 0), "patch-aa");
        assert_eq!(name("patch-{aa}", 27), "patch-bb");
        assert_eq!(name("patch-{aa}", 676), "patch-baa");
        assert_eq!(name("{dir}.txt", 0), "port.txt");
        assert_eq!(cut("äöü", 3), "ä");
    }

    #[test]
    fn words_and_versions_are_made_of_what_they_should_be() {
        for number in 0..2000 {
            let word = name("{word}", number);
            assert!((2..=20).contains(&word.len()), "{word}");
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase()), "{word}");
            let version = name("{version}", number);
            assert!(version.split('.').all(|part| part.parse::<u32>().is_ok()), "{version}");
        }
        let two = name("{word}-{word}", 5);
        let (first, second) = two.split_once('-').unwrap();
        assert_ne!(first, second);
    }

    #[test]
    fn wrong_templates_are_named() {
        for wrong in ["", "..", "a/b", "{n", "{x}", "{n:0}", "{n:99}", &"x".repeat(81)] {
            let error = Template::parse(wrong).unwrap_err();
            assert!(!error.is_empty() && (wrong.len() > 9 || error.contains(wrong)), "{error}");
        }
        assert!(!Template::parse("Makefile").unwrap().varies());
        assert!(!Template::parse("{dir}.html").unwrap().varies());
        assert!(Template::parse("{word}").unwrap().varies());
    }
}

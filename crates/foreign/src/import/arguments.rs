//! Command lines of MPI programs, as they print them: which options decide the work.

use crate::fio::{KbBase, amount_bytes};
use crate::import::documents::Work;
use crate::seen::escaped;

/// Options of a program.
pub(super) struct Options {
    /// Single letters that have a value.
    pub(super) with_value: &'static str,
    /// Letters and names that say where, how often or how loud, and not what.
    pub(super) neutral: &'static [&'static str],
    /// Letters whose values are amounts (`4m`).
    pub(super) amounts: &'static str,
}

impl Options {
    /// The options of a command line that decide the work; those that are given alone have an
    /// empty value.
    pub(super) fn work(&self, line: &str) -> Work {
        let mut work = Work::new();
        let mut add = |name: &str, value: &str| {
            if self.neutral.contains(&name) {
                return;
            }
            let bytes = self.amounts.contains(name).then(|| amount_bytes(value, KbBase::K1024));
            let value = bytes.flatten().map_or_else(|| value.to_owned(), |bytes| bytes.to_string());
            let dashes = if name.chars().count() > 1 { "--" } else { "-" };
            work.insert(format!("{dashes}{}", escaped(name)), escaped(&value).into_owned());
        };
        let mut words =
            line.split_whitespace().skip(1).map(|word| word.trim_matches('\'')).peekable();
        while let Some(word) = words.next() {
            if let Some(long) = word.strip_prefix("--") {
                let (name, value) = long.split_once('=').unwrap_or((long, ""));
                add(name, value);
                continue;
            }
            let Some(short) = word.strip_prefix('-').filter(|short| !short.is_empty()) else {
                add(word, "");
                continue;
            };
            for (at, letter) in short.char_indices() {
                let rest = &short[at + letter.len_utf8()..];
                let name = &short[at..at + letter.len_utf8()];
                if self.with_value.contains(letter) {
                    let own = rest.trim_start_matches('=');
                    let value = if rest.is_empty() { words.next().unwrap_or("") } else { own };
                    add(name, value);
                    break;
                }
                add(name, "");
            }
        }
        work
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_decide_are_kept_in_one_form() {
        let options = Options { with_value: "btod", neutral: &["o", "d", "v"], amounts: "bt" };
        let work = |line: &str| options.work(line);
        let spelt = work("/usr/bin/ior -b 4m -t1m -F -vv -o /mnt/a --posix.odirect");
        assert_eq!(spelt, work("ior '-F' '-b=4096k' '-t' '1m' '-o' '/mnt/b' '--posix.odirect'"));
        let all: Vec<(&str, &str)> =
            spelt.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let expected = [("--posix.odirect", ""), ("-F", ""), ("-b", "4194304"), ("-t", "1048576")];
        assert_eq!(all, expected);
        assert_ne!(spelt, work("ior -b 4m -t1m -F"));
    }
}

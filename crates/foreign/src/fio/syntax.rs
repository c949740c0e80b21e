//! Lines and sections of a job file, as fio 3.x reads them.
//!
//! A line is cut at the first `;` or `#`, blanks at both ends go, `[name]` opens a section, the
//! rest is `key=value` or a key alone (which means 1). There is no line continuation. Where fio
//! reads something in a way that nobody expects (a section `[globals]` is global, a line of 8192
//! bytes becomes two), the line is refused instead of imitated. No meaning is given to a key here,
//! apart from the second names that some have.

/// Longest line; fio cuts at 8191 bytes and takes the rest as a line of its own.
const MAX_LINE_BYTES: usize = 4000;
/// Longest name of a section; fio keeps 255 bytes, and file names are made of it.
const MAX_NAME_BYTES: usize = 100;

/// Second names of keys, and the first (options.c, `.alias`).
const ALIASES: [(&str, &str); 21] = [
    ("blockalign", "ba"),
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
    ("blocksize_unaligned", "bs_unaligned"),
    ("disable_bw", "disable_bw_measurement"),
    ("fileoffset", "offset"),
    ("fill_fs", "fill_device"),
    ("io_limit", "io_size"),
    ("iodepth_batch_complete", "iodepth_batch_complete_min"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("iomem", "mem"),
    ("mem_align", "iomem_align"),
    ("nr_files", "nrfiles"),
    ("ratecycle", "rate_cycle"),
    ("ratemin", "rate_min"),
    ("readwrite", "rw"),
    ("ss", "steadystate"),
    ("ss_dur", "steadystate_duration"),
    ("ss_ramp", "steadystate_ramp_time"),
    ("timeout", "runtime"),
    ("wait_for_previous", "stonewall"),
];

/// A job file that cannot be a workload: where, what is wrong, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}: {what}; {remedy}")]
pub struct FioError {
    /// Name of the job file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// What is wrong with a line, before the name of the file is known.
pub(crate) struct Fault {
    pub(crate) line: usize,
    pub(crate) what: String,
    pub(crate) remedy: String,
}

impl Fault {
    pub(crate) fn new(line: usize, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { line, what: what.into(), remedy: remedy.into() }
    }

    pub(crate) fn in_file(self, file: &str) -> FioError {
        let Self { line, what, remedy } = self;
        FioError { file: file.to_owned(), line, what, remedy }
    }
}

/// `key=value` or a key alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Setting {
    /// The key's first name.
    pub(crate) key: String,
    /// The value; a key alone has none.
    pub(crate) value: Option<String>,
    pub(crate) line: usize,
}

impl Setting {
    /// The value as fio takes it: a key alone means 1.
    pub(crate) fn value(&self) -> &str {
        self.value.as_deref().unwrap_or("1")
    }

    /// Whether a switch is on.
    pub(crate) fn is_on(&self) -> bool {
        self.value() != "0"
    }
}

/// `[name]` and what follows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) settings: Vec<Setting>,
}

/// Reads all sections, in order.
pub(crate) fn read(text: &str) -> Result<Vec<Part>, Fault> {
    let mut parts: Vec<Part> = Vec::new();
    for (index, raw) in text.lines().enumerate() {
        let line = index + 1;
        let content = bare(raw);
        if content.is_empty() {
            continue;
        }
        check_line(content, line)?;
        if content.starts_with('[') {
            let name = section_name(content, line)?;
            if name != "global" && parts.iter().any(|part| part.name == name) {
                let what = format!("two sections are called [{name}]");
                let remedy = "give each job a name of its own: phases are known by it";
                return Err(Fault::new(line, what, remedy));
            }
            parts.push(Part { name, line, settings: Vec::new() });
            continue;
        }
        let Some(part) = parts.last_mut() else {
            let what = format!("{content:?} stands before any section");
            return Err(Fault::new(line, what, "open a section first: [global] or [name-of-job]"));
        };
        let setting = setting(content, line)?;
        if part.settings.iter().any(|known| known.key == setting.key) {
            let what = format!("{:?} stands twice in [{}]", setting.key, part.name);
            return Err(Fault::new(line, what, "keep one of the two"));
        }
        part.settings.push(setting);
    }
    Ok(parts)
}

/// A line without its comment and the blanks around it.
pub(crate) fn bare(raw: &str) -> &str {
    raw.split([';', '#']).next().unwrap_or("").trim()
}

/// What no line may hold.
fn check_line(content: &str, line: usize) -> Result<(), Fault> {
    if content.len() > MAX_LINE_BYTES {
        let what = format!("the line has {} bytes", content.len());
        let remedy = format!("keep it below {MAX_LINE_BYTES}: fio cuts long lines in two");
        return Err(Fault::new(line, what, remedy));
    }
    if let Some(control) = content.chars().find(|c| c.is_control() && *c != '\t') {
        let what = format!("the line holds the control character {control:?}");
        return Err(Fault::new(line, what, "write plain text"));
    }
    if content.contains("${") {
        let what = format!("{content:?} depends on the environment");
        let remedy = "write the value itself: a workload is the same everywhere";
        return Err(Fault::new(line, what, remedy));
    }
    if content.ends_with('\\') {
        let remedy = "write it in one line: fio has no line continuation";
        return Err(Fault::new(line, "the line ends with a backslash", remedy));
    }
    if content.starts_with("include") {
        let what = format!("{content:?} names another file");
        let remedy = "copy its lines into this one: a workload is stored whole";
        return Err(Fault::new(line, what, remedy));
    }
    Ok(())
}

fn section_name(content: &str, line: usize) -> Result<String, Fault> {
    let inner = content.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let Some(name) = inner.filter(|name| !name.is_empty() && name.trim() == *name) else {
        let what = format!("{content:?} is not a section");
        return Err(Fault::new(line, what, "write [name] and nothing more on the line"));
    };
    if name.starts_with("global") && name != "global" {
        let what = format!("fio takes [{name}] for [global], because its name begins so");
        return Err(Fault::new(line, what, "write [global], or give the job another name"));
    }
    let odd = |c: char| matches!(c, '/' | '\\' | ':' | '[' | ']' | '$' | '`' | '"' | '\'');
    if name.contains(odd) || name.starts_with(['-', '.']) || name.len() > MAX_NAME_BYTES {
        let what = format!("[{name}] is no name for a job: fio makes file names of it");
        let remedy = format!(
            "use at most {MAX_NAME_BYTES} letters, digits, - and _, and begin with a letter"
        );
        return Err(Fault::new(line, what, remedy));
    }
    Ok(name.to_owned())
}

fn setting(content: &str, line: usize) -> Result<Setting, Fault> {
    let (key, value) = match content.split_once('=') {
        Some((key, value)) => (key.trim(), Some(value.trim().to_owned())),
        None => (content, None),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if key.is_empty() || !key.chars().all(plain) {
        let what = format!("{content:?} is neither key=value nor a key alone");
        return Err(Fault::new(line, what, "see fio --cmdhelp for the keys"));
    }
    let alias = ALIASES.iter().find(|(second, _)| *second == key);
    let key = alias.map_or(key, |&(_, first)| first).to_owned();
    Ok(Setting { key, value, line })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fault(text: &str) -> (usize, String) {
        let fault = read(text).err().unwrap_or_else(|| panic!("accepted: {text:?}"));
        (fault.line, format!("{}; {}", fault.what, fault.remedy))
    }

    #[test]
    fn sections_settings_comments_and_second_names() {
        let text = "; first\n[global]\r\n size = 1m ; small\n\n# x\n[seq read]\nthread\n\
                    readwrite=read\n[b]\n";
        let parts = read(text).unwrap_or_else(|fault| panic!("{}", fault.what));
        let names: Vec<_> = parts.iter().map(|part| (part.name.as_str(), part.line)).collect();
        assert_eq!(names, [("global", 2), ("seq read", 6), ("b", 9)]);
        let of = |key: &str, value: Option<&str>, line| Setting {
            key: key.to_owned(),
            value: value.map(str::to_owned),
            line,
        };
        assert_eq!(parts[0].settings, [of("size", Some("1m"), 3)]);
        assert_eq!(parts[1].settings, [of("thread", None, 7), of("rw", Some("read"), 8)]);
        assert!(parts[1].settings[0].is_on());
    }

    #[test]
    fn what_is_refused_names_the_line_and_the_remedy() {
        for (text, line, words) in [
            ("size=1\n", 1, "before any section"),
            ("[a]\nsize=${SIZE}\n", 2, "environment"),
            ("[a]\ninclude other.fio\n", 2, "names another file"),
            ("[a]\nsize=1\\\n", 2, "no line continuation"),
            ("[globals]\n", 1, "write [global]"),
            ("[/dev/sda]\n", 1, "no name for a job"),
            ("[..]\n", 1, "no name for a job"),
            ("[-]\n", 1, "no name for a job"),
            ("[]\n", 1, "not a section"),
            ("[a] size=1\n", 1, "not a section"),
            ("[a]\n[a]\n", 2, "name of its own"),
            ("[a]\nbs=4k\nblocksize=8k\n", 3, "\"bs\" stands twice"),
            ("[a]\nsize 1\n", 2, "neither key=value"),
            ("[a]\nx=\u{1b}[2J\n", 2, "control character"),
        ] {
            let (at, told) = fault(text);
            assert_eq!(at, line, "{text:?}: {told}");
            assert!(told.contains(words), "{text:?}: {told}");
        }
        assert!(fault(&format!("[a]\ndescription={}\n", "x".repeat(5000))).1.contains("in two"));
    }

    proptest! {
        #[test]
        fn never_panics(text in "(\\PC|[\\[\\]=;#\\n\\\\ ]){0,200}") {
            let _ = read(&text);
        }
    }
}

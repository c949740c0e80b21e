//! Reading and writing of descriptions, and their errors.

use super::*;

const TREE: &str = "schema = 1\nname = \"tree\"\ntitle = \"A tree\"\nseed = 7\n\n\
    [[dirs]]\nname = \"dir\"\ncount = 4\nnames = \"d{n}\"\n\n\
    [[class]]\nname = \"text\"\nin = \"dir\"\ncount = 10\nnames = \"{word}.txt\"\n\
    size_bytes = { kind = \"uniform\", min = 1, max = 99 }\ncontents = \"text\"\n";

/// The error of [`TREE`] with `from` replaced by `to`.
fn error(from: &str, to: &str) -> String {
    assert!(TREE.contains(from), "{from}");
    Description::parse(&TREE.replace(from, to), "my.toml").unwrap_err().to_string()
}

#[test]
fn a_description_survives_being_written() {
    let with_all = TREE.replace(
        "count = 10",
        "each = 3\ntotal_bytes = 700\nspread = \"uneven\"\nmode = \"0755\"\ntwins_percent = 9",
    );
    let with_lists = TREE
        .replace("\"d{n}\"", "[\"d{n}\", \"{word}\"]")
        .replace("{ kind = \"uniform\", min = 1, max = 99 }", "[1, 2, 3]")
        .replace("seed = 7", "seed = 7\nnotes = [\"one\"]\n[archive_ratio]\ngzip = 0.25");
    for text in [TREE, &with_all, &with_lists] {
        let read = Description::parse(text, "tree.toml").unwrap();
        for scaled in [read.clone(), read.scaled(0.3), read.scaled(1.0 / 3.0)] {
            let written = scaled.to_toml();
            assert_eq!(Description::parse(&written, "again").unwrap(), scaled, "{written}");
            assert_eq!(written.contains("scale"), scaled != read, "{written}");
        }
    }
}

#[test]
fn a_long_note_is_one_line() {
    let text = "seed = 7\nnotes = [\"\"\"\\\n    one, \\\n    two\"\"\", \"three\"]";
    let read = Description::parse(&TREE.replace("seed = 7", text), "tree.toml").unwrap();
    assert_eq!(read.notes(), ["one, two", "three"]);
    assert_eq!(Description::parse(&read.to_toml(), "again").unwrap(), read);
}

#[test]
fn ratios_are_those_stated_or_those_of_a_plain_archive() {
    let text = TREE.replace("seed = 7", "seed = 7\n[archive_ratio]\nnone = 1.5\ngzip = 0.25");
    let read = Description::parse(&text, "tree.toml").unwrap();
    let ratio = |compression| read.archive_ratio(compression);
    assert_eq!((ratio(Compression::Gzip), ratio(Compression::Xz)), (0.25, 1.5));
    let plain = Description::parse(TREE, "tree.toml").unwrap();
    assert_eq!(plain.archive_ratio(Compression::Zstd), 1.0);
}

#[test]
fn errors_name_the_line_what_is_wrong_and_what_to_do() {
    for (from, to, start, part) in [
        ("schema = 1", "schema = 2", "my.toml:1: ", "write `schema = 1`"),
        ("\"tree\"", "\"My Tree\"", "my.toml:2: ", "small letters"),
        ("\"A tree\"", "\" \"", "my.toml:3: ", "write one line"),
        ("seed = 7", "seed = -7", "my.toml:4: ", "README"),
        ("seed = 7", "seed = 7\nnotes = [\"a\", \"b\\nc\"]", "my.toml:5: ", "a string a line"),
        ("seed = 7", "seed = 7\nnotes = [\"\"]", "my.toml:5: ", "a note is empty"),
        ("seed = 7", "seed = 7\nscale = 0.0", "my.toml:5: ", "more than 0"),
        ("seed = 7", "seed = 7\n[archive_ratio]\nxz = -1.0", "my.toml:5: ", "no size"),
        ("seed = 7", "seed = 7\ncolour = 3", "my.toml:5: ", "colour"),
        ("[[dirs]]", "[[dirs", "my.toml:6: ", "README"),
        ("\"dir\"\ncount", "\"Dir\"\ncount", "my.toml:7: ", "once each"),
        ("count = 4", "count = 0", "my.toml:8: ", "1 to 50 million"),
        ("count = 4", "count = 4\neach = 4", "my.toml:7: ", "either `count` or `each`"),
        ("count = 4", "count = 4\nin = \"other\"", "my.toml:9: ", "stands above"),
        ("\"d{n}\"", "\"d\"", "my.toml:9: ", "{n} or {word}"),
        ("\"d{n}\"", "\"d{q}\"", "my.toml:9: ", "{q} is not known"),
        ("in = \"dir\"", "in = \"dri\"", "my.toml:13: ", "name a [[dirs]]"),
        ("count = 10", "mode = \"0600\"", "my.toml:14: ", "0600"),
        ("count = 10\n", "", "my.toml:12: ", "give `count`"),
        ("count = 10", "count = 10\neach = 1", "my.toml:12: ", "said twice"),
        ("count = 10", "count = 10\ntotal_bytes = 1000", "my.toml:15: ", "10 to 990 bytes"),
        ("count = 10", "count = 10\ntwins_percent = 101", "my.toml:15: ", "use 0 to 100"),
        ("count = 10", "count = 60_000_000", "my.toml:14: ", "50 million"),
        ("min = 1", "min = 100", "my.toml:16: ", "min 100 is above max 99"),
        ("min = 1, ", "", "my.toml:16: ", "min"),
        ("\"uniform\"", "\"normal\"", "my.toml:16: ", "normal"),
        ("max = 99", "max = 9999999999999999", "my.toml:16: ", "are more than"),
        ("{ kind = \"uniform\", min = 1, max = 99 }", "[]", "my.toml:16: ", "is empty"),
        (
            "{ kind = \"uniform\", min = 1, max = 99 }",
            "\"1K\"",
            "my.toml:16: ",
            "a number of bytes",
        ),
        ("contents = \"text\"", "contents = \"texts\"", "my.toml:17: ", "texts"),
    ] {
        let error = error(from, to);
        assert!(error.starts_with(start) && error.contains(part), "{from} -> {to}: {error}");
    }
    // Files are made until they come to the total: there must be an end to it.
    let small = "size_bytes = { kind = \"lognormal\", median = 2, sigma = 0.1, min = 1, \
                 max = 1_000_000_000_000 }";
    let uniform = "size_bytes = { kind = \"uniform\", min = 1, max = 99 }";
    let text = TREE.replace("count = 10", "total_bytes = 1_000_000_000").replace(uniform, small);
    assert!(text.contains(small), "{text}");
    let error = Description::parse(&text, "my.toml").unwrap_err().to_string();
    assert!(error.contains("1000000000 files cannot be"), "{error}");
    let none =
        Description::parse("schema = 1\nname = \"a\"\ntitle = \"A\"\nseed = 1\nclass = []", "a");
    assert!(none.unwrap_err().to_string().contains("add a `[[class]]`"));
}

/// A file's name is in the recipe that compiles it, for make and then for a shell.
#[test]
fn names_of_what_is_compiled_are_no_commands() {
    let tree = |dir: &str, file: &str| {
        format!(
            "schema = 1\nname = \"a\"\ntitle = \"A\"\nseed = 1\n[[dirs]]\nname = \"src\"\ncount = 1\n\
             names = {dir:?}\n[[class]]\nname = \"makefile\"\ncount = 1\nnames = \"Makefile\"\n\
             size_bytes = 2000\ncontents = \"c-makefile\"\n[[class]]\nname = \"source\"\n\
             in = \"src\"\ncount = 1\nnames = {file:?}\nsize_bytes = 3000\ncontents = \"c\"\n"
        )
    };
    Description::parse(&tree("src", "{word}-{n:3}_a+b.c"), "a").unwrap();
    for odd in ["x;touch$IFS{n}.c", "`id`.c", "$(shell id).c", "a b.c", "a\tb.c", "a:b.c", "#.c"] {
        let error = Description::parse(&tree("src", odd), "a").unwrap_err().to_string();
        assert!(error.contains("is in a tree that is compiled"), "{odd}: {error}");
    }
    let error = Description::parse(&tree("src;id", "a.c"), "a").unwrap_err().to_string();
    assert!(error.starts_with("a:8: ") && error.contains("use letters, digits"), "{error}");
    let data = tree("a b", "`id`.c").replace("c-makefile", "text").replace("\"c\"", "\"text\"");
    Description::parse(&data, "a").unwrap();
}

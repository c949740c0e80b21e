//! The rule "no circle of modules inside a crate", and the arrows that make a circle.
//!
//! An arrow goes from a file to the file that defines what it uses: by `use`, by a path in the
//! code, or where a type's `self.method()` is defined in another file than its caller. Names are
//! followed through re-exports to their definition, so a parent that only declares and re-exports
//! is no user. Code of tests does not count. Macros and traits are not expanded.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::tree::{Finding, Tree, parent};
use super::{lines, modules};

/// Longest chain of re-exports that is followed.
const REEXPORTS_MAX: usize = 8;

/// What is used along an arrow, by the numbers of the files at its ends.
type Arrows = BTreeMap<(usize, usize), BTreeSet<String>>;

/// Files of one crate that use each other, directly or through others.
struct Circle {
    krate: String,
    files: Vec<String>,
    /// From, to, and the names that are used.
    arrows: Vec<(String, String, Vec<String>)>,
}

/// Every circle is a fault.
pub fn circles(tree: &Tree) -> Vec<Finding> {
    all(tree)
        .into_iter()
        .map(|circle| {
            let text = format!(
                "{} files use each other in a circle: {}; `cargo xtask tidy --circles {}` names \
                 what ties them",
                circle.files.len(),
                circle.files.join(", "),
                circle.krate
            );
            Finding::new(&circle.files[0], 1, text)
        })
        .collect()
}

/// The number of circles in the whole workspace.
pub fn count(tree: &Tree) -> usize {
    all(tree).len()
}

/// The circles of one crate, or of all, with the arrows and names that tie each.
pub fn describe(tree: &Tree, krate: Option<&str>) -> String {
    let mut text = String::new();
    let mut number = 0;
    for circle in all(tree).iter().filter(|circle| krate.is_none_or(|name| name == circle.krate)) {
        number += 1;
        let _ = writeln!(text, "{}: a circle of {} files", circle.krate, circle.files.len());
        for (from, to, names) in &circle.arrows {
            let _ = writeln!(text, "  {from} -> {to}: {}", names.join(" "));
        }
    }
    let _ = writeln!(text, "{number} circles");
    text
}

fn all(tree: &Tree) -> Vec<Circle> {
    let roots = modules::roots(tree).into_iter().map(|root| root.file);
    let roots: BTreeSet<String> = roots.filter(|file| file.contains("/src/")).collect();
    let mut found: Vec<Circle> = roots.iter().flat_map(|root| of_crate(tree, root)).collect();
    found.sort_by(|a, b| (&a.krate, &a.files).cmp(&(&b.krate, &b.files)));
    found
}

fn of_crate(tree: &Tree, root: &str) -> Vec<Circle> {
    let (dir, _) = root.split_once("/src/").unwrap_or((parent(root), ""));
    let krate = dir.rsplit('/').next().unwrap_or(dir).to_owned();
    let files = read_crate(tree, root);
    let arrows = arrows(&files);
    let short = |file: usize| files[file].path[dir.len()..].trim_start_matches("/src/").to_owned();
    let circle = |members: BTreeSet<usize>| Circle {
        krate: krate.clone(),
        files: members.iter().map(|&file| files[file].path.clone()).collect(),
        arrows: arrows
            .iter()
            .filter(|((from, to), _)| members.contains(from) && members.contains(to))
            .map(|((from, to), names)| (short(*from), short(*to), names.iter().cloned().collect()))
            .collect(),
    };
    components(files.len(), &arrows).into_iter().map(circle).collect()
}

/// One file of a crate, which is one module.
#[derive(Default)]
struct File {
    path: String,
    /// Number of the file that declares it; its own for the root.
    parent: usize,
    children: BTreeMap<String, usize>,
    parsed: Parsed,
}

/// The files of the program below a root, in the order in which they are declared.
fn read_crate(tree: &Tree, root: &str) -> Vec<File> {
    let mut files = vec![File { path: root.to_owned(), ..File::default() }];
    let mut at = 0;
    while at < files.len() {
        let path = files[at].path.clone();
        let text = tree.text(&path).unwrap_or_default();
        files[at].parsed = Parsed::from_source(text);
        for module in modules::declared(&path, at == 0, text) {
            let file = module.candidates.into_iter().find(|path| tree.text(path).is_some());
            if let Some(path) = file.filter(|_| !module.test) {
                let next = files.len();
                files[at].children.insert(module.name, next);
                files.push(File { path, parent: at, ..File::default() });
            }
        }
        at += 1;
    }
    files
}

/// Who uses what of whom.
fn arrows(files: &[File]) -> Arrows {
    let mut arrows = Arrows::new();
    let mut add = |from: usize, to: usize, name: String| {
        if from != to {
            arrows.entry((from, to)).or_default().insert(name);
        }
    };
    let methods = methods(files);
    for (from, file) in files.iter().enumerate() {
        let Parsed { imports, paths, words, calls, .. } = &file.parsed;
        let used = imports.iter().filter(|(name, import)| !import.public || words.contains(*name));
        for path in used.map(|(_, import)| &import.path).chain(paths) {
            if let Some((to, name)) = resolve(files, from, path, REEXPORTS_MAX) {
                add(from, to, name);
            }
        }
        for (owner, name) in calls {
            let home = resolve(files, from, std::slice::from_ref(owner), REEXPORTS_MAX);
            if let Some(&to) = home.and_then(|home| methods.get(&(home, name.as_str()))) {
                add(from, to, format!("{owner}.{name}()"));
            }
        }
    }
    arrows
}

/// The file of each method, by the home and name of its type and by its own name.
fn methods(files: &[File]) -> BTreeMap<((usize, String), &str), usize> {
    let mut found = BTreeMap::new();
    for (at, file) in files.iter().enumerate() {
        for (owner, name) in &file.parsed.methods {
            let home = resolve(files, at, std::slice::from_ref(owner), REEXPORTS_MAX);
            found.extend(home.map(|home| ((home, name.as_str()), at)));
        }
    }
    found
}

/// The file that defines what a path in `module` leads to, and the name of the item.
fn resolve(
    files: &[File],
    module: usize,
    path: &[String],
    reexports: usize,
) -> Option<(usize, String)> {
    let mut at = module;
    for (index, part) in path.iter().enumerate() {
        let last = index + 1 == path.len();
        let file = &files[at];
        match part.as_str() {
            "crate" if index == 0 => at = 0,
            "self" => {}
            "super" => at = file.parent,
            part if !last && file.children.contains_key(part) => at = file.children[part],
            part if file.parsed.items.contains(part) => return Some((at, part.to_owned())),
            part => {
                let import = file.parsed.imports.get(part).filter(|_| reexports > 0)?;
                let whole: Vec<String> =
                    import.path.iter().chain(&path[index + 1..]).cloned().collect();
                return resolve(files, at, &whole, reexports - 1);
            }
        }
    }
    None
}

/// The strongly connected parts with more than one member, by Tarjan's algorithm.
fn components(len: usize, arrows: &Arrows) -> Vec<BTreeSet<usize>> {
    let mut next = vec![Vec::new(); len];
    for &(from, to) in arrows.keys() {
        next[from].push(to);
    }
    let mut search = Search { next, seen: vec![None; len], ..Search::default() };
    for file in 0..len {
        if search.seen[file].is_none() {
            search.visit(file);
        }
    }
    search.found
}

#[derive(Default)]
struct Search {
    next: Vec<Vec<usize>>,
    seen: Vec<Option<usize>>,
    order: usize,
    stack: Vec<usize>,
    found: Vec<BTreeSet<usize>>,
}

impl Search {
    /// The lowest order that `file` reaches among those still on the stack.
    fn visit(&mut self, file: usize) -> usize {
        let own = self.order;
        self.order += 1;
        self.seen[file] = Some(own);
        self.stack.push(file);
        let mut low = own;
        for to in self.next[file].clone() {
            match self.seen[to] {
                None => low = low.min(self.visit(to)),
                Some(order) if self.stack.contains(&to) => low = low.min(order),
                Some(_) => {}
            }
        }
        if low == own {
            let start = self.stack.iter().position(|&member| member == file).unwrap_or_default();
            let members: BTreeSet<usize> = self.stack.split_off(start).into_iter().collect();
            if members.len() > 1 {
                self.found.push(members);
            }
        }
        low
    }
}

/// What one file defines and names, tests left out.
#[derive(Default)]
struct Parsed {
    /// Names of items at the top of the file.
    items: BTreeSet<String>,
    /// What each name that `use` brings in stands for.
    imports: BTreeMap<String, Import>,
    /// Paths in the code.
    paths: Vec<Vec<String>>,
    /// Every word outside `use`.
    words: BTreeSet<String>,
    /// Type and name of methods that are called as `self.NAME()` or `Self::NAME()`.
    calls: BTreeSet<(String, String)>,
    /// Type and name of the methods in `impl TYPE`.
    methods: Vec<(String, String)>,
}

struct Import {
    path: Vec<String>,
    /// It is a re-export.
    public: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    /// `::`
    Path,
    Sign(char),
}

impl Parsed {
    fn from_source(text: &str) -> Parsed {
        let lines = lines::cut(text);
        let code: Vec<&str> =
            lines.iter().filter(|line| !line.in_test).map(|line| line.code.as_str()).collect();
        let code = code.join("\n");
        let mut reader = Reader { tokens: tokens(&code), ..Reader::default() };
        while reader.at < reader.tokens.len() {
            reader.step();
        }
        reader.parsed
    }
}

fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    let part = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(first) = rest.chars().next() {
        let (token, len) = if part(first) {
            let len = rest.find(|c| !part(c)).unwrap_or(rest.len());
            (Token::Word(&rest[..len]), len)
        } else if rest.starts_with("::") {
            (Token::Path, 2)
        } else {
            (Token::Sign(first), first.len_utf8())
        };
        found.push(token);
        rest = rest[len..].trim_start();
    }
    found
}

/// Goes through the tokens of one file.
#[derive(Default)]
struct Reader<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    /// Braces that are open.
    depth: usize,
    /// Depths at which an inline module is open.
    inline: Vec<usize>,
    /// Type of the `impl TYPE` or `impl TRAIT for TYPE` that is open.
    owner: Option<String>,
    /// It is a trait's.
    of_trait: bool,
    parsed: Parsed,
}

impl<'a> Reader<'a> {
    fn token(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens.get(self.at + ahead).copied()
    }

    fn word(&self, ahead: usize) -> Option<&'a str> {
        match self.token(ahead)? {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    fn step(&mut self) {
        match self.tokens[self.at] {
            Token::Sign('{') => self.depth += 1,
            Token::Sign('}') => {
                self.depth = self.depth.saturating_sub(1);
                self.inline.pop_if(|depth| *depth == self.depth);
                if self.depth == 0 {
                    self.owner = None;
                }
            }
            Token::Word("use") if self.token(1) != Some(Token::Sign('<')) => return self.import(),
            Token::Word(word) => return self.read_word(word),
            _ => {}
        }
        self.at += 1;
    }

    fn read_word(&mut self, word: &str) {
        self.parsed.words.insert(word.to_owned());
        let name = self.word(1).map(str::to_owned);
        match (word, name) {
            ("self" | "Self", _) => self.call(),
            ("mod", Some(name)) if self.token(2) == Some(Token::Sign('{')) => {
                self.inline.push(self.depth);
                self.parsed.items.insert(name);
            }
            ("fn", Some(name)) => self.function(name),
            ("struct" | "enum" | "union" | "trait" | "const" | "static" | "type", Some(name))
                if self.depth == 0 =>
            {
                self.parsed.items.insert(name);
            }
            ("macro_rules", None) => {
                self.parsed.items.extend(self.word(2).map(str::to_owned));
            }
            ("impl", _) if self.depth == 0 => self.implementation(),
            _ if self.token(1) == Some(Token::Path) => return self.path(),
            _ => {}
        }
        self.at += 1;
    }

    fn function(&mut self, name: String) {
        if self.depth == 0 {
            self.parsed.items.insert(name);
        } else if let Some(owner) = self.owner.clone().filter(|_| !self.of_trait) {
            self.parsed.methods.push((owner, name));
        }
    }

    /// `self.method(` and `Self::method`.
    fn call(&mut self) {
        let called = matches!(self.token(1), Some(Token::Sign('.') | Token::Path));
        if let (true, Some(owner), Some(name)) = (called, &self.owner, self.word(2)) {
            self.parsed.calls.insert((owner.clone(), name.to_owned()));
        }
    }

    /// Notes the type of `impl TYPE {` or `impl TRAIT for TYPE {`.
    fn implementation(&mut self) {
        let rest = &self.tokens[self.at + 1..];
        let end = rest.iter().position(|token| *token == Token::Sign('{')).unwrap_or_default();
        let mut angles = 0_usize;
        (self.owner, self.of_trait) = (None, false);
        for token in &rest[..end] {
            match token {
                Token::Sign('<') => angles += 1,
                Token::Sign('>') => angles = angles.saturating_sub(1),
                Token::Word("for") if angles == 0 => self.of_trait = true,
                Token::Word("where") => break,
                Token::Word(word) if angles == 0 => self.owner = Some((*word).to_owned()),
                _ => {}
            }
        }
    }

    /// `a::b::C` in the code; the cursor is on `a`.
    fn path(&mut self) {
        let mut path = Vec::new();
        while let Some(word) = self.word(0) {
            self.parsed.words.insert(word.to_owned());
            path.push(word.to_owned());
            self.at += 1;
            if self.token(0) != Some(Token::Path) {
                break;
            }
            self.at += 1;
        }
        // Inside an inline module the first `super` is this file.
        let levels = self.inline.len();
        let supers = path.iter().take(levels).take_while(|part| *part == "super").count();
        path.drain(..supers);
        self.parsed.paths.push(path);
    }

    fn import(&mut self) {
        let before = self.at.checked_sub(1).map(|at| self.tokens[at]);
        let public = matches!(before, Some(Token::Word("pub") | Token::Sign(')')));
        self.at += 1;
        self.branch(&[], public);
    }

    /// One branch of the tree behind `use`, up to `,`, `}` or `;`.
    fn branch(&mut self, trunk: &[String], public: bool) {
        let mut path = trunk.to_vec();
        let (mut name, mut empty) = (None, true);
        while let Some(token) = self.token(0) {
            match token {
                Token::Sign(',' | '}' | ';') => break,
                Token::Sign('{') => {
                    while !matches!(self.token(0), Some(Token::Sign('}')) | None) {
                        self.at += 1;
                        self.branch(&path, public);
                    }
                    self.at += 1;
                    return;
                }
                Token::Word("as") => name = self.word(1).map(str::to_owned),
                Token::Word(word) if name.is_none() => path.push(word.to_owned()),
                _ => {}
            }
            empty = false;
            self.at += 1;
        }
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        if let Some(name) = name.or_else(|| path.last().cloned()).filter(|_| !empty) {
            self.parsed.imports.insert(name, Import { path, public });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: (&str, &str) =
        ("crates/plan/Cargo.toml", "[package]\nname = \"fsarena-plan\"\n");

    /// The arrows of the circles of one made-up crate, `FROM > TO: NAMES`.
    fn tied(files: &[(&str, &str)]) -> Vec<String> {
        let paths: Vec<String> =
            files.iter().map(|(name, _)| format!("crates/plan/src/{name}.rs")).collect();
        let mut all = vec![MANIFEST];
        all.extend(paths.iter().zip(files).map(|(path, (_, text))| (path.as_str(), *text)));
        let arrows = super::all(&Tree::fake(&all)).into_iter().flat_map(|circle| circle.arrows);
        let short = |path: &str| path.trim_end_matches(".rs").to_owned();
        arrows
            .map(|(from, to, names)| {
                format!("{} > {}: {}", short(&from), short(&to), names.join(" "))
            })
            .collect()
    }

    #[test]
    fn files_that_use_each_other_are_a_circle() {
        let lib = ("lib", "mod a;\nmod b;\n");
        let a = ("a", "use crate::b::B;\npub struct A(B);\n");
        assert_eq!(tied(&[lib, a, ("b", "pub struct B;\n")]), [""; 0]);
        let expected = ["a > b: B", "b > a: A"];
        assert_eq!(tied(&[lib, a, ("b", "use super::a::A;\npub struct B(A);\n")]), expected);
        assert_eq!(tied(&[lib, a, ("b", "pub struct B(crate::a::A);\n")]), expected);
        assert_eq!(tied(&[lib, a, ("b", "use super::{a, c};\nstruct B(a::A);\n")]), expected);
        let import = "use super::a::{self as other};\nstruct B(other::A);\n";
        assert_eq!(tied(&[lib, a, ("b", import)]), expected);
    }

    #[test]
    fn a_circle_may_lead_through_others() {
        let files = [
            ("lib", "mod a;\nmod b;\nmod c;\n"),
            ("a", "pub fn one() { crate::b::two() }\n"),
            ("b", "use super::c;\npub(crate) fn two() { c::three::<u8>() }\n"),
            ("c", "use crate::{a::one, b};\npub fn three<T>() { one() }\n"),
        ];
        assert_eq!(tied(&files), ["a > b: two", "b > c: three", "c > a: one"]);
    }

    #[test]
    fn a_parent_that_re_exports_is_no_user_and_one_that_defines_is_used() {
        let child = ("a", "pub struct A;\n");
        let user = ("b", "use super::A;\npub struct B(A);\n");
        let lib = "mod a;\nmod b;\npub use a::A;\npub use b::B;\n";
        assert_eq!(tied(&[("lib", lib), child, user]), [""; 0]);
        let defines = "mod b;\npub use b::B;\npub struct A;\n";
        assert_eq!(tied(&[("lib", defines), user]), [""; 0]);
        let uses = "mod b;\npub use b::B;\npub struct A;\nfn all() -> B { todo() }\n";
        assert_eq!(tied(&[("lib", uses), user]), ["lib > b: B", "b > lib: A"]);
        let inline = "mod b;\nmod c { use super::b::B; }\npub struct A;\n";
        assert_eq!(tied(&[("lib", inline), user]), ["lib > b: B", "b > lib: A"]);
    }

    #[test]
    fn tests_comments_and_other_crates_do_not_count() {
        let b = "// use crate::a::A;\n//! [`crate::a::A`]\nuse std::a::A;\npub struct B;\n\
                 #[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n";
        let a = ("a", "use crate::b::B;\npub struct A(B);\n");
        assert_eq!(tied(&[("lib", "mod a;\nmod b;\n"), a, ("b", b)]), [""; 0]);
        let lib = ("lib", "mod a;\n#[cfg(test)]\nmod b;\n");
        assert_eq!(tied(&[lib, a, ("b", "use crate::a::A;\npub struct B(A);\n")]), [""; 0]);
    }

    #[test]
    fn a_type_with_methods_in_two_files_ties_them() {
        let b = ("b", "use crate::a::A;\nimpl<'a> A {\n pub fn second(&self) { self.x() }\n}\n");
        let a = "pub struct A;\nimpl A {\n fn first(&self) { self.second() }\n fn x(&self) {}\n}\n";
        let lib = ("lib", "mod a;\nmod b;\n");
        assert_eq!(tied(&[lib, ("a", a), b]), ["a > b: A.second()", "b > a: A A.x()"]);
        let other =
            "pub struct A;\npub struct C;\nimpl C {\n fn first(&self) { self.second() }\n}\n";
        assert_eq!(tied(&[lib, ("a", other), b]), [""; 0]);
    }

    #[test]
    fn findings_name_the_files_and_the_way_to_see_more() {
        let tree = Tree::fake(&[
            MANIFEST,
            ("crates/plan/src/lib.rs", "mod a;\nfn f() { a::g() }\n"),
            ("crates/plan/src/a.rs", "use super::f;\npub fn g() { f() }\n"),
        ]);
        assert_eq!(count(&tree), 1);
        let text = describe(&tree, Some("plan"));
        assert!(text.starts_with("plan: a circle of 2 files\n  lib.rs -> a.rs: g\n"), "{text}");
        assert_eq!(describe(&tree, Some("model")), "0 circles\n");
        let text = &circles(&tree)[0].text;
        assert!(text.contains("crates/plan/src/a.rs") && text.contains("--circles plan"), "{text}");
    }
}

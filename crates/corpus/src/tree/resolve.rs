//! From a description to its tree: how many there are, who lies where, and under which name.

use super::sizes::sizes;
use super::{Node, Tree};
use crate::contents::Generator;
use crate::description::{Class, Description, Dirs, Names, Spread};
use crate::name::Template;
use fsarena_model::dataset::{Distribution, mix};
use std::collections::HashSet;

/// Tells the hashes of weights, names and twins apart from others.
const WEIGHT_SALT: u64 = 0x6673_6172_656e_6114;
const NAME_SALT: u64 = 0x6673_6172_656e_6115;
const TWIN_SALT: u64 = 0x6673_6172_656e_6116;
/// How uneven an uneven spread is: weights of directories.
const WEIGHTS: Distribution =
    Distribution::Lognormal { median: 1000, sigma: 1.0, min: 1, max: 1_000_000 };
/// The number of a file is that of its class and its own within it.
const CLASS_SHIFT: u32 = 40;

impl Description {
    /// Resolves every entry; contents are made later.
    #[must_use]
    pub fn tree(&self) -> Tree {
        let mut layout = Layout::new(self);
        for (number, dirs) in self.dirs.iter().enumerate() {
            layout.add_dirs(number, dirs);
        }
        for (number, class) in self.classes.iter().enumerate() {
            layout.add_class(number, class);
        }
        layout.tree()
    }
}

impl Class {
    /// Whether its names differ within a directory.
    pub(super) fn varies(&self) -> bool {
        varies(&self.names)
    }
}

fn varies(names: &Names) -> bool {
    templates(names).iter().any(Template::varies)
}

fn templates(names: &Names) -> Vec<Template> {
    let parse = |text: &String| Template::parse(text).expect("checked when it was read");
    names.templates().iter().map(parse).collect()
}

/// A directory or file before it has its path.
struct Item {
    /// The directory it lies in.
    parent: u32,
    /// Which templates its name comes from.
    names: u32,
    /// Its number within that directory, among those of its class or group.
    number: u64,
    /// Its own hash.
    salt: u64,
    what: What,
}

enum What {
    /// Its number among the directories.
    Dir(u32),
    /// Class, number of its contents, size.
    File(u16, u64, u64),
}

struct Layout<'a> {
    description: &'a Description,
    /// The directories of each group; group 0 is the root.
    groups: Vec<Vec<u32>>,
    /// How many directories each group has at scale 1.
    whole: Vec<u64>,
    templates: Vec<Vec<Template>>,
    items: Vec<Item>,
    dirs: u32,
}

impl<'a> Layout<'a> {
    fn new(description: &'a Description) -> Self {
        Self {
            description,
            groups: vec![vec![0]],
            whole: vec![1],
            templates: Vec::new(),
            items: Vec::new(),
            dirs: 1,
        }
    }

    /// The number of the group called `name`.
    fn group(&self, name: Option<&str>) -> usize {
        name.map_or(0, |name| {
            let known = self.description.dirs.iter().position(|dirs| dirs.name == name);
            known.expect("checked when it was read") + 1
        })
    }

    fn add_dirs(&mut self, number: usize, dirs: &Dirs) {
        let within = self.group(dirs.within.as_deref());
        let parents = self.groups[within].len() as u64;
        let (mut count, whole) = match (dirs.count, dirs.each) {
            (Some(count), _) => (self.description.at_scale(count), count),
            (None, each) => {
                let each = each.expect("checked when it was read");
                (each * parents, each * self.whole[within])
            }
        };
        if !varies(&dirs.names) {
            count = count.min(parents * dirs.names.templates().len() as u64);
        }
        let salt = self.salt(number as u64);
        let first = self.dirs;
        self.add(within, &dirs.names, (count, dirs.spread, salt), |index| {
            What::Dir(first + index as u32)
        });
        self.dirs += count as u32;
        self.groups.push((first..self.dirs).collect());
        self.whole.push(whole);
    }

    fn add_class(&mut self, number: usize, class: &Class) {
        let within = self.group(class.within.as_deref());
        let parents = (self.whole[within], self.groups[within].len() as u64);
        let sizes = sizes(self.description, class, number, parents);
        let salt = self.salt(1 << 32 | number as u64);
        let twins = mix(salt ^ TWIN_SALT);
        let mut twin = 0;
        let count = sizes.len() as u64;
        self.add(within, &class.names, (count, class.spread, salt), |index| {
            if mix(index ^ twins) % 100 >= class.twins_percent {
                twin = index;
            }
            let contents = (number as u64) << CLASS_SHIFT | twin;
            What::File(number as u16, contents, sizes[index as usize])
        });
    }

    fn salt(&self, number: u64) -> u64 {
        mix(mix(self.description.seed) ^ number)
    }

    /// Deals `count` directories or files to those of group `within`.
    fn add(
        &mut self,
        within: usize,
        names: &Names,
        (count, spread, salt): (u64, Spread, u64),
        mut what: impl FnMut(u64) -> What,
    ) {
        let group = &self.groups[within];
        let counts = deal(count, group.len() as u64, spread, salt);
        let names_at = self.templates.len() as u32;
        let mut index = 0;
        for (parent, count) in group.iter().zip(counts) {
            for number in 0..count {
                self.items.push(Item {
                    parent: *parent,
                    names: names_at,
                    number,
                    salt: mix(index ^ mix(salt ^ NAME_SALT)),
                    what: what(index),
                });
                index += 1;
            }
        }
        self.templates.push(templates(names));
    }

    /// Gives all their paths, a directory before what is in it.
    fn tree(mut self) -> Tree {
        // Files before directories, and both in the order they were added.
        self.items.sort_by_key(|item| (item.parent, matches!(item.what, What::Dir(_))));
        let mut starts = vec![0usize; self.dirs as usize + 1];
        for item in &self.items {
            starts[item.parent as usize + 1] += 1;
        }
        for dir in 0..self.dirs as usize {
            starts[dir + 1] += starts[dir];
        }
        let description = self.description;
        let mut out = Out {
            paths: String::new(),
            nodes: Vec::with_capacity(self.items.len()),
            taken: HashSet::new(),
        };
        self.walk(&starts, &mut out);
        Tree {
            maker: Generator::new(description.seed),
            seed: description.seed,
            classes: description.classes.iter().map(|class| class.name.clone()).collect(),
            kinds: description.classes.iter().map(|class| class.contents).collect(),
            modes: description.classes.iter().map(|class| class.mode.bits()).collect(),
            paths: out.paths,
            nodes: out.nodes,
        }
    }

    /// Directories in depth first order; the names of one are given when it is entered.
    fn walk(&self, starts: &[usize], out: &mut Out) {
        let mut stack: Vec<(u32, String)> = vec![(0, String::new())];
        while let Some((dir, path)) = stack.pop() {
            if dir > 0 {
                out.push(&path, None, 0, 0);
            }
            out.taken.clear();
            let below = stack.len();
            for item in &self.items[starts[dir as usize]..starts[dir as usize + 1]] {
                let name = self.name(item, &path, out);
                let path = if path.is_empty() { name } else { format!("{path}/{name}") };
                match item.what {
                    What::Dir(number) => stack.push((number, path)),
                    What::File(class, contents, size_bytes) => {
                        out.push(&path, Some(class), contents, size_bytes);
                    }
                }
            }
            stack[below..].reverse();
        }
    }

    /// A name that no other has in the directory at `path`.
    fn name(&self, item: &Item, path: &str, out: &mut Out) -> String {
        let templates = &self.templates[item.names as usize];
        let template = &templates[(item.number % templates.len() as u64) as usize];
        let dir = path.rsplit('/').next().unwrap_or("");
        let mut name = String::with_capacity(24);
        template.write(item.number, dir, item.salt, &mut name);
        let length = name.len();
        let mut next = 2;
        while !out.taken.insert(name.clone()) {
            name.truncate(length);
            name.push_str(&format!("-{next}"));
            next += 1;
        }
        name
    }
}

struct Out {
    paths: String,
    nodes: Vec<Node>,
    /// Names of the directory at hand.
    taken: HashSet<String>,
}

impl Out {
    fn push(&mut self, path: &str, class: Option<u16>, number: u64, size_bytes: u64) {
        self.paths.push_str(path);
        self.nodes.push(Node { path_end: self.paths.len(), class, number, size_bytes });
    }
}

/// How many of `count` each of `parents` gets.
fn deal(count: u64, parents: u64, spread: Spread, salt: u64) -> Vec<u64> {
    let weights: Vec<u64> = match spread {
        Spread::Even => vec![1; parents as usize],
        Spread::Uneven => {
            let draw = WEIGHTS.draw(salt ^ WEIGHT_SALT);
            (0..parents).map(|parent| draw.value_at(parent)).collect()
        }
    };
    let one_each = u64::from(spread == Spread::Uneven && count >= parents);
    let rest = u128::from(count - one_each * parents);
    let all: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    let (mut sum, mut dealt) = (0, 0);
    let share = |weight: &u64| {
        sum += u128::from(*weight);
        let until = sum * rest / all;
        let share = until - dealt;
        dealt = until;
        one_each + share as u64
    };
    weights.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_dealt() {
        for spread in [Spread::Even, Spread::Uneven] {
            for (count, parents) in [(0, 3), (1, 3), (2, 3), (3, 3), (1000, 7), (5, 1)] {
                let dealt = deal(count, parents, spread, 9);
                assert_eq!((dealt.len() as u64, dealt.iter().sum()), (parents, count));
            }
        }
        assert_eq!(deal(7, 3, Spread::Even, 0), [2, 2, 3]);
        let uneven = deal(10_000, 50, Spread::Uneven, 3);
        let (least, most) = (uneven.iter().min().unwrap(), uneven.iter().max().unwrap());
        assert!(*least >= 1 && *most > 4 * least, "{uneven:?}");
    }
}

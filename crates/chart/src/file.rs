//! A drawing as a file of its own, for papers, slides and other programs: the rules of the style
//! sheet are worked out here, in one place, and stand in the file as attributes.
//!
//! Other programs than browsers know no variables (librsvg, CairoSVG, Inkscape, office programs
//! draw them black or not at all), and some no style sheet. So a file has neither: each element has
//! its colours, always dark on white. Nothing is drawn here.

use crate::style::STYLE;
use crate::{Svg, text};
use roxmltree::{Document, Node};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;

/// Height of the visible title, in units.
const TITLE: u32 = 28;
/// From one line of the title to the next, in units.
const TITLE_LINE: u32 = 20;
/// Letters of this height are as wide as the title's, which are bold and 16 high.
const BOLD: f64 = 18.0;
/// Room around the drawing, in units.
const AROUND: u32 = 12;
/// Faces that the letters are taken from: the first that there is. Where there is none, the widths
/// that the drawing reckons with are those of a wide one.
const FACES: &str = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";
/// Properties that are attributes of SVG too, in the order written.
const ATTRIBUTES: [&str; 9] = [
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "stroke-linejoin",
    "font-size",
    "font-weight",
    "rx",
];

/// How wide a file is printed, mm.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PaperWidth(f64);

impl PaperWidth {
    /// From a stamp to a poster.
    const MM: std::ops::RangeInclusive<f64> = 20.0..=1000.0;

    /// In millimetres.
    #[must_use]
    pub fn mm(self) -> f64 {
        self.0
    }
}

impl Default for PaperWidth {
    /// Most of the width of a page with one column.
    fn default() -> Self {
        Self(120.0)
    }
}

/// A width that no file can have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unfit {
    text: String,
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (least, most) = (PaperWidth::MM.start(), PaperWidth::MM.end());
        write!(
            f,
            "{:?} is no width of a figure; say it in mm, cm or in, from {least} mm to {most} mm, \
             such as 85mm (a column of a paper)",
            self.text
        )
    }
}

impl std::error::Error for Unfit {}

impl FromStr for PaperWidth {
    type Err = Unfit;

    fn from_str(text: &str) -> Result<Self, Unfit> {
        let units = [("mm", 1.0), ("cm", 10.0), ("in", 25.4)];
        let found = units.iter().find_map(|(unit, mm)| {
            let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
            Some(number * mm)
        });
        let fit = found.filter(|mm| Self::MM.contains(mm));
        fit.map(Self).ok_or_else(|| Unfit { text: text.to_owned() })
    }
}

impl Svg {
    /// A file of its own: the title above the drawing, dark on white, without variables and without
    /// a style sheet.
    ///
    /// # Panics
    /// Never: what charts draw is well-formed.
    #[must_use]
    pub fn file(&self, width: PaperWidth) -> String {
        let framed = self.framed(width);
        let document = Document::parse(&framed).expect("charts are well-formed");
        let rules = Rules::read(STYLE);
        let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
        write_element(&mut out, document.root_element(), &rules, &rules.variables);
        out.push('\n');
        out
    }

    /// The same drawing with room around it, paper below it, and its title above it.
    fn framed(&self, width: PaperWidth) -> String {
        let at = format!("viewBox=\"0 0 440 {}\"", self.height);
        let title = text::wrap(&self.title, 440.0, BOLD, 2);
        let title_high = (0..title.len()).skip(1).fold(TITLE, |high, _| high + TITLE_LINE);
        let (wide, high) = (440 + 2 * AROUND, self.height + title_high + 2 * AROUND);
        let mm = width.mm();
        let high_mm = mm * f64::from(high) / f64::from(wide);
        let top = title_high + AROUND;
        let around = format!(
            "viewBox=\"-{AROUND} -{top} {wide} {high}\" width=\"{mm}mm\" height=\"{high_mm:.3}mm\" \
             font-family=\"{FACES}\""
        );
        let mut head = format!(
            "</desc><rect class=\"paper\" x=\"-{AROUND}\" y=\"-{top}\" width=\"{wide}\" \
             height=\"{high}\"/>"
        );
        let above = (0u32..).map(|lines| 14 + lines * TITLE_LINE);
        for (line, above) in title.iter().rev().zip(above) {
            let _ = write!(head, "<text class=\"head\" x=\"0\" y=\"-{above}\">");
            text::escape(line, &mut head);
            head.push_str("</text>");
        }
        self.inline.replacen(&at, &around, 1).replacen("</desc>", &head, 1)
    }

    /// Names of the files of these charts, without their ends: none stands twice, and the same
    /// charts in the same order have the same names.
    #[must_use]
    pub fn file_names(charts: &[Self]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for chart in charts {
            let mut name = chart.name.clone();
            let mut number = 2;
            while names.contains(&name) {
                name = format!("{}-{number}", chart.name);
                number += 1;
            }
            names.push(name);
        }
        names
    }
}

/// Values by the names of their properties.
type Values = BTreeMap<String, String>;

/// A part of a selector: an element, classes, or both.
#[derive(Default)]
struct Simple {
    element: Option<String>,
    classes: Vec<String>,
}

impl Simple {
    /// `polyline`, `.label`; nothing where it is of something that no file has, such as `:hover`.
    fn read(text: &str) -> Option<Self> {
        if text.contains(':') {
            return None;
        }
        let mut parts = text.split('.');
        let element = parts.next().filter(|name| !name.is_empty()).map(str::to_owned);
        Some(Self { element, classes: parts.map(str::to_owned).collect() })
    }

    fn fits(&self, node: Node<'_, '_>) -> bool {
        let own = node.attribute("class").unwrap_or_default();
        let has = |class: &String| own.split(' ').any(|one| one == class);
        self.element.as_ref().is_none_or(|name| node.has_tag_name(name.as_str()))
            && self.classes.iter().all(has)
    }
}

/// A rule with one selector.
struct Rule {
    /// From the outermost to the element itself.
    selector: Vec<Simple>,
    values: Vec<(String, String)>,
}

impl Rule {
    /// How much it counts beside others: classes, then elements.
    fn weight(&self) -> (usize, usize) {
        let classes = self.selector.iter().map(|one| one.classes.len()).sum();
        (classes, self.selector.iter().filter(|one| one.element.is_some()).count())
    }

    fn fits(&self, node: Node<'_, '_>) -> bool {
        let Some((own, around)) = self.selector.split_last() else { return false };
        if !own.fits(node) {
            return false;
        }
        // Each is found as near as can be: selectors have descendants alone.
        let mut above = node.ancestors().skip(1).filter(Node::is_element);
        around.iter().rev().all(|one| above.any(|node| one.fits(node)))
    }
}

/// A style sheet as charts write it: variables, and rules of elements and classes.
struct Rules {
    /// Of the whole document.
    variables: Values,
    /// The ones that count more later.
    rules: Vec<Rule>,
}

impl Rules {
    /// Without what is for screens, print or a pointer alone.
    fn read(sheet: &str) -> Self {
        let plain = without_media(sheet);
        let mut found = Self { variables: Values::new(), rules: Vec::new() };
        for (selectors, body) in plain.split('}').filter_map(|rule| rule.split_once('{')) {
            let values = declarations(body);
            for selector in selectors.split(',').map(str::trim) {
                if selector == ":root" {
                    found.variables.extend(values.iter().cloned());
                    continue;
                }
                let parts = selector.split_whitespace().map(Simple::read);
                if let Some(selector) = parts.collect::<Option<Vec<_>>>() {
                    found.rules.push(Rule { selector, values: values.clone() });
                }
            }
        }
        found.rules.sort_by_key(Rule::weight);
        found
    }

    /// What an element has by its rules, variables of `around` put in: variables, then the rest.
    fn of_element(&self, node: Node<'_, '_>, around: &Values) -> (Values, Values) {
        let mut found = Values::new();
        for rule in self.rules.iter().filter(|rule| rule.fits(node)) {
            found.extend(rule.values.iter().cloned());
        }
        let (own, rest): (Values, Values) =
            found.into_iter().partition(|(name, _)| name.starts_with("--"));
        let mut variables = around.clone();
        for (name, value) in own {
            let value = put_in(&value, &variables);
            variables.insert(name, value);
        }
        let rest = rest.into_iter().map(|(name, value)| (name, put_in(&value, &variables)));
        let rest = rest.collect();
        (variables, rest)
    }
}

/// The sheet without `@media { … }`.
fn without_media(sheet: &str) -> String {
    let mut out = String::new();
    let mut rest = sheet;
    while let Some((before, media)) = rest.split_once("@media") {
        out.push_str(before);
        let mut depth = 0_usize;
        let end = media.char_indices().find(|(_, letter)| {
            depth += usize::from(*letter == '{');
            let is_end = *letter == '}' && depth == 1;
            depth -= usize::from(*letter == '}' && depth > 0);
            is_end
        });
        rest = end.map_or("", |(at, _)| &media[at + 1..]);
    }
    out + rest
}

fn declarations(body: &str) -> Vec<(String, String)> {
    let each = body.split(';').filter_map(|one| one.split_once(':'));
    each.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
}

/// A value with each `var(--name)` replaced.
fn put_in(value: &str, variables: &Values) -> String {
    let mut value = value.to_owned();
    while let Some((before, rest)) = value.split_once("var(") {
        let Some((name, after)) = rest.split_once(')') else { break };
        let found = variables.get(name).map_or("none", String::as_str);
        value = format!("{before}{found}{after}");
    }
    value
}

/// A value as attributes have it: a bare number, and words that all programs know.
fn bare<'v>(name: &str, value: &'v str) -> &'v str {
    match (name, value) {
        ("font-weight", "600") => "bold",
        _ => value.strip_suffix("px").unwrap_or(value),
    }
}

fn write_element(out: &mut String, node: Node<'_, '_>, rules: &Rules, around: &Values) {
    let (variables, mut values) = rules.of_element(node, around);
    let name = node.tag_name().name();
    let _ = write!(out, "<{name}");
    if node.parent_element().is_none() {
        out.push_str(" xmlns=\"http://www.w3.org/2000/svg\" font-size=\"12\"");
    }
    for attribute in node.attributes() {
        let name = attribute.name();
        if name != "class" && !name.starts_with("data-") {
            write_attribute(out, name, attribute.value());
            values.remove(name);
        }
    }
    let is_text = name == "text";
    for attribute in ATTRIBUTES.iter().filter(|name| is_text || !name.starts_with("font")) {
        if let Some(value) = values.get(*attribute) {
            write_attribute(out, attribute, bare(attribute, value));
        }
    }
    if !node.has_children() {
        out.push_str("/>");
        return;
    }
    out.push('>');
    for child in node.children() {
        if child.is_element() {
            write_element(out, child, rules, &variables);
        } else if let Some(words) = child.text() {
            text::escape(words, out);
        }
    }
    let _ = write!(out, "</{name}>");
}

fn write_attribute(out: &mut String, name: &str, value: &str) {
    let _ = write!(out, " {name}=\"");
    text::escape(value, out);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Bar, Bars, Group, Groups, Head, Key, Part, Spot};

    fn bars(title: &str) -> Svg {
        let bar = |hue: usize| Bar {
            key: Key { label: format!("c{hue}"), hue },
            value: Some(Spot { value: 1.0, tip: "1 s".into() }),
            points: vec![Spot { value: 1.0, tip: "block 1".into() }],
            ..Bar::default()
        };
        let name = ["small files", "create", "time"].map(str::to_owned).to_vec();
        let head = Head { id: "r1".into(), name, title: title.into(), ..Head::default() };
        Bars { head, axis: Axis::linear("time, s", " s"), bars: vec![bar(0), bar(3)] }.draw()
    }

    #[test]
    fn a_file_has_colours_and_neither_variables_nor_a_style_sheet() {
        let file = bars("Create").file(PaperWidth::default());
        for word in ["var(", "<style", "class=", "data-", "currentColor"] {
            assert!(!file.contains(word), "{word}: {file}");
        }
        assert!(file.contains("fill=\"#0072b2\""), "the first hue: {file}");
        assert!(file.contains("fill=\"#ffffff\""), "white paper");
        assert!(file.contains("fill=\"#1c2024\""), "dark words");
        assert!(file.contains("font-family=\"Helvetica, Arial, "), "{file}");
        assert!(file.contains("font-size=\"16\" font-weight=\"bold\">Create</text>"), "{file}");
        assert!(file.contains("width=\"120mm\""), "{file}");
    }

    #[test]
    fn a_long_title_takes_two_lines_and_the_drawing_makes_room() {
        let long = "2010 and this machine, as ratios to the best of each time and more words";
        let (short, file) = (bars("Create"), bars(long).file(PaperWidth::default()));
        for line in ["y=\"-34\"", "y=\"-14\"", "of each time", "more words</text>"] {
            assert!(file.contains(line), "{line}: {file}");
        }
        assert!(!file.contains('…'), "nothing is cut off: {file}");
        let high = |top: u32| format!("viewBox=\"-12 -{top} 464 {}\"", short.height + top + 12);
        assert!(short.file(PaperWidth::default()).contains(&high(40)));
        assert!(file.contains(&high(60)), "{file}");
    }

    #[test]
    fn every_shape_says_how_it_is_filled() {
        let part = |hatched: bool| Part {
            key: Key { label: "a".into(), hue: 2 },
            hatched,
            value: Some(Spot { value: 1.0, tip: String::new() }),
        };
        let groups = vec![Group { label: "g".into(), parts: vec![part(true), part(false)] }];
        let svg = Groups { groups, ..Groups::default() }.draw();
        let text = svg.file("85mm".parse().unwrap());
        let document = Document::parse(&text).unwrap();
        let shapes = ["rect", "circle", "text", "polygon", "polyline", "path"];
        let all = document.descendants().filter(|node| shapes.contains(&node.tag_name().name()));
        let mut count = 0;
        for shape in all {
            count += 1;
            let is_seen = shape.attribute("fill").is_some_and(|fill| fill != "none")
                || shape.attribute("stroke").is_some();
            assert!(is_seen, "{shape:?}");
        }
        assert!(count > 8, "{count}");
        assert!(text.contains("url(#"), "hatched: {text}");
        assert!(text.contains("width=\"85mm\""), "{text}");
    }

    #[test]
    fn rules_that_say_more_win_and_variables_are_those_of_where_they_are_used() {
        let rules = Rules::read(
            ":root { --a: red; --b: blue; } g .x { fill: var(--c); } .x { fill: green; rx: 2px }
             .in { --c: var(--b); } .x:hover { fill: none; } @media print { .x { fill: none; } }
             text, .x { stroke: var(--a); }",
        );
        let text = "<svg><g class=\"in\"><rect class=\"x y\"/></g><rect class=\"x\"/></svg>";
        let document = Document::parse(text).unwrap();
        let mut out = String::new();
        write_element(&mut out, document.root_element(), &rules, &rules.variables);
        let (_, inner) = out.split_once("<g>").unwrap();
        assert_eq!(
            inner,
            "<rect fill=\"blue\" stroke=\"red\" rx=\"2\"/></g><rect fill=\"green\" stroke=\"red\" \
             rx=\"2\"/></svg>"
        );
    }

    #[test]
    fn names_are_lower_case_stable_and_stand_once() {
        let all = [bars("a"), bars("b"), bars("c")];
        let names = Svg::file_names(&all);
        let expected = ["", "-2", "-3"].map(|end| format!("small-files-create-time{end}"));
        assert_eq!(names, expected);
    }

    #[test]
    fn widths_have_a_unit_and_bounds() {
        let mm = |text: &str| text.parse::<PaperWidth>().map(PaperWidth::mm);
        assert_eq!(mm("85mm"), Ok(85.0));
        assert_eq!(mm("8.5 cm"), Ok(85.0));
        assert_eq!(mm("4in"), Ok(101.6));
        for bad in ["85", "wide", "0mm", "-1mm", "1e9mm", "NaNmm", "85px"] {
            let error = mm(bad).unwrap_err().to_string();
            assert!(error.contains("such as 85mm"), "{error}");
        }
    }
}

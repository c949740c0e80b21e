//! A parsed page, flat: elements in their order with their attributes and all text in them.

use html5ever::tendril::TendrilSink as _;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

/// An element.
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    /// All text in it.
    text: String,
}

/// A page.
pub struct Dom {
    elements: Vec<Element>,
    /// What the parser had to mend.
    pub errors: Vec<String>,
}

impl Dom {
    /// Parses a document as a browser with scripting does.
    pub fn parse(text: &str) -> Self {
        let dom = parse_document(RcDom::default(), ParseOpts::default()).one(text);
        let mut elements = Vec::new();
        collect(&dom.document, &mut elements);
        let errors = dom.errors.borrow().iter().map(ToString::to_string).collect();
        Self { elements, errors }
    }

    /// Values of an attribute, wherever it stands.
    pub fn attributes(&self, name: &str) -> Vec<String> {
        let all = self.elements.iter().flat_map(|element| &element.attributes);
        all.filter(|(own, _)| own == name).map(|(_, value)| value.clone()).collect()
    }

    /// An attribute of every element of this name.
    pub fn attributes_of(&self, element: &str, name: &str) -> Vec<Option<String>> {
        self.named(element).map(|one| one.attribute(name)).collect()
    }

    /// Texts of all elements of this name.
    pub fn texts(&self, element: &str) -> Vec<String> {
        self.named(element).map(|one| one.text.clone()).collect()
    }

    /// Text of the element with this id.
    pub fn text_of_id(&self, id: &str) -> Option<String> {
        let is_it = |one: &&Element| one.attribute("id").as_deref() == Some(id);
        self.elements.iter().find(is_it).map(|one| one.text.clone())
    }

    /// Type and text of every script.
    pub fn scripts(&self) -> Vec<(Option<String>, String)> {
        self.named("script").map(|one| (one.attribute("type"), one.text.clone())).collect()
    }

    /// Levels of the headings, in their order.
    pub fn heading_levels(&self) -> Vec<u32> {
        let level = |one: &Element| match one.name.as_bytes() {
            [b'h', digit @ b'1'..=b'6'] => Some(u32::from(digit - b'0')),
            _ => None,
        };
        self.elements.iter().filter_map(level).collect()
    }

    fn named<'d>(&'d self, name: &'d str) -> impl Iterator<Item = &'d Element> + 'd {
        self.elements.iter().filter(move |one| one.name == name)
    }
}

impl Element {
    fn attribute(&self, name: &str) -> Option<String> {
        let found = self.attributes.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.clone())
    }
}

/// Elements in the order of their start tags; gives the text of the node.
fn collect(node: &Handle, elements: &mut Vec<Element>) -> String {
    let mut at = None;
    match &node.data {
        NodeData::Text { contents } => return contents.borrow().to_string(),
        NodeData::Element { name, attrs, .. } => {
            let pair =
                |one: &html5ever::Attribute| (one.name.local.to_string(), one.value.to_string());
            at = Some(elements.len());
            elements.push(Element {
                name: name.local.to_string(),
                attributes: attrs.borrow().iter().map(pair).collect(),
                text: String::new(),
            });
        }
        _ => {}
    }
    let text: String = node.children.borrow().iter().map(|one| collect(one, elements)).collect();
    if let Some(at) = at {
        elements[at].text.clone_from(&text);
    }
    text
}

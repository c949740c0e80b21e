//! The finished drawing.

use crate::style::STYLE;
use crate::text;

/// Number of hues that can be told apart, also by people who do not see all colours.
pub const HUES: usize = 8;

/// Height of the visible title of a file, in units.
const TITLE: u32 = 28;

/// A drawing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Svg {
    /// The `id` of its head; what may not stand in an id is replaced by `-`.
    pub id: String,
    /// The title of its head.
    pub title: String,
    /// Marks in it: elements with the class `mark`, one a value that is shown.
    pub marks: usize,
    /// Height in the units of the `viewBox`; it is 440 wide.
    pub height: u32,
    /// The `<svg>` element, `role="img"`, with `<title>`, `<desc>` and `data-marks`. Its title is
    /// not visible in it: the page has a caption.
    pub inline: String,
}

impl Svg {
    /// A file of its own, with the style sheet in it and the title above the drawing.
    #[must_use]
    pub fn file(&self) -> String {
        let at = format!("viewBox=\"0 0 440 {}\"", self.height);
        // A margin around, and a strip above for the title.
        let (wide, high) = (440 + 24, self.height + TITLE + 24);
        let around = format!(
            "viewBox=\"-12 -{} {wide} {high}\" width=\"{wide}\" height=\"{high}\"",
            TITLE + 12
        );
        let framed = self.inline.replacen(&at, &around, 1);
        let mut head = format!(
            "</desc><style>{STYLE}</style><rect class=\"paper\" x=\"-12\" y=\"-{}\" \
             width=\"{wide}\" height=\"{high}\"/><text class=\"head\" x=\"0\" y=\"-14\">",
            TITLE + 12
        );
        text::escape(&text::shorten(&self.title, 440.0, 16.0), &mut head);
        head.push_str("</text>");
        let framed = framed.replacen("</desc>", &head, 1);
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{framed}\n")
    }
}

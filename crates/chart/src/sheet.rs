//! A drawing in the making: elements in units, marks around them, and the frame of the whole; and
//! the finished drawing.

use crate::ink::Ink;
use crate::{Head, text};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, Drawable, PathElement, PointCollection, Polygon, Rectangle, Text};
use plotters::style::{Color, TextStyle};
use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::rc::Rc;

/// Width of every chart, in units.
pub(crate) const WIDTH: f64 = 440.0;

/// Which end of a text stands at its place.
pub(crate) use plotters_backend::text_anchor::HPos as Anchor;

/// Number of hues that can be told apart, also by people who do not see all colours.
pub const HUES: usize = 12;
/// The hue of what has none of its own: grey.
pub const NO_HUE: usize = usize::MAX;

/// A drawing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Svg {
    /// The `id` of its head; what may not stand in an id is replaced by `-`.
    pub id: String,
    /// Name of its file without the end: lower case letters, digits and `-`. Charts of one page
    /// may share it; see [`Svg::file_names`].
    pub name: String,
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
    /// The same drawing with other words: `words` of each text in it, of tooltips, and of its
    /// title. Everything stays in its place, so words that need more room are drawn over what is
    /// beside them: those that are laid out are given before it is drawn.
    #[must_use]
    pub fn with_texts(&self, words: impl Fn(&str) -> String) -> Self {
        let mut inline = String::with_capacity(self.inline.len());
        for (at, part) in self.inline.split_inclusive(['<', '>']).enumerate() {
            // Elements and texts take turns: neither sign is in a text or in a value.
            let (own, end) = part.split_at(part.len() - usize::from(part.ends_with(['<', '>'])));
            match at % 2 {
                0 => text::replaced(own, &words, &mut inline),
                _ => element(own, &words, &mut inline),
            }
            inline.push_str(end);
        }
        Self { title: words(&self.title), inline, ..self.clone() }
    }
}

/// An element with other words in its tooltip.
fn element(own: &str, words: &impl Fn(&str) -> String, out: &mut String) {
    const TIP: &str = " data-tip=\"";
    let found = own.split_once(TIP).and_then(|(head, rest)| Some((head, rest.split_once('"')?)));
    let Some((head, (tip, rest))) = found else { return out.push_str(own) };
    out.push_str(head);
    out.push_str(TIP);
    text::replaced(tip, words, out);
    out.push('"');
    out.push_str(rest);
}

/// A drawing in the making.
pub(crate) struct Sheet<'a> {
    head: &'a Head,
    height: f64,
    paper: Paper,
    area: DrawingArea<Pen, Shift>,
    marks: usize,
}

/// Units to tenths. What is not finite lies at 0: charts leave such values out before.
fn fine(units: f64) -> i32 {
    (units * 10.0).round() as i32
}

fn place((x, y): (f64, f64)) -> (i32, i32) {
    (fine(x), fine(y))
}

impl<'a> Sheet<'a> {
    /// Of this height in units, rounded up to a whole one.
    pub(crate) fn new(head: &'a Head, height: f64) -> Self {
        let height = height.ceil();
        let paper = Paper::default();
        let size = (fine(WIDTH).unsigned_abs(), fine(height).unsigned_abs());
        let pen = Pen { paper: Rc::clone(&paper), size, id: safe(&head.id) };
        Self { head, height, paper, area: pen.into_drawing_area(), marks: 0 }
    }

    fn draw<'e, E>(&self, element: &'e E)
    where
        &'e E: PointCollection<'e, (i32, i32)>,
        E: Drawable<Pen>,
    {
        self.area.draw(element).expect("the pen writes to memory and is free");
    }

    /// A rectangle between two corners.
    pub(crate) fn rect(&self, from: (f64, f64), to: (f64, f64), ink: Ink) {
        self.draw(&Rectangle::new([place(from), place(to)], ink.filled()));
    }

    /// A line through points.
    pub(crate) fn path(&self, points: &[(f64, f64)], ink: Ink) {
        let points: Vec<_> = points.iter().copied().map(place).collect();
        self.draw(&PathElement::new(points, ink));
    }

    pub(crate) fn dot(&self, at: (f64, f64), radius: f64, ink: Ink) {
        self.draw(&Circle::new(place(at), fine(radius), ink.filled()));
    }

    /// A triangle that points right (`by` above 0) or left: the value lies further on.
    pub(crate) fn arrow(&self, (x, y): (f64, f64), by: f64) {
        let corners = vec![place((x, y - 4.0)), place((x + by, y)), place((x, y + 4.0))];
        self.draw(&Polygon::new(corners, Ink::Beyond));
    }

    /// A text on the line at `y`.
    pub(crate) fn text(&self, at: (f64, f64), anchor: HPos, ink: Ink, words: &str) {
        if words.is_empty() {
            return;
        }
        let style = TextStyle::from(("sans-serif", text::SMALL))
            .color(&ink)
            .pos(Pos::new(anchor, VPos::Bottom));
        self.draw(&Text::new(words, place(at), style));
    }

    /// What is drawn within is one mark: a value that is shown, with words for it.
    pub(crate) fn mark(&mut self, class: &str, tip: &str, within: impl FnOnce(&Self)) {
        self.marks += 1;
        self.group(&format!("mark {class}"), tip, within);
    }

    /// What is drawn within has a class and words, for the script too.
    pub(crate) fn group(&self, class: &str, tip: &str, within: impl FnOnce(&Self)) {
        let mut open = format!("<g class=\"{class}\" data-tip=\"");
        text::escape(tip, &mut open);
        open.push_str("\">");
        self.titled(open, tip, within);
    }

    /// What is drawn within has words of its own: one of many inside a mark.
    pub(crate) fn raw(&self, tip: &str, within: impl FnOnce(&Self)) {
        self.titled("<g>".to_owned(), tip, within);
    }

    /// What is drawn within has a class, and is no mark.
    pub(crate) fn raw_class(&self, class: &str, within: impl FnOnce(&Self)) {
        self.titled(format!("<g class=\"{class}\">"), "", within);
    }

    fn titled(&self, mut open: String, tip: &str, within: impl FnOnce(&Self)) {
        if !tip.is_empty() {
            open.push_str("<title>");
            text::escape(tip, &mut open);
            open.push_str("</title>");
        }
        self.paper.borrow_mut().push_str(&open);
        within(self);
        self.paper.borrow_mut().push_str("</g>");
    }

    /// The finished drawing.
    pub(crate) fn finish(self) -> Svg {
        let (id, marks, paper) = (safe(&self.head.id), self.marks, self.paper.borrow());
        let height = tenths(fine(self.height));
        let mut inline = format!(
            "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} \
             {height}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\" data-marks=\"{marks}\">\
             <title id=\"{id}-t\">"
        );
        text::escape(&self.head.title, &mut inline);
        inline.push_str(&format!("</title><desc id=\"{id}-d\">"));
        text::escape(&self.head.description, &mut inline);
        inline.push_str("</desc>");
        inline.push_str(&patterns(&id, &paper));
        inline.push_str(&paper);
        inline.push_str("</svg>");
        let name =
            if self.head.name.is_empty() { text::slug([&id]) } else { text::slug(&self.head.name) };
        let title = self.head.title.clone();
        Svg { id, name, title, marks, height: self.height as u32, inline }
    }
}

/// The patterns that the drawing makes use of.
fn patterns(id: &str, paper: &str) -> String {
    let shapes = [("stripes", "<path d=\"M-1 1 1 -1M-1 6 6 -1M4 6 6 4\"/>")];
    let used = shapes.iter().filter(|(name, _)| paper.contains(&format!("#{id}-{name})")));
    let used: String = used
        .map(|(name, shape)| {
            format!(
                "<pattern id=\"{id}-{name}\" width=\"5\" height=\"5\" \
                 patternUnits=\"userSpaceOnUse\">{shape}</pattern>"
            )
        })
        .collect();
    if used.is_empty() { used } else { format!("<defs>{used}</defs>") }
}

/// An id as it may stand in an attribute and in `url(#…)`.
fn safe(id: &str) -> String {
    let fit = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let id: String = id.chars().map(|letter| if fit(letter) { letter } else { '-' }).collect();
    if id.is_empty() { "chart".to_owned() } else { id }
}

type Done = Result<(), DrawingErrorKind<Infallible>>;

/// The text that the elements are written to; marks are opened and closed in it.
type Paper = Rc<RefCell<String>>;

/// Writes SVG.
struct Pen {
    /// Where to.
    paper: Paper,
    /// Tenths of a unit.
    size: (u32, u32),
    /// What ids begin with.
    id: String,
}

/// Tenths of a unit as short as they can be written.
fn tenths(value: i32) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let (whole, rest) = (value.unsigned_abs() / 10, value.unsigned_abs() % 10);
    if rest == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") }
}

impl Pen {
    fn put(&self, element: std::fmt::Arguments<'_>) {
        self.paper.borrow_mut().write_fmt(element).expect("writing to a String does not fail");
    }

    /// What is filled by a pattern says so itself: its id is the chart's own.
    fn pattern(&self, class: &str) -> String {
        match class {
            "stripes" => format!(" fill=\"url(#{}-{class})\"", self.id),
            _ => String::new(),
        }
    }

    fn points(&self, path: impl IntoIterator<Item = BackendCoord>) -> String {
        let mut points = String::new();
        let mut before = None;
        for at in path.into_iter().filter(|&at| before.replace(at) != Some(at)) {
            let gap = if points.is_empty() { "" } else { " " };
            write!(points, "{gap}{},{}", tenths(at.0), tenths(at.1))
                .expect("writing to a String does not fail");
        }
        points
    }
}

impl DrawingBackend for Pen {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Done {
        Ok(())
    }

    fn present(&mut self) -> Done {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Done {
        self.draw_circle(at, 5, &color, true)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Done {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        _fill: bool,
    ) -> Done {
        let class = Ink::class_of(style.color());
        let (wide, high) = (tenths(to.0 - from.0), tenths(to.1 - from.1));
        let (x, y, pattern) = (tenths(from.0), tenths(from.1), self.pattern(class));
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{wide}\" \
             height=\"{high}\"{pattern}/>"
        ));
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        let (class, points) = (Ink::class_of(style.color()), self.points(path));
        self.put(format_args!("<polyline class=\"{class}\" points=\"{points}\"/>"));
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        at: BackendCoord,
        radius: u32,
        style: &S,
        _fill: bool,
    ) -> Done {
        let class = Ink::class_of(style.color());
        let radius = tenths(i32::try_from(radius).unwrap_or(i32::MAX));
        let (x, y) = (tenths(at.0), tenths(at.1));
        self.put(format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"));
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        let (class, points) = (Ink::class_of(style.color()), self.points(path));
        self.put(format_args!("<polygon class=\"{class}\" points=\"{points}\"/>"));
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(&mut self, words: &str, style: &T, at: BackendCoord) -> Done {
        let class = Ink::class_of(style.color());
        let anchor = match style.anchor().h_pos {
            HPos::Left => "",
            HPos::Center => " text-anchor=\"middle\"",
            HPos::Right => " text-anchor=\"end\"",
        };
        let mut escaped = String::new();
        text::escape(words, &mut escaped);
        let (x, y) = (tenths(at.0), tenths(at.1));
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{escaped}</text>"
        ));
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        words: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let size = style.size();
        Ok((text::wide(words, size).ceil() as u32, size.ceil() as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tenths_are_written_short() {
        assert_eq!([0, 5, 10, 123, -7, -120].map(tenths), ["0", "0.5", "1", "12.3", "-0.7", "-12"]);
    }
}

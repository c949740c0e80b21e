//! Our backend of plotters: elements become SVG elements with a class, coordinates are tenths of a
//! unit.
//!
//! Sizes, faces and colours that plotters offers are left alone: they are the style sheet's.

use crate::ink::Ink;
use crate::text;
use plotters_backend::text_anchor::HPos;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::rc::Rc;

type Done = Result<(), DrawingErrorKind<Infallible>>;

/// The text that the elements are written to; marks are opened and closed in it.
pub(crate) type Paper = Rc<RefCell<String>>;

/// Writes SVG.
pub(crate) struct Pen {
    /// Where to.
    pub(crate) paper: Paper,
    /// Tenths of a unit.
    pub(crate) size: (u32, u32),
    /// What ids begin with.
    pub(crate) id: String,
}

/// Tenths of a unit as short as they can be written.
pub(crate) fn tenths(value: i32) -> String {
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
            "stripes" | "dots" => format!(" fill=\"url(#{}-{class})\"", self.id),
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
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
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

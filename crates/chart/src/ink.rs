//! What an element is, which decides how it looks: the class that the style sheet knows.
//!
//! plotters hands a colour from an element to its backend. Ours are numbers of this list in the
//! place of red; no colour is ever named in Rust.

use plotters::style::Color;
use plotters_backend::BackendColor;

macro_rules! inks {
    ($($(#[$doc:meta])* $name:ident = $class:literal,)*) => {
        /// Class of an element.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Ink { $($(#[$doc])* $name,)* }

        const CLASSES: &[(Ink, &str)] = &[$((Ink::$name, $class),)*];
    };
}

inks! {
    /// Name of a row.
    Label = "label",
    /// What an axis shows.
    Title = "axis-title",
    /// A number of an axis.
    Tick = "tick",
    /// Words next to a mark.
    Note = "note",
    /// A number next to a mark.
    Value = "value",
    /// Name of a group of bars.
    Heading = "heading",
    /// Words of a legend.
    Legend = "legend",
    /// Where the values begin.
    Axis = "axis",
    /// A line at a number of an axis.
    Grid = "grid",
    /// The area of a bar.
    Bar = "bar",
    /// Stripes over a bar.
    Stripes = "stripes",
    Whisker = "whisker",
    /// A raw value.
    Point = "point",
    Middle = "middle",
    /// Beyond the end of the axis.
    Beyond = "beyond",
    /// The line of equal values.
    One = "one",
    /// A stretch of values that count as equal.
    Margin = "margin",
    /// A curve or a trace.
    Line = "line",
    /// Every second phase.
    Even = "even",
    /// The other phases.
    Odd = "odd",
    /// Name of a phase.
    Span = "span",
    /// A cell of a heat map.
    Cell = "cell",
    /// The number in a cell.
    Number = "number",
    /// First shade of a hue.
    Tone0 = "bar t0",
    /// Second shade.
    Tone1 = "bar t1",
    /// Third shade, little more than an outline.
    Tone2 = "bar t2",
    /// What stripes are drawn over.
    Hatched = "bar hatched",
}

/// Shades that can be told apart.
const TONES: [Ink; 3] = [Ink::Tone0, Ink::Tone1, Ink::Tone2];

impl Ink {
    /// The shade of a place in a legend.
    pub(crate) fn tone(place: usize) -> Self {
        TONES[place % TONES.len()]
    }

    /// The class of what plotters gives back.
    pub(crate) fn class_of(color: BackendColor) -> &'static str {
        CLASSES.get(usize::from(color.rgb.0)).map_or("", |(_, class)| class)
    }
}

impl Color for Ink {
    fn to_backend_color(&self) -> BackendColor {
        BackendColor { alpha: 1.0, rgb: (*self as u8, 0, 0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ink_comes_back_as_its_own_class() {
        for (ink, class) in CLASSES {
            assert_eq!(Ink::class_of(ink.to_backend_color()), *class);
        }
        assert_eq!(Ink::class_of(BackendColor { alpha: 1.0, rgb: (255, 0, 0) }), "");
    }
}

/// How a level stands to the best one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Standing {
    Best,
    /// Shown to be as good.
    Same,
    /// Neither of these.
    #[default]
    Other,
}

impl Standing {
    /// Radius of its dot, in units, and how it is filled: told by size and filling, not by colour.
    pub(crate) fn dot(self) -> (f64, Ink) {
        match self {
            Self::Best => (6.5, Ink::Middle),
            Self::Same => (4.0, Ink::Middle),
            Self::Other => (3.5, Ink::Point),
        }
    }
}

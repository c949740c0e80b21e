//! Tables and sections as text, Markdown, HTML and CSV.
//!
//! Nothing here knows which sections there are, or computes a figure.

pub(crate) mod csv;
pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod text;

//! Prose of made words, plain and within tags.

use super::form::Form;
use super::page::Page;
use super::random::SplitMix;
use super::vocabulary::Vocabulary;

/// After how many bytes a line ends with the next word.
const LINE_BYTES: usize = 60;

/// Sentences in lines, now and then an empty line.
pub(super) fn text(vocabulary: &Vocabulary, rng: &mut SplitMix, page: &mut Page<'_>) {
    let mut line = 0;
    while !page.is_full() {
        let bits = rng.bits();
        page.slot(vocabulary.first(bits));
        for _ in 0..1 + ((bits >> 16) & 3) {
            vocabulary.four(rng, page);
            if page.at() - line > LINE_BYTES {
                page.instead(b'\n');
                line = page.at();
            }
        }
        page.slot(vocabulary.last(bits >> 32));
        if (bits >> 48) & 15 == 0 {
            page.instead(b'\n');
            page.text(b"\n");
            line = page.at();
        }
    }
}

/// Forms of a page of the web.
#[derive(Debug)]
pub(super) struct Html {
    opening: Form,
    body: Vec<Form>,
}

impl Html {
    pub(super) fn new() -> Self {
        Self {
            opening: Form::new(
                "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>{s}</title>\n\
                 <link rel=\"stylesheet\" href=\"{w}.css\">\n</head>\n<body>\n",
            ),
            body: Form::all(&[
                "<ul class=\"list\">\n<li><a href=\"{w}.html\">{s}</a></li>\n\
                 <li><a href=\"{w}.html\">{s}</a></li>\n<li><a href=\"{w}.html\">{s}</a></li>\n\
                 </ul>\n",
                "<p class=\"text\">{s}<a href=\"{w}.html\">{w}</a> {s}</p>\n",
                "<table class=\"{w}\" border=\"0\" cellspacing=\"2\">\n\
                 <tr><td class=\"name\">{w}</td><td class=\"value\">{s}</td></tr>\n\
                 <tr><td class=\"name\">{w}</td><td class=\"value\">{s}</td></tr>\n</table>\n",
                "<p class=\"text\">{s}{s}<em>{w}</em> {s}</p>\n",
                "<h2 id=\"{w}\">{w} {w}</h2>\n<p class=\"text\">{s}{s}</p>\n",
                "<p><img src=\"images/{w}.png\" alt=\"{w}\" width=\"320\" height=\"240\">{s}</p>\n",
                "<pre class=\"screen\">{s}\n{s}\n</pre>\n",
                "<hr>\n<p><a href=\"../{w}/index.html\">{w} {w}</a></p>\n",
            ]),
        }
    }

    /// One block of a page; the first opens it.
    pub(super) fn fill(
        &self,
        vocabulary: &Vocabulary,
        is_first: bool,
        rng: &mut SplitMix,
        page: &mut Page<'_>,
    ) {
        let name = *vocabulary.bare(rng);
        if is_first {
            self.opening.fill(vocabulary, &name, rng, page);
        }
        while !page.is_full() {
            let form = &self.body[rng.low_below(self.body.len())];
            form.fill(vocabulary, &name, rng, page);
        }
    }
}

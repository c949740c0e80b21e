//! Recipes of packages: short files that are much alike, and hashes that are not.
//!
//! How far a tree of them compresses is set by the part of their bytes that are digits of
//! hashes: a digit takes half a byte and little more in any archive, a line of a form next to
//! nothing once the same form has been seen. Files of 900 bytes, one behind the other, shrink by
//! about (ebuild; makefile a fifth less with few hashes):
//!
//! ```text
//! digits in percent    0     5    10    20    30    40    50    60
//! gzip              10.9   7.6   6.1   4.4   3.5   2.9   2.6   2.3
//! bzip2             20.5  12.8   9.5   6.3   4.7   3.8   3.2   2.8
//! ```
//!
//! The heads of a tar add to both sides: 40 to 60 bytes a file in the archive. More than about 70
//! digits in a hundred bytes there cannot be: names stand before them.

use super::form::{Form, HASH_DIGITS};
use super::kind::Percent;
use super::page::{Page, Slot};
use super::random::SplitMix;
use super::vocabulary::Vocabulary;

/// The forms of one kind of recipe.
#[derive(Debug)]
pub(super) struct Recipe {
    opening: Vec<Form>,
    /// Forms filled in once for all files.
    stock: Vec<Vec<u8>>,
    body: Vec<Form>,
    hashes: Vec<Form>,
}

/// How many bodies are filled in once for all files.
const STOCK: usize = 96;
/// One in so many bodies is filled in anew.
const NEW: u64 = 4;
/// What a hash takes from where it is decided to its middle, in bytes: its digits are paid for
/// so much ahead.
const AHEAD_BYTES: u64 = 80;

impl Recipe {
    /// Recipes in the shell's language.
    pub(super) fn ebuild(vocabulary: &Vocabulary, key: u64) -> Self {
        Self::new(
            vocabulary,
            key,
            &[
                "# Recipe of {n}, made for a test: nothing of it can be built.\n",
                "# {n}-{v}.ebuild\n\ninherit eutils flag-o-matic\n\n\
                 DESCRIPTION=\"A {w} {w} for {w}\"\n",
                "HOMEPAGE=\"http://www.{n}.example/\"\n\
                 SRC_URI=\"mirror://{w}/{n}-${PV}.tar.gz\"\n",
                "\nLICENSE=\"GPL-2\"\nSLOT=\"0\"\nKEYWORDS=\"~alpha amd64 ~ppc sparc x86\"\n",
                "IUSE=\"{w} {w}\"\n\n",
            ],
            &[
                "src_compile() {\n\teconf $(use_enable {w}) || die \"econf failed\"\n\
                 \temake || die \"emake failed\"\n}\n\n",
                "DEPEND=\"${RDEPEND}\n\tdev-util/pkgconfig\n\t>=dev-libs/{w}-{v}\"\n\n",
                "src_install() {\n\temake DESTDIR=\"${D}\" install || die \"install failed\"\n\
                 \tdodoc AUTHORS ChangeLog NEWS README TODO\n}\n\n",
                "RDEPEND=\">=x11-libs/{w}-{v}\n\t{w}? ( media-libs/{w} )\"\n\n",
                "src_unpack() {\n\tunpack ${A}\n\tcd \"${S}\"\n\
                 \tepatch \"${FILESDIR}\"/{n}-{v}-{w}.patch\n}\n\n",
                "\tuse {w} && myconf=\"${myconf} --with-{w}\"\n",
                "pkg_postinst() {\n\telog \"{s}\"\n\telog \"{s}\"\n}\n\n",
                "\tsed -i -e \"s:{w}:{w}:\" src/{w}.c || die \"sed failed\"\n",
                "\tinsinto /usr/share/{n}/{w}\n\tdoins -r {w}/* || die \"doins failed\"\n",
                "if use {w} ; then\n\tappend-flags -D{w}={w}\nfi\n\n",
                "\t# {s}\n",
                "pkg_setup() {\n\tif ! built_with_use dev-libs/{w} {w} ; then\n\
                 \t\tdie \"{w} needs {w}\"\n\tfi\n}\n\n",
            ],
            &[
                "DIST {n}-{v}.tar.gz SHA256 {h}\n",
                "AUX {n}-{v}-{w}.patch SHA256 {h}\n",
                "EBUILD {n}-{v}.ebuild SHA256 {h}\n",
                "MISC {w} SHA256 {h}\n",
            ],
        )
    }

    /// Recipes in the language of make.
    pub(super) fn makefile(vocabulary: &Vocabulary, key: u64) -> Self {
        Self::new(
            vocabulary,
            key,
            &[
                "# Recipe of {n}, made for a test: nothing of it can be built.\n",
                "# {n}-{v}\n\nPORTNAME=\t{n}\nPORTVERSION=\t{v}\nCATEGORIES=\t{w}\n",
                "MASTER_SITES=\tftp://ftp.{w}.example/pub/{n}/\n\nMAINTAINER=\t{w}@{w}.example\n",
                "COMMENT=\tA {w} {w} for {w}\n\n",
            ],
            &[
                "GNU_CONFIGURE=\tyes\nUSE_GMAKE=\tyes\nINSTALLS_SHLIB=\tyes\n",
                "LIB_DEPENDS=\t{w}.{v}:${PORTSDIR}/devel/{w}\n",
                "USE_REINPLACE=\tyes\nMAN1=\t\t{n}.1 {w}.1\n",
                "CONFIGURE_ARGS=\t--with-{w}=${LOCALBASE} --disable-{w}\n",
                ".if defined(WITH_{w})\nCONFIGURE_ARGS+=\t--enable-{w}\n.else\n\
                 CONFIGURE_ARGS+=\t--disable-{w}\n.endif\n\n",
                "share/{n}/{w}.{w}\n",
                "post-patch:\n\t@${REINPLACE_CMD} -e 's|{w}|{w}|g' ${WRKSRC}/{w}.c\n\n",
                "@dirrm share/{n}/{w}\n",
                "do-install:\n\t${INSTALL_PROGRAM} ${WRKSRC}/{n} ${PREFIX}/bin\n\
                 \t${INSTALL_DATA} ${WRKSRC}/{w}.conf ${PREFIX}/etc/{w}.conf.sample\n\n",
                "{s}\n",
                "RUN_DEPENDS=\t${LOCALBASE}/bin/{w}:${PORTSDIR}/{w}/{w}\n",
                ".include <bsd.port.mk>\n",
            ],
            &[
                "SHA256 ({n}-{v}.tar.gz) = {h}\n",
                "SHA256 ({w}/{n}-{v}.tar.bz2) = {h}\n",
                "SHA256 (patch-{w}) = {h}\n",
            ],
        )
    }

    fn new(
        vocabulary: &Vocabulary,
        key: u64,
        opening: &[&str],
        body: &[&str],
        hashes: &[&str],
    ) -> Self {
        let body = Form::all(body);
        let mut rng = SplitMix::new(key);
        let stock = (0..STOCK).map(|_| {
            let form = &body[rng.low_below(body.len())];
            let mut text = vec![0; 2048];
            let mut page = Page::new(&mut text);
            let name = *vocabulary.bare(&mut rng);
            form.fill(vocabulary, &name, &mut rng, &mut page);
            let len = page.at();
            text.truncate(len);
            text
        });
        Self {
            opening: Form::all(opening),
            stock: stock.collect(),
            body,
            hashes: Form::all(hashes),
        }
    }

    /// One block of the file whose key is `key`; the first opens it.
    pub(super) fn fill(
        &self,
        vocabulary: &Vocabulary,
        key: u64,
        unique: Percent,
        is_first: bool,
        rng: &mut SplitMix,
        page: &mut Page<'_>,
    ) {
        let percent = u64::from(unique.get());
        let name: Slot = *vocabulary.bare(&mut SplitMix::new(!key));
        // Digits owed, in hundredths: a drawn number at first, so that the part is right over
        // many files of which each is too short for a hash.
        let hash = HASH_DIGITS * 100;
        let first = rng.bits() % hash + percent * AHEAD_BYTES;
        let mut owed = if percent == 0 { 0 } else { first };
        let mut opening = self.opening.iter().take(if is_first { self.opening.len() } else { 0 });
        while !page.is_full() {
            let before = page.at();
            if owed >= hash || percent == 100 {
                owed = owed.saturating_sub(hash);
                let form = &self.hashes[rng.below(self.hashes.len() as u32) as usize];
                form.fill(vocabulary, &name, rng, page);
            } else if let Some(form) = opening.next() {
                form.fill(vocabulary, &name, rng, page);
            } else if rng.bits().is_multiple_of(NEW) {
                let form = &self.body[rng.low_below(self.body.len())];
                form.fill(vocabulary, &name, rng, page);
            } else {
                page.text(&self.stock[rng.low_below(STOCK)]);
            }
            owed += percent * (page.at() - before) as u64;
        }
    }
}

//! Sources in C, a header for them and the Makefile that builds them.
//!
//! Sources are whole numbers, loops, tables and choices; they include nothing but `common.h` of
//! the same tree, and compile with no warning. Sizes are exact: functions are added while they
//! fit, and a comment fills the rest.

use super::kind::Kind;
use super::page;
use super::random::SplitMix;
use super::vocabulary::Vocabulary;
use std::fmt::Write as _;

/// What every source says first; a header of the tree may have said it before.
const PROLOGUE: &str = "#include \"common.h\"\n\n\
    #ifndef MADE_MIX\n\
    #define MADE_MIX(x, y) (((x) << 5) ^ ((x) >> 3) ^ (y))\n\
    #endif\n\n";

const HEADER: &str = "typedef unsigned int made_u32;\n\n\
    #define MADE_TURN(x, n) (((x) << (n)) | ((x) >> (32 - (n))))\n\
    #define MADE_MIX(x, y) (MADE_TURN((x), 5) ^ ((y) * 2654435761u))\n\n";
const HEADER_END: &str = "#endif\n";

const MAIN: &str = "int main(void)\n{\n    unsigned x = 1;\n    int i;\n\n\
    \x20   for (i = 0; i < 8; i++)\n        x = MADE_MIX(x, (unsigned) i);\n\
    \x20   return x == 0;\n}\n";

const MAKEFILE: &str = "OUT ?= .\n\
    CFLAGS ?= -O2\n\
    SRC := $(sort $(wildcard src/*.c))\n\
    OBJ := $(patsubst src/%.c,$(OUT)/%.o,$(SRC))\n\
    INC := -Iinclude -Isrc -I.\n\n\
    all: $(OUT)/libmade.a $(OUT)/made\n\n\
    $(OUT)/libmade.a: $(OBJ)\n\
    \trm -f $@\n\
    \t$(file >$@.list,$^)\n\
    \t$(AR) rcs $@ @$@.list\n\n\
    $(OUT)/made: $(OUT)/made.main.o $(OUT)/libmade.a\n\
    \t$(CC) -o $@ $< -Wl,--whole-archive $(OUT)/libmade.a -Wl,--no-whole-archive\n\n\
    $(OBJ): $(OUT)/%.o: src/%.c | $(OUT)\n\
    \t$(CC) $(CFLAGS) $(INC) -c -o $@ $<\n\n\
    $(OUT)/made.main.o: main.c | $(OUT)\n\
    \t$(CC) $(CFLAGS) $(INC) -c -o $@ $<\n\n\
    $(OUT):\n\
    \tmkdir -p $@\n\n\
    .PHONY: all\n";

/// Digits of a file's number at most, for the least sizes.
const NUMBER_DIGITS: u64 = 20;
/// The longest a function gets, with room to spare; a test holds it to that.
const LONGEST_FUNCTION: u64 = 1600;

/// The size from which on `kind`, one of those of C, is more than a comment.
pub(super) fn least_bytes(kind: Kind) -> u64 {
    let fixed = match kind {
        Kind::CHeader => HEADER.len() as u64 + 64 + 2 * NUMBER_DIGITS,
        Kind::CMakefile => return MAKEFILE.len() as u64,
        Kind::CMain => (PROLOGUE.len() + MAIN.len()) as u64,
        _ => PROLOGUE.len() as u64,
    };
    if kind == Kind::CHeader { fixed } else { fixed + LONGEST_FUNCTION }
}

/// The whole file of `kind`, one of those of C, exactly `size_bytes` long.
pub(super) fn make(
    kind: Kind,
    key: u64,
    file: u64,
    size_bytes: u64,
    vocabulary: &Vocabulary,
) -> Vec<u8> {
    let size = usize::try_from(size_bytes).expect("a source fits into memory");
    let mut text = String::with_capacity(size);
    let mut rng = SplitMix::new(key);
    let end = if size_bytes < least_bytes(kind) {
        ""
    } else {
        match kind {
            Kind::CMakefile => {
                text.push_str(MAKEFILE);
                ""
            }
            Kind::CHeader => {
                let _ = write!(text, "#ifndef MADE_{file}_H\n#define MADE_{file}_H\n\n{HEADER}");
                add(&mut text, size - HEADER_END.len(), |number| {
                    declaration(file, number, &mut rng)
                });
                HEADER_END
            }
            _ => {
                let end = if kind == Kind::CMain { MAIN } else { "" };
                text.push_str(PROLOGUE);
                add(&mut text, size - end.len(), |number| {
                    function(file, number, vocabulary, &mut rng)
                });
                end
            }
        }
    };
    pad(&mut text, size - end.len(), kind == Kind::CMakefile, vocabulary, &mut rng);
    text.push_str(end);
    text.into_bytes()
}

/// Adds what `next` makes to `size`, until too little is left for several in a row.
fn add(text: &mut String, size: usize, mut next: impl FnMut(u64) -> String) {
    let (mut number, mut too_long) = (0, 0);
    while too_long < 6 {
        let part = next(number);
        if text.len() + part.len() <= size {
            text.push_str(&part);
            number += 1;
        } else {
            too_long += 1;
        }
    }
}

/// Fills up to `size` with comments in lines of at most 72 bytes, or empty lines if less is left.
fn pad(
    text: &mut String,
    size: usize,
    is_makefile: bool,
    vocabulary: &Vocabulary,
    rng: &mut SplitMix,
) {
    let (open, close) = if is_makefile { ("# ", "\n") } else { ("/* ", " */\n") };
    while size - text.len() >= open.len() + close.len() {
        let left = size - text.len();
        let line = if left < 2 * 72 { left.min(72) } else { 72 };
        let end = text.len() + line - close.len();
        text.push_str(open);
        while text.len() < end {
            let word = page::text(vocabulary.bare(rng));
            text.push_str(&word[..word.len().min(end - text.len())]);
            if text.len() < end {
                text.push(' ');
            }
        }
        text.push_str(close);
    }
    text.extend(std::iter::repeat_n('\n', size - text.len()));
}

fn declaration(file: u64, number: u64, rng: &mut SplitMix) -> String {
    let name = format!("{file}_{number}");
    match rng.below(4) {
        0 => format!("#define MADE_LIMIT_{name} {}u\n", rng.below(1 << 20)),
        1 => format!(
            "#define MADE_STEP_{name}(x) (MADE_TURN((x), {}) + {}u)\n",
            1 + rng.below(31),
            rng.below(1 << 16)
        ),
        2 => format!("extern made_u32 made_of_{name}(made_u32 x, const made_u32 *table);\n"),
        _ => format!(
            "struct made_{name} {{\n    made_u32 count;\n    made_u32 table[{}];\n    \
             struct made_{name} *next;\n}};\n\n",
            1 + rng.below(64)
        ),
    }
}

fn function(file: u64, number: u64, vocabulary: &Vocabulary, rng: &mut SplitMix) -> String {
    let name = format!("made_{file}_{number}");
    let mut text = String::from("/*");
    for _ in 0..2 + rng.below(3) {
        text.push_str("\n *");
        for _ in 0..3 + rng.below(7) {
            text.push(' ');
            text.push_str(page::text(vocabulary.bare(rng)));
        }
    }
    text.push_str("\n */\n");
    // Not static, so that none is left out; declared first, as compilers want it.
    let head = |text: &mut String| {
        let _ = write!(text, "unsigned {name}(unsigned x, unsigned y);\n\n");
        let _ = write!(text, "unsigned {name}(unsigned x, unsigned y)\n{{\n");
    };
    match rng.below(4) {
        0 => {
            table(&mut text, &name, rng);
            head(&mut text);
            sums(&mut text, &name, rng);
        }
        1 => {
            head(&mut text);
            choices(&mut text, rng);
        }
        2 => {
            head(&mut text);
            loops(&mut text, rng);
        }
        _ => {
            head(&mut text);
            steps(&mut text, rng);
        }
    }
    text.push_str("}\n\n");
    text
}

/// How many entries a table has; a power of two.
const TABLE: u32 = 32;

fn table(text: &mut String, name: &str, rng: &mut SplitMix) {
    let _ = write!(text, "static const unsigned {name}_table[{TABLE}] = {{");
    for at in 0..TABLE {
        text.push_str(if at % 8 == 0 { "\n    " } else { " " });
        let _ = write!(text, "0x{:04x},", rng.below(1 << 16));
    }
    text.push_str("\n};\n\n");
}

fn sums(text: &mut String, name: &str, rng: &mut SplitMix) {
    let last = TABLE - 1;
    let (turns, shift) = (8 + rng.below(56), 1 + rng.below(15));
    let _ = write!(
        text,
        "    unsigned sum = y;\n    unsigned i;\n\n    for (i = 0; i < {turns}u; i++) {{\n        \
         sum += {name}_table[(x + i) & {last}u] * (i | 1u);\n        \
         x = MADE_MIX(x, sum >> {shift});\n"
    );
    if rng.below(2) == 0 {
        let _ = write!(
            text,
            "        if ((sum & {}u) == 0)\n            sum ^= {name}_table[i & {last}u];\n",
            rng.below(255) + 1
        );
    }
    text.push_str("    }\n    return sum ^ x;\n");
}

fn choices(text: &mut String, rng: &mut SplitMix) {
    let count = 4 + rng.below(8);
    let _ = writeln!(text, "    switch (x % {}u) {{", count + 1);
    for at in 0..count {
        let _ = write!(text, "    case {at}:\n        ");
        let number = rng.below(1 << 16);
        let _ = match rng.below(4) {
            0 => writeln!(text, "y += x * {number}u;"),
            1 => writeln!(text, "y ^= (x >> {}) + {number}u;", 1 + rng.below(20)),
            2 => writeln!(text, "y = MADE_MIX(y, x + {number}u);"),
            _ => writeln!(text, "y -= x / {}u;", number + 1),
        };
        text.push_str("        break;\n");
    }
    let _ = write!(text, "    default:\n        y += {}u;\n        break;\n", rng.below(1000));
    text.push_str("    }\n    return MADE_MIX(y, x);\n");
}

fn loops(text: &mut String, rng: &mut SplitMix) {
    let size = 8 << rng.below(4);
    let (factor, shift) = (rng.below(1 << 12) | 1, 1 + rng.below(9));
    let _ = write!(
        text,
        "    unsigned work[{size}];\n    unsigned i, j;\n\n    \
         for (i = 0; i < {size}u; i++)\n        \
         work[i] = x + i * {factor}u;\n    for (j = 1; j < {size}u; j++) {{\n        \
         for (i = j; i < {size}u; i++) {{\n            \
         if (work[i] < work[i - j])\n                \
         work[i] ^= work[i - j] >> {shift};\n            \
         else\n                y = MADE_MIX(y, work[i]);\n        }}\n    }}\n    \
         return y + work[x % {size}u];\n"
    );
}

fn steps(text: &mut String, rng: &mut SplitMix) {
    for _ in 0..4 + rng.below(10) {
        let number = rng.below(1 << 16);
        let shift = 1 + rng.below(30);
        let _ = match rng.below(5) {
            0 => writeln!(text, "    x = MADE_MIX(x, y + {number}u);"),
            1 => writeln!(text, "    y ^= x >> {shift};"),
            2 => writeln!(text, "    if (x > {number}u)\n        x -= y;"),
            3 => writeln!(text, "    while (y > {}u)\n        y /= {}u;", number, 2 + shift),
            _ => writeln!(text, "    x += y * {number}u;"),
        };
    }
    text.push_str("    return x ^ y;\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_function_is_longer_than_stated() {
        let vocabulary = Vocabulary::new(1);
        let mut rng = SplitMix::new(1);
        let lengths = (0..4000)
            .map(|_| function(u64::MAX, 1000, &vocabulary, &mut rng).len() as u64)
            .collect::<Vec<_>>();
        let longest = lengths.iter().max().unwrap();
        assert!((LONGEST_FUNCTION / 2..=LONGEST_FUNCTION).contains(longest), "{longest}");
    }
}

//! What text is written on: a buffer of fixed length that takes more than it holds.
//!
//! The position goes on past the end, so what is written never depends on the length of the
//! buffer: a short one holds the beginning of a long one.

/// A short word with what follows it; the last byte is the length of the rest.
pub(super) type Slot = [u8; 16];

/// `text` as a slot; what is over 15 bytes is cut off.
pub(super) fn slot(text: &str) -> Slot {
    let len = text.len().min(15);
    let mut slot = [0; 16];
    slot[..len].copy_from_slice(&text.as_bytes()[..len]);
    slot[15] = len as u8;
    slot
}

pub(super) fn text(slot: &Slot) -> &str {
    std::str::from_utf8(&slot[..usize::from(slot[15])]).expect("words are ASCII")
}

/// A buffer and a position in it or after it.
#[derive(Debug)]
pub(super) struct Page<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl<'a> Page<'a> {
    pub(super) const fn new(out: &'a mut [u8]) -> Self {
        Self { out, at: 0 }
    }

    /// Where the next byte goes.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    pub(super) const fn is_full(&self) -> bool {
        self.at >= self.out.len()
    }

    /// Copies 16 bytes where there is room, of which the next copy overwrites those too many.
    #[inline]
    pub(super) fn slot(&mut self, slot: &Slot) {
        let len = usize::from(slot[15]);
        if let Some(to) = self.out.get_mut(self.at..self.at + 16) {
            to.copy_from_slice(slot);
            self.at += len;
        } else {
            self.text(&slot[..len]);
        }
    }

    #[inline]
    pub(super) fn text(&mut self, text: &[u8]) {
        if let Some(to) = self.out.get_mut(self.at..self.at + text.len()) {
            to.copy_from_slice(text);
        } else if let Some(to) = self.out.get_mut(self.at..) {
            let len = to.len();
            to.copy_from_slice(&text[..len]);
        }
        self.at += text.len();
    }

    /// Copies the first `len` bytes of `padded`, which has 32.
    #[inline]
    pub(super) fn padded(&mut self, padded: &[u8; 32], len: usize) {
        if let Some(to) = self.out.get_mut(self.at..self.at + 32) {
            to.copy_from_slice(padded);
            self.at += len;
        } else {
            self.text(&padded[..len]);
        }
    }

    /// Sixteen digits in base 16.
    pub(super) fn hex(&mut self, bits: u64) {
        // Each nibble of the number into a byte of its own, then all bytes into digits at once.
        let digits = |half: u64| {
            let x = (half | (half << 16)) & 0x0000_ffff_0000_ffff;
            let x = (x | (x << 8)) & 0x00ff_00ff_00ff_00ff;
            let x = (x | (x << 4)) & 0x0f0f_0f0f_0f0f_0f0f;
            let is_letter = ((x + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
            x + 0x3030_3030_3030_3030 + is_letter * 39
        };
        let mut text = [0; 16];
        text[..8].copy_from_slice(&digits(bits & 0xffff_ffff).to_le_bytes());
        text[8..].copy_from_slice(&digits(bits >> 32).to_le_bytes());
        self.text(&text);
    }

    /// Overwrites the byte before the position.
    #[inline]
    pub(super) fn instead(&mut self, byte: u8) {
        if let Some(last) = self.at.checked_sub(1).and_then(|last| self.out.get_mut(last)) {
            *last = byte;
        }
    }
}

//! The contents of a tree as a stream of pieces, made ahead by threads while the caller uses them.
//!
//! Pieces come in the order of the entries, so what is made of them is the same whatever the number
//! of threads: a file system gets the same calls in the same order, an archive the same bytes. The
//! caller makes those no thread has begun with when it wants them. Nothing is written here.

use crate::tree::{Entry, EntryKind, Tree};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Contents that are made at a time, bytes: what a buffer holds.
const BATCH_BYTES: u64 = 256 << 10;
/// Most entries of a batch, so that empty files do not make it endless.
const BATCH_ENTRIES: usize = 4096;
/// Buffers of each thread that makes contents.
const BUFFERS: usize = 4;

/// A directory, or a part of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    /// Number among the entries.
    pub(crate) entry: usize,
    /// Where it begins in the file, bytes.
    pub(crate) offset: u64,
    bytes: usize,
}

/// All pieces in order, as many at a time as fill a buffer.
struct Batches<'a> {
    tree: &'a Tree,
    entry: usize,
    entries: usize,
    offset: u64,
}

impl Iterator for Batches<'_> {
    type Item = Vec<Piece>;

    fn next(&mut self) -> Option<Vec<Piece>> {
        let mut batch = Vec::new();
        let mut room = BATCH_BYTES;
        while self.entry < self.entries && batch.len() < BATCH_ENTRIES {
            let size_bytes = match self.tree.entry(self.entry).kind {
                EntryKind::Dir => 0,
                EntryKind::File { size_bytes } => size_bytes,
            };
            let left = size_bytes - self.offset;
            if room == 0 || (left > room && self.offset == 0 && !batch.is_empty()) {
                break;
            }
            let bytes = left.min(room);
            batch.push(Piece { entry: self.entry, offset: self.offset, bytes: bytes as usize });
            room -= bytes;
            self.offset += bytes;
            if bytes == left {
                (self.entry, self.offset) = (self.entry + 1, 0);
            }
        }
        (!batch.is_empty()).then_some(batch)
    }
}

fn batches(tree: &Tree) -> Batches<'_> {
    Batches { tree, entry: 0, entries: tree.entries().len(), offset: 0 }
}

/// The batches no thread has begun with, and the number of the first of them.
struct Ahead<'a> {
    batches: Batches<'a>,
    number: usize,
}

/// A batch with its bytes.
struct Made {
    number: usize,
    batch: Vec<Piece>,
    bytes: Vec<u8>,
    /// The thread that made it, and gets its buffer back.
    maker: usize,
}

/// Calls `work` for each piece in order, with the entry and the bytes; ends at the first error.
///
/// Contents are made by `threads` further threads, and by this one where no thread has begun with
/// those that are next: so it never waits for a thread that has not got a processor.
pub(crate) fn for_each<'t, E>(
    tree: &'t Tree,
    threads: usize,
    mut work: impl FnMut(Piece, Entry<'t>, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut work_all = |batch: &[Piece], bytes: &[u8]| {
        let mut rest = bytes;
        for piece in batch {
            let (bytes, after) = rest.split_at(piece.bytes);
            rest = after;
            work(*piece, tree.entry(piece.entry), bytes)?;
        }
        Ok(())
    };
    let ahead = Mutex::new(Ahead { batches: batches(tree), number: 0 });
    thread::scope(|scope| {
        let (full_in, full) = channel();
        let mut empties = Vec::new();
        for maker in 0..threads {
            let (empty, empty_out) = channel();
            for _ in 0..BUFFERS {
                empty.send(Vec::new()).expect("the receiver is here");
            }
            empties.push(empty);
            let (full_in, ahead) = (full_in.clone(), &ahead);
            scope.spawn(move || make_ahead(tree, ahead, maker, &empty_out, &full_in));
        }
        // Only the threads hold it now: where all have ended, that is seen.
        drop(full_in);
        let (mut own, mut waiting) = (Vec::new(), Vec::<Made>::new());
        for number in 0.. {
            let mut unclaimed = ahead.lock().expect("no thread panics with it");
            if unclaimed.number == number {
                let Some(batch) = unclaimed.batches.next() else { break };
                unclaimed.number += 1;
                drop(unclaimed);
                make(tree, &batch, &mut own);
                work_all(&batch, &own)?;
                continue;
            }
            drop(unclaimed);
            let made = loop {
                if let Some(at) = waiting.iter().position(|made| made.number == number) {
                    break waiting.swap_remove(at);
                }
                waiting.push(full.recv().expect("a thread has begun with it"));
            };
            work_all(&made.batch, &made.bytes)?;
            // Its thread may have made its last one.
            empties[made.maker].send(made.bytes).ok();
        }
        Ok(())
    })
}

/// Makes the batches no thread has begun with, until there are none or no thread takes them any
/// more.
fn make_ahead(
    tree: &Tree,
    ahead: &Mutex<Ahead<'_>>,
    maker: usize,
    empty: &Receiver<Vec<u8>>,
    full: &Sender<Made>,
) {
    while let Ok(mut bytes) = empty.recv() {
        let mut unclaimed = ahead.lock().expect("no thread panics with it");
        let number = unclaimed.number;
        let Some(batch) = unclaimed.batches.next() else { return };
        unclaimed.number += 1;
        drop(unclaimed);
        make(tree, &batch, &mut bytes);
        if full.send(Made { number, batch, bytes, maker }).is_err() {
            return;
        }
    }
}

/// Makes the bytes of a batch, in place of those in `buffer`.
fn make(tree: &Tree, batch: &[Piece], buffer: &mut Vec<u8>) {
    buffer.resize(batch.iter().map(|piece| piece.bytes).sum(), 0);
    let mut rest = &mut buffer[..];
    for piece in batch {
        let (out, after) = rest.split_at_mut(piece.bytes);
        tree.fill(piece.entry, piece.offset, out);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Description;

    const MIXED: &str = "schema = 1\nname = \"mixed\"\ntitle = \"Mixed\"\nseed = 5\n\
        [[dirs]]\nname = \"dir\"\ncount = 3\nnames = \"d{n}\"\n\
        [[class]]\nname = \"small\"\nin = \"dir\"\ncount = 900\nnames = \"f{n}\"\n\
        size_bytes = { kind = \"uniform\", min = 0, max = 3000 }\ncontents = \"text\"\n\
        [[class]]\nname = \"empty\"\nin = \"dir\"\ncount = 5000\nnames = \"e{n}\"\nsize_bytes = 0\n\
        contents = \"random\"\n\
        [[class]]\nname = \"big\"\ncount = 2\nnames = \"b{n}\"\nsize_bytes = 2_500_000\n\
        contents = \"random\"\n";

    #[test]
    fn every_byte_comes_once_and_in_order_with_any_number_of_threads() {
        let tree = Description::parse(MIXED, "mixed.toml").unwrap().tree();
        for threads in [0, 1, 3] {
            let (mut next, mut offset) = (0, 0);
            for_each(&tree, threads, |piece, entry, bytes| {
                assert_eq!((piece.entry, piece.offset), (next, offset));
                let mut made = vec![0; bytes.len()];
                tree.fill(piece.entry, piece.offset, &mut made);
                assert!(made == bytes, "{}", entry.path);
                offset += bytes.len() as u64;
                let size_bytes = match entry.kind {
                    EntryKind::Dir => 0,
                    EntryKind::File { size_bytes } => size_bytes,
                };
                if offset == size_bytes {
                    (next, offset) = (next + 1, 0);
                }
                Ok::<(), ()>(())
            })
            .unwrap();
            assert_eq!((next, offset), (5905, 0));
        }
    }

    #[test]
    fn an_error_ends_it_and_its_threads() {
        let tree = Description::parse(MIXED, "mixed.toml").unwrap().tree();
        let mut calls = 0;
        let ended = for_each(&tree, 2, |_, _, _| {
            calls += 1;
            if calls == 10 { Err("enough") } else { Ok(()) }
        });
        assert_eq!((ended, calls), (Err("enough"), 10));
    }
}

//! Every parser on arbitrary bytes, and on bytes that almost are what it expects: a parser may
//! refuse, it must not panic.

use crate::{block, cgroup, load, read_file, stat, vmstat, worker};
use proptest::prelude::*;

fn all_parsers(bytes: &[u8]) {
    let mut values = [None; 32];
    let _ = stat::parse(bytes, 100, &mut values);
    let _ = stat::parse(bytes, 0, &mut values);
    let _ = vmstat::parse(bytes, &mut values);
    let _ = load::parse(bytes, &mut values);
    let _ = block::parse(bytes, &mut values);
    let _ = cgroup::parse_number(bytes, &mut values[0]);
    let _ = worker::fields(bytes, [10, 12, 14, 15, 24]);
    let _ = worker::fields(bytes, [22]);
    let _ = worker::state(bytes);
    let _ = read_file::number(bytes);
}

proptest! {
    #[test]
    fn arbitrary_bytes(bytes: Vec<u8>) {
        all_parsers(&bytes);
    }

    #[test]
    fn almost_right(
        text in "((cpu|ctxt|some|full|pgpgin|nr_dirtied|4242 \\(x\\) R) ?){1,2}\
                 (( |\n|total=|-|\\))?[0-9]{0,21}){0,40}"
    ) {
        all_parsers(text.as_bytes());
    }

    #[test]
    fn numbers_are_exact(value: u64) {
        prop_assert_eq!(read_file::number(value.to_string().as_bytes()), Some(value));
    }
}

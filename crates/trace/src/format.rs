//! The form of an event as the kernel tells it: `events/*/*/format` and `events/header_page`
//! (Documentation/trace/events.rst).

/// Where a field of an event lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Field {
    offset: usize,
    size: usize,
}

impl Field {
    /// The field called `name`, from a line such as
    /// `field:sector_t sector; offset:16; size:8; signed:0;`, with tabs in it.
    pub(crate) fn parse(text: &str, name: &str) -> Result<Self, String> {
        let missing = || format!("no field {name} with offset and size");
        text.lines().find_map(|line| named(line, name)).ok_or_else(missing)
    }

    /// Its bytes; absent where the event is too short for it.
    pub(crate) fn bytes(self, event: &[u8]) -> Option<&[u8]> {
        event.get(self.offset..self.offset.checked_add(self.size)?)
    }

    /// Its value, where it is an unsigned number of 1, 2, 4 or 8 bytes.
    pub(crate) fn number(self, event: &[u8]) -> Option<u64> {
        let bytes = self.bytes(event)?;
        Some(match bytes.len() {
            1 => u64::from(bytes[0]),
            2 => u64::from(u16::from_ne_bytes(bytes.try_into().ok()?)),
            4 => u64::from(u32::from_ne_bytes(bytes.try_into().ok()?)),
            8 => u64::from_ne_bytes(bytes.try_into().ok()?),
            _ => return None,
        })
    }
}

fn named(line: &str, name: &str) -> Option<Field> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declared = parts.next()?.strip_prefix("field:")?.trim();
    let last = declared.split_whitespace().next_back()?;
    if last.split('[').next() != Some(name) {
        return None;
    }
    let (mut offset, mut size) = (None, None);
    for part in parts {
        match part.split_once(':') {
            Some(("offset", value)) => offset = value.parse().ok(),
            Some(("size", value)) => size = value.parse().ok(),
            _ => {}
        }
    }
    Some(Field { offset: offset?, size: size? })
}

/// The form of the one event that is traced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EventFormat {
    /// Its number, the first field of each event.
    pub(crate) id: u64,
    pub(crate) common_type: Field,
    pub(crate) dev: Field,
    pub(crate) sector: Field,
    pub(crate) sectors: Field,
    pub(crate) rwbs: Field,
}

impl EventFormat {
    /// Reads `format`.
    ///
    /// # Errors
    /// What is missing.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"));
        Ok(Self {
            id: id.and_then(|id| id.trim().parse().ok()).ok_or("no ID")?,
            common_type: Field::parse(text, "common_type")?,
            dev: Field::parse(text, "dev")?,
            sector: Field::parse(text, "sector")?,
            sectors: Field::parse(text, "nr_sector")?,
            rwbs: Field::parse(text, "rwbs")?,
        })
    }
}

/// The form of a page of the ring buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PageFormat {
    pub(crate) timestamp: Field,
    pub(crate) commit: Field,
    pub(crate) data_offset: usize,
}

impl PageFormat {
    /// Reads `header_page`; with it, the bytes of a page.
    ///
    /// # Errors
    /// What is missing.
    pub(crate) fn parse(text: &str) -> Result<(Self, usize), String> {
        let data = Field::parse(text, "data")?;
        let form = Self {
            timestamp: Field::parse(text, "timestamp")?,
            commit: Field::parse(text, "commit")?,
            data_offset: data.offset,
        };
        Ok((form, data.offset.saturating_add(data.size)))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of Linux 6.18, x86-64.
    pub(crate) const COMPLETE: &str = "\
name: block_rq_complete
ID: 2107
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;
\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;
\tfield:unsigned short ioprio;\toffset:32;\tsize:2;\tsigned:0;
\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;
\tfield:__data_loc char[] cmd;\toffset:44;\tsize:4;\tsigned:0;

print fmt: \"%d,%d %s\", ((unsigned int) ((REC->dev) >> 20))
";

    pub(crate) const PAGE: &str = "\
\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;
";

    #[test]
    fn forms_of_this_kernel_are_read() {
        let event = EventFormat::parse(COMPLETE).unwrap();
        assert_eq!(event.id, 2107);
        assert_eq!(event.sector, Field { offset: 16, size: 8 });
        assert_eq!(event.rwbs, Field { offset: 34, size: 10 });
        let (page, bytes) = PageFormat::parse(PAGE).unwrap();
        assert_eq!((page.commit, page.data_offset), (Field { offset: 8, size: 8 }, 16));
        assert_eq!(bytes, 4096);
    }

    #[test]
    fn what_is_missing_is_named() {
        let without = COMPLETE.replace("nr_sector", "count");
        assert_eq!(
            EventFormat::parse(&without),
            Err("no field nr_sector with offset and size".into())
        );
        assert_eq!(EventFormat::parse("ID: x"), Err("no ID".into()));
        assert!(PageFormat::parse("field: u64 timestamp; offset:-1; size:8;").is_err());
        let beyond = Field { offset: usize::MAX, size: 8 };
        assert_eq!((beyond.bytes(&[0; 8]), beyond.number(&[0; 8])), (None, None));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(field:|int|dev|;|offset:|size:|[0-9]|\\[|\n|ID:|.){0,40}") {
            let _ = (EventFormat::parse(&text), PageFormat::parse(&text));
        }
    }
}

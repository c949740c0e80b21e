//! Values of an experiment as types: what each accepts, how it refuses the rest, and what the JSON
//! Schema says of it. Lists, shapes and places of values are in [`crate::tree`].

#[cfg(feature = "schema")]
use crate::JsonSchema;
#[cfg(feature = "schema")]
use crate::error::At;
use crate::error::{PlanError, Span};
use crate::text;
use crate::tree::refusal;
use crate::words::{Words, word};
use fsarena_model::verdict::Rule;
#[cfg(feature = "schema")]
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, Error as _, Unexpected, Visitor};
#[cfg(feature = "schema")]
use serde_json::{Map, Value};
#[cfg(feature = "schema")]
use std::borrow::Cow;
use std::fmt;

/// A [`JsonSchema`] that is written into the place where it is used.
#[cfg(feature = "schema")]
macro_rules! inline_schema {
    ([$($generics:tt)*] $type:ty, |$generator:ident| $schema:expr) => {
        impl<$($generics)*> JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

#[cfg(feature = "schema")]
inline_schema!([T: JsonSchema] At<T>, |generator| generator.subschema_for::<T>());

/// A value or a list of them, which is never empty.
#[derive(Clone, Debug)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

#[derive(Deserialize)]
enum OneOrMany<T> {
    Plain(T),
    Many(Vec<T>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match OneOrMany::deserialize(deserializer)? {
            OneOrMany::Plain(one) => vec![one],
            OneOrMany::Many(all) => all,
        }))
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

#[cfg(feature = "schema")]
inline_schema!([T: JsonSchema] List<T>, |generator| {
    let one = generator.subschema_for::<T>();
    json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
});

/// A plain value, or a table.
#[derive(Clone, Deserialize, Debug)]
pub(crate) enum Either<P, T> {
    Plain(P),
    Table(T),
}

#[cfg(feature = "schema")]
inline_schema!([P: JsonSchema, T: JsonSchema] Either<P, T>, |generator| {
    let (plain, table) = (generator.subschema_for::<P>(), generator.subschema_for::<T>());
    json_schema!({ "anyOf": [plain, table] })
});

/// A value that a wrapper here holds.
pub(crate) trait Get<T> {
    fn get(&self) -> T;
}

impl Get<bool> for bool {
    fn get(&self) -> bool {
        *self
    }
}

/// A whole number from `MIN` to `MAX`; where it is absent from a table of defaults, 0.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Within<const MIN: u64, const MAX: u64>(pub(crate) u64);

impl<const MIN: u64, const MAX: u64> Get<u32> for Within<MIN, MAX> {
    fn get(&self) -> u32 {
        u32::try_from(self.0).expect("the limits are within u32")
    }
}

impl<const MIN: u64, const MAX: u64> Get<Option<u32>> for Within<MIN, MAX> {
    fn get(&self) -> Option<u32> {
        Some(self.get())
    }
}

impl<const MIN: u64, const MAX: u64> Get<Option<u64>> for Within<MIN, MAX> {
    fn get(&self) -> Option<u64> {
        Some(self.0)
    }
}

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Within<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match plain(deserializer, "a whole number")? {
            Plain::Whole(number) => within(number, MIN, MAX).map(Self),
            _ => Err(D::Error::invalid_type(Unexpected::Seq, &"a whole number")),
        }
    }
}

fn within<E: de::Error>(number: i128, min: u64, max: u64) -> Result<u64, E> {
    let (digits, range) = (number.to_string(), format!("from {min} to {max}"));
    let found = u64::try_from(number).ok().filter(|number| (min..=max).contains(number));
    found.ok_or_else(|| E::invalid_value(Unexpected::Other(&digits), &range.as_str()))
}

/// A value that is neither a list nor a table.
enum Plain {
    Text(String),
    Whole(i128),
    Number(f64),
    Flag(bool),
}

/// Reads a plain value, where `wanted` is asked for.
fn plain<'de, D: Deserializer<'de>>(deserializer: D, wanted: &str) -> Result<Plain, D::Error> {
    struct AnyPlain<'w>(&'w str);

    impl Visitor<'_> for AnyPlain<'_> {
        type Value = Plain;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }

        fn visit_str<E>(self, text: &str) -> Result<Plain, E> {
            Ok(Plain::Text(text.to_owned()))
        }

        fn visit_bool<E>(self, flag: bool) -> Result<Plain, E> {
            Ok(Plain::Flag(flag))
        }

        fn visit_i64<E>(self, number: i64) -> Result<Plain, E> {
            Ok(Plain::Whole(number.into()))
        }

        fn visit_i128<E>(self, number: i128) -> Result<Plain, E> {
            Ok(Plain::Whole(number))
        }

        fn visit_f64<E>(self, number: f64) -> Result<Plain, E> {
            Ok(Plain::Number(number))
        }
    }

    deserializer.deserialize_any(AnyPlain(wanted))
}

#[cfg(feature = "schema")]
inline_schema!([const MIN: u64, const MAX: u64] Within<MIN, MAX>, |_generator| {
    json_schema!({ "type": "integer", "minimum": MIN, "maximum": MAX })
});

/// Text, or a number or `true` as the text it is written as.
#[derive(Clone, Debug)]
pub(crate) struct Scalar(pub(crate) String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const WANTED: &str = "text or a whole number";
        Ok(Self(match plain(deserializer, WANTED)? {
            Plain::Text(text) => text,
            Plain::Whole(number) => within(number, 0, i64::MAX as u64)?.to_string(),
            Plain::Flag(flag) => flag.to_string(),
            Plain::Number(_) => return Err(D::Error::invalid_type(Unexpected::Seq, &WANTED)),
        }))
    }
}

#[cfg(feature = "schema")]
inline_schema!([] Scalar, |_generator| json_schema!({ "type": ["string", "integer"] }));

/// A number of bytes, with a unit or as a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size(pub(crate) u64);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Scalar::deserialize(deserializer)?.0;
        text::bytes(&text, &Span::Default).map(Self).map_err(|error| refusal(&error))
    }
}

#[cfg(feature = "schema")]
inline_schema!([] Size, |generator| generator.subschema_for::<Scalar>());

/// A number of blocks, or the fewest and the most of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks(pub(crate) Rule);

impl<'de> Deserialize<'de> for Blocks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match plain(deserializer, "a whole number or a range such as \"4..12\"")? {
            Plain::Text(text) => {
                text::blocks(&text, &Span::Default).map(Self).map_err(|error| refusal(&error))
            }
            Plain::Whole(number) => {
                let blocks = within(number, 1, text::MAX_BLOCKS)?;
                let blocks = u32::try_from(blocks).expect("the limits are within u32");
                Ok(Self(Rule::Fixed { blocks }))
            }
            Plain::Number(_) | Plain::Flag(_) => {
                Err(D::Error::invalid_type(Unexpected::Seq, &"a whole number or a range"))
            }
        }
    }
}

#[cfg(feature = "schema")]
inline_schema!([] Blocks, |_generator| {
    json_schema!({ "anyOf": [
        { "type": "integer", "minimum": 1, "maximum": text::MAX_BLOCKS },
        { "type": "string", "pattern": "^ *[0-9]+ *(\\.\\. *[0-9]+ *)?$" },
    ]})
});

/// Text that a rule of its own reads.
pub(crate) trait Text: Sized {
    /// What it is read to.
    type Value;
    /// Reads it.
    const READ: fn(&str, &Span) -> Result<Self::Value, PlanError>;
}

/// Text, read.
#[derive(Clone, Debug)]
pub(crate) struct Read<T: Text>(pub(crate) T::Value);

impl<'de, T: Text> Deserialize<'de> for Read<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        T::READ(&text, &Span::Default).map(Self).map_err(|error| refusal(&error))
    }
}

impl Get<Option<u64>> for Read<Duration> {
    fn get(&self) -> Option<u64> {
        Some(self.0)
    }
}

#[cfg(feature = "schema")]
inline_schema!([T: Text] Read<T>, |generator| generator.subschema_for::<String>());

/// Kinds of text and their readers.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident: $value:ty = $read:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub(crate) struct $name;

            impl $crate::values::Text for $name {
                type Value = $value;
                const READ: fn(&str, &Span) -> Result<$value, PlanError> = $read;
            }
        )*
    };
}

pub(crate) use texts;

texts! {
    /// A duration, ns.
    Duration: u64 = text::nanos;
    /// A period of the sampler, ns.
    Period: u64 = text::period;
    /// Time that a RUN may take, ns.
    Budget: u64 = text::budget;
    ExperimentName: String = |text, place| text::name(text, place, "an experiment");
    WorkloadName: String = |text, place| text::name(text, place, "a workload");
    PhaseName: String = |text, place| text::name(text, place, "a phase");
    FsName: String = |text, place| text::name(text, place, "a file system");
}

/// One of a few words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<T>(pub(crate) T);

impl<T: Copy> Get<T> for Word<T> {
    fn get(&self) -> T {
        self.0
    }
}

impl<'de, T: Words> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let read = word::<T>(&text, &Span::Default);
        read.map(Self).map_err(|error| refusal(&error))
    }
}

#[cfg(feature = "schema")]
inline_schema!([T: Words] Word<T>, |_generator| {
    let words: Vec<&str> = T::words().into_iter().map(|(word, _)| word).collect();
    json_schema!({ "enum": words })
});

/// A share: text such as `"5%"`, or a number.
#[derive(Clone, Debug)]
pub(crate) enum Share {
    Text(String),
    Number(f64),
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match plain(deserializer, "a number")? {
            Plain::Text(text) => Ok(Self::Text(text)),
            Plain::Number(number) => Ok(Self::Number(number)),
            Plain::Whole(number) => Ok(Self::Number(number as f64)),
            Plain::Flag(_) => Err(D::Error::invalid_type(Unexpected::Seq, &"a number")),
        }
    }
}

#[cfg(feature = "schema")]
inline_schema!([] Share, |_generator| json_schema!({ "type": ["string", "number"] }));

/// The schema of a table with the keys of all these, and no others.
#[cfg(feature = "schema")]
pub(crate) fn table_of(parts: &[Schema]) -> Schema {
    let properties = parts.iter().filter_map(|part| part.get("properties")?.as_object());
    let all: Map<String, Value> =
        properties.flatten().map(|(k, v)| (k.clone(), v.clone())).collect();
    json_schema!({ "type": "object", "properties": all, "additionalProperties": false })
}

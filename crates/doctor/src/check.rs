//! What a check is: a name, whom it concerns, and a function that looks.

use crate::layers::Layer;
use crate::scene::{Directory, Scene};
use fsarena_model::finding::{Finding, Weight};

/// Name of the machine as a place.
pub(crate) const HOST: &str = "host";

/// One check.
pub(crate) struct Check {
    /// Its name, as in [`Finding::code`].
    pub code: &'static str,
    /// What it looks at.
    pub look: Look,
}

/// Whom a check concerns; a function that gives `None` has nothing to say of this one.
pub(crate) enum Look {
    /// The machine.
    Host(fn(&Scene) -> Option<Said>),
    /// Each block device from the subject down.
    Device(fn(&Scene, &Layer) -> Option<Said>),
    /// Each directory with its file system.
    Directory(fn(&Scene, &Directory) -> Option<Said>),
}

impl Check {
    /// What it says of all that it concerns.
    pub fn findings(&self, scene: &Scene) -> Vec<Finding> {
        let of = |(place, said): (String, Said)| said.finding(self.code, place);
        match self.look {
            Look::Host(look) => {
                look(scene).map(|said| (HOST.to_owned(), said)).map(of).into_iter().collect()
            }
            Look::Device(look) => scene
                .layers
                .iter()
                .filter_map(|layer| Some((layer.place(), look(scene, layer)?)))
                .map(of)
                .collect(),
            Look::Directory(look) => scene
                .directories
                .iter()
                .filter_map(|dir| Some((dir.place(), look(scene, dir)?)))
                .map(of)
                .collect(),
        }
    }
}

/// What a check says, without its name and place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Said {
    /// How much it matters.
    pub weight: Weight,
    /// What was read.
    pub reading: String,
    why: String,
    remedy: Option<String>,
    command: Option<String>,
}

impl Said {
    fn new(weight: Weight, reading: impl Into<String>, why: &str) -> Self {
        let reading = reading.into();
        Self { weight, reading, why: why.to_owned(), remedy: None, command: None }
    }

    /// As it should be.
    pub fn fine(reading: impl Into<String>) -> Self {
        Self::new(Weight::Fine, reading, "")
    }

    /// Could not be read, because of this.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::new(Weight::Unknown, reason, "")
    }

    /// To be known.
    pub fn note(reading: impl Into<String>, why: &str) -> Self {
        Self::new(Weight::Note, reading, why)
    }

    /// It changes figures.
    pub fn warning(reading: impl Into<String>, why: &str) -> Self {
        Self::new(Weight::Warning, reading, why)
    }

    /// It spoils figures.
    pub fn bad(reading: impl Into<String>, why: &str) -> Self {
        Self::new(Weight::Bad, reading, why)
    }

    /// What to do about it, one sentence without its stop.
    pub fn remedy(mut self, text: &str) -> Self {
        self.remedy = Some(text.to_owned());
        self
    }

    /// The command that does it.
    pub fn command(mut self, text: impl Into<String>) -> Self {
        self.command = Some(text.into());
        self
    }

    fn finding(self, code: &str, place: String) -> Finding {
        let Self { weight, reading, why, remedy, command } = self;
        Finding { code: code.to_owned(), place, weight, reading, why, remedy, command }
    }
}

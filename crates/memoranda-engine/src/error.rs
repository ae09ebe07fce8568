//! Errors of the engine, in words for the caller.

use memoranda_core::abbreviate::shortened_list;
use memoranda_core::id::{CommitId, ProjectName, ProjectNameError};
use memoranda_core::note::edit::EditError;
use memoranda_core::path::PathError;
use memoranda_store::StoreError;

use crate::links::resolve::NoteLocation;

/// A verb that could not be done. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No note has that name.
    #[error("there is no note {identifier:?} in {scope}{}", did_you_mean(.suggestions))]
    NotFound {
        /// The requested name.
        identifier: String,
        /// The searched projects or folders.
        scope: String,
        /// Notes with names like it.
        suggestions: Vec<NoteLocation>,
    },
    /// Several notes go by that name.
    #[error(
        "{identifier:?} could be any of {}; name one by its path{}",
        places(.candidates), without_ending(.identifier, .candidates)
    )]
    Ambiguous {
        /// The requested name.
        identifier: String,
        /// The matching notes.
        candidates: Vec<NoteLocation>,
    },
    /// The file is there, but the project's rules keep it from everybody who asks for notes.
    #[error("{place} is kept from notes: {rule}")]
    Ignored {
        /// The file.
        place: NoteLocation,
        /// The rule.
        rule: String,
    },
    /// The history has no such version of a note.
    #[error("{place} did not exist {when}")]
    NotThen {
        /// The note.
        place: NoteLocation,
        /// The requested time.
        when: String,
    },
    /// The commit is the first scan of a folder, which nobody wrote.
    #[error(
        "commit {} is the beginning of project {project}: its folder had {files} {} already; that \
         is not an edit, and cannot be undone",
        .commit.short(), if *.files == 1 { "file" } else { "files" }
    )]
    FirstScan {
        /// The commit.
        commit: CommitId,
        /// The project.
        project: ProjectName,
        /// Number of files in the commit.
        files: usize,
        /// True if the folder is part of the vault.
        is_in_vault: bool,
    },
    /// The bytes are no text.
    #[error("{0} is not UTF-8 text, and is left as it is")]
    NotText(NoteLocation),
    /// An edit did not fit the text.
    #[error("{place}: {error}{}", edit_hint(.error))]
    Edit {
        /// The note.
        place: NoteLocation,
        /// Reason why the edit does not fit.
        error: EditError,
    },
    /// The path is invalid.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The project name is invalid.
    #[error(transparent)]
    Project(#[from] ProjectNameError),
    /// Something about the request itself.
    #[error("{0}")]
    Invalid(String),
}

/// Number of places that an error lists.
const MAX_LISTED: usize = 10;

/// The result of most verbs.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

fn places(places: &[NoteLocation]) -> String {
    shortened_list(places, MAX_LISTED)
}

/// Returns the hint for the note whose whole path is the name, if the name is also the permalink of
/// another note.
fn without_ending(identifier: &str, candidates: &[NoteLocation]) -> String {
    let named = candidates.iter().find(|place| place.path.as_str() == identifier);
    match named.and_then(|place| identifier.strip_suffix(place.path.extension())) {
        Some(bare) => format!(
            ", and that at {identifier:?}, which is the permalink of another, as {:?}",
            bare.trim_end_matches('.')
        ),
        None => String::new(),
    }
}

fn did_you_mean(suggestions: &[NoteLocation]) -> String {
    match suggestions {
        [] => String::new(),
        suggestions => format!("; did you mean {}?", places(suggestions)),
    }
}

fn edit_hint(error: &EditError) -> String {
    match error {
        EditError::SectionMissing { candidates, .. } if !candidates.is_empty() => {
            format!("; there are {}", candidates.join(", "))
        }
        _ => String::new(),
    }
}

//! Errors of the graph verbs. A verb that fails has changed nothing.

use memoranda_core::id::ObservationId;
use memoranda_core::note::edit::EditError;
use memoranda_store::StoreError;

use crate::EngineError;

/// A graph verb that could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// The vault failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The note of an entity cannot be changed.
    #[error("the note of '{name}' cannot be changed: {error}; mend the file by hand")]
    Edit {
        /// The entity.
        name: String,
        /// The error.
        error: EditError,
    },
    /// No entity has this name.
    #[error("Entity with name {name} not found")]
    UnknownEntity {
        /// The requested name.
        name: String,
        /// Similar names in the thread; empty if they were not looked for.
        near: Vec<String>,
        /// True if similar names were looked for.
        is_searched: bool,
    },
    /// The name of a new thread differs from an existing one only in case or accents.
    #[error(
        "threadId '{id}' differs from the existing thread '{existing}' only in case or accents, \
         which some systems cannot tell apart. Use that one, or another name."
    )]
    ThreadNameTaken {
        /// The new thread.
        id: String,
        /// The existing thread.
        existing: String,
    },
    /// Too many notes have nearly the same name.
    #[error("too many entities are called nearly '{name}'")]
    TooManyNames {
        /// The name.
        name: String,
    },
    /// The target of a relation was removed while the change was prepared.
    #[error(
        "Target entity '{target}' of '{entity}' was removed just now. Nothing was saved; send the \
         request again without it or with its description."
    )]
    TargetRemoved {
        /// The target.
        target: String,
        /// The entity that has the relation.
        entity: String,
    },
    /// The entity has no observation with this id.
    #[error("Entity '{name}' has no observation {id}. Its observations: {}.", quoted(.known))]
    UnknownObservation {
        /// The entity.
        name: String,
        /// The requested id.
        id: ObservationId,
        /// Some current observations of the entity.
        known: Vec<(ObservationId, String)>,
    },
    /// A deleted entity never had an observation with this id.
    #[error("Entity '{name}', which was deleted, had no observation {id}.")]
    UnknownDeletedObservation {
        /// The entity.
        name: String,
        /// The requested id.
        id: ObservationId,
    },
    /// The observation to supersede is not current.
    #[error("Observation {id} of '{name}' is already superseded{}. Nothing was changed.", holds_now(.current))]
    AlreadySuperseded {
        /// The entity.
        name: String,
        /// The observation.
        id: ObservationId,
        /// The current observation in its place.
        current: Option<(ObservationId, String)>,
    },
    /// Another observation of the entity has the same content.
    #[error("Entity '{name}' already has this fact, in {same}: \"{content}\"")]
    AlreadyStated {
        /// The entity.
        name: String,
        /// The content.
        content: String,
        /// The observation that has the content.
        same: ObservationId,
        /// The observation that was to be superseded.
        old: ObservationId,
    },
    /// The caller cancelled the call.
    #[error("The call was cancelled.")]
    Cancelled,
}

impl From<StoreError> for GraphError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

/// The result of a graph verb.
pub type GraphResult<T, E = GraphError> = Result<T, E>;

fn quoted(known: &[(ObservationId, String)]) -> String {
    known.iter().map(|(id, text)| format!("{id} \"{text}\"")).collect::<Vec<_>>().join("; ")
}

fn holds_now(current: &Option<(ObservationId, String)>) -> String {
    match current {
        Some((id, text)) => format!("; what holds now is {id} \"{text}\""),
        None => String::new(),
    }
}

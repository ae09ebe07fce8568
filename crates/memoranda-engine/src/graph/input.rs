//! Entities, observations and relations to write.

use jiff::Timestamp;

/// Confidence and importance, as far as the caller gave them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ObservationWeight {
    /// Confidence from 0 to 1.
    pub confidence: Option<f64>,
    /// Importance from 0 to 1.
    pub importance: Option<f64>,
}

impl ObservationWeight {
    /// Returns these weights, and `other` where none is given.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            confidence: self.confidence.or(other.confidence),
            importance: self.importance.or(other.importance),
        }
    }
}

/// An observation to write.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservationInput {
    /// The text.
    pub content: String,
    /// The weights.
    pub weight: ObservationWeight,
    /// Time of the observation; `None` for now.
    pub time: Option<Timestamp>,
}

/// A relation to write.
#[derive(Clone, Debug)]
pub struct RelationInput {
    /// Name of the target.
    pub target: String,
    /// The relation type.
    pub relation_type: String,
    /// Importance from 0 to 1.
    pub importance: Option<f64>,
}

/// An entity to write.
#[derive(Clone, Debug, Default)]
pub struct EntityInput {
    /// The name.
    pub name: String,
    /// The type.
    pub entity_type: String,
    /// The observations.
    pub observations: Vec<ObservationInput>,
    /// The relations.
    pub relations: Vec<RelationInput>,
    /// The weights of the entity, and of observations without weights.
    pub weight: ObservationWeight,
    /// Time of observations and relations without a time.
    pub time: Option<Timestamp>,
    /// True if the entity is the root of a graph, which needs no relations.
    pub is_root: bool,
}

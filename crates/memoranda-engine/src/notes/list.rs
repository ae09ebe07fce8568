//! Listing notes: what there is, and what changed last.

use memoranda_store::{FileSummary, ListFilter, ListOrder};

use crate::Memory;
use crate::error::Result;

/// Request for a list of notes.
#[derive(Clone, Debug)]
pub struct ListRequest {
    /// Which notes.
    pub filter: ListFilter,
    /// In which order.
    pub order: ListOrder,
    /// How many at the most.
    pub limit: usize,
    /// How many to pass over first.
    pub offset: usize,
}

/// A part of a list.
#[derive(Clone, Debug)]
pub struct ListPage {
    /// The notes.
    pub notes: Vec<FileSummary>,
    /// True if there are more notes.
    pub has_more: bool,
}

impl Memory {
    /// Lists notes.
    pub fn list(&self, request: &ListRequest) -> Result<ListPage> {
        let one_more = request.limit.saturating_add(1);
        let mut notes =
            self.snapshot()?.list(&request.filter, request.order, one_more, request.offset)?;
        let has_more = notes.len() > request.limit;
        notes.truncate(request.limit);
        Ok(ListPage { notes, has_more })
    }
}

//! Lists notes, by path or by time.

use memoranda_store::{FileSummary, ListFilter, ListOrder};

use crate::Memory;
use crate::error::Result;

/// Request for a list of notes.
#[derive(Clone, Debug)]
pub struct ListRequest {
    /// Selection of the notes.
    pub filter: ListFilter,
    /// Order of the list.
    pub order: ListOrder,
    /// Maximum number of notes.
    pub limit: usize,
    /// Number of notes to skip.
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

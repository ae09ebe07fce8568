//! Pages of results and shortened texts.

use crate::registry::count;

/// Cuts a text after `chars` characters, and counts the characters that are left out.
pub(super) fn cut(text: &str, chars: usize) -> (&str, usize) {
    match text.char_indices().nth(chars) {
        Some((at, _)) => {
            let (kept, rest) = text.split_at(at);
            (kept, rest.chars().count())
        }
        None => (text, 0),
    }
}

/// Returns page and page size that continue after `done` results. The last page had room for
/// `fitted` results. If no page size fits exactly, the page repeats one or two results.
pub(super) fn page_after(done: usize, fitted: usize) -> (usize, usize) {
    let sizes = (fitted.div_ceil(2).max(1)..=fitted.max(1)).rev();
    let size = sizes.min_by_key(|size| done % size).unwrap_or(1);
    (done / size + 1, size)
}

/// Message for a page after the last one.
pub(super) fn past_end(page: usize, page_size: usize, total: usize, thing: &str) -> String {
    let last = total.div_ceil(page_size.max(1));
    format!(
        "Page {page} is past the end: there are no more than {}, and page={last} is the last.",
        count(total, thing)
    )
}

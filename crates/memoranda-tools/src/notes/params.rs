//! Parameters that several notes tools share.

use crate::registry::Param;

pub(super) const PROJECT: Param = Param::text("project", "Project, else default");
pub(super) const IDENTIFIER: Param =
    Param::text("identifier", "Title, permalink, path or memory:// address").required();
pub(super) const NOTE_OR_FOLDER: Param = Param::text("identifier", "Note, or folder").required();
pub(super) const EXPECTED_CHECKSUM: Param =
    Param::text("expected_checksum", "Only if still this version");
pub(super) const MAX_TOKENS: Param =
    Param::integer("max_tokens", 1, 1_000_000, "Token budget").hide_max();
pub(super) const AS_OF: Param = Param::text("as_of", "As of a time or commit");
pub(super) const PAGE: Param = Param::integer("page", 1, 100_000, "Page")
    .hide_max()
    .default_integer(1)
    .aliases(&["page_number"]);
pub(super) const PAGE_SIZE: Param = page_size(100);

pub(super) const fn page_size(max: u64) -> Param {
    Param::integer("page_size", 1, max, "Items a page")
        .default_integer(10)
        .aliases(&["limit", "per_page"])
}

/// Parameters that every notes tool accepts. They are not listed, because few callers need them.
/// The last two come from clients of other servers, and only some tools use them.
pub(super) const COMMON: &[Param] = &[
    PROJECT.hidden(),
    Param::text("project_id", "Same as project").hidden(),
    Param::text("workspace", "Without effect").hidden(),
    Param::choice("output_format", &["text", "json"], "Format of the text").hidden(),
    Param::integer("depth", 0, u64::MAX, "Without effect").hidden(),
    Param::decimal("min_similarity", 0.0, 1.0, "Without effect").hidden(),
];

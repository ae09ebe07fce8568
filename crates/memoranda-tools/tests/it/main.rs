//! The tools as their callers see them, on a real vault.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::needless_pass_by_value,
    reason = "tests fail by panicking and look at files as a person would"
)]

mod core_context;
mod core_forget;
mod core_nearest;
mod core_recall;
mod core_remember;
mod core_support;
mod everywhere;
mod graph_analytics;
mod graph_manual_edits;
mod graph_model;
mod graph_neighbourhood;
mod graph_observation_history;
mod graph_reference;
mod graph_regressions;
mod graph_requests;
mod graph_save;
mod graph_validation;
mod memory_model;
mod memory_safety;
mod memory_wording;
mod notes_broken_links;
mod notes_completeness;
mod notes_composition;
mod notes_exact_edits;
mod notes_filters;
mod notes_grammar;
mod notes_graph;
mod notes_line_breaks;
mod notes_links;
mod notes_moves;
mod notes_names;
mod notes_paging;
mod notes_path_links;
mod notes_projects;
mod notes_regressions;
mod notes_search_text;
mod notes_similarity;
mod notes_snapshots;
mod notes_support;
mod notes_unicode_names;
mod notes_visibility;
mod one_state;
mod peer_clients;
mod pending_calls;
mod records_brief;
mod search_answers;
mod support;
mod tables;

//! The dialects as their callers see them, on a real vault.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::needless_pass_by_value,
    reason = "tests fail by panicking and look at files as a person would"
)]

#[path = "it/support.rs"]
mod support;

#[path = "it/graph_around.rs"]
mod graph_around;
#[path = "it/graph_measures.rs"]
mod graph_measures;
#[path = "it/graph_model.rs"]
mod graph_model;
#[path = "it/graph_people.rs"]
mod graph_people;
#[path = "it/graph_problems.rs"]
mod graph_problems;
#[path = "it/graph_reference.rs"]
mod graph_reference;
#[path = "it/graph_requests.rs"]
mod graph_requests;
#[path = "it/graph_save.rs"]
mod graph_save;
#[path = "it/graph_traps.rs"]
mod graph_traps;
#[path = "it/graph_versions.rs"]
mod graph_versions;
#[path = "it/memory_model.rs"]
mod memory_model;
#[path = "it/memory_safety.rs"]
mod memory_safety;
#[path = "it/memory_wording.rs"]
mod memory_wording;
#[path = "it/notes_bounds.rs"]
mod notes_bounds;
#[path = "it/notes_composed.rs"]
mod notes_composed;
#[path = "it/notes_filters.rs"]
mod notes_filters;
#[path = "it/notes_found.rs"]
mod notes_found;
#[path = "it/notes_golden.rs"]
mod notes_golden;
#[path = "it/notes_grammar.rs"]
mod notes_grammar;
#[path = "it/notes_graph.rs"]
mod notes_graph;
#[path = "it/notes_lines.rs"]
mod notes_lines;
#[path = "it/notes_links.rs"]
mod notes_links;
#[path = "it/notes_lost.rs"]
mod notes_lost;
#[path = "it/notes_moves.rs"]
mod notes_moves;
#[path = "it/notes_names.rs"]
mod notes_names;
#[path = "it/notes_near.rs"]
mod notes_near;
#[path = "it/notes_pages.rs"]
mod notes_pages;
#[path = "it/notes_paths.rs"]
mod notes_paths;
#[path = "it/notes_projects.rs"]
mod notes_projects;
#[path = "it/notes_results.rs"]
mod notes_results;
#[path = "it/notes_strict.rs"]
mod notes_strict;
#[path = "it/notes_support.rs"]
mod notes_support;
#[path = "it/notes_text.rs"]
mod notes_text;
#[path = "it/notes_traps.rs"]
mod notes_traps;
#[path = "it/records_brief.rs"]
mod records_brief;
#[path = "it/tables.rs"]
mod tables;

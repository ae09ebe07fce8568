use std::collections::BTreeSet;

use super::super::template;
use super::*;

/// Places a text. Returns the difference from the expected placement.
fn check(kind: BankType, content: &str, file: &str, section: Option<&str>) -> Option<String> {
    let found = categorize(kind, content, None);
    assert!((0.0..=1.0).contains(&found.confidence));
    let right = (found.file.as_str(), found.section.as_deref()) == (file, section);
    (!right).then(|| format!("{content}: {found:?}, not {file} {section:?}"))
}

/// Texts and the place where each must land.
const CASES: &[(BankType, &str, &str, Option<&str>)] = &[
    (
        BankType::Global,
        "The user prefers detailed explanations with code examples.",
        "preferences.md",
        Some("Communication Style"),
    ),
    (
        BankType::Global,
        "Prefers tabs over spaces and dark themes.",
        "preferences.md",
        Some("General Preferences"),
    ),
    (
        BankType::Global,
        "Often asks about gardening; topics she prefers.",
        "preferences.md",
        Some("Frequently Referenced Topics"),
    ),
    (
        BankType::Global,
        "The Rust book is at https://doc.rust-lang.org/book/",
        "references.md",
        Some("Useful Resources"),
    ),
    (
        BankType::Global,
        "Papers that are often cited: Lamport 1978.",
        "references.md",
        Some("Frequently Cited Sources"),
    ),
    (BankType::Global, "Moved to Lisbon in March.", "context.md", None),
    (BankType::Project, "The shop sells shoes online.", "readme.md", Some("Project Overview")),
    (
        BankType::Project,
        "Ana is the product owner and responsible for the budget.",
        "readme.md",
        Some("Stakeholders"),
    ),
    (
        BankType::Project,
        "Our goal is to halve the checkout time.",
        "doc/objectives.md",
        Some("Primary Goals"),
    ),
    (
        BankType::Project,
        "The launch date is 3 May; the deadline for content is April.",
        "doc/objectives.md",
        Some("Timeline"),
    ),
    (
        BankType::Project,
        "Success criteria: conversion above 4 %, as KPI.",
        "doc/objectives.md",
        Some("Success Criteria"),
    ),
    (
        BankType::Project,
        "We decided to use PostgreSQL for orders.",
        "doc/decisions.md",
        Some("Technical Decisions"),
    ),
    (
        BankType::Project,
        "We agreed to a workflow with weekly sprints and code reviews.",
        "doc/decisions.md",
        Some("Process Decisions"),
    ),
    (
        BankType::Project,
        "The user interface gets a dark mode and larger typography.",
        "doc/decisions.md",
        Some("Design Decisions"),
    ),
    (
        BankType::Project,
        "I've completed the login page and it is deployed.",
        "doc/progress.md",
        Some("Current State"),
    ),
    (
        BankType::Project,
        "Next, we need to write the import.",
        "doc/progress.md",
        Some("Next Steps"),
    ),
    (
        BankType::Project,
        "We are blocked by the payment provider: a known issue.",
        "doc/progress.md",
        Some("Challenges"),
    ),
    (
        BankType::Project,
        "Useful article: https://example.org/checkout",
        "doc/references.md",
        Some("External Resources"),
    ),
    (
        BankType::Project,
        "We must follow the WCAG guidelines and the ISO standard.",
        "doc/references.md",
        Some("Standards & Guidelines"),
    ),
    (
        BankType::Project,
        "The handbook is a reference on our wiki.",
        "doc/references.md",
        Some("Internal Documents"),
    ),
    (
        BankType::Project,
        "In the meeting we met with Ana; attendees: Ben, Cem.",
        "notes/meeting_notes.md",
        Some("Recent Meetings"),
    ),
    (
        BankType::Project,
        "Idea: what if customers could vote on shoes?",
        "notes/ideas.md",
        Some("Brainstorming"),
    ),
    (
        BankType::Project,
        "Someday we could do virtual fitting, a future idea.",
        "notes/ideas.md",
        Some("Future Possibilities"),
    ),
    (
        BankType::Project,
        "Research: the benchmark measured 40 ms per query.",
        "notes/research.md",
        Some("Technical Research"),
    ),
    (
        BankType::Project,
        "Market research: two competitors raised pricing.",
        "notes/research.md",
        Some("Market Research"),
    ),
    (
        BankType::Project,
        "Interviews with twelve users: findings of the survey.",
        "notes/research.md",
        Some("User Research"),
    ),
    (
        BankType::Code,
        "A compiler for a small language.",
        "doc/architecture.md",
        Some("Dependencies"),
    ),
    (BankType::Code, "Sells shoes.", "readme.md", Some("Repository Overview")),
    (
        BankType::Code,
        "The architecture is event-driven, with one component for payments.",
        "doc/architecture.md",
        Some("Architecture Overview"),
    ),
    (
        BankType::Code,
        "We're implementing the observer pattern in the architecture.",
        "doc/architecture.md",
        Some("Design Patterns"),
    ),
    (
        BankType::Code,
        "Tech stack: axum as framework, sqlite as database.",
        "doc/architecture.md",
        Some("Dependencies"),
    ),
    (
        BankType::Code,
        "Coding style: the naming convention is snake case.",
        "doc/design.md",
        Some("Best Practices"),
    ),
    (
        BankType::Code,
        "Design principle: values in, values out.",
        "doc/design.md",
        Some("Design Principles"),
    ),
    (BankType::Code, "The endpoint GET /orders returns JSON.", "doc/api.md", Some("Public API")),
    (
        BankType::Code,
        "API usage example: curl the endpoint with a token.",
        "doc/api.md",
        Some("Examples"),
    ),
    (
        BankType::Code,
        "The internal API between worker and scheduler is an RPC.",
        "doc/api.md",
        Some("Internal API"),
    ),
    (
        BankType::Code,
        "Directory structure: the server is located in crates/server.",
        "structure.md",
        Some("Directory Structure"),
    ),
    (
        BankType::Code,
        "Folder per module: modules live in packages.",
        "structure.md",
        Some("Module Organization"),
    ),
    (
        BankType::Code,
        "A helper:\n\n```rust\nfn main() {}\n```",
        "snippets.md",
        Some("Important Snippets"),
    ),
    (BankType::Code, "Fixed and merged the parser; it now works.", "readme.md", Some("Progress")),
    (BankType::Code, "Next step: we should add a cache.", "readme.md", Some("Next Steps")),
    // A text with a heading stays whole.
    (BankType::Code, "## API changes\n\n- one", "doc/api.md", None),
    (BankType::Project, "# Meeting 3 May\n\nWe chose blue.", "notes/meeting_notes.md", None),
    (BankType::Global, "## Communication style\nShort.", "preferences.md", None),
    // Words of another language are nobody's cue.
    (BankType::Project, "Der Laden verkauft Schuhe.", "readme.md", Some("Project Overview")),
    (BankType::Global, "", "context.md", None),
];

#[test]
fn texts_land_in_the_right_file() {
    let wrong: Vec<String> =
        CASES.iter().filter_map(|(kind, text, file, at)| check(*kind, text, file, *at)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_file_of_every_template_is_reached_by_a_case() {
    for kind in BankType::ALL {
        let reached: BTreeSet<&str> =
            CASES.iter().filter(|case| case.0 == kind).map(|case| case.2).collect();
        for file in template::files(kind) {
            assert!(reached.contains(file.path), "{kind:?} {}", file.path);
        }
    }
}

#[test]
fn every_home_is_a_file_of_its_template() {
    for category in CATEGORIES.iter().chain([&DEFAULT]) {
        for kind in BankType::ALL {
            let home = category.home(kind);
            let file = template::file(kind, home.file);
            assert!(file.is_some(), "{} {kind:?} {}", category.name, home.file);
        }
    }
}

#[test]
fn confidence_says_how_clear_it_was() {
    let of = |content: &str| categorize(BankType::Project, content, None).confidence;
    assert!((of("# Meeting with Ana\n\nx") - 1.0).abs() < 1e-9);
    assert!((of("# Attendees\n\nx") - 0.9).abs() < 1e-9);
    assert!(of("Nothing to hold on to.") < 1e-9);
    let mixed = of("We met with Ana about an idea and the deadline.");
    assert!(mixed > 0.0 && mixed < 0.9, "{mixed}");
}

#[test]
fn a_trigger_speaks_where_the_text_does_not() {
    let plain = "The scheduler asks the worker.";
    let file = |trigger| categorize(BankType::Code, plain, trigger).file;
    assert_eq!(file(None), "readme.md");
    assert_eq!(file(Some("watchdog")), "readme.md");
    assert_eq!(file(Some("architecture")), "doc/architecture.md");
    assert_eq!(file(Some("technology")), "doc/architecture.md");
}

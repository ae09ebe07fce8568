//! A folder that Basic Memory made gives the same entities, observations and relations here, row by
//! row of its grammar, and no byte of it changes.

use std::path::Path;

use memoranda_core::id::ProjectName;
use memoranda_engine::HardLinkPolicy;

use crate::notes_support::Notes;

/// The indexed data of a file: its frontmatter, facts and links.
fn known(notes: &Notes, project: &str, path: &str) -> (String, Vec<String>, Vec<String>) {
    let project = ProjectName::parse(project).unwrap();
    let path = memoranda_core::path::NotePath::parse(path).unwrap();
    let snapshot = notes.0.memory.snapshot().unwrap();
    let file = snapshot.file(&project, &path).unwrap().unwrap();
    let facts = snapshot.observations(file.id).unwrap();
    let facts = facts.iter().map(|fact| {
        let context = fact.context.as_deref().map(|c| format!(" ({c})")).unwrap_or_default();
        format!("{}|{}{context}", fact.category.as_deref().unwrap_or("note"), fact.text)
    });
    let links = snapshot.relations_from(file.id).unwrap();
    let links = links.iter().map(|link| {
        let context = link.context.as_deref().map(|c| format!(" ({c})")).unwrap_or_default();
        let bound = if link.target_file.is_some() { "" } else { "?" };
        format!("{}>{}{bound}{context}", link.relation_type, link.target)
    });
    let head = format!("{}|{}|{}", file.title, file.note_type, file.permalink);
    (head, facts.collect(), links.collect())
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_folder_of_basic_memory_is_parsed_the_same_way() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/basic-memory");
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("basic-memory");
    copy(&fixture, &root);
    let notes = Notes::new();
    notes.0.memory.add_project("old", &root, HardLinkPolicy::Refuse).unwrap();
    notes.0.memory.sync(&mut |_| {}).unwrap();
    let check = |path: &str, head: &str, facts: &[&str], links: &[&str]| {
        let found = known(&notes, "old", path);
        assert_eq!(found.0, head, "{path}");
        assert_eq!(found.1, facts, "{path}");
        assert_eq!(found.2, links, "{path}");
        let (before, after) = (std::fs::read(fixture.join(path)), std::fs::read(root.join(path)));
        assert_eq!(before.unwrap(), after.unwrap(), "{path}");
    };
    check(
        "specs/Search Design.md",
        "Search Design|spec|main/specs/search-design",
        &[
            "decision|Words and vectors are ranked together #search #ranking",
            // The context begins at the last parenthesis.
            "limit|A page holds 100 results (measured (twice))",
            "tech debt|Scores are not comparable #a#b (open question)",
            "note|A line that only has a #tag",
            "note|dropped brackets #kept",
            "multi|first line",
            "nested|below #deep",
            "tech|[[Rust]]",
            "paragraph|counts too #para",
        ],
        &[
            "links_to>Index Format?",
            "links_to>journal/Day One",
            "implements>Search?",
            "depends_on>Index Format? (since version 2)",
            "is part of>Product?",
            "used by>CLI? (main user)",
            "links_to>Other Note?",
            "links_to>A?",
            "links_to>B?",
            "links_to>C?",
            "[tech]>Rust?",
            "see>work::Plan?",
            "links_to>Outer [[Inner]] End?",
        ],
    );
    check(
        "journal/Day One.md",
        "Day One|note|journal/day-one",
        &["note|windows line"],
        &["relates_to>Search Design"],
    );
    check("journal/broken.md", "broken|note|journal/broken", &["fact|still a fact"], &[]);
    check(
        "journal/no frontmatter.md",
        "no frontmatter|note|journal/no-frontmatter",
        &["fact|by hand"],
        &["links_to>Search Design"],
    );
    check("journal/typed.md", "Typed|meeting_note|journal/typed", &[], &[]);
    let tags = |query: &str| {
        let found =
            notes.ok("search_notes", serde_json::json!({ "tags": [query], "project": "old" }));
        let results = found.structured["results"].as_array().unwrap().clone();
        results.iter().map(|r| r["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (tag, title) in
        [("ranking", "Search Design"), ("b", "Day One"), ("y", "Typed"), ("deep", "Search Design")]
    {
        assert!(tags(tag).contains(&title.to_owned()), "{tag}");
    }
    // Its addresses go on working, with and without the project that it put before them.
    for url in [
        "memory://main/specs/search-design",
        "specs/search-design",
        "Search Design",
        "memory://specs/*",
        "memory://main/specs/*",
    ] {
        let arguments = serde_json::json!({ "url": url, "project": "old" });
        let context = notes.ok("build_context", arguments).structured;
        assert_eq!(context["metadata"]["primary_count"], 1, "{url}");
    }
}

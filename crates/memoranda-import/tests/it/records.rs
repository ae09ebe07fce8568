//! Memories of other servers become records.

use memoranda_import::{ImportInput, ImportSource, detect_source};
use serde_json::json;

use crate::support::{ImportFixture, place};

#[track_caller]
fn check_source(vault: &ImportFixture, name: &str, expected: ImportSource) {
    let input = ImportInput::open(&vault.outside().join(name)).unwrap();
    assert_eq!(detect_source(&input).unwrap().name(), expected.name());
}

#[test]
fn mem0_becomes_records() {
    let vault = ImportFixture::new();
    let mem0 = json!({ "results": [{
        "id": "6e0c1a52-7b1f-4d5e-9f1c-0a2b3c4d5e6f", "memory": "Dev works at TechCorp",
        "user_id": "dev", "categories": ["professional"], "metadata": { "type": "job" },
        "created_at": "2025-06-01T10:00:00-07:00", "updated_at": null,
    }, { "id": "x" }] });
    vault.put("mem0.json", &mem0.to_string());
    check_source(&vault, "mem0.json", ImportSource::Mem0);
    let report = vault.import("mem0.json", [1, 0, 0, 0, 0]);
    assert_eq!(report.problems.len(), 1, "{report:?}");
    let made = &report.notes[0].place;
    assert!(made.path.as_str().starts_with("global/fact/"), "{made}");
    let text = vault.note(made).unwrap();
    assert!(text.contains("tags:\n  - professional\n"), "{text}");
    assert!(text.contains("\\\"user_id\\\":\\\"dev\\\""), "{text}");
    assert!(text.contains("2025-06-01T17:00:00Z"), "{text}");
    vault.import("mem0.json", [0, 0, 1, 0, 0]);
}

#[test]
fn mcp_memory_service_comes_from_its_database_or_its_export() {
    let vault = ImportFixture::new();
    let db = rusqlite::Connection::open(vault.outside().join("sqlite_vec.db")).unwrap();
    db.execute_batch(
        "CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT, content TEXT, tags TEXT, \
         memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT, \
         updated_at_iso TEXT, deleted_at REAL);
         INSERT INTO memories VALUES (1, 'abc', 'We use Redis', 'db,cache', 'decision', '{}', \
         1767323045.5, 1767323045.5, '2026-01-02T03:04:05Z', NULL, NULL);
         INSERT INTO memories VALUES (2, 'def', 'Gone', '', 'note', '{}', 1.0, 1.0, NULL, NULL, 2.0);",
    )
    .unwrap();
    drop(db);
    check_source(&vault, "sqlite_vec.db", ImportSource::MemoryService);
    vault.import("sqlite_vec.db", [1, 0, 0, 0, 0]);
    let text = vault.note(&place("records", "global/decision/abc.md")).unwrap();
    assert!(text.contains("created: \"2026-01-02T03:04:05Z\"\n"), "{text}");
    let export = json!({ "export_metadata": {}, "memories": [{
        "content": "From JSON", "content_hash": "f00", "tags": ["t"], "memory_type": "observation",
        "created_at": 1_767_323_045.5, "metadata": { "k": "v" },
    }] });
    vault.put("service.json", &export.to_string());
    vault.import("service.json", [1, 0, 0, 0, 0]);
    let text = vault.note(&place("records", "global/note/f00.md")).unwrap();
    assert!(text.contains("memory_type") && text.contains("observation"), "{text}");
}

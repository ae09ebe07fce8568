//! A second import respects what happened in the vault since the first.

use memoranda_engine::core::note::edit::NoteEdit;
use memoranda_engine::{DeleteRequest, EditRequest, MoveRequest};
use memoranda_import::{DeletedPolicy, ImportMode};
use serde_json::json;

use crate::support::{ImportFixture, author, place};

fn conversation(answer: &str) -> String {
    json!([{
        "uuid": "c1", "name": "Talk",
        "created_at": "2026-02-14T10:04:22Z", "updated_at": "2026-02-14T10:22:41Z",
        "chat_messages": [{ "uuid": "m1", "sender": "human", "text": answer }],
    }])
    .to_string()
}

#[test]
fn a_second_run_respects_what_happened_here() {
    const FILE: &str = "conversations.json";
    let vault = ImportFixture::new();
    let first = place("main", "claude/conversations/2026-02-14 Talk.md");
    let moved = place("main", "archive/Old talk.md");
    let put = |answer: &str| vault.put(FILE, &conversation(answer));
    put("one");
    vault.import(FILE, [1, 0, 0, 0, 0]);
    // A note that changed at its source is updated. A dry run only reports it.
    put("two");
    vault.import_as(FILE, ImportMode::DryRun, DeletedPolicy::Stay, [0, 1, 0, 0, 0]);
    assert!(vault.note(&first).unwrap().contains("> one\n"));
    vault.import(FILE, [0, 1, 0, 0, 0]);
    assert!(vault.note(&first).unwrap().contains("> two\n"));
    // It is found where a person moved it.
    let request = MoveRequest::new(first.clone(), moved.path.clone());
    vault.memory.move_notes(&author(), &request).unwrap();
    vault.import(FILE, [0, 0, 1, 0, 0]);
    put("three");
    vault.import(FILE, [0, 1, 0, 0, 0]);
    // It changed in the vault and at its source: the vault's version stays.
    let edits = vec![NoteEdit::Append { text: "my own words\n".to_owned() }];
    let request = EditRequest { place: moved.clone(), edits, expected: None, message: None };
    vault.memory.edit(&author(), &request).unwrap();
    vault.import(FILE, [0, 0, 1, 0, 0]);
    put("four");
    vault.import(FILE, [0, 0, 0, 1, 0]);
    assert!(vault.note(&moved).unwrap().ends_with("my own words\n"));
    // It was deleted in the vault: it stays deleted until it is asked for.
    vault
        .memory
        .delete(&author(), &DeleteRequest { place: moved.clone(), expected: None })
        .unwrap();
    vault.import(FILE, [0, 0, 0, 0, 1]);
    let again = vault.import_as(FILE, ImportMode::Write, DeletedPolicy::ComeBack, [1, 0, 0, 0, 0]);
    // An import that was undone never happened.
    vault.memory.undo(&author(), again.commits[0].as_str()).unwrap();
    assert!(again.notes.iter().all(|note| vault.note(&note.place).is_none()));
    vault.import(FILE, [1, 0, 0, 0, 0]);
}

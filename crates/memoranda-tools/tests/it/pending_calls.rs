//! Random calls on two vaults: one indexes each commit at once, the other lets commits wait for the
//! index. Both give the same answers. `MEMORANDA_TEST_ROUNDS` asks for more seeds.

use std::collections::BTreeSet;

use memoranda_core::change::{Author, ChangeChannel};
use memoranda_tools::Wording;
use serde_json::{Value, json};

use crate::support::TestVault;

const CALLS: usize = 70;
const TITLES: [&str; 6] = ["Plan", "Garden plan", "plan", "Heron", "Heron nest", "Reeds"];
const FOLDERS: [&str; 4] = ["", "a", "b", "a/deep"];
const PROJECTS: [&str; 2] = ["main", "work"];
const ENTITIES: [&str; 4] = ["Ada", "Bob", "Cleo", "ada"];
const LINES: [&str; 6] = [
    "see [[Plan]]",
    "- relates_to [[Heron]]",
    "- part_of [[a/Garden plan]]",
    "- [fact] the heron nests in reeds #birds",
    "- needs [[Nowhere yet]]",
    "- see_also [[work/Reeds]]",
];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// A call; an argument `$N` stands for the id or commit of the answer N from the end.
type Call = (&'static str, Value);

/// A title, path or permalink of a note that may exist.
fn identifier(random: &mut Random) -> String {
    let (title, folder) = (random.pick(&TITLES), random.pick(&FOLDERS));
    let path = if folder.is_empty() { title.into() } else { format!("{folder}/{title}") };
    match random.below(4) {
        0 => title.into(),
        1 => path.to_lowercase().replace(' ', "-"),
        2 => path,
        _ => format!("{path}.md"),
    }
}

fn content(random: &mut Random, n: usize) -> String {
    let mut text = format!("The text of turn{n}\n");
    for _ in 0..random.below(4) {
        text.push_str(random.pick(&LINES));
        text.push('\n');
    }
    text
}

fn write(random: &mut Random, n: usize) -> Call {
    let project = PROJECTS[usize::from(random.below(5) == 0)];
    let identifier = identifier(random);
    let content = content(random, n);
    let (entity, other) = (random.pick(&ENTITIES), random.pick(&ENTITIES));
    let relation = json!([{ "from": entity, "to": other, "relationType": "knows" }]);
    let file = format!("/memories/{}/{}.md", random.pick(&["x", "y"]), random.pick(&["a", "b"]));
    let earlier = format!("${}", random.below(6));
    match random.below(24) {
        0..=4 => {
            let overwrite = random.below(3) == 0;
            let (title, directory) = (random.pick(&TITLES), random.pick(&FOLDERS));
            (
                "write_note",
                json!({ "title": title, "directory": directory, "content": content,
                                   "overwrite": overwrite, "project": project }),
            )
        }
        5 | 6 => {
            let operation = random.pick(&["append", "prepend", "find_replace", "replace_section"]);
            (
                "edit_note",
                json!({ "identifier": identifier, "operation": operation,
                                  "content": content, "find_text": "The text",
                                  "section": "Notes", "project": project }),
            )
        }
        7 | 8 => (
            "move_note",
            json!({ "identifier": identifier, "project": project,
                                       "destination_folder": random.pick(&FOLDERS) }),
        ),
        9 => ("delete_note", json!({ "identifier": identifier, "project": project })),
        10 => (
            "delete_note",
            json!({ "identifier": random.pick(&FOLDERS[1..]),
                                      "is_directory": true, "project": project }),
        ),
        11 => ("memory", json!({ "command": "create", "path": file, "file_text": content })),
        12 => match random.below(3) {
            0 => (
                "memory",
                json!({ "command": "str_replace", "path": file,
                                    "old_str": "The text", "new_str": "A text" }),
            ),
            1 => (
                "memory",
                json!({ "command": "rename", "old_path": file,
                                    "new_path": "/memories/x/b.md" }),
            ),
            _ => (
                "memory",
                json!({ "command": "delete", "path": random.pick(&["/memories/x", &file]) }),
            ),
        },
        13 | 14 => {
            let kind = random.pick(&["fact", "rule", "decision", "note"]);
            (
                "add_memory",
                json!({ "content": format!("turn{n} {}", random.pick(&LINES)),
                                   "type": kind, "tags": ["birds"] }),
            )
        }
        15 => match random.below(4) {
            0 => ("edit_memory", json!({ "id": earlier, "content": format!("edited in turn{n}") })),
            1 => ("restore_memory", json!({ "id": earlier })),
            2 => ("vacuum_memories", json!({})),
            _ => ("forget_memory", json!({ "id": earlier })),
        },
        16 | 17 => {
            let facts = [format!("turn{n} fact"), random.pick(&LINES).to_owned()];
            (
                "create_entities",
                json!({ "entities": [{ "name": entity, "entityType": "person",
                                                       "observations": facts }] }),
            )
        }
        18 => ("create_relations", json!({ "relations": relation })),
        19 => match random.below(3) {
            0 => ("delete_relations", json!({ "relations": relation })),
            1 => ("delete_entities", json!({ "entityNames": [entity] })),
            _ => (
                "add_observations",
                json!({ "observations": [
                      { "entityName": entity, "contents": [format!("turn{n} more")] }] }),
            ),
        },
        20 => (
            "update",
            json!({ "bank_type": "global", "bank_id": "default",
                                 "content": format!("Turn{n} likes herons"), "operation": "" }),
        ),
        21 => ("remember", json!({ "content": format!("I prefer turn{n} over herons") })),
        22 => ("forget", json!({ "id": earlier })),
        _ => ("undo", json!({ "commit": earlier })),
    }
}

fn read(random: &mut Random) -> Call {
    let identifier = identifier(random);
    let query = random.pick(&["heron", "plan", "reeds nest", "turn1", "prefer"]);
    let entity = random.pick(&ENTITIES);
    match random.below(18) {
        0 | 1 => ("read_note", json!({ "identifier": identifier })),
        2 => ("read_note", json!({ "identifier": identifier, "as_of": "$0" })),
        3 => ("search_notes", json!({ "query": query })),
        4 => ("recall", json!({ "query": query })),
        5 => ("build_context", json!({ "url": identifier, "depth": 2, "timeframe": "7d" })),
        6 => ("list_directory", json!({ "dir_name": random.pick(&FOLDERS), "depth": 3 })),
        7 => ("recent_activity", json!({ "timeframe": "7d" })),
        8 => ("open_nodes", json!({ "names": [entity] })),
        9 => ("read_graph", json!({})),
        10 => ("search_nodes", json!({ "query": entity })),
        11 => ("list_memories", json!({})),
        12 => ("get_rules", json!({})),
        13 => ("search_memories", json!({ "query": query })),
        14 => ("memory", json!({ "command": "view", "path": "/memories" })),
        15 => ("list_memory_projects", json!({})),
        16 => ("counts", json!({})),
        _ => ("activate", json!({ "bank_type": "global" })),
    }
}

struct Player {
    vault: TestVault,
    /// The ids and commits of answers.
    known: Vec<String>,
}

impl Player {
    fn new() -> Self {
        let vault = TestVault::new(Wording::Mcp);
        vault.done("create_memory_project", json!({ "project_name": "work" }));
        vault.memory.sync(&mut |_| {}).unwrap();
        Self { vault, known: Vec::new() }
    }

    /// Returns the answer to a call without ids and times.
    fn call(&mut self, (name, arguments): &Call) -> Value {
        let mut arguments = arguments.clone();
        for value in arguments.as_object_mut().into_iter().flat_map(|map| map.values_mut()) {
            let back =
                value.as_str().and_then(|text| text.strip_prefix('$')?.parse::<usize>().ok());
            if let Some(back) = back {
                *value = json!(self.known.iter().rev().nth(back).map_or("none", String::as_str));
            }
        }
        let answer = match *name {
            "undo" => {
                let author = Author::new("test 1", "undo", ChangeChannel::Mcp);
                let commit = arguments["commit"].as_str().unwrap_or_default();
                json!(self.vault.memory.undo(&author, commit).is_ok())
            }
            "counts" => {
                let snapshot = self.vault.memory.snapshot().unwrap();
                json!(format!("{:?}", snapshot.counts().unwrap()))
            }
            name => {
                let result = self.vault.call(name, &arguments);
                let structured = result.structured;
                for field in ["id", "commit"] {
                    self.known.extend(structured[field].as_str().map(str::to_owned));
                }
                json!({ "is_error": result.is_error, "answer": structured })
            }
        };
        without_ids(&answer)
    }
}

/// Returns a value without the parts that differ between two runs, and with sorted lists: the order of
/// changes in one millisecond is not defined.
fn without_ids(value: &Value) -> Value {
    match value {
        Value::String(text) => json!(text_without_ids(text)),
        // Scores depend on the time, and numbers of notes on their ids.
        Value::Number(number) if number.as_u64().is_none_or(|n| n > 1_000_000) => json!("#"),
        Value::Array(values) => {
            let mut values: Vec<Value> = values.iter().map(without_ids).collect();
            values.sort_by_key(Value::to_string);
            Value::Array(values)
        }
        // Of a note that waits for the index, only the title tells if it is similar.
        Value::Object(map) => {
            let map = map.iter().filter(|(key, _)| *key != "similar");
            map.map(|(key, value)| (text_without_ids(key), without_ids(value))).collect()
        }
        other => other.clone(),
    }
}

/// Ids and times are words with a digit; eight or twelve letters may be one, too. The lines are
/// sorted, because some lists are text.
fn text_without_ids(text: &str) -> String {
    let line = |line: &str| {
        let words = line.split(|c: char| !c.is_alphanumeric());
        let is_id = |word: &str| {
            let has_digit = word.contains(|c: char| c.is_ascii_digit());
            (has_digit && !word.to_lowercase().starts_with("turn"))
                || [8, 12].contains(&word.len())
                || word.starts_with("tmp")
        };
        let words = words.map(|word| if is_id(word) { "#" } else { word });
        let mut words: Vec<&str> = words.collect();
        // A time without milliseconds has a part less.
        words.dedup_by(|a, b| a == b && *a == "#");
        words.join(" ")
    };
    let mut lines: Vec<String> = text.lines().map(line).collect();
    lines.sort();
    lines.join("\n")
}

fn play(seed: u64) -> BTreeSet<&'static str> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut at_once, mut later) = (Player::new(), Player::new());
    later.vault.memory.start_background().unwrap();
    let mut succeeded = BTreeSet::new();
    let mut past = Vec::new();
    for n in 0..CALLS {
        // A read indexes the commits that wait, so that some writes follow each other.
        let call = if random.below(4) == 0 { read(&mut random) } else { write(&mut random, n) };
        past.push(format!("{} {}", call.0, call.1));
        let (expected, answer) = (at_once.call(&call), later.call(&call));
        assert_eq!(answer, expected, "seed {seed}: {}", past.join("\n"));
        if answer["is_error"] != json!(true) {
            succeeded.insert(call.0);
        }
    }
    for _ in 0..20 {
        let call = read(&mut random);
        assert_eq!(later.call(&call), at_once.call(&call), "seed {seed}: {call:?}");
    }
    succeeded
}

#[test]
fn calls_answer_as_if_each_commit_were_indexed_at_once() {
    let rounds = std::env::var("MEMORANDA_TEST_ROUNDS").ok().and_then(|text| text.parse().ok());
    let seeds = 1..=rounds.unwrap_or(4);
    let succeeded: BTreeSet<_> = seeds.flat_map(play).collect();
    for name in ["write_note", "edit_note", "move_note", "delete_note", "create_entities", "undo"] {
        assert!(succeeded.contains(name), "no {name} succeeded: {succeeded:?}");
    }
}

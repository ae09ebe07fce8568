//! Metadata of tools for clients with their own tool search: words by which a tool is found, and the
//! tools that are always loaded.

use serde_json::{Map, Value, json};

use super::tool::ToolDef;

/// Tools that a client loads even if it defers the others.
const ALWAYS_LOADED: [&str; 4] = ["remember", "recall", "get_context", "forget"];

/// Words by which people and models look for each tool, besides its name and description.
const SEARCH_HINTS: &[(&str, &str)] = &[
    (
        "remember",
        "save store keep memorize learn persist note down add to long-term memory user preference name decision fact rule for later don't forget log told",
    ),
    (
        "recall",
        "look up find search retrieve everything stored past previous earlier discussion said decision reason choosing decide who what you know remember anything told preferences knowledge person memory",
    ),
    ("forget", "delete remove erase take back wrong outdated fact no longer true memory stored"),
    (
        "get_context",
        "load start beginning session background current project context rules conventions profile user due today changed since last know before starting repository conversation",
    ),
    ("memory", "view create str_replace insert rename file files directory folder under /memories"),
    ("write_note", "create new write save long document markdown text page meeting"),
    ("read_note", "open show read document file text by title meeting notes"),
    ("edit_note", "change append replace insert section text part of a document"),
    ("search_notes", "search find notes documents with tag type frontmatter"),
    ("build_context", "links backlinks linked related notes what refers to"),
    ("recent_activity", "recently changed latest notes updates"),
    ("save_memory", "store create knowledge graph entities relations observations"),
    ("add_observations", "add facts to an entity in the knowledge graph"),
    ("get_observation_history", "history versions of an observation fact in the knowledge graph"),
    ("get_analytics", "analytics of the knowledge graph important connected orphaned entities"),
    ("search_nodes", "find search entity node in the knowledge graph"),
    ("query_nodes", "filter entities by confidence importance time range"),
    ("find_relation_path", "path between two entities in the knowledge graph how connected"),
    ("create_entities", "reference knowledge graph server create entity"),
    ("create_relations", "reference knowledge graph server create relation"),
    ("read_graph", "whole knowledge graph dump export"),
    ("open_nodes", "open entities nodes by name"),
    ("list_entities", "names of entities in a thread"),
    ("validate_memory", "check entities before saving quality"),
    ("get_memory_stats", "statistics counts of the knowledge graph"),
    ("get_recent_changes", "entities changed lately in the knowledge graph"),
    ("detect_conflicts", "contradictions between facts of an entity"),
    ("list_conversations", "threads of the knowledge graph"),
    ("flag_for_review", "mark entity for a person to check"),
    ("get_flagged_entities", "entities marked for review"),
    ("update_observation", "new version of one observation"),
    ("bulk_update", "many entities confidence importance at once"),
    ("prune_memory", "clean up old unimportant entities of the graph"),
    ("delete_entities", "graph entities by name"),
    ("delete_observations", "graph observations by text or id"),
    ("delete_relations", "graph relations"),
    ("add_memory", "record with type, tags, paths, category, expiry"),
    ("search_memories", "full-text search over records of memories.sh"),
    ("get_rules", "list of all rules and standards"),
    ("list_memories", "newest records by type or tag"),
    ("edit_memory", "change a record by id: type tags paths category"),
    ("forget_memory", "soft-delete one record by id"),
    ("bulk_forget_memories", "records by filter, many at once"),
    ("restore_memory", "undo deletion bring back recover a record"),
    ("vacuum_memories", "purge soft-deleted records permanently"),
    ("add_reminder", "remind monday daily every morning at a time set schedule cron"),
    ("list_reminders", "which reminders are set scheduled due"),
    ("run_due_reminders", "reminders due now mark as done"),
    ("enable_reminder", "switch a reminder on"),
    ("disable_reminder", "switch a reminder off pause"),
    ("delete_reminder", "remove a reminder"),
    ("start_memory_stream", "collect a long memory in chunks begin"),
    ("append_memory_chunk", "next chunk of a stream"),
    ("finalize_memory_stream", "finish a stream"),
    ("cancel_memory_stream", "discard a stream"),
    ("start_session", "session record of a conversation begin"),
    ("checkpoint_session", "session progress checkpoint"),
    ("end_session", "session close finish"),
    ("snapshot_session", "session transcript snapshot"),
    ("consolidate_memories", "merge duplicate records"),
    ("activate", "load a memory bank code project global"),
    ("list", "memory banks available"),
    ("update", "append to a memory bank file"),
    ("view_note", "display a note as an artifact"),
    ("move_note", "rename move a note or folder"),
    ("delete_note", "note or folder deletion"),
    ("list_directory", "folders and files of a project browse"),
    ("read_content", "raw file binary base64 image"),
    ("canvas", "draw a JSON canvas diagram"),
    ("list_memory_projects", "which projects exist"),
    ("create_memory_project", "new project folder"),
    ("delete_project", "drop a project from the list"),
    ("schema_validate", "check notes against a schema"),
    ("schema_infer", "derive a schema from notes"),
    ("schema_diff", "notes drifted from their schema"),
    ("search", "ChatGPT connector search"),
    ("fetch", "ChatGPT connector fetch document by id"),
];

impl ToolDef {
    /// Returns the words by which a client's tool search finds the tool, besides its name and
    /// description. Empty for a tool without hint.
    pub fn search_hint(&self) -> &'static str {
        let own = SEARCH_HINTS.iter().find(|(name, _)| *name == self.name);
        own.map_or("", |(_, hint)| hint)
    }

    /// Returns the `_meta` object of the definition.
    pub fn client_meta(&self) -> Map<String, Value> {
        let mut meta = Map::new();
        if ALWAYS_LOADED.contains(&self.name) {
            meta.insert("anthropic/alwaysLoad".to_owned(), json!(true));
        }
        let hint = self.search_hint();
        if !hint.is_empty() {
            meta.insert("anthropic/searchHint".to_owned(), json!(hint));
        }
        meta
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{AccessMode, ToolSelection, tools};

    /// Phrases with the tool that they ask for.
    const PHRASES: &str = include_str!("../../tests/data/tool-phrases.tsv");
    /// Words that are not searched.
    const STOP_WORDS: &str = "a an and are as at be by do for from have how i in is it just me my of \
        on or that the there this to was we what which who with you your about";
    /// Beginnings of the names of tools that delete.
    const DELETES: [&str; 6] =
        ["delete_", "bulk_forget", "vacuum", "prune", "forget_memory", "cancel_"];

    fn phrases() -> impl Iterator<Item = (&'static str, &'static str)> {
        let rows = PHRASES.lines().filter(|line| !line.starts_with('#'));
        rows.map(|row| row.split_once('\t').unwrap())
    }

    fn words(text: &str) -> BTreeSet<String> {
        let plain = |word: &str| {
            let word = word.to_lowercase();
            let ends = ["ing", "ed", "es", "s"];
            let stem = ends.iter().find_map(|end| word.strip_suffix(end).filter(|s| s.len() >= 4));
            stem.map(str::to_owned).unwrap_or(word)
        };
        let split =
            text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        split.map(plain).collect()
    }

    /// Ranks tools by the number of words that they share with a phrase, in the order of the list.
    fn ranked(phrase: &str, offered: &[&'static ToolDef]) -> Vec<&'static str> {
        let stop = words(STOP_WORDS);
        let mut wanted: BTreeSet<String> = words(phrase).difference(&stop).cloned().collect();
        if wanted.is_empty() {
            wanted = words(phrase);
        }
        let mut scored: Vec<(usize, &'static str)> = offered
            .iter()
            .map(|tool| {
                let hint = tool.search_hint();
                let text = [tool.name, tool.title, tool.description, hint].join(" ");
                (words(&text).intersection(&wanted).count(), tool.name)
            })
            .filter(|(score, _)| *score > 0)
            .collect();
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        scored.into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn a_word_search_finds_the_wanted_tool() {
        assert!(phrases().count() >= 60);
        let all = ToolSelection::all();
        for selection in [ToolSelection::default(), all] {
            let offered = selection.resolve().unwrap();
            for (phrase, wanted) in phrases() {
                let found = ranked(phrase, &offered);
                let first: Vec<_> = found.iter().take(3).collect();
                assert!(first.contains(&&wanted), "{phrase:?}: {wanted} is not among {first:?}");
                let is_deleting =
                    |name: &&str| DELETES.iter().any(|beginning| name.starts_with(beginning));
                assert!(!found.first().is_some_and(is_deleting), "{phrase:?}: {first:?}");
            }
        }
    }

    #[test]
    fn every_tool_has_a_hint_that_repeats_no_phrase() {
        for tool in tools() {
            let hint = tool.search_hint();
            assert!(!hint.is_empty() && hint.len() <= 200, "{}: {hint:?}", tool.name);
            for (phrase, _) in phrases().filter(|(phrase, _)| phrase.contains(' ')) {
                assert!(!hint.contains(phrase), "{} repeats {phrase:?}", tool.name);
            }
        }
        for (name, _) in SEARCH_HINTS {
            assert!(crate::tool(name).is_some(), "{name} is no tool");
        }
    }

    #[test]
    fn the_verbs_are_always_loaded() {
        let core = ToolSelection { toolsets: vec!["core".into()], ..ToolSelection::default() };
        let offered = core.resolve().unwrap();
        assert_eq!(offered.len(), 8, "{offered:?}");
        let is_loaded = |tool: &&&ToolDef| tool.client_meta().contains_key("anthropic/alwaysLoad");
        let loaded: BTreeSet<_> = offered.iter().filter(is_loaded).map(|tool| tool.name).collect();
        assert_eq!(loaded, ALWAYS_LOADED.into_iter().collect());
        let reading = ToolSelection { access: AccessMode::ReadOnly, ..core };
        let names: Vec<_> = reading.resolve().unwrap().iter().map(|tool| tool.name).collect();
        assert_eq!(names, ["recall", "get_context", "read_note"]);
    }
}

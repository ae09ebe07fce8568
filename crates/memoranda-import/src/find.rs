//! Finding out what something is by what it holds, and where systems keep their memories.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{ImportError, Result};
use crate::origin::{self, Origin, file_name};
use crate::source::Source;
use crate::sqlite::Database;

/// How much of a file is looked at.
const LOOK: usize = 64 << 10;
/// How many notes of a folder are looked at.
const NOTES: usize = 50;

/// Says what a file or folder is; an error names what was looked for.
pub fn recognise(origin: &Origin) -> Result<Source> {
    let found = match origin {
        Origin::Folder(path) => Some(folder(path, &origin.names()?)),
        Origin::Zip(_) => conversations(origin)?,
        Origin::File(path) if origin.is_sqlite()? => database(path)?,
        Origin::File(_) | Origin::Bytes(_) => file(origin)?,
    };
    found.ok_or_else(|| {
        ImportError::NotThat(format!("{} is nothing that can be imported", origin.shown()))
    })
}

fn folder(path: &Path, names: &[String]) -> Source {
    let has = |name: &str| names.iter().any(|found| found == name);
    if has(".obsidian") {
        return Source::Obsidian;
    }
    if let Some(name) = names.iter().find(|name| is_conversations(name)) {
        let text = origin::beginning(&path.join(name), LOOK).unwrap_or_default();
        return of_json(&text).unwrap_or(Source::Claude);
    }
    let is_memory = has("MEMORY.md") && file_name(path) == "memory";
    let holds_memory = |folder: &PathBuf| folder.join("memory/MEMORY.md").exists();
    if is_memory || path.join("memory/MEMORY.md").exists() {
        return Source::ClaudeCode;
    }
    let projects = if file_name(path) == ".claude" { path.join("projects") } else { path.into() };
    if origin::folders_in(&projects).iter().any(holds_memory) {
        return Source::ClaudeCode;
    }
    let notes = names.iter().filter(|name| name.ends_with(".md")).take(NOTES);
    let deeper = origin::folders_in(path).into_iter().take(NOTES).flat_map(|folder| {
        let names = Origin::Folder(folder.clone()).names().unwrap_or_default();
        let notes = names.into_iter().filter(|name| name.ends_with(".md")).take(3);
        notes.map(move |name| folder.join(name)).collect::<Vec<_>>()
    });
    let mut all = notes.map(|name| path.join(name)).chain(deeper);
    let is_basic = |note: PathBuf| {
        let text = origin::beginning(&note, 2000).unwrap_or_default();
        let note = memoranda_engine::core::note::parse(&text);
        note.frontmatter.get("permalink").is_some() && note.frontmatter.get("title").is_some()
    };
    if all.any(is_basic) { Source::BasicMemory } else { Source::Folder }
}

/// Whether a file holds conversations: large exports are cut into several.
pub(crate) fn is_conversations(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.strip_prefix("conversations").is_some_and(|rest| {
        let number = rest.strip_suffix(".json").or_else(|| rest.strip_suffix(".jsonl"));
        number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit() || "-_".contains(c)))
    })
}

fn conversations(origin: &Origin) -> Result<Option<Source>> {
    let names = origin.names()?;
    let Some(name) = names.iter().find(|name| is_conversations(name)) else { return Ok(None) };
    let mut keep = |_, _| Ok(());
    let mut intake = crate::Intake::new(&mut keep);
    let text = origin.with_file(name, &mut intake, |from, _| {
        let mut head = Vec::new();
        let mut limited = std::io::Read::take(from, LOOK as u64);
        std::io::Read::read_to_end(&mut limited, &mut head)
            .map_err(ImportError::io(format!("read {name}")))?;
        Ok(String::from_utf8_lossy(&head).into_owned())
    })?;
    Ok(of_json(&text))
}

fn database(path: &Path) -> Result<Option<Source>> {
    let columns = Database::open(path)?.columns("memories")?;
    let has = |name: &str| columns.iter().any(|column| column == name);
    Ok(match (has("content_hash"), has("scope")) {
        (true, _) => Some(Source::MemoryService),
        (false, true) => Some(Source::MemoriesSh),
        (false, false) => None,
    })
}

fn file(origin: &Origin) -> Result<Option<Source>> {
    let head = origin.head(LOOK)?;
    // A tar says so at this place.
    if head.get(257..262) == Some(b"ustar") {
        return Ok(Some(Source::Archive));
    }
    let name = origin.path().map(file_name).unwrap_or_default().to_lowercase();
    let text = String::from_utf8_lossy(&head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with(['[', '{'])
        && let Some(source) = of_json(text)
    {
        return Ok(Some(source));
    }
    let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
    if is_yaml && text.lines().any(|line| line.starts_with("memories:")) {
        return Ok(Some(Source::MemoriesSh));
    }
    let is_note = [".md", ".markdown", ".txt"].iter().any(|ending| name.ends_with(ending));
    Ok(is_note.then_some(Source::Folder))
}

/// Says what a JSON text is, of which only the beginning may be there.
fn of_json(text: &str) -> Option<Source> {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if let Ok(Value::Object(first)) = serde_json::from_str::<Value>(line) {
        if first.contains_key("memoranda") {
            return Some(Source::Jsonl);
        }
        let kind = first.get("type").and_then(Value::as_str);
        if matches!(kind, Some("entity" | "relation")) {
            return Some(Source::McpMemory);
        }
    }
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    // The most telling words first: some occur in several formats.
    let telling: &[(&[&str], Source)] = &[
        (&["mapping"], Source::ChatGpt),
        (&["chat_messages"], Source::Claude),
        (&["export_metadata", "memories"], Source::MemoryService),
        (&["content_hash", "content"], Source::MemoryService),
        (&["entities", "relations"], Source::McpMemory),
        (&["entityType"], Source::McpMemory),
        (&["memories", "scope"], Source::MemoriesSh),
        (&["exported_at", "memories"], Source::MemoriesSh),
        (&["memory", "id"], Source::Mem0),
        (&["memory", "user_id"], Source::Mem0),
    ];
    let found = telling.iter().find(|(keys, _)| keys.iter().all(|key| has(key)));
    found.map(|(_, source)| *source)
}

/// Where systems keep their files on this machine.
#[derive(Clone, Debug)]
pub struct Usual<'a> {
    /// The person's own folder.
    pub home: &'a Path,
    /// Where configuration lies.
    pub config: &'a Path,
    /// The folder that memories.sh was told to use, if it was.
    pub memories_sh: Option<&'a Path>,
}

/// Where a system keeps its memories on this machine, for those that have such a place. A folder
/// of notes comes with the name that its owner gave it.
pub fn default_places(source: Source, usual: &Usual<'_>) -> Vec<(Option<String>, PathBuf)> {
    let Usual { home, config, memories_sh } = usual;
    let existing = |paths: &[PathBuf]| {
        let found = paths.iter().filter(|path| path.exists());
        found.map(|path| (None, path.clone())).take(1).collect()
    };
    match source {
        Source::BasicMemory => {
            let text = origin::text_of(&home.join(".basic-memory/config.json"));
            text.map(|text| basic_memory_projects(&text, home)).unwrap_or_default()
        }
        Source::Obsidian => {
            let mac = home.join("Library/Application Support/obsidian/obsidian.json");
            let known = [config.join("obsidian/obsidian.json"), mac];
            let text = known.iter().find_map(|path| origin::text_of(path));
            text.map(|text| obsidian_vaults(&text)).unwrap_or_default()
        }
        Source::ClaudeCode => existing(&[home.join(".claude/projects")]),
        Source::MemoriesSh => existing(&[match memories_sh {
            Some(folder) => folder.join("local.db"),
            None => home.join(".config/memories/local.db"),
        }]),
        Source::MemoryService => existing(&[
            home.join(".local/share/mcp-memory/sqlite_vec.db"),
            home.join("Library/Application Support/mcp-memory/sqlite_vec.db"),
        ]),
        _ => Vec::new(),
    }
}

/// The project that Basic Memory means when none is named.
pub fn basic_memory_default(home: &Path) -> Option<String> {
    let config = origin::text_of(&home.join(".basic-memory/config.json"))?;
    let config: Value = serde_json::from_str(&config).ok()?;
    config.get("default_project")?.as_str().map(str::to_owned)
}

/// The file of rules by which a system passes files over in all folders, if there is one.
pub fn general_rules(source: Source, home: &Path) -> Option<PathBuf> {
    let rules = home.join(".basic-memory/.bmignore");
    (source == Source::BasicMemory && rules.is_file()).then_some(rules)
}

fn basic_memory_projects(config: &str, home: &Path) -> Vec<(Option<String>, PathBuf)> {
    let config: Value = serde_json::from_str(config).unwrap_or_default();
    let projects = config.get("projects").and_then(Value::as_object);
    let project = |(name, value): (&String, &Value)| {
        let path = value.as_str().or_else(|| value.get("path").and_then(Value::as_str))?;
        let path = match path.strip_prefix('~') {
            Some("") => home.to_owned(),
            Some(rest) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
            _ => PathBuf::from(path),
        };
        Some((Some(name.clone()), path))
    };
    projects.into_iter().flatten().filter_map(project).collect()
}

fn obsidian_vaults(config: &str) -> Vec<(Option<String>, PathBuf)> {
    let config: Value = serde_json::from_str(config).unwrap_or_default();
    let vaults = config.get("vaults").and_then(Value::as_object);
    let path = |vault: &Value| Some(PathBuf::from(vault.get("path")?.as_str()?));
    let mut paths: Vec<_> =
        vaults.into_iter().flat_map(|vaults| vaults.values()).filter_map(path).collect();
    paths.sort();
    paths.into_iter().map(|path| (Some(file_name(&path)), path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_by_what_it_holds() {
        let check = |text: &str, expected| {
            let found = recognise(&Origin::Bytes(text.as_bytes().to_vec())).ok();
            assert_eq!(found, expected, "{text}");
        };
        check("{\"memoranda\":1,\"kind\":\"jsonl\"}\n", Some(Source::Jsonl));
        check("{\"type\":\"entity\",\"name\":\"a\"}\n{", Some(Source::McpMemory));
        check("{\"entities\": [],\n \"relations\": []}", Some(Source::McpMemory));
        check("[{\"title\":\"x\",\"mapping\":{", Some(Source::ChatGpt));
        check("[{\"uuid\":\"x\",\"chat_messages\":[", Some(Source::Claude));
        check("{\"results\":[{\"id\":\"1\",\"memory\":\"x\"}]}", Some(Source::Mem0));
        check("{\"export_metadata\":{},\"memories\":[]}", Some(Source::MemoryService));
        check(
            "{\"version\":\"1.0\",\"memories\":[{\"scope\":\"global\"}]}",
            Some(Source::MemoriesSh),
        );
        check("no archive at all", None);
        check("{}", None);
        check("", None);
    }

    #[test]
    fn names_of_conversations() {
        for name in ["conversations.json", "conversations-001.json", "x/conversations.jsonl"] {
            assert!(is_conversations(name), "{name}");
        }
        for name in ["shared_conversations.json", "conversations.html", "conversations"] {
            assert!(!is_conversations(name), "{name}");
        }
    }

    #[test]
    fn the_owners_list_of_folders_is_read() {
        let old = r#"{"projects": {"main": "/n/a"}, "default_project": "main"}"#;
        let new = r#"{"projects": {"main": {"path": "/n/a", "mode": "local"}}}"#;
        let expected = vec![(Some("main".to_owned()), PathBuf::from("/n/a"))];
        let projects = |config: &str| basic_memory_projects(config, Path::new("/n"));
        assert_eq!(projects(old), expected);
        assert_eq!(projects(new), expected);
        assert_eq!(projects("broken"), []);
        for (path, expected) in [("~/a/b", "/n/a/b"), ("~", "/n"), ("~bob/n", "~bob/n"), ("", "")] {
            let config = format!("{{\"projects\": {{\"main\": {{\"path\": \"{path}\"}}}}}}");
            assert_eq!(projects(&config), [(Some("main".to_owned()), PathBuf::from(expected))]);
        }
        let vaults = r#"{"vaults": {"x1": {"path": "/v/Work", "ts": 1, "open": true}}}"#;
        assert_eq!(obsidian_vaults(vaults), [(Some("Work".into()), PathBuf::from("/v/Work"))]);
    }
}

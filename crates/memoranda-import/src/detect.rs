//! Detects the source of a file or folder by its content, and finds the default locations of
//! sources.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{ImportError, Result};
use crate::input::{self, ImportInput, file_name};
use crate::source::ImportSource;
use crate::sources::{MEMORIES_SH_DATABASE, memory_bank, thread_of_file};
use crate::sqlite::ForeignDatabase;

/// Number of bytes read from a file to detect its source.
const MAX_PREFIX_BYTES: usize = 64 << 10;
/// Number of notes of a folder that are read to detect its source.
const MAX_SAMPLED_NOTES: usize = 50;

/// Detects the source of a file or folder. The error names the input.
pub fn detect_source(input: &ImportInput) -> Result<ImportSource> {
    let found = match input {
        ImportInput::Folder(path) => Some(detect_folder(path, &input.file_names()?)),
        ImportInput::Zip(_) => detect_conversations(input)?,
        ImportInput::File(path) if input.is_sqlite()? => detect_database(path)?,
        ImportInput::File(_) | ImportInput::Bytes(_) => detect_file(input)?,
    };
    found.ok_or_else(|| {
        ImportError::NotThat(format!("{} is nothing that can be imported", input.display_name()))
    })
}

fn detect_folder(path: &Path, names: &[String]) -> ImportSource {
    let has = |name: &str| names.iter().any(|found| found == name);
    if has(".obsidian") {
        return ImportSource::Obsidian;
    }
    if names.iter().any(|name| thread_of_file(name).is_some()) {
        return ImportSource::McpMemory;
    }
    let database = path.join(MEMORIES_SH_DATABASE);
    if database.is_file() && detect_database(&database).ok().flatten().is_some() {
        return ImportSource::MemoriesSh;
    }
    if memory_bank::is_root(path) {
        return ImportSource::MemoryBank;
    }
    if let Some(name) = names.iter().find(|name| is_conversations_file(name)) {
        let text = input::read_prefix(&path.join(name), MAX_PREFIX_BYTES).unwrap_or_default();
        return detect_json(&text).unwrap_or(ImportSource::Claude);
    }
    let is_memory = has("MEMORY.md") && file_name(path) == "memory";
    let holds_memory = |folder: &PathBuf| folder.join("memory/MEMORY.md").exists();
    if is_memory || path.join("memory/MEMORY.md").exists() {
        return ImportSource::ClaudeCode;
    }
    let projects = if file_name(path) == ".claude" { path.join("projects") } else { path.into() };
    if input::subfolders(&projects).iter().any(holds_memory) {
        return ImportSource::ClaudeCode;
    }
    let notes = names.iter().filter(|name| name.ends_with(".md")).take(MAX_SAMPLED_NOTES);
    let deeper = input::subfolders(path).into_iter().take(MAX_SAMPLED_NOTES).flat_map(|folder| {
        let names = ImportInput::Folder(folder.clone()).file_names().unwrap_or_default();
        let notes = names.into_iter().filter(|name| name.ends_with(".md")).take(3);
        notes.map(move |name| folder.join(name)).collect::<Vec<_>>()
    });
    let mut all = notes.map(|name| path.join(name)).chain(deeper);
    let is_basic = |note: PathBuf| {
        let text = input::read_prefix(&note, 2000).unwrap_or_default();
        let note = memoranda_engine::core::note::parse(&text);
        note.frontmatter.get("permalink").is_some() && note.frontmatter.get("title").is_some()
    };
    if all.any(is_basic) { ImportSource::BasicMemory } else { ImportSource::Folder }
}

/// Returns true if a file contains conversations. Large exports are split into several such files.
pub(crate) fn is_conversations_file(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.strip_prefix("conversations").is_some_and(|rest| {
        let number = rest.strip_suffix(".json").or_else(|| rest.strip_suffix(".jsonl"));
        number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit() || "-_".contains(c)))
    })
}

fn detect_conversations(input: &ImportInput) -> Result<Option<ImportSource>> {
    let names = input.file_names()?;
    let Some(name) = names.iter().find(|name| is_conversations_file(name)) else { return Ok(None) };
    let mut keep = |_, _| Ok(());
    let mut sink = crate::ImportSink::new(&mut keep);
    let text = input.with_file(name, &mut sink, |from, _| {
        let mut head = Vec::new();
        let mut limited = std::io::Read::take(from, MAX_PREFIX_BYTES as u64);
        std::io::Read::read_to_end(&mut limited, &mut head)
            .map_err(ImportError::io(format!("read {name}")))?;
        Ok(String::from_utf8_lossy(&head).into_owned())
    })?;
    Ok(detect_json(&text))
}

fn detect_database(path: &Path) -> Result<Option<ImportSource>> {
    let columns = ForeignDatabase::open(path)?.columns("memories")?;
    let has = |name: &str| columns.iter().any(|column| column == name);
    Ok(match (has("content_hash"), has("scope")) {
        (true, _) => Some(ImportSource::MemoryService),
        (false, true) => Some(ImportSource::MemoriesSh),
        (false, false) => None,
    })
}

fn detect_file(input: &ImportInput) -> Result<Option<ImportSource>> {
    let head = input.first_bytes(MAX_PREFIX_BYTES)?;
    // The magic number of tar is at this offset.
    if head.get(257..262) == Some(b"ustar") {
        return Ok(Some(ImportSource::Archive));
    }
    let name = input.path().map(file_name).unwrap_or_default().to_lowercase();
    let text = String::from_utf8_lossy(&head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with(['[', '{'])
        && let Some(source) = detect_json(text)
    {
        return Ok(Some(source));
    }
    let is_yaml = name.ends_with(".yaml") || name.ends_with(".yml");
    if is_yaml && text.lines().any(|line| line.starts_with("memories:")) {
        return Ok(Some(ImportSource::MemoriesSh));
    }
    let is_note = [".md", ".markdown", ".txt"].iter().any(|ending| name.ends_with(ending));
    Ok(is_note.then_some(ImportSource::Folder))
}

/// Detects the source of a JSON text that may be truncated.
fn detect_json(text: &str) -> Option<ImportSource> {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if let Ok(Value::Object(first)) = serde_json::from_str::<Value>(line) {
        if first.contains_key("memoranda") {
            return Some(ImportSource::Jsonl);
        }
        let kind = first.get("type").and_then(Value::as_str);
        if matches!(kind, Some("entity" | "relation")) {
            return Some(ImportSource::McpMemory);
        }
    }
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    // The most specific keys come first, because several formats share the others.
    let telling: &[(&[&str], ImportSource)] = &[
        (&["mapping"], ImportSource::ChatGpt),
        (&["chat_messages"], ImportSource::Claude),
        (&["export_metadata", "memories"], ImportSource::MemoryService),
        (&["content_hash", "content"], ImportSource::MemoryService),
        (&["entities", "relations"], ImportSource::McpMemory),
        (&["entityType"], ImportSource::McpMemory),
        (&["memories", "scope"], ImportSource::MemoriesSh),
        (&["exported_at", "memories"], ImportSource::MemoriesSh),
        (&["memory", "id"], ImportSource::Mem0),
        (&["memory", "user_id"], ImportSource::Mem0),
    ];
    let found = telling.iter().find(|(keys, _)| keys.iter().all(|key| has(key)));
    found.map(|(_, source)| *source)
}

/// Folders of this machine in which sources keep their files.
#[derive(Clone, Debug)]
pub struct UsualPaths<'a> {
    /// Home folder of the user.
    pub home: &'a Path,
    /// Base folder of configuration files.
    pub config: &'a Path,
    /// Data folder of memories.sh if the user configured one.
    pub memories_sh: Option<&'a Path>,
    /// Root folder of Memory Bank if the user configured one.
    pub memory_bank: Option<&'a Path>,
}

/// Returns the existing default locations of a source. A folder of notes has the name that the
/// source gives it.
pub fn default_locations(
    source: ImportSource,
    usual: &UsualPaths<'_>,
) -> Vec<(Option<String>, PathBuf)> {
    let UsualPaths { home, config, memories_sh, memory_bank } = usual;
    let existing = |paths: &[PathBuf]| {
        let found = paths.iter().filter(|path| path.exists());
        found.map(|path| (None, path.clone())).take(1).collect()
    };
    match source {
        ImportSource::BasicMemory => {
            let text = input::read_text_file(&home.join(".basic-memory/config.json"));
            text.map(|text| basic_memory_projects(&text, home)).unwrap_or_default()
        }
        ImportSource::Obsidian => {
            let mac = home.join("Library/Application Support/obsidian/obsidian.json");
            let known = [config.join("obsidian/obsidian.json"), mac];
            let text = known.iter().find_map(|path| input::read_text_file(path));
            text.map(|text| obsidian_vaults(&text)).unwrap_or_default()
        }
        ImportSource::ClaudeCode => existing(&[home.join(".claude/projects")]),
        ImportSource::MemoriesSh => existing(&[match memories_sh {
            Some(folder) => folder.join(MEMORIES_SH_DATABASE),
            None => home.join(".config/memories").join(MEMORIES_SH_DATABASE),
        }]),
        ImportSource::MemoryBank => existing(&[match memory_bank {
            Some(folder) => (*folder).to_owned(),
            None => home.join(".claude-desktop/memory"),
        }]),
        ImportSource::MemoryService => existing(&[
            home.join(".local/share/mcp-memory/sqlite_vec.db"),
            home.join("Library/Application Support/mcp-memory/sqlite_vec.db"),
        ]),
        _ => Vec::new(),
    }
}

/// Returns the default project of Basic Memory.
pub fn basic_memory_default_project(home: &Path) -> Option<String> {
    let config = input::read_text_file(&home.join(".basic-memory/config.json"))?;
    let config: Value = serde_json::from_str(&config).ok()?;
    config.get("default_project")?.as_str().map(str::to_owned)
}

/// Returns the ignore file that a source applies to all of its folders.
pub fn global_ignore_file(source: ImportSource, home: &Path) -> Option<PathBuf> {
    let rules = home.join(".basic-memory/.bmignore");
    (source == ImportSource::BasicMemory && rules.is_file()).then_some(rules)
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
            let found = detect_source(&ImportInput::Bytes(text.as_bytes().to_vec())).ok();
            assert_eq!(found, expected, "{text}");
        };
        check("{\"memoranda\":1,\"kind\":\"jsonl\"}\n", Some(ImportSource::Jsonl));
        check("{\"type\":\"entity\",\"name\":\"a\"}\n{", Some(ImportSource::McpMemory));
        check("{\"entities\": [],\n \"relations\": []}", Some(ImportSource::McpMemory));
        check("[{\"title\":\"x\",\"mapping\":{", Some(ImportSource::ChatGpt));
        check("[{\"uuid\":\"x\",\"chat_messages\":[", Some(ImportSource::Claude));
        check("{\"results\":[{\"id\":\"1\",\"memory\":\"x\"}]}", Some(ImportSource::Mem0));
        check("{\"export_metadata\":{},\"memories\":[]}", Some(ImportSource::MemoryService));
        check(
            "{\"version\":\"1.0\",\"memories\":[{\"scope\":\"global\"}]}",
            Some(ImportSource::MemoriesSh),
        );
        check("no archive at all", None);
        check("{}", None);
        check("", None);
    }

    #[test]
    fn names_of_conversations() {
        for name in ["conversations.json", "conversations-001.json", "x/conversations.jsonl"] {
            assert!(is_conversations_file(name), "{name}");
        }
        for name in ["shared_conversations.json", "conversations.html", "conversations"] {
            assert!(!is_conversations_file(name), "{name}");
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

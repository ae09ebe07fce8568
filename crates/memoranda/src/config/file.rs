//! The configuration file: errors name their line, and edits keep comments.

use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::keys::{ConfigKey, KEYS, check_value, current_value, nearest};
use crate::error::{CommandError, Result};
use crate::files;

/// The parsed configuration file with its comments.
pub(crate) struct ConfigFile {
    path: PathBuf,
    document: DocumentMut,
}

impl ConfigFile {
    /// Reads and checks the file; a missing file is empty.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = files::read_text(path)
            .map_err(|e| CommandError { kind: configuration_kind(), ..e.into() })?
            .unwrap_or_default();
        let document = text.parse::<DocumentMut>().map_err(|e| {
            let at = e.span().map_or(1, |span| line_of(&text, span.start));
            let what = e.message().lines().next().unwrap_or("not TOML").to_owned();
            wrong(path, at, &what)
        })?;
        let file = Self { path: path.to_owned(), document };
        file.check(&text)?;
        Ok(file)
    }

    fn check(&self, text: &str) -> Result<()> {
        for (name, item) in self.entries() {
            let at = line_of_key(text, &name);
            let Some(key) = KEYS.iter().find(|key| key.name == name) else {
                let error = wrong(&self.path, at, &format!("there is no setting {name:?}"));
                return Err(match nearest(&name) {
                    Some(near) => error.hint(format!("did you mean `{near}`?")),
                    None => error,
                });
            };
            let value = plain(item).ok_or_else(|| {
                wrong(&self.path, at, &format!("{name} must be {}", key.kind.describe()))
            })?;
            check_value(key, current_value(&name, &value))
                .map_err(|why| wrong(&self.path, at, &why))?;
        }
        Ok(())
    }

    /// Returns all keys, `[memory] secrets` as `memory.secrets`.
    fn entries(&self) -> Vec<(String, &Item)> {
        let mut entries = Vec::new();
        for (name, item) in self.document.iter() {
            match item.as_table_like() {
                Some(table) if KEYS.iter().any(|key| split(key.name).0 == Some(name)) => {
                    entries.extend(table.iter().map(|(key, item)| (format!("{name}.{key}"), item)));
                }
                _ => entries.push((name.to_owned(), item)),
            }
        }
        entries
    }

    /// Returns the value of a key as text.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let item = match split(name) {
            (Some(table), key) => self.document.get(table)?.as_table_like()?.get(key),
            (None, key) => self.document.get(key),
        };
        item.and_then(plain).map(|value| current_value(name, &value).to_owned())
    }

    /// Returns the table of a key and creates it if it is missing.
    fn table(&mut self, key: &ConfigKey) -> Result<&mut dyn TableLike> {
        let Some(name) = split(key.name).0 else { return Ok(self.document.as_table_mut()) };
        let new = || Item::Table(toml_edit::Table::new());
        let table = self.document.entry(name).or_insert_with(new).as_table_like_mut();
        table.ok_or_else(|| CommandError::configuration(format!("{name} must be a table")))
    }

    /// Sets a key and writes the file; everything else stays unchanged.
    pub(crate) fn set(&mut self, key: &ConfigKey, value: &str) -> Result<()> {
        check_value(key, value).map_err(|why| {
            let error = CommandError::usage(why);
            if value.trim().is_empty() {
                error.hint(format!("`memoranda config unset {}` removes it", key.name))
            } else {
                error
            }
        })?;
        let new = match value.parse::<i64>() {
            Ok(number) if key.kind.is_number() => Value::from(number),
            _ => Value::from(value),
        };
        let table = self.table(key)?;
        let name = split(key.name).1;
        match table.get_mut(name).and_then(Item::as_value_mut) {
            Some(old) => {
                // A comment after the value is kept.
                let decor = old.decor().clone();
                *old = new;
                *old.decor_mut() = decor;
            }
            None => {
                table.insert(name, Item::Value(new));
            }
        }
        Ok(files::replace(&self.path, self.document.to_string().as_bytes())?)
    }

    /// Removes a key and writes the file; returns true if the key was set.
    pub(crate) fn unset(&mut self, key: &ConfigKey) -> Result<bool> {
        if self.get(key.name).is_none() || self.table(key)?.remove(split(key.name).1).is_none() {
            return Ok(false);
        }
        if let (Some(table), _) = split(key.name) {
            self.remove_if_bare(table);
        }
        files::replace(&self.path, self.document.to_string().as_bytes())?;
        Ok(true)
    }
}

impl ConfigFile {
    /// Removes an empty table, unless a comment precedes it.
    fn remove_if_bare(&mut self, name: &str) {
        let bare = self.document.get(name).and_then(Item::as_table).is_some_and(|table| {
            let above = table.decor().prefix().and_then(|prefix| prefix.as_str());
            table.is_empty() && !above.is_some_and(|above| above.contains('#'))
        });
        if bare {
            self.document.remove(name);
        }
    }
}

/// Splits a key into its table and name.
fn split(name: &str) -> (Option<&str>, &str) {
    match name.split_once('.') {
        Some((table, key)) => (Some(table), key),
        None => (None, name),
    }
}

fn plain(item: &Item) -> Option<String> {
    let value = item.as_value()?;
    value.as_str().map(str::to_owned).or_else(|| value.as_integer().map(|n| n.to_string()))
}

fn configuration_kind() -> crate::error::FailureKind {
    crate::error::FailureKind::Exit(crate::exit::Exit::Configuration)
}

fn wrong(path: &Path, line: usize, what: &str) -> CommandError {
    CommandError::configuration(format!("{} line {line}: {what}", path.display()))
        .hint("`memoranda config edit` opens the file")
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

fn line_of_key(text: &str, key: &str) -> usize {
    let names = |line: &str, key: &str| {
        let line = line.trim_start().trim_start_matches(['[', '"', '\'']);
        line.strip_prefix(key)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let (table, name) = split(key);
    let table = table.and_then(|table| text.lines().position(|line| names(line, table)));
    let start = table.unwrap_or(0);
    let found = text.lines().skip(start).position(|line| names(line, name));
    match (found, table) {
        (Some(position), _) => start + position + 1,
        (None, Some(start)) => start + 1,
        (None, None) => 1,
    }
}

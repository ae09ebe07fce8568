//! Random commands against a simple model of a file tree: the tool and the model agree on every
//! outcome, and in the end on every file.

use std::collections::{BTreeMap, BTreeSet};

use memoranda_tools::{CreateMode, Wording};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::TestVault;

/// A file tree: paths below `/memories`, the texts of files, and the folders that were made.
#[derive(Default)]
struct Model {
    files: BTreeMap<String, String>,
    folders: BTreeSet<String>,
}

impl Model {
    fn exists(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.folders.contains(path)
    }

    /// Returns true if a parent of the path is a file.
    fn is_blocked(&self, path: &str) -> bool {
        path.match_indices('/').any(|(at, _)| self.files.contains_key(&path[..at]))
    }

    fn make_folders_above(&mut self, path: &str) {
        self.folders.extend(path.match_indices('/').map(|(at, _)| path[..at].to_owned()));
    }

    /// Does a command and says whether it succeeds.
    fn act(&mut self, step: &Step) -> bool {
        match step {
            Step::View(path) => self.exists(path),
            Step::Create(path, text) => {
                let free = !self.folders.contains(path) && !self.is_blocked(path);
                if free {
                    self.make_folders_above(path);
                    self.files.insert(path.clone(), text.clone());
                }
                free
            }
            Step::Replace(path, old, new) => match self.files.get_mut(path) {
                Some(text) if text.matches(old.as_str()).count() == 1 => {
                    *text = text.replacen(old, new, 1);
                    true
                }
                _ => false,
            },
            Step::Insert(path, line, added) => match self.files.get_mut(path) {
                Some(text) => {
                    let mut lines: Vec<&str> = text.lines().collect();
                    if *line > lines.len() {
                        return false;
                    }
                    lines.insert(*line, added);
                    *text = lines.join("\n") + "\n";
                    true
                }
                None => false,
            },
            Step::Delete(path) => {
                let existed = self.exists(path);
                let below = format!("{path}/");
                self.files.retain(|file, _| file != path && !file.starts_with(&below));
                self.folders.retain(|folder| folder != path && !folder.starts_with(&below));
                existed
            }
            Step::Rename(from, to) => {
                let below = format!("{from}/");
                if self.exists(to)
                    || self.is_blocked(to)
                    || !self.exists(from)
                    || to.starts_with(&below)
                {
                    return false;
                }
                self.make_folders_above(to);
                let renamed = |old: &String| old.replacen(from.as_str(), to, 1);
                let concerned = |old: &String| old == from || old.starts_with(&below);
                let files = std::mem::take(&mut self.files);
                self.files = files
                    .into_iter()
                    .map(|(old, text)| (if concerned(&old) { renamed(&old) } else { old }, text))
                    .collect();
                let folders = std::mem::take(&mut self.folders);
                self.folders = folders
                    .into_iter()
                    .map(|old| if concerned(&old) { renamed(&old) } else { old })
                    .collect();
                true
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    View(String),
    Create(String, String),
    Replace(String, String, String),
    Insert(String, usize, String),
    Delete(String),
    Rename(String, String),
}

impl Step {
    fn arguments(&self) -> Value {
        let at = |path: &str| format!("/memories/{path}");
        match self {
            Self::View(path) => json!({"command": "view", "path": at(path)}),
            Self::Create(path, text) => {
                json!({"command": "create", "path": at(path), "file_text": text})
            }
            Self::Replace(path, old, new) => {
                json!({"command": "str_replace", "path": at(path), "old_str": old, "new_str": new})
            }
            Self::Insert(path, line, text) => {
                json!({"command": "insert", "path": at(path), "insert_line": line, "insert_text": text})
            }
            Self::Delete(path) => json!({"command": "delete", "path": at(path)}),
            Self::Rename(from, to) => {
                json!({"command": "rename", "old_path": at(from), "new_path": at(to)})
            }
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let path = || {
        prop::sample::select(vec!["a", "b", "d/a", "d/b", "d/e/a", "a/x"]).prop_map(str::to_owned)
    };
    let text = || "([abc]{1,3}\n){0,4}";
    let word = || "[abc]{1,2}";
    prop_oneof![
        path().prop_map(Step::View),
        (path(), text()).prop_map(|(path, text)| Step::Create(path, text)),
        (path(), word(), word()).prop_map(|(path, old, new)| Step::Replace(path, old, new)),
        (path(), 0..6usize, word()).prop_map(|(path, line, text)| Step::Insert(path, line, text)),
        path().prop_map(Step::Delete),
        (path(), path()).prop_map(|(from, to)| Step::Rename(from, to)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn the_tool_agrees_with_a_simple_model(steps in prop::collection::vec(step(), 1..25)) {
        let mut vault = TestVault::new(Wording::Claude);
        vault.settings.create = Some(CreateMode::Overwrite);
        let mut model = Model::default();
        for step in &steps {
            let expected = model.act(step);
            let result = vault.memory(&step.arguments());
            prop_assert_eq!(!result.is_error, expected, "{:?}: {}", step, result.text);
        }
        for (path, text) in &model.files {
            let on_disk = std::fs::read_to_string(vault.path(&format!("memories/{path}")));
            prop_assert_eq!(on_disk.ok(), Some(text.clone()), "{}", path);
        }
        for folder in &model.folders {
            prop_assert!(vault.path(&format!("memories/{folder}")).is_dir(), "{}", folder);
        }
    }
}

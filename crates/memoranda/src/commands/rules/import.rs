//! `memoranda rules import`: files that agents read become rules.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use memoranda_clients::rules::{AgentRule, READ_FROM, generated_in, rules_in};
use memoranda_engine::records::{
    NewRecord, RecordKind, RecordScope, active_rules, add_records, normalize_globs,
};
use memoranda_engine::{Memory, clock};
use serde::Serialize;
use serde_json::json;

use super::known_rules::KnownRules;
use super::record_error;
use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::files;
use crate::output::{FAINT, PLACE, STRONG, counted, visible};

#[derive(Serialize)]
struct RulesImportJson {
    scope: String,
    dry_run: bool,
    known: usize,
    prose: usize,
    commit: Option<String>,
    rules: Vec<RuleJson>,
}

#[derive(Serialize)]
struct RuleJson {
    text: String,
    paths: Vec<String>,
    category: String,
    file: String,
    line: usize,
    id: Option<String>,
}

/// A file that may hold rules.
pub(super) struct RuleFile {
    path: PathBuf,
    /// Name of the file: its path in the repository, or its whole path.
    name: String,
    /// The folder that its rules are for, if not all of the repository.
    within: Option<String>,
}

/// Reads the files, and makes rules of what is not known.
pub(super) fn run(
    context: &CommandContext,
    memory: &Memory,
    rule_files: &[RuleFile],
    scope: &RecordScope,
    dry_run: bool,
) -> Result<Exit> {
    let before = active_rules(memory, scope, &context.settings()?.tools().records.now())
        .map_err(record_error)?;
    let known_rules = KnownRules::new(memory, std::slice::from_ref(scope));
    let mut known: Vec<RuleIdentity> =
        before.iter().map(|rule| RuleIdentity::new(&rule.content, &rule.paths)).collect();
    let (mut rules, mut prose, mut known_before) = (Vec::new(), 0, 0);
    for file in rule_files {
        let Some(text) = files::read_text(&file.path)? else {
            return Err(CommandError::new(Exit::NotFound, format!("{} is not there", file.name)));
        };
        let found = rules_in(&text);
        let generated: HashSet<String> = generated_in(&text)
            .map(|ours| {
                rules_in(ours).rules.iter().map(|(_, rule)| normalized_words(&rule.text)).collect()
            })
            .unwrap_or_default();
        prose += found.prose.len();
        for (line, mut rule) in found.rules {
            if rule.paths.is_empty() {
                rule.paths.extend(file.within.iter().map(|folder| format!("{folder}/**")));
            }
            let new = RuleIdentity::new(&rule.text, &rule.paths);
            // Generated text may be older than the rules; former rules are not imported again.
            let is_old = generated.contains(&new.words) && known_rules.has(&rule.text)?;
            if is_old || known.iter().any(|known| known.covers(&new)) {
                known_before += 1;
                continue;
            }
            known.push(new);
            rules.push((file.name.clone(), line, rule));
        }
    }
    // Rules of one file stay in its order, which is the order of their making.
    let now = clock::now();
    let new: Vec<NewRecord> = rules
        .iter()
        .enumerate()
        .map(|(n, (file, line, rule))| NewRecord {
            created: now.checked_add(SignedDuration::from_millis(n as i64)).ok(),
            ..record(scope, file, *line, rule)
        })
        .collect();
    let (added, commit) = if dry_run || new.is_empty() {
        (Vec::new(), None)
    } else {
        add_records(memory, &context.author(), &new, Some("rules import")).map_err(record_error)?
    };
    let commit = commit.map(|commit| commit.id.to_string());
    let printer = &context.printer;
    if context.is_json() {
        let rule = |(n, (file, line, rule)): (usize, &(String, usize, AgentRule))| RuleJson {
            text: rule.text.clone(),
            paths: rule.paths.clone(),
            category: rule.category.clone(),
            file: file.clone(),
            line: *line,
            id: added.get(n).map(|added| added.id.clone()),
        };
        let rules = rules.iter().enumerate().map(rule).collect();
        let scope = scope.name().to_owned();
        printer.json(&RulesImportJson {
            scope,
            dry_run,
            known: known_before,
            prose,
            commit,
            rules,
        })?;
        return Ok(Exit::Success);
    }
    for (file, line, rule) in &rules {
        let place = format!("{PLACE}{}:{line}{PLACE:#}", visible(file));
        let first = rule.text.lines().next().unwrap_or_default();
        printer.hanging(format!("{place} {}", visible(first)), 2)?;
    }
    let verb = if dry_run { "Would make" } else { "Made" };
    let mut sentence =
        format!("{verb} {} of {STRONG}{}{STRONG:#}", counted(rules.len(), "rule"), scope.name());
    if known_before > 0 {
        sentence.push_str(&format!(" {FAINT}({known_before} known already){FAINT:#}"));
    }
    printer.say(sentence);
    if prose > 0 {
        printer
            .say(format!("{FAINT}Left out: {} outside of lists{FAINT:#}", counted(prose, "line")));
    }
    if let Some(commit) = commit {
        context.hint_undo(commit.get(..8).unwrap_or(&commit));
    }
    Ok(Exit::Success)
}

/// Files whose rules hold for the folder that they lie in and all below.
const FOLDER_RULE_FILES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
/// Folders with third-party code or build output.
const SKIPPED_FOLDERS: [&str; 7] =
    ["node_modules", "target", "vendor", "dist", "build", "third_party", "venv"];
/// Maximum depth of folders in which rules are searched.
const MAX_DEPTH: usize = 8;

/// The files that were named, or all that agents usually read.
pub(super) fn rule_files(
    root: &Path,
    workspace: &Path,
    named: &[PathBuf],
) -> Result<Vec<RuleFile>> {
    let mut found = Vec::new();
    if named.is_empty() {
        let usual = READ_FROM.iter().map(|path| root.join(path)).filter(|path| path.exists());
        usual.for_each(|path| found.extend(files_at(path)));
        let of_folders = files::files_below(root, MAX_DEPTH, &|folder| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let is_other = name.starts_with('.') || SKIPPED_FOLDERS.contains(&name.as_ref());
            // A repository within has rules of its own.
            !is_other && !folder.join(".git").exists()
        });
        let is_one = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default();
            FOLDER_RULE_FILES.iter().any(|known| name == *known) && path.parent() != Some(root)
        };
        found.extend(of_folders.into_iter().filter(is_one));
    } else {
        named.iter().for_each(|path| found.extend(files_at(workspace.join(path))));
    }
    if found.is_empty() {
        let message = format!("no rule files were found in {}", root.display());
        return Err(CommandError::new(Exit::NotFound, message)
            .hint("`memoranda rules import FILE` names one"));
    }
    Ok(found.into_iter().map(|path| rule_file(root, path)).collect())
}

/// A file, or the rule files of a folder.
fn files_at(path: PathBuf) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path];
    }
    let mut files = files::files_below(&path, MAX_DEPTH, &|_| true);
    files.retain(|file| file.extension().is_some_and(|ending| ending == "md" || ending == "mdc"));
    files
}

fn rule_file(root: &Path, path: PathBuf) -> RuleFile {
    let plain = |path: &Path| path.display().to_string().replace('\\', "/");
    let name = plain(path.strip_prefix(root).unwrap_or(&path));
    let folder = path.parent().and_then(|folder| folder.strip_prefix(root).ok()).map(plain);
    let is_of_folder =
        path.file_name().is_some_and(|own| FOLDER_RULE_FILES.iter().any(|name| own == *name));
    // `.claude/CLAUDE.md` is for all of the repository.
    let within =
        folder.filter(|folder| is_of_folder && !folder.is_empty() && !folder.starts_with('.'));
    RuleFile { path, name, within }
}

fn record(scope: &RecordScope, file: &str, line: usize, rule: &AgentRule) -> NewRecord {
    let origin = json!({ "imported_from": file, "line": line });
    NewRecord {
        paths: rule.paths.clone(),
        category: Some(rule.category.clone()).filter(|category| !category.is_empty()),
        metadata: origin.as_object().cloned(),
        ..NewRecord::new(RecordKind::Rule, scope.clone(), rule.text.clone())
    }
}

/// The words of a rule, whatever the blanks and the case.
pub(super) fn normalized_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Identity of a rule: its words without case and white space, and its files.
struct RuleIdentity {
    words: String,
    paths: BTreeSet<String>,
}

impl RuleIdentity {
    fn new(text: &str, paths: &[String]) -> Self {
        // However the files are named, they are the same.
        let paths = paths.iter().flat_map(|path| normalize_globs(path)).collect();
        Self { words: normalized_words(text), paths }
    }

    /// Returns true if this rule includes another one.
    fn covers(&self, other: &Self) -> bool {
        let has_files = self.paths.is_empty()
            || (!other.paths.is_empty() && other.paths.is_subset(&self.paths));
        self.words == other.words && has_files
    }
}

//! `memoranda rules`: the rule files of a repository, from the rules that are remembered, and back.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use jiff::SignedDuration;
use memoranda_dialects::{
    NewRecord, Record, RecordError, RecordKind, Scope, add_records, rules_of,
};
use memoranda_engine::core::diff::{Labels, unified};
use memoranda_engine::{Memory, Repository, clock};
use serde::Serialize;
use serde_json::json;

use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::{FAINT, PLACE, STRONG, counted, visible};
use crate::rules::{
    BlockError, Form, MARK, READ_FROM, Rule, TARGETS, Target, pages, rules_in, target, with_block,
};
use crate::session::Session;
use crate::{env, files, paint};

/// Write rules into the files that agents read, or read such files as rules.
///
/// The rules are those of the repository that you are in (type `rule`, in the project `records`).
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda rules import           make rules of AGENTS.md, CLAUDE.md, .cursor/rules …
  memoranda rules generate all     write the rules for every agent
  memoranda rules generate --check whether the files are as the rules are")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Write the rules of this repository into the files that agents read.
    ///
    /// Where a program reads several files, one of our own is written; elsewhere a block between
    /// marks. What people wrote is never touched: a file without our mark is left alone. Without
    /// a target, those that are in use here are written, or AGENTS.md. Targets: agents (Codex,
    /// OpenCode, Zed, VS Code), claude, claude-md, cursor, copilot, windsurf, cline, roo, gemini,
    /// goose, all.
    #[command(after_long_help = "\
Examples:
  memoranda rules generate
  memoranda rules generate claude cursor --dry-run
  memoranda rules generate all --check

JSON (--json):
  {root, scope, rules, dry_run, files: [{target, path, change}]}; change is created, updated,
  removed or unchanged. Exit code 1 if --check finds a difference.")]
    Generate {
        /// For whom.
        #[arg(value_name = "TARGET")]
        targets: Vec<String>,
        /// Write nothing; exit with 1 if a file is not as the rules are.
        #[arg(long)]
        check: bool,
        /// Only show what would change.
        #[arg(short = 'n', long, conflicts_with = "check")]
        dry_run: bool,
        /// Write your global rules too.
        #[arg(long)]
        global: bool,
    },

    /// Read rule files as rules: every item of a list is one.
    ///
    /// Without files, all that agents usually read are looked for. What Memoranda wrote itself is
    /// passed over, and so is a rule that is known already.
    #[command(after_long_help = "\
Examples:
  memoranda rules import --dry-run
  memoranda rules import AGENTS.md
  memoranda rules import ~/.claude/CLAUDE.md --global

JSON (--json):
  {scope, dry_run, known, prose, commit, rules: [{text, paths, category, file, line, id}]}")]
    Import {
        /// The files.
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Only show what would come.
        #[arg(short = 'n', long)]
        dry_run: bool,
        /// Make them global rules, for every repository.
        #[arg(long)]
        global: bool,
    },
}

#[derive(Serialize)]
struct GeneratedJson {
    root: String,
    scope: String,
    rules: usize,
    dry_run: bool,
    files: Vec<FileJson>,
}

#[derive(Serialize)]
struct FileJson {
    target: &'static str,
    path: String,
    change: &'static str,
}

#[derive(Serialize)]
struct ImportedJson {
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

/// What becomes of one file.
struct Plan {
    target: &'static str,
    path: String,
    before: Option<String>,
    /// What it shall hold; `None` if it shall not be there.
    after: Option<String>,
}

impl Plan {
    fn change(&self) -> &'static str {
        match (&self.before, &self.after) {
            (before, after) if before == after => "unchanged",
            (None, Some(_)) => "created",
            (Some(_), None) => "removed",
            _ => "updated",
        }
    }
}

/// Does what was asked.
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    let memory = match &args.action {
        Action::Import { .. } => {
            session.made()?;
            session.reading()?
        }
        Action::Generate { .. } => session.reading()?,
    };
    let workspace = env::workspace().unwrap_or_default();
    let repository = Repository::of(&workspace);
    let root = repository.map_or(workspace, |repository| repository.root);
    let project = Scope::of_folder(&root);
    match &args.action {
        Action::Generate { targets, check, dry_run, global } => {
            let mode = match (check, dry_run) {
                (true, _) => Mode::Check,
                (false, true) => Mode::DryRun,
                (false, false) => Mode::Write,
            };
            let scopes = scopes(project, *global)?;
            generate(session, memory, &root, &scopes, &chosen(&root, targets)?, mode)
        }
        Action::Import { files, dry_run, global } => {
            let scope = match (global, project) {
                (true, _) => Scope::Global,
                (false, Some(project)) => project,
                (false, None) => return Err(no_project()),
            };
            import(session, memory, &root, files, &scope, *dry_run)
        }
    }
}

fn no_project() -> CommandError {
    CommandError::new(Exit::NotFound, "no repository with a remote was found here")
        .hint("`--global` means the rules for every repository")
}

fn scopes(project: Option<Scope>, with_global: bool) -> Result<Vec<Scope>> {
    match (project, with_global) {
        (Some(project), false) => Ok(vec![project]),
        (Some(project), true) => Ok(vec![project, Scope::Global]),
        (None, true) => Ok(vec![Scope::Global]),
        (None, false) => Err(no_project()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Check,
    DryRun,
    Write,
}

/// The targets that were named, or those that are in use here.
fn chosen(root: &Path, names: &[String]) -> Result<Vec<&'static Target>> {
    if names.is_empty() {
        let in_use = |t: &&Target| t.signs.iter().any(|sign| root.join(sign).exists());
        let found: Vec<_> = TARGETS.iter().filter(in_use).collect();
        return Ok(if found.is_empty() { TARGETS.iter().take(1).collect() } else { found });
    }
    let mut chosen: Vec<&'static Target> = Vec::new();
    for name in names {
        let meant: Vec<_> = match (name.as_str(), target(name)) {
            ("all", _) => TARGETS.iter().filter(|target| target.in_all).collect(),
            (_, Some(target)) => vec![target],
            (_, None) => {
                let known: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
                return Err(CommandError::usage(format!("{name:?} is no target"))
                    .hint(format!("{} or all", known.join(", "))));
            }
        };
        for target in meant {
            if !chosen.iter().any(|known| known.name == target.name) {
                chosen.push(target);
            }
        }
    }
    Ok(chosen)
}

fn generate(
    session: &Session,
    memory: &Memory,
    root: &Path,
    scopes: &[Scope],
    targets: &[&'static Target],
    mode: Mode,
) -> Result<Exit> {
    let mut rules = Vec::new();
    for scope in scopes {
        rules.extend(rules_of(memory, scope).map_err(failed)?.into_iter().map(rule_of));
    }
    let mut plans = Vec::new();
    for target in targets {
        plans.extend(planned(root, target, &rules)?);
    }
    let differs = plans.iter().any(|plan| plan.change() != "unchanged");
    if mode == Mode::Write {
        for plan in plans.iter().filter(|plan| plan.change() != "unchanged") {
            let path = root.join(&plan.path);
            match &plan.after {
                Some(text) => files::replace(&path, text.as_bytes())?,
                None => files::remove(&path)?,
            }
        }
    }
    tell(session, root, scopes, &rules, &plans, mode)?;
    Ok(if mode == Mode::Check && differs { Exit::NotFound } else { Exit::Done })
}

fn tell(
    session: &Session,
    root: &Path,
    scopes: &[Scope],
    rules: &[Rule],
    plans: &[Plan],
    mode: Mode,
) -> Result<()> {
    let printer = &session.printer;
    let scope = scopes.iter().map(Scope::name).collect::<Vec<_>>().join(", ");
    if session.is_json() {
        let file = |plan: &Plan| FileJson {
            target: plan.target,
            path: plan.path.clone(),
            change: plan.change(),
        };
        return printer.json(&GeneratedJson {
            root: root.display().to_string(),
            scope,
            rules: rules.len(),
            dry_run: mode != Mode::Write,
            files: plans.iter().map(file).collect(),
        });
    }
    for plan in plans {
        if mode == Mode::DryRun {
            let (before, after) = (plan.before.as_deref(), plan.after.as_deref());
            let name = |text: Option<&str>| if text.is_some() { &plan.path } else { "/dev/null" };
            let labels = Labels { before: name(before), after: name(after) };
            let text = unified(before.unwrap_or(""), after.unwrap_or(""), 3, labels);
            paint::diff(printer, &text)?;
        } else {
            let change = plan.change();
            printer.line(format!("{change:9} {PLACE}{}{PLACE:#}", visible(&plan.path)))?;
        }
    }
    printer.say(format!("{} of {STRONG}{scope}{STRONG:#}", counted(rules.len(), "rule")));
    if rules.is_empty() {
        printer.hint("`memoranda rules import` makes rules of AGENTS.md, CLAUDE.md and the like");
    }
    if mode == Mode::Check && plans.iter().any(|plan| plan.change() != "unchanged") {
        printer.hint("`memoranda rules generate` writes them");
    }
    Ok(())
}

fn rule_of(record: Record) -> Rule {
    Rule {
        text: record.content,
        paths: record.paths,
        category: record.category.unwrap_or_default(),
    }
}

/// What becomes of a target's files: those that are needed, and those of ours that no longer are.
fn planned(root: &Path, target: &'static Target, rules: &[Rule]) -> Result<Vec<Plan>> {
    let pages = pages(target, rules);
    let read = |path: &str| files::read_text(&root.join(path));
    let plan = |path: String, before, after| Plan { target: target.name, path, before, after };
    if target.form == Form::Block {
        let path = target.path.to_owned();
        let before = read(&path)?;
        let block = pages.first().map_or("", |page| page.text.as_str());
        let text = with_block(before.as_deref().unwrap_or_default(), block);
        let text = text.map_err(|BlockError::Damaged| {
            CommandError::new(Exit::Conflict, format!("the marks in {path} are damaged"))
                .hint("remove what is left of the block, and it is written anew")
        })?;
        // A file that held nothing but the block goes with it.
        let after = (!text.is_empty()).then_some(text);
        let none = before.is_none() && after.is_none();
        return Ok(if none { Vec::new() } else { vec![plan(path, before, after)] });
    }
    let mut plans = Vec::new();
    for page in &pages {
        let before = read(&page.path)?;
        if before.as_ref().is_some_and(|text| !text.trim().is_empty() && !text.contains(MARK)) {
            let message = format!("{} was not made by `memoranda rules generate`", page.path);
            return Err(CommandError::new(Exit::Conflict, message)
                .hint("give it another name; it is left alone"));
        }
        plans.push(plan(page.path.clone(), before, Some(page.text.clone())));
    }
    let (folder, name) = target.path.rsplit_once('/').unwrap_or(("", target.path));
    let ending = name.strip_prefix("memoranda").unwrap_or(name);
    for name in files::names_in(&root.join(folder)) {
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let is_ours = name.starts_with("memoranda") && name.ends_with(ending);
        if !is_ours || pages.iter().any(|page| page.path == path) {
            continue;
        }
        if let Some(before) = read(&path)?.filter(|text| text.contains(MARK)) {
            plans.push(plan(path, Some(before), None));
        }
    }
    Ok(plans)
}

fn import(
    session: &Session,
    memory: &Memory,
    root: &Path,
    named: &[PathBuf],
    scope: &Scope,
    dry_run: bool,
) -> Result<Exit> {
    let mut known: Vec<String> =
        rules_of(memory, scope).map_err(failed)?.iter().map(|rule| words(&rule.content)).collect();
    let (mut rules, mut prose, mut known_before) = (Vec::new(), 0, 0);
    for path in rule_files(root, named)? {
        let Some(text) = files::read_text(&path)? else {
            return Err(CommandError::new(
                Exit::NotFound,
                format!("{} is not there", path.display()),
            ));
        };
        let file = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let found = rules_in(&text);
        prose += found.prose;
        for (line, rule) in found.rules {
            if known.contains(&words(&rule.text)) {
                known_before += 1;
                continue;
            }
            known.push(words(&rule.text));
            rules.push((file.clone(), line, rule));
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
    let (added, commit) = match dry_run || new.is_empty() {
        true => (Vec::new(), None),
        false => add_records(memory, &session.who(), &new, Some("rules import")).map_err(failed)?,
    };
    let commit = commit.map(|commit| commit.id.to_string());
    let printer = &session.printer;
    if session.is_json() {
        let rule = |(n, (file, line, rule)): (usize, &(String, usize, Rule))| RuleJson {
            text: rule.text.clone(),
            paths: rule.paths.clone(),
            category: rule.category.clone(),
            file: file.clone(),
            line: *line,
            id: added.get(n).map(|added| added.id.clone()),
        };
        let rules = rules.iter().enumerate().map(rule).collect();
        let scope = scope.name().to_owned();
        printer.json(&ImportedJson {
            scope,
            dry_run,
            known: known_before,
            prose,
            commit,
            rules,
        })?;
        return Ok(Exit::Done);
    }
    for (file, line, rule) in &rules {
        let place = format!("{PLACE}{}:{line}{PLACE:#}", visible(file));
        let first = rule.text.lines().next().unwrap_or_default();
        printer.line(format!("{place} {}", visible(first)))?;
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
        session.hint_undo(commit.get(..8).unwrap_or(&commit));
    }
    Ok(Exit::Done)
}

/// The files that were named, or all that agents usually read.
fn rule_files(root: &Path, named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let is_named = !named.is_empty();
    let usual = READ_FROM.iter().map(|path| root.join(path));
    let looked: Vec<PathBuf> = if is_named { named.to_vec() } else { usual.collect() };
    let mut found = Vec::new();
    for path in looked {
        if path.is_dir() {
            let rules = files::names_in(&path).into_iter();
            let rules = rules.filter(|name| name.ends_with(".md") || name.ends_with(".mdc"));
            found.extend(rules.map(|name| path.join(name)));
        } else if is_named || path.exists() {
            found.push(path);
        }
    }
    if found.is_empty() {
        let message = format!("no rule files were found in {}", root.display());
        return Err(CommandError::new(Exit::NotFound, message)
            .hint("`memoranda rules import FILE` names one"));
    }
    Ok(found)
}

fn record(scope: &Scope, file: &str, line: usize, rule: &Rule) -> NewRecord {
    let origin = json!({ "imported_from": file, "line": line });
    NewRecord {
        paths: rule.paths.clone(),
        category: Some(rule.category.clone()).filter(|category| !category.is_empty()),
        metadata: origin.as_object().cloned(),
        ..NewRecord::new(RecordKind::Rule, scope.clone(), rule.text.clone())
    }
}

/// A rule's words: what differs only in blanks and case is the same rule.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn failed(error: RecordError) -> CommandError {
    match error {
        RecordError::Engine(error) => error.into(),
        RecordError::Refused(message) => CommandError::usage(message),
    }
}

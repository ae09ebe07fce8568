//! `memoranda rules generate`: rules become the files that agents read.

use std::path::{Path, PathBuf};

use memoranda_engine::Memory;
use memoranda_engine::core::diff::{DiffLabels, unified_diff};
use memoranda_engine::records::{MemoryRecord, RecordScope, active_rules};
use serde::Serialize;

use super::ever_known::EverKnown;
use super::failed;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::{PLACE, STRONG, counted, visible};
use crate::rules::{
    BlockError, Form, MARK, Rule, TARGETS, Target, generated_in, pages, target, with_block,
};
use crate::session::Session;
use crate::{files, paint};

#[derive(Serialize)]
struct GeneratedJson {
    root: String,
    scope: String,
    rules: usize,
    dry_run: bool,
    files: Vec<FileJson>,
    troubles: Vec<TroubleJson>,
}

#[derive(Serialize)]
struct TroubleJson {
    target: &'static str,
    message: String,
}

#[derive(Serialize)]
struct FileJson {
    target: &'static str,
    path: String,
    change: &'static str,
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
    fn differs(&self) -> bool {
        self.before != self.after
    }

    /// What was written between our marks, and is no rule that was ever known here, is not replaced.
    fn refuse_unknown(&self, known: &EverKnown<'_>) -> Result<()> {
        let ours = self.before.as_deref().filter(|_| self.differs()).and_then(generated_in);
        let Some(ours) = ours else { return Ok(()) };
        let unknown = known.unknown_in(ours)?;
        let Some(first) = unknown.first() else { return Ok(()) };
        let more = match unknown.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let message = format!(
            "{} says {first:?}{more} in what was generated, and no rule here ever said so; it is left \
             as it is",
            self.path
        );
        Err(CommandError::new(Exit::Conflict, message)
            .hint(format!("`memoranda rules import {}` makes rules of the items", self.path))
            .hint("`memoranda rules generate --force` replaces it"))
    }

    fn change(&self) -> &'static str {
        match (&self.before, &self.after) {
            (before, after) if before == after => "unchanged",
            (None, Some(_)) => "created",
            (Some(_), None) => "removed",
            _ => "updated",
        }
    }
}

/// What is to be done with the files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Check,
    DryRun,
    Write,
}

/// What becomes of generated files when there are no rules: they may be a team's, and the rules
/// not yet in this vault.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WithoutRules {
    Keep,
    Remove,
}

/// What becomes of generated text that says what this vault never knew: somebody wrote it there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    Refuse,
    Replace,
}

/// What was asked for.
pub(super) struct Generate {
    pub(super) root: PathBuf,
    pub(super) scopes: Vec<RecordScope>,
    pub(super) targets: Vec<&'static Target>,
    pub(super) mode: Mode,
    pub(super) without_rules: WithoutRules,
    pub(super) unknown: Unknown,
}

/// What was found out: the plans, and the targets that cannot be served.
struct Drawn {
    rules: Vec<Rule>,
    plans: Vec<Plan>,
    troubles: Vec<(&'static str, CommandError)>,
}

/// The targets that were named, or those that are in use here.
pub(super) fn chosen(root: &Path, names: &[String]) -> Result<Vec<&'static Target>> {
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

/// Writes the files, or says what would be written.
pub(super) fn run(session: &Session, memory: &Memory, asked: &Generate) -> Result<Exit> {
    let mut rules = Vec::new();
    let now = session.settings()?.tools().records.now();
    for scope in &asked.scopes {
        rules.extend(active_rules(memory, scope, &now).map_err(failed)?.into_iter().map(rule_of));
    }
    let mut drawn = Drawn { rules, plans: Vec::new(), troubles: Vec::new() };
    let known = EverKnown::new(memory, &asked.scopes);
    for target in &asked.targets {
        let planned = planned(&asked.root, target, &drawn.rules).and_then(|plans| {
            // Without a single rule nothing is written unless somebody asks for that.
            if asked.unknown == Unknown::Refuse && !drawn.rules.is_empty() {
                plans.iter().try_for_each(|plan| plan.refuse_unknown(&known))?;
            }
            Ok(plans)
        });
        match planned {
            Ok(plans) => drawn.plans.extend(plans),
            Err(trouble) => drawn.troubles.push((target.name, trouble)),
        }
    }
    if asked.mode == Mode::Write {
        drawn.refuse_loss(asked)?;
        drawn.write(&asked.root);
    }
    let differs = drawn.plans.iter().any(Plan::differs);
    tell(session, asked, &drawn)?;
    let mut troubles = drawn.troubles.into_iter().map(|(_, trouble)| trouble);
    match troubles.next_back() {
        Some(last) => {
            for trouble in troubles {
                session.printer.warn(&trouble.message);
                trouble.hints.iter().for_each(|hint| session.printer.hint(hint));
            }
            Err(last)
        }
        None if asked.mode == Mode::Check && differs => Ok(Exit::NotFound),
        None => Ok(Exit::Done),
    }
}

impl Drawn {
    /// Without a single rule, files that hold some are not emptied by the way.
    fn refuse_loss(&self, asked: &Generate) -> Result<()> {
        let lost: Vec<&str> = self
            .plans
            .iter()
            .filter(|plan| plan.differs())
            .map(|plan| plan.path.as_str())
            .collect();
        if !self.rules.is_empty() || lost.is_empty() || asked.without_rules == WithoutRules::Remove
        {
            return Ok(());
        }
        let message = format!(
            "there are no rules of {}, and rules that were generated before are in {}; nothing was \
             changed",
            asked.scope(),
            lost.join(", ")
        );
        Err(CommandError::new(Exit::Conflict, message)
            .hint("`memoranda rules import` makes rules of them")
            .hint("`memoranda rules generate --remove` removes them from the files"))
    }

    fn write(&mut self, root: &Path) {
        let (plans, troubles) = (&mut self.plans, &mut self.troubles);
        plans.retain(|plan| {
            let path = root.join(&plan.path);
            let done = match &plan.after {
                _ if !plan.differs() => Ok(()),
                Some(text) => files::replace(&path, text.as_bytes()),
                None => files::remove(&path),
            };
            match done {
                Ok(()) => true,
                Err(trouble) => {
                    troubles.push((plan.target, trouble));
                    false
                }
            }
        });
    }
}

impl Generate {
    fn scope(&self) -> String {
        self.scopes.iter().map(RecordScope::name).collect::<Vec<_>>().join(", ")
    }
}

fn tell(session: &Session, asked: &Generate, drawn: &Drawn) -> Result<()> {
    let (printer, mode, scope) = (&session.printer, asked.mode, asked.scope());
    if session.is_json() {
        let file = |plan: &Plan| FileJson {
            target: plan.target,
            path: plan.path.clone(),
            change: plan.change(),
        };
        let trouble = |(target, trouble): &(&'static str, CommandError)| TroubleJson {
            target,
            message: trouble.message.clone(),
        };
        return printer.json(&GeneratedJson {
            root: asked.root.display().to_string(),
            scope,
            rules: drawn.rules.len(),
            dry_run: mode != Mode::Write,
            files: drawn.plans.iter().map(file).collect(),
            troubles: drawn.troubles.iter().map(trouble).collect(),
        });
    }
    for plan in &drawn.plans {
        if mode == Mode::DryRun {
            let (before, after) = (plan.before.as_deref(), plan.after.as_deref());
            let name = |text: Option<&str>| if text.is_some() { &plan.path } else { "/dev/null" };
            let labels = DiffLabels { before: name(before), after: name(after) };
            let text = unified_diff(before.unwrap_or(""), after.unwrap_or(""), 3, labels);
            paint::diff(printer, &text)?;
        } else {
            let change = plan.change();
            printer.line(format!("{change:9} {PLACE}{}{PLACE:#}", visible(&plan.path)))?;
        }
    }
    printer.say(format!("{} of {STRONG}{scope}{STRONG:#}", counted(drawn.rules.len(), "rule")));
    if drawn.rules.is_empty() {
        printer.hint("`memoranda rules import` makes rules of AGENTS.md, CLAUDE.md and the like");
    } else if mode == Mode::Check && drawn.plans.iter().any(Plan::differs) {
        printer.hint("`memoranda rules generate` writes them");
    }
    Ok(())
}

fn rule_of(record: MemoryRecord) -> Rule {
    Rule {
        text: record.content,
        paths: record.paths,
        category: record.category.unwrap_or_default(),
    }
}

/// What becomes of a target's files: those that are needed, and those of ours that no longer are.
fn planned(root: &Path, target: &'static Target, rules: &[Rule]) -> Result<Vec<Plan>> {
    let pages = pages(target, rules);
    let read = |path: &str| {
        let text = files::read_text(&root.join(path))?;
        match files::link_target(&root.join(path)).filter(|_| text.is_none()) {
            None => Ok(text),
            // Somebody put it there, and what it names may come back.
            Some(away) => {
                let away = away.display();
                let message = format!("{path} is a link to {away}, which is not there");
                Err(CommandError::new(Exit::Conflict, message)
                    .hint("make that file or remove the link; it is left as it is"))
            }
        }
    };
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
    let (folder, name) = target.path.rsplit_once('/').unwrap_or(("", target.path));
    if let Some(file) = files::file_on_the_way(root, folder) {
        let message = format!("{file} is a file, and {} would have to lie in it", target.path);
        return Err(CommandError::new(Exit::Conflict, message)
            .hint(format!("make it {file}/rules.md; {} reads all files there", target.name)));
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

//! `memoranda rules generate`: rules become the files that agents read.

use std::path::{Path, PathBuf};

use memoranda_clients::rules::{
    AgentRule, BlockError, MARK, RuleFileForm, RuleTarget, TARGETS, find_target, generated_in,
    pages, rules_in, with_block, without_block,
};
use memoranda_engine::Memory;
use memoranda_engine::core::diff::{DiffLabels, unified_diff};
use memoranda_engine::records::{RecordScope, active_rules};
use serde::Serialize;

use super::known_rules::KnownRules;
use super::record_error;
use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::{PLACE, STRONG, counted, visible};
use crate::{diff_color, files};

#[derive(Serialize)]
struct GeneratedJson {
    root: String,
    scope: String,
    rules: usize,
    dry_run: bool,
    files: Vec<RuleFileJson>,
    troubles: Vec<RuleTroubleJson>,
}

#[derive(Serialize)]
struct RuleTroubleJson {
    target: &'static str,
    message: String,
}

#[derive(Serialize)]
struct RuleFileJson {
    target: &'static str,
    path: String,
    change: &'static str,
}

/// Planned content of one file.
struct RuleFilePlan {
    target: &'static str,
    path: String,
    before: Option<String>,
    /// New text; `None` if the file is deleted.
    after: Option<String>,
}

impl RuleFilePlan {
    fn differs(&self) -> bool {
        self.before != self.after
    }

    /// Rejects generated text that contains rules this vault never had.
    fn refuse_unknown(&self, known: &KnownRules<'_>) -> Result<()> {
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

/// Mode of the command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GenerateMode {
    Check,
    DryRun,
    Write,
}

/// Treatment of generated files if there are no rules: the rules may be a team's and missing in
/// this vault.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WithoutRules {
    Keep,
    Remove,
}

/// Treatment of unknown text in generated files, which somebody wrote there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnknownText {
    Refuse,
    Replace,
}

/// Request of the command.
pub(super) struct GenerateRequest {
    pub(super) root: PathBuf,
    pub(super) scopes: Vec<RecordScope>,
    pub(super) targets: Vec<&'static RuleTarget>,
    pub(super) mode: GenerateMode,
    pub(super) without_rules: WithoutRules,
    pub(super) unknown: UnknownText,
}

/// Plans of all files, and targets with problems.
struct GeneratePlan {
    rules: Vec<AgentRule>,
    plans: Vec<RuleFilePlan>,
    troubles: Vec<(&'static str, CommandError)>,
}

/// The targets that were named, or those that are in use here.
pub(super) fn choose_targets(root: &Path, names: &[String]) -> Result<Vec<&'static RuleTarget>> {
    if names.is_empty() {
        let in_use = |t: &&RuleTarget| t.signs.iter().any(|sign| root.join(sign).exists());
        let found: Vec<_> = TARGETS.iter().filter(in_use).collect();
        return Ok(if found.is_empty() { TARGETS.iter().take(1).collect() } else { found });
    }
    let mut chosen: Vec<&'static RuleTarget> = Vec::new();
    for name in names {
        let meant: Vec<_> = match (name.as_str(), find_target(name)) {
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
pub(super) fn run(
    context: &CommandContext,
    memory: &Memory,
    asked: &GenerateRequest,
) -> Result<Exit> {
    let mut rules = Vec::new();
    let now = context.settings()?.tools().records.now();
    for scope in &asked.scopes {
        rules.extend(
            active_rules(memory, scope, &now)
                .map_err(record_error)?
                .into_iter()
                .map(AgentRule::from),
        );
    }
    let mut plan_set = GeneratePlan { rules, plans: Vec::new(), troubles: Vec::new() };
    let known = KnownRules::new(memory, &asked.scopes);
    for target in &asked.targets {
        let planned = plan_target(&asked.root, target, &plan_set.rules).and_then(|plans| {
            // Without rules nothing is written unless requested.
            if asked.unknown == UnknownText::Refuse && !plan_set.rules.is_empty() {
                plans.iter().try_for_each(|plan| plan.refuse_unknown(&known))?;
            }
            Ok(plans)
        });
        match planned {
            Ok(plans) => plan_set.plans.extend(plans),
            Err(trouble) => plan_set.troubles.push((target.name, trouble)),
        }
    }
    if asked.mode == GenerateMode::Write {
        plan_set.refuse_loss(asked)?;
        plan_set.write(&asked.root);
    }
    let differs = plan_set.plans.iter().any(RuleFilePlan::differs);
    print_plan(context, asked, &plan_set)?;
    let mut troubles = plan_set.troubles.into_iter().map(|(_, trouble)| trouble);
    match troubles.next_back() {
        Some(last) => {
            for trouble in troubles {
                context.printer.warn(&trouble.message);
                trouble.hints.iter().for_each(|hint| context.printer.hint(hint));
            }
            Err(last)
        }
        None if asked.mode == GenerateMode::Check && differs => Ok(Exit::NotFound),
        None => Ok(Exit::Success),
    }
}

impl GeneratePlan {
    /// Without a single rule, files that hold some are not emptied by the way.
    fn refuse_loss(&self, asked: &GenerateRequest) -> Result<()> {
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
                Some(text) => files::replace(&path, text.as_bytes()).map_err(CommandError::from),
                None => files::remove(&path).map_err(CommandError::from),
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

impl GenerateRequest {
    fn scope(&self) -> String {
        self.scopes.iter().map(RecordScope::name).collect::<Vec<_>>().join(", ")
    }
}

fn print_plan(
    context: &CommandContext,
    asked: &GenerateRequest,
    plan_set: &GeneratePlan,
) -> Result<()> {
    let (printer, mode, scope) = (&context.printer, asked.mode, asked.scope());
    if context.is_json() {
        let file = |plan: &RuleFilePlan| RuleFileJson {
            target: plan.target,
            path: plan.path.clone(),
            change: plan.change(),
        };
        let trouble = |(target, trouble): &(&'static str, CommandError)| RuleTroubleJson {
            target,
            message: trouble.message.clone(),
        };
        return printer.json(&GeneratedJson {
            root: asked.root.display().to_string(),
            scope,
            rules: plan_set.rules.len(),
            dry_run: mode != GenerateMode::Write,
            files: plan_set.plans.iter().map(file).collect(),
            troubles: plan_set.troubles.iter().map(trouble).collect(),
        });
    }
    for plan in &plan_set.plans {
        if mode == GenerateMode::DryRun {
            let (before, after) = (plan.before.as_deref(), plan.after.as_deref());
            let name = |text: Option<&str>| if text.is_some() { &plan.path } else { "/dev/null" };
            let labels = DiffLabels { before: name(before), after: name(after) };
            let text = unified_diff(before.unwrap_or(""), after.unwrap_or(""), 3, labels);
            diff_color::print_diff(printer, &text)?;
        } else {
            let change = plan.change();
            printer.line(format!("{change:9} {PLACE}{}{PLACE:#}", visible(&plan.path)))?;
        }
    }
    printer.say(format!("{} of {STRONG}{scope}{STRONG:#}", counted(plan_set.rules.len(), "rule")));
    if plan_set.rules.is_empty() {
        printer.hint("`memoranda rules import` makes rules of AGENTS.md, CLAUDE.md and the like");
    } else if mode == GenerateMode::Check && plan_set.plans.iter().any(RuleFilePlan::differs) {
        printer.hint("`memoranda rules generate` writes them");
    }
    Ok(())
}

/// Plans the files of a target, including generated files that are no longer needed.
fn plan_target(
    root: &Path,
    target: &'static RuleTarget,
    rules: &[AgentRule],
) -> Result<Vec<RuleFilePlan>> {
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
    let plan =
        |path: String, before, after| RuleFilePlan { target: target.name, path, before, after };
    if target.form == RuleFileForm::Block {
        let path = target.path.to_owned();
        let before = read(&path)?;
        // A rule that the person's own part of the file states is not said twice.
        let own = rules_in(&without_block(before.as_deref().unwrap_or_default())).rules;
        let is_own = |rule: &AgentRule| {
            own.iter().any(|(_, own)| own.text == rule.text && own.paths == rule.paths)
        };
        let rules: Vec<AgentRule> = rules.iter().filter(|rule| !is_own(rule)).cloned().collect();
        let pages = memoranda_clients::rules::pages(target, &rules);
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

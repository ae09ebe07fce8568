//! `update`: adds content to a bank. It is durable before the answer.

use memoranda_core::secrets;
use memoranda_engine::banks::{
    BankSelector, BankType, ContentUpdate, DecisionSource, DiagnosticSeverity, MemoryBank,
    Placement, TextOperation, UpdateReport, deduplicate_bank, update_bank,
};
use serde_json::{Value, json};

use super::activate::{LARGE_TOKENS, load, not_found, resolve};
use super::error::{BankErrorCode, about_bank, recent_problems, record_problem, render_error};
use super::{bank_type, call_bank_key, dump, kind};
use crate::registry::{
    ArgsError, CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolError, ToolHints, ToolReach,
    ToolResult, ToolTier, Toolset,
};
use crate::settings::SecretPolicy;

/// Events that lead to an update.
pub(super) const TRIGGERS: [&str; 6] =
    ["watchdog", "architecture", "technology", "progress", "commit", "user_request"];
/// Confidence below which the answer asks for a target.
const MIN_CONFIDENCE: f64 = 0.5;

/// The arguments of a call.
struct UpdateRequest {
    selector: BankSelector,
    update: ContentUpdate,
    optimize: bool,
}

pub(super) const TOOL: ToolDef = ToolDef {
    name: "update",
    title: "Update memory bank",
    description: "Keep something in a memory bank: append to a file, replace it, or insert under \
        a `## ` heading. Without target_file and operation the content is put where it belongs. \
        Durable when it returns; every change is in the history.",
    toolset: Toolset::Banks,
    reach: ToolReach::OwnProject,
    tier: ToolTier::Default,
    hints: ToolHints { read_only: false, destructive: true, idempotent: false, open_world: false },
    params: PARAMS,
    run,
    output,
    max_chars: 20_000,
    render_error: |call, error| render_error(call, &error, "update content"),
    ..ToolDef::BASE
};

/// Parameters of the tool. The tool rejects unknown ones itself, to record the error with the bank.
const PARAMS: ParamTable = ParamTable::new(&[&[
    kind("Type of bank").required(),
    Param::text("bank_id", "Id of the bank").required(),
    Param::text("target_file", "File to update, such as doc/design.md; left out, it is chosen"),
    Param::choice("operation", &["append", "replace", "insert"], "How; left out, it is chosen"),
    Param::text("content", "What to keep, as Markdown").required(),
    Param::text("position", "Heading to insert under (insert)"),
    Param::choice("trigger_type", &TRIGGERS, "What led to this update"),
    Param::text("conversation_id", "Id of this conversation"),
    Param::integer("update_count", 0, u32::MAX as u64, "Which update of the conversation this is")
        .hide_max(),
    Param::flag("optimize", "Also merge repetitions in the bank"),
]])
.defer_unknown();

fn run(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let mut key = call_bank_key(args);
    let done = request(args).and_then(|request| {
        let mut resolved = resolve(call, &request.selector, BankErrorCode::BankNotFound)?;
        if request.selector.kind.is_none() && !resolved.exists {
            // Without a bank of the repository, the shared one takes what names no bank.
            let shared = BankSelector { kind: Some(BankType::Global), ..BankSelector::default() };
            resolved = resolve(call, &shared, BankErrorCode::BankNotFound)?;
        }
        let is_shared = resolved.bank.kind == BankType::Global && resolved.may_be_created;
        if !resolved.exists && !is_shared {
            return Err(not_found(call, &resolved.bank));
        }
        key = resolved.bank.key();
        update(call, &request, &resolved.bank)
    });
    match done {
        Ok(structured) => Ok(ToolResult::ok(structured.to_string(), structured)),
        Err(error) => Err(about_bank(error, &key)),
    }
}

fn request(args: &ToolArgs) -> Result<UpdateRequest, ToolError> {
    let bad = |error: ArgsError| BankErrorCode::UpdateFailed.of_arguments(&error);
    args.reject_unknown().map_err(bad)?;
    let text = |name| args.optional_text(name).map_err(bad);
    let kind = bank_type(args)?;
    let id = text("bank_id")?.filter(|id| !id.trim().is_empty());
    if kind.is_none() && id.is_some() {
        return Err(bad(args.missing("bank_type", "global, project or code")));
    }
    if kind.is_some() && id.is_none() {
        return Err(bad(args.missing("bank_id", "the id of the bank")));
    }
    let operation = match text("operation")? {
        None => None,
        Some(word) => Some(TextOperation::parse(&word).ok_or_else(|| {
            let shown: String = word.chars().take(80).collect();
            let message = format!(
                "Invalid operation type {shown:?}; use append, replace or insert. Nothing was written."
            );
            BankErrorCode::InvalidOperation.error(message)
        })?),
    };
    let optimize = args.is_set("optimize").map_err(bad)?;
    let content = match (text("content")?, optimize) {
        (Some(content), _) => content,
        (None, true) => String::new(),
        (None, false) => return Err(bad(args.missing("content", "the text to keep"))),
    };
    let is_given = |text: &String| !text.trim().is_empty();
    let selector = BankSelector { kind, id, ..BankSelector::default() };
    let update = ContentUpdate {
        file: text("target_file")?.filter(is_given),
        operation,
        content,
        position: text("position")?.filter(is_given),
        trigger: args.optional_word("trigger_type").map_err(bad)?,
        conversation: text("conversation_id")?.filter(is_given),
        count: args.optional_integer("update_count").map_err(bad)?.map(|count| count as u64),
    };
    if update.operation == Some(TextOperation::Insert)
        && update.position.is_none()
        && update.file.is_some()
    {
        let message = "An insert needs `position`: the heading under which the text goes. Nothing \
                       was written.";
        return Err(BankErrorCode::InvalidOperation.error(message));
    }
    if update.content.trim().is_empty()
        && !optimize
        && update.operation != Some(TextOperation::Replace)
    {
        let message = "`content` is empty: there is nothing to keep. Nothing was written.";
        return Err(BankErrorCode::ContentProcessingFailed.error(message));
    }
    Ok(UpdateRequest { selector, update, optimize })
}

fn update(
    call: &CallContext<'_>,
    request: &UpdateRequest,
    bank: &MemoryBank,
) -> Result<Value, ToolError> {
    let key = bank.key();
    let errors = recent_problems(call.memory, &key);
    let (content, mut next_actions) = screen_secrets(call, request.update.content.clone())?;
    let done = if content.trim().is_empty() && request.optimize {
        None
    } else {
        let update = ContentUpdate { content, ..request.update.clone() };
        Some(write(call, bank, &update)?)
    };
    let mut answer = json!({
        "status": "success",
        "bank": { "type": bank.kind.as_str(), "id": bank.id, "project": call.settings.banks.project.as_str() },
        "cache_optimized": false,
        "previous_errors": errors,
    });
    if let Some(done) = &done {
        describe_update(call, &request.update, bank, done, &mut answer, &mut next_actions);
    }
    // The update is durable now, so later problems are recorded and do not fail the call.
    let mut loaded = load(call, bank);
    let tokens = loaded.as_ref().ok().and_then(Option::as_ref).map_or(0, |(bank, _)| bank.tokens());
    if request.optimize || tokens > call.settings.banks.optimize_tokens {
        match merge_repetitions(call, bank) {
            Ok(Some(commit)) => {
                answer["cache_optimized"] = json!(true);
                answer["optimize_commit"] = json!(commit);
                if !request.optimize {
                    let description =
                        format!("The bank was large; what it said twice was merged ({commit})");
                    record_problem(call.memory, &key, DiagnosticSeverity::Info, &description);
                }
                loaded = load(call, bank);
            }
            Ok(None) => {}
            Err(failure) => {
                record_problem(call.memory, &key, DiagnosticSeverity::Warning, &failure.message)
            }
        }
    } else if tokens > LARGE_TOKENS {
        next_actions.push(format!(
            "The bank has about {tokens} tokens; update with optimize=true merges repetitions."
        ));
    }
    let mut in_memory = false;
    match loaded {
        Ok(Some((loaded, _))) => {
            answer["bank"]["approximate_tokens"] = json!(loaded.tokens());
            in_memory = true;
            dump::write(call, bank, &loaded);
        }
        Ok(None) => {}
        Err(failure) => {
            call.settings.banks.cache.evict(bank);
            record_problem(call.memory, &key, DiagnosticSeverity::Warning, &failure.message);
        }
    }
    answer["cache_updated"] = json!(in_memory);
    answer["next_actions"] = json!(next_actions);
    Ok(answer)
}

fn write(
    call: &CallContext<'_>,
    bank: &MemoryBank,
    update: &ContentUpdate,
) -> Result<UpdateReport, ToolError> {
    let loaded = load(call, bank)?.map(|(loaded, _)| loaded);
    let model = call.settings.model.as_deref().filter(|_| !call.is_cancelled());
    let project = &call.settings.banks.project;
    let bank = (bank, loaded.as_deref());
    update_bank(call.memory, &call.who, project, model, bank, update)
        .map_err(|error| BankErrorCode::UpdateFailed.of_bank(error))
}

/// Merges repetitions of a bank. Returns the id of the commit, if there was one.
fn merge_repetitions(
    call: &CallContext<'_>,
    bank: &MemoryBank,
) -> Result<Option<String>, ToolError> {
    let Some((loaded, _)) = load(call, bank)? else { return Ok(None) };
    let project = &call.settings.banks.project;
    let commit = deduplicate_bank(call.memory, &call.who, project, bank, &loaded)
        .map_err(|error| BankErrorCode::UpdateFailed.of_bank(error))?;
    Ok(commit.map(|commit| commit.id.to_string()))
}

/// Adds the file, the operation and the source of the decision to the answer.
fn describe_update(
    call: &CallContext<'_>,
    update: &ContentUpdate,
    bank: &MemoryBank,
    done: &UpdateReport,
    answer: &mut Value,
    next_actions: &mut Vec<String>,
) {
    let Placement { file, section, operation, category, confidence } = &done.decision.placement;
    let source = done.decision.source;
    let commit = done.commit.as_ref().map(|commit| commit.id.to_string());
    let mut processing = json!({ "path": source.as_str() });
    if source != DecisionSource::Caller {
        processing["confidence"] = json!(confidence);
        processing["category"] = json!(category);
        if *confidence < MIN_CONFIDENCE {
            next_actions.push(format!(
                "Placed in {file} without being sure; next time, say target_file and operation."
            ));
        }
    }
    if let Some(section) = section {
        processing["section"] = json!(section);
    }
    if let Some(reason) = &done.decision.fallback {
        processing["fallback"] = json!(reason);
    }
    if done.is_new_section && source != DecisionSource::Rules {
        next_actions.push(format!(
            "{file} had no section {:?}; it was added at the end.",
            section.as_deref().unwrap_or_default()
        ));
    }
    if commit.is_none() {
        next_actions.push("The file already contains this; nothing was written.".to_owned());
    }
    answer["updated_file"] = json!(file);
    answer["operation"] = json!(operation.as_str());
    answer["verification"] = json!(verification(update, commit.as_deref()));
    answer["processing"] = processing;
    answer["commit"] = json!(commit);
    answer["permalink"] = json!(done.permalink);
    call.settings.banks.cache.note_operation(json!({
        "tool": "update", "bank": bank.key(), "file": file, "operation": operation.as_str(),
        "path": source.as_str(), "confidence": confidence, "commit": commit,
    }));
}

/// Screens the content for secrets by the configured policy. Returns the warnings.
fn screen_secrets(
    call: &CallContext<'_>,
    content: String,
) -> Result<(String, Vec<String>), ToolError> {
    let secrets = secrets::find_secrets(&content);
    if secrets.is_empty() {
        return Ok((content, Vec::new()));
    }
    let mut kinds: Vec<String> =
        secrets.iter().map(|secret| format!("{} (line {})", secret.kind, secret.line)).collect();
    kinds.dedup();
    let kinds = kinds.join(", ");
    match call.settings.secrets {
        SecretPolicy::Refuse => Err(BankErrorCode::ContentProcessingFailed.error(format!(
            "The content holds what looks like a secret: {kinds}. Nothing was written."
        ))),
        SecretPolicy::Redact => {
            let warning = format!("Replaced what looked like a secret: {kinds}.");
            Ok((secrets::redact_all(&content), vec![warning]))
        }
        SecretPolicy::Warn => {
            let warning = format!(
                "This looks like a secret: {kinds}. It was saved; remove it if it should not be kept."
            );
            Ok((content, vec![warning]))
        }
    }
}

/// Renders the line that the model shows as proof of an update.
fn verification(update: &ContentUpdate, commit: Option<&str>) -> String {
    match (update.count, update.conversation_id(), commit) {
        (Some(count), Some(id), _) => format!("// Update #{count} for conversation {id}"),
        (Some(count), None, _) => format!("// Update #{count}"),
        (None, Some(id), _) => format!("// Update for conversation {id}"),
        (None, None, Some(commit)) => format!("// Update {commit}"),
        (None, None, None) => "// No update".to_owned(),
    }
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": { "type": "string" },
            "updated_file": { "type": "string" },
            "operation": { "type": "string" },
            "cache_updated": { "type": "boolean" },
            "cache_optimized": { "type": "boolean" },
            "verification": { "type": "string" },
            "next_actions": { "type": "array" },
            "previous_errors": { "type": "array" },
            "bank": { "type": "object" },
            "processing": { "type": "object" },
            "permalink": { "type": ["string", "null"] },
            "commit": { "type": ["string", "null"] },
            "optimize_commit": { "type": "string" },
            "error": { "type": "string" },
            "code": { "type": "string" }
        }
    })
}

//! `update`: what was said, in the right file, durable before the answer.

use memoranda_core::path::NotePath;
use memoranda_core::secrets;
use memoranda_engine::{Place, ReviseOutcome, Step};
use serde_json::{Value, json};

use super::activate::{LARGE_TOKENS, creation_steps, load};
use super::bank::{BankType, DUMP_FILE, MemoryBank};
use super::diagnostics::{self, DiagnosticSeverity};
use super::error::{BankError, BankErrorCode};
use super::insert::{self, TextOperation};
use super::outline::headings;
use super::placement::{self, DecisionSource, Placement, PlacementDecision};
use super::resolve::{self, BankSelector, DEFAULT_ID};
use super::template::{self, NewBank};
use super::{bank_type, call_bank_key, deduplicate, dump};
use crate::registry::{ArgsError, CallContext, ToolArgs, ToolResult};
use crate::settings::SecretPolicy;

/// What can have made the caller write.
pub(super) const TRIGGERS: [&str; 6] =
    ["watchdog", "architecture", "technology", "progress", "commit", "user_request"];
/// The longest name of a conversation that is kept.
const MAX_CONVERSATION_CHARS: usize = 100;

/// What was asked.
struct UpdateRequest {
    selector: BankSelector,
    file: Option<String>,
    operation: Option<TextOperation>,
    content: String,
    position: Option<String>,
    trigger: Option<String>,
    conversation: Option<String>,
    count: Option<u64>,
    optimize: bool,
}

/// What was done.
struct UpdateReport {
    decided: PlacementDecision,
    place: Place,
    commit: Option<String>,
    is_new_section: bool,
}

pub(super) fn handler(call: &CallContext<'_>, arguments: Value) -> ToolResult {
    let mut key = call_bank_key(&arguments);
    let done = request(arguments).and_then(|request| {
        let resolved = resolve::resolve_bank(call, &request.selector, BankErrorCode::BankNotFound)?;
        let is_shared = resolved.bank.kind == BankType::Global && resolved.may_be_made;
        if !resolved.exists && !is_shared {
            return Err(resolve::not_found(call, &resolved.bank));
        }
        key = resolved.bank.key();
        update(call, &request, &resolved.bank)
    });
    match done {
        Ok(structured) => ToolResult::ok(structured.to_string(), structured),
        Err(failure) => failure.answer(call.memory, &key, "update content"),
    }
}

fn request(arguments: Value) -> Result<UpdateRequest, BankError> {
    let bad = |e: ArgsError| {
        BankError::new(BankErrorCode::UpdateFailed, format!("{e} Nothing was written."))
    };
    let args = ToolArgs::new("update", arguments).map_err(bad)?;
    args.only(&[
        "bank_type",
        "bank_id",
        "target_file",
        "operation",
        "content",
        "position",
        "trigger_type",
        "conversation_id",
        "update_count",
        "optimize",
    ])
    .map_err(bad)?;
    let text = |name| args.optional_text(name).map_err(bad);
    let kind = bank_type(&args)?
        .ok_or_else(|| bad(args.missing("bank_type", "global, project or code")))?;
    let operation = match text("operation")? {
        None => None,
        Some(word) => Some(TextOperation::parse(&word).ok_or_else(|| {
            let shown: String = word.chars().take(80).collect();
            let message = format!(
                "Invalid operation type {shown:?}; use append, replace or insert. Nothing was written."
            );
            BankError::new(BankErrorCode::InvalidOperation, message)
        })?),
    };
    let optimize = args.flag("optimize").map_err(bad)?.unwrap_or(false);
    let content = match (text("content")?, optimize) {
        (Some(content), _) => content,
        (None, true) => String::new(),
        (None, false) => return Err(bad(args.missing("content", "the text to keep"))),
    };
    let blank = |text: &String| !text.trim().is_empty();
    let request = UpdateRequest {
        selector: BankSelector {
            kind: Some(kind),
            id: Some(args.text("bank_id").map_err(bad)?),
            ..BankSelector::default()
        },
        file: text("target_file")?.filter(blank),
        operation,
        content,
        position: text("position")?.filter(blank),
        trigger: args.choice("trigger_type", &TRIGGERS).map_err(bad)?,
        conversation: text("conversation_id")?.filter(blank),
        count: args.number("update_count", 0, u64::from(u32::MAX)).map_err(bad)?,
        optimize,
    };
    if request.operation == Some(TextOperation::Insert)
        && request.position.is_none()
        && request.file.is_some()
    {
        let message = "An insert needs `position`: the heading under which the text goes. Nothing \
                       was written.";
        return Err(BankError::new(BankErrorCode::InvalidOperation, message));
    }
    if request.content.trim().is_empty()
        && !optimize
        && request.operation != Some(TextOperation::Replace)
    {
        let message = "`content` is empty: there is nothing to keep. Nothing was written.";
        return Err(BankError::new(BankErrorCode::ContentProcessingFailed, message));
    }
    Ok(request)
}

fn update(
    call: &CallContext<'_>,
    request: &UpdateRequest,
    bank: &MemoryBank,
) -> Result<Value, BankError> {
    let key = bank.key();
    let errors = diagnostics::recent(call.memory, &key);
    let (content, mut next_actions) = screen_secrets(call, request.content.clone())?;
    let done = if content.trim().is_empty() && request.optimize {
        None
    } else {
        Some(write(call, request, bank, &content)?)
    };
    let mut answer = json!({
        "status": "success",
        "bank": { "type": bank.kind.as_str(), "id": bank.id, "project": call.settings.banks.project.as_str() },
        "cache_optimized": false,
        "previous_errors": errors,
    });
    if let Some(done) = &done {
        describe_update(call, request, bank, done, &mut answer, &mut next_actions);
    }
    // From here on the update is durable; what fails now is noted, not told as a failure.
    let mut loaded = load(call, bank);
    let tokens = loaded.as_ref().ok().and_then(Option::as_ref).map_or(0, |(bank, _)| bank.tokens());
    if request.optimize || tokens > call.settings.banks.optimize_tokens {
        match deduplicate_bank(call, bank) {
            Ok(Some(commit)) => {
                answer["cache_optimized"] = json!(true);
                answer["optimize_commit"] = json!(commit);
                if !request.optimize {
                    let new_bank =
                        format!("The bank was large; what it said twice was merged ({commit})");
                    diagnostics::record(call.memory, &key, DiagnosticSeverity::Info, &new_bank);
                }
                loaded = load(call, bank);
            }
            Ok(None) => {}
            Err(failure) => diagnostics::record(
                call.memory,
                &key,
                DiagnosticSeverity::Warning,
                &failure.message,
            ),
        }
    } else if tokens > LARGE_TOKENS {
        next_actions.push(format!(
            "The bank has about {tokens} tokens; update with optimize=true merges what is said twice."
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
            call.settings.banks.cache.forget(bank);
            diagnostics::record(call.memory, &key, DiagnosticSeverity::Warning, &failure.message);
        }
    }
    answer["cache_updated"] = json!(in_memory);
    answer["next_actions"] = json!(next_actions);
    Ok(answer)
}

/// Says what was done to which file, and by whose decision.
fn describe_update(
    call: &CallContext<'_>,
    request: &UpdateRequest,
    bank: &MemoryBank,
    done: &UpdateReport,
    answer: &mut Value,
    next_actions: &mut Vec<String>,
) {
    let Placement { file, section, operation, category, confidence } = &done.decided.placement;
    let mut processing = json!({ "path": done.decided.path.as_str() });
    if done.decided.path != DecisionSource::Caller {
        processing["confidence"] = json!(confidence);
        processing["category"] = json!(category);
        if *confidence < 0.5 {
            next_actions.push(format!(
                "Placed in {file} without being sure; next time, say target_file and operation."
            ));
        }
    }
    if let Some(section) = section {
        processing["section"] = json!(section);
    }
    if let Some(reason) = &done.decided.fallback {
        processing["fallback"] = json!(reason);
    }
    if done.is_new_section && done.decided.path != DecisionSource::Rules {
        next_actions.push(format!(
            "{file} had no section {:?}; it was added at the end.",
            section.as_deref().unwrap_or_default()
        ));
    }
    if done.commit.is_none() {
        next_actions.push("The file says this already; nothing was written.".to_owned());
    }
    let summary = call.memory.store().file(&done.place.project, &done.place.path).ok().flatten();
    answer["updated_file"] = json!(file);
    answer["operation"] = json!(operation.as_str());
    answer["verification"] = json!(verification(request, done.commit.as_deref()));
    answer["processing"] = processing;
    answer["commit"] = json!(done.commit);
    answer["permalink"] = json!(summary.map(|summary| summary.permalink));
    call.settings.banks.cache.note_operation(json!({
        "tool": "update", "bank": bank.key(), "file": file, "operation": operation.as_str(),
        "path": done.decided.path.as_str(), "confidence": confidence, "commit": done.commit,
    }));
}

/// Decides where the text goes, and puts it there in one commit.
fn write(
    call: &CallContext<'_>,
    request: &UpdateRequest,
    bank: &MemoryBank,
    content: &str,
) -> Result<UpdateReport, BankError> {
    let decided = decide(call, request, bank, content)?;
    if let Some(reason) = &decided.fallback {
        let description =
            format!("LLM processing failed, using fallback rule-based processing ({reason})");
        diagnostics::record(call.memory, &bank.key(), DiagnosticSeverity::Warning, &description);
    }
    let placement = &decided.placement;
    let project = &call.settings.banks.project;
    let place =
        bank.place(project, &placement.file).ok_or_else(|| outside_bank_error(&placement.file))?;
    let message = message(request, bank, &decided);
    let mut is_new_section = false;
    let outcome = call.memory.revise(&call.who, Some(&message), |desk| {
        let mut steps = Vec::new();
        let mut old = desk.text(&place)?.map(|(text, _)| text);
        // The bank that all conversations share is there from the first word on.
        if old.is_none() && bank.kind == BankType::Global && bank.id == DEFAULT_ID {
            let new_bank = NewBank { name: &bank.id, description: None, remote: None };
            for step in creation_steps(call, bank, &new_bank) {
                if desk.text(&step.place)?.is_some() {
                    continue;
                }
                if step.place == place {
                    old = template::file(bank.kind, &placement.file)
                        .map(|file| template::text(file, &new_bank));
                } else {
                    steps.push(step);
                }
            }
        }
        let old = old.unwrap_or_default();
        if decided.path != DecisionSource::Caller && insert::contains_block(&old, content) {
            return Ok(steps);
        }
        let text = match (placement.operation, &placement.section) {
            (TextOperation::Replace, _) => insert::replaced(content),
            (TextOperation::Insert, Some(section)) => {
                // What a caller says is done exactly so; whoever places for it may also tidy.
                let sentence = match decided.path {
                    DecisionSource::Caller => None,
                    _ => template::placeholder(bank.kind, &placement.file, section),
                };
                let inserted = insert::inserted(&old, section, content, sentence);
                is_new_section = inserted.is_new_section;
                inserted.text
            }
            (TextOperation::Append | TextOperation::Insert, _) => insert::appended(&old, content),
        };
        steps.push(Step::put(place.clone(), text));
        Ok::<_, BankError>(steps)
    })?;
    let commit = match outcome {
        ReviseOutcome::Committed(commit) => Some(commit.id.to_string()),
        ReviseOutcome::Unchanged => None,
        ReviseOutcome::Conflict(_) => {
            let message =
                "Another process made the bank at the same moment; try again. Nothing was written.";
            return Err(BankError::new(BankErrorCode::UpdateFailed, message));
        }
    };
    Ok(UpdateReport { decided, place, commit, is_new_section })
}

fn decide(
    call: &CallContext<'_>,
    request: &UpdateRequest,
    bank: &MemoryBank,
    content: &str,
) -> Result<PlacementDecision, BankError> {
    let loaded = load(call, bank)?.map(|(loaded, _)| loaded);
    let mut files: Vec<(String, Vec<String>)> = Vec::new();
    for file in loaded.iter().flat_map(|loaded| &loaded.files) {
        let sections = headings(&file.text).into_iter().filter(|heading| heading.level == 2);
        let sections = sections.map(|heading| heading.title).take(20).collect();
        files.push((bank.name_of(&file.path).to_owned(), sections));
    }
    for file in template::files(bank.kind) {
        if !files.iter().any(|(name, _)| name == file.path) {
            let sections = file.sections.iter().map(|(name, _)| (*name).to_owned()).collect();
            files.push((file.path.to_owned(), sections));
        }
    }
    let selector = request.file.as_deref().map(|file| target(file, &files)).transpose()?;
    if let Some(file) = selector {
        // A file that was named stays; without an operation, a position says enough.
        let operation = request.operation.unwrap_or(match request.position {
            Some(_) => TextOperation::Insert,
            None => TextOperation::Append,
        });
        let section = request.position.as_deref().map(insert::section_title);
        let section = section.filter(|_| operation == TextOperation::Insert);
        let placement =
            Placement { file, section, operation, category: String::new(), confidence: 1.0 };
        return Ok(PlacementDecision { placement, path: DecisionSource::Caller, fallback: None });
    }
    if request.operation == Some(TextOperation::Replace) {
        let message = "A replace needs `target_file`: it would take the place of all that the file \
                       holds. Nothing was written.";
        return Err(BankError::new(BankErrorCode::InvalidOperation, message));
    }
    let model = call.settings.model.as_deref().filter(|_| !call.is_cancelled());
    let mut decided = placement::decide(
        model,
        &placement::PlacementRequest {
            kind: bank.kind,
            files: &files,
            content,
            trigger: request.trigger.as_deref(),
        },
    );
    let placement = &mut decided.placement;
    match (request.operation, &request.position) {
        (Some(TextOperation::Append), _) => {
            (placement.operation, placement.section) = (TextOperation::Append, None);
        }
        (_, Some(position)) => {
            placement.operation = TextOperation::Insert;
            placement.section = Some(insert::section_title(position));
        }
        _ => {}
    }
    Ok(decided)
}

/// The file that a caller named, within the bank.
fn target(name: &str, files: &[(String, Vec<String>)]) -> Result<String, BankError> {
    let name = name.trim();
    let path = NotePath::parse(name.strip_prefix("./").unwrap_or(name))
        .map_err(|_| outside_bank_error(name))?;
    if path.is_hidden() || path.file_name() == DUMP_FILE {
        return Err(outside_bank_error(name));
    }
    let path = path.as_str().to_owned();
    let with_ending = format!("{path}.md");
    let is_known = |wanted: &str| files.iter().any(|(name, _)| name == wanted);
    if !is_known(&path) && is_known(&with_ending) { Ok(with_ending) } else { Ok(path) }
}

fn outside_bank_error(name: &str) -> BankError {
    let shown: String = name.chars().take(80).collect();
    let message = format!(
        "{shown:?} is no file of a bank; give a path within it, such as doc/design.md. Nothing was \
         written."
    );
    BankError::new(BankErrorCode::UpdateFailed, message)
}

/// Merges what a bank says twice, in one commit; its id, if there was anything to merge.
fn deduplicate_bank(
    call: &CallContext<'_>,
    bank: &MemoryBank,
) -> Result<Option<String>, BankError> {
    let Some((loaded, _)) = load(call, bank)? else { return Ok(None) };
    let places: Vec<Place> = loaded
        .files
        .iter()
        .filter(|file| file.path.as_str().ends_with(".md"))
        .map(|file| Place { project: call.settings.banks.project.clone(), path: file.path.clone() })
        .collect();
    let message = format!("banks: merge what {} says twice", bank.key());
    let outcome = call.memory.revise(&call.who, Some(&message), |desk| {
        let mut steps = Vec::new();
        for place in &places {
            let Some((text, _)) = desk.text(place)? else { continue };
            if let Some(tidy) =
                deduplicate::deduplicated_text(bank.kind, bank.name_of(&place.path), &text)
            {
                steps.push(Step::put(place.clone(), tidy));
            }
        }
        Ok::<_, BankError>(steps)
    })?;
    Ok(match outcome {
        ReviseOutcome::Committed(commit) => Some(commit.id.to_string()),
        ReviseOutcome::Unchanged | ReviseOutcome::Conflict(_) => None,
    })
}

/// Looks for secrets in what is to be kept, and does with them what the person wants.
fn screen_secrets(
    call: &CallContext<'_>,
    content: String,
) -> Result<(String, Vec<String>), BankError> {
    let secrets = secrets::find_secrets(&content);
    if secrets.is_empty() {
        return Ok((content, Vec::new()));
    }
    let mut kinds: Vec<String> =
        secrets.iter().map(|secret| format!("{} (line {})", secret.kind, secret.line)).collect();
    kinds.dedup();
    let kinds = kinds.join(", ");
    match call.settings.secrets {
        SecretPolicy::Refuse => Err(BankError::new(
            BankErrorCode::ContentProcessingFailed,
            format!("The content holds what looks like a secret: {kinds}. Nothing was written."),
        )),
        SecretPolicy::Redact => {
            let new_bank = format!("Replaced what looked like a secret: {kinds}.");
            Ok((secrets::redact_all(&content), vec![new_bank]))
        }
        SecretPolicy::Warn => {
            let new_bank = format!(
                "This looks like a secret: {kinds}. It was saved; remove it if it should not be kept."
            );
            Ok((content, vec![new_bank]))
        }
    }
}

/// The line for the history: what was done, who decided, and in which conversation.
fn message(request: &UpdateRequest, bank: &MemoryBank, decided: &PlacementDecision) -> String {
    let Placement { file, operation, .. } = &decided.placement;
    let mut message = format!(
        "banks: {} {file} of {}, by {}",
        operation.as_str(),
        bank.key(),
        decided.path.as_str()
    );
    if let Some(trigger) = &request.trigger {
        message.push_str(&format!(", {trigger}"));
    }
    if request.count.is_some() || request.conversation.is_some() {
        let count = request.count.map_or(String::new(), |count| format!(" #{count}"));
        message.push_str(&format!(", update{count}"));
        if let Some(conversation) = &request.conversation {
            message.push_str(&format!(" for conversation {}", short(conversation)));
        }
    }
    message
}

/// What the model shows as proof that it kept something.
fn verification(request: &UpdateRequest, commit: Option<&str>) -> String {
    let conversation = request.conversation.as_deref().map(short);
    match (request.count, conversation, commit) {
        (Some(count), Some(id), _) => format!("// Update #{count} for conversation {id}"),
        (Some(count), None, _) => format!("// Update #{count}"),
        (None, Some(id), _) => format!("// Update for conversation {id}"),
        (None, None, Some(commit)) => format!("// Update {commit}"),
        (None, None, None) => "// No update".to_owned(),
    }
}

fn short(conversation: &str) -> String {
    conversation.chars().filter(|c| !c.is_control()).take(MAX_CONVERSATION_CHARS).collect()
}

//! `update`: what was said, in the right file, durable before the answer.

use memoranda_core::path::NotePath;
use memoranda_core::screen;
use memoranda_engine::{Place, ReviseOutcome, Step};
use serde_json::{Value, json};

use super::activate::{LARGE_TOKENS, birth, load};
use super::bank::{Bank, BankType, DUMP};
use super::detect::{self, Asked, DEFAULT_ID};
use super::failure::{Code, Failure};
use super::outline::headings;
use super::place::{self, Operation};
use super::proposal::{self, Decided, Path, Placement};
use super::template::{self, Birth};
use super::trouble::{self, Severity};
use super::{bank_type, dump, named, optimise};
use crate::registry::{ArgsError, CallContext, ToolArgs, ToolResult};
use crate::settings::SecretPolicy;

/// What can have made the caller write.
pub(super) const TRIGGERS: [&str; 6] =
    ["watchdog", "architecture", "technology", "progress", "commit", "user_request"];
/// The longest name of a conversation that is kept.
const MAX_CONVERSATION_CHARS: usize = 100;

/// What was asked.
struct Request {
    asked: Asked,
    file: Option<String>,
    operation: Option<Operation>,
    content: String,
    position: Option<String>,
    trigger: Option<String>,
    conversation: Option<String>,
    count: Option<u64>,
    optimize: bool,
}

/// What was done.
struct Done {
    decided: Decided,
    place: Place,
    commit: Option<String>,
    is_new_section: bool,
}

pub(super) fn handler(call: &CallContext<'_>, arguments: Value) -> ToolResult {
    let mut key = named(&arguments);
    let done = request(arguments).and_then(|request| {
        let meant = detect::meant(call, &request.asked, Code::BankNotFound)?;
        let is_shared = meant.bank.kind == BankType::Global && meant.may_be_made;
        if !meant.exists && !is_shared {
            return Err(detect::not_found(call, &meant.bank));
        }
        key = meant.bank.key();
        update(call, &request, &meant.bank)
    });
    match done {
        Ok(structured) => ToolResult::ok(structured.to_string(), structured),
        Err(failure) => failure.answer(call.memory, &key, "update content"),
    }
}

fn request(arguments: Value) -> Result<Request, Failure> {
    let bad = |e: ArgsError| Failure::new(Code::UpdateFailed, format!("{e} Nothing was written."));
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
        Some(word) => Some(Operation::parse(&word).ok_or_else(|| {
            let shown: String = word.chars().take(80).collect();
            let message = format!(
                "Invalid operation type {shown:?}; use append, replace or insert. Nothing was written."
            );
            Failure::new(Code::InvalidOperation, message)
        })?),
    };
    let optimize = args.flag("optimize").map_err(bad)?.unwrap_or(false);
    let content = match (text("content")?, optimize) {
        (Some(content), _) => content,
        (None, true) => String::new(),
        (None, false) => return Err(bad(args.missing("content", "the text to keep"))),
    };
    let blank = |text: &String| !text.trim().is_empty();
    let request = Request {
        asked: Asked {
            kind: Some(kind),
            id: Some(args.text("bank_id").map_err(bad)?),
            ..Asked::default()
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
    if request.operation == Some(Operation::Insert)
        && request.position.is_none()
        && request.file.is_some()
    {
        let message = "An insert needs `position`: the heading under which the text goes. Nothing \
                       was written.";
        return Err(Failure::new(Code::InvalidOperation, message));
    }
    if request.content.trim().is_empty()
        && !optimize
        && request.operation != Some(Operation::Replace)
    {
        let message = "`content` is empty: there is nothing to keep. Nothing was written.";
        return Err(Failure::new(Code::ContentProcessingFailed, message));
    }
    Ok(request)
}

fn update(call: &CallContext<'_>, request: &Request, bank: &Bank) -> Result<Value, Failure> {
    let key = bank.key();
    let errors = trouble::recent(call.memory, &key);
    let (content, mut next_actions) = screened(call, request.content.clone())?;
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
        tell(call, request, bank, done, &mut answer, &mut next_actions);
    }
    // From here on the update is durable; what fails now is noted, not told as a failure.
    let mut loaded = load(call, bank);
    let tokens = loaded.as_ref().ok().and_then(Option::as_ref).map_or(0, |(bank, _)| bank.tokens());
    if request.optimize || tokens > call.settings.banks.optimize_tokens {
        match optimized(call, bank) {
            Ok(Some(commit)) => {
                answer["cache_optimized"] = json!(true);
                answer["optimize_commit"] = json!(commit);
                if !request.optimize {
                    let told =
                        format!("The bank was large; what it said twice was merged ({commit})");
                    trouble::record(call.memory, &key, Severity::Info, &told);
                }
                loaded = load(call, bank);
            }
            Ok(None) => {}
            Err(failure) => trouble::record(call.memory, &key, Severity::Warning, &failure.message),
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
            trouble::record(call.memory, &key, Severity::Warning, &failure.message);
        }
    }
    answer["cache_updated"] = json!(in_memory);
    answer["next_actions"] = json!(next_actions);
    Ok(answer)
}

/// Says what was done to which file, and by whose decision.
fn tell(
    call: &CallContext<'_>,
    request: &Request,
    bank: &Bank,
    done: &Done,
    answer: &mut Value,
    next_actions: &mut Vec<String>,
) {
    let Placement { file, section, operation, category, confidence } = &done.decided.placement;
    let mut processing = json!({ "path": done.decided.path.as_str() });
    if done.decided.path != Path::Caller {
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
    if done.is_new_section && done.decided.path != Path::Rules {
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
    request: &Request,
    bank: &Bank,
    content: &str,
) -> Result<Done, Failure> {
    let decided = decide(call, request, bank, content)?;
    if let Some(reason) = &decided.fallback {
        let description =
            format!("LLM processing failed, using fallback rule-based processing ({reason})");
        trouble::record(call.memory, &bank.key(), Severity::Warning, &description);
    }
    let placement = &decided.placement;
    let project = &call.settings.banks.project;
    let place = bank.place(project, &placement.file).ok_or_else(|| escape(&placement.file))?;
    let message = message(request, bank, &decided);
    let mut is_new_section = false;
    let outcome = call.memory.revise(&call.who, Some(&message), |desk| {
        let mut steps = Vec::new();
        let mut old = desk.text(&place)?.map(|(text, _)| text);
        // The bank that all conversations share is there from the first word on.
        if old.is_none() && bank.kind == BankType::Global && bank.id == DEFAULT_ID {
            let told = Birth { name: &bank.id, description: None, remote: None };
            for step in birth(call, bank, &told) {
                if desk.text(&step.place)?.is_some() {
                    continue;
                }
                if step.place == place {
                    old = template::file(bank.kind, &placement.file)
                        .map(|file| template::text(file, &told));
                } else {
                    steps.push(step);
                }
            }
        }
        let old = old.unwrap_or_default();
        if decided.path != Path::Caller && place::holds(&old, content) {
            return Ok(steps);
        }
        let text = match (placement.operation, &placement.section) {
            (Operation::Replace, _) => place::replaced(content),
            (Operation::Insert, Some(section)) => {
                // What a caller says is done exactly so; whoever places for it may also tidy.
                let sentence = match decided.path {
                    Path::Caller => None,
                    _ => template::placeholder(bank.kind, &placement.file, section),
                };
                let inserted = place::inserted(&old, section, content, sentence);
                is_new_section = inserted.is_new_section;
                inserted.text
            }
            (Operation::Append | Operation::Insert, _) => place::appended(&old, content),
        };
        steps.push(Step::put(place.clone(), text));
        Ok::<_, Failure>(steps)
    })?;
    let commit = match outcome {
        ReviseOutcome::Committed(commit) => Some(commit.id.to_string()),
        ReviseOutcome::Unchanged => None,
        ReviseOutcome::Conflict(_) => {
            let message =
                "Another process made the bank at the same moment; try again. Nothing was written.";
            return Err(Failure::new(Code::UpdateFailed, message));
        }
    };
    Ok(Done { decided, place, commit, is_new_section })
}

fn decide(
    call: &CallContext<'_>,
    request: &Request,
    bank: &Bank,
    content: &str,
) -> Result<Decided, Failure> {
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
    let asked = request.file.as_deref().map(|file| target(file, &files)).transpose()?;
    if let Some(file) = asked {
        // A file that was named stays; without an operation, a position says enough.
        let operation = request.operation.unwrap_or(match request.position {
            Some(_) => Operation::Insert,
            None => Operation::Append,
        });
        let section = request.position.as_deref().map(place::section_title);
        let section = section.filter(|_| operation == Operation::Insert);
        let placement =
            Placement { file, section, operation, category: String::new(), confidence: 1.0 };
        return Ok(Decided { placement, path: Path::Caller, fallback: None });
    }
    if request.operation == Some(Operation::Replace) {
        let message = "A replace needs `target_file`: it would take the place of all that the file \
                       holds. Nothing was written.";
        return Err(Failure::new(Code::InvalidOperation, message));
    }
    let model = call.settings.model.as_deref().filter(|_| !call.is_cancelled());
    let mut decided = proposal::decide(
        model,
        &proposal::Request {
            kind: bank.kind,
            files: &files,
            content,
            trigger: request.trigger.as_deref(),
        },
    );
    let placement = &mut decided.placement;
    match (request.operation, &request.position) {
        (Some(Operation::Append), _) => {
            (placement.operation, placement.section) = (Operation::Append, None);
        }
        (_, Some(position)) => {
            placement.operation = Operation::Insert;
            placement.section = Some(place::section_title(position));
        }
        _ => {}
    }
    Ok(decided)
}

/// The file that a caller named, within the bank.
fn target(name: &str, files: &[(String, Vec<String>)]) -> Result<String, Failure> {
    let name = name.trim();
    let path =
        NotePath::parse(name.strip_prefix("./").unwrap_or(name)).map_err(|_| escape(name))?;
    if path.is_hidden() || path.file_name() == DUMP {
        return Err(escape(name));
    }
    let path = path.as_str().to_owned();
    let with_ending = format!("{path}.md");
    let is_known = |wanted: &str| files.iter().any(|(name, _)| name == wanted);
    if !is_known(&path) && is_known(&with_ending) { Ok(with_ending) } else { Ok(path) }
}

fn escape(name: &str) -> Failure {
    let shown: String = name.chars().take(80).collect();
    let message = format!(
        "{shown:?} is no file of a bank; give a path within it, such as doc/design.md. Nothing was \
         written."
    );
    Failure::new(Code::UpdateFailed, message)
}

/// Merges what a bank says twice, in one commit; its id, if there was anything to merge.
fn optimized(call: &CallContext<'_>, bank: &Bank) -> Result<Option<String>, Failure> {
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
            if let Some(tidy) = optimise::tidied(bank.kind, bank.name_of(&place.path), &text) {
                steps.push(Step::put(place.clone(), tidy));
            }
        }
        Ok::<_, Failure>(steps)
    })?;
    Ok(match outcome {
        ReviseOutcome::Committed(commit) => Some(commit.id.to_string()),
        ReviseOutcome::Unchanged | ReviseOutcome::Conflict(_) => None,
    })
}

/// Looks for secrets in what is to be kept, and does with them what the person wants.
fn screened(call: &CallContext<'_>, content: String) -> Result<(String, Vec<String>), Failure> {
    let secrets = screen::secrets(&content);
    if secrets.is_empty() {
        return Ok((content, Vec::new()));
    }
    let mut kinds: Vec<String> =
        secrets.iter().map(|secret| format!("{} (line {})", secret.kind, secret.line)).collect();
    kinds.dedup();
    let kinds = kinds.join(", ");
    match call.settings.secrets {
        SecretPolicy::Refuse => Err(Failure::new(
            Code::ContentProcessingFailed,
            format!("The content holds what looks like a secret: {kinds}. Nothing was written."),
        )),
        SecretPolicy::Redact => {
            let told = format!("Replaced what looked like a secret: {kinds}.");
            Ok((screen::redact(&content), vec![told]))
        }
        SecretPolicy::Warn => {
            let told = format!(
                "This looks like a secret: {kinds}. It was saved; remove it if it should not be kept."
            );
            Ok((content, vec![told]))
        }
    }
}

/// The line for the history: what was done, who decided, and in which conversation.
fn message(request: &Request, bank: &Bank, decided: &Decided) -> String {
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
fn verification(request: &Request, commit: Option<&str>) -> String {
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

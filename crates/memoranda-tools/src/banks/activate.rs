//! `activate`: the bank that a conversation begins with, made if the caller said what it is to be.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use memoranda_engine::{ReviseOutcome, Step};
use serde_json::{Map, Value, json};

use super::bank::{BankType, MemoryBank};
use super::cache::{CacheHit, LoadedBank};
use super::diagnostics::{self, DiagnosticSeverity};
use super::error::{BankError, BankErrorCode};
use super::excerpt::{self, BankExcerpt};
use super::instructions::custom_instructions;
use super::resolve::{self, BankSelector, ResolvedBank};
use super::template::{self, NewBank};
use super::{bank_type, call_bank_key, dump};
use crate::registry::{ArgsError, CallContext, ToolArgs, ToolResult};

/// A bank larger than this reads better tidied.
pub(crate) const LARGE_TOKENS: usize = 6000;
/// More names than this are counted, not listed.
const MAX_NAMES: usize = 100;
/// What one file that is cut adds to the answer beside its text.
const CUT_BYTES: usize = 240;
/// The fewest and the most tokens that an answer can be held to.
const MIN_ANSWER_TOKENS: u64 = 1500;
const MAX_ANSWER_TOKENS: u64 = 25_000;

/// What was asked.
struct ActivateRequest {
    selector: BankSelector,
    /// One file, from a line on, instead of the whole bank.
    file: Option<(String, usize)>,
    tokens: usize,
}

pub(super) fn handler(call: &CallContext<'_>, arguments: Value) -> ToolResult {
    let key = call_bank_key(&arguments);
    let done = request(call, arguments).and_then(|request| {
        let resolved =
            resolve::resolve_bank(call, &request.selector, BankErrorCode::ActivationFailed)?;
        activate(call, &request, &resolved)
    });
    match done {
        Ok(structured) => ToolResult::ok(structured.to_string(), structured),
        Err(failure) => failure.answer(call.memory, &key, "activate the bank"),
    }
}

fn request(call: &CallContext<'_>, arguments: Value) -> Result<ActivateRequest, BankError> {
    let bad = |e: ArgsError| BankError::new(BankErrorCode::ActivationFailed, e.to_string());
    let args = ToolArgs::new("activate", arguments).map_err(bad)?;
    args.only(&[
        "bank_type",
        "bank_id",
        "current_path",
        "project_name",
        "project_description",
        "file",
        "from_line",
        "max_tokens",
    ])
    .map_err(bad)?;
    let text = |name| args.optional_text(name).map_err(bad);
    let line = args.number("from_line", 1, u64::from(u32::MAX)).map_err(bad)?.unwrap_or(1);
    let tokens = args.number("max_tokens", MIN_ANSWER_TOKENS, MAX_ANSWER_TOKENS).map_err(bad)?;
    let tokens = tokens.and_then(|tokens| usize::try_from(tokens).ok());
    Ok(ActivateRequest {
        selector: BankSelector {
            kind: bank_type(&args)?,
            id: text("bank_id")?,
            path: text("current_path")?.filter(|path| !path.is_empty()).map(PathBuf::from),
            name: text("project_name")?,
            description: text("project_description")?.filter(|text| !text.trim().is_empty()),
        },
        file: text("file")?.map(|file| (file, usize::try_from(line).unwrap_or(usize::MAX))),
        tokens: tokens.unwrap_or(call.settings.banks.answer_tokens),
    })
}

fn activate(
    call: &CallContext<'_>,
    request: &ActivateRequest,
    resolved: &ResolvedBank,
) -> Result<Value, BankError> {
    let bank = &resolved.bank;
    let mut made = None;
    let loaded = match load(call, bank)? {
        Some(loaded) => loaded,
        None if resolved.may_be_made => {
            made = make(call, resolved, &request.selector)?;
            let gone = || {
                BankError::new(
                    BankErrorCode::CacheLoadFailed,
                    "The bank was made and is gone again.",
                )
            };
            load(call, bank)?.ok_or_else(gone)?
        }
        None => return Err(resolve::not_found(call, bank)),
    };
    let (loaded, hit) = loaded;
    for (file, reason) in &loaded.unreadable {
        let description = format!("{file} cannot be read: {reason}");
        diagnostics::record(call.memory, &bank.key(), DiagnosticSeverity::Warning, &description);
    }
    for file in &loaded.files {
        call.memory.store().note_use(&call.settings.banks.project, &file.path);
    }
    let answer = match &request.file {
        None => whole(call, request, resolved, &loaded, hit, made.as_deref()),
        Some((file, line)) => one_file(call, request, resolved, &loaded, file, *line)?,
    };
    call.settings.banks.cache.note_operation(json!({
        "tool": "activate", "bank": bank.key(), "cache_hit": hit == CacheHit::Yes,
        "tokens": loaded.tokens(),
    }));
    dump::write(call, bank, &loaded);
    Ok(answer)
}

/// A bank as it is now.
pub(super) fn load(
    call: &CallContext<'_>,
    bank: &MemoryBank,
) -> Result<Option<(Arc<LoadedBank>, CacheHit)>, BankError> {
    let banks = &call.settings.banks;
    let loaded = banks.cache.load(call.memory, &banks.project, bank);
    loaded.map_err(|e| BankError::from_engine(BankErrorCode::CacheLoadFailed, &e))
}

/// The steps that make a bank.
pub(super) fn creation_steps(
    call: &CallContext<'_>,
    bank: &MemoryBank,
    creation_steps: &NewBank<'_>,
) -> Vec<Step> {
    let files = template::files(bank.kind).iter();
    let steps = files.filter_map(|file| {
        let place = bank.place(&call.settings.banks.project, file.path)?;
        Some(Step::create(place, template::text(file, creation_steps)))
    });
    steps.collect()
}

/// Makes a bank in one commit, unless somebody else just did.
fn make(
    call: &CallContext<'_>,
    resolved: &ResolvedBank,
    selector: &BankSelector,
) -> Result<Option<String>, BankError> {
    let bank = &resolved.bank;
    let repository = resolved.repository.as_ref();
    let name = selector.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let name = name.or(repository.map(|repository| repository.name.as_str()));
    let new_bank = NewBank {
        name: name.unwrap_or(&bank.id),
        description: selector.description.as_deref(),
        remote: repository.and_then(|repository| repository.remote.as_deref()),
    };
    let message = format!("banks: make {}", bank.key());
    let outcome = call.memory.revise(&call.who, Some(&message), |desk| {
        let steps = creation_steps(call, bank, &new_bank);
        for step in &steps {
            if desk.text(&step.place)?.is_some() {
                return Ok(Vec::new());
            }
        }
        Ok::<_, BankError>(steps)
    })?;
    match outcome {
        ReviseOutcome::Committed(commit) => Ok(Some(commit.id.to_string())),
        ReviseOutcome::Unchanged | ReviseOutcome::Conflict(_) => Ok(None),
    }
}

/// The whole bank with its instructions, within the budget.
fn whole(
    call: &CallContext<'_>,
    request: &ActivateRequest,
    resolved: &ResolvedBank,
    loaded: &LoadedBank,
    hit: CacheHit,
    made: Option<&str>,
) -> Value {
    let bank = &resolved.bank;
    let mut answer = json!({
        "status": "success",
        "bank_info": info(call, resolved, loaded, hit),
        "content": {},
        "custom_instructions": custom_instructions(bank, resolved.repository.as_ref()),
    });
    if let Some(commit) = made {
        answer["bank_info"]["created"] = json!(true);
        answer["bank_info"]["commit"] = json!(commit);
    }
    let files = in_order(bank, loaded);
    let fixed = answer.to_string().len();
    let room = (request.tokens * 4).saturating_sub(fixed + 200);
    let shown = excerpt::choose(bank, &files, room, CUT_BYTES);
    add(&mut answer, shown, room);
    answer
}

fn add(answer: &mut Value, shown: BankExcerpt, room: usize) {
    let content: Map<String, Value> =
        shown.files.into_iter().map(|(name, text)| (name, Value::String(text))).collect();
    answer["content"] = Value::Object(content);
    if shown.cut.is_empty() {
        return;
    }
    let most = (room / 2 / CUT_BYTES).clamp(1, MAX_NAMES);
    let cut: Vec<Value> = shown
        .cut
        .iter()
        .take(most)
        .map(|cut| {
            json!({
                "file": cut.file, "tokens": cut.tokens, "shown_tokens": cut.shown_tokens,
                "read_with": cut.read_with,
            })
        })
        .collect();
    answer["bank_info"]["cut"] = json!(cut);
    if shown.cut.len() > most {
        answer["bank_info"]["cut_more"] = json!(shown.cut.len() - most);
    }
}

/// One file from a line on.
fn one_file(
    call: &CallContext<'_>,
    request: &ActivateRequest,
    resolved: &ResolvedBank,
    loaded: &LoadedBank,
    file: &str,
    line: usize,
) -> Result<Value, BankError> {
    let bank = &resolved.bank;
    let found = loaded.file(bank, file.trim()).ok_or_else(|| {
        let names: Vec<&str> = in_order(bank, loaded).iter().map(|(name, _)| *name).collect();
        let message =
            format!("There is no file {file:?} in {}; it has {}.", bank.key(), names.join(", "));
        BankError::new(BankErrorCode::ActivationFailed, message)
    })?;
    let name = bank.name_of(&found.path).to_owned();
    let mut answer = json!({
        "status": "success",
        "bank_info": {
            "type": bank.kind.as_str(), "id": bank.id,
            "project": call.settings.banks.project.as_str(), "files": [name],
            "last_updated": format_seconds(found.modified),
            "from_line": line, "lines": found.text.lines().count(),
        },
    });
    let room = (request.tokens * 4).saturating_sub(answer.to_string().len() + CUT_BYTES);
    let (part, next) = excerpt::from_line(&found.text, line, room);
    if let Some(next) = next {
        let read_with = excerpt::reading_call(bank, &name, next);
        answer["bank_info"]["cut"] = json!([{ "file": name, "read_with": read_with }]);
    }
    let mut content = Map::new();
    content.insert(name, Value::String(part));
    answer["content"] = Value::Object(content);
    Ok(answer)
}

/// The files with their texts: those of the template first, in its order.
pub(super) fn in_order<'l>(bank: &MemoryBank, loaded: &'l LoadedBank) -> Vec<(&'l str, &'l str)> {
    let template = template::files(bank.kind);
    let mut files: Vec<(usize, &str, &str)> = loaded
        .files
        .iter()
        .map(|file| {
            // The name is part of the path, which lives as long as the bank in memory.
            let name = bank.name_of(&file.path);
            let place = template.iter().position(|file| file.path == name);
            (place.unwrap_or(usize::MAX), name, &*file.text)
        })
        .collect();
    files.sort_by_key(|(place, name, _)| (*place, *name));
    files.into_iter().map(|(_, name, text)| (name, text)).collect()
}

fn info(
    call: &CallContext<'_>,
    resolved: &ResolvedBank,
    loaded: &LoadedBank,
    hit: CacheHit,
) -> Value {
    let bank = &resolved.bank;
    let names: Vec<&str> =
        in_order(bank, loaded).into_iter().map(|(name, _)| name).take(MAX_NAMES).collect();
    let updated = loaded.files.iter().map(|file| file.modified).max().unwrap_or_default();
    let tokens = loaded.tokens();
    let mut info = json!({
        "type": bank.kind.as_str(),
        "id": bank.id,
        "files": names,
        "last_updated": format_seconds(updated),
        "project": call.settings.banks.project.as_str(),
        "folder": bank.folder().as_str(),
        "bytes": loaded.bytes(),
        "cache_info": {
            "cache_hit": hit == CacheHit::Yes,
            "approximate_tokens": tokens,
            "optimization_recommended": tokens > LARGE_TOKENS,
        },
    });
    if loaded.files.len() > MAX_NAMES {
        info["files_more"] = json!(loaded.files.len() - MAX_NAMES);
    }
    if !loaded.unreadable.is_empty() {
        info["unreadable"] =
            json!(loaded.unreadable.iter().map(|(name, _)| name).collect::<Vec<_>>());
    }
    if let Some(repository) = resolved.repository.as_ref().filter(|_| bank.kind == BankType::Code) {
        info["repository"] = json!({
            "name": repository.name, "branch": repository.branch, "remote": repository.remote,
        });
    }
    info
}

/// A time to the second, as clients know it.
pub(super) fn format_seconds(time: Timestamp) -> String {
    let whole = Timestamp::from_second(time.as_second());
    whole.unwrap_or(time).to_string()
}

//! `activate`: the bank of a conversation, created if the caller describes it.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use memoranda_engine::banks::{
    BankSelector, BankType, CacheHit, DiagnosticSeverity, LoadedBank, MemoryBank, ResolvedBank,
    bank_ids, create_bank, ordered_files, resolve_bank,
};
use serde_json::{Map, Value, json};

use super::error::{self, BankErrorCode, about_bank, record_problem, render_error};
use super::excerpt::{self, BankExcerpt};
use super::instructions::custom_instructions;
use super::{bank_type, call_bank_key, dump, kind};
use crate::registry::{
    ArgsError, CallContext, Param, ParamTable, ToolArgs, ToolDef, ToolError, ToolHints, ToolReach,
    ToolResult, ToolTier, Toolset,
};

/// Size in tokens from which removing repetitions is recommended.
pub(super) const LARGE_TOKENS: usize = 6000;
/// Maximum number of listed files. The others are counted.
const MAX_NAMES: usize = 100;
/// Size of the note about a cut file, in bytes.
const CUT_BYTES: usize = 240;

/// The arguments of a call.
struct ActivateRequest {
    selector: BankSelector,
    /// File and first line, instead of the whole bank.
    file: Option<(String, usize)>,
    tokens: usize,
}

pub(super) const TOOL: ToolDef = ToolDef {
    name: "activate",
    title: "Activate memory bank",
    description: "Load a memory bank: its files, and instructions \
        that keep it current. bank_id `auto` finds it: the git repository of current_path \
        (code), project_name (project), the shared bank (global). A project or code bank that \
        does not exist is made if project_name or a repository says what it is. A large bank \
        comes cut to a budget, with the calls that read the rest.",
    toolset: Toolset::Banks,
    reach: ToolReach::OwnProject,
    tier: ToolTier::Default,
    hints: ToolHints { read_only: false, destructive: false, idempotent: true, open_world: false },
    params: PARAMS,
    run,
    output,
    max_chars: 120_000,
    render_error: |call, error| render_error(call, &error, "activate the bank"),
    ..ToolDef::BASE
};

/// Parameters of the tool. The tool rejects unknown ones itself, to record the error with the bank.
const PARAMS: ParamTable = ParamTable::new(&[&[
    kind("Type of bank").required(),
    Param::text("bank_id", "Id of the bank; `auto` finds it").required(),
    Param::text("current_path", "Folder you work in, to find the repository"),
    Param::text("project_name", "Name of the project; makes the bank if it is new"),
    Param::text("project_description", "What it is about, for a new bank"),
    Param::text("file", "Read only this file of the bank"),
    Param::integer("from_line", 1, u32::MAX as u64, "Line of `file` to read from")
        .hide_max()
        .default_integer(1),
    Param::integer("max_tokens", 1500, 25_000, "Size of the answer, about 6000 unless said"),
    Param::text("conversation_type", "The type of bank in a later specification").hidden(),
]])
.defer_unknown();

fn run(call: &CallContext<'_>, args: &ToolArgs) -> Result<ToolResult, ToolError> {
    let done = request(call, args).and_then(|request| {
        let resolved = resolve(call, &request.selector, BankErrorCode::ActivationFailed)?;
        activate(call, &request, &resolved)
    });
    match done {
        Ok(structured) => Ok(ToolResult::ok(structured.to_string(), structured)),
        Err(error) => Err(about_bank(error, &call_bank_key(args))),
    }
}

fn request(call: &CallContext<'_>, args: &ToolArgs) -> Result<ActivateRequest, ToolError> {
    let bad = |error: ArgsError| BankErrorCode::ActivationFailed.of_arguments(&error);
    args.reject_unknown().map_err(bad)?;
    let text = |name| args.optional_text(name).map_err(bad);
    let line = args.integer("from_line").map_err(bad)?;
    let tokens = args.optional_integer("max_tokens").map_err(bad)?;
    Ok(ActivateRequest {
        selector: BankSelector {
            kind: requested_kind(args)?,
            id: text("bank_id")?,
            path: text("current_path")?.filter(|path| !path.is_empty()).map(PathBuf::from),
            name: text("project_name")?,
            description: text("project_description")?.filter(|text| !text.trim().is_empty()),
        },
        file: text("file")?.map(|file| (file, line)),
        tokens: tokens.unwrap_or(call.settings.banks.answer_tokens),
    })
}

/// Returns the type of the requested bank. The later specification calls it `conversation_type`, and
/// its `project` includes repositories.
fn requested_kind(args: &ToolArgs) -> Result<Option<BankType>, ToolError> {
    let bad = |error: ArgsError| BankErrorCode::ActivationFailed.of_arguments(&error);
    let given = bank_type(args)?;
    let Some(word) = args.optional_text("conversation_type").map_err(bad)? else {
        return Ok(given);
    };
    let kind = BankType::parse(&word).ok_or_else(|| {
        let shown: String = word.chars().take(80).collect();
        let message = format!("Invalid conversation type {shown:?}; use global or project.");
        BankErrorCode::InvalidBankType.error(message)
    })?;
    let has_name = args.optional_text("project_name").map_err(bad)?.is_some();
    Ok(given.or(Some(kind).filter(|kind| *kind != BankType::Project || has_name)))
}

fn activate(
    call: &CallContext<'_>,
    request: &ActivateRequest,
    resolved: &ResolvedBank,
) -> Result<Value, ToolError> {
    let bank = &resolved.bank;
    let mut made = None;
    let loaded = match load(call, bank)? {
        Some(loaded) => loaded,
        None if resolved.may_be_created => {
            let project = &call.settings.banks.project;
            let created = create_bank(call.memory, &call.who, project, resolved, &request.selector);
            made = created
                .map_err(|error| BankErrorCode::UpdateFailed.of_bank(error))?
                .map(|commit| commit.id.to_string());
            let gone =
                || BankErrorCode::CacheLoadFailed.error("The bank was made and is gone again.");
            load(call, bank)?.ok_or_else(gone)?
        }
        None => return Err(not_found(call, bank)),
    };
    let (loaded, hit) = loaded;
    for (file, reason) in &loaded.unreadable {
        let description = format!("{file} cannot be read: {reason}");
        record_problem(call.memory, &bank.key(), DiagnosticSeverity::Warning, &description);
    }
    loaded.note_use(call.memory, &call.settings.banks.project);
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

/// Finds the bank that a call selects.
pub(super) fn resolve(
    call: &CallContext<'_>,
    selector: &BankSelector,
    code: BankErrorCode,
) -> Result<ResolvedBank, ToolError> {
    let (project, workspace) = (&call.settings.banks.project, call.settings.workspace.as_deref());
    resolve_bank(call.memory, project, workspace, selector).map_err(|error| code.of_bank(error))
}

/// Renders the error about a bank that does not exist.
pub(super) fn not_found(call: &CallContext<'_>, bank: &MemoryBank) -> ToolError {
    let known = bank_ids(call.memory, &call.settings.banks.project, bank.kind).unwrap_or_default();
    error::not_found(bank.kind, &bank.id, &known)
}

/// Loads the current files of a bank.
pub(super) fn load(
    call: &CallContext<'_>,
    bank: &MemoryBank,
) -> Result<Option<(Arc<LoadedBank>, CacheHit)>, ToolError> {
    let banks = &call.settings.banks;
    let loaded = banks.cache.load(call.memory, &banks.project, bank);
    loaded.map_err(|e| BankErrorCode::CacheLoadFailed.of_engine(&e))
}

/// Renders the whole bank with its instructions, within the budget.
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
    let files = ordered_files(bank, loaded);
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

/// Renders one file from a line on.
fn one_file(
    call: &CallContext<'_>,
    request: &ActivateRequest,
    resolved: &ResolvedBank,
    loaded: &LoadedBank,
    file: &str,
    line: usize,
) -> Result<Value, ToolError> {
    let bank = &resolved.bank;
    let found = loaded.file(bank, file.trim()).ok_or_else(|| {
        let names: Vec<&str> = ordered_files(bank, loaded).iter().map(|(name, _)| *name).collect();
        let message =
            format!("There is no file {file:?} in {}; it has {}.", bank.key(), names.join(", "));
        BankErrorCode::ActivationFailed.error(message)
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

fn info(
    call: &CallContext<'_>,
    resolved: &ResolvedBank,
    loaded: &LoadedBank,
    hit: CacheHit,
) -> Value {
    let bank = &resolved.bank;
    let names: Vec<&str> =
        ordered_files(bank, loaded).into_iter().map(|(name, _)| name).take(MAX_NAMES).collect();
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

/// Formats a time in whole seconds.
pub(super) fn format_seconds(time: Timestamp) -> String {
    let whole = Timestamp::from_second(time.as_second());
    whole.unwrap_or(time).to_string()
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": { "type": "string" },
            "bank_info": { "type": "object" },
            "content": { "type": "object" },
            "custom_instructions": { "type": "object" },
            "error": { "type": "string" },
            "code": { "type": "string" },
            "previous_errors": { "type": "array" }
        }
    })
}

//! `memoranda bank`: the banks that agents keep, as a person sees them.

use clap::Subcommand;
use memoranda_engine::banks::{
    BankError, BankFile, BankOverview, BankType, all_diagnostics, bank_overview, bank_overviews,
};
use memoranda_tools::ToolSettings;
use serde::Serialize;

use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::{FAINT, OutputFormat, PLACE, STRONG, counted, visible_lines};
use crate::table::{self, TableColumn};
use crate::time;

/// List and look at memory banks.
///
/// A bank is what an agent's conversation begins with: a folder of notes in the project `banks`,
/// one for everything (global), one for each project, one for each repository (code). Without a
/// command: the list.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda bank list
  memoranda bank show code my-repo
  memoranda bank show code my-repo doc/api.md
  memoranda bank stats")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<BankAction>,
}

#[derive(Subcommand)]
enum BankAction {
    /// List the banks, the last used first.
    #[command(after_long_help = "\
Examples:
  memoranda bank list
  memoranda bank list project

JSON (--json):
  {banks: [{type, id, description, last_used, folder, files, tokens, bytes}]}")]
    List {
        /// Only banks of this type.
        #[arg(value_name = "TYPE", value_parser = parse_bank_type)]
        kind: Option<BankType>,
    },

    /// Show a bank's files, or the text of one of them.
    #[command(after_long_help = "\
Examples:
  memoranda bank show global default
  memoranda bank show code my-repo doc/api.md

JSON (--json):
  {type, id, description, last_used, folder, tokens, bytes, files: [{name, tokens, bytes, text}]};
  with FILE {name, tokens, bytes, text}")]
    Show {
        /// The bank's type: global, project or code.
        #[arg(value_name = "TYPE", value_parser = parse_bank_type)]
        kind: BankType,
        /// The bank's id.
        id: String,
        /// One of its files.
        file: Option<String>,
    },

    /// Show how large the banks are, who placed their texts, and what went wrong lately.
    #[command(after_long_help = "\
Examples:
  memoranda bank stats

JSON (--json):
  {banks: [{type, id, files, tokens, bytes, placed_by: {caller, model, rules}}],
  troubles: [{time, bank, severity, description}]}")]
    Stats,
}

#[derive(Serialize)]
struct BankListJson {
    banks: Vec<BankJson>,
}

#[derive(Serialize)]
struct BankJson {
    #[serde(rename = "type")]
    kind: &'static str,
    id: String,
    description: String,
    last_used: Option<String>,
    folder: String,
    files: usize,
    tokens: usize,
    bytes: usize,
}

#[derive(Serialize)]
struct BankDetailJson {
    #[serde(rename = "type")]
    kind: &'static str,
    id: String,
    description: String,
    last_used: Option<String>,
    folder: String,
    tokens: usize,
    bytes: usize,
    files: Vec<BankFileJson>,
}

#[derive(Serialize)]
struct BankFileJson {
    name: String,
    tokens: usize,
    bytes: usize,
    text: String,
}

#[derive(Serialize)]
struct AllBankStatsJson {
    banks: Vec<BankStatsJson>,
    troubles: Vec<BankTroubleJson>,
}

#[derive(Serialize)]
struct BankStatsJson {
    #[serde(rename = "type")]
    kind: &'static str,
    id: String,
    files: usize,
    tokens: usize,
    bytes: usize,
    placed_by: std::collections::BTreeMap<&'static str, usize>,
}

#[derive(Serialize)]
struct BankTroubleJson {
    time: String,
    bank: String,
    severity: String,
    description: String,
}

/// Does what was asked.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let settings = context.settings()?.tools();
    let memory = context.open_synced()?;
    let (project, cache) = (&settings.banks.project, &settings.banks.cache);
    match args.action.as_ref().unwrap_or(&BankAction::List { kind: None }) {
        BankAction::List { kind } => {
            let banks = bank_overviews(memory, project, cache, *kind).map_err(bank_error)?;
            list(context, &settings, &banks)
        }
        BankAction::Show { kind, id, file } => {
            let bank = bank_overview(memory, project, cache, *kind, id).map_err(bank_error)?;
            let bank = bank.ok_or_else(|| {
                let message = format!("there is no {} bank {id:?}", kind.as_str());
                CommandError::new(Exit::NotFound, message).hint("`memoranda bank list` lists them")
            })?;
            match file {
                None => show(context, &settings, bank),
                Some(file) => show_file(context, bank, file),
            }
        }
        BankAction::Stats => stats(context, &settings),
    }
}

fn bank_error(error: BankError) -> CommandError {
    match error {
        BankError::Engine(error) | BankError::Load(error) => error.into(),
        other => CommandError::usage(other.to_string()),
    }
}

fn parse_bank_type(text: &str) -> Result<BankType, String> {
    BankType::parse(text).ok_or_else(|| "it is global, project or code".to_owned())
}

fn list(context: &CommandContext, settings: &ToolSettings, banks: &[BankOverview]) -> Result<Exit> {
    let printer = &context.printer;
    if context.is_json() {
        let banks = banks.iter().map(|bank| BankJson {
            kind: bank.kind.as_str(),
            id: bank.id.clone(),
            description: bank.description.clone(),
            last_used: bank.last_used.map(|time| time.to_string()),
            folder: folder(settings, bank),
            files: bank.files.len(),
            tokens: tokens(bank),
            bytes: bytes(bank),
        });
        printer.json(&BankListJson { banks: banks.collect() })?;
        return Ok(Exit::Success);
    }
    if banks.is_empty() {
        printer.say("No banks. An agent makes them with the tool `activate`.");
        return Ok(Exit::Success);
    }
    let columns = [
        TableColumn::word("TYPE", FAINT),
        TableColumn::word("ID", STRONG),
        TableColumn::number("TOKENS"),
        TableColumn::optional("USED", FAINT),
        TableColumn::text("ABOUT", anstyle::Style::new()),
    ];
    let rows = banks.iter().map(|bank| {
        vec![
            bank.kind.as_str().to_owned(),
            bank.id.clone(),
            tokens(bank).to_string(),
            used(context, bank),
            bank.description.clone(),
        ]
    });
    table::print(printer, &columns, &rows.collect::<Vec<_>>())?;
    Ok(Exit::Success)
}

fn show(context: &CommandContext, settings: &ToolSettings, bank: BankOverview) -> Result<Exit> {
    let printer = &context.printer;
    if context.is_json() {
        let json = BankDetailJson {
            kind: bank.kind.as_str(),
            folder: folder(settings, &bank),
            tokens: tokens(&bank),
            bytes: bytes(&bank),
            last_used: bank.last_used.map(|time| time.to_string()),
            id: bank.id,
            description: bank.description,
            files: bank.files.into_iter().map(file_json).collect(),
        };
        printer.json(&json)?;
        return Ok(Exit::Success);
    }
    let (kind, id) = (bank.kind.as_str(), &bank.id);
    printer.say(format!("{STRONG}{id}{STRONG:#} {FAINT}({kind}){FAINT:#}: {}", bank.description));
    printer.say(format!(
        "{PLACE}{}{PLACE:#}, {}, about {} tokens, used {}",
        folder(settings, &bank),
        counted(bank.files.len(), "file"),
        tokens(&bank),
        used(context, &bank)
    ));
    let columns = [
        TableColumn::text("FILE", PLACE),
        TableColumn::number("TOKENS"),
        TableColumn::number("BYTES"),
    ];
    let rows = bank
        .files
        .iter()
        .map(|file| vec![file.name.clone(), file.tokens.to_string(), file.text.len().to_string()]);
    table::print(printer, &columns, &rows.collect::<Vec<_>>())?;
    Ok(Exit::Success)
}

fn show_file(context: &CommandContext, bank: BankOverview, name: &str) -> Result<Exit> {
    let names: Vec<String> = bank.files.iter().map(|file| file.name.clone()).collect();
    let found = bank.files.into_iter().find(|file| file.name == name).ok_or_else(|| {
        CommandError::new(Exit::NotFound, format!("there is no file {name:?} in the bank"))
            .hint(format!("there are {}", names.join(", ")))
    })?;
    let printer = &context.printer;
    if context.is_json() {
        printer.json(&file_json(found))?;
    } else if printer.is_terminal() {
        printer.line(visible_lines(found.text.trim_end()))?;
    } else {
        printer.line(found.text.trim_end())?;
    }
    Ok(Exit::Success)
}

fn stats(context: &CommandContext, settings: &ToolSettings) -> Result<Exit> {
    let printer = &context.printer;
    let memory = context.open_synced()?;
    let (project, cache) = (&settings.banks.project, &settings.banks.cache);
    let banks = bank_overviews(memory, project, cache, None).map_err(bank_error)?;
    let troubles = all_diagnostics(memory);
    if context.is_json() {
        let banks = banks.iter().map(|bank| BankStatsJson {
            kind: bank.kind.as_str(),
            id: bank.id.clone(),
            files: bank.files.len(),
            tokens: tokens(bank),
            bytes: bytes(bank),
            placed_by: bank.placed_by.into_iter().collect(),
        });
        let banks = banks.collect();
        let troubles = troubles.into_iter().map(|trouble| BankTroubleJson {
            time: trouble.time,
            bank: trouble.bank,
            severity: trouble.severity,
            description: trouble.description,
        });
        printer.json(&AllBankStatsJson { banks, troubles: troubles.collect() })?;
        return Ok(Exit::Success);
    }
    if banks.is_empty() {
        printer.say("No banks. An agent makes them with the tool `activate`.");
    } else {
        let columns = [
            TableColumn::word("BANK", STRONG),
            TableColumn::number("FILES"),
            TableColumn::number("TOKENS"),
            TableColumn::number("BY CALLER"),
            TableColumn::number("BY MODEL"),
            TableColumn::number("BY RULES"),
        ];
        let rows = banks.iter().map(|bank| {
            let mut row = vec![
                format!("{}:{}", bank.kind.as_str(), bank.id),
                bank.files.len().to_string(),
                tokens(bank).to_string(),
            ];
            row.extend(bank.placed_by.iter().map(|(_, count)| count.to_string()));
            row
        });
        table::print(printer, &columns, &rows.collect::<Vec<_>>())?;
    }
    if !troubles.is_empty() {
        printer.say("What went wrong lately, the newest first:");
        let columns = [
            TableColumn::word("TIME", FAINT),
            TableColumn::word("BANK", STRONG),
            TableColumn::word("SEVERITY", FAINT),
            TableColumn::text("WHAT", anstyle::Style::new()),
        ];
        let rows = troubles
            .into_iter()
            .take(20)
            .map(|trouble| vec![trouble.time, trouble.bank, trouble.severity, trouble.description]);
        table::print(printer, &columns, &rows.collect::<Vec<_>>())?;
    }
    Ok(Exit::Success)
}

fn file_json(file: BankFile) -> BankFileJson {
    BankFileJson { name: file.name, tokens: file.tokens, bytes: file.text.len(), text: file.text }
}

fn tokens(bank: &BankOverview) -> usize {
    bank.files.iter().map(|file| file.tokens).sum()
}

fn bytes(bank: &BankOverview) -> usize {
    bank.files.iter().map(|file| file.text.len()).sum()
}

fn folder(settings: &ToolSettings, bank: &BankOverview) -> String {
    format!("{}/{}/{}", settings.banks.project, bank.kind.plural(), bank.id)
}

fn used(context: &CommandContext, bank: &BankOverview) -> String {
    match (bank.last_used, context.printer.format) {
        (None, _) => "never".to_owned(),
        (Some(time), OutputFormat::Plain) => time.to_string(),
        (Some(time), OutputFormat::Pretty | OutputFormat::Json) => time::ago(time, &time::now()),
    }
}

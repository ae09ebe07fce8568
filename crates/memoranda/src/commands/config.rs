//! `memoranda config`: settings, and where each came from.

use clap::Subcommand;
use clap_complete::engine::ArgValueCandidates;
use memoranda_tools::{ToolSelection, instructions};
use serde::Serialize;

use crate::complete;
use crate::config::{
    AppDirectories, AppSettings, ConfigFile, KEYS, SettingOrigin, SettingValue, current_value, key,
};
use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::{FAINT, STRONG};
use crate::table::{self, TableColumn};
use crate::{editor, env, files};

/// Show and change settings.
///
/// Flags come before environment variables, these before the file, the file before what is built
/// in.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda config show --origin
  memoranda config set default_project work
  memoranda config edit")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<ConfigAction>,
}

#[derive(Subcommand)]
enum ConfigAction {
    /// Show every setting.
    #[command(
        alias = "list",
        after_long_help = "\
Examples:
  memoranda config show --origin

JSON (--json):
  {settings: [{key, value, origin}]}; origin is a flag, a variable, the file, or `built-in`"
    )]
    Show {
        /// Say where each value came from.
        #[arg(long)]
        origin: bool,
    },

    /// Print the value of one setting.
    #[command(after_long_help = "\
Examples:
  memoranda config get home

JSON (--json):
  {key, value, origin}")]
    Get {
        /// The setting.
        #[arg(add = ArgValueCandidates::new(complete::settings))]
        key: String,
    },

    /// Give a setting a value in the file; comments there stay.
    #[command(after_long_help = "\
Examples:
  memoranda config set editor 'code --wait'

JSON (--json):
  {key, value, origin}")]
    Set {
        /// The setting.
        #[arg(add = ArgValueCandidates::new(complete::settings))]
        key: String,
        /// Value of the setting.
        value: String,
    },

    /// Remove a setting from the file.
    #[command(after_long_help = "\
Examples:
  memoranda config unset editor

JSON (--json):
  {key, value, origin}; what counts now")]
    Unset {
        /// The setting.
        #[arg(add = ArgValueCandidates::new(complete::settings))]
        key: String,
    },

    /// Print where the file is.
    #[command(after_long_help = "\
Examples:
  memoranda config path

JSON (--json):
  {path}")]
    Path,

    /// Open the file in your editor.
    #[command(after_long_help = "\
Examples:
  memoranda config edit")]
    Edit,
}

#[derive(Serialize)]
struct SettingsJson {
    settings: Vec<SettingJson>,
}

#[derive(Serialize)]
struct SettingJson {
    key: &'static str,
    value: String,
    origin: String,
}

/// Does what was asked.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let printer = &context.printer;
    match args.action.as_ref().unwrap_or(&ConfigAction::Show { origin: false }) {
        ConfigAction::Show { origin } => show(context, *origin)?,
        ConfigAction::Get { key: name } => {
            let setting = find_setting(context.settings()?, name)?;
            if context.is_json() {
                printer.json(&setting_json(context, &setting)?)?
            } else {
                printer.line(&setting.value)?
            }
        }
        ConfigAction::Set { key: name, value } => {
            let key = key(name)?;
            let value = current_value(key.name, value);
            let path = AppDirectories::find()?.config;
            ConfigFile::read(&path)?.set(key, value)?;
            let setting = SettingValue {
                key: key.name,
                value: value.to_owned(),
                origin: SettingOrigin::File,
            };
            let sentence =
                format!("Set {} to {value:?} in {}", key.name, context.shown_path(&path));
            printer.done(&setting_json(context, &setting)?, sentence)?;
            if key.name == "memory.guidance" && is_cut(context, value)? {
                printer.warn(
                    "agents get only its beginning at the start, where there are 2 KB for \
                     everything; the prompt memory_guide gives all of it",
                );
            }
            let counts = find_setting(context.settings()?, name)?;
            if let SettingOrigin::Flag(by) | SettingOrigin::Variable(by) = counts.origin {
                printer.warn(format!(
                    "{by} comes before the file: {} is {:?} now",
                    key.name, counts.value
                ));
            }
        }
        ConfigAction::Unset { key: name } => {
            let key = key(name)?;
            let path = AppDirectories::find()?.config;
            let was_there = ConfigFile::read(&path)?.unset(key)?;
            let now = find_setting(&AppSettings::load(&context.args)?, name)?;
            let sentence = if was_there {
                format!("Removed {} from {}", key.name, context.shown_path(&path))
            } else {
                format!("{} is not set in {}", key.name, context.shown_path(&path))
            };
            printer.done(&setting_json(context, &now)?, sentence)?;
        }
        ConfigAction::Path => {
            let path = AppDirectories::find()?.config.display().to_string();
            if context.is_json() {
                printer.json(&serde_json::json!({ "path": path }))?
            } else {
                printer.line(path)?
            }
        }
        ConfigAction::Edit => edit(context)?,
    }
    Ok(Exit::Success)
}

/// Writes a setting into the configuration file.
pub(crate) fn write_setting(context: &CommandContext, name: &str, value: &str) -> Result<()> {
    let path = &context.settings()?.directories.config;
    ConfigFile::read(path)?.set(key(name)?, value)
}

/// Returns true if the guidance is too long for the instructions of a server.
fn is_cut(context: &CommandContext, guidance: &str) -> Result<bool> {
    let settings = memoranda_tools::ToolSettings {
        guidance: Some(guidance.to_owned()),
        ..context.settings()?.tools()
    };
    let offered = ToolSelection::default().resolve().unwrap_or_default();
    Ok(!instructions(&offered, &settings).contains(guidance.trim()))
}

fn show(context: &CommandContext, with_origin: bool) -> Result<()> {
    let settings = context.settings()?;
    if context.is_json() {
        let settings = settings.all.iter().map(|setting| setting_json(context, setting));
        return context.printer.json(&SettingsJson { settings: settings.collect::<Result<_>>()? });
    }
    let mut columns = vec![
        TableColumn::word("SETTING", STRONG),
        TableColumn::text("VALUE", anstyle::Style::new()),
    ];
    if with_origin {
        columns.push(TableColumn::text("FROM", FAINT));
    }
    let mut rows = Vec::new();
    for setting in &settings.all {
        let mut row = vec![setting.key.to_owned(), setting.value.clone()];
        if with_origin {
            row.push(origin(context, &setting.origin)?);
        }
        rows.push(row);
    }
    table::print(&context.printer, &columns, &rows)
}

/// Opens the file, with a comment for every setting if it is new, and says whether it is sound.
fn edit(context: &CommandContext) -> Result<()> {
    if context.args.no_input {
        return Err(CommandError::usage("an editor needs a person, and --no-input was given")
            .hint("`memoranda config set KEY VALUE`"));
    }
    let path = AppDirectories::find()?.config;
    if files::read_text(&path)?.is_none() {
        let line = |key: &crate::config::ConfigKey| {
            format!("# {}\n# {} = {}\n", key.doc, key.name, default_literal(key))
        };
        let template: Vec<String> = KEYS.iter().map(line).collect();
        files::replace(&path, template.join("\n").as_bytes())?;
    }
    // The settings may be unreadable: that is what the editor is for.
    let of_environment = || env::VISUAL.text().or_else(|| env::EDITOR.text());
    let editor_command = match context.settings() {
        Ok(settings) => settings.editor().to_owned(),
        Err(_) => of_environment().unwrap_or_else(|| default_of("editor")),
    };
    editor::open(&editor_command, &path)?;
    ConfigFile::read(&path).map(drop)
}

fn default_literal(key: &crate::config::ConfigKey) -> String {
    if key.kind.is_number() { key.default.to_owned() } else { format!("{:?}", key.default) }
}

fn default_of(name: &str) -> String {
    KEYS.iter().find(|key| key.name == name).map_or(String::new(), |key| key.default.to_owned())
}

fn find_setting(settings: &AppSettings, name: &str) -> Result<SettingValue> {
    let key = key(name)?;
    let setting = settings.all.iter().find(|setting| setting.key == key.name).cloned();
    setting.ok_or_else(|| CommandError::usage(format!("there is no setting {name:?}")))
}

/// Returns the settings for the page: value, default, origin and description.
pub(crate) fn page_settings(settings: &AppSettings) -> serde_json::Value {
    let setting = |setting: &SettingValue| {
        let key = KEYS.iter().find(|key| key.name == setting.key);
        let is_fixed =
            matches!(setting.origin, SettingOrigin::Flag(_) | SettingOrigin::Variable(_));
        serde_json::json!({
            "key": setting.key,
            "value": setting.value,
            "default": key.map(|key| key.default),
            "source": origin_name(settings, &setting.origin),
            "in_file": setting.origin == SettingOrigin::File,
            "fixed": is_fixed,
            "help": key.map(|key| key.doc),
        })
    };
    settings.all.iter().map(setting).collect()
}

/// Sets a setting in the configuration file; removes it if `value` is `None`.
pub(crate) fn change_setting(name: &str, value: Option<&str>) -> Result<()> {
    let key = key(name)?;
    let mut file = ConfigFile::read(&AppDirectories::find()?.config)?;
    match value {
        Some(value) => file.set(key, current_value(key.name, value)),
        None => file.unset(key).map(drop),
    }
}

fn setting_json(context: &CommandContext, setting: &SettingValue) -> Result<SettingJson> {
    let origin = origin(context, &setting.origin)?;
    Ok(SettingJson { key: setting.key, value: setting.value.clone(), origin })
}

fn origin(context: &CommandContext, origin: &SettingOrigin) -> Result<String> {
    Ok(origin_name(context.settings()?, origin))
}

fn origin_name(settings: &AppSettings, origin: &SettingOrigin) -> String {
    match origin {
        SettingOrigin::Flag(name) | SettingOrigin::Variable(name) => (*name).to_owned(),
        SettingOrigin::File => settings.directories.config.display().to_string(),
        SettingOrigin::BuiltIn => "built-in".to_owned(),
    }
}

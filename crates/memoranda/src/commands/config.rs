//! `memoranda config`: settings, and where each came from.

use clap::Subcommand;
use memoranda_tools::{ToolSelection, instructions};
use serde::Serialize;

use crate::config::{Directories, File, KEYS, Origin, Setting, Settings, current_value, key};
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::{FAINT, STRONG};
use crate::session::Session;
use crate::table::{self, Column};
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
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Show every setting.
    #[command(after_long_help = "\
Examples:
  memoranda config show --origin

JSON (--json):
  {settings: [{key, value, origin}]}; origin is a flag, a variable, the file, or `built-in`")]
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
        key: String,
        /// Its value.
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
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    let printer = &session.printer;
    match &args.action {
        Action::Show { origin } => show(session, *origin)?,
        Action::Get { key: name } => {
            let setting = found(session.settings()?, name)?;
            if session.is_json() {
                printer.json(&wire(session, &setting)?)?
            } else {
                printer.line(&setting.value)?
            }
        }
        Action::Set { key: name, value } => {
            let key = key(name)?;
            let value = current_value(key.name, value);
            let path = Directories::find()?.config;
            File::read(&path)?.set(key, value)?;
            let setting = Setting { key: key.name, value: value.to_owned(), origin: Origin::File };
            let sentence = format!("Set {} to {value:?} in {}", key.name, path.display());
            printer.done(&wire(session, &setting)?, sentence)?;
            if key.name == "memory.guidance" && is_cut(session, value)? {
                printer.warn(
                    "agents get only its beginning at the start, where there are 2 KB for \
                     everything; the prompt memory_guide gives all of it",
                );
            }
            let counts = found(session.settings()?, name)?;
            if let Origin::Flag(by) | Origin::Variable(by) = counts.origin {
                printer.warn(format!(
                    "{by} comes before the file: {} is {:?} now",
                    key.name, counts.value
                ));
            }
        }
        Action::Unset { key: name } => {
            let key = key(name)?;
            let path = Directories::find()?.config;
            let was_there = File::read(&path)?.unset(key)?;
            let now = found(&Settings::load(&session.args)?, name)?;
            let sentence = if was_there {
                format!("Removed {} from {}", key.name, path.display())
            } else {
                format!("{} is not set in {}", key.name, path.display())
            };
            printer.done(&wire(session, &now)?, sentence)?;
        }
        Action::Path => {
            let path = Directories::find()?.config.display().to_string();
            if session.is_json() {
                printer.json(&serde_json::json!({ "path": path }))?
            } else {
                printer.line(path)?
            }
        }
        Action::Edit => edit(session)?,
    }
    Ok(Exit::Done)
}

/// Whether the guidance is too long for what agents are told at the start.
fn is_cut(session: &Session, guidance: &str) -> Result<bool> {
    let settings = memoranda_tools::ToolSettings {
        guidance: Some(guidance.to_owned()),
        ..session.settings()?.tools()
    };
    let offered = ToolSelection::default().resolve().unwrap_or_default();
    Ok(!instructions(&offered, &settings).contains(guidance.trim()))
}

fn show(session: &Session, with_origin: bool) -> Result<()> {
    let settings = session.settings()?;
    if session.is_json() {
        let settings = settings.all.iter().map(|setting| wire(session, setting));
        return session.printer.json(&SettingsJson { settings: settings.collect::<Result<_>>()? });
    }
    let mut columns =
        vec![Column::word("SETTING", STRONG), Column::text("VALUE", anstyle::Style::new())];
    if with_origin {
        columns.push(Column::text("FROM", FAINT));
    }
    let mut rows = Vec::new();
    for setting in &settings.all {
        let mut row = vec![setting.key.to_owned(), setting.value.clone()];
        if with_origin {
            row.push(origin(session, &setting.origin)?);
        }
        rows.push(row);
    }
    table::print(&session.printer, &columns, &rows)
}

/// Opens the file, with a comment for every setting if it is new, and says whether it is sound.
fn edit(session: &Session) -> Result<()> {
    if session.args.no_input {
        return Err(CommandError::usage("an editor needs a person, and --no-input was given")
            .hint("`memoranda config set KEY VALUE`"));
    }
    let path = Directories::find()?.config;
    if files::read_text(&path)?.is_none() {
        let line =
            |key: &crate::config::Key| format!("# {}\n# {} = {}\n", key.doc, key.name, quoted(key));
        let template: Vec<String> = KEYS.iter().map(line).collect();
        files::replace(&path, template.join("\n").as_bytes())?;
    }
    // The settings may be unreadable: that is what the editor is for.
    let of_environment = || env::VISUAL.text().or_else(|| env::EDITOR.text());
    let editor_command = match session.settings() {
        Ok(settings) => settings.editor().to_owned(),
        Err(_) => of_environment().unwrap_or_else(|| found_default("editor")),
    };
    editor::open(&editor_command, &path)?;
    File::read(&path).map(drop)
}

fn quoted(key: &crate::config::Key) -> String {
    if key.kind.is_number() { key.default.to_owned() } else { format!("{:?}", key.default) }
}

fn found_default(name: &str) -> String {
    KEYS.iter().find(|key| key.name == name).map_or(String::new(), |key| key.default.to_owned())
}

fn found(settings: &Settings, name: &str) -> Result<Setting> {
    let key = key(name)?;
    let setting = settings.all.iter().find(|setting| setting.key == key.name).cloned();
    setting.ok_or_else(|| CommandError::usage(format!("there is no setting {name:?}")))
}

fn wire(session: &Session, setting: &Setting) -> Result<SettingJson> {
    let origin = origin(session, &setting.origin)?;
    Ok(SettingJson { key: setting.key, value: setting.value.clone(), origin })
}

fn origin(session: &Session, origin: &Origin) -> Result<String> {
    Ok(match origin {
        Origin::Flag(name) | Origin::Variable(name) => (*name).to_owned(),
        Origin::File => session.settings()?.directories.config.display().to_string(),
        Origin::BuiltIn => "built-in".to_owned(),
    })
}

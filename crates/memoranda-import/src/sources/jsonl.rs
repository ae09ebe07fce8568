//! Reads the output of `memoranda export jsonl`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use serde_json::Value;

use super::{ImportTarget, require_file};
use crate::error::{ImportError, Result};
use crate::export::JSONL_VERSION;
use crate::input::ImportInput;
use crate::item::{ImportItem, ItemBody, ItemNaming};
use crate::json::{JsonObject, for_each_line, text_field};
use crate::sink::ImportSink;

pub(super) fn read(
    input: &ImportInput,
    target: &ImportTarget,
    sink: &mut ImportSink<'_>,
) -> Result<()> {
    require_file(input, "an export as JSON lines")?;
    let name = input.file_names()?.into_iter().next().unwrap_or_default();
    input.with_file(&name, sink, |from, sink| {
        for_each_line(from, &name, sink, &mut |number, value, sink| {
            let at = format!("{name} line {number}");
            if let Some(version) = value.get("memoranda").and_then(Value::as_u64) {
                return if version <= JSONL_VERSION { Ok(()) } else { Err(ImportError::NotThat(format!(
                        "{name} is of version {version}, and this program reads up to {JSONL_VERSION}"
                    ))) };
            }
            match value.as_object().map(|object| item_from_line(object, target)) {
                Some(Ok(item)) => sink.add_item(item)?,
                Some(Err(message)) => sink.add_problem(at, message),
                None => sink.add_problem(at, "not a note"),
            }
            Ok(())
        })
    })
}

fn item_from_line(object: &JsonObject, target: &ImportTarget) -> Result<ImportItem, String> {
    let project = match &target.project {
        Some(project) => project.clone(),
        None => ProjectName::parse(text_field(object, "project")).map_err(|e| e.to_string())?,
    };
    let path = match &target.folder {
        Some(folder) => format!("{}/{}", folder.trim_matches('/'), text_field(object, "path")),
        None => text_field(object, "path").to_owned(),
    };
    let path = NotePath::parse(&path).map_err(|e| e.to_string())?;
    let bytes = match (object.get("content"), object.get("base64")) {
        (Some(Value::String(content)), _) => content.clone().into_bytes(),
        (None, Some(Value::String(encoded))) => {
            STANDARD.decode(encoded).map_err(|e| format!("its base64 cannot be read: {e}"))?
        }
        _ => return Err("it has neither `content` nor `base64`".to_owned()),
    };
    let id = format!("{project}/{path}");
    let body = ItemBody::Exact(bytes, text_field(object, "updated").parse().ok());
    Ok(ImportItem { id, project, path, naming: ItemNaming::Fixed, body })
}

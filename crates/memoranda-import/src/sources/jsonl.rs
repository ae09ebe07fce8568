//! What `memoranda export jsonl` wrote: every file as it was.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memoranda_engine::core::id::ProjectName;
use memoranda_engine::core::path::NotePath;
use serde_json::Value;

use super::{Target, needs_file};
use crate::error::{ImportError, Result};
use crate::export::JSONL_VERSION;
use crate::intake::Intake;
use crate::json::{Object, lines, text};
use crate::origin::Origin;
use crate::piece::{Body, Naming, Piece};

pub(super) fn read(origin: &Origin, target: &Target, intake: &mut Intake<'_>) -> Result<()> {
    needs_file(origin, "an export as JSON lines")?;
    let name = origin.names()?.into_iter().next().unwrap_or_default();
    origin.with_file(&name, intake, |from, intake| {
        lines(from, &name, intake, &mut |number, value, intake| {
            let at = format!("{name} line {number}");
            if let Some(version) = value.get("memoranda").and_then(Value::as_u64) {
                return match version <= JSONL_VERSION {
                    true => Ok(()),
                    false => Err(ImportError::NotThat(format!(
                        "{name} is of version {version}, and this program reads up to {JSONL_VERSION}"
                    ))),
                };
            }
            match value.as_object().map(|object| piece(object, target)) {
                Some(Ok(piece)) => intake.piece(piece)?,
                Some(Err(message)) => intake.problem(at, message),
                None => intake.problem(at, "not a note"),
            }
            Ok(())
        })
    })
}

fn piece(object: &Object, target: &Target) -> Result<Piece, String> {
    let project = match &target.project {
        Some(project) => project.clone(),
        None => ProjectName::parse(text(object, "project")).map_err(|e| e.to_string())?,
    };
    let path = match &target.folder {
        Some(folder) => format!("{}/{}", folder.trim_matches('/'), text(object, "path")),
        None => text(object, "path").to_owned(),
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
    let body = Body::Exact(bytes, text(object, "updated").parse().ok());
    Ok(Piece { id, project, path, naming: Naming::Fixed, body })
}

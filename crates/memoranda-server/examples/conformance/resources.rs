//! Resources: a text, a picture, a template.

use memoranda_tools::{ResourceDef, Toolset};
use serde_json::json;

use crate::PIXEL;

type ReadResource =
    fn(&memoranda_engine::Memory, &memoranda_tools::ToolSettings, &[&str]) -> ResourceText;
type ResourceText = memoranda_engine::Result<Option<String>>;

const fn resource(
    uri: &'static str,
    name: &'static str,
    mime: &'static str,
    read: ReadResource,
) -> ResourceDef {
    let title = name;
    let toolset = Toolset::Memory;
    ResourceDef { uri, name, title, description: "A fixture.", mime, toolset, read }
}

pub(crate) const RESOURCES: &[ResourceDef] = &[
    resource("test://static-text", "static-text", "text/plain", |_, _, _| {
        Ok(Some("This is the content of the static text resource.".into()))
    }),
    resource("test://static-binary", "static-binary", "image/png", |_, _, _| {
        Ok(Some(PIXEL.into()))
    }),
    resource("test://template/{id}/data", "template", "application/json", |_, _, values| {
        let id = values.first().copied().unwrap_or_default();
        let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
        Ok(Some(data.to_string()))
    }),
    resource("test://watched-resource", "watched", "text/plain", |_, _, _| {
        Ok(Some("This one never changes.".into()))
    }),
];

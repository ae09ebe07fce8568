//! MCP tools: definitions and results in the format of the protocol.

use std::sync::Arc;

use memoranda_tools::{SideContent, ToolDef, ToolResult, ToolSettings};
use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, ListToolsResult, MetaObject, Resource,
    ResourceContents, Tool, ToolAnnotations,
};
use serde_json::Value;

use crate::tool_catalog::RequestTools;

/// Converts a tool definition.
pub(crate) fn tool_definition(def: &'static ToolDef, settings: &ToolSettings) -> Tool {
    let hints = ToolAnnotations::new()
        .read_only(def.hints.read_only)
        .destructive(def.hints.destructive)
        .idempotent(def.hints.idempotent)
        .open_world(def.hints.open_world);
    let tool =
        Tool::new(def.name, def.description(settings), schema_object(def.input_schema(settings)))
            .with_title(def.title)
            .with_raw_output_schema(schema_object((def.output)()))
            .with_annotations(hints);
    let meta = def.client_meta();
    if meta.is_empty() { tool } else { tool.with_meta(MetaObject(meta)) }
}

/// Lists the tools of a request, in the order of the catalog.
pub(crate) fn list_tools(request_tools: &RequestTools, settings: &ToolSettings) -> ListToolsResult {
    let tools = request_tools.tools().iter().map(|def| tool_definition(def, settings)).collect();
    ListToolsResult::with_all_items(tools)
}

/// Converts a result: text, structured content and attachments.
pub(crate) fn call_result(result: ToolResult, attached: Vec<SideContent>) -> CallToolResult {
    let mut content = Vec::with_capacity(1 + attached.len());
    if attached.is_empty() || !result.text.is_empty() {
        content.push(ContentBlock::text(result.text));
    }
    content.extend(attached.into_iter().map(content_block));
    let mut call_result = if result.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    call_result.structured_content = Some(result.structured);
    call_result
}

/// Converts an attachment.
pub(super) fn content_block(content: SideContent) -> ContentBlock {
    match content {
        SideContent::Image { data, mime } => ContentBlock::image(data, mime),
        SideContent::Audio { data, mime } => ContentBlock::audio(data, mime),
        SideContent::Embedded { uri, mime, text } => {
            ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(mime))
        }
        SideContent::Link { uri, name } => ContentBlock::resource_link(Resource::new(uri, name)),
    }
}

fn schema_object(value: Value) -> Arc<JsonObject> {
    match value {
        Value::Object(schema_object) => Arc::new(schema_object),
        _ => Arc::default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_carry_text_and_structure() {
        let done = call_result(ToolResult::ok("Done".into(), json!({ "result": "Done" })), vec![]);
        assert_eq!(done.is_error, Some(false));
        assert_eq!(done.structured_content, Some(json!({ "result": "Done" })));
        let failed = call_result(ToolResult::error("No"), vec![]);
        assert_eq!(failed.is_error, Some(true));
        assert_eq!(failed.structured_content, Some(json!({ "error": "No", "is_error": true })));
    }
}

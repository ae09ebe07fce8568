//! Tools that answer: text, pictures, sounds, resources, links, errors, progress.

use std::time::Duration;

use memoranda_tools::{
    ParamTable, ScanPolicy, SideContent, ToolDef, ToolError, ToolHints, ToolResult, ToolRun,
    ToolTier, Toolset,
};
use serde_json::json;

use crate::elicitation::{self, sampling_tool};
use crate::{PIXEL, SILENCE};

/// Result of a fixture.
pub(crate) type FixtureResult = Result<ToolResult, ToolError>;

/// Defines a fixture without arguments.
pub(crate) const fn fixture(name: &'static str, run: ToolRun) -> ToolDef {
    ToolDef {
        name,
        title: name,
        description: "A fixture of the conformance suite.",
        toolset: Toolset::Memory,
        tier: ToolTier::Extra,
        hints: ToolHints {
            read_only: true,
            destructive: false,
            idempotent: true,
            open_world: false,
        },
        params: ParamTable::EMPTY.accept_unknown(),
        run,
        max_chars: 10_000,
        scan: ScanPolicy::Nothing,
        ..ToolDef::BASE
    }
}

pub(crate) const TOOLS: &[ToolDef] = &[
    fixture("test_simple_text", |_, _| said("This is a simple text response for testing.")),
    fixture("test_image_content", |call, _| {
        call.client.attach(image());
        said("")
    }),
    fixture("test_audio_content", |call, _| {
        call.client.attach(SideContent::Audio { data: SILENCE.into(), mime: "audio/wav".into() });
        said("")
    }),
    fixture("test_embedded_resource", |call, _| {
        let text = "This is an embedded resource content.".to_owned();
        call.client.attach(embedded("test://embedded-resource", "text/plain", text));
        said("")
    }),
    fixture("test_multiple_content_types", |call, _| {
        call.client.attach(image());
        let text = json!({ "test": "data", "value": 123 }).to_string();
        call.client.attach(embedded("test://mixed-content-resource", "application/json", text));
        let (uri, name) = ("test://static-text".into(), "static-text".into());
        call.client.attach(SideContent::Link { uri, name });
        said("Multiple content types test:")
    }),
    fixture("test_error_handling", |_, _| {
        Ok(ToolResult::error("This tool intentionally returns an error for testing"))
    }),
    fixture("test_tool_with_progress", |call, _| {
        for done in [0, 50, 100] {
            (call.progress)(done, 100, "counting");
            // Progress is reported at most ten times a second.
            std::thread::sleep(Duration::from_millis(120));
        }
        said("Counted to 100.")
    }),
    fixture("test_tool_with_logging", |_, _| noting()),
    fixture("test_logging_tool", |_, _| noting()),
    sampling_tool("test_missing_capability"),
    sampling_tool("test_sampling"),
    sampling_tool("test_input_required_result_sampling"),
    fixture("test_elicitation", elicitation::person),
    fixture("test_elicitation_sep1034_defaults", elicitation::defaults),
    fixture("test_elicitation_sep1330_enums", elicitation::choices),
    fixture("test_streaming_elicitation", elicitation::name),
    fixture("test_input_required_result_elicitation", elicitation::name),
    fixture("test_input_required_result_list_roots", elicitation::folders),
    fixture("test_input_required_result_request_state", elicitation::confirmed),
    fixture("test_input_required_result_tampered_state", elicitation::confirmed),
    fixture("test_input_required_result_multiple_inputs", elicitation::everything),
    fixture("test_input_required_result_capabilities", elicitation::everything),
    fixture("test_input_required_result_multi_round", elicitation::in_rounds),
];

/// Logs an event at the start, in the middle and at the end.
fn noting() -> FixtureResult {
    tracing::info!("Tool execution started");
    std::thread::sleep(Duration::from_millis(50));
    tracing::info!("Tool processing data");
    std::thread::sleep(Duration::from_millis(50));
    tracing::info!("Tool execution completed");
    said("Noted three things.")
}

/// Returns a text result.
pub(crate) fn said(text: impl Into<String>) -> FixtureResult {
    let text = text.into();
    let structured = json!({ "result": text });
    Ok(ToolResult::ok(text, structured))
}

fn image() -> SideContent {
    SideContent::Image { data: PIXEL.into(), mime: "image/png".into() }
}

fn embedded(uri: &str, mime: &str, text: String) -> SideContent {
    SideContent::Embedded { uri: uri.into(), mime: mime.into(), text }
}

//! Tools that ask the client for input of the person, of its model, or for its folders.

use memoranda_tools::{CallContext, ClientQuestion, ToolArgs, ToolDef, ToolResult};
use serde_json::{Value, json};

use crate::tools::{FixtureResult, fixture, said};

/// Returns the result for a client that cannot be asked.
fn waiting() -> FixtureResult {
    Ok(ToolResult::error("This tool needs an answer that this client cannot give."))
}

fn form(message: &str, properties: Value) -> ClientQuestion {
    let required: Vec<_> =
        properties.as_object().into_iter().flat_map(|names| names.keys().cloned()).collect();
    let mut schema = json!({ "type": "object", "required": required });
    schema["properties"] = properties;
    ClientQuestion::Form { message: message.into(), schema }
}

/// A tool that asks the client's model.
pub(crate) const fn sampling_tool(name: &'static str) -> ToolDef {
    fixture(name, |call, args| {
        let prompt = args
            .value("prompt")
            .and_then(Value::as_str)
            .unwrap_or("What is the capital of France?");
        let question = ClientQuestion::Model { prompt: prompt.into(), max_tokens: 100 };
        match call.client.ask("capital_question", question) {
            Some(answer) => said(format!("LLM response: {}", answer["content"])),
            None => waiting(),
        }
    })
}

fn asked(call: &CallContext<'_>, name: &str, question: ClientQuestion) -> FixtureResult {
    match call.client.ask(name, question) {
        Some(answer) => said(format!(
            "Elicitation completed: action={}, content={}",
            answer["action"].as_str().unwrap_or("none"),
            answer["content"]
        )),
        None => waiting(),
    }
}

pub(crate) fn person(call: &CallContext<'_>, args: &ToolArgs) -> FixtureResult {
    let message = args.value("message").and_then(Value::as_str).unwrap_or("Who are you?");
    let text = |what: &str| json!({ "type": "string", "description": what });
    let fields =
        json!({ "username": text("User's response"), "email": text("User's email address") });
    asked(call, "person", form(message, fields))
}

pub(crate) fn defaults(call: &CallContext<'_>, _: &ToolArgs) -> FixtureResult {
    let fields = json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": {
            "type": "string", "enum": ["active", "inactive", "pending"], "default": "active",
        },
        "verified": { "type": "boolean", "default": true },
    });
    asked(call, "defaults", form("Please confirm.", fields))
}

pub(crate) fn choices(call: &CallContext<'_>, _: &ToolArgs) -> FixtureResult {
    let options = json!(["option1", "option2", "option3"]);
    let titled = json!([
        { "const": "value1", "title": "First" },
        { "const": "value2", "title": "Second" },
        { "const": "value3", "title": "Third" },
    ]);
    let fields = json!({
        "untitledSingle": { "type": "string", "enum": options },
        "titledSingle": { "type": "string", "oneOf": titled },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled } },
    });
    asked(call, "choices", form("Please choose.", fields))
}

fn name_question() -> ClientQuestion {
    form("What is your name?", json!({ "name": { "type": "string" } }))
}

pub(crate) fn name(call: &CallContext<'_>, _: &ToolArgs) -> FixtureResult {
    match call.client.ask("user_name", name_question()) {
        Some(answer) => said(format!("Hello, {}!", answer["content"]["name"])),
        None => waiting(),
    }
}

pub(crate) fn folders(call: &CallContext<'_>, _: &ToolArgs) -> FixtureResult {
    match call.client.ask("client_roots", ClientQuestion::Folders) {
        Some(answer) => said(format!("Roots: {}", answer["roots"])),
        None => waiting(),
    }
}

pub(crate) fn confirmed(call: &CallContext<'_>, _: &ToolArgs) -> FixtureResult {
    let question = form("Please confirm", json!({ "ok": { "type": "boolean" } }));
    match (call.client.ask("confirm", question), call.client.state()) {
        (Some(_), Some("kept")) => said("state-ok"),
        (Some(_), _) => Ok(ToolResult::error("The state did not come back.")),
        (None, _) => {
            call.client.keep("kept".into());
            waiting()
        }
    }
}

pub(crate) fn everything(call: &CallContext<'_>, _: &ToolArgs) -> FixtureResult {
    let greeting = ClientQuestion::Model { prompt: "Generate a greeting".into(), max_tokens: 50 };
    let answers = [
        call.client.ask("user_name", name_question()),
        call.client.ask("greeting", greeting),
        call.client.ask("client_roots", ClientQuestion::Folders),
    ];
    call.client.keep("asked everything".into());
    match answers {
        [Some(_), Some(_), Some(_)] => said("All three have answered."),
        _ => waiting(),
    }
}

pub(crate) fn in_rounds(call: &CallContext<'_>, _: &ToolArgs) -> FixtureResult {
    let first = form("Step 1: What is your name?", json!({ "name": { "type": "string" } }));
    let second =
        form("Step 2: What is your favorite color?", json!({ "color": { "type": "string" } }));
    // The client sends the answers of the last round only, so the first one is kept.
    match call.client.state().and_then(|state| state.strip_prefix("named ")) {
        None => match call.client.ask("step1", first) {
            None => {
                call.client.keep("begun".into());
                waiting()
            }
            Some(answer) => {
                call.client.keep(format!("named {}", answer["content"]["name"]));
                call.client.ask("step2", second);
                waiting()
            }
        },
        Some(name) => match call.client.ask("step2", second) {
            None => {
                call.client.keep(format!("named {name}"));
                waiting()
            }
            Some(answer) => said(format!("{name} likes {}.", answer["content"]["color"])),
        },
    }
}

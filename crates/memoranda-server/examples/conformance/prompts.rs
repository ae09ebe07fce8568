//! Prompts: text, arguments, a picture, a resource, a question.

use memoranda_server::PromptHandler;
use memoranda_tools::{
    ClientContext, ClientQuestion, PromptArgument, PromptDef, PromptMessage, SideContent, Toolset,
};
use serde_json::json;

use crate::PIXEL;

const fn prompt(name: &'static str, arguments: &'static [PromptArgument]) -> PromptDef {
    PromptDef {
        name,
        title: name,
        description: "A fixture.",
        toolset: Toolset::Memory,
        arguments,
        render: |call| {
            let text = match call.arguments {
                [Some(first), Some(second)] => {
                    format!("Prompt with arguments: arg1='{first}', arg2='{second}'")
                }
                _ => "This is a simple prompt for testing.".into(),
            };
            Ok(PromptMessage { text })
        },
    }
}

const fn argument(name: &'static str) -> PromptArgument {
    PromptArgument { name, description: "An argument.", required: true }
}

pub(crate) const PROMPTS: &[PromptDef] = &[
    prompt("test_simple_prompt", &[]),
    prompt("test_prompt_with_arguments", &[argument("arg1"), argument("arg2")]),
    prompt("test_prompt_with_embedded_resource", &[argument("resourceUri")]),
    prompt("test_prompt_with_image", &[]),
    prompt("test_input_required_result_prompt", &[]),
];

pub(crate) const SPEAKERS: &[PromptHandler] = &[
    PromptHandler { prompt: "test_prompt_with_embedded_resource", respond: embedded },
    PromptHandler { prompt: "test_prompt_with_image", respond: image },
    PromptHandler { prompt: "test_input_required_result_prompt", respond: asking },
];

fn embedded(client: &ClientContext, arguments: &[Option<String>]) -> String {
    let uri = arguments.first().cloned().flatten().unwrap_or_default();
    let text = "Embedded resource content for testing.".into();
    client.attach(SideContent::Embedded { uri, mime: "text/plain".into(), text });
    "Please process the embedded resource above.".into()
}

fn image(client: &ClientContext, _: &[Option<String>]) -> String {
    client.attach(SideContent::Image { data: PIXEL.into(), mime: "image/png".into() });
    "Please analyze the image above.".into()
}

fn asking(client: &ClientContext, _: &[Option<String>]) -> String {
    let question = ClientQuestion::Form {
        message: "What context should the prompt use?".into(),
        schema: json!({
            "type": "object",
            "properties": { "context": { "type": "string" } },
            "required": ["context"],
        }),
    };
    match client.ask("user_context", question) {
        Some(answer) => format!("Context: {}", answer["content"]["context"]),
        None => "This prompt needs a context.".into(),
    }
}

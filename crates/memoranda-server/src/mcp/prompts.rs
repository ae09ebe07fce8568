//! MCP prompts, which clients show as slash commands.

use std::sync::Arc;

use memoranda_engine::{EngineError, StoreError, SyncScope};
use memoranda_tools::{PromptCall, PromptDef};
use rmcp::model::{
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, JsonObject,
    ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use super::elicitation::{ElicitationAnswers, ElicitationOutcome, MAX_ROUNDS, elicit};
use super::tools::content_block;
use super::{internal_error, request_subject, run_blocking, to_sentence};
use crate::config::PromptHandler;
use crate::tool_call::await_first_scan;
use crate::tool_catalog::{RequestTools, ToolCatalog};

/// Lists the prompts of the selected sets.
pub(super) fn list_prompts(request_tools: &RequestTools) -> ListPromptsResult {
    ListPromptsResult::with_all_items(request_tools.prompts().map(prompt_definition).collect())
}

fn prompt_definition(def: &'static PromptDef) -> Prompt {
    let argument = |argument: &memoranda_tools::PromptArgument| {
        PromptArgument::new(argument.name)
            .with_description(argument.description)
            .with_required(argument.required)
    };
    let arguments = def.arguments.iter().map(argument).collect();
    Prompt::new(def.name, Some(def.description), Some(arguments)).with_title(def.title)
}

/// Renders a prompt.
pub(super) async fn get_prompt(
    catalog: Arc<ToolCatalog>,
    request_tools: &RequestTools,
    request: GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let def = request_tools.prompts().find(|prompt| prompt.name == request.name);
    let def = def.ok_or_else(|| {
        ErrorData::invalid_params(format!("There is no prompt {:?}.", request.name), None)
    })?;
    let request_subject = request_subject("prompts/get", def.name, request.arguments.as_ref());
    let arguments = ordered_arguments(def, request.arguments.unwrap_or_default())?;
    if let Some(prompt_handler) = request_tools.prompt_handler(def.name) {
        let state = request.request_state.as_deref();
        let resumed = ElicitationAnswers::verify(
            &catalog.signer,
            &request_subject,
            request.input_responses,
            state,
        )?;
        return run_prompt_handler(
            &catalog,
            def,
            prompt_handler,
            &arguments,
            resumed,
            &request_subject,
            context,
        )
        .await;
    }
    let tools = request_tools.shared_tools();
    let output = run_blocking(move || {
        await_first_scan(&catalog.memory, &SyncScope::Everything, &|_, _| ());
        let (memory, settings) = (&*catalog.memory, &*catalog.settings);
        let call = PromptCall { memory, settings, tools: &tools, arguments: &arguments };
        let output = (def.render)(&call).map_err(|error| match error {
            EngineError::Invalid(_)
            | EngineError::Project(_)
            | EngineError::Store(StoreError::NoProject { .. }) => {
                ErrorData::invalid_params(to_sentence(&error), None)
            }
            error => internal_error("make the prompt", &error),
        })?;
        let message = PromptMessage::new_text(Role::User, output.text);
        Ok(GetPromptResult::new(vec![message]).with_description(def.description))
    });
    Ok(output.await?.into())
}

/// Runs the handler of a prompt that returns more than text or asks the client.
async fn run_prompt_handler(
    catalog: &ToolCatalog,
    def: &'static PromptDef,
    prompt_handler: &'static PromptHandler,
    arguments: &[Option<String>],
    mut resumed: ElicitationAnswers,
    request_subject: &str,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    for _ in 0..MAX_ROUNDS {
        let into_context = resumed.into_context();
        let text = (prompt_handler.respond)(&into_context, arguments);
        let output = into_context.into_side_output();
        if output.questions.is_empty() {
            let blocks = output.attached.into_iter().map(content_block);
            let blocks = blocks.chain(std::iter::once(ContentBlock::text(text)));
            let messages =
                blocks.map(|content_block| PromptMessage::new(Role::User, content_block)).collect();
            return Ok(GetPromptResult::new(messages).with_description(def.description).into());
        }
        match elicit(context, &catalog.signer, request_subject, output, catalog.sessions).await? {
            ElicitationOutcome::Later(required) => return Ok(required.into()),
            ElicitationOutcome::Now(answered) => resumed = answered,
            ElicitationOutcome::Never => return Err(ErrorData::invalid_request(text, None)),
        }
    }
    Err(ErrorData::internal_error("The prompt asks without end.", None))
}

/// Returns the arguments in the order of the definition.
fn ordered_arguments(
    def: &PromptDef,
    mut arguments: JsonObject,
) -> Result<Vec<Option<String>>, ErrorData> {
    let ordered_arguments = def.arguments.iter().map(|argument| {
        let value = match arguments.remove(argument.name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text),
            Some(other) => Some(other.to_string()),
        };
        if value.is_none() && argument.required {
            let missing =
                format!("The prompt {} needs the argument {:?}.", def.name, argument.name);
            return Err(ErrorData::invalid_params(missing, None));
        }
        Ok(value)
    });
    ordered_arguments.collect()
}

//! Prompts on the wire: what clients show as slash commands.

use std::sync::Arc;

use memoranda_engine::{Concern, EngineError, StoreError};
use memoranda_tools::{PromptCall, PromptDef};
use rmcp::model::{
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, JsonObject,
    ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use super::ask::{Asked, ROUNDS, Resumed, ask};
use super::tools::block;
use super::{about, blocking, failed_beneath, sentence};
use crate::call::first_look;
use crate::config::Speaker;
use crate::offer::{Offer, Offered};

/// The prompts of the sets that are on.
pub(super) fn list(offered: &Offered) -> ListPromptsResult {
    ListPromptsResult::with_all_items(offered.prompts().map(listed).collect())
}

fn listed(def: &'static PromptDef) -> Prompt {
    let argument = |argument: &memoranda_tools::PromptArgument| {
        PromptArgument::new(argument.name)
            .with_description(argument.description)
            .with_required(argument.required)
    };
    let arguments = def.arguments.iter().map(argument).collect();
    Prompt::new(def.name, Some(def.description), Some(arguments)).with_title(def.title)
}

/// What a prompt says.
pub(super) async fn get(
    offer: Arc<Offer>,
    offered: &Offered,
    request: GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let def = offered.prompts().find(|prompt| prompt.name == request.name);
    let def = def.ok_or_else(|| {
        ErrorData::invalid_params(format!("There is no prompt {:?}.", request.name), None)
    })?;
    let about = about("prompts/get", def.name, request.arguments.as_ref());
    let arguments = given(def, request.arguments.unwrap_or_default())?;
    if let Some(speaker) = offered.speaker(def.name) {
        let state = request.request_state.as_deref();
        let resumed = Resumed::open(&offer.seal, &about, request.input_responses, state)?;
        return speak(&offer, def, speaker, &arguments, resumed, &about, context).await;
    }
    let tools = offered.shared_tools();
    let said = blocking(move || {
        first_look(&offer.memory, &Concern::Everything, &|_, _| ());
        let (memory, settings) = (&*offer.memory, &*offer.settings);
        let call = PromptCall { memory, settings, tools: &tools, arguments: &arguments };
        let said = (def.render)(&call).map_err(|error| match error {
            EngineError::Invalid(_)
            | EngineError::Project(_)
            | EngineError::Store(StoreError::NoProject { .. }) => {
                ErrorData::invalid_params(sentence(&error), None)
            }
            error => failed_beneath("make the prompt", &error),
        })?;
        let message = PromptMessage::new_text(Role::User, said.text);
        Ok(GetPromptResult::new(vec![message]).with_description(def.description))
    });
    Ok(said.await?.into())
}

/// What a prompt says that says more than text, or asks.
async fn speak(
    offer: &Offer,
    def: &'static PromptDef,
    speaker: &'static Speaker,
    arguments: &[Option<String>],
    mut resumed: Resumed,
    about: &str,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    for _ in 0..ROUNDS {
        let exchange = resumed.exchange();
        let text = (speaker.say)(&exchange, arguments);
        let said = exchange.into_side_output();
        if said.questions.is_empty() {
            let blocks = said.attached.into_iter().map(block);
            let blocks = blocks.chain(std::iter::once(ContentBlock::text(text)));
            let messages = blocks.map(|block| PromptMessage::new(Role::User, block)).collect();
            return Ok(GetPromptResult::new(messages).with_description(def.description).into());
        }
        match ask(context, &offer.seal, about, said, offer.sessions).await? {
            Asked::Later(required) => return Ok(required.into()),
            Asked::Now(answered) => resumed = answered,
            Asked::Never => return Err(ErrorData::invalid_request(text, None)),
        }
    }
    Err(ErrorData::internal_error("The prompt asks without end.", None))
}

/// The arguments in the order of the definition.
fn given(def: &PromptDef, mut arguments: JsonObject) -> Result<Vec<Option<String>>, ErrorData> {
    let given = def.arguments.iter().map(|argument| {
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
    given.collect()
}

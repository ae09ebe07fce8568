//! Prompts on the wire: what clients show as slash commands.

use std::sync::Arc;

use memoranda_dialects::PromptDef;
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, JsonObject, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage, Role,
};
use serde_json::Value;

use super::{blocking, failed_beneath};
use crate::offer::{Offer, Offered};

/// The prompts of the sets that are on.
pub(super) fn list(offered: &Offered) -> ListPromptsResult {
    ListPromptsResult::with_all_items(offered.prompts().map(listed).collect())
}

fn listed(def: &'static PromptDef) -> Prompt {
    let argument = |argument: &memoranda_dialects::PromptArgument| {
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
) -> Result<GetPromptResult, ErrorData> {
    let def = offered.prompts().find(|prompt| prompt.name == request.name);
    let def = def.ok_or_else(|| {
        ErrorData::invalid_params(format!("There is no prompt {:?}.", request.name), None)
    })?;
    let arguments = given(def, request.arguments.unwrap_or_default())?;
    blocking(move || {
        let said = (def.render)(&offer.memory, &offer.settings, &arguments)
            .map_err(|error| failed_beneath("make the prompt", &error))?;
        let message = PromptMessage::new_text(Role::User, said.text);
        Ok(GetPromptResult::new(vec![message]).with_description(def.description))
    })
    .await
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

//! Secrets in observations.

use memoranda_core::secrets;
use memoranda_engine::graph::ObservationInput;

use super::error::{GraphToolResult, refused};
use crate::registry::CallContext;
use crate::settings::SecretPolicy;

/// Screens observations for secrets by the configured policy. Returns the warnings.
pub(super) fn screen_secrets(
    call: &CallContext<'_>,
    about: &str,
    facts: &mut [ObservationInput],
) -> GraphToolResult<Vec<String>> {
    let mut warnings = Vec::new();
    for ObservationInput { content: fact, .. } in facts {
        let Some(secret) = secrets::find_secrets(fact).into_iter().next() else { continue };
        warnings.push(match call.settings.secrets {
            SecretPolicy::Refuse => {
                return Err(refused(format!(
                    "Nothing was saved: an observation of '{about}' looks like a secret ({}). Leave \
                     it out.",
                    secret.kind
                )));
            }
            SecretPolicy::Redact => {
                *fact = secrets::redact_all(fact);
                format!("Entity '{about}': what looked like a secret ({}) was replaced", secret.kind)
            }
            SecretPolicy::Warn => {
                format!("Entity '{about}': an observation looks like a secret ({})", secret.kind)
            }
        });
    }
    Ok(warnings)
}

//! The embedding model of searches.
//!
//! A model that cannot be used is no error: searches use the built-in model and report the reason.

use std::sync::Arc;
use std::time::Duration;

use memoranda_engine::{EmbeddingModel, EmbeddingOptions, ModelError, TextEmbedder};
use memoranda_model::{EndpointOptions, ModelEndpoint, ModelProtocol};

use super::AppSettings;
use crate::env;

/// Maximum size of a response in bytes: 32 vectors of 3,000 numbers in JSON exceed one megabyte.
const MAX_ANSWER_BYTES: u64 = 64 << 20;

/// A model that cannot be used, with the reason.
#[derive(Debug)]
struct UnusableEmbedder {
    name: String,
    reason: String,
}

impl TextEmbedder for UnusableEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn id(&self) -> Result<String, ModelError> {
        Err(ModelError::Unusable { reason: self.reason.clone() })
    }

    fn embed(&self, _: &[&str], _: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        Err(ModelError::Unusable { reason: self.reason.clone() })
    }
}

impl AppSettings {
    /// Returns the configured embedding model; `None` for the built-in model.
    pub(crate) fn search_model(&self) -> Option<EmbeddingModel> {
        let value = self.value("search.model").trim();
        if value.is_empty() {
            return None;
        }
        let limit = self.value("search.timeout_seconds").parse().unwrap_or(2);
        let options = EmbeddingOptions {
            limit: Duration::from_secs(limit),
            question_prefix: self.value("search.question_prefix").to_owned(),
            passage_prefix: self.value("search.passage_prefix").to_owned(),
        };
        let embedder = if value.contains("://") {
            self.search_endpoint(value, options.limit)
        } else {
            self.search_folder(value)
        };
        Some(EmbeddingModel::new(embedder, options))
    }

    fn search_endpoint(&self, url: &str, limit: Duration) -> Arc<dyn TextEmbedder> {
        let name = self.value("search.model_name").trim();
        let unusable = |reason: String| -> Arc<dyn TextEmbedder> {
            let name = if name.is_empty() { url } else { name };
            Arc::new(UnusableEmbedder { name: name.to_owned(), reason })
        };
        let key = match self.key(&env::MEMORANDA_SEARCH_KEY, "search.key_file") {
            Ok(key) => key,
            Err(error) => return unusable(error.message),
        };
        let endpoint = ModelEndpoint::new(EndpointOptions {
            protocol: ModelProtocol::OpenAi,
            url: url.to_owned(),
            model: name.to_owned(),
            key,
            limit,
            max_answer_bytes: MAX_ANSWER_BYTES,
        });
        match endpoint {
            Ok(endpoint) => Arc::new(endpoint),
            Err(error) if name.is_empty() => {
                unusable(format!("{error}; `memoranda config set search.model_name NAME` does"))
            }
            Err(error) => unusable(error.to_string()),
        }
    }

    #[cfg(feature = "local-models")]
    fn search_folder(&self, value: &str) -> Arc<dyn TextEmbedder> {
        Arc::new(memoranda_model::LocalModel::new(&self.path(value)))
    }

    #[cfg(not(feature = "local-models"))]
    fn search_folder(&self, value: &str) -> Arc<dyn TextEmbedder> {
        let path = self.path(value);
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let reason = "this program was built without the feature `local-models`; build it with, or \
                      let `search.model` be the address of a server";
        Arc::new(UnusableEmbedder { name, reason: reason.to_owned() })
    }
}

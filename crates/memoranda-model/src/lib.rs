//! The only module that calls language models: a configured endpoint, with limits.
//!
//! Two protocols cover nearly every server: OpenAI's, which Ollama, LM Studio, llama.cpp and vLLM
//! speak too, and Anthropic's. Each call has one time limit, retries included, and a limit on the
//! size of the response. It follows no redirect, and sends its key only to the configured address.

mod chat;
mod embed;
mod http;
#[cfg(feature = "local")]
mod local;
mod options;

use std::time::Duration;

use memoranda_engine::{LanguageModel, ModelError, ModelQuestion, TextEmbedder};

#[cfg(feature = "local")]
pub use local::LocalModel;
pub use options::{ApiKey, EndpointOptions, EndpointOptionsError, ModelProtocol};

use http::{HttpClient, RequestDeadline};

/// A server that answers questions and returns embeddings of texts.
#[derive(Debug)]
pub struct ModelEndpoint {
    options: EndpointOptions,
    http: HttpClient,
}

impl ModelEndpoint {
    /// Checks the options. Nothing is sent before the first question.
    pub fn new(options: EndpointOptions) -> Result<Self, EndpointOptionsError> {
        options.check()?;
        let http = HttpClient::new(&options);
        Ok(Self { options, http })
    }
}

impl LanguageModel for ModelEndpoint {
    fn name(&self) -> &str {
        &self.options.model
    }

    fn answer(&self, question: &ModelQuestion<'_>) -> Result<String, ModelError> {
        chat::answer(&self.options, &self.http, question)
    }
}

impl TextEmbedder for ModelEndpoint {
    fn name(&self) -> &str {
        &self.options.model
    }

    fn id(&self) -> Result<String, ModelError> {
        Ok(format!("{} {}", self.options.url.trim_end_matches('/'), self.options.model))
    }

    fn embed(&self, texts: &[&str], limit: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        embed::embed(&self.options, &self.http, texts, RequestDeadline::after(limit))
    }
}

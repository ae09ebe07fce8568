//! The only door to language models: an endpoint somewhere, asked with limits.
//!
//! Two ways of asking cover nearly every server: that of OpenAI, which Ollama, LM Studio,
//! llama.cpp and vLLM speak too, and that of Anthropic. Each call has one time limit for
//! everything, retries included; reads no more than a fixed size; follows no redirect; and sends
//! its key nowhere but to the address that was configured.

mod chat;
mod embed;
mod exchange;
#[cfg(feature = "local")]
mod local;
mod options;

use std::time::Duration;

use memoranda_engine::{Embedder, LanguageModel, ModelError, Question};

#[cfg(feature = "local")]
pub use local::Local;
pub use options::{BadOptions, Key, Options, Protocol};

use exchange::{Deadline, Exchange};

/// A server that answers questions and makes vectors of texts.
#[derive(Debug)]
pub struct Endpoint {
    options: Options,
    exchange: Exchange,
}

impl Endpoint {
    /// Takes the options; nothing is sent until something is asked.
    pub fn new(options: Options) -> Result<Self, BadOptions> {
        options.check()?;
        let exchange = Exchange::new(&options);
        Ok(Self { options, exchange })
    }
}

impl LanguageModel for Endpoint {
    fn name(&self) -> &str {
        &self.options.model
    }

    fn answer(&self, question: &Question<'_>) -> Result<String, ModelError> {
        chat::answer(&self.options, &self.exchange, question)
    }
}

impl Embedder for Endpoint {
    fn name(&self) -> &str {
        &self.options.model
    }

    fn id(&self) -> Result<String, ModelError> {
        Ok(format!("{} {}", self.options.url.trim_end_matches('/'), self.options.model))
    }

    fn embed(&self, texts: &[&str], limit: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        embed::embed(&self.options, &self.exchange, texts, Deadline::after(limit))
    }
}

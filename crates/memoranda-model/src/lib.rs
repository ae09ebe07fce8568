//! The only door to language models: an endpoint somewhere, asked with limits.
//!
//! Two ways of asking cover nearly every server: that of OpenAI, which Ollama, LM Studio,
//! llama.cpp and vLLM speak too, and that of Anthropic. Each call has one time limit for
//! everything, retries included; reads no more than a fixed size; follows no redirect; and sends
//! its key nowhere but to the address that was configured.

mod chat;
mod embed;
mod exchange;
mod options;

use memoranda_engine::{LanguageModel, ModelError, Question};

pub use options::{BadOptions, Key, Options, Protocol};

use exchange::Exchange;

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

    /// Makes a vector of each text, in order.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        embed::embed(&self.options, &self.exchange, texts)
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

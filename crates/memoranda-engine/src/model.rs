//! Models, as far as memory needs them: one that answers in words, one that makes vectors. The engine asks; what stands behind it, and
//! whether there is one at all, is decided where everything is wired together.

use std::fmt;
use std::time::Duration;

/// A program that answers a question in words. Its answers are untrusted text.
pub trait LanguageModel: fmt::Debug + Send + Sync {
    /// Name for answers and diagnostics.
    fn name(&self) -> &str;

    /// Answers within its own limits of time and size.
    fn answer(&self, question: &ModelQuestion<'_>) -> Result<String, ModelError>;
}

/// A program that computes a vector of each text, so that similar texts have similar vectors.
pub trait TextEmbedder: fmt::Debug + Send + Sync {
    /// Name shown to people.
    fn name(&self) -> &str;

    /// Names the model in caches: vectors under different names cannot be compared. A model that
    /// has to be loaded is loaded here.
    fn id(&self) -> Result<String, ModelError>;

    /// A vector of each text, in order, all of one length. What can be interrupted ends at the
    /// limit.
    fn embed(&self, texts: &[&str], limit: Duration) -> Result<Vec<Vec<f32>>, ModelError>;
}

/// Question to a language model.
#[derive(Clone, Copy, Debug)]
pub struct ModelQuestion<'a> {
    /// Instructions, written by this program.
    pub instructions: &'a str,
    /// Text of the user to which the instructions apply.
    pub text: &'a str,
    /// The longest answer that is of use, in tokens.
    pub max_tokens: u32,
}

/// Reason why a language model did not answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ModelError {
    /// The time was up, retries included.
    #[error("no answer within {} s", .limit.as_secs_f32())]
    TimedOut {
        /// The time that it had.
        limit: Duration,
    },
    /// The model cannot be used at all.
    #[error("it cannot be used: {reason}")]
    Unusable {
        /// The problem and its remedy.
        reason: String,
    },
    /// Nobody could be reached.
    #[error("it cannot be reached: {reason}")]
    Unreachable {
        /// The obstacle.
        reason: String,
    },
    /// The model answered with an error.
    #[error("it answered with status {status}: {message}")]
    Refused {
        /// The status of HTTP.
        status: u16,
        /// Beginning of the answer.
        message: String,
    },
    /// The answer is not valid.
    #[error("its answer cannot be read: {reason}")]
    Malformed {
        /// The problem with the answer.
        reason: String,
    },
    /// The answer is longer than the limit.
    #[error("its answer is larger than {limit} bytes")]
    TooLarge {
        /// Maximum number of bytes that are read.
        limit: u64,
    },
}

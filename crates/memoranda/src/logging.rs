//! What the server notes about itself: lines on standard error, never on standard output.

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::output::{self, Verbosity};

/// Sends notes up to a level to standard error from now on.
pub(crate) fn init(verbosity: Verbosity) {
    let level = match verbosity {
        Verbosity::Quiet => Level::ERROR,
        Verbosity::Normal => Level::WARN,
        Verbosity::Verbose => Level::DEBUG,
    };
    // Only the first in a process counts, and there is one command in a process.
    tracing::subscriber::set_global_default(StderrSubscriber { level }).ok();
}

/// One line a note; spans are not kept.
struct StderrSubscriber {
    level: Level,
}

impl Subscriber for StderrSubscriber {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // The protocol's library tells much that is nobody's concern.
        let most = match metadata.target().split("::").next() {
            Some("rmcp") => Level::ERROR,
            Some(
                "memoranda_server" | "memoranda_tools" | "memoranda_engine" | "memoranda_model"
                | "memoranda_store",
            ) => self.level,
            _ => self.level.min(Level::WARN),
        };
        metadata.is_event() && *metadata.level() <= most
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let level = event.metadata().level().as_str().to_lowercase();
        output::note(&format!("memoranda: {level}: {}", memoranda_server::format_event(event)));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

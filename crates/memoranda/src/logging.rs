//! Log messages of the server on standard error, never on standard output.

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::output::{self, Verbosity};

/// Starts logging to standard error.
pub(crate) fn init(verbosity: Verbosity) {
    let level = match verbosity {
        Verbosity::Quiet => Level::ERROR,
        Verbosity::Normal => Level::WARN,
        Verbosity::Verbose => Level::DEBUG,
    };
    // Only the first subscriber of a process is used, and a process runs one command.
    tracing::subscriber::set_global_default(StderrSubscriber { level }).ok();
}

/// Prints one line per event; spans are ignored.
struct StderrSubscriber {
    level: Level,
}

impl Subscriber for StderrSubscriber {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Messages of the protocol library are shown as errors only.
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

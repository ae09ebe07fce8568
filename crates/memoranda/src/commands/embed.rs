//! `memoranda embed`: make the vectors of the model that was chosen.

use memoranda_engine::{EmbedError, EmbedOutcome, EmbedReport, ModelStatus};
use serde::Serialize;

use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::counted;
use crate::progress::ProgressBar;

/// Compute embeddings: those of the model that `search.model` names.
///
/// A running server does this by itself, and the built-in model needs no such step. Embeddings are
/// cached by text, so only new texts cost time. The command can be interrupted and continues where
/// it stopped. Searches work meanwhile.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda config set search.model ~/models/all-MiniLM-L6-v2 && memoranda embed
  memoranda embed --rebuild

JSON (--json):
  {model, made, refused, covered, passages, elsewhere}; elsewhere is true if another process is
  computing them")]
pub(crate) struct Args {
    /// Delete the vectors made before; needed if another model has the same name.
    #[arg(long, alias = "anew")]
    rebuild: bool,
}

#[derive(Serialize)]
struct EmbedJson {
    model: String,
    made: usize,
    refused: usize,
    covered: u64,
    passages: u64,
    elsewhere: bool,
}

/// Makes what is missing.
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    let memory = context.open_synced()?;
    if args.rebuild {
        memory.forget_meanings()?;
    }
    let mut progress = ProgressBar::new(&context.printer);
    let outcome =
        memory.make_meanings(&mut |n, of| progress.show("Computing embeddings", n, of))?;
    drop(progress);
    let Some(ModelStatus { model, coverage: Ok(coverage) }) = memory.model_status()? else {
        return Err(EmbedError::NoModel.into());
    };
    let (covered, passages) = (coverage.covered, coverage.passages);
    let far = format!("{covered} of {}", counted(passages as usize, "passage"));
    let (EmbedReport { made, refused }, sentence) = match outcome {
        EmbedOutcome::Elsewhere | EmbedOutcome::Closed => (
            EmbedReport::default(),
            format!("Another process is computing them: {model} has {far}"),
        ),
        EmbedOutcome::Done(made) => {
            let texts = counted(made.made, "new text");
            (made, format!("Embedded {texts} with {model}: {far}"))
        }
    };
    let elsewhere = !matches!(outcome, EmbedOutcome::Done(_));
    let json = EmbedJson { model, made, refused, covered, passages, elsewhere };
    context.printer.done(&json, sentence)?;
    if refused > 0 {
        let texts = counted(refused, "text");
        context
            .printer
            .warn(format!("the model refused {texts}; searches use the built-in model for them"));
    }
    Ok(Exit::Success)
}

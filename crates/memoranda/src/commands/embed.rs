//! `memoranda embed`: make the vectors of the model that was chosen.

use memoranda_engine::{Made, MakeError, MakeOutcome, ModelStatus};
use serde::Serialize;

use crate::error::Result;
use crate::exit::Exit;
use crate::output::counted;
use crate::progress::Progress;
use crate::session::Session;

/// Make the vectors of the model that `search.model` names.
///
/// A running server does this by itself; the model that is built in needs nothing of the kind. What
/// was made is kept by the text that it is of, so only new texts cost time. It can be interrupted,
/// and goes on where it stopped. Searches go on meanwhile.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  memoranda config set search.model ~/models/all-MiniLM-L6-v2 && memoranda embed
  memoranda embed --anew

JSON (--json):
  {model, made, refused, covered, passages, elsewhere}; elsewhere says that another process is at it")]
pub(crate) struct Args {
    /// Throw away what was made before; needed if another model goes by the same name.
    #[arg(long)]
    anew: bool,
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
pub(crate) fn run(session: &Session, args: &Args) -> Result<Exit> {
    let memory = session.reading()?;
    if args.anew {
        memory.forget_meanings()?;
    }
    let mut progress = Progress::new(&session.printer);
    let outcome = memory.make_meanings(&mut |n, of| progress.show("Reading meanings", n, of))?;
    drop(progress);
    let Some(ModelStatus { model, coverage: Ok(coverage) }) = memory.model_status()? else {
        return Err(MakeError::NoModel.into());
    };
    let (covered, passages) = (coverage.covered, coverage.passages);
    let far = format!("{covered} of {}", counted(passages as usize, "passage"));
    let (Made { made, refused }, sentence) = match outcome {
        MakeOutcome::Elsewhere | MakeOutcome::Closed => {
            (Made::default(), format!("Another process is at it: {model} has come to {far}"))
        }
        MakeOutcome::Done(made) => {
            let texts = counted(made.made, "new text");
            (made, format!("Embedded {texts} with {model}: it has come to {far}"))
        }
    };
    let elsewhere = !matches!(outcome, MakeOutcome::Done(_));
    let json = EmbedJson { model, made, refused, covered, passages, elsewhere };
    session.printer.done(&json, sentence)?;
    if refused > 0 {
        let texts = counted(refused, "text");
        session.printer.warn(format!(
            "the model did not take {texts}; searches compare them by the one that is built in"
        ));
    }
    Ok(Exit::Done)
}

//! Lets the user pick one line of a list on the terminal, by arrows and by typing.

use dialoguer::FuzzySelect;
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};

use crate::context::CommandContext;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::visible;

/// Maximum number of lines on the screen.
const MAX_SHOWN: usize = 15;

/// Returns the position of the picked line; `None` if the user left with Esc.
pub(crate) fn pick(
    context: &CommandContext,
    prompt: &str,
    lines: &[String],
) -> Result<Option<usize>> {
    if context.args.no_input || !context.printer.can_ask() {
        return Err(CommandError::usage("`-i` needs a terminal and a person")
            .hint("without `-i` the list is printed"));
    }
    let lines: Vec<_> = lines.iter().map(|line| visible(line)).collect();
    let colorful = ColorfulTheme::default();
    let theme: &dyn Theme = if context.printer.has_color() { &colorful } else { &SimpleTheme };
    let picked = FuzzySelect::with_theme(theme)
        .with_prompt(prompt)
        .items(lines)
        .default(0)
        .max_length(MAX_SHOWN)
        // The answer says which line it was; behind the prompt it may be wider than the terminal.
        .report(false)
        .interact_opt();
    picked.map_err(|e| CommandError::new(Exit::Internal, format!("cannot read the terminal: {e}")))
}

//! The list of commands in `memoranda help`, grouped by purpose.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use crate::commands::HELP_GROUPS;

/// Style of a group's heading.
const HEADING: Style = Style::new().bold().underline();
/// Style of a command's name.
const NAME: Style = AnsiColor::Cyan.on_default();

/// Replaces the flat list of commands in the help of the whole program.
pub(crate) fn group_commands(command: clap::Command) -> clap::Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{HEADING}Flags of every \
         command:{HEADING:#}\n{{options}}{{after-help}}",
        groups(&command)
    );
    command.help_template(template)
}

fn groups(command: &clap::Command) -> String {
    let width = HELP_GROUPS.iter().flat_map(|group| group.commands).map(|name| name.len()).max();
    let width = width.unwrap_or_default();
    let mut text = String::new();
    for group in HELP_GROUPS {
        // Writing to a String cannot fail.
        writeln!(text, "{HEADING}{}:{HEADING:#}", group.heading).ok();
        for name in group.commands {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let about = first_clause(&about);
            writeln!(text, "  {NAME}{name:width$}{NAME:#}  {about}").ok();
        }
        text.push('\n');
    }
    text
}

/// Returns the beginning of a sentence, so that each command takes one line of 60 columns.
fn first_clause(about: &str) -> &str {
    [": ", "; ", ", "]
        .iter()
        .filter_map(|end| about.split_once(end))
        .map(|(first, _)| first)
        .min_by_key(|first| first.len())
        .unwrap_or(about)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_takes_one_line_of_sixty_columns() {
        let mut command = Cli::command();
        command.build();
        for line in groups(&command).lines() {
            let plain = anstream::adapter::strip_str(line).to_string();
            assert!(plain.chars().count() <= 60, "{plain}");
        }
    }

    #[test]
    fn every_visible_command_is_in_one_group() {
        let mut command = Cli::command();
        command.build();
        let visible = command.get_subcommands().filter(|command| !command.is_hide_set());
        let mut visible: Vec<_> =
            visible.map(clap::Command::get_name).filter(|name| *name != "help").collect();
        let mut grouped: Vec<_> =
            HELP_GROUPS.iter().flat_map(|group| group.commands).copied().collect();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, visible);
    }
}

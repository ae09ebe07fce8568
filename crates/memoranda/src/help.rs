//! The list of commands in `memoranda help`, grouped by purpose.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use clap::builder::StyledStr;

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

/// Names the flags of every command in the help of each command, instead of describing them there
/// again: `memoranda help` describes them.
pub(crate) fn shorten_global_flags(command: clap::Command) -> clap::Command {
    let flags = global_flags(&command);
    command.mut_subcommands(|command| with_short_flags(command, &flags))
}

fn with_short_flags(command: clap::Command, flags: &str) -> clap::Command {
    let hidden = |arg: clap::Arg| if arg.is_global_set() { arg.hide(true) } else { arg };
    let with_flags = |text: Option<&StyledStr>| match text {
        Some(text) => format!("{flags}\n\n{}", text.ansi()),
        None => flags.to_owned(),
    };
    let short = with_flags(command.get_after_help());
    let long = with_flags(command.get_after_long_help().or(command.get_after_help()));
    let command = command.mut_args(hidden).after_help(short).after_long_help(long);
    command.mut_subcommands(|command| with_short_flags(command, flags))
}

/// Returns the names of the flags of every command in lines of 60 columns.
fn global_flags(command: &clap::Command) -> String {
    let mut text = format!("{HEADING}Flags of every command:{HEADING:#}");
    let mut width = usize::MAX;
    for arg in command.get_arguments().filter(|arg| arg.is_global_set()) {
        let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
        let name = format!("{short}--{}", arg.get_long().unwrap_or_default());
        if width.saturating_add(name.len() + 2) > 60 {
            text.push_str("\n  ");
            width = 2;
        } else {
            text.push_str("  ");
            width += 2;
        }
        width += name.len();
        text.push_str(&name);
    }
    text.push_str("\n  `memoranda help` describes them.");
    text
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
    fn the_help_of_a_command_names_the_flags_of_every_command_in_few_lines() {
        let mut command = Cli::command();
        command.build();
        let mut command = shorten_global_flags(command);
        let log = command.find_subcommand_mut("log").unwrap().render_long_help().to_string();
        assert!(log.contains("-p, --project") && log.contains("--no-scan"), "{log}");
        assert!(!log.contains("Never ask"), "{log}");
        let (flags, examples) = log.split_once("\n\nExamples:\n").unwrap();
        assert!(examples.contains("memoranda log") && flags.contains("Flags of every"), "{log}");
        let flags = flags.lines().skip_while(|line| !line.starts_with("Flags of every"));
        assert!(flags.clone().count() <= 5, "{log}");
        assert!(flags.clone().all(|line| line.chars().count() <= 60), "{log}");
        assert!(command.render_long_help().to_string().contains("Never ask"));
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

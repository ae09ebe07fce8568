//! Answers to commands that do not exist: the command that does what the word means, else the one
//! with the most similar name. A command that destroys data is never suggested by similarity.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::commands::HELP_GROUPS;
use crate::env;
use crate::error::CommandError;

/// Commands that a typing error must not lead to.
const DESTRUCTIVE: &[&str] = &["rm", "vacuum", "expire", "undo", "redo", "forget"];

/// Lowest similarity of two names, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.82;

/// Words that people type for something that has another name, with the sentence that helps.
const MEANINGS: &[(&[&str], &str)] = &[
    (
        &["connect", "install", "integrate", "clients", "agents", "configure"],
        "`memoranda setup` connects your agents",
    ),
    (&["revert", "rollback", "back"], "`memoranda undo` takes the last change back"),
    (
        &["query", "grep", "lookup", "look", "ask", "chat"],
        "`memoranda search WORDS` finds what was written",
    ),
    (&["view", "read", "get", "print"], "`memoranda show NOTE` shows a note"),
    (
        &["new", "note", "write", "create", "save", "store", "put", "memo"],
        "`memoranda add TEXT` makes a note",
    ),
    (&["change", "modify", "update-note"], "`memoranda edit NOTE` opens a note in your editor"),
    (&["rename", "move"], "`memoranda mv NOTE NEW` renames or moves a note"),
    (
        &["erase", "remove", "del", "trash"],
        "`memoranda rm NOTE` deletes a note; `undo` brings it back",
    ),
    (&["server", "start", "http", "daemon"], "`memoranda serve` answers over HTTP"),
    (
        &["ui", "web", "page", "browser", "dashboard"],
        "`memoranda open` shows the memory in your browser",
    ),
    (&["who", "author", "authors", "annotate"], "`memoranda blame NOTE` shows who wrote each line"),
    (&["why", "explain"], "`memoranda search WORDS --explain` shows why a note was found"),
    (
        &["clear", "reset", "destroy", "wipe", "delete-all"],
        "nothing empties the vault at once; `memoranda rm NOTE` deletes a note, `undo` brings it back",
    ),
    (
        &["stop", "quit", "exit", "kill"],
        "Ctrl-C ends `memoranda serve`; nothing else runs on its own",
    ),
    (
        &["memory", "memories"],
        "`memoranda recall` shows what is known; `memoranda list` lists the notes",
    ),
    (
        &["trash-list", "deleted", "bin", "undelete", "recover"],
        "`memoranda restore` lists what was deleted, and `restore NOTE` brings it back",
    ),
    (&["info", "stats", "about"], "`memoranda status` shows the vault in numbers"),
    (
        &["check", "health", "verify", "repair", "fix", "fsck"],
        "`memoranda doctor` checks everything",
    ),
    (&["settings", "preferences", "set"], "`memoranda config` shows every setting"),
    (&["backup", "dump", "archive"], "`memoranda export` writes an archive"),
    (&["load", "migrate"], "`memoranda import` reads other programs' memories"),
    (&["login", "auth", "password"], "`memoranda token` prints the token of the HTTP server"),
    (&["whoami", "user", "name"], "`memoranda config get name` shows your name in the history"),
    (
        &["share", "team"],
        "`memoranda serve` answers over HTTP; `memoranda help admin` is about teams",
    ),
    (&["remind", "reminder", "todo", "due"], "`memoranda reminders` lists what is due"),
    (&["rule", "agents-md"], "`memoranda rules` shows the rules of this repository"),
    (&["projects", "folders", "vaults"], "`memoranda project` lists the projects"),
    (&["tag", "tags", "tree", "notes"], "`memoranda list` lists the notes"),
    (&["changes", "commits", "commit", "timeline"], "`memoranda log` shows who changed what"),
    (
        &["clean", "prune", "purge", "gc", "compact"],
        "`memoranda vacuum --dry-run` shows what could leave the history for good",
    ),
    (&["refresh", "index", "rescan"], "`memoranda scan` looks at the files"),
    (
        &["update", "upgrade", "self-update"],
        "install the newer version the way you installed this one; the vault stays as it is",
    ),
    (&["version", "ver"], "use the flag `--version`"),
    (&["uninstall"], "`memoranda setup --remove` takes it out of your agents; the vault stays"),
];

/// Returns the error for an unknown command; `None` if the error has another cause.
pub(crate) fn unknown_command(error: &clap::Error) -> Option<CommandError> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    // The commands of a command have clap's own answer.
    let known = |argument: &std::ffi::OsString| {
        argument.to_str().is_some_and(|argument| names().any(|name| name == argument))
    };
    if env::arguments()
        .skip(1)
        .take_while(|argument| argument.to_str() != Some(word))
        .any(|a| known(&a))
    {
        return None;
    }
    let message = format!("there is no command {word:?}");
    Some(CommandError::usage(message).hint(hint_for(word)))
}

fn names() -> impl Iterator<Item = &'static str> {
    HELP_GROUPS.iter().flat_map(|group| group.commands).copied()
}

fn hint_for(word: &str) -> String {
    let word = word.to_lowercase();
    if let Some((_, sentence)) = MEANINGS.iter().find(|(words, _)| words.contains(&word.as_str())) {
        return (*sentence).to_owned();
    }
    let safe = names().filter(|name| !DESTRUCTIVE.contains(name));
    let best = safe
        .map(|name| (strsim::jaro_winkler(&word, name), name))
        .max_by(|left, right| left.0.total_cmp(&right.0));
    match best {
        Some((similarity, name)) if similarity >= MIN_SIMILARITY => {
            format!("did you mean `memoranda {name}`?")
        }
        _ => "`memoranda help` lists the commands".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_word_leads_to_what_was_meant() {
        for (word, expected) in [
            ("serach", "did you mean `memoranda search`?"),
            ("statsu", "did you mean `memoranda status`?"),
            ("Setup", "did you mean `memoranda setup`?"),
            ("connect", "`memoranda setup` connects your agents"),
            ("revert", "`memoranda undo` takes the last change back"),
            ("whoami", "`memoranda config get name` shows your name in the history"),
            ("look", "`memoranda search WORDS` finds what was written"),
            ("who", "`memoranda blame NOTE` shows who wrote each line"),
            ("fix", "`memoranda doctor` checks everything"),
            (
                "reset",
                "nothing empties the vault at once; `memoranda rm NOTE` deletes a note, `undo` brings it back",
            ),
            (
                "deleted",
                "`memoranda restore` lists what was deleted, and `restore NOTE` brings it back",
            ),
            (
                "bin",
                "`memoranda restore` lists what was deleted, and `restore NOTE` brings it back",
            ),
            (
                "undelete",
                "`memoranda restore` lists what was deleted, and `restore NOTE` brings it back",
            ),
            (
                "recover",
                "`memoranda restore` lists what was deleted, and `restore NOTE` brings it back",
            ),
            ("xyzzy", "`memoranda help` lists the commands"),
        ] {
            assert_eq!(hint_for(word), expected, "{word}");
        }
    }

    #[test]
    fn a_typing_error_never_suggests_to_destroy() {
        for word in ["rn", "rmm", "vacum", "vaccum", "expier", "udno", "undoo", "fogret", "r"] {
            let hint = hint_for(word);
            for name in DESTRUCTIVE {
                assert!(!hint.contains(&format!("memoranda {name}`")), "{word}: {hint}");
            }
        }
    }

    #[test]
    fn every_meaning_names_an_existing_command() {
        for (words, sentence) in MEANINGS {
            for word in *words {
                assert!(!names().any(|name| name == *word), "{word} is a command");
            }
            let Some((_, rest)) = sentence.split_once("`memoranda ") else { continue };
            let command = rest.split([' ', '`']).next().unwrap_or_default();
            assert!(names().any(|name| name == command), "{sentence}");
        }
    }
}

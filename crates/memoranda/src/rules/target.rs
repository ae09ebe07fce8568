//! The readers of rule files: one row each.

/// One program, or several that read the same file, and how it wants its rules.
pub(crate) struct Target {
    /// What people type.
    pub(crate) name: &'static str,
    /// Other names for it.
    pub(crate) also: &'static [&'static str],
    /// The file; of several, the one for rules that hold everywhere.
    pub(crate) path: &'static str,
    /// How it is written.
    pub(crate) form: Form,
    /// What shows that the program is used here: one of these exists.
    pub(crate) signs: &'static [&'static str],
    /// Whether `all` means it too.
    pub(crate) in_all: bool,
}

/// How a target's rules are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A block between marks in a file that people write.
    Block,
    /// A file of its own without frontmatter.
    Plain,
    /// Files of their own, those for certain files with a list of globs under this key.
    PathList(&'static str),
    /// Files of their own as Cursor reads them.
    Cursor,
    /// Files of their own as Copilot reads them.
    Copilot,
    /// Files of their own as Windsurf reads them.
    Windsurf,
}

/// Every target, in the order in which they are written.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "agents",
        also: &["codex", "opencode", "zed", "vscode"],
        path: "AGENTS.md",
        form: Form::Block,
        signs: &["AGENTS.md", ".codex", ".zed", "opencode.json"],
        in_all: true,
    },
    Target {
        name: "claude",
        also: &["claude-code"],
        path: ".claude/rules/memoranda.md",
        form: Form::PathList("paths"),
        signs: &["CLAUDE.md", ".claude"],
        in_all: true,
    },
    // The same reader as above: for those who want everything in one file.
    Target {
        name: "claude-md",
        also: &[],
        path: "CLAUDE.md",
        form: Form::Block,
        signs: &[],
        in_all: false,
    },
    Target {
        name: "cursor",
        also: &[],
        path: ".cursor/rules/memoranda.mdc",
        form: Form::Cursor,
        signs: &[".cursor", ".cursorrules"],
        in_all: true,
    },
    Target {
        name: "copilot",
        also: &["github"],
        path: ".github/instructions/memoranda.instructions.md",
        form: Form::Copilot,
        signs: &[".github/copilot-instructions.md", ".github/instructions"],
        in_all: true,
    },
    Target {
        name: "windsurf",
        also: &[],
        path: ".windsurf/rules/memoranda.md",
        form: Form::Windsurf,
        signs: &[".windsurf", ".windsurfrules"],
        in_all: true,
    },
    Target {
        name: "cline",
        also: &[],
        path: ".clinerules/memoranda.md",
        form: Form::Plain,
        signs: &[".clinerules"],
        in_all: true,
    },
    Target {
        name: "roo",
        also: &[],
        path: ".roo/rules/memoranda.md",
        form: Form::Plain,
        signs: &[".roo"],
        in_all: true,
    },
    Target {
        name: "gemini",
        also: &[],
        path: "GEMINI.md",
        form: Form::Block,
        signs: &["GEMINI.md", ".gemini"],
        in_all: true,
    },
    Target {
        name: "goose",
        also: &[],
        path: ".goosehints",
        form: Form::Block,
        signs: &[".goosehints"],
        in_all: true,
    },
];

/// Files and folders that `rules import` looks at when none is named.
pub(crate) const READ_FROM: &[&str] = &[
    "AGENTS.md",
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    ".claude/rules",
    ".cursorrules",
    ".cursor/rules",
    ".github/copilot-instructions.md",
    ".github/instructions",
    ".windsurfrules",
    ".windsurf/rules",
    ".clinerules",
    ".roo/rules",
    "GEMINI.md",
    ".goosehints",
    ".rules",
];

/// The target that a name means.
pub(crate) fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name || target.also.contains(&name))
}

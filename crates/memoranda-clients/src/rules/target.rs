//! The readers of rule files: one row each.

/// One program, or several that read the same file, and the form of their rules.
pub struct RuleTarget {
    /// Name on the command line.
    pub name: &'static str,
    /// Other names for it.
    pub also: &'static [&'static str],
    /// The file; of several files, the one for rules that apply everywhere.
    pub path: &'static str,
    /// Form of the file.
    pub form: RuleFileForm,
    /// Files that show that the program is used: one of them exists.
    pub signs: &'static [&'static str],
    /// True if `all` includes the target.
    pub in_all: bool,
}

/// Form of a target's rule files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleFileForm {
    /// A block between marks in a file that people write.
    Block,
    /// A file of its own without frontmatter.
    Plain,
    /// A folder of files; a rule for certain files has its globs in a list under this key.
    PathList(&'static str),
    /// A folder of files in the form of Cursor.
    Cursor,
    /// A folder of files in the form of Copilot.
    Copilot,
    /// A folder of files in the form of Windsurf.
    Windsurf,
}

/// Every target, in the order in which they are written.
pub const TARGETS: &[RuleTarget] = &[
    RuleTarget {
        name: "agents",
        also: &["codex", "opencode", "zed", "vscode"],
        path: "AGENTS.md",
        form: RuleFileForm::Block,
        signs: &["AGENTS.md", ".codex", ".zed", "opencode.json"],
        in_all: true,
    },
    RuleTarget {
        name: "claude",
        also: &["claude-code"],
        path: ".claude/rules/memoranda.md",
        form: RuleFileForm::PathList("paths"),
        signs: &["CLAUDE.md", ".claude"],
        in_all: true,
    },
    // For users who want all rules of Claude Code in one file.
    RuleTarget {
        name: "claude-md",
        also: &[],
        path: "CLAUDE.md",
        form: RuleFileForm::Block,
        signs: &[],
        in_all: false,
    },
    RuleTarget {
        name: "cursor",
        also: &[],
        path: ".cursor/rules/memoranda.mdc",
        form: RuleFileForm::Cursor,
        signs: &[".cursor", ".cursorrules"],
        in_all: true,
    },
    RuleTarget {
        name: "copilot",
        also: &["github"],
        path: ".github/instructions/memoranda.instructions.md",
        form: RuleFileForm::Copilot,
        signs: &[".github/copilot-instructions.md", ".github/instructions"],
        in_all: true,
    },
    RuleTarget {
        name: "windsurf",
        also: &[],
        path: ".windsurf/rules/memoranda.md",
        form: RuleFileForm::Windsurf,
        signs: &[".windsurf", ".windsurfrules"],
        in_all: true,
    },
    RuleTarget {
        name: "cline",
        also: &[],
        path: ".clinerules/memoranda.md",
        form: RuleFileForm::Plain,
        signs: &[".clinerules"],
        in_all: true,
    },
    RuleTarget {
        name: "roo",
        also: &[],
        path: ".roo/rules/memoranda.md",
        form: RuleFileForm::Plain,
        signs: &[".roo"],
        in_all: true,
    },
    RuleTarget {
        name: "gemini",
        also: &[],
        path: "GEMINI.md",
        form: RuleFileForm::Block,
        signs: &["GEMINI.md", ".gemini"],
        in_all: true,
    },
    RuleTarget {
        name: "goose",
        also: &[],
        path: ".goosehints",
        form: RuleFileForm::Block,
        signs: &[".goosehints"],
        in_all: true,
    },
];

/// Files and folders that `rules import` looks at when none is named.
pub const READ_FROM: &[&str] = &[
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
pub fn find_target(name: &str) -> Option<&'static RuleTarget> {
    TARGETS.iter().find(|target| target.name == name || target.also.contains(&name))
}

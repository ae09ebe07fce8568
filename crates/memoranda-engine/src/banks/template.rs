//! Templates of new banks: files with sections, each with a placeholder sentence. The first content of
//! a section replaces its placeholder.
//!
//! Placeholders are shown and not stored: a new bank is one file with its name and subject, and a
//! file is stored with its first content.

use memoranda_core::abbreviate::{abbreviate, join_words};

use super::bank::BankType;
use super::outline::headings;

/// A file of a new bank.
pub(super) struct FileTemplate {
    /// Name within the bank.
    pub(super) path: &'static str,
    /// The title. The title of a readme is the name of the bank.
    pub(super) title: &'static str,
    /// The content of the file, for the choice of a file.
    pub(super) holds: &'static str,
    /// The sections, each with its placeholder.
    pub(super) sections: &'static [(&'static str, &'static str)],
}

/// Returns the files of a new bank, in display order.
pub(super) fn files(kind: BankType) -> &'static [FileTemplate] {
    match kind {
        BankType::Global => GLOBAL,
        BankType::Project => PROJECT,
        BankType::Code => CODE,
    }
}

/// Returns the template of a file.
pub(super) fn file(kind: BankType, path: &str) -> Option<&'static FileTemplate> {
    files(kind).iter().find(|file| file.path == path)
}

/// Returns the placeholder of a section.
pub(super) fn placeholder(kind: BankType, path: &str, section: &str) -> Option<&'static str> {
    let sections = file(kind, path)?.sections.iter();
    let mut named = sections.filter(|(name, _)| name.eq_ignore_ascii_case(section.trim()));
    named.next().map(|(_, sentence)| *sentence)
}

/// The attributes of a new bank.
pub(super) struct NewBank<'a> {
    /// The name, used as the title of the readme.
    pub(super) name: &'a str,
    /// The subject.
    pub(super) description: Option<&'a str>,
    /// The repository, as `host/owner/repo`.
    pub(super) remote: Option<&'a str>,
}

/// Renders a file of a new bank.
pub(super) fn text(file: &FileTemplate, new_bank: &NewBank<'_>) -> String {
    let is_readme = file.path == "readme.md";
    let title = if is_readme { join_words(new_bank.name) } else { file.title.to_owned() };
    let mut text = format!("# {title}\n");
    for (n, (section, sentence)) in file.sections.iter().enumerate() {
        let about = new_bank.description.map(str::trim).filter(|about| !about.is_empty());
        let sentence = match about {
            Some(about) if is_readme && n == 0 => about,
            _ => sentence,
        };
        text.push_str(&format!("\n## {section}\n{sentence}\n"));
        if let Some(remote) = new_bank.remote.filter(|_| is_readme && n == 0) {
            text.push_str(&format!("\n{REPOSITORY}{}\n", join_words(remote)));
        }
    }
    text
}

/// Returns the name and text of the file that records a new bank: its name and subject, without
/// placeholders.
pub(super) fn record(kind: BankType, new_bank: &NewBank<'_>) -> (&'static str, String) {
    let Some(file) = files(kind).first() else { return ("readme.md", String::new()) };
    let text = match file.sections.first() {
        None => text(file, new_bank),
        Some((section, _)) => record_text(section, new_bank),
    };
    (file.path, text)
}

fn record_text(section: &str, new_bank: &NewBank<'_>) -> String {
    let mut text = format!("# {}\n", join_words(new_bank.name));
    let about = new_bank.description.map(str::trim).filter(|about| !about.is_empty());
    if let Some(about) = about {
        text.push_str(&format!("\n## {section}\n{about}\n"));
    }
    if let Some(remote) = new_bank.remote {
        text.push_str(&format!("\n{REPOSITORY}{}\n", join_words(remote)));
    }
    text
}

/// Returns the text of a template file as it is shown: with the placeholders of a file that is
/// missing or only records the bank. `None` for any other text, which is shown as it is.
pub(super) fn completed(kind: BankType, path: &str, stored: Option<&str>) -> Option<String> {
    let file = file(kind, path)?;
    let Some(stored) = stored else {
        let new_bank = NewBank { name: file.title, description: None, remote: None };
        return Some(text(file, &new_bank));
    };
    let (section, _) = file.sections.first().filter(|_| path == "readme.md")?;
    let name = stored.lines().next()?.strip_prefix("# ")?;
    let remote = repository_of(stored);
    let described = stored.split_once(&format!("\n\n## {section}\n")).map(|(_, about)| about);
    let about = described.map(|about| match about.rsplit_once(&format!("\n\n{REPOSITORY}")) {
        Some((about, _)) => about,
        None => about.trim_end(),
    });
    // A further section was written by an update: the record of a bank has only the first.
    if about.is_some_and(|about| headings(about).iter().any(|heading| heading.level == 2)) {
        return None;
    }
    let new_bank = NewBank { name, description: about, remote };
    (record_text(section, &new_bank) == stored).then(|| text(file, &new_bank))
}

/// Prefix of the line that names the repository of a code bank.
pub(super) const REPOSITORY: &str = "- [repository] ";

/// Returns the repository that a readme names.
pub(super) fn repository_of(readme: &str) -> Option<&str> {
    readme.lines().find_map(|line| line.strip_prefix(REPOSITORY)).map(str::trim)
}

/// Returns the subject of a bank from its readme: the first line of the first section that is not a
/// placeholder, else the title.
pub(super) fn description_of(kind: BankType, readme: &str) -> Option<String> {
    const MAX_DESCRIPTION_CHARS: usize = 160;
    let own = file(kind, "readme.md")?.sections;
    let all = headings(readme);
    let title = all.iter().find(|heading| heading.level == 1).map(|heading| heading.title.as_str());
    let first = all.iter().position(|heading| heading.level == 2);
    let section = first.and_then(|n| {
        let end = all.get(n + 1).map_or(readme.len(), |next| next.start);
        readme.get(all[n].end..end)
    });
    let is_text = |line: &&str| {
        !line.is_empty()
            && !own.iter().any(|(_, sentence)| sentence == line)
            && !line.starts_with(['-', '*', '`', '>', '|'])
    };
    let found = section.and_then(|section| section.lines().map(str::trim).find(is_text));
    let line = found.or(title.filter(|title| !title.is_empty()))?;
    Some(abbreviate(line, MAX_DESCRIPTION_CHARS).into_owned())
}

const GLOBAL: &[FileTemplate] = &[
    FileTemplate {
        path: "context.md",
        title: "Context",
        holds: "what is going on in general: themes, circumstances, anything without a better place",
        sections: &[],
    },
    FileTemplate {
        path: "preferences.md",
        title: "User Preferences",
        holds: "what the person prefers, how they want to be answered",
        sections: &[
            ("General Preferences", "What the user generally prefers."),
            ("Communication Style", "How the user likes to communicate."),
            ("Frequently Referenced Topics", "Topics that come up often."),
        ],
    },
    FileTemplate {
        path: "references.md",
        title: "References",
        holds: "sources, links, books, tools that come up again",
        sections: &[
            ("Frequently Cited Sources", "Sources that are often cited."),
            ("Useful Resources", "Resources worth coming back to."),
        ],
    },
];

const PROJECT: &[FileTemplate] = &[
    FileTemplate {
        path: "readme.md",
        title: "Project",
        holds: "what the project is, for whom, and who takes part",
        sections: &[
            ("Project Overview", "A brief description of the project."),
            ("Goals", "What the project is to achieve."),
            ("Stakeholders", "Who takes part, and who is affected."),
        ],
    },
    FileTemplate {
        path: "doc/objectives.md",
        title: "Objectives",
        holds: "goals, how success is measured, deadlines",
        sections: &[
            ("Primary Goals", "The main goals of the project."),
            ("Success Criteria", "How success is measured."),
            ("Timeline", "Milestones and deadlines."),
        ],
    },
    FileTemplate {
        path: "doc/decisions.md",
        title: "Decisions",
        holds: "what was decided and why: technology, architecture, process, design",
        sections: &[
            ("Technical Decisions", "Decisions about technology and architecture."),
            ("Process Decisions", "Decisions about how the work is done."),
            ("Design Decisions", "Decisions about design and user experience."),
        ],
    },
    FileTemplate {
        path: "doc/progress.md",
        title: "Progress",
        holds: "what is done, what comes next, what stands in the way",
        sections: &[
            ("Current State", "Where the project stands."),
            ("Next Steps", "What comes next."),
            ("Challenges", "What stands in the way."),
        ],
    },
    FileTemplate {
        path: "doc/references.md",
        title: "References",
        holds: "links, documents, standards",
        sections: &[
            ("External Resources", "Links and sources from outside."),
            ("Internal Documents", "Documents of the project itself."),
            ("Standards & Guidelines", "Standards that the project keeps to."),
        ],
    },
    FileTemplate {
        path: "notes/meeting_notes.md",
        title: "Meeting Notes",
        holds: "what was said and settled in meetings",
        sections: &[
            ("Recent Meetings", "Summaries of meetings."),
            ("Action Items", "What somebody has to do after a meeting."),
            ("Decisions Made", "What was decided in a meeting."),
        ],
    },
    FileTemplate {
        path: "notes/ideas.md",
        title: "Ideas",
        holds: "ideas and brainstorming",
        sections: &[
            ("Brainstorming", "Ideas as they come."),
            ("Future Possibilities", "What could be done later."),
            ("Innovations", "What nobody has done yet."),
        ],
    },
    FileTemplate {
        path: "notes/research.md",
        title: "Research",
        holds: "findings: about the market, the technology, the users",
        sections: &[
            ("Market Research", "Findings about the market and competitors."),
            ("Technical Research", "Findings about technology."),
            ("User Research", "Findings about users."),
        ],
    },
];

const CODE: &[FileTemplate] = &[
    FileTemplate {
        path: "readme.md",
        title: "Repository",
        holds: "what the repository is, its parts, the state of the work",
        sections: &[
            ("Repository Overview", "A brief description of the codebase."),
            ("Structure", "How the repository is laid out."),
            ("Key Components", "The most important parts."),
        ],
    },
    FileTemplate {
        path: "doc/architecture.md",
        title: "Code Architecture",
        holds: "architecture, design patterns, technology and dependencies",
        sections: &[
            ("Architecture Overview", "Overview of the code architecture."),
            ("Design Patterns", "Patterns that the code follows."),
            ("Dependencies", "What the code depends on."),
        ],
    },
    FileTemplate {
        path: "doc/design.md",
        title: "Design",
        holds: "design principles, conventions, best practices",
        sections: &[
            ("Design Principles", "Core design principles for the codebase."),
            ("Code Organization", "How the code is organized."),
            ("Best Practices", "Conventions to keep to."),
        ],
    },
    FileTemplate {
        path: "doc/api.md",
        title: "API Documentation",
        holds: "interfaces: endpoints, functions, parameters, how they are used",
        sections: &[
            ("Public API", "Documentation for the public API."),
            ("Internal API", "Documentation for internal interfaces."),
            ("Examples", "Examples of how the API is used."),
        ],
    },
    FileTemplate {
        path: "structure.md",
        title: "Code Structure",
        holds: "directories, modules, key files",
        sections: &[
            ("Directory Structure", "Overview of the directory structure."),
            ("Module Organization", "How modules are organized."),
            ("Key Files", "Files that matter most."),
        ],
    },
    FileTemplate {
        path: "snippets.md",
        title: "Code Snippets",
        holds: "pieces of code and commands worth keeping",
        sections: &[
            ("Important Snippets", "Code snippets that are important to remember."),
            ("Examples", "Examples of how things are done."),
            ("Common Patterns", "Patterns that come up often."),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_contains_the_subject_of_the_bank() {
        let file = file(BankType::Code, "readme.md").unwrap();
        let new_bank =
            NewBank { name: "My  Repo", description: None, remote: Some("x.org/a/my-repo") };
        let plain = text(file, &new_bank);
        assert!(plain.starts_with("# My Repo\n\n## Repository Overview\nA brief description"));
        assert_eq!(repository_of(&plain), Some("x.org/a/my-repo"));
        assert_eq!(description_of(BankType::Code, &plain).as_deref(), Some("My Repo"));
        let new_bank = NewBank { description: Some("Sells shoes."), ..new_bank };
        let told = text(file, &new_bank);
        assert!(told.contains("## Repository Overview\nSells shoes.\n"), "{told}");
        assert_eq!(description_of(BankType::Code, &told).as_deref(), Some("Sells shoes."));
        let later = format!("{plain}\n## Next Steps\nAdd a cache.\n");
        assert_eq!(description_of(BankType::Code, &later).as_deref(), Some("My Repo"));
        let kept = format!("---\ntags: [a]\n---\n{told}");
        assert_eq!(description_of(BankType::Code, &kept).as_deref(), Some("Sells shoes."));
    }
}

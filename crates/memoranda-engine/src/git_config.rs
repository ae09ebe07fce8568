//! Reads a git configuration as git does, with included files and rewritten remote addresses. The
//! caller reads the files.

use std::path::{Path, PathBuf};

/// Maximum depth of included files, as in git.
const MAX_DEPTH: usize = 10;

/// Sources of a repository's configuration, and the facts on which conditional parts depend.
pub(crate) struct GitConfigSources<'a> {
    /// Returns the text of a file; `None` if the file cannot be read.
    pub(crate) read: &'a dyn Fn(&Path) -> Option<String>,
    /// The person's own folder, for `~`.
    pub(crate) home: Option<PathBuf>,
    /// Names of the folder behind `.git`: as found, and with symlinks resolved. Computed on demand,
    /// because few conditions need them.
    pub(crate) git_folders: &'a dyn Fn() -> Vec<String>,
}

/// Entries of all files, in the order in which git reads them.
#[derive(Default)]
pub(crate) struct GitConfig {
    entries: Vec<GitConfigEntry>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct GitConfigEntry {
    /// In lower case, as is `key`.
    section: String,
    /// Subsection name: the quoted part of the section header, unchanged.
    name: String,
    key: String,
    value: String,
}

impl GitConfig {
    /// Reads a file, and what it includes.
    pub(crate) fn add(&mut self, file: &Path, sources: &GitConfigSources<'_>) {
        self.add_at(file, sources, 0);
    }

    fn add_at(&mut self, file: &Path, sources: &GitConfigSources<'_>, depth: usize) {
        let Some(text) = (sources.read)(file).filter(|_| depth <= MAX_DEPTH) else { return };
        for entry in entries(&text) {
            let is_include = match entry.section.as_str() {
                "include" => entry.name.is_empty(),
                "includeif" => sources.holds(&entry.name, file),
                _ => false,
            };
            if is_include && entry.key == "path" {
                if let Some(other) = sources.path(&entry.value, file) {
                    self.add_at(&other, sources, depth + 1);
                }
            } else {
                self.entries.push(entry);
            }
        }
    }

    /// Returns the names of the remotes that have an address, in the order of the files.
    pub(crate) fn remotes(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.section == "remote") {
            if !names.contains(&entry.name.as_str()) && self.address(&entry.name).is_some() {
                names.push(&entry.name);
            }
        }
        names
    }

    /// Returns the address of a remote, rewritten by `url.*.insteadOf`.
    pub(crate) fn address(&self, remote: &str) -> Option<String> {
        let mut urls = self.values("remote", remote, "url");
        // An empty value removes the earlier values.
        if let Some(last) = urls.iter().rposition(|url| url.is_empty()) {
            urls.drain(..=last);
        }
        let url = *urls.first()?;
        let is_rewritten = |entry: &&GitConfigEntry| {
            entry.section == "url" && entry.key == "insteadof" && url.starts_with(&entry.value)
        };
        let rewritten = self.entries.iter().filter(is_rewritten);
        // The longest match wins; of equal ones the first.
        let best = rewritten.rev().max_by_key(|entry| entry.value.len());
        Some(match best {
            Some(entry) => format!("{}{}", entry.name, &url[entry.value.len()..]),
            None => url.to_owned(),
        })
    }

    /// Returns the remote that a branch follows.
    pub(crate) fn remote_of(&self, branch: &str) -> Option<&str> {
        self.values("branch", branch, "remote").last().copied()
    }

    fn values(&self, section: &str, name: &str, key: &str) -> Vec<&str> {
        let fits = |entry: &&GitConfigEntry| {
            entry.section == section && entry.name == name && entry.key == key
        };
        self.entries.iter().filter(fits).map(|entry| entry.value.as_str()).collect()
    }
}

impl GitConfigSources<'_> {
    /// Resolves the path of an included file: relative to the including file, or to the home
    /// folder.
    fn path(&self, value: &str, from: &Path) -> Option<PathBuf> {
        match value.strip_prefix("~/") {
            Some(rest) => Some(self.home.as_ref()?.join(rest)),
            None if value.is_empty() || value.starts_with('~') => None,
            None => Some(from.parent()?.join(value)),
        }
    }

    /// Returns true if the condition of an `includeIf` is met. Conditions on branches and remote
    /// addresses never are: they do not depend on the location of the repository.
    fn holds(&self, condition: &str, file: &Path) -> bool {
        let (pattern, any_case) = match condition.split_once(':') {
            Some(("gitdir", pattern)) => (pattern, false),
            Some(("gitdir/i", pattern)) => (pattern, true),
            _ => return false,
        };
        let is_seen_from_file = pattern.starts_with("./") || pattern.starts_with("~/");
        let mut pattern = if is_seen_from_file {
            let rest = pattern.strip_prefix("./").unwrap_or(pattern);
            match self.path(rest, file) {
                Some(path) => slashed(&path),
                None => return false,
            }
        } else if is_absolute(pattern) {
            pattern.to_owned()
        } else {
            format!("**/{pattern}")
        };
        if pattern.ends_with('/') {
            pattern.push_str("**");
        }
        let plain = |text: &str| if any_case { text.to_lowercase() } else { text.to_owned() };
        let pattern = plain(&pattern);
        (self.git_folders)()
            .iter()
            .any(|folder| matches(pattern.as_bytes(), plain(folder).as_bytes()))
    }
}

fn is_absolute(pattern: &str) -> bool {
    pattern.starts_with('/') || pattern.get(1..3) == Some(":/")
}

/// Returns a path with slashes on every system.
pub(crate) fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// Returns true if a pattern matches a path: `*` and `?` within a name, `**` across names.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        ([b'*', b'*', b'/', rest @ ..], _) => {
            let below = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            let mut starts = below.map(|(at, _)| at + 1).chain([0]);
            starts.any(|at| path.get(at..).is_some_and(|path| matches(rest, path)))
        }
        ([b'*', b'*'], _) => true,
        ([b'*', rest @ ..], _) => {
            let end = path.iter().position(|byte| *byte == b'/').unwrap_or(path.len());
            (0..=end).any(|at| path.get(at..).is_some_and(|path| matches(rest, path)))
        }
        ([b'?', rest @ ..], [byte, path @ ..]) => *byte != b'/' && matches(rest, path),
        ([expected, rest @ ..], [byte, path @ ..]) => expected == byte && matches(rest, path),
        _ => false,
    }
}

/// Parses one text. Parsing stops where git would stop.
fn entries(text: &str) -> Vec<GitConfigEntry> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut rest = text.as_str();
    let (mut section, mut name) = (String::new(), String::new());
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return found;
        }
        if rest.starts_with(['#', ';']) {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
        } else if let Some(after) = rest.strip_prefix('[') {
            let Some((header, after)) = header(after) else { return found };
            (section, name) = header;
            rest = after;
        } else {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            let (key, after) = rest.split_at(end.unwrap_or(rest.len()));
            let after = after.trim_start_matches([' ', '\t']);
            if key.is_empty() {
                return found;
            }
            let (value, after) = match after.strip_prefix('=') {
                Some(after) => match value(after) {
                    Some(read) => read,
                    None => return found,
                },
                // A key without a value is a boolean, not an address.
                None => ("true".to_owned(), after.split_once('\n').map_or("", |(_, after)| after)),
            };
            let (section, name) = (section.clone(), name.clone());
            found.push(GitConfigEntry { section, name, key: key.to_ascii_lowercase(), value });
            rest = after;
        }
    }
}

/// Parses section and subsection. Returns both and the rest of the line.
fn header(text: &str) -> Option<((String, String), &str)> {
    let end = text.find([']', '"', '\n'])?;
    let (section, after) = text.split_at(end);
    let section = section.trim().to_ascii_lowercase();
    if let Some(after) = after.strip_prefix(']') {
        // The old form `[section.subsection]`, which is lower-cased.
        let (section, name) = section.split_once('.').unwrap_or((&section, ""));
        return Some(((section.to_owned(), name.to_owned()), after));
    }
    let mut name = String::new();
    let mut chars = after.strip_prefix('"')?.char_indices();
    loop {
        match chars.next()?.1 {
            '"' => break,
            '\n' => return None,
            '\\' => name.push(chars.next()?.1),
            c => name.push(c),
        }
    }
    Some(((section, name), chars.as_str().trim_start_matches([' ', '\t']).strip_prefix(']')?))
}

/// Parses a value. Returns the value and the text after its last line.
fn value(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    // Length of the value up to its last quoted or non-blank character.
    let (mut kept, mut is_quoted) = (0, false);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\n' if is_quoted => return None,
            '\n' => break,
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => {
                let rest = chars.as_str();
                value.truncate(kept);
                return Some((value, rest.split_once('\n').map_or("", |(_, after)| after)));
            }
            '\\' => match chars.next()? {
                '\n' => {}
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'b' => value.push('\u{8}'),
                c @ ('"' | '\\') => value.push(c),
                _ => return None,
            },
            c if c.is_whitespace() && !is_quoted => {
                if !value.is_empty() {
                    value.push(c);
                }
                continue;
            }
            c => value.push(c),
        }
        kept = value.len();
    }
    value.truncate(kept);
    (!is_quoted).then_some((value, chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(files: &[(&str, &str)]) -> GitConfig {
        let read = |path: &Path| {
            let known = files.iter().find(|(name, _)| Path::new(name) == path);
            known.map(|(_, text)| (*text).to_owned())
        };
        let sources = GitConfigSources {
            read: &read,
            home: Some("/people/me".into()),
            git_folders: &|| {
                vec!["/link/Work/shop/.git".into(), "/people/me/Work/shop/.git".into()]
            },
        };
        let mut config = GitConfig::default();
        for file in ["/people/me/.gitconfig", "/r/.git/config"] {
            config.add(Path::new(file), &sources);
        }
        config
    }

    #[test]
    fn values_are_read_as_git_reads_them() {
        for (text, expected) in [
            ("[remote \"origin\"]\n\turl = https://h/a\n", "https://h/a"),
            ("[REMOTE \"origin\"]\nURL=https://h/a", "https://h/a"),
            ("[remote.Origin]\nurl = https://h/a", "https://h/a"),
            ("[remote \"origin\"] url = https://h/a ; why\n", "https://h/a"),
            ("[remote \"origin\"]\r\n\turl = \"https://h/a\" # why\r\n", "https://h/a"),
            ("[remote \"origin\"]\nurl = \"https://h/a;b#c\" ; why\n", "https://h/a;b#c"),
            ("[remote \"origin\"]\nurl = https://h/\\\na\nfetch = x\n", "https://h/a"),
            ("[remote \"origin\"]\nurl = https://h/\"a b\"  \n", "https://h/a b"),
            ("[remote \"origin\"]\nurl = https://h/a \\\n\nfetch = x\n", "https://h/a "),
            ("; no\n# no\n[core]\nbare\n[remote \"origin\"]\nurl = a\\\\b\n", "a\\b"),
            ("\u{feff}[remote \"ori\\gin\"]\nurl = x\nurl = y", "x"),
            ("[remote \"origin\"]\nurl = x\nurl =\nurl = y", "y"),
            ("[remote \"fork\"]\nurl = z\n[remote \"origin\"]\nurl = x\n[remote \"fork\"]\n", "x"),
        ] {
            let config = config(&[("/r/.git/config", text)]);
            assert_eq!(config.address("origin").as_deref(), Some(expected), "{text}");
        }
        for text in [
            "[remote \"Origin\"]\nurl = x",
            "[remote \"origin\"]\npushurl = x",
            "[remote \"origin\"\nurl = x",
            "[remote \"origin\"]\n= x\nurl = x",
            "[remote \"origin\"]\nurl = \"x\ny",
            "[remote \"origin\"]\nurl = a\\qb",
            "# [remote \"origin\"] url = x",
            "[remotes \"origin\"]\nurl = x",
        ] {
            assert_eq!(config(&[("/r/.git/config", text)]).address("origin"), None, "{text}");
        }
    }

    #[test]
    fn addresses_are_rewritten() {
        let own = "[url \"https://github.com/\"]\ninsteadOf = gh:\n";
        let local = "[remote \"origin\"]\nurl = gh:acme/shop\n[branch \"main\"]\nremote = up\n";
        let files = [("/people/me/.gitconfig", own), ("/r/.git/config", local)];
        let found = config(&files);
        assert_eq!(found.address("origin").as_deref(), Some("https://github.com/acme/shop"));
        assert_eq!((found.remotes(), found.remote_of("main")), (vec!["origin"], Some("up")));
        // The longest wins, wherever it stands.
        let longer = format!("[url \"git@work:\"]\n insteadof = \"gh:acme/\"\n{own}");
        let files = [("/people/me/.gitconfig", longer.as_str()), ("/r/.git/config", local)];
        assert_eq!(config(&files).address("origin").as_deref(), Some("git@work:shop"));
        let local = format!("{local}{longer}");
        let found = config(&[("/people/me/.gitconfig", own), ("/r/.git/config", &local)]);
        assert_eq!(found.address("origin").as_deref(), Some("git@work:shop"));
    }

    #[test]
    fn files_include_others() {
        let remote = "[remote \"origin\"]\nurl = x\n";
        for (own, other) in [
            ("[include]\npath = more", "/people/me/more"),
            ("[include]\npath = ~/a/b", "/people/me/a/b"),
            ("[Include]\nPath = /etc/x", "/etc/x"),
            ("[includeIf \"gitdir:/people/me/Work/\"]\npath = more", "/people/me/more"),
            ("[includeIf \"gitdir:~/Work/\"]\npath = more", "/people/me/more"),
            ("[includeIf \"gitdir:./Work/\"]\npath = more", "/people/me/more"),
            ("[includeIf \"gitdir:Work/\"]\npath = more", "/people/me/more"),
            ("[includeIf \"gitdir:/link/Work/\"]\npath = more", "/people/me/more"),
            ("[includeif \"gitdir/i:~/wORK/\"]\npath = more", "/people/me/more"),
            ("[includeIf \"gitdir:**/shop/.git\"]\npath = more", "/people/me/more"),
            ("[includeIf \"gitdir:/people/*/W?rk/**\"]\npath = more", "/people/me/more"),
        ] {
            let found = config(&[("/people/me/.gitconfig", own), (other, remote)]);
            assert_eq!(found.address("origin").as_deref(), Some("x"), "{own}");
        }
        for own in [
            "[includeIf \"gitdir:~/work/\"]\npath = more",
            "[includeIf \"gitdir:~/Work\"]\npath = more",
            "[includeIf \"gitdir:/people/*\"]\npath = more",
            "[includeIf \"onbranch:main\"]\npath = more",
            "[include]\npath = ~other/more",
        ] {
            let found = config(&[("/people/me/.gitconfig", own), ("/people/me/more", remote)]);
            assert_eq!(found.address("origin"), None, "{own}");
        }
        // Files that include each other end somewhere.
        let own = "[include]\npath = .gitconfig\n[remote \"origin\"]\nurl = x\n";
        assert!(config(&[("/people/me/.gitconfig", own)]).address("origin").is_some());
    }
}

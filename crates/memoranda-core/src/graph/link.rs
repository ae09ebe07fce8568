//! Link resolution. The store looks up candidates by a link's keys ([`link_keys`]);
//! [`choose_candidate`] picks one of them or reports an ambiguity.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

use crate::note::link_name;
use crate::note::permalink::{bare_address, permalink_of, slug};
use crate::path::NotePath;

/// Lookup keys of a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkKeys {
    /// Project before `::`, if the link names one; all other keys are within that project.
    pub project: Option<String>,
    /// Name as written, compared with titles.
    pub title: String,
    /// Possible permalinks: as written, then as a slug.
    pub permalinks: Vec<String>,
    /// Paths relative to the folder of the linking note: as written, then with `.md`.
    pub relative_paths: Vec<String>,
    /// Paths from the top of the project: as written, then with `.md`.
    pub paths: Vec<String>,
    /// Normalized name; see [`alias_key`].
    pub alias: String,
}

/// A note found by one of the keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkCandidate<Id> {
    /// Identity of the note.
    pub id: Id,
    /// Path of the note.
    pub path: NotePath,
    /// Permalink of the note.
    pub permalink: String,
    /// Permalink without its project prefix; `None` if the permalink has no such prefix.
    pub within: Option<String>,
    /// Title of the note.
    pub title: String,
    /// True if the permalink is kept from an earlier path: neither the note's text nor its current
    /// path yields it.
    pub is_permalink_kept: bool,
}

/// Result of resolving a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkResolution<Id> {
    /// Exactly one note matches.
    Found(Id),
    /// Several notes match equally well; the nearest first, then by path.
    Ambiguous(Vec<Id>),
    /// No note matches.
    Missing,
}

/// Behaviour if several notes match equally well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkStrictness {
    /// Reports the ambiguity; for changes and removals.
    Strict,
    /// Chooses the shortest path; for display.
    Lenient,
}

/// Returns the lookup keys of a link or identifier. `from` is the linking note, if any; `slug`
/// converts a name into a permalink.
pub fn link_keys(
    link: &str,
    from: Option<&NotePath>,
    slug: impl FnOnce(&str) -> String,
) -> LinkKeys {
    let link = link.trim();
    let link = link.strip_prefix("[[").and_then(|link| link.strip_suffix("]]")).unwrap_or(link);
    let link = link.strip_prefix("memory://").unwrap_or(link);
    let link = link.split_once('|').map_or(link, |(name, _alias)| name).trim();
    let (project, name) = match link.split_once("::") {
        Some((project, name)) if !project.trim().is_empty() && !name.trim().is_empty() => {
            (Some(project.trim().to_owned()), name.trim())
        }
        _ => (None, link),
    };
    let top = name.trim_start_matches('/');
    let mut permalinks = vec![top.to_owned()];
    let slugged = slug(top);
    if slugged != top {
        permalinks.push(slugged);
    }
    // Paths in another project are not relative to this note's folder.
    let relative = from.filter(|_| project.is_none()).and_then(|from| join_relative(from, name));
    LinkKeys {
        project,
        title: name.to_owned(),
        permalinks,
        relative_paths: relative.map(with_extension).unwrap_or_default(),
        paths: with_extension(top.to_owned()),
        alias: alias_key(top),
    }
}

/// Normalizes a name: NFC, lower case, `_` and blanks as `-`. The store indexes titles, permalinks
/// and file stems by this key, so that carelessly typed links resolve.
pub fn alias_key(name: &str) -> String {
    let plain = |c: char| if c == '_' || c.is_whitespace() { '-' } else { c };
    name.trim().nfc().flat_map(char::to_lowercase).map(plain).collect()
}

/// Chooses the note that a link resolves to.
///
/// Candidates match in this order: path relative to the linking note's folder; nearest note with
/// that permalink or title; permalink as written; title; slug; permalink without its project; path;
/// the only note with the same [`alias_key`]. So `C#` resolves to the note of that title and not to
/// `C++`, although both have the slug `c`. A note that [is shadowed](is_shadowed) loses its kept
/// permalink. A file other than a note matches by its name with extension; without extension only
/// if no note matches.
pub fn choose_candidate<Id: Copy>(
    keys: &LinkKeys,
    candidates: &[LinkCandidate<Id>],
    from: Option<&NotePath>,
    strictness: LinkStrictness,
) -> LinkResolution<Id> {
    if keys.title.is_empty() {
        return LinkResolution::Missing;
    }
    let choose = |others| CandidateMatcher::new(keys, candidates, others).choose(from, strictness);
    match choose(NonNoteNames::WithExtension) {
        LinkResolution::Missing if candidates.iter().any(|c| !c.path.is_markdown()) => {
            choose(NonNoteNames::ByAnyName)
        }
        found => found,
    }
}

/// Names by which files other than notes match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NonNoteNames {
    WithExtension,
    ByAnyName,
}

/// Rule by which the name of a link matches a candidate, the most exact first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NameRule {
    WrittenPermalink,
    Title,
    Slug,
    PermalinkInProject,
}

/// Matches candidates with the keys of a link.
struct CandidateMatcher<'a, Id> {
    keys: &'a LinkKeys,
    candidates: &'a [LinkCandidate<Id>],
    others: NonNoteNames,
    /// Candidates that keep a permalink of the link from an earlier path.
    left: Vec<&'a LinkCandidate<Id>>,
}

impl<'a, Id: Copy> CandidateMatcher<'a, Id> {
    fn new(keys: &'a LinkKeys, candidates: &'a [LinkCandidate<Id>], others: NonNoteNames) -> Self {
        let is_left =
            |c: &&LinkCandidate<Id>| c.is_permalink_kept && keys.permalinks.contains(&c.permalink);
        Self { keys, candidates, others, left: candidates.iter().filter(is_left).collect() }
    }

    /// Applies the rules of [`choose_candidate`] in their order.
    fn choose(&self, from: Option<&NotePath>, strictness: LinkStrictness) -> LinkResolution<Id> {
        if let Some(found) = self.at_relative_path() {
            return LinkResolution::Found(found.id);
        }
        let from = from.filter(|_| self.keys.project.is_none());
        let named = from.map(|from| self.nearest_named(from)).unwrap_or_default();
        if !named.is_empty() {
            return settle(named, strictness);
        }
        let named = self.best_named();
        if !named.is_empty() {
            return settle(named, strictness);
        }
        if let Some(found) = self.at_path(&self.keys.paths) {
            return LinkResolution::Found(found.id);
        }
        let ending = from.map(|from| self.nearest_at_path_end(from)).unwrap_or_default();
        if !ending.is_empty() {
            return settle(ending, strictness);
        }
        // A carelessly typed name must be unambiguous, even in lenient mode.
        settle(self.with_alias(), LinkStrictness::Strict)
    }

    /// Returns the candidate at the first of some paths that has one.
    fn at_path(&self, paths: &[String]) -> Option<&'a LinkCandidate<Id>> {
        paths.iter().find_map(|path| self.candidates.iter().find(|c| c.path.as_str() == path))
    }

    fn at_relative_path(&self) -> Option<&'a LinkCandidate<Id>> {
        let paths = &self.keys.relative_paths;
        self.at_path(paths).or_else(|| {
            let wanted = path_alias(paths.first().filter(|_| self.keys.title.contains('/'))?);
            let mut alike =
                self.candidates.iter().filter(|c| path_alias(c.path.as_str()) == wanted);
            alike.next().filter(|_| alike.next().is_none())
        })
    }

    /// Returns the candidates with the link's permalink or title that are nearest to a note. Those
    /// with the name as written exclude those with its slug.
    fn nearest_named(&self, from: &NotePath) -> Vec<&'a LinkCandidate<Id>> {
        let named = self.candidates.iter().filter(|c| self.has_permalink(c) || self.has_title(c));
        let mut nearest = nearest(from, named);
        let is_exact = |c: &&LinkCandidate<Id>| self.has_title(c) || self.has_written_permalink(c);
        if nearest.iter().any(is_exact) {
            nearest.retain(is_exact);
        }
        nearest
    }

    /// Returns the candidates that the name of the link matches by the most exact rule.
    fn best_named(&self) -> Vec<&'a LinkCandidate<Id>> {
        best(self.candidates.iter().filter_map(|c| Some((self.name_rule(c)?, c))))
    }

    /// Returns the first rule by which the name of the link matches a candidate.
    fn name_rule(&self, candidate: &LinkCandidate<Id>) -> Option<NameRule> {
        let within = candidate.within.as_ref();
        if self.has_written_permalink(candidate) {
            Some(NameRule::WrittenPermalink)
        } else if self.has_title(candidate) {
            Some(NameRule::Title)
        } else if self.has_permalink(candidate) {
            Some(NameRule::Slug)
        } else if within.is_some_and(|within| self.keys.permalinks.contains(within)) {
            Some(NameRule::PermalinkInProject)
        } else {
            None
        }
    }

    /// Returns the nearest candidates whose path ends with the link, if the link contains a folder.
    fn nearest_at_path_end(&self, from: &NotePath) -> Vec<&'a LinkCandidate<Id>> {
        let alias = &self.keys.alias;
        if !alias.contains('/') {
            return Vec::new();
        }
        let end = format!("/{}", alias.strip_suffix(".md").unwrap_or(alias));
        let is_end = |c: &&LinkCandidate<Id>| path_alias(c.path.as_str()).ends_with(&end);
        nearest(from, self.candidates.iter().filter(is_end))
    }

    /// Returns the candidates that have a name with the [`alias_key`] of the link.
    fn with_alias(&self) -> Vec<&'a LinkCandidate<Id>> {
        let is_alike = |c: &&LinkCandidate<Id>| {
            let path = c.path.as_str();
            let bare = path.strip_suffix(".md").unwrap_or(path);
            let stem = self.has_any_name(c).then(|| c.path.stem());
            let names = [c.title.as_str(), path, bare].into_iter().chain(stem);
            names.chain(c.within.as_deref()).any(|name| alias_key(name) == self.keys.alias)
                || alias_key(&c.permalink) == self.keys.alias && self.goes_by(c, &c.permalink)
        };
        self.candidates.iter().filter(is_alike).collect()
    }

    fn has_any_name(&self, candidate: &LinkCandidate<Id>) -> bool {
        candidate.path.is_markdown() || self.others == NonNoteNames::ByAnyName
    }

    fn has_title(&self, candidate: &LinkCandidate<Id>) -> bool {
        candidate.title == self.keys.title
    }

    fn has_permalink(&self, candidate: &LinkCandidate<Id>) -> bool {
        self.keys.permalinks.iter().any(|permalink| self.goes_by(candidate, permalink))
    }

    fn has_written_permalink(&self, candidate: &LinkCandidate<Id>) -> bool {
        self.keys.permalinks.first().is_some_and(|permalink| self.goes_by(candidate, permalink))
    }

    /// Returns true if a permalink leads to the candidate. A shadowed note loses its kept permalink
    /// to the note at its earlier path.
    fn goes_by(&self, candidate: &LinkCandidate<Id>, permalink: &str) -> bool {
        if !self.has_any_name(candidate) {
            false
        } else if candidate.permalink == permalink {
            !is_shadowed(candidate, self.candidates)
        } else if !candidate.path.is_markdown() {
            bare_address(&candidate.path) == permalink
        } else {
            let is_successor = |left: &&LinkCandidate<Id>| {
                left.permalink == permalink && left.is_replaced_by(candidate)
            };
            self.left.iter().any(is_successor)
        }
    }
}

/// Returns the [`alias_key`] of a path without `.md`.
fn path_alias(path: &str) -> String {
    alias_key(path.strip_suffix(".md").unwrap_or(path))
}

/// Returns the candidates with the smallest distance from a note.
fn nearest<'a, Id>(
    from: &NotePath,
    candidates: impl Iterator<Item = &'a LinkCandidate<Id>>,
) -> Vec<&'a LinkCandidate<Id>> {
    best(candidates.map(|c| (distance(from, &c.path), c)))
}

/// Returns the candidates with the smallest key.
fn best<'a, K: Ord, Id>(
    candidates: impl Iterator<Item = (K, &'a LinkCandidate<Id>)>,
) -> Vec<&'a LinkCandidate<Id>> {
    let mut found: Vec<_> = candidates.collect();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    let count = found.iter().take_while(|(key, _)| *key == found[0].0).count();
    found.into_iter().take(count).map(|(_, candidate)| candidate).collect()
}

/// Returns true if a note keeps the permalink of a path at which another note exists now. A link
/// with that permalink resolves to the other note.
pub fn is_shadowed<Id>(note: &LinkCandidate<Id>, candidates: &[LinkCandidate<Id>]) -> bool {
    note.is_permalink_kept && candidates.iter().any(|other| note.is_replaced_by(other))
}

impl<Id> LinkCandidate<Id> {
    /// Returns true if a link of this name may point to the file: only a link with the extension
    /// reaches a file that is not a note.
    fn may_be_named(&self, name: &str) -> bool {
        let extension = self.path.extension();
        let said = name.rsplit_once('.').map_or("", |(_, said)| said);
        self.path.is_markdown() || extension.is_empty() || said.eq_ignore_ascii_case(extension)
    }

    /// Returns true if the name is the title, the path or the end of the path, compared by
    /// [`alias_key`].
    fn has_name(&self, name: &str) -> bool {
        let (path, name) = (self.path.as_str(), alias_key(name));
        let bare = path.strip_suffix(&format!(".{}", self.path.extension()));
        let paths = [Some(path), bare.filter(|_| self.path.is_markdown())];
        let is_end = |path: &str| path == name || path.ends_with(&format!("/{name}"));
        alias_key(&self.title) == name
            || paths.into_iter().flatten().any(|path| is_end(&alias_key(path)))
    }

    /// Returns true if the permalink is kept from an earlier path and the path of `other` yields it
    /// now.
    fn is_replaced_by(&self, other: &Self) -> bool {
        self.is_permalink_kept
            && self.path != other.path
            && other.path.is_markdown()
            && permalink_of(&other.path).0 == self.permalink
    }
}

/// Returns the only candidate. Of several, lenient mode returns the shortest path and strict mode
/// reports an ambiguity.
fn settle<Id: Copy>(
    mut candidates: Vec<&LinkCandidate<Id>>,
    strictness: LinkStrictness,
) -> LinkResolution<Id> {
    let length =
        |c: &LinkCandidate<Id>| (c.path.as_str().split('/').count(), c.path.as_str().len());
    candidates.sort_by(|a, b| length(a).cmp(&length(b)).then_with(|| a.path.cmp(&b.path)));
    candidates.dedup_by(|a, b| a.path == b.path);
    match (candidates.as_slice(), strictness) {
        ([], _) => LinkResolution::Missing,
        ([only], _) => LinkResolution::Found(only.id),
        ([first, ..], LinkStrictness::Lenient) => LinkResolution::Found(first.id),
        (several, LinkStrictness::Strict) => {
            LinkResolution::Ambiguous(several.iter().map(|candidate| candidate.id).collect())
        }
    }
}

/// Returns a sort key for the distance between two notes: same folder, folder above, folder below
/// (the nearer the better), elsewhere.
fn distance(from: &NotePath, to: &NotePath) -> (u8, usize) {
    let depth = |folder: &str| if folder.is_empty() { 0 } else { folder.split('/').count() };
    let here = from.parent().unwrap_or_default();
    let there = to.parent().unwrap_or_default();
    let apart = depth(here).abs_diff(depth(there));
    if here == there {
        (0, 0)
    } else if from.is_within(there) {
        (1, apart)
    } else if to.is_within(here) {
        (2, apart)
    } else {
        (3, 0)
    }
}

/// Resolves a relative link (`./Plan`, `../a/Plan`) to a path in the project; returns other links
/// unchanged. A link out of the project is returned unchanged and matches nothing.
pub fn resolve_relative_link<'n>(from: &NotePath, name: &'n str) -> Cow<'n, str> {
    if !name.starts_with("./") && !name.starts_with("../") {
        return name.into();
    }
    join_relative(from, name).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// Joins a name to the folder of a note; `None` if the result is outside the project.
fn join_relative(from: &NotePath, name: &str) -> Option<String> {
    if name.starts_with('/') {
        return None;
    }
    let folder = from.parent().map(|folder| folder.split('/')).into_iter().flatten();
    let mut names: Vec<&str> = folder.collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            part => names.push(part),
        }
    }
    (!names.is_empty()).then(|| names.join("/"))
}

fn with_extension(path: String) -> Vec<String> {
    let extended = format!("{path}.md");
    vec![path, extended]
}

/// Resolves a link in a note's text. `candidates` have the link's name and are sorted by path
/// length. The nearest exact match wins, then an alias or slug.
///
/// A link with a leading slash is a path from the top of the project. A link reaches a file other
/// than a note only with its extension: `[[Engine]]` is not a picture. A link with a heading
/// matches only a note whose name contains it: `[[Plan#Next steps]]` does not match `Plan next
/// steps`.
pub fn resolve_link<Id: Copy>(
    link: &str,
    from: Option<&NotePath>,
    candidates: &[LinkCandidate<Id>],
) -> Option<Id> {
    let name = link.rsplit_once("::").map_or(link, |(_, name)| name).trim();
    if name.starts_with('/') {
        return find_at_root(&link_keys(link, from, slug), candidates);
    }
    let part = link_name(name);
    let is_marked = part.len() < name.len();
    // A moved note keeps its old name where `#` follows a blank and is hardly a heading.
    let kept = part.ends_with(char::is_whitespace).then(|| slug(name.trim_start_matches('/')));
    let is_left =
        |c: &LinkCandidate<Id>| c.is_permalink_kept && kept.as_ref() == Some(&c.permalink);
    let seen =
        from.filter(|_| is_marked).map_or(name.into(), |from| resolve_relative_link(from, name));
    let called = candidates.iter().filter(|c| c.may_be_named(name));
    let called: Vec<_> =
        called.filter(|c| !is_marked || c.has_name(&seen) || is_left(c)).cloned().collect();
    if let [only] = called.as_slice() {
        return Some(only.id);
    }
    match choose_candidate(&link_keys(link, from, slug), &called, from, LinkStrictness::Lenient) {
        LinkResolution::Found(note) => Some(note),
        LinkResolution::Ambiguous(notes) => notes.first().copied(),
        LinkResolution::Missing => fallback_match(&called),
    }
}

/// Finds the file at a path from the top of the project, else a file with the same [`alias_key`].
fn find_at_root<Id: Copy>(keys: &LinkKeys, candidates: &[LinkCandidate<Id>]) -> Option<Id> {
    let is_at = |path: &String| candidates.iter().find(|c| c.path.as_str() == path);
    let is_alike = |c: &&LinkCandidate<Id>| {
        let path = c.path.as_str();
        let bare = path.strip_suffix(&format!(".{}", c.path.extension()));
        let bare = bare.filter(|_| c.path.is_markdown());
        [Some(path), bare].into_iter().flatten().any(|path| alias_key(path) == keys.alias)
    };
    let found = keys.paths.iter().find_map(is_at);
    found.or_else(|| candidates.iter().find(is_alike)).map(|found| found.id)
}

/// Fallback when no candidate matches exactly: the first Markdown note, else the first file.
pub fn fallback_match<Id: Copy>(candidates: &[LinkCandidate<Id>]) -> Option<Id> {
    let note = candidates.iter().find(|candidate| candidate.path.is_markdown());
    note.or(candidates.first()).map(|candidate| candidate.id)
}

/// Finds the note with exactly this title in this folder; the first one in the list.
pub fn resolve_exact_title<Id: Copy>(
    title: &str,
    folder: &str,
    candidates: &[LinkCandidate<Id>],
) -> Option<Id> {
    let fits =
        |c: &&LinkCandidate<Id>| c.title == title && c.path.parent().unwrap_or_default() == folder;
    candidates.iter().find(fits).map(|candidate| candidate.id)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> NotePath {
        NotePath::parse(text).unwrap()
    }

    fn slug(name: &str) -> String {
        name.to_lowercase().replace(' ', "-")
    }

    /// A vault of notes `path|title`, whose ids are their places in the list.
    const VAULT: &[&str] = &[
        "a/plan.md|Plan",
        "a/b/plan.md|Plan",
        "a/b/c/deep.md|Deep Note",
        "x/plan.md|Plan",
        "x/y/other.md|Other",
        "top.md|Top",
        "x/My_File.md|Something",
        "twin-one.md|Twin",
        "y/twin-two.md|Twin",
        "z/twin-six.md|Twin",
    ];

    fn candidates() -> Vec<LinkCandidate<usize>> {
        let parts = VAULT.iter().map(|note| note.split_once('|').unwrap());
        let note = |(id, (at, title)): (usize, (&str, &str))| LinkCandidate {
            id,
            path: path(at),
            permalink: slug(at.trim_end_matches(".md")),
            within: None,
            title: title.to_owned(),
            is_permalink_kept: false,
        };
        parts.enumerate().map(note).collect()
    }

    fn check(link: &str, from: &str, strictness: LinkStrictness, expected: &LinkResolution<usize>) {
        let from = NotePath::parse(from).ok();
        let keys = link_keys(link, from.as_ref(), slug);
        let found = choose_candidate(&keys, &candidates(), from.as_ref(), strictness);
        assert_eq!(&found, expected, "{link:?} in {from:?}");
    }

    #[test]
    fn links_resolve_to_the_nearest_note() {
        use LinkResolution::{Ambiguous, Found, Missing};
        use LinkStrictness::{Lenient, Strict};
        check("", "", Strict, &Missing);
        check("nowhere", "a/z.md", Lenient, &Missing);
        check("plan", "a/z.md", Strict, &Found(0));
        check("Plan", "a/b/z.md", Strict, &Found(1));
        check("Plan", "a/b/c/z.md", Strict, &Found(1));
        check("Plan", "x/y/z.md", Strict, &Found(3));
        check("../plan", "x/y/z.md", Strict, &Found(3));
        check("../../../plan", "x/y/z.md", Strict, &Missing);
        check("b/plan", "a/z.md", Strict, &Found(1));
        check("a/plan", "x/z.md", Strict, &Found(0));
        check("Deep Note", "x/z.md", Strict, &Found(2));
        check("Plan", "", Strict, &Ambiguous(vec![0, 3, 1]));
        check("Plan", "", Lenient, &Found(0));
        check("a/b/c/deep", "", Strict, &Found(2));
        check("memory://a/b/c/deep", "", Strict, &Found(2));
        check("[[Top|the top]]", "", Strict, &Found(5));
        check("x/y/other.md", "", Strict, &Found(4));
        check("my-file", "a/z.md", Strict, &Found(6));
        check("top", "x/z.md", Strict, &Found(5));
        check("deep_note", "x/z.md", Lenient, &Found(2));
        check("twin", "", Lenient, &Ambiguous(vec![7, 8, 9]));
        check("Twin", "z.md", Strict, &Found(7));
        check("Twin", "q/z.md", Lenient, &Found(7));
        check("Twin", "q/r/z.md", Strict, &Found(7));
        check("./plan", "a/b/z.md", Strict, &Found(1));
        check("../Plan", "a/b/z.md", Strict, &Found(0));
        check("y/other", "a/z.md", Strict, &Found(4));
        check("y/other", "", Strict, &Missing);
        check("Y/Other.md", "x/z.md", Strict, &Found(4));
    }

    #[test]
    fn other_files_match_names_without_a_note() {
        let vault = ["d/plan.md", "d/plan.js", "d/plan.pdf", "d/fig.png", "e/fig.md", "d/a b.csv"];
        let file = |(id, at): (usize, &&str)| {
            let path = path(at);
            let title = if path.is_markdown() { path.stem() } else { path.file_name() }.to_owned();
            let permalink = permalink_of(&path).0;
            LinkCandidate { id, path, permalink, within: None, title, is_permalink_kept: false }
        };
        let mut all: Vec<_> = vault.iter().enumerate().map(file).collect();
        for (link, from, expected) in [
            ("d/plan", "", 0),
            ("d/plan", "d/z.md", 0),
            ("plan", "z.md", 0),
            ("d/plan.js", "z.md", 1),
            ("plan.pdf", "", 2),
            ("fig", "d/z.md", 4),
            ("d/fig", "e/z.md", 3),
            ("fig.png", "e/z.md", 3),
            ("d/a-b", "", 5),
            ("a b", "", 5),
            ("d/a-b.csv", "", 5),
        ] {
            let from = NotePath::parse(from).ok();
            let keys = link_keys(link, from.as_ref(), slug);
            let found = choose_candidate(&keys, &all, from.as_ref(), LinkStrictness::Strict);
            assert_eq!(found, LinkResolution::Found(expected), "{link:?} in {from:?}");
        }
        all.remove(0);
        let found =
            choose_candidate(&link_keys("d/plan", None, slug), &all, None, LinkStrictness::Strict);
        assert_eq!(found, LinkResolution::Ambiguous(vec![1, 2]));
    }

    #[test]
    fn a_kept_permalink_is_shadowed_by_the_note_at_that_path() {
        // `path|title|permalink`; only the second has its permalink from its text.
        let vault = [
            "current.md|current|current-1",
            "a/b.md|b|stated",
            "archive/old.md|old|current",
            "It's New.md|It's New|its-new-1",
            "archive/new.md|new|its-new",
        ];
        let note = |(id, text): (usize, &&str)| {
            let parts: Vec<&str> = text.split('|').collect();
            LinkCandidate {
                id,
                path: path(parts[0]),
                title: parts[1].to_owned(),
                permalink: parts[2].to_owned(),
                within: None,
                is_permalink_kept: parts[2] != "stated",
            }
        };
        let mut all: Vec<_> = vault.iter().enumerate().map(note).collect();
        let check = |all: &[LinkCandidate<usize>], link: &str, from: &str, expected: usize| {
            let from = NotePath::parse(from).ok();
            let keys = link_keys(link, from.as_ref(), slug);
            let found = choose_candidate(&keys, all, from.as_ref(), LinkStrictness::Strict);
            assert_eq!(found, LinkResolution::Found(expected), "{link:?} in {from:?}");
        };
        for (link, from, expected) in [
            ("current", "", 0),
            ("current", "z.md", 0),
            ("current", "archive/z.md", 0),
            ("Current", "archive/z.md", 0),
            ("memories::current", "a/z.md", 0),
            ("current-1", "", 0),
            ("old", "z.md", 2),
            ("its-new", "archive/z.md", 3),
            ("its-new", "", 3),
            ("its-new-1", "", 3),
            ("stated", "z.md", 1),
        ] {
            check(&all, link, from, expected);
        }
        // With nothing in its place, or stated in the text, it is the note's as ever.
        check(&all[1..], "current", "z.md", 2);
        all[2].is_permalink_kept = false;
        check(&all, "current", "", 2);
    }

    #[test]
    fn a_permalink_matches_without_its_project() {
        let note = |id, at: &str, permalink: &str, within: Option<&str>| LinkCandidate {
            id,
            path: path(at),
            permalink: permalink.to_owned(),
            within: within.map(str::to_owned),
            title: "T".to_owned(),
            is_permalink_kept: false,
        };
        let moved = note(1, "moved.md", "main/old/note", Some("old/note"));
        let end = note(2, "x/old/note.md", "x/old/note", None);
        let own = note(3, "q.md", "old/note", None);
        let check = |link: &str, all: &[&LinkCandidate<i32>], expected: i32| {
            let all: Vec<_> = all.iter().copied().cloned().collect();
            let from = path("y/z.md");
            for from in [None, Some(&from)] {
                let found = choose_candidate(
                    &link_keys(link, from, slug),
                    &all,
                    from,
                    LinkStrictness::Strict,
                );
                assert_eq!(found, LinkResolution::Found(expected), "{link} {from:?}");
            }
        };
        check("old/note", &[&moved, &end], 1);
        check("Old/Note", &[&moved], 1);
        check("main/old/note", &[&moved, &own], 1);
        check("old/note", &[&moved, &own], 3);
    }

    #[test]
    fn link_keys_are_extracted() {
        let keys = link_keys("work::My Note", Some(&path("a/b.md")), slug);
        assert_eq!(keys.project.as_deref(), Some("work"));
        assert_eq!(keys.permalinks, ["My Note", "my-note"]);
        assert!(keys.relative_paths.is_empty());
        assert_eq!(keys.paths, ["My Note", "My Note.md"]);
        let keys = link_keys("c/d", Some(&path("a/b.md")), slug);
        assert_eq!(keys.relative_paths, ["a/c/d", "a/c/d.md"]);
        assert_eq!(link_keys("::x", None, slug).project, None);
    }

    proptest! {
        #[test]
        fn any_link_resolves_independently_of_order(link in "\\PC{0,20}|[a-c/.:|_ -]{0,12}", from in "[a-c/]{1,6}") {
            let from = NotePath::parse(&from).ok();
            let keys = link_keys(&link, from.as_ref(), slug);
            let all = candidates();
            for strictness in [LinkStrictness::Strict, LinkStrictness::Lenient] {
                let found = choose_candidate(&keys, &all, from.as_ref(), strictness);
                let backwards: Vec<_> = all.iter().rev().cloned().collect();
                prop_assert_eq!(&found, &choose_candidate(&keys, &backwards, from.as_ref(), strictness));
                if let LinkResolution::Ambiguous(several) = found {
                    prop_assert!(several.len() > 1);
                }
            }
        }
    }
}

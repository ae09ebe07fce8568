//! Finds the repository of a folder, from `.git` and git's configuration, without starting a
//! program.

#![allow(
    clippy::disallowed_methods,
    reason = "the one place that looks at a repository's files, and where git's own lie"
)]

use std::path::{Path, PathBuf};

use crate::git_config::{GitConfig, GitConfigSources, slashed};

/// A git repository, as far as memories care.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GitRepository {
    /// The folder that holds `.git`.
    pub root: PathBuf,
    /// The remote as `host/owner/repo`; `None` without one.
    pub remote: Option<String>,
    /// The remotes that there are if none of them is `remote`: several without an `origin`, or one
    /// whose address names no host.
    pub other_remotes: Vec<String>,
    /// Display name: the last part of the remote, or the folder's name.
    pub name: String,
    /// The branch that is checked out; `None` if none is.
    pub branch: Option<String>,
}

impl GitRepository {
    /// Finds the repository that contains a folder.
    pub fn of(folder: &Path) -> Option<Self> {
        let folder = std::path::absolute(folder).ok()?;
        let (root, dot_git) = folder.ancestors().find_map(|root| {
            let dot_git = root.join(".git");
            dot_git.exists().then_some((root, dot_git))
        })?;
        let own = git_folder(&dot_git)?;
        // A worktree has its own HEAD and shares everything else.
        let common = match std::fs::read_to_string(own.join("commondir")) {
            Ok(text) => own.join(text.trim()),
            Err(_) => own.clone(),
        };
        let head = std::fs::read_to_string(own.join("HEAD")).unwrap_or_default();
        let branch = head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned);
        let config = configuration(&own, &common);
        let remotes = config.remotes();
        let followed = branch.as_deref().and_then(|branch| config.remote_of(branch));
        let is_main = |name: &&&str| **name == "origin";
        let main = remotes.iter().find(is_main).or_else(|| match remotes.as_slice() {
            [only] => Some(only),
            several => several.iter().find(|name| Some(**name) == followed),
        });
        let remote = main.and_then(|main| normal_remote(&config.address(main)?));
        let other_remotes = match &remote {
            Some(_) => Vec::new(),
            None => remotes.iter().map(|&name| name.to_owned()).collect(),
        };
        let name = match &remote {
            Some(remote) => remote.rsplit('/').next().unwrap_or(remote).to_owned(),
            None => root.file_name()?.to_string_lossy().into_owned(),
        };
        Some(Self { root: root.to_owned(), remote, other_remotes, name, branch })
    }
}

/// Returns files as paths from the root of the repository that contains a folder. A name can be
/// absolute, a URL, or relative to the root or the folder, so each file yields every possible path.
pub fn named_from_root(folder: Option<&Path>, files: &[String]) -> Vec<String> {
    let folder = folder.and_then(|folder| std::path::absolute(folder).ok());
    let root = folder.as_deref().map(|folder| match GitRepository::of(folder) {
        Some(repository) => repository.root,
        None => folder.to_owned(),
    });
    let own = slashed;
    // Path of the folder within the root, for names relative to the folder.
    let within = root.as_deref().zip(folder.as_deref());
    let within = within.and_then(|(root, folder)| folder.strip_prefix(root).ok()).map(own);
    let within = within.filter(|within| !within.is_empty());
    let roots: Vec<String> = root
        .iter()
        .flat_map(|root| [Some(root.clone()), root.canonicalize().ok()])
        .flatten()
        .map(|root| own(&root))
        .collect();
    let mut named = Vec::new();
    for file in files {
        let file = slashed(Path::new(&from_address(file.trim())));
        let is_absolute = file.starts_with('/') || file.get(1..3) == Some(":/");
        let plain = resolved(&file);
        if is_absolute {
            let real = real_path(&file).map(|real| resolved(&own(&real)));
            let below = roots.iter().find_map(|root| {
                let root = resolved(root);
                let below = |file: &str| {
                    Some(file.strip_prefix(root.as_str())?.strip_prefix('/')?.to_owned())
                };
                below(&plain).or_else(|| below(real.as_deref()?))
            });
            named.push(below.unwrap_or(plain));
        } else {
            named.extend(within.as_ref().map(|within| resolved(&format!("{within}/{file}"))));
            named.push(plain);
        }
    }
    named
}

/// The path that an address of the scheme `file` names; any other text as it is.
fn from_address(text: &str) -> String {
    let Some(path) = text.strip_prefix("file://") else { return text.to_owned() };
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after
            .get(..2)
            .filter(|_| byte == b'%')
            .and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(hex.unwrap_or(byte));
        rest = if hex.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A path without `.`, `..`, doubled and leading slashes.
fn resolved(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// A path without links, as far as it exists.
fn real_path(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    path.ancestors().find_map(|known| {
        let real = known.canonicalize().ok()?;
        Some(real.join(path.strip_prefix(known).ok()?))
    })
}

/// The folder behind `.git`: itself, or the one that a worktree's or submodule's file names.
fn git_folder(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return Some(dot_git.to_owned());
    }
    let text = std::fs::read_to_string(dot_git).ok()?;
    let target = text.trim().strip_prefix("gitdir:")?.trim();
    Some(dot_git.parent()?.join(target))
}

/// The configuration that holds in a repository: the system's, the person's, its own.
fn configuration(own: &Path, common: &Path) -> GitConfig {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
    let mut files = Vec::new();
    if variable("GIT_CONFIG_NOSYSTEM").is_none() {
        files.push(PathBuf::from("/etc/gitconfig"));
    }
    match std::env::var_os("GIT_CONFIG_GLOBAL") {
        Some(global) => files.push(global.into()),
        None => {
            let xdg = variable("XDG_CONFIG_HOME").map(PathBuf::from);
            let xdg = xdg.or_else(|| Some(home.as_ref()?.join(".config")));
            files.extend(xdg.map(|folder| folder.join("git/config")));
            files.extend(home.as_ref().map(|home| home.join(".gitconfig")));
        }
    }
    files.push(common.join("config"));
    let git_folders = || -> Vec<String> {
        let real = own.canonicalize().ok();
        real.iter().map(PathBuf::as_path).chain([own]).map(slashed).collect()
    };
    let read = |path: &Path| {
        let bytes = std::fs::read(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let sources = GitConfigSources { read: &read, home, git_folders: &git_folders };
    let mut config = GitConfig::default();
    files.iter().for_each(|file| config.add(file, &sources));
    config
}

/// A remote's address as `host/owner/repo`, however it is written; `None` if it names no host.
pub fn normal_remote(url: &str) -> Option<String> {
    let url = url.trim();
    let (host, path) = match url.split_once("://") {
        Some((scheme, rest)) => {
            let known = ["https", "http", "ssh", "git", "git+ssh", "git+https"];
            if !known.contains(&scheme.to_ascii_lowercase().as_str()) {
                return None;
            }
            rest.split_once('/')?
        }
        // Parses the short form of ssh, `user@host:owner/repo`. A drive letter is not a host, and
        // an IPv6 address is in brackets.
        None => {
            let short = match url.split_once("]:") {
                Some((host, path)) if host.contains('[') => Some((url.get(..=host.len())?, path)),
                _ => url.split_once(':'),
            };
            short.filter(|(host, _)| host.len() > 1 && !host.contains('/'))?
        }
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    // The port does not identify the repository.
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    if host.is_empty() || path.is_empty() {
        return None;
    }
    Some(format!("{}/{path}", host.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_remote_is_one_name() {
        for url in [
            "https://github.com/acme/shop.git",
            "https://github.com/acme/shop",
            "https://GitHub.com/acme/shop.git/",
            "https://user:secret@github.com/acme/shop.git",
            "https://github.com:443/acme/shop",
            "ssh://git@github.com/acme/shop.git",
            "ssh://git@github.com:22/acme/shop.git",
            "git+ssh://git@github.com/acme/shop.git",
            "git@github.com:acme/shop.git",
            "git@github.com:/acme/shop.git",
            " github.com:acme/shop ",
        ] {
            assert_eq!(normal_remote(url).as_deref(), Some("github.com/acme/shop"), "{url}");
        }
        for url in ["", "/srv/git/shop.git", "../shop", "file:///srv/shop.git", "C:\\shop", "x"] {
            assert_eq!(normal_remote(url), None, "{url}");
        }
        for url in ["git@[::1]:Acme/Shop.git", "ssh://git@[::1]:22/Acme/Shop.git"] {
            assert_eq!(normal_remote(url).as_deref(), Some("[::1]/Acme/Shop"), "{url}");
        }
        let nested = normal_remote("https://gitlab.com/a/b/c.git");
        assert_eq!(nested.as_deref(), Some("gitlab.com/a/b/c"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_one_however_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("my shop");
        std::fs::create_dir_all(root.join("src/api")).unwrap();
        std::fs::create_dir_all(root.join(".git")).unwrap();
        let link = folder.path().canonicalize().unwrap().join("link");
        std::os::unix::fs::symlink(&root, &link).unwrap();
        let (shown, linked) = (root.display(), link.display());
        let address =
            format!("file://{}/src/api/a.ts", root.display().to_string().replace(' ', "%20"));
        for (from, file) in [
            ("", "src/api/a.ts"),
            ("", "./src/api/a.ts"),
            ("", "src\\api\\a.ts"),
            ("", "src/../src/api/a.ts"),
            ("", "src//api//a.ts"),
            ("", "/src/api/a.ts"),
            ("src", "api/a.ts"),
            ("src", "src/api/a.ts"),
            ("src/api", "../api/a.ts"),
            ("", &format!("{shown}/src/api/a.ts")),
            ("src", &format!("{linked}/src/api/a.ts")),
            ("", &address),
        ] {
            for root in [&root, &link] {
                let named = named_from_root(Some(&root.join(from)), &[file.to_owned()]);
                assert!(named.contains(&"src/api/a.ts".to_owned()), "{from:?} {file}: {named:?}");
            }
        }
        assert_eq!(named_from_root(None, &["./a//b".into(), "/c".into()]), ["a/b", "c"]);
        let elsewhere = named_from_root(Some(&root), &[format!("{shown}-old/src/a.ts")]);
        assert!(elsewhere[0].ends_with("my shop-old/src/a.ts"), "{elsewhere:?}");
    }

    #[test]
    fn a_folder_knows_its_repository() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("shop");
        let inside = root.join("src/deep");
        std::fs::create_dir_all(&inside).unwrap();
        assert_eq!(GitRepository::of(&inside).filter(|found| found.root == root), None);
        std::fs::create_dir_all(root.join(".git")).unwrap();
        std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/feature/x\n").unwrap();
        let local = GitRepository::of(&inside).unwrap();
        assert_eq!((local.name.as_str(), local.remote), ("shop", None));
        assert_eq!(local.branch.as_deref(), Some("feature/x"));
        let config = "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = git@x.org:me/fork.git\n\
                      [remote \"origin\"]\n\turl = git@github.com:acme/store.git\n";
        std::fs::write(root.join(".git/config"), config).unwrap();
        let found = GitRepository::of(&inside).unwrap();
        assert_eq!(found.remote.as_deref(), Some("github.com/acme/store"));
        assert_eq!((found.name.as_str(), found.root), ("store", root.clone()));
        // A worktree points at its own folder, which shares the configuration.
        let tree = folder.path().join("tree");
        let own = root.join(".git/worktrees/tree");
        std::fs::create_dir_all(&tree).unwrap();
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(tree.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        std::fs::write(own.join("commondir"), "../..\n").unwrap();
        std::fs::write(own.join("HEAD"), "0123456789\n").unwrap();
        let found = GitRepository::of(&tree).unwrap();
        assert_eq!(found.remote.as_deref(), Some("github.com/acme/store"));
        assert_eq!(found.branch, None);
    }
}

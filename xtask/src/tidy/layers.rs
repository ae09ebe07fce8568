//! The table of what each crate must not know.
//!
//! Direct dependencies are the arrows between our crates. Indirect ones show whether a runtime or a
//! database came in through another crate.

use std::collections::HashSet;

use super::{RuleFindings, WorkspaceTree};

const ASYNC: &[&str] = &[
    "actix-rt",
    "async-executor",
    "async-global-executor",
    "async-io",
    "async-std",
    "embassy-executor",
    "futures-executor",
    "glommio",
    "monoio",
    "smol",
    "tokio",
];
const DATABASES: &[&str] = &[
    "diesel",
    "fjall",
    "heed",
    "libsql",
    "libsqlite3-sys",
    "postgres",
    "redb",
    "rocksdb",
    "rusqlite",
    "sled",
    "sqlx",
    "sqlx-core",
    "tantivy",
    "tokio-postgres",
];
const HTTP: &[&str] = &[
    "actix-web",
    "attohttpc",
    "axum",
    "curl",
    "h2",
    "http",
    "hyper",
    "isahc",
    "reqwest",
    "rmcp",
    "tiny_http",
    "tower",
    "ureq",
    "warp",
];
const FILES: &[&str] =
    &["cap-std", "ignore", "memmap2", "notify", "notify-debouncer-full", "tempfile", "walkdir"];
const CHANCE: &[&str] = &["fastrand", "getrandom", "rand", "ulid", "uuid"];
const TERMINAL: &[&str] = &["anstream", "clap", "comfy-table", "crossterm", "indicatif"];

/// One crate with its allowed and forbidden dependencies.
struct CrateLayer {
    name: &'static str,
    /// Our crates that it may depend on.
    may_use: &'static [&'static str],
    /// Packages that must not be reachable from it, and the reason.
    never: &'static [(&'static str, &'static [&'static str])],
}

const CORE: &str = "memoranda-core";
const STORE: &str = "memoranda-store";
const ENGINE: &str = "memoranda-engine";
const MODEL: &str = "memoranda-model";
const TOOLS: &str = "memoranda-tools";
const CLIENTS: &str = "memoranda-clients";
const IMPORT: &str = "memoranda-import";
const REMOTE: &str = "memoranda-remote";
const SERVER: &str = "memoranda-server";

const LAYERS: &[CrateLayer] = &[
    CrateLayer {
        name: CORE,
        may_use: &[],
        never: &[
            ("an async runtime", ASYNC),
            ("a database", DATABASES),
            ("HTTP", HTTP),
            ("files", FILES),
            ("randomness", CHANCE),
            ("the terminal", TERMINAL),
        ],
    },
    CrateLayer {
        name: STORE,
        may_use: &[CORE],
        never: &[("an async runtime", ASYNC), ("HTTP", HTTP), ("the terminal", TERMINAL)],
    },
    CrateLayer {
        name: ENGINE,
        may_use: &[CORE, STORE],
        never: &[("an async runtime", ASYNC), ("HTTP", HTTP), ("the terminal", TERMINAL)],
    },
    // The only door to language models may use HTTP, but nothing else of the server.
    CrateLayer {
        name: MODEL,
        may_use: &[CORE, ENGINE],
        never: &[("an async runtime", ASYNC), ("the terminal", TERMINAL)],
    },
    CrateLayer {
        name: TOOLS,
        may_use: &[CORE, ENGINE],
        never: &[("an async runtime", ASYNC), ("HTTP", HTTP), ("the terminal", TERMINAL)],
    },
    // Shared by the command line and the page, so it prints nothing and answers no request.
    CrateLayer {
        name: CLIENTS,
        may_use: &[CORE, ENGINE, TOOLS],
        never: &[("an async runtime", ASYNC), ("HTTP", HTTP), ("the terminal", TERMINAL)],
    },
    CrateLayer {
        name: IMPORT,
        may_use: &[CORE, ENGINE],
        never: &[("an async runtime", ASYNC), ("HTTP", HTTP), ("the terminal", TERMINAL)],
    },
    // Remote logs: the client of the database brings a runtime, which nothing else of it shows.
    CrateLayer { name: REMOTE, may_use: &[CORE, STORE], never: &[("the terminal", TERMINAL)] },
    CrateLayer {
        name: SERVER,
        may_use: &[CORE, CLIENTS, TOOLS, ENGINE, MODEL, REMOTE],
        never: &[("the terminal", TERMINAL)],
    },
    CrateLayer {
        name: "memoranda",
        may_use: &[CORE, CLIENTS, TOOLS, ENGINE, IMPORT, MODEL, REMOTE, SERVER],
        never: &[],
    },
    CrateLayer {
        name: "xtask",
        may_use: &[CORE, CLIENTS, TOOLS, ENGINE, IMPORT, MODEL, REMOTE, SERVER, STORE],
        never: &[],
    },
];

pub(super) fn check(tree: &WorkspaceTree) -> RuleFindings {
    let members = &tree.metadata.members;
    let ours: HashSet<_> = members.iter().map(|member| member.name.as_str()).collect();
    let mut problems = Vec::new();
    for member in members {
        let Some(layer) = LAYERS.iter().find(|layer| layer.name == member.name) else {
            problems.push(format!(
                "{} is in no layer: add it to LAYERS, with what it must not know",
                member.name
            ));
            continue;
        };
        problems.extend(wrong_arrows(layer, &member.dependencies, &ours));
        problems.extend(forbidden(layer, &tree.metadata.reachable(member)));
    }
    RuleFindings { problems, ..RuleFindings::default() }
}

fn wrong_arrows(layer: &CrateLayer, dependencies: &[String], ours: &HashSet<&str>) -> Vec<String> {
    let wrong = dependencies
        .iter()
        .map(String::as_str)
        .filter(|dependency| ours.contains(dependency) && !layer.may_use.contains(dependency));
    wrong
        .map(|dependency| {
            format!("{} depends on {dependency}: dependencies point one way only", layer.name)
        })
        .collect()
}

fn forbidden(layer: &CrateLayer, reachable: &HashSet<&str>) -> Vec<String> {
    let mut problems = Vec::new();
    for (what, packages) in layer.never {
        for package in packages.iter().filter(|package| reachable.contains(*package)) {
            problems.push(format!(
                "{} must not know {what}, yet is built from {package} \
                 (see `cargo tree -p {} -i {package}`)",
                layer.name, layer.name
            ));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(name: &str) -> &'static CrateLayer {
        LAYERS.iter().find(|layer| layer.name == name).unwrap()
    }

    #[test]
    fn arrows_point_one_way() {
        let ours = HashSet::from([CORE, STORE, ENGINE]);
        let check = |name, dependencies: &[&str], wrong: usize| {
            let dependencies: Vec<_> = dependencies.iter().map(|&name| name.to_owned()).collect();
            let found = wrong_arrows(layer(name), &dependencies, &ours);
            assert_eq!(found.len(), wrong, "{found:?}");
        };
        check(STORE, &[CORE, "serde"], 0);
        check(STORE, &[ENGINE], 1);
        check(CORE, &[CORE, STORE], 2);
        check("memoranda", &[CORE, ENGINE], 0);
        // Above the engine, the store is known by the engine's words only.
        for above in [TOOLS, CLIENTS, IMPORT, SERVER, "memoranda"] {
            check(above, &[STORE], 1);
        }
    }

    #[test]
    fn forbidden_dependencies_are_named() {
        let found = forbidden(layer(CORE), &HashSet::from(["jiff", "rusqlite"]));
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("a database") && found[0].contains("rusqlite"));
        assert!(forbidden(layer(STORE), &HashSet::from(["rusqlite"])).is_empty());
        assert_eq!(forbidden(layer(TOOLS), &HashSet::from(["tokio"])).len(), 1);
        assert!(forbidden(layer(SERVER), &HashSet::from(["tokio"])).is_empty());
    }

    #[test]
    fn layers_have_no_cycles() {
        for (n, layer) in LAYERS.iter().enumerate() {
            for used in layer.may_use {
                let place = LAYERS.iter().position(|other| other.name == *used);
                assert!(place.is_some_and(|place| place < n), "{} → {used}", layer.name);
            }
        }
    }
}

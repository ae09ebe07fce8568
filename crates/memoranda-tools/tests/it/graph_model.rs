//! Random calls against a model of the reference server's graph. A new index of the notes must give
//! the same graph.

use std::collections::{BTreeMap, BTreeSet};

use memoranda_tools::Wording;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::TestVault;

#[derive(Default, Debug)]
struct Model {
    entities: BTreeMap<String, Vec<String>>,
    relations: BTreeSet<(String, String, String)>,
}

#[derive(Clone, Debug)]
enum Step {
    Create(String, Vec<String>),
    Relate(String, String, String),
    Add(String, String),
    Delete(String),
    DeleteFact(String, String),
    Unrelate(String, String, String),
}

impl Step {
    fn call(&self) -> (&'static str, Value) {
        let relation =
            |f: &str, t: &str, k: &str| json!([{ "from": f, "to": t, "relationType": k }]);
        match self {
            Self::Create(name, facts) => (
                "create_entities",
                json!({ "entities": [{ "name": name, "entityType": "Thing", "observations": facts }] }),
            ),
            Self::Relate(f, t, k) => {
                ("create_relations", json!({ "relations": relation(f, t, k) }))
            }
            Self::Add(name, fact) => (
                "add_observations",
                json!({ "observations": [{ "entityName": name, "contents": [fact] }] }),
            ),
            Self::Delete(name) => ("delete_entities", json!({ "entityNames": [name] })),
            Self::DeleteFact(name, fact) => (
                "delete_observations",
                json!({ "deletions": [{ "entityName": name, "observations": [fact] }] }),
            ),
            Self::Unrelate(f, t, k) => {
                ("delete_relations", json!({ "relations": relation(f, t, k) }))
            }
        }
    }

    /// Applies the step. Returns true if it succeeds.
    fn act(&self, model: &mut Model) -> bool {
        match self.clone() {
            Self::Create(name, facts) => {
                let mut once: Vec<String> = Vec::new();
                facts.into_iter().for_each(|f| {
                    if !once.contains(&f) {
                        once.push(f);
                    }
                });
                model.entities.entry(name).or_insert(once);
            }
            Self::Relate(f, t, k) => {
                model.relations.insert((f, t, k));
            }
            Self::Add(name, fact) => match model.entities.get_mut(&name) {
                None => return false,
                Some(facts) if facts.contains(&fact) => {}
                Some(facts) => facts.push(fact),
            },
            // Relations are removed with their ends, also with undescribed ones.
            Self::Delete(name) => {
                model.entities.remove(&name);
                model.relations.retain(|(f, t, _)| *f != name && *t != name);
            }
            Self::DeleteFact(name, fact) => {
                if let Some(facts) = model.entities.get_mut(&name) {
                    facts.retain(|known| *known != fact);
                }
            }
            Self::Unrelate(f, t, k) => {
                model.relations.remove(&(f, t, k));
            }
        }
        true
    }
}

fn names() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["A", "a", "B c", "x/y", "x-y", "Issue #5", "日本", "[[z]]"])
        .prop_map(str::to_owned)
}

fn facts() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "plain",
            "[tech] tagged #x (ctx)",
            "[fact] said",
            "# no heading",
            "- no item",
            "~~not struck~~",
            "two\nlines",
            "<br> kept",
            "a <!-- b -->",
            "f(x)",
            "ends \\",
            "`code",
            "1. first",
            "> quote",
            "| a | b |",
        ])
        .prop_map(str::to_owned),
        "[a-c(\\[\\])~#<>!`*_-]{1,12}"
            .prop_map(|text| text.trim().to_owned())
            .prop_filter("empty", |t| !t.is_empty()),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    let kinds = || {
        prop::sample::select(vec!["uses", "it's \"so\"", "part of", "#tag", "[x]"])
            .prop_map(str::to_owned)
    };
    prop_oneof![
        4 => (names(), prop::collection::vec(facts(), 0..4)).prop_map(|(n, f)| Step::Create(n, f)),
        4 => (names(), names(), kinds()).prop_map(|(f, t, k)| Step::Relate(f, t, k)),
        3 => (names(), facts()).prop_map(|(n, f)| Step::Add(n, f)),
        1 => names().prop_map(Step::Delete),
        2 => (names(), facts()).prop_map(|(n, f)| Step::DeleteFact(n, f)),
        2 => (names(), names(), kinds()).prop_map(|(f, t, k)| Step::Unrelate(f, t, k)),
    ]
}

/// Entities with their observations, and relations.
type Graph = (BTreeMap<String, Vec<String>>, BTreeSet<(String, String, String)>);

fn graph(vault: &TestVault) -> Graph {
    let graph = vault.done("read_graph", json!({ "maxTokens": 24000 }));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let entity = |e: &Value| {
        let facts = e["observations"].as_array().unwrap().iter().map(text).collect();
        (text(&e["name"]), facts)
    };
    let relation = |r: &Value| (text(&r["from"]), text(&r["to"]), text(&r["relationType"]));
    let entities = graph["entities"].as_array().unwrap().iter().map(entity).collect();
    (entities, graph["relations"].as_array().unwrap().iter().map(relation).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_graph_agrees_with_a_simple_model_and_with_its_notes(
        steps in prop::collection::vec(steps(), 1..20)
    ) {
        let vault = TestVault::new(Wording::Mcp);
        let mut model = Model::default();
        for step in &steps {
            let (tool, arguments) = step.call();
            let expected = step.act(&mut model);
            let result = vault.call(tool, &arguments);
            prop_assert_eq!(!result.is_error, expected, "{:?}: {}", step, result.text);
        }
        let live = graph(&vault);
        prop_assert_eq!(&live, &(model.entities.clone(), model.relations.clone()));
        let before = vault.done("get_analytics", json!({ "threadId": "default" }));
        vault.memory.reindex(&mut |_| {}).unwrap();
        prop_assert_eq!(&graph(&vault), &live);
        let after = vault.done("get_analytics", json!({ "threadId": "default" }));
        prop_assert_eq!(&before["most_connected"].as_array().unwrap().len(), &after["most_connected"].as_array().unwrap().len());
        let scratch = tempfile::TempDir::new().unwrap();
        let report = vault.memory.check(scratch.path()).unwrap();
        prop_assert!(report.differing.is_empty(), "{:?}", report.differing);
    }
}

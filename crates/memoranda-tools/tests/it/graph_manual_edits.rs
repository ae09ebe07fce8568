//! Manual edits of the notes of a graph.

use jiff::Timestamp;
use memoranda_tools::Wording;
use serde_json::{Value, json};

use super::graph_save::valid;
use crate::support::TestVault;

const THREAD: &str = "portfolio-update-2026";

fn saved() -> TestVault {
    let vault = TestVault::new(Wording::Mcp);
    vault.done("save_memory", valid());
    vault
}

/// Writes a note of the thread without a tool.
fn write(vault: &TestVault, name: &str, text: &str) {
    std::fs::write(vault.path(&format!("graph/{THREAD}/{name}.md")), text).unwrap();
    vault.memory.sync(&mut |_| {}).unwrap();
}

fn read(vault: &TestVault, name: &str) -> String {
    std::fs::read_to_string(vault.path(&format!("graph/{THREAD}/{name}.md"))).unwrap()
}

fn opened(vault: &TestVault, more: Value) -> Value {
    let mut asked = json!({ "threadId": THREAD });
    more.as_object().unwrap().iter().for_each(|(k, v)| asked[k] = v.clone());
    vault.done("open_nodes", asked)
}

#[test]
fn typed_links_are_relations() {
    let vault = saved();
    let carol = "---\ntitle: Carol\ntype: Person\n---\n\n- [fact] Has a boat\n\n## Relations\n- knows [[andrii]]\n- owns [[portfolio]] (since May)\n";
    write(&vault, "Carol", carol);
    let entity = |importance: Option<f64>| {
        let mut relation = json!({ "targetEntity": "Andrii", "relationType": "knows" });
        relation["importance"] = json!(importance);
        json!({ "threadId": THREAD, "entities": [{ "name": "Carol", "entityType": "Person",
            "observations": ["Has a boat"], "relations": [relation] }] })
    };
    let again = vault.done("save_memory", entity(None));
    assert_eq!(again["created"]["relations"], 0);
    assert_eq!(read(&vault, "Carol"), carol);
    let rated = vault.done("save_memory", entity(Some(0.9)));
    assert_eq!(rated["merged"][0]["relations_updated"], 1);
    let told = opened(&vault, json!({ "names": ["Carol"] }));
    let known: Vec<&Value> = told["relations"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|r| r["relationType"] == "knows")
        .collect();
    assert_eq!(known.len(), 1);
    assert_eq!((&known[0]["to"], &known[0]["importance"]), (&json!("Andrii"), &json!(0.9)));
    // A context in parentheses is kept.
    assert!(read(&vault, "Carol").contains("- owns [[portfolio]] (since May)"));
    let relation = json!({ "from": "Carol", "to": "Portfolio", "relationType": "owns" });
    let gone =
        vault.done("delete_relations", json!({ "threadId": THREAD, "relations": [relation] }));
    assert_eq!((&gone["deleted"], &gone["notFound"]), (&json!(1), &json!([])));
    assert!(!read(&vault, "Carol").contains("owns"));
}

#[test]
fn every_tool_resolves_a_link_alike() {
    let vault = TestVault::new(Wording::Mcp);
    let people =
        json!([{ "name": "Ada", "entityType": "Person", "observations": ["Counts well"] }]);
    vault.done("create_entities", json!({ "entities": people }));
    let text = "---\ntitle: Bob\ntype: Person\n---\n- knows [[default/ada]]\n- likes [[ada]]\n";
    std::fs::write(vault.path("graph/default/Bob.md"), text).unwrap();
    vault.memory.sync(&mut |_| {}).unwrap();
    let graph = vault.done("read_graph", json!({}));
    for relation in graph["relations"].as_array().unwrap() {
        assert_eq!(relation["to"], "Ada");
    }
    let mut resources = memoranda_tools::resources();
    let resource = resources.find(|resource| resource.name == "knowledge-graph").unwrap();
    let text = (resource.read)(&vault.memory, &vault.settings, &[]).unwrap().unwrap();
    let resource: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(resource["relations"], graph["relations"]);
}

#[test]
fn manual_edits_of_observations_have_their_own_times() {
    let vault = saved();
    let facts =
        opened(&vault, json!({ "names": ["Andrii"] }))["entities"][0]["observations"].clone();
    std::thread::sleep(std::time::Duration::from_millis(20));
    let text = read(&vault, "Andrii").replace("Works at Google", "Works at Acme");
    let text = text.replace("Uses Windows", "~~Uses Windows~~");
    assert!(text.contains("~~Uses Windows~~"), "{text}");
    write(
        &vault,
        "Andrii",
        &text.replace("## Relations", "- [fact] Typed by hand\n\n## Relations"),
    );
    let told = opened(&vault, json!({ "names": ["Andrii"], "includeSuperseded": true }));
    let now = told["entities"][0]["observations"].as_array().unwrap().clone();
    let of = |content: &str| now.iter().find(|fact| fact["content"] == content).unwrap();
    let history = |id: &Value| {
        let asked = json!({ "threadId": THREAD, "entityName": "Andrii", "observationId": id });
        vault.done("get_observation_history", asked)["history"].as_array().unwrap().clone()
    };
    let reworded = of("Works at Acme");
    let versions = history(&reworded["id"]);
    assert_eq!((versions.len(), &versions[1]["timestamp"]), (2, &reworded["timestamp"]));
    // The times have texts of different lengths, so they are compared as times.
    let time = |entry: &Value| entry["timestamp"].as_str().unwrap().parse::<Timestamp>().unwrap();
    assert!(time(&versions[1]) > time(&versions[0]), "{versions:?}");
    let typed = of("Typed by hand");
    assert_eq!(typed["timestamp"], history(&typed["id"])[0]["timestamp"]);
    assert_eq!(of("Author of MCP Memory Server")["timestamp"], facts[1]["timestamp"]);
    let struck = of("Uses Windows");
    assert_eq!(struck["current"], false);
    let ended = history(&struck["id"])[0]["ended"].clone();
    assert_eq!((&ended["how"], &ended["by"]["client"]), (&json!("struck out"), &json!("person")));
    assert_eq!(ended["timestamp"], versions[1]["timestamp"]);
    // The time stays when a tool writes to the note.
    let more = json!([{ "entityName": "Andrii", "contents": ["Plays the viola"] }]);
    vault.done("add_observations", json!({ "threadId": THREAD, "observations": more }));
    let told = opened(&vault, json!({ "names": ["Andrii"] }));
    let facts = told["entities"][0]["observations"].as_array().unwrap();
    let fact = facts.iter().find(|fact| fact["content"] == "Works at Acme").unwrap();
    assert_eq!(fact["version"], 2);
    assert!(time(fact) > time(&versions[0]), "{fact} {versions:?}");
    let gone = json!([{ "entityName": "Andrii", "observations": ["Works at Acme"] }]);
    vault.done("delete_observations", json!({ "threadId": THREAD, "deletions": gone }));
    let ended = history(&reworded["id"])[1]["ended"].clone();
    assert_eq!(
        (&ended["how"], &ended["by"]["tool"]),
        (&json!("removed"), &json!("delete_observations"))
    );
}

#[test]
fn the_history_of_a_deleted_entity_is_readable() {
    let vault = saved();
    let facts =
        opened(&vault, json!({ "names": ["Andrii"] }))["entities"][0]["observations"].clone();
    vault.done("delete_entities", json!({ "threadId": THREAD, "entityNames": ["Andrii"] }));
    let asked =
        json!({ "threadId": THREAD, "entityName": "Andrii", "observationId": facts[0]["id"] });
    let told = vault.done("get_observation_history", asked);
    assert_eq!(told["deleted"], true);
    let version = &told["history"][0];
    assert_eq!(
        (&version["content"], &version["current"]),
        (&json!("Works at Google"), &json!(false))
    );
    assert_eq!(version["ended"]["by"]["tool"], "delete_entities");
    let asked =
        json!({ "threadId": THREAD, "entityName": "Andrij", "observationId": facts[0]["id"] });
    assert!(vault.refused("get_observation_history", asked).0.contains("Andrij not found"));
}

#[test]
fn notes_of_one_title_are_read_and_deleted_together() {
    let vault = saved();
    write(&vault, "Twin 1", "---\ntitle: Twin\ntype: Person\n---\n- [fact] First of them\n");
    write(&vault, "Twin 2", "---\ntitle: Twin\ntype: Person\n---\n- [fact] Second of them\n");
    let both = opened(&vault, json!({ "names": ["Twin"] }));
    assert_eq!(both["entities"].as_array().unwrap().len(), 2);
    let gone =
        vault.done("delete_entities", json!({ "threadId": THREAD, "entityNames": ["Twin"] }));
    assert_eq!(gone["deleted"], json!(["Twin"]));
    assert_eq!(opened(&vault, json!({ "names": ["Twin"] }))["entities"], json!([]));
    assert!(!vault.path(&format!("graph/{THREAD}/Twin 2.md")).exists());
}

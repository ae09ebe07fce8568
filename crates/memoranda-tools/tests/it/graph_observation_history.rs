//! Observations over time: superseded, reworded by people, with their authors, and read as of a time.

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

fn scripts(vault: &TestVault, more: Value) -> Value {
    let mut arguments = json!({ "names": ["Python Scripts"], "threadId": THREAD });
    more.as_object().unwrap().iter().for_each(|(k, v)| arguments[k] = v.clone());
    vault.done("open_nodes", arguments)["entities"][0]["observations"].clone()
}

#[test]
fn a_newer_observation_supersedes_an_older_one() {
    let vault = saved();
    let first = scripts(&vault, json!({}))[1].clone();
    let updated = vault.done(
        "update_observation",
        json!({
            "agentThreadId": THREAD, "entityName": "Python Scripts", "observationId": first["id"],
            "newContent": "Uses python-docx 1.3.0"
        }),
    );
    let second = updated["observation"].clone();
    assert_eq!((&second["version"], &second["supersedes"]), (&json!(2), &first["id"]));
    assert_eq!(second["importance"], 0.6);
    let third = vault.done(
        "add_observations",
        json!({ "threadId": THREAD, "observations": [{
            "entityName": "Python Scripts", "contents": ["Uses python-docx 2.0.0 (beta)"],
            "supersedes": second["id"]
        }] }),
    );
    let third = third["results"][0]["addedObservations"][0].clone();
    let now: Vec<String> = contents(&scripts(&vault, json!({})));
    assert_eq!(
        now,
        ["update_portfolio.py is main script", "Uses python-docx 2.0.0 (beta)", "Uses lxml 6.0.2"]
    );
    let all = scripts(&vault, json!({ "includeSuperseded": true }));
    assert_eq!(all.as_array().unwrap().len(), 5);
    assert_eq!(all[3]["superseded_by"], second["id"]);
    let (text, _) = vault.refused(
        "update_observation",
        json!({
            "threadId": THREAD, "entityName": "Python Scripts", "observationId": first["id"],
            "newContent": "Uses python-docx 9.9.9"
        }),
    );
    assert!(text.contains(third["id"].as_str().unwrap()), "{text}");
    for id in [&first["id"], &second["id"], &third["id"]] {
        let told = vault.done(
            "get_observation_history",
            json!({ "entityName": "Python Scripts", "observationId": id, "threadId": THREAD }),
        );
        let history = told["history"].as_array().unwrap();
        let versions: Vec<_> = history.iter().map(|v| v["version"].as_u64().unwrap()).collect();
        assert_eq!(versions, [1, 2, 3]);
        assert_eq!(contents(&told["history"])[0], "Uses python-docx 1.2.0");
        assert_eq!(history[0]["written_by"]["tool"], "save_memory");
        assert_eq!(history[1]["written_by"]["tool"], "update_observation");
        assert_eq!(history[0]["superseded_by"], second["id"]);
        assert_eq!((&history[2]["current"], &history[0]["current"]), (&json!(true), &json!(false)));
    }
    // Words of a superseded observation find nothing.
    let found = vault.done("search_nodes", json!({ "query": "1.2.0", "threadId": THREAD }));
    assert_eq!(found["entities"], json!([]));
    let found = vault.done(
        "search_nodes",
        json!({ "query": "1.2.0", "threadId": THREAD, "includeSuperseded": true }),
    );
    assert_eq!(found["entities"].as_array().unwrap().len(), 1);
}

fn contents(facts: &Value) -> Vec<String> {
    facts.as_array().unwrap().iter().map(|f| f["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_manual_edit_is_a_version() {
    let vault = saved();
    let path = vault.path(&format!("graph/{THREAD}/Python Scripts.md"));
    let id = scripts(&vault, json!({}))[2]["id"].clone();
    let edit = |from: &str, to: &str| {
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace(from, to)).unwrap();
        vault.memory.sync(&mut |_| {}).unwrap();
    };
    edit("Uses lxml 6.0.2", "Uses lxml 6.1");
    let fact = scripts(&vault, json!({}))[2].clone();
    assert_eq!(
        (&fact["id"], &fact["version"], &fact["content"]),
        (&id, &json!(2), &json!("Uses lxml 6.1"))
    );
    edit("Uses lxml 6.1", "Uses lxml 7");
    assert_eq!(scripts(&vault, json!({}))[2]["version"], 3);
    let updated = vault.done(
        "update_observation",
        json!({
            "threadId": THREAD, "entityName": "Python Scripts", "observationId": id,
            "newContent": "Uses no lxml any more"
        }),
    );
    assert_eq!(updated["observation"]["version"], 4);
    let told = vault.done(
        "get_observation_history",
        json!({ "entityName": "Python Scripts", "observationId": id, "threadId": THREAD }),
    );
    let history = told["history"].as_array().unwrap();
    assert_eq!(
        contents(&told["history"]),
        ["Uses lxml 6.0.2", "Uses lxml 6.1", "Uses lxml 7", "Uses no lxml any more"]
    );
    let who: Vec<&str> =
        history.iter().map(|v| v["written_by"]["client"].as_str().unwrap()).collect();
    assert_eq!(who, ["test 1", "person", "person", "test 1"]);
    let versions: Vec<_> = history.iter().map(|v| v["version"].as_u64().unwrap()).collect();
    assert_eq!(versions, [1, 2, 3, 4]);
    // A typed observation has an id and can be superseded.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("## Relations", "- [fact] Typed by hand\n\n## Relations"))
        .unwrap();
    vault.memory.sync(&mut |_| {}).unwrap();
    let typed = scripts(&vault, json!({}));
    let typed = typed.as_array().unwrap().iter().find(|f| f["content"] == "Typed by hand").unwrap();
    let new = vault.done(
        "update_observation",
        json!({
            "threadId": THREAD, "entityName": "Python Scripts", "observationId": typed["id"],
            "newContent": "Typed by machine"
        }),
    );
    assert_eq!(new["observation"]["version"], 2);
    let told = vault.done(
        "get_observation_history",
        json!({ "entityName": "Python Scripts", "observationId": new["observation"]["id"], "threadId": THREAD }),
    );
    assert_eq!(contents(&told["history"]), ["Typed by hand", "Typed by machine"]);
    assert_eq!(told["history"][0]["written_by"]["client"], "person");
}

#[test]
fn the_graph_is_read_as_of_a_time() {
    let vault = saved();
    let before = memoranda_engine::clock::now().to_string();
    std::thread::sleep(std::time::Duration::from_millis(5));
    let id = scripts(&vault, json!({}))[2]["id"].clone();
    vault.done(
        "update_observation",
        json!({
            "threadId": THREAD, "entityName": "Python Scripts", "observationId": id,
            "newContent": "Uses lxml 7"
        }),
    );
    vault.done("delete_entities", json!({ "threadId": THREAD, "entityNames": ["Andrii"] }));
    let then = vault.done("read_graph", json!({ "threadId": THREAD, "as_of": before }));
    assert_eq!(then["entities"].as_array().unwrap().len(), 3);
    assert_eq!(then["relations"].as_array().unwrap().len(), 6);
    assert_eq!(contents(&scripts(&vault, json!({ "as_of": before })))[2], "Uses lxml 6.0.2");
    let found = vault
        .done("search_nodes", json!({ "threadId": THREAD, "as_of": before, "query": "Google" }));
    assert_eq!(found["entities"][0]["name"], "Andrii");
    let now = vault.done("read_graph", json!({ "threadId": THREAD }));
    assert_eq!(now["entities"].as_array().unwrap().len(), 2);
    assert_eq!(now["relations"].as_array().unwrap().len(), 2);
    let never = vault.done("read_graph", json!({ "threadId": THREAD, "as_of": "2020-01-01" }));
    assert_eq!(never["entities"], json!([]));
}

#[test]
fn a_missing_thread_id_is_mentioned() {
    let vault = saved();
    let id = scripts(&vault, json!({}))[0]["id"].clone();
    let asked = json!({ "entityName": "Python Scripts", "observationId": id });
    let around = json!({ "entityNames": ["Python Scripts"] });
    for (tool, asked) in [("get_observation_history", asked), ("get_context", around)] {
        let (text, _) = vault.refused(tool, asked);
        assert!(text.contains("No threadId was given"), "{tool}: {text}");
    }
}

#[test]
fn a_restored_observation_is_current_again() {
    let vault = saved();
    let id = scripts(&vault, json!({}))[1]["id"].clone();
    let update = |id: &Value, content: &str| {
        let fact = json!({
            "threadId": THREAD, "entityName": "Python Scripts", "observationId": id,
            "newContent": content
        });
        vault.done("update_observation", fact)["observation"]["id"].clone()
    };
    update(&id, "Uses python-docx 9.9.9");
    let path = vault.path(&format!("graph/{THREAD}/Python Scripts.md"));
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("9.9.9")).collect();
    std::fs::write(&path, kept.join("\n").replace("~~", "")).unwrap();
    vault.memory.sync(&mut |_| {}).unwrap();
    let facts = scripts(&vault, json!({}));
    let back = facts.as_array().unwrap().iter().find(|fact| fact["id"] == id).unwrap();
    assert_eq!(
        (&back["content"], back.get("superseded_by")),
        (&json!("Uses python-docx 1.2.0"), None)
    );
    let found = vault.done("search_nodes", json!({ "query": "1.2.0", "threadId": THREAD }));
    assert_eq!(found["entities"][0]["name"], "Python Scripts");
    let told = vault.done("get_analytics", json!({ "threadId": THREAD }));
    let about = told["top_important"].as_array().unwrap().iter();
    let about = about.into_iter().find(|about| about["entityName"] == "Python Scripts").unwrap();
    assert_eq!(about["observationCount"], 3);
    assert!(update(&id, "Uses python-docx 2.0.0").is_string());
}

//! `memoranda search` and `memoranda bench retrieval`, as a person types them.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::support::Home;

fn titles(found: &Value) -> Vec<String> {
    let results = found["results"].as_array().unwrap().iter();
    results.map(|result| result["title"].as_str().unwrap().to_owned()).collect()
}

/// Leaves a note as it was last changed then, in seconds since 1970.
fn changed(home: &Home, place: &str, text: &str, then: u64) {
    home.write(place, text);
    let file = std::fs::File::options().write(true).open(home.file(place)).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(then)).unwrap();
}

#[test]
fn a_day_counts_to_its_end() {
    let home = Home::new();
    // The evening of 15 January 2025, and the next morning.
    changed(&home, "main/Evening.md", "the heron came\n", 1_736_971_200);
    changed(&home, "main/Morning.md", "the heron went\n", 1_737_007_200);
    let until = |time: &str| titles(&home.json(&["search", "heron", "--until", time]));
    assert_eq!(until("2025-01-15"), ["Evening"]);
    assert_eq!(until("2025-01").len(), 2);
    assert_eq!(until("2025-01-15T21:00").len(), 1);
    home.fails(&["search", "heron", "--until", "2025-01-14"], 1, &["Nothing found"]);
    home.fails(&["search", "heron", "--until", "whenever"], 2, &["is not a time"]);
}

#[test]
fn a_type_is_known_however_it_is_written() {
    let home = Home::new();
    home.write("main/A.md", "---\ntype: Finance Note\n---\nthe heron\n");
    home.write("main/B.md", "---\ntype: ticket\n---\nthe heron\n");
    for (kind, title) in
        [("Finance Note", "A"), ("finance_note", "A"), ("FinanceNote", "A"), ("Ticket", "B")]
    {
        assert_eq!(titles(&home.json(&["search", "heron", "--type", kind])), [title], "{kind}");
        let listed = home.json(&["list", "--type", kind]);
        assert_eq!(listed["notes"][0]["title"], json!(title), "{kind}");
        assert_eq!(home.json(&["recent", "--type", kind])["notes"].as_array().unwrap().len(), 1);
    }
}

/// A question about herons, which one of two conversations answers.
fn question(qid: &str, question: &str) -> Value {
    let turns = |text: &str, gold: bool| json!([{ "role": "user", "text": text, "gold": gold }]);
    json!({ "qid": qid, "type": "one", "question": question, "date": "2025/01/02",
            "gold_sessions": ["a"], "sessions": [
        { "id": "a", "date": "2025/01/01", "turns": turns("The heron stands in the water.", true) },
        { "id": "b", "date": "2025/01/01", "turns": turns("The bill is due in March.", false) },
    ] })
}

#[test]
fn questions_that_cannot_be_measured_are_named() {
    let home = Home::new();
    let check = |text: &str, words: &[&str]| {
        std::fs::write(home.path().join("q.jsonl"), text).unwrap();
        home.fails(&["bench", "retrieval", "q.jsonl"], 2, words);
    };
    let good = question("q1", "Where is the heron?");
    check(&format!("{good}\n\n{}\n", question("q7", "???")), &["line 3 of q.jsonl", "q7", "???"]);
    check(&format!("{good}\n{}\n", question("q8", "")), &["line 2 of q.jsonl", "q8"]);
    check("{}\n", &["line 1 of q.jsonl is no question"]);
    check("\n\n", &["q.jsonl holds no question"]);
    std::fs::write(home.path().join("q.jsonl"), good.to_string()).unwrap();
    let ranked = &["bench", "retrieval", "q.jsonl", "--ranked", "nowhere/x.jsonl"];
    home.fails(ranked, 2, &["there is no folder nowhere"]);
    assert!(!home.path().join("nowhere").exists());
    home.fails(&["bench", "retrieval", "q.jsonl", "-n", "0"], 2, &["0"]);
}

#[test]
fn numbers_of_a_measure_are_shares() {
    let home = Home::new();
    let mut twice = question("q1", "Where is the heron?");
    // Data that people put together names a conversation twice now and then.
    let first = twice["sessions"][0].clone();
    twice["sessions"].as_array_mut().unwrap().push(first);
    twice["gold_sessions"] = json!(["a", "a"]);
    let mut missed = question("q2", "Where is the heron?");
    missed["type"] = json!("missed");
    missed["gold_sessions"] = json!(["elsewhere"]);
    missed["sessions"][0]["turns"][0]["gold"] = json!(false);
    // The mark with which some editors begin a file is no part of it.
    std::fs::write(home.path().join("q.jsonl"), format!("\u{feff}{twice}\n{missed}\n")).unwrap();
    let measured = home.json(&["bench", "retrieval", "q.jsonl"]);
    let search = measured["methods"].as_array().unwrap().iter();
    let search = search.filter(|method| method["method"] == "search");
    let levels: Vec<&Value> =
        search.flat_map(|method| method["levels"].as_array().unwrap()).collect();
    for level in &levels {
        let recall = level["recall_5"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&recall), "{level}");
    }
    let of = |level: &str| {
        levels.iter().find(|l| l["level"] == level && l["type"] == "one").unwrap().to_owned()
    };
    assert_eq!(of("session")["all_5"], json!(1.0), "{levels:?}");
    assert_eq!(of("turn")["recall_5"], json!(1.0), "{levels:?}");
    let table = home.ok(&["bench", "retrieval", "q.jsonl"]);
    assert!(table.contains("missed") && !table.contains("-0.000"), "{table}");
}

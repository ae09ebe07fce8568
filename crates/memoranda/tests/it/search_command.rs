//! `memoranda search`, as a person types it.

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

//! Limits of a server and of its machine: many open streams, a full disk, hostile headers. Refusals are
//! plain, nothing is lost, and the server goes on without a restart.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use serde_json::json;

use super::failures::titles;
use super::support::{Team, TeamServer};
use crate::client::PATIENCE;
use crate::cluster::{DiskForce, skipped};
use crate::support::{Home, rounds};

/// Opens a stream of changes of a note, and waits until the server has accepted it.
fn listen(server: &TeamServer, token: &str, uri: &str) -> BufReader<TcpStream> {
    let params = json!({
        "notifications": { "resourceSubscriptions": [uri] },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1.0" },
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    });
    let method = "subscriptions/listen";
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let request = format!(
        "POST /t/mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nContent-Length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut stream = BufReader::new(stream);
    let accepted = next_event(&mut stream).unwrap();
    assert!(accepted.contains("acknowledged"), "{accepted}");
    stream
}

/// Returns the next event with data; `None` if the stream has ended.
fn next_event(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut lines = stream.lines().map_while(Result::ok);
    lines.find(|line| line.starts_with("data: {"))
}

#[test]
fn many_open_streams_delay_nobody_and_all_of_them_hear_a_change() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("many_open_streams") };
    let server = team.serve_with(&["--max-requests", "1000000"]);
    let (anna, ben) =
        (team.token("anna", "laptop", &["--space", "acme"]), team.token("ben", "x", &[]));
    let note = json!({ "title": "Plan", "folder": "p", "content": "zebra" });
    server.call(&anna, "write_note", &note);
    let mut streams: Vec<_> =
        (0..rounds(100)).map(|_| listen(&server, &anna, "memoranda://main/p/plan")).collect();
    let edit = json!({ "identifier": "Plan", "operation": "append", "content": "okapi" });
    server.call(&anna, "edit_note", &edit);
    server.call(&ben, "search_notes", &json!({ "query": "okapi", "space": "acme" }));
    for (n, stream) in streams.iter_mut().enumerate() {
        let event = next_event(stream).unwrap_or_else(|| panic!("stream {n} has ended"));
        assert!(event.contains("notifications/resources/updated"), "{n}: {event}");
    }
    drop(streams);
    let found = server.call(&ben, "search_notes", &json!({ "query": "okapi", "space": "acme" }));
    assert_eq!(found["structured"]["results"][0]["title"], "Plan", "{found}");
}

#[test]
fn a_full_disk_of_a_server_refuses_some_calls_and_loses_nothing() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_full_disk_of_a_server") };
    let token = team.token("anna", "laptop", &["--space", "acme"]);
    // Each step fails several times, with the writes in between.
    let steps = ["temp-write", "log-torn", "swap", "lock-write", "index", "space-append"];
    let faults =
        steps.iter().flat_map(|step| (3..18).step_by(5).map(move |n| format!("full:{step}:{n}")));
    let faults = faults.collect::<Vec<_>>().join(",");
    let server = team.serve_in(std::sync::Arc::new(Home::bare()), &[], &faults);
    let (mut acknowledged, mut refused) = (BTreeSet::new(), 0);
    for n in 0..60 {
        let title = format!("Note {n}");
        let note = json!({ "title": title, "folder": "f", "content": format!("pelican{n}") });
        let answer = server.try_call(&token, "write_note", &note).unwrap();
        if answer.json["is_error"] == json!(false) {
            acknowledged.insert(title);
        } else {
            refused += 1;
            assert!(answer.status == 200 || answer.status >= 500, "{answer:?}");
            assert!(!answer.text.contains("panicked"), "{answer:?}");
        }
    }
    assert!(refused > 0 && acknowledged.len() > 30, "{refused} of 60 were refused");
    let cold = team.serve();
    let there = titles(&cold, &token);
    for title in &acknowledged {
        assert_eq!(there.iter().filter(|known| *known == title).count(), 1, "{title}");
    }
    assert_eq!(there.iter().collect::<BTreeSet<_>>(), titles(&server, &token).iter().collect());
}

#[test]
fn a_question_of_many_pages_is_refused_before_anybody_works_on_it() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("a_question_of_many") };
    let server = team.serve();
    let token = team.token("anna", "laptop", &[]);
    let long = "漢字 zebra ".repeat(10_000);
    for tool in ["recall", "search_notes", "read_note"] {
        let asked = json!({ "query": long, "identifier": long });
        server.refuses(&token, tool, &asked, "fewer words or values");
    }
    const MANY: &str = "fewer words or values";
    let long: Vec<String> = (0..40_000).map(|n| n.to_string()).collect();
    server.refuses(&token, "search_notes", &json!({ "query": "x", "tags": long }), MANY);
    let chosen = json!({ "query": "x", "metadata_filters": { "status": { "$in": long } } });
    server.refuses(&token, "search_notes", &chosen, MANY);
    let content = "zebra ".repeat(20_000);
    let note = json!({ "title": "Long", "folder": "l", "content": content });
    server.call(&token, "write_note", &note);
}

#[test]
fn numbers_and_headers_that_mean_two_things_are_refused() {
    let Some(team) = Team::start(DiskForce::Off) else { return skipped("numbers_and_headers") };
    let server = team.serve();
    let anna = team.token("anna", "laptop", &[]);
    let note = json!({ "title": "Plan", "folder": "p", "content": "zebra", "space": "acme" });
    server.call(&anna, "write_note", &note);
    let bearer = format!("Bearer {anna}");
    let get = |path: &str, headers: &[(&str, &str)]| {
        let headers = [&[("Authorization", bearer.as_str())], headers].concat();
        server.request("GET", path, &headers, None).unwrap().status
    };
    let acme = [("Memoranda-Space", "acme")];
    assert_eq!(get("/t/log/frames?after=0", &acme), 200);
    // As a signed number it is negative, and everything would follow it.
    for number in ["-1", "9223372036854775808", "18446744073709551615", "99999999999999999999"] {
        assert_eq!(get(&format!("/t/log/frames?after={number}"), &acme), 400, "{number}");
    }
    // A proxy that limits a connection adds its header behind that of the client.
    let both = [("Memoranda-Space", "acme"), ("Memoranda-Space", "anna")];
    assert_eq!(get("/t/log/head", &both), 404);
    let headers = [&[("Authorization", bearer.as_str())], &both[..]].concat();
    let asked = json!({ "query": "zebra" });
    let answer = server.request("POST", "/api/tools/recall", &headers, Some(&asked)).unwrap();
    assert_eq!(answer.status, 403, "{answer:?}");
    // What leaves with its history is in the audit, from whichever number.
    assert_eq!(get("/t/log/frames?after=0&bytes=1", &acme), 200);
    let audit = team.admin(&["audit"]).to_string();
    assert!(audit.contains("acme: 1 to 1"), "{audit}");
}

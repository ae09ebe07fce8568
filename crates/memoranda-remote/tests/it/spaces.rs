//! The log of a space in PostgreSQL: order, content, quota, freshness.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memoranda_core::change::{ExpectedContent, FileAction};
use memoranda_core::path::NotePath;
use memoranda_remote::postgres::{Database, PostgresLog, SpaceRow};
use memoranda_store::Store;
use memoranda_store::remote::{AppendOutcome, RemoteHead, RemoteLog as _};

use crate::cluster::{Cluster, DiskForce, address, shared, skipped};
use crate::drop_proxy::DropProxy;
use crate::support::{
    EndGuard, TestSpace, change, commit, found, put, rounds, text_of, try_append, try_put,
};

#[test]
fn servers_on_one_database_have_one_log_and_equal_indexes() {
    const SERVERS: usize = 8;
    let Some(cluster) = shared() else { return skipped("servers_on_one_database") };
    let space = TestSpace::new(cluster);
    let address = cluster.address(&space.database_name);
    let writes = rounds(15);
    let servers: Vec<Store> =
        (0..SERVERS).map(|n| space.open(&format!("server-{n}"), &address)).collect();
    std::thread::scope(|scope| {
        for (n, server) in servers.iter().enumerate() {
            scope.spawn(move || {
                for i in 0..writes {
                    put(
                        server,
                        &format!("of-{n}/{i}.md"),
                        &format!("# Note {n} {i}\n\nword{n}x{i}\n"),
                    );
                    try_append(server, "shared.md", &format!("line {n} {i}")).unwrap();
                }
            });
        }
    });
    let row = space.row("acme");
    assert_eq!(row.commits as usize, SERVERS * writes * 2);
    let gaps = "select count(*), max(seq), count(distinct id) from memoranda.commits";
    let total = row.commits;
    assert_eq!(cluster.sql(&space.database_name, gaps), format!("{total} {total} {total}"));
    let cold = space.open("cold", &address);
    let shared_text = text_of(&cold, "shared.md").unwrap();
    let mut lines: Vec<&str> = shared_text.lines().collect();
    assert_eq!(lines.len(), SERVERS * writes);
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), SERVERS * writes);
    for server in &servers {
        server.catch_up_with_space(None).unwrap();
        assert_eq!(server.fingerprint().unwrap(), cold.fingerprint().unwrap());
    }
}

/// Writes of one server: new notes, lines in a file that all servers change, and notes that go again.
fn write_mixed(stores: &[Store], server: usize, writes: usize) -> Vec<Duration> {
    let mut times = Vec::with_capacity(writes);
    for n in 0..writes {
        let store = &stores[n % stores.len()];
        let round = n / stores.len();
        let place = |round: usize| format!("of-{server}/{round}.md");
        let started = Instant::now();
        match round % 5 {
            3 => drop(try_append(store, "shared.md", &format!("line {server} {round}")).unwrap()),
            4 => {
                let gone = change(&place(round - 4), ExpectedContent::Anything, FileAction::Remove);
                drop(commit(store, &gone).unwrap());
            }
            _ => drop(put(store, &place(round), &format!("# Note {server} {round}\n"))),
        }
        times.push(started.elapsed());
    }
    times
}

#[test]
fn eight_servers_write_to_many_spaces_and_every_commit_is_there_once() {
    const SERVERS: usize = 8;
    let Some(cluster) = Cluster::start(DiskForce::On) else { return skipped("eight_servers") };
    let writes = rounds(40);
    let names: Vec<String> = (0..(writes / 20).clamp(2, 100)).map(|n| format!("s{n}")).collect();
    let space = TestSpace::new(&cluster);
    for name in &names {
        space.database.create_space("test", name, "anna", None).unwrap();
    }
    let rows: Vec<SpaceRow> = names.iter().map(|name| space.row(name)).collect();
    let address = cluster.address(&space.database_name);
    let servers: Vec<Vec<Store>> = (0..SERVERS)
        .map(|n| {
            let database = Database::new(&address, None).unwrap();
            let open = |row: &SpaceRow| space.open_with(&format!("s-{n}"), &database, row.clone());
            rows.iter().map(open).collect()
        })
        .collect();
    let times: Vec<Vec<Duration>> = std::thread::scope(|scope| {
        let spawn = |(n, stores)| scope.spawn(move || write_mixed(stores, n, writes));
        let all: Vec<_> = servers.iter().map(Vec::as_slice).enumerate().map(spawn).collect();
        all.into_iter().map(|server| server.join().unwrap()).collect()
    });
    let mut times = times.concat();
    times.sort_unstable();
    println!(
        "{} writes of {SERVERS} servers to {} spaces: p50 {:?}, p99 {:?}",
        times.len(),
        names.len(),
        times[times.len() / 2],
        times[times.len() * 99 / 100]
    );
    assert_eq!(times.len(), SERVERS * writes);
    let gaps = "select count(*) from memoranda.heads h where (h.head, h.head, h.head) <> \
                (select count(*), coalesce(max(seq), 0), count(distinct id) \
                from memoranda.commits c where c.space = h.space)";
    assert_eq!(cluster.sql(&space.database_name, gaps), "0");
    let sum = "select sum(head) from memoranda.heads";
    assert_eq!(cluster.sql(&space.database_name, sum), (SERVERS * writes).to_string());
    for (at, row) in rows.iter().enumerate() {
        let cold = space.open_with("cold", &space.database, row.clone());
        let of_space = (0..writes).filter(|n| n % names.len() == at).count();
        let shared = text_of(&cold, "shared.md").unwrap_or_default();
        let lines: BTreeSet<&str> = shared.lines().collect();
        assert_eq!(lines.len(), shared.lines().count(), "a line is there twice");
        for server in 0..SERVERS {
            for round in 0..of_space {
                match round % 5 {
                    3 => assert!(lines.contains(format!("line {server} {round}").as_str())),
                    4 => {}
                    kept => {
                        let text = text_of(&cold, &format!("of-{server}/{round}.md"));
                        let is_gone = kept == 0 && round + 4 < of_space;
                        assert_eq!(text.is_none(), is_gone, "{} {server} {round}", row.name);
                    }
                }
            }
        }
        for stores in &servers {
            stores[at].catch_up_with_space(None).unwrap();
            assert_eq!(stores[at].fingerprint().unwrap(), cold.fingerprint().unwrap());
        }
    }
}

#[test]
fn a_write_on_one_server_is_found_on_the_other_at_once() {
    let Some(cluster) = shared() else { return skipped("a_write_on_one_server") };
    check_reads_of_others(cluster, cluster.port);
}

#[test]
fn a_write_is_found_at_once_although_no_notice_of_it_arrives() {
    let Some(cluster) = shared() else { return skipped("a_write_is_found_at_once") };
    // The channel with the number of the space; the name of the role is followed by something else.
    let (proxy, port) = DropProxy::start(cluster.port, b"memoranda\x002");
    proxy.drop_next(usize::MAX);
    check_reads_of_others(cluster, port);
    assert!(proxy.dropped() > 0, "no notice was on its way");
}

/// Writes on one server and reads on another, by turns, while both wait for notices of changes.
fn check_reads_of_others(cluster: &Cluster, port: u16) {
    let space = TestSpace::new(cluster);
    let address = address(port, &space.database_name);
    let (a, b) = (space.open("a", &address), space.open("b", &address));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _end = EndGuard(&is_over);
        for store in [&a, &b] {
            let is_over = &is_over;
            scope.spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    store.await_space_change(Duration::from_millis(100)).ok();
                }
            });
        }
        check_each_write(&a, &b);
    });
}

fn check_each_write(a: &Store, b: &Store) {
    for n in 0..rounds(100) {
        let (writer, reader) = if n % 2 == 0 { (a, b) } else { (b, a) };
        put(writer, &format!("n{n}.md"), &format!("# Note {n}\n\nuniqueword{n}\n"));
        reader.catch_up_with_space(None).unwrap();
        assert_eq!(found(reader, &format!("uniqueword{n}")), [format!("n{n}.md")]);
    }
}

#[test]
fn a_call_that_is_repeated_changes_nothing() {
    let Some(cluster) = shared() else { return skipped("a_call_that_is_repeated") };
    let space = TestSpace::new(cluster);
    let address = cluster.address(&space.database_name);
    put(&space.open("a", &address), "one.md", "# One\n");
    let row = space.row("acme");
    let log = PostgresLog::new(space.database.clone(), row.id, row.device);
    let frames = log.read_after(0, 1 << 20).unwrap();
    assert_eq!(frames.len(), 1);
    let (start, end) = (RemoteHead { epoch: 1, seq: 0 }, RemoteHead { epoch: 1, seq: 1 });
    assert_eq!(log.append(start, &frames, &[]).unwrap(), AppendOutcome::Appended);
    assert_eq!(log.head().unwrap(), end);
    let mut other = frames.clone();
    other[0].commit = memoranda_core::id::CommitId::from_random(77);
    assert_eq!(log.append(start, &other, &[]).unwrap(), AppendOutcome::Behind(end));
    let old_epoch = RemoteHead { epoch: 0, seq: 1 };
    assert_eq!(log.append(old_epoch, &other, &[]).unwrap(), AppendOutcome::Behind(end));
    assert_eq!(log.head().unwrap(), end);
    let nowhere = PostgresLog::new(space.database.clone(), 999, "s999");
    assert!(nowhere.append(start, &frames, &[]).unwrap_err().to_string().contains("not exist"));
}

#[test]
fn a_full_quota_refuses_plainly_and_leaves_everything_as_it_was() {
    let Some(cluster) = shared() else { return skipped("a_full_quota") };
    let space = TestSpace::new(cluster);
    let store = space.open("a", &cluster.address(&space.database_name));
    put(&store, "small.md", "# Small\n");
    space.database.set_space_quota("test", "acme", Some(2_000)).unwrap();
    // Random text, so that compression does not make it small.
    let text: String = (0..200).map(|n| format!("{:x} ", n * 2_654_435_761_u64)).collect();
    let refused = try_put(&store, "large.md", &text).unwrap_err();
    assert!(refused.to_string().contains("quota"), "{refused}");
    assert_eq!(text_of(&store, "large.md"), None);
    put(&store, "small.md", "# Smaller\n");
    space.database.set_space_quota("test", "acme", None).unwrap();
    put(&store, "large.md", &text);
}

#[test]
fn a_server_follows_what_others_write() {
    let Some(cluster) = shared() else { return skipped("a_server_follows") };
    let space = TestSpace::new(cluster);
    let address = cluster.address(&space.database_name);
    let (a, b) = (space.open("a", &address), space.open("b", &address));
    put(&b, "first.md", "# First\n");
    a.catch_up_with_space(None).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let started = Instant::now();
            (a.await_space_change(Duration::from_secs(20)).unwrap().unwrap(), started.elapsed())
        });
        std::thread::sleep(Duration::from_millis(300));
        put(&b, "second.md", "# Second\n");
        let (head, waited) = waiting.join().unwrap();
        assert_eq!(head.seq, 2);
        assert!(waited < Duration::from_secs(15), "{waited:?}");
    });
    let nothing =
        a.catch_up_with_space(None).and_then(|_| a.await_space_change(Duration::from_millis(100)));
    assert_eq!(nothing.unwrap().unwrap().seq, 2);
}

#[test]
fn contents_come_by_their_hash_and_a_large_log_in_parts() {
    let Some(cluster) = shared() else { return skipped("contents_come") };
    let space = TestSpace::new(cluster);
    let store = space.open("a", &cluster.address(&space.database_name));
    let long = "the same words again and again\n".repeat(100);
    let hash = put(&store, "long.md", &long).files[0].after.unwrap();
    let from = NotePath::parse("long.md").unwrap();
    let action = FileAction::MoveFrom { from, content: long.clone().into_bytes() };
    commit(&store, &change("moved.md", ExpectedContent::Anything, action)).unwrap();
    for n in 0..20 {
        put(&store, &format!("n{n}.md"), &format!("# {n}\n"));
    }
    let row = space.row("acme");
    let log = PostgresLog::new(space.database.clone(), row.id, row.device);
    let stored = log.content(hash).unwrap().unwrap();
    assert_eq!(stored.raw_bytes, long.len() as u64);
    assert!(stored.bytes.len() < long.len());
    assert_eq!(log.content(memoranda_store::hash(b"never written")).unwrap(), None);
    let all = log.read_after(0, usize::MAX).unwrap();
    assert_eq!(all.iter().map(|frame| frame.seq).collect::<Vec<_>>(), (1..=22).collect::<Vec<_>>());
    let mut parts = Vec::new();
    while let Some(part) = Some(log.read_after(parts.len() as u64, 600).unwrap())
        && !part.is_empty()
    {
        assert!(part.len() < 20, "{}", part.len());
        parts.extend(part);
    }
    assert_eq!(parts, all);
}

//! Index images in PostgreSQL: who makes one, who finds it, and when it goes.

use std::sync::Arc;

use memoranda_remote::postgres::PostgresLog;
use memoranda_store::Store;
use memoranda_store::remote::{ImageHead, RemoteLog};

use crate::cluster::{Cluster, DiskForce, shared, skipped};
use crate::support::{TestSpace, found, put};

const FORMAT: &str = "test";

fn head(epoch: u32, seq: u64) -> ImageHead {
    ImageHead { epoch, seq, parts: 2, log_bytes: 1_000 }
}

/// Stores an image of two parts.
fn store_image(log: &PostgresLog, image: ImageHead, text: &str) {
    for part in 0..2 {
        let bytes = format!("{text} {part}");
        log.put_image_part(FORMAT, image, part, bytes.as_bytes()).unwrap();
    }
    log.finish_image(FORMAT, image).unwrap();
}

#[test]
fn the_newest_whole_image_of_a_format_is_found() {
    let Some(cluster) = shared() else { return skipped("the_newest_whole_image") };
    let space = TestSpace::new(cluster);
    let log = space.log();
    assert_eq!(log.find_image(FORMAT).unwrap(), None);
    let first = head(1, 5);
    log.put_image_part(FORMAT, first, 0, b"half").unwrap();
    assert_eq!(log.find_image(FORMAT).unwrap(), None);
    store_image(&log, first, "first");
    assert_eq!(log.find_image(FORMAT).unwrap(), Some(first));
    assert_eq!(log.find_image("other").unwrap(), None);
    assert_eq!(log.image_part(FORMAT, first, 0).unwrap().as_deref(), Some(&b"first 0"[..]));
    assert_eq!(log.image_part(FORMAT, first, 1).unwrap().as_deref(), Some(&b"first 1"[..]));
    assert_eq!(log.image_part(FORMAT, first, 2).unwrap(), None);
    let second = head(1, 9);
    store_image(&log, second, "second");
    assert_eq!(log.find_image(FORMAT).unwrap(), Some(second));
    // Its reader begins again.
    assert_eq!(log.image_part(FORMAT, first, 1).unwrap(), None);
    // A slower server's image is older.
    store_image(&log, head(1, 7), "third");
    assert_eq!(log.find_image(FORMAT).unwrap(), Some(second));
}

#[test]
fn one_server_at_a_time_makes_an_image_and_only_after_growth() {
    let Some(cluster) = shared() else { return skipped("one_server_at_a_time") };
    let space = TestSpace::new(cluster);
    let log = space.log();
    assert!(log.claim_image(FORMAT, 1_000).unwrap());
    assert!(!log.claim_image(FORMAT, 1_000).unwrap());
    let wait = "update memoranda.images set claimed_at = now() - interval '6 minutes'";
    store_image(&log, head(1, 5), "first");
    cluster.sql(&space.database_name, wait);
    assert!(!log.claim_image(FORMAT, 400_000).unwrap(), "it has hardly grown");
    assert!(log.claim_image(FORMAT, 600_000).unwrap());
    assert!(!log.claim_image(FORMAT, 600_000).unwrap(), "somebody makes it");
    // What a server left that died while it made one is removed by the next.
    log.put_image_part(FORMAT, head(1, 9), 0, b"left").unwrap();
    cluster.sql(&space.database_name, wait);
    assert!(log.claim_image(FORMAT, 600_000).unwrap());
    assert_eq!(log.image_part(FORMAT, head(1, 9), 0).unwrap(), None);
    assert!(log.find_image(FORMAT).unwrap().is_some(), "the present one stays");
}

#[test]
fn an_image_of_an_earlier_epoch_is_neither_found_nor_stored() {
    let Some(cluster) = shared() else { return skipped("an_image_of_an_earlier") };
    let space = TestSpace::new(cluster);
    let log = space.log();
    store_image(&log, head(1, 5), "purged words");
    cluster.sql(&space.database_name, "update memoranda.heads set epoch = 2");
    assert_eq!(log.find_image(FORMAT).unwrap(), None);
    assert!(log.put_image_part(FORMAT, head(1, 6), 0, b"purged words").is_err());
    // An earlier version that purged the log left the image: any server removes it.
    assert_eq!(
        cluster.sql(&space.database_name, "select count(*) from memoranda.image_parts"),
        "2"
    );
    cluster.sql(&space.database_name, "select memoranda.remove_stale_images()");
    let left = "select (select count(*) from memoranda.image_parts) + \
                (select count(*) from memoranda.images)";
    assert_eq!(cluster.sql(&space.database_name, left), "0");
}

#[test]
fn an_image_is_in_no_write_ahead_log_and_is_made_again_after_a_crash() {
    let Some(mut cluster) = Cluster::start(DiskForce::On) else { return skipped("an_image_is_in") };
    let space = TestSpace::new(&cluster);
    let store = space.open("a", &cluster.address(&space.database_name));
    put(&store, "kept.md", "# Kept\n");
    let log = space.log();
    let written = || {
        let position = "select pg_current_wal_lsn() - '0/0'";
        cluster.sql("postgres", position).parse::<u64>().unwrap()
    };
    let before = written();
    let text = "text that does not shrink".repeat(200_000);
    assert!(log.claim_image(FORMAT, 1_000).unwrap());
    store_image(&log, head(1, 1), &text);
    let logged = written() - before;
    assert!(logged < text.len() as u64 / 10, "{logged} of {} bytes twice", text.len());
    cluster.kill();
    cluster.run();
    assert_eq!(log.find_image(FORMAT).unwrap(), None);
    assert!(log.claim_image(FORMAT, 1_000).unwrap(), "nobody makes it again");
    store_image(&log, head(1, 1), "again");
    assert_eq!(log.image_part(FORMAT, head(1, 1), 0).unwrap().as_deref(), Some(&b"again 0"[..]));
    assert_eq!(log.head().unwrap().seq, 1);
}

#[test]
fn a_new_server_answers_from_the_image_of_another() {
    let Some(cluster) = shared() else { return skipped("a_new_server_answers") };
    let space = TestSpace::new(cluster);
    let warm = space.open("warm", &cluster.address(&space.database_name));
    for n in 0..20 {
        put(&warm, &format!("n{n}.md"), &format!("# Note {n}\n\nzebra{n} in the garden\n"));
    }
    assert!(warm.put_image().unwrap());
    put(&warm, "late.md", "# Late\n\nzebra20 came after the image\n");
    let log: Arc<dyn RemoteLog> = Arc::new(space.log());
    let head = log.head().unwrap();
    let early = Store::open_image(&space.options("cold"), Arc::clone(&log), head).unwrap().unwrap();
    for n in 0..=20 {
        let word = format!("zebra{n}");
        assert_eq!(found(&early, &word), found(&warm, &word), "{word}");
    }
    assert_eq!(early.fingerprint().unwrap(), warm.fingerprint().unwrap());
    let named = Store::open_named(&space.options("cold"), log, head, "n7").unwrap();
    assert!(named.is_some());
}

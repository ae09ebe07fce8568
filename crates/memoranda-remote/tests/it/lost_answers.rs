//! Answers that are lost after the database has committed: each write is made exactly once.

use crate::cluster::{address, shared, skipped};
use crate::drop_proxy::DropProxy;
use crate::support::{TestSpace, put, rounds, text_of, try_append};

#[test]
fn a_write_whose_answer_is_lost_is_made_once() {
    let Some(cluster) = shared() else { return skipped("a_write_whose_answer_is_lost") };
    let space = TestSpace::new(cluster);
    // The function says that it appended, and the database sends that only after the commit.
    let (proxy, port) = DropProxy::start(cluster.port, b"appended");
    let store = space.open("a", &address(port, &space.database_name));
    put(&store, "log.md", "");
    let writes = rounds(40);
    for n in 0..writes {
        // Every third write loses one answer, every ninth loses three in a row.
        proxy.drop_next(if n % 9 == 0 { 3 } else { usize::from(n % 3 == 0) });
        try_append(&store, "log.md", &format!("line {n}")).unwrap();
    }
    assert!(proxy.dropped() > writes / 3, "{}", proxy.dropped());
    let expected: String = (0..writes).map(|n| format!("line {n}\n")).collect();
    assert_eq!(text_of(&store, "log.md").unwrap(), expected);
    assert_eq!(space.row("acme").commits as usize, writes + 1);
    let cold = space.open("cold", &cluster.address(&space.database_name));
    assert_eq!(text_of(&cold, "log.md").unwrap(), expected);
    assert_eq!(cold.fingerprint().unwrap(), store.fingerprint().unwrap());
}

//! Limits of the connections to the database.

use memoranda_remote::directory::SpaceDirectory as _;
use memoranda_store::remote::RemoteLog as _;
use postgres::{Client, NoTls};

use crate::cluster::{shared, skipped};
use crate::support::TestSpace;

/// More threads than a server has connections.
const READERS: usize = 24;

#[test]
fn readers_without_a_free_connection_are_refused_and_the_next_ones_are_served() {
    let Some(cluster) = shared() else { return skipped("readers_without") };
    let space = TestSpace::new(cluster);
    let log = space.log();
    let mut holder = Client::connect(&cluster.address(&space.database_name), NoTls).unwrap();
    holder.batch_execute("begin; lock table memoranda.heads in access exclusive mode").unwrap();
    let outcomes = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(|| log.head())).collect();
        // Those without a connection give up first.
        while readers.iter().filter(|reader| reader.is_finished()).count() < READERS - 16 {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        holder.batch_execute("commit").unwrap();
        readers.into_iter().map(|reader| reader.join().unwrap()).collect::<Vec<_>>()
    });
    let refused: Vec<String> =
        outcomes.iter().filter_map(|outcome| Some(outcome.as_ref().err()?.to_string())).collect();
    assert_eq!(refused.len(), READERS - 16, "{outcomes:?}");
    assert!(
        refused.iter().all(|refusal| refusal.contains("connections are in use")),
        "{refused:?}"
    );
    log.head().unwrap();
    space.database.check_ready().unwrap();
}

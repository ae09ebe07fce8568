//! Row-level security: the second guard, for statements that forget to ask for their space.

use std::sync::Arc;
use std::time::Duration;

use memoranda_remote::postgres::{Database, PostgresLog};
use memoranda_store::remote::RemoteLog as _;
use memoranda_store::{SpaceOptions, Store};
use postgres::{Client, NoTls};
use tempfile::TempDir;

use crate::cluster::{shared, skipped};
use crate::support::{put, text_of};

/// A function that reads frames and forgets its space, as a wrong statement would.
const FORGETFUL: &str = "create or replace function memoranda.space_frames(\
    p_space bigint, p_after bigint, p_bytes bigint, p_rows bigint) \
    returns table (seq bigint, id text, frame bytea) language plpgsql as $$ begin \
    perform set_config('memoranda.space', p_space::text, true); \
    return query select c.seq, c.id, c.frame from memoranda.commits c order by c.space, c.seq; \
    end $$";

struct TwoSpaces {
    database: Database,
    folder: TempDir,
    /// Numbers and devices of the spaces of anna and eve.
    spaces: [(i64, String); 2],
}

impl TwoSpaces {
    fn new(address: &str) -> Self {
        let database = Database::new(address, None).unwrap();
        database.migrate().unwrap();
        for name in ["anna", "eve"] {
            database.create_account("test", name, None).unwrap();
        }
        let rows = database.spaces().unwrap();
        let space = |name: &str| {
            let row = rows.iter().find(|space| space.name == name).unwrap();
            (row.id, row.device.clone())
        };
        let spaces = [space("anna"), space("eve")];
        Self { database, folder: TempDir::new().unwrap(), spaces }
    }

    fn log(&self, at: usize) -> PostgresLog {
        let (id, device) = &self.spaces[at];
        PostgresLog::new(self.database.clone(), *id, device.clone())
    }

    fn open(&self, at: usize, cache: &str) -> Store {
        let root = self.folder.path().join(format!("{cache}{at}"));
        let options = SpaceOptions { root, lock_patience: Duration::from_secs(30) };
        let store = Store::open_space(&options, Arc::new(self.log(at))).unwrap();
        store.catch_up_with_space(None).unwrap();
        store.sync(&mut |_| {}).unwrap();
        store
    }

    /// Writes a note with a canary into each space, and checks that a new cache has it.
    fn write_canaries(&self) {
        for (at, canary) in ["canaryanna", "canaryeve"].iter().enumerate() {
            put(&self.open(at, "writer"), "note.md", canary);
            let reader = self.open(at, "reader");
            assert_eq!(text_of(&reader, "note.md").as_deref(), Some(*canary));
        }
    }

    /// Returns the number of frames that eve's log returns.
    fn frames_of_eve(&self) -> usize {
        self.log(1).read_after(0, usize::MAX).unwrap().len()
    }
}

#[test]
fn a_forgetful_statement_sees_its_own_space_alone() {
    let Some(cluster) = shared() else { return skipped("a_forgetful_statement") };
    let (name, address) = cluster.plain_database();
    let team = TwoSpaces::new(&address);
    assert!(!team.database.bypasses_row_security().unwrap());
    let superuser = Database::new(&cluster.address(&name), None).unwrap();
    assert!(superuser.bypasses_row_security().unwrap());
    team.write_canaries();
    let own = team.frames_of_eve();
    let mut client = Client::connect(&address, NoTls).unwrap();
    client.batch_execute(FORGETFUL).unwrap();
    assert_eq!(team.frames_of_eve(), own, "row-level security holds without the guard");
    // The guard alone holds too: without row-level security the statement of the program is right,
    // and the forgetful one is what this test is for.
    client.batch_execute("alter table memoranda.commits disable row level security").unwrap();
    assert!(team.frames_of_eve() > own, "the forgetful statement does read other spaces");
}

#[test]
fn the_guard_holds_without_row_security() {
    let Some(cluster) = shared() else { return skipped("the_guard_holds") };
    let (_, address) = cluster.plain_database();
    let team = TwoSpaces::new(&address);
    let mut client = Client::connect(&address, NoTls).unwrap();
    for table in ["commits", "contents", "proposals"] {
        let off = format!("alter table memoranda.{table} disable row level security");
        client.batch_execute(&off).unwrap();
    }
    team.write_canaries();
    let frames = team.log(1).read_after(0, usize::MAX).unwrap();
    let all: i64 = client.query_one("select count(*) from memoranda.commits", &[]).unwrap().get(0);
    assert!(!frames.is_empty() && (frames.len() as i64) < all, "{} of {all}", frames.len());
}

#[test]
fn without_a_space_no_row_is_seen_or_written() {
    let Some(cluster) = shared() else { return skipped("without_a_space") };
    let (_, address) = cluster.plain_database();
    let team = TwoSpaces::new(&address);
    team.write_canaries();
    let mut client = Client::connect(&address, NoTls).unwrap();
    let [(anna, _), (eve, _)] = &team.spaces;
    for table in ["commits", "contents", "proposals"] {
        let count = format!("select count(*) from memoranda.{table}");
        assert_eq!(client.query_one(&count, &[]).unwrap().get::<_, i64>(0), 0, "{table}");
    }
    let mut transaction = client.transaction().unwrap();
    let name = "select set_config('memoranda.space', $1, true)";
    transaction.query_one(name, &[&eve.to_string()]).unwrap();
    let spaces = "select array_agg(distinct space) from memoranda.commits";
    let seen: Vec<i64> = transaction.query_one(spaces, &[]).unwrap().get(0);
    assert_eq!(seen, [*eve]);
    let delete = "delete from memoranda.commits where space = $1";
    assert_eq!(transaction.execute(delete, &[anna]).unwrap(), 0);
    let insert = "insert into memoranda.commits (space, seq, id, frame) values ($1, 99, 'x', '')";
    let refused = transaction.execute(insert, &[anna]).unwrap_err();
    assert!(refused.to_string().contains("db error"), "{refused}");
    drop(transaction);
    // A connection that goes back to a pool keeps nothing.
    let left: Option<String> =
        client.query_one("select current_setting('memoranda.space', true)", &[]).unwrap().get(0);
    assert_eq!(left.unwrap_or_default(), "");
}

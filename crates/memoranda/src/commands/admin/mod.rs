//! `memoranda admin`: accounts, spaces, members and tokens of a team server.

#[cfg(feature = "postgres")]
mod actions;
#[cfg(feature = "postgres")]
mod export;
#[cfg(feature = "postgres")]
mod listing;
#[cfg(feature = "postgres")]
mod vacuum;

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use crate::context::CommandContext;
use crate::error::Result;
use crate::exit::Exit;

/// Look after a team server: its tables, accounts, spaces, members and tokens.
///
/// It works on the database itself, so it needs no server and no token. The first account with its
/// first token is made here too. The address comes from --database or MEMORANDA_DATABASE.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  export MEMORANDA_DATABASE=postgres://memoranda@localhost/memoranda
  memoranda admin migrate
  memoranda admin account add anna
  memoranda admin space add acme --owner anna
  memoranda admin token add anna laptop")]
pub(crate) struct Args {
    /// The PostgreSQL database.
    #[arg(long, value_name = "URL", global = true)]
    database: Option<String>,

    /// A file with the certificates that sign the database's; else public authorities are trusted.
    #[arg(long, value_name = "FILE", global = true)]
    database_ca: Option<PathBuf>,

    #[command(subcommand)]
    action: AdminAction,
}

#[derive(Subcommand)]
enum AdminAction {
    /// Make the tables, or bring them to this version; servers that run go on.
    #[command(after_long_help = "\
Examples:
  memoranda admin migrate

JSON (--json):
  {from, to}; from is 0 if there were no tables")]
    Migrate,

    /// List, add and disable accounts.
    Account(AccountArgs),

    /// List and add spaces, and bring a vault into one.
    Space(SpaceArgs),

    /// List, add and remove the members of a space.
    Member(MemberArgs),

    /// List, make and revoke personal access tokens.
    Token(TokenArgs),

    /// Show what was done to accounts, spaces, members and tokens, and by whose token.
    #[command(after_long_help = "\
Examples:
  memoranda admin audit
  memoranda admin audit --limit 1000 --json

JSON (--json):
  {entries: [{at, actor, action, target}]}, the newest first")]
    Audit {
        /// The maximum number of entries.
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: u32,
    },

    /// Show figures of the database.
    #[command(after_long_help = "\
Examples:
  memoranda admin stats

JSON (--json):
  {server_version, accounts, spaces, tokens, commits, log_bytes, database_bytes}")]
    Stats,
}

#[derive(clap::Args)]
struct AccountArgs {
    #[command(subcommand)]
    action: AccountAction,
}

#[derive(Subcommand)]
enum AccountAction {
    /// List the accounts.
    #[command(after_long_help = "\
Examples:
  memoranda admin account list

JSON (--json):
  {accounts: [{name, email, created_at, disabled_at}]}")]
    List,

    /// Add an account with its private space, and a token for it if you name one.
    #[command(after_long_help = "\
Examples:
  memoranda admin account add anna --email anna@example.org
  memoranda admin account add ben --token laptop

JSON (--json):
  {account, token}; token is null if --token was not given")]
    Add {
        /// The name: lower-case letters, digits and hyphens.
        name: String,
        /// The e-mail address.
        #[arg(long)]
        email: Option<String>,
        /// Also make a token of this name, and print it.
        #[arg(long, value_name = "NAME")]
        token: Option<String>,
    },

    /// Give an account a password, to sign in where no issuer is set up.
    ///
    /// Without --password-file a random one is made, and shown this once.
    #[command(after_long_help = "\
Examples:
  memoranda admin account password anna
  memoranda admin account password anna --password-file /run/secrets/anna

JSON (--json):
  {account, password}; password is null if it came from a file")]
    Password {
        /// The name.
        name: String,
        /// A file that contains the password.
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
    },

    /// Disable an account: its tokens stop at once; what it wrote stays.
    #[command(after_long_help = "\
Examples:
  memoranda admin account disable ben --dry-run
  memoranda admin account disable ben

JSON (--json):
  {account, tokens, dry_run}; tokens is the number of tokens that stop")]
    Disable {
        /// The name.
        name: String,
        /// Only say what would happen.
        #[arg(short = 'n', long)]
        dry_run: bool,
    },

    /// Delete an account for good: its private space with the history, its tokens and sign-ins.
    ///
    /// What it wrote into shared spaces stays there. Running servers remove their copies of the
    /// private space; backups keep it until they expire.
    #[command(after_long_help = "\
Examples:
  memoranda admin account export ben ben-export
  memoranda admin account delete ben --dry-run
  memoranda admin account delete ben

JSON (--json):
  {account, commits, tokens, dry_run}; commits is the number of commits of the private space")]
    Delete {
        /// The name.
        name: String,
        /// Only say what would happen.
        #[arg(short = 'n', long)]
        dry_run: bool,
    },

    /// Export what belongs to an account: its private space with the history, and its data.
    #[command(after_long_help = "\
Examples:
  memoranda admin account export ben ben-export

JSON (--json):
  {account, folder, commits}")]
    Export {
        /// The name.
        name: String,
        /// A folder that is empty or does not exist.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },

    /// Enable an account again.
    #[command(after_long_help = "\
Examples:
  memoranda admin account enable ben

JSON (--json):
  {account}")]
    Enable {
        /// The name.
        name: String,
    },
}

#[derive(clap::Args)]
struct SpaceArgs {
    #[command(subcommand)]
    action: SpaceAction,
}

#[derive(Subcommand)]
enum SpaceAction {
    /// List the spaces.
    #[command(after_long_help = "\
Examples:
  memoranda admin space list

JSON (--json):
  {spaces: [{name, kind, members, commits, bytes, quota_bytes}]}")]
    List,

    /// Add a shared space with its first owner.
    #[command(after_long_help = "\
Examples:
  memoranda admin space add acme --owner anna
  memoranda admin space add acme --owner anna --quota-mb 500

JSON (--json):
  {space, owner}")]
    Add {
        /// The name: lower-case letters, digits and hyphens.
        name: String,
        /// The account that owns it.
        #[arg(long, value_name = "ACCOUNT")]
        owner: String,
        /// The maximum size of its log, in megabytes.
        #[arg(long, value_name = "MB")]
        quota_mb: Option<u64>,
    },

    /// Change the maximum size of a space's log.
    #[command(after_long_help = "\
Examples:
  memoranda admin space quota acme 1000
  memoranda admin space quota acme none

JSON (--json):
  {space, quota_bytes}")]
    Quota {
        /// The name.
        name: String,
        /// Megabytes, or `none`.
        #[arg(value_name = "MB", value_parser = quota)]
        quota: QuotaLimit,
    },

    /// Export a space with its history into a vault; `space import` brings it back.
    #[command(after_long_help = "\
Examples:
  memoranda admin space export acme acme-export
  memoranda --home acme-export admin space import acme-again

JSON (--json):
  {space, folder, commits}")]
    Export {
        /// The name of the space.
        name: String,
        /// A folder that is empty or does not exist.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },

    /// Purge what was deleted from the history of a space, for good.
    ///
    /// Servers throw their copies away, and clones are made again. The space can be written to
    /// meanwhile. Backups keep what was purged until they expire.
    #[command(after_long_help = "\
Examples:
  memoranda admin space vacuum acme --dry-run
  memoranda admin space vacuum acme --older-than now --versions

JSON (--json):
  {space, notes, contents, bytes, dry_run}; notes and contents are numbers, bytes is by how much the
  log shrank")]
    Vacuum {
        /// The name of the space.
        name: String,
        /// Only what was deleted or replaced before then.
        #[arg(long, value_name = "TIME", default_value = "30d")]
        older_than: String,
        /// Earlier versions of existing notes too.
        #[arg(long)]
        versions: bool,
        /// Only say what would be purged.
        #[arg(short = 'n', long)]
        dry_run: bool,
    },

    /// Bring the vault of --home with its history into an empty space.
    ///
    /// Every commit keeps its time, author and content. The vault itself stays as it is.
    #[command(after_long_help = "\
Examples:
  memoranda admin space import acme --dry-run
  memoranda --home ~/memoranda admin space import acme

JSON (--json):
  {space, commits, bytes, purged, dry_run}")]
    Import {
        /// The name of the space.
        name: String,
        /// Only say what would be brought in.
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
}

/// Maximum size of a log.
#[derive(Clone, Copy)]
struct QuotaLimit(Option<u64>);

fn quota(text: &str) -> Result<QuotaLimit, String> {
    if text == "none" {
        return Ok(QuotaLimit(None));
    }
    let megabytes: Option<u64> = text.parse().ok();
    megabytes
        .and_then(|megabytes| megabytes.checked_mul(1_000_000))
        .map(|bytes| QuotaLimit(Some(bytes)))
        .ok_or_else(|| "it takes a number of megabytes, or none".to_owned())
}

#[derive(clap::Args)]
struct MemberArgs {
    #[command(subcommand)]
    action: MemberAction,
}

#[derive(Subcommand)]
enum MemberAction {
    /// List the members of a space.
    #[command(after_long_help = "\
Examples:
  memoranda admin member list acme

JSON (--json):
  {members: [{account, role, since}]}")]
    List {
        /// The space.
        space: String,
    },

    /// Make an account a member of a space, or change its role.
    #[command(after_long_help = "\
Examples:
  memoranda admin member add acme ben
  memoranda admin member add acme carla --role proposer

JSON (--json):
  {space, account, role}")]
    Add {
        /// The space.
        space: String,
        /// The account.
        account: String,
        /// The role of the member.
        #[arg(long, value_enum, default_value_t = RoleName::Editor)]
        role: RoleName,
    },

    /// Invite a person by e-mail address; signing in with that address accepts.
    #[command(after_long_help = "\
Examples:
  memoranda admin member invite acme carla@example.org
  memoranda admin member invite acme carla@example.org --role reader --days 3

JSON (--json):
  {space, email, role, days}")]
    Invite {
        /// The space.
        space: String,
        /// The e-mail address, as the issuer knows it.
        email: String,
        /// The role of the member.
        #[arg(long, value_enum, default_value_t = RoleName::Editor)]
        role: RoleName,
        /// Days until the invitation expires.
        #[arg(long, value_name = "N", default_value_t = 14)]
        days: u32,
    },

    /// List the invitations that wait.
    #[command(after_long_help = "\
Examples:
  memoranda admin member invitations

JSON (--json):
  {invitations: [{space, email, role, invited_by, expires_at}]}")]
    Invitations,

    /// Take an invitation back.
    #[command(after_long_help = "\
Examples:
  memoranda admin member uninvite acme carla@example.org

JSON (--json):
  {space, email}")]
    Uninvite {
        /// The space.
        space: String,
        /// The e-mail address.
        email: String,
    },

    /// Remove a member: its tokens no longer reach the space, at once.
    #[command(after_long_help = "\
Examples:
  memoranda admin member remove acme ben --dry-run
  memoranda admin member remove acme ben

JSON (--json):
  {space, account, dry_run}")]
    Remove {
        /// The space.
        space: String,
        /// The account.
        account: String,
        /// Only say what would happen.
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
}

/// Role of a member.
#[derive(Clone, Copy, ValueEnum)]
enum RoleName {
    /// Reads.
    Reader,
    /// Reads, and writes what waits for a yes.
    Proposer,
    /// Reads and writes, and decides on proposals.
    Editor,
    /// Does all that an editor does, and owns the space.
    Owner,
}

#[derive(clap::Args)]
struct TokenArgs {
    #[command(subcommand)]
    action: TokenAction,
}

#[derive(Subcommand)]
enum TokenAction {
    /// List the tokens, and what people allowed programs by signing in; without their secrets.
    #[command(after_long_help = "\
Examples:
  memoranda admin token list
  memoranda admin token list anna

JSON (--json):
  {tokens: [{account, name, hint, access, spaces, created_at, expires_at, used_at, revoked_at}]}; spaces is
  empty for all spaces of the account")]
    List {
        /// The account; all if not given.
        account: Option<String>,
    },

    /// Make a token and print it. Nobody can see it again.
    #[command(after_long_help = "\
Examples:
  memoranda admin token add anna laptop
  memoranda admin token add anna ci --read-only --space acme --days 90

JSON (--json):
  {account, name, token}")]
    Add {
        /// The account.
        account: String,
        /// A name for the history, such as the machine that uses it.
        name: String,
        /// The token can only read.
        #[arg(long)]
        read_only: bool,
        /// A space that it reaches; the first one is the default. All of the account's if not given.
        #[arg(long = "space", value_name = "SPACE", value_delimiter = ',')]
        spaces: Vec<String>,
        /// Days until it expires.
        #[arg(long, value_name = "N")]
        days: Option<u32>,
    },

    /// Revoke a token at once.
    #[command(after_long_help = "\
Examples:
  memoranda admin token revoke anna laptop

JSON (--json):
  {account, name, dry_run}")]
    Revoke {
        /// The account.
        account: String,
        /// The name of the token.
        name: String,
        /// Only say what would happen.
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
}

/// Does what was asked.
#[cfg(feature = "postgres")]
pub(crate) fn run(context: &CommandContext, args: &Args) -> Result<Exit> {
    use crate::env;
    use crate::error::CommandError;

    let address = args.database.clone().or_else(|| env::MEMORANDA_DATABASE.text());
    let address = address.ok_or_else(|| {
        CommandError::configuration("no database was named")
            .hint("`--database postgres://user@host/name`, or MEMORANDA_DATABASE")
    })?;
    let database = super::serve_team::open_database(&address, args.database_ca.as_deref())?;
    actions::run(context, &database, &args.action)
}

/// Says that this build has no team server.
#[cfg(not(feature = "postgres"))]
pub(crate) fn run(_: &CommandContext, _: &Args) -> Result<Exit> {
    Err(super::serve_team::without_postgres())
}

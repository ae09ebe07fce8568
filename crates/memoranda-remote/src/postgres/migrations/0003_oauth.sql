-- Sign-in: how a person proves to hold an account.
alter table memoranda.accounts add column password_hash text;

create table memoranda.identities (
    issuer text not null,
    subject text not null,
    account bigint not null references memoranda.accounts on delete cascade,
    email text,
    created_at timestamptz not null default now(),
    used_at timestamptz,
    primary key (issuer, subject)
);
create index identities_by_account on memoranda.identities (account);

-- Accepted by signing in with the e-mail address.
create table memoranda.invitations (
    space bigint not null references memoranda.spaces on delete cascade,
    email text not null,
    role text not null check (role in ('owner', 'editor', 'proposer', 'reader')),
    invited_by text not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    primary key (space, email)
);
create index invitations_by_email on memoranda.invitations (email);

-- Programs that may ask for access: they registered, or they have a document at their address.
create table memoranda.oauth_clients (
    client_id text primary key,
    name text not null,
    redirect_uris text[] not null,
    created_at timestamptz not null default now(),
    checked_at timestamptz not null default now()
);

-- Requests of programs on their way through sign-in and consent, by the digest of a cookie.
create table memoranda.oauth_requests (
    sha256 bytea primary key,
    request bigint generated always as identity unique,
    client_id text not null,
    client_name text not null,
    redirect_uri text not null,
    challenge bytea not null,
    access text not null,
    resource text not null,
    state text,
    issuer text,
    account bigint references memoranda.accounts on delete cascade,
    expires_at timestamptz not null
);
create index oauth_requests_by_expiry on memoranda.oauth_requests (expires_at);

-- What a person allowed a program. Numbers of tokens and grants come from one sequence.
create table memoranda.oauth_grants (
    grant_id bigint primary key default nextval('memoranda.tokens_token_seq'),
    account bigint not null references memoranda.accounts on delete cascade,
    client_id text not null,
    name text not null,
    access text not null check (access in ('read', 'write')),
    spaces bigint[] not null,
    default_space bigint not null,
    audience text not null,
    created_at timestamptz not null default now(),
    used_at timestamptz,
    revoked_at timestamptz,
    unique (account, name)
);

-- Codes and tokens of grants, by their digests. A used code and a replaced refresh token stay until
-- they expire: seeing one again revokes the grant.
create table memoranda.oauth_secrets (
    sha256 bytea primary key,
    grant_id bigint not null references memoranda.oauth_grants on delete cascade,
    kind text not null check (kind in ('code', 'access', 'refresh')),
    redirect_uri text,
    challenge bytea,
    expires_at timestamptz not null,
    used_at timestamptz
);
create index oauth_secrets_by_expiry on memoranda.oauth_secrets (expires_at);
create index oauth_secrets_by_grant on memoranda.oauth_secrets (grant_id);

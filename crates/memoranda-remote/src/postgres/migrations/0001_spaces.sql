-- By space. `space` is the first column of every key, so that the tables can be distributed.
create table memoranda.heads (
    space bigint primary key,
    epoch int not null default 1,
    head bigint not null default 0,
    bytes bigint not null default 0,
    quota_bytes bigint
) with (fillfactor = 50);

create table memoranda.commits (
    space bigint not null,
    seq bigint not null,
    id text not null,
    at timestamptz not null default now(),
    frame bytea not null,
    primary key (space, seq),
    unique (space, id)
);
-- Contents in a frame are compressed already.
alter table memoranda.commits alter column frame set storage external;

-- Location of each content in the frame that brought it.
create table memoranda.contents (
    space bigint not null,
    hash bytea not null,
    seq bigint not null,
    at bigint not null,
    stored bigint not null,
    raw bigint not null,
    primary key (space, hash)
);

-- Small tables.
create table memoranda.accounts (
    account bigint generated always as identity primary key,
    name text not null unique check (name ~ '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$'),
    email text,
    created_at timestamptz not null default now(),
    disabled_at timestamptz
);

create table memoranda.spaces (
    space bigint generated always as identity primary key,
    name text not null unique check (name ~ '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$'),
    kind text not null check (kind in ('private', 'shared')),
    device text not null unique check (device ~ '^[a-z0-9]+$'),
    created_at timestamptz not null default now()
);

create table memoranda.members (
    space bigint not null references memoranda.spaces,
    account bigint not null references memoranda.accounts,
    role text not null check (role in ('owner', 'editor', 'reader')),
    created_at timestamptz not null default now(),
    primary key (space, account)
);
create index members_by_account on memoranda.members (account);

create table memoranda.tokens (
    token bigint generated always as identity primary key,
    account bigint not null references memoranda.accounts,
    name text not null,
    sha256 bytea not null unique,
    hint text not null,
    access text not null check (access in ('read', 'write')),
    -- Null: every space of the account, also later ones.
    spaces bigint[],
    default_space bigint,
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    used_at timestamptz,
    revoked_at timestamptz,
    unique (account, name)
);

create table memoranda.audit (
    entry bigint generated always as identity primary key,
    at timestamptz not null default now(),
    actor text not null,
    action text not null,
    target text not null
);

-- Appends commits to the log of a space if its head is still the expected one. The caller's
-- statement is the transaction, so one round trip makes a commit. A call that is repeated because
-- its answer was lost finds its last commit, and changes nothing.
create function memoranda.append_commits(
    p_space bigint, p_epoch int, p_head bigint,
    p_ids text[], p_frames bytea[],
    p_hashes bytea[], p_seqs bigint[], p_ats bigint[], p_stored bigint[], p_raw bigint[],
    out outcome text, out epoch int, out head bigint
) language plpgsql as $$
declare
    used_bytes bigint;
    quota bigint;
    added_bytes bigint;
    added int := array_length(p_ids, 1);
begin
    select h.epoch, h.head, h.bytes, h.quota_bytes into epoch, head, used_bytes, quota
        from memoranda.heads h where h.space = p_space for update;
    if not found then
        outcome := 'missing';
        return;
    end if;
    perform 1 from memoranda.commits c where c.space = p_space and c.id = p_ids[added];
    if found then
        outcome := 'appended';
        return;
    end if;
    if epoch <> p_epoch or head <> p_head then
        outcome := 'behind';
        return;
    end if;
    select sum(octet_length(f)) into added_bytes from unnest(p_frames) f;
    if quota is not null and used_bytes + added_bytes > quota then
        outcome := 'full';
        return;
    end if;
    insert into memoranda.commits (space, seq, id, frame)
        select p_space, p_head + n.ordinality, n.id, n.frame
        from unnest(p_ids, p_frames) with ordinality as n (id, frame, ordinality);
    insert into memoranda.contents (space, hash, seq, at, stored, raw)
        select p_space, n.hash, n.seq, n.at, n.stored, n.raw
        from unnest(p_hashes, p_seqs, p_ats, p_stored, p_raw) as n (hash, seq, at, stored, raw)
        on conflict do nothing;
    head := p_head + added;
    update memoranda.heads h set head = append_commits.head, bytes = used_bytes + added_bytes
        where h.space = p_space;
    outcome := 'appended';
end
$$;

-- Row-level security, as a second guard: a statement sees the rows of the space that its transaction
-- names, and no others, even if the statement forgets to ask for the space. It holds for the owner of
-- the tables too; only superusers are exempt. `heads` has counters alone, and is read for many spaces.
alter table memoranda.commits enable row level security;
alter table memoranda.commits force row level security;
create policy one_space on memoranda.commits
    using (space = nullif(current_setting('memoranda.space', true), '')::bigint);

alter table memoranda.contents enable row level security;
alter table memoranda.contents force row level security;
create policy one_space on memoranda.contents
    using (space = nullif(current_setting('memoranda.space', true), '')::bigint);

alter table memoranda.proposals enable row level security;
alter table memoranda.proposals force row level security;
create policy one_space on memoranda.proposals
    using (space = nullif(current_setting('memoranda.space', true), '')::bigint);

-- Functions name the space and read in one round trip. The setting ends with the transaction, so a
-- pooler in transaction mode may hand the connection on.
create function memoranda.space_frames(
    p_space bigint, p_after bigint, p_bytes bigint, p_rows bigint
) returns table (seq bigint, id text, frame bytea) language plpgsql as $$
begin
    perform set_config('memoranda.space', p_space::text, true);
    return query select s.seq, s.id, s.frame from (
        select n.seq, n.id, n.frame,
            sum(octet_length(n.frame)) over (order by n.seq) - octet_length(n.frame) as before
        from (
            select c.seq, c.id, c.frame from memoranda.commits c
            where c.space = p_space and c.seq > p_after order by c.seq limit p_rows
        ) as n
    ) as s where s.before < p_bytes order by s.seq;
end
$$;

create function memoranda.space_content(p_space bigint, p_hash bytea)
returns table (bytes bytea, raw bigint) language plpgsql as $$
begin
    perform set_config('memoranda.space', p_space::text, true);
    return query select substring(c.frame from (l.at + 1)::int for l.stored::int), l.raw
        from memoranda.contents l
        join memoranda.commits c on c.space = l.space and c.seq = l.seq
        where l.space = p_space and l.hash = p_hash;
end
$$;

-- As before, in the space that it appends to.
create or replace function memoranda.append_commits(
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
    perform set_config('memoranda.space', p_space::text, true);
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

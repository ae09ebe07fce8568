-- Index images, so that a server that starts need not build an index. They are derived from the log,
-- and may be deleted at any time. `images` has counters alone, like `heads`.
create table memoranda.images (
    space bigint not null,
    format text not null,
    epoch int not null default 0,
    seq bigint not null default 0,
    parts int not null default 0,
    log_bytes bigint not null default 0,
    claimed_at timestamptz not null default now(),
    made_at timestamptz,
    primary key (space, format)
);

create table memoranda.image_parts (
    space bigint not null,
    format text not null,
    epoch int not null,
    seq bigint not null,
    part int not null,
    bytes bytea not null,
    primary key (space, format, seq, part)
);
-- They are compressed already.
alter table memoranda.image_parts alter column bytes set storage external;
alter table memoranda.image_parts enable row level security;
alter table memoranda.image_parts force row level security;
create policy one_space on memoranda.image_parts
    using (space = nullif(current_setting('memoranda.space', true), '')::bigint);

-- The newest image of a format with its first part, if it is one of the current epoch.
create function memoranda.find_image(p_space bigint, p_format text)
returns table (epoch int, seq bigint, parts int, log_bytes bigint, bytes bytea) language plpgsql as $$
begin
    perform set_config('memoranda.space', p_space::text, true);
    return query select i.epoch, i.seq, i.parts, i.log_bytes, n.bytes
        from memoranda.images i
        join memoranda.heads h on h.space = i.space and h.epoch = i.epoch
        join memoranda.image_parts n on n.space = i.space and n.format = i.format
            and n.seq = i.seq and n.part = 0
        where i.space = p_space and i.format = p_format;
end
$$;

create function memoranda.image_part(p_space bigint, p_format text, p_seq bigint, p_part int)
returns table (bytes bytea) language plpgsql as $$
begin
    perform set_config('memoranda.space', p_space::text, true);
    return query select n.bytes from memoranda.image_parts n
        where n.space = p_space and n.format = p_format and n.seq = p_seq and n.part = p_part;
end
$$;

-- True for the one server that should make an image now: there is none, or the log has grown by a
-- twentieth since, and nobody tried in the last five minutes. What an earlier try left is removed.
create function memoranda.claim_image(p_space bigint, p_format text, p_log_bytes bigint)
returns boolean language plpgsql as $$
declare
    current_epoch int;
begin
    perform set_config('memoranda.space', p_space::text, true);
    select h.epoch into current_epoch from memoranda.heads h where h.space = p_space;
    if not found then
        return false;
    end if;
    insert into memoranda.images as i (space, format) values (p_space, p_format)
    on conflict (space, format) do update set claimed_at = now()
        where (i.epoch <> current_epoch
            or p_log_bytes >= i.log_bytes + greatest(524288, i.log_bytes / 20))
        and i.claimed_at < now() - interval '5 minutes';
    if not found then
        return false;
    end if;
    delete from memoranda.image_parts n where n.space = p_space and (n.epoch < current_epoch
        or n.format = p_format and not exists (select 1 from memoranda.images i
            where i.space = n.space and i.format = n.format and i.seq = n.seq));
    delete from memoranda.images i where i.space = p_space and i.format <> p_format
        and i.claimed_at < now() - interval '30 days';
    delete from memoranda.image_parts n where n.space = p_space and not exists (
        select 1 from memoranda.images i where i.space = n.space and i.format = n.format);
    return true;
end
$$;

-- Stores a part, unless the log was rewritten since: then the part may contain what was purged. The
-- head is locked until the part is there, so that a purge sees it.
create function memoranda.put_image_part(
    p_space bigint, p_format text, p_epoch int, p_seq bigint, p_part int, p_bytes bytea
) returns boolean language plpgsql as $$
begin
    perform set_config('memoranda.space', p_space::text, true);
    perform 1 from memoranda.heads h where h.space = p_space and h.epoch = p_epoch for share;
    if not found then
        return false;
    end if;
    insert into memoranda.image_parts as n (space, format, epoch, seq, part, bytes)
        values (p_space, p_format, p_epoch, p_seq, p_part, p_bytes)
        on conflict (space, format, seq, part) do update
            set epoch = excluded.epoch, bytes = excluded.bytes;
    return true;
end
$$;

-- Puts an image whose parts are all stored in the place of an older one.
create function memoranda.finish_image(
    p_space bigint, p_format text, p_epoch int, p_seq bigint, p_parts int, p_log_bytes bigint
) returns boolean language plpgsql as $$
begin
    perform set_config('memoranda.space', p_space::text, true);
    perform 1 from memoranda.heads h where h.space = p_space and h.epoch = p_epoch for share;
    if not found then
        return false;
    end if;
    insert into memoranda.images as i (space, format, epoch, seq, parts, log_bytes, made_at)
        values (p_space, p_format, p_epoch, p_seq, p_parts, p_log_bytes, now())
        on conflict (space, format) do update set epoch = excluded.epoch, seq = excluded.seq,
            parts = excluded.parts, log_bytes = excluded.log_bytes, made_at = excluded.made_at
            where (i.epoch, i.seq) <= (excluded.epoch, excluded.seq);
    if found then
        delete from memoranda.image_parts n
            where n.space = p_space and n.format = p_format and n.seq <> p_seq;
    end if;
    return found;
end
$$;

-- Removes images of logs that were rewritten or removed by a program that does not know of images.
create function memoranda.remove_stale_images() returns void language plpgsql as $$
declare
    stale record;
begin
    for stale in
        select i.space, h.epoch from memoranda.images i
        left join memoranda.heads h on h.space = i.space
        where h.epoch is distinct from i.epoch and (h.epoch is null or i.epoch > 0)
    loop
        perform set_config('memoranda.space', stale.space::text, true);
        delete from memoranda.image_parts n
            where n.space = stale.space and n.epoch is distinct from stale.epoch;
        delete from memoranda.images i
            where i.space = stale.space and i.epoch is distinct from stale.epoch;
    end loop;
end
$$;

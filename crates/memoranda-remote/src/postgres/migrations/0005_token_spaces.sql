-- The access of a token is looked up for every request. A function keeps the plan of its query for as
-- long as the connection lives; to plan the join for every request took more than half of the time.

-- The personal access token of a digest: its spaces with what it may do, the default first.
create function memoranda.personal_token_spaces(p_digest bytea)
returns table (
    account text, token_name text, token bigint, access text, space bigint, space_name text, kind text,
    device text, role text, epoch int, head bigint, audience text
) language plpgsql stable as $$
begin
    return query select a.name, t.name, t.token, t.access, s.space, s.name, s.kind, s.device, m.role,
        h.epoch, h.head, t.audience
    from (
        select p.account, p.name, p.token, p.access, p.spaces, p.default_space,
            coalesce(p.expires_at, 'infinity') as expires_at, p.revoked_at, null::text as audience
        from memoranda.tokens p where p.sha256 = p_digest
    ) t
    join memoranda.accounts a on a.account = t.account
    join memoranda.members m on m.account = t.account
    join memoranda.spaces s on s.space = m.space
    join memoranda.heads h on h.space = m.space
    where t.expires_at > now() and t.revoked_at is null and a.disabled_at is null
        and (t.spaces is null or m.space = any(t.spaces))
    order by t.default_space is distinct from m.space, s.kind, s.name;
end
$$;

-- The same for an access token, with what its person consented to.
create function memoranda.access_token_spaces(p_digest bytea)
returns table (
    account text, token_name text, token bigint, access text, space bigint, space_name text, kind text,
    device text, role text, epoch int, head bigint, audience text
) language plpgsql stable as $$
begin
    return query select a.name, t.name, t.token, t.access, s.space, s.name, s.kind, s.device, m.role,
        h.epoch, h.head, t.audience
    from (
        select g.account, g.name, g.grant_id as token, g.access, g.spaces, g.default_space,
            o.expires_at, g.revoked_at, g.audience
        from memoranda.oauth_secrets o join memoranda.oauth_grants g on g.grant_id = o.grant_id
        where o.sha256 = p_digest and o.kind = 'access'
    ) t
    join memoranda.accounts a on a.account = t.account
    join memoranda.members m on m.account = t.account
    join memoranda.spaces s on s.space = m.space
    join memoranda.heads h on h.space = m.space
    where t.expires_at > now() and t.revoked_at is null and a.disabled_at is null
        and (t.spaces is null or m.space = any(t.spaces))
    order by t.default_space is distinct from m.space, s.kind, s.name;
end
$$;

-- Servers of the version before know three roles, and take a fourth one for a reader.
alter table memoranda.members drop constraint members_role_check;
alter table memoranda.members add constraint members_role_check
    check (role in ('owner', 'editor', 'proposer', 'reader'));

-- Calls of proposers, until an editor or an owner decides.
create table memoranda.proposals (
    space bigint not null,
    proposal bigint generated always as identity,
    account text not null,
    token text not null,
    client text not null,
    tool text not null,
    arguments text not null,
    repository text,
    proposed_at timestamptz not null default now(),
    -- A claimed proposal whose server died can be claimed again after a minute.
    state text not null default 'waiting' check (state in ('waiting', 'claimed', 'approved', 'rejected')),
    decided_by text,
    decided_at timestamptz,
    primary key (space, proposal)
);
create index proposals_waiting on memoranda.proposals (space, proposal)
    where state in ('waiting', 'claimed');

-- The page of a team server reaches every space of its account, also later ones, as a personal access
-- token without named spaces does.
alter table memoranda.oauth_grants alter column spaces drop not null;
alter table memoranda.oauth_grants alter column default_space drop not null;
-- The audit of one person and their spaces.
create index audit_by_actor on memoranda.audit (actor);
create index audit_by_target on memoranda.audit (split_part(target, ':', 1));

-- Covers the users of aggregators that are below zero: what is taken from them now comes from the platform at once. Jobs
-- look for those that are below zero already. A call that has begun before this migration ends in the old function and
-- may leave a user below zero. It ends within seconds, and the jobs begin a minute later. No stored row changes here.
INSERT INTO "job" ("tenant_id", "livemode", "id", "created", "kind", "subject_id", "args", "due")
SELECT a.tenant_id, a.livemode, 'job_' || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000000)::bigint), 14, '0') || left(replace(gen_random_uuid()::text, '-', ''), 18), n.at, 'find_debts', a.id, jsonb_build_object('notBefore', n.at), n.at
FROM "account" a, (SELECT date_part('epoch', clock_timestamp())::bigint + 60 AS at) n
WHERE a.kind = 'platform' AND a.sub_type = 'aggregator';

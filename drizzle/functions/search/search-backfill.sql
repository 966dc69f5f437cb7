-- Search entries of the objects that were there before the search.
--
-- Longer than 60 lines: backfill_search (one query with a part for each table).

-- Writes the entries of objects from before the search, at most `p_limit` of them, and returns how many; NULL when none
-- is left. The rows that may change are locked, so that a concurrent change removes the entries of the old row.
create or replace function backfill_search(p_tenant text, p_live boolean, p_limit int)
returns int
language plpgsql
as $$
declare
  v_up_to text;
  o record;
  n int := 0;
begin
  select b.up_to into v_up_to from search_backfill b where b.tenant_id = p_tenant and b.livemode = p_live for update;
  if not found then
    return null;
  end if;
  for o in
    select x.object, x.row
    from
      (
        select *
        from
          (
            select 'account' as object, to_jsonb(a) as row, a.id
            from account a
            where a.tenant_id = p_tenant and a.livemode = p_live and a.id > v_up_to
            order by a.id
            limit p_limit
            for share
          ) a
        union all
        select *
        from
          (
            select 'deposit', to_jsonb(d), d.id
            from deposit d
            where d.tenant_id = p_tenant and d.livemode = p_live and d.id > v_up_to
            order by d.id
            limit p_limit
          ) d
        union all
        select *
        from
          (
            select 'receivable', to_jsonb(r), r.id
            from receivable r
            where r.tenant_id = p_tenant and r.livemode = p_live and r.id > v_up_to
            order by r.id
            limit p_limit
            for share
          ) r
      ) x
    order by x.id
    limit p_limit
  loop
    -- Objects from after the search have their entries: an empty old row stands for them.
    v_up_to := index_object(p_tenant, p_live, o.object, '{}', o.row);
    n := n + 1;
  end loop;
  if n = 0 then
    delete from search_backfill b where b.tenant_id = p_tenant and b.livemode = p_live;
    return null;
  end if;
  update search_backfill b set up_to = v_up_to where b.tenant_id = p_tenant and b.livemode = p_live;
  return n;
end;
$$;

-- Writes the entries of some objects from before the search, and leaves the rest to a job that it enqueues.
-- Without an event: the objects have their own events.
create or replace function job_backfill_search(p_tenant text, p_live boolean, p_job job)
returns void
language plpgsql
as $$
declare
  v_wait bigint;
begin
  select b.not_before - wall_clock()
  into v_wait
  from search_backfill b
  where b.tenant_id = p_tenant and b.livemode = p_live;
  -- The job is due earlier when a test clock has moved.
  if v_wait > 0 or backfill_search(p_tenant, p_live, 500) is not null then
    perform enqueue(p_tenant, p_live, p_job.kind, p_job.subject_id, greatest(v_wait, 0));
  end if;
end;
$$;

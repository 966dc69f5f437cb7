-- The receivables that deposits may pay.
--
-- Longer than 60 lines: receivable_matches (one query, whose parts each look up a few rows).

-- The open receivables that the deposits may pay, the best first: by the reference in their texts, by what is left of
-- them and by their payers; at most 3 of each. `exact` is true of the one with both the reference and the amount, if
-- everything with a reference in the texts was looked at: only then is it known that there is no other one. References
-- are looked up by their words with digits. One that these do not find, such as `ALPHA` or `A7`, is among those of the
-- same amount, which are compared with the texts where all else is exact: with more than `v_rivals` nothing is. (Only
-- one that is partly paid, and whose rest is the same amount, is not among them.) Each part looks up a few rows by an
-- index, so that a deposit costs the same beside few receivables and many.
-- `p_visible_to` is the acting account of a caller that sees the rows of its own list alone, and null for one that sees
-- all.
create or replace function receivable_matches(p_tenant text, p_live boolean, p_ids text[], p_visible_to text)
returns table (
  deposit_id text,
  currency text,
  receivable_id text,
  amount bigint,
  exact boolean,
  named boolean,
  equal boolean,
  billed boolean
)
language plpgsql
stable
as $$
declare
  -- With more receivables of the amount, the amount alone tells none of them apart.
  v_same constant int := 4;
  v_rivals constant int := 100;
  -- As much of a text as is kept of what a bank says, which may have been longer.
  v_length constant int := 140;
  v_parts constant int := 48;
  v_words constant int := 4;
  v_entries constant int := 20;
begin
  return query select d.id, d.currency, m.id, m.amount, m.exact, m.named, m.equal, m.billed
    from
      unnest(p_ids) i (id)
      cross join lateral (
        select x.*
        from deposit x
        where x.tenant_id = p_tenant and x.livemode = p_live and x.id = i.id
        limit 1
      ) d
      cross join lateral (
        select x.*
        from account x
        where x.tenant_id = p_tenant and x.livemode = p_live and x.id = d.to_account_id
        limit 1
      ) a
      cross join lateral (
        select
          case
            when a.kind = 'partner' then a.owner_id
            else a.id
          end as receiver,
          ' ' || said_words(d.statement_descriptor, v_length) || ' | ' || said_words(
            coalesce(d.bank_details ->> 'text', ''),
            v_length
          ) || ' ' as said
        offset 0
      ) t
      -- The parts of the texts that may be references, or the ends of such, the longest first.
      cross join lateral (
        select
          array(
            select x.part
            from
              (
                select distinct
                  left(array_to_string(w.words[n.first:n.first + l.length - 1], ' '), 32) as part
                from
                  (select string_to_array(btrim(t.said), ' ') as words offset 0) w
                  cross join lateral generate_series(1, cardinality(w.words)) n (first)
                  cross join generate_series(1, v_words) l (length)
                where n.first + l.length <= cardinality(w.words) + 1
              ) x
            where x.part ~ '[0-9]' and length(x.part) >= 3 and strpos(x.part, '|') = 0
            order by length(x.part) desc, x.part
          ) as parts
        offset 0
      ) k
      cross join lateral (
        select
          y.id,
          y.amount,
          y.named,
          y.equal,
          y.billed,
          case
            when y.named
            and y.equal
            and y.complete
            and count(*) filter (where y.named and y.equal) over () = 1 then (
              select
                count(*) <= v_rivals
                and count(*) filter (
                  where o.receivable_id <> y.id and o.reference <> '' and strpos(t.said, ' ' || o.reference || ' ') > 0
                ) = 0
              from
                (
                  select s.id as receivable_id, search_text(s.invoice ->> 'referenceNumber') as reference
                  from receivable s
                  where
                    s.tenant_id = p_tenant
                    and s.livemode = p_live
                    and hashtextextended(s.account_id || '/' || s.currency || '/' || s.status, 0) = hashtextextended(
                      t.receiver || '/' || d.currency || '/open',
                      0
                    )
                    and nullif(
                      (s.account_id || '/' || s.currency || '/' || s.status) = (
                        t.receiver || '/' || d.currency || '/open'
                      ),
                      false
                    ) is not null
                    and (s.invoice ->> 'amount')::bigint = d.pending_rest
                  order by (s.invoice ->> 'amount')::bigint, s.id
                  limit v_rivals + 1
                ) o
            )
            else false
          end as exact
        from
          (
            select
              r.id,
              least(d.pending_rest, r.amount_reconcilable) as amount,
              r.invoice ->> 'dueDate' as due,
              r.amount_reconcilable = d.pending_rest as equal,
              coalesce(r.customer_id = d.from_account_id, false) as billed,
              length(n.reference) >= 3 and strpos(t.said, ' ' || n.reference || ' ') > 0 as named,
              c.same,
              cardinality(k.parts) <= v_parts
              and cardinality(c.named) < v_entries
              and not may_be_cut(d.statement_descriptor, v_length)
              and not may_be_cut(coalesce(d.bank_details ->> 'text', ''), v_length) as complete
            from
              (
                select
                  -- Some of the receiver with the amount that is left, and some of the payer.
                  array(
                    select s.id
                    from receivable s
                    where
                      s.tenant_id = p_tenant
                      and s.livemode = p_live
                      and hashtextextended(s.account_id || '/' || s.currency || '/' || s.status, 0) = hashtextextended(
                        t.receiver || '/' || d.currency || '/open',
                        0
                      )
                      and nullif(
                        (s.account_id || '/' || s.currency || '/' || s.status) = (
                          t.receiver || '/' || d.currency || '/open'
                        ),
                        false
                      ) is not null
                      and (s.invoice ->> 'amount')::bigint = d.pending_rest
                    order by (s.invoice ->> 'amount')::bigint, s.id
                    limit v_same
                  ) as same,
                  array(
                    select s.id
                    from receivable s
                    where
                      s.tenant_id = p_tenant
                      and s.livemode = p_live
                      and hashtextextended(s.customer_id || '/' || s.currency || '/' || s.status, 0) = hashtextextended(
                        d.from_account_id || '/' || d.currency || '/open',
                        0
                      )
                      and nullif(
                        (s.customer_id || '/' || s.currency || '/' || s.status) = (
                          d.from_account_id || '/' || d.currency || '/open'
                        ),
                        false
                      ) is not null
                      and (s.invoice ->> 'amount')::bigint = d.pending_rest
                    order by (s.invoice ->> 'amount')::bigint, s.id
                    limit v_same
                  ) as of_payer,
                  -- Those whose reference is one of the parts, or ends with one. They may no longer be open.
                  array(
                    select e.id
                    from
                      unnest(k.parts[1:v_parts]) x (part)
                      cross join lateral (
                        select s.id, s.age
                        from search_entry s
                        where
                          s.tenant_id = p_tenant
                          and s.livemode = p_live
                          and s.list = search_list('receivable', t.receiver)
                          and s.start = x.part
                        order by s.age, s.id
                        limit v_entries
                      ) e
                    order by length(x.part) desc, x.part, e.age, e.id
                    limit v_entries
                  ) as named
              ) c
              cross join lateral (select distinct u as id from unnest(c.same || c.of_payer || c.named) u) f
              cross join lateral (
                select x.*
                from receivable x
                where x.tenant_id = p_tenant and x.livemode = p_live and x.id = f.id
                limit 1
              ) r
              cross join lateral (select search_text(r.invoice ->> 'referenceNumber') as reference offset 0) n
            where
              r.account_id = t.receiver
              and r.currency = d.currency
              and r.status = 'open'
              and (p_visible_to is null or r.context_id = p_visible_to)
          ) y
        where y.named or (y.equal and (y.billed or cardinality(y.same) < v_same))
        order by y.named::int * 4 + y.equal::int * 2 + y.billed::int desc, y.due, y.id
        limit 3
      ) m
    where d.status = 'completed' and d.pending_rest > 0;
end;
$$;

-- Whether a text is no longer whole: it is as long as texts are kept, or ends as those of bank files that were cut.
create or replace function may_be_cut(p_text text, p_length int)
returns boolean
language plpgsql
immutable
as $$
begin
  return length(p_text) >= p_length or right(p_text, 1) = '…';
end;
$$;

-- The words of a text as the search has them. The last word of a text that is cut may be a part of another one.
create or replace function said_words(p_text text, p_length int)
returns text
language plpgsql
immutable
as $$
begin
  if not may_be_cut(p_text, p_length) then
    return search_text(p_text);
  end if;
  return regexp_replace(search_text(left(p_text, p_length)), ' ?[^ ]*$', '');
end;
$$;

-- Files of banks and their lines. These rows are about the whole deployment, so no function here has a tenant: what a
-- line is worth to a tenant is booked by record_bank_notice and record_bank_recall, under a key of file and line.
--
-- Longer than 60 lines: move_bank_line (two refusals, and the columns that a move may change).

-- Saves how the CSV files of a bank are read, in place of what had the name before.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function save_bank_mapping(p_name text, p_mapping jsonb, p_by text)
returns setof bank_mapping
language plpgsql
as $$
begin
  insert into bank_mapping (name, created, created_by, mapping)
  values (p_name, wall_clock(), p_by, p_mapping)
  on conflict (name) do update
    set
      created = excluded.created,
      created_by = excluded.created_by,
      mapping = excluded.mapping;
  return query select m.* from bank_mapping m where m.name = p_name;
end;
$$;

-- Stores a file once by the hash of its content, and returns it.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function store_bank_file(p_name text, p_sha256 text, p_format text, p_lines int, p_by text)
returns setof bank_file
language plpgsql
as $$
begin
  insert into bank_file (id, created, created_by, name, sha256, format, lines)
  values (new_id('bank_file'), wall_clock(), p_by, p_name, p_sha256, p_format, p_lines)
  on conflict (sha256) do nothing;
  return query select f.* from bank_file f where f.sha256 = p_sha256;
end;
$$;

-- Stores lines and statements of a file. One that is stored already stays as it is, with what has become of it. The
-- lines are taken in their order, so that the first of two with one reference in different files comes first.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function store_bank_lines(p_file text, p_lines jsonb, p_statements jsonb)
returns void
language plpgsql
as $$
begin
  insert into bank_line
    (
      account,
      file_id,
      number,
      line,
      statement,
      payee,
      direction,
      is_reversal,
      is_unclear,
      amount,
      currency,
      day,
      reference,
      details,
      state,
      reason,
      tenant,
      address_id,
      deposit_id,
      payout_id
    )
  select
    l.account,
    p_file,
    l.number,
    l.line,
    l.statement,
    l.payee,
    l.direction,
    l.is_reversal,
    l.is_unclear,
    l.amount,
    l.currency,
    l.day,
    l.reference,
    l.details,
    l.state,
    l.reason,
    l.tenant,
    l.address_id,
    l.deposit_id,
    l.payout_id
  from jsonb_populate_recordset(null::bank_line, p_lines) l
  on conflict do nothing;
  insert into bank_statement (account, file_id, number, currency, day, opening, closing, not_booked)
  select s.account, p_file, s.number, s.currency, s.day, s.opening, s.closing, s.not_booked
  from jsonb_populate_recordset(null::bank_statement, p_statements) s
  on conflict do nothing;
end;
$$;

-- Forgets a file whose import is not finished, with its lines, none of which was booked.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function forget_bank_file(p_file text)
returns void
language plpgsql
as $$
begin
  perform from bank_file f where f.id = p_file and f.stored_at is null for update;
  if found then
    delete from bank_line l where l.file_id = p_file;
    delete from bank_statement s where s.file_id = p_file;
    delete from bank_file f where f.id = p_file;
  end if;
end;
$$;

-- Records that all lines of a file are stored, once. Returns the file.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function finish_bank_file(p_file text)
returns setof bank_file
language plpgsql
as $$
begin
  update bank_file f set stored_at = wall_clock() where f.id = p_file and f.stored_at is null;
  return query select f.* from bank_file f where f.id = p_file;
end;
$$;

-- Moves a line from one state to another, with what is known then. Of two that decide about a line at once, one is
-- refused. The same move again, with the same content, changes nothing. A line is not booked as the deposit, or the
-- payment or return of a payout, that another line is already.
-- Without an event: events are for tenants; the audit log has an entry.
create or replace function move_bank_line(p_file text, p_number int, p_from text, p_to text, p_changes jsonb)
returns setof bank_line
language plpgsql
as $$
declare
  v_by text := p_changes ->> 'decided_by';
begin
  -- Of two lines that are booked as one transfer at once, the second one waits here.
  if p_to = 'booked' then
    perform pg_advisory_xact_lock(hashtextextended(coalesce(p_changes ->> 'deposit_id', l.payout_id), 0))
    from bank_line l
    where l.file_id = p_file and l.number = p_number;
  end if;
  if
    p_to = 'booked'
    and exists (
      select
      from
        bank_line l
        join bank_line o
          on o.direction = l.direction and (o.deposit_id = p_changes ->> 'deposit_id' or o.payout_id = l.payout_id)
      where
        l.file_id = p_file
        and l.number = p_number
        and (o.file_id, o.number) <> (p_file, p_number)
        and o.state in ('booked', 'seen_before')
    )
  then
    perform refuse(
      409,
      'state_conflict',
      'bank_line.reference',
      'is that of a transfer that another line is already. Give this one a reference of its own.'
    );
  end if;
  update bank_line l
  set
    state = p_to,
    reason = p_changes ->> 'reason',
    note = p_changes ->> 'note',
    tenant = coalesce(p_changes ->> 'tenant', l.tenant),
    address_id = coalesce(p_changes ->> 'address_id', l.address_id),
    given_reference = coalesce(p_changes ->> 'given_reference', l.given_reference),
    original_reference = coalesce(p_changes ->> 'original_reference', l.original_reference),
    allow_currency = coalesce((p_changes ->> 'allow_currency')::boolean, l.allow_currency),
    deposit_id = coalesce(p_changes ->> 'deposit_id', l.deposit_id),
    -- What an operator assigns to an address is no answer to a payout.
    payout_id = case
      when not p_changes ? 'address_id' then l.payout_id
    end,
    decided_by = coalesce(v_by, l.decided_by),
    decided_at = case
      when v_by is null then l.decided_at
      else floor(date_part('epoch', statement_timestamp()))
    end
  where l.file_id = p_file and l.number = p_number and l.state = p_from;
  if
    not found
    and not exists (
      select
      from bank_line l
      where l.file_id = p_file and l.number = p_number and l.state = p_to and to_jsonb(l) @> (p_changes - 'decided_by')
    )
  then
    perform refuse(409, 'status_invalid', 'bank_line.state', 'is no longer what it was. Look at the line again.');
  end if;
  return query select l.* from bank_line l where l.file_id = p_file and l.number = p_number;
end;
$$;

import type postgres from 'postgres';
import type { Edition } from '../support/world.js';

/** The accounts to create, and how much they trade. */
export interface Trade {
  /** The platform, which the operator has created. */
  platform: string;
  edition: Edition;
  livemode: boolean;
  /** The number of connected users that trade, all equally much. */
  users: number;
  /** The number of trades of each of them. */
  trades: number;
  /** The number of connected users that do not trade. */
  others: number;
}

/**
 * Fills a platform in bulk: users with all rows that belong to an account, and trades, each with a row in every table:
 * a receivable, a checkout for it, the attempt to pay it, the deposit with its payment and its postings, and a payout.
 * Users and trades are alike, so that the newest are like all others. Statuses, methods and currencies change from one
 * round of all users to the next; one value of each is the usual one. All times start from one reading of the clock, so
 * that the orders of the lists do not depend on how long a statement takes. The tables are analyzed at the end, once
 * for all of several trades. The product's worker must not run meanwhile.
 */
export async function seedTrade(sql: postgres.Sql, ...trades: Trade[]): Promise<void> {
  const [row] = await sql`select extract(epoch from now())::bigint as now`;
  for (const trade of trades)
    for (const statement of statementsOf(trade, String(row!.now))) await sql.unsafe(statement);
  await sql.unsafe('vacuum (analyze)');
}

function statementsOf({ platform, edition, livemode, users, trades, others }: Trade, now: string): string[] {
  const tenantAndMode = `'${platform.replace('account_', '')}', ${livemode}`;
  const year = 31_536_000;
  const total = users * trades;
  // Users are the newest accounts, and among them those that trade.
  const born = (n: string) => `${now} - ${year} + ${others} - (${n})`;
  const id = (prefix: string, n: string) => `'${prefix}_' || lpad((${n})::text, 8, '0')`;
  const user = (n: string) => id('account_user', n);
  const partner = (n: string) => id('account_partner', n);
  const file = (n: string) => id('file', n);
  const accounts = (prefix: string, kind: string, owner: string, onRootList: boolean) => `
    insert into account (tenant_id, livemode, id, created, kind, edition, status, address, address_key, nickname,
    business_details, logo_id, metadata,
                         supporting_documentation, tos_acceptance, owner_id, context_id, on_root_list)
    select ${tenantAndMode}, ${id(prefix, 'n')}, ${born('n')}, '${kind}', ${edition}, case
    when n % 3 = 0 then 'hold' else 'activated' end, 'activated',
      '${kind === 'partner' ? 'connected_user_partner' : kind}', '${prefix} ' || n,
      '{"legalName": "Exporter", "type": "company", "physicalAddress": {"country": "IN"}}', ${file('n')}, '{"a": "b"}',
      jsonb_build_object('idDocument', ${file('n')}), '{}', ${owner}, ${user('n')}, ${onRootList}
      from generate_series(1, ${users + others}) n`;
  const addresses = (prefix: string, linked: string, category: string, older: number, onRootList: boolean) => `
    insert into address (tenant_id, livemode, id, created, category, type, status, currency, name, is_reusable,
    linked_id, bank_account, wallet, vpa, supporting_documentation, context_id, on_root_list)
    select ${tenantAndMode}, ${id(prefix, 'n')}, ${born('n')} - ${older}, '${category}', 'bank_account', 'activated',
    'USD', 'Address', true, ${linked},
      '{"bankName": "Harbour Bank", "number": "001"}', '{"provider": "paypal_external"}',
      '{"id": "a@b", "upi": {"onetime": "enabled", "recurring": "enabled"}}',
      jsonb_build_object('idDocument', ${file('n')}), ${user('n')}, ${onRootList}
    from generate_series(1, ${users + others}) n`;
  /** The numbers of a trade and of its user, its payer with an address, and its round. */
  const traded = `from (select n, 1 + (n - 1) % ${users} as u, (n - 1) / ${users} as round,
    ${now} - 864000 + n * 864000 / ${total} as at from generate_series(1, ${total}::bigint) n) x,
    lateral (select ${user('u')} as receiver,
      case when round % 2 = 1 then ${partner('u')} else ${user(`1 + u % ${users}`)} end as payer,
      case when round % 2 = 1 then ${id('address_partner', 'u')} else ${id('address_in', `1 + u % ${users}`)} end
        as payer_address,
      case when round % 10 = 4 then 'EUR' else 'USD' end as currency) y`;
  const common = (prefix: string) => `select ${tenantAndMode}, ${id(prefix, 'n')}, at`;
  const listed = `receiver, true ${traded}`;
  /** A tenth of the deposits are on no list of the platform, as if partners had received them. */
  const listedInPart = `receiver, round % 10 <> 8 ${traded}`;
  const oldest = ['account', 'account_setting', 'address'].map(
    (table) =>
      `update ${table} set created = ${now} - ${2 * year} where (tenant_id, livemode) = (${tenantAndMode}) and ` +
      `context_id = '${platform}'`,
  );
  return [
    ...oldest,
    accounts('account_user', 'connected_user', `'${platform}'`, true),
    accounts('account_partner', 'partner', user('n'), false),
    `insert into account_setting (tenant_id, livemode, id, created, account_id, of_connected_user, address,
      address_currency, payouts_applicable, account_activated, context_id, on_root_list)
     select a.tenant_id, a.livemode, 'account_setting' || substr(a.id, 8), a.created, a.id, a.kind = 'connected_user',
       '{"connectedUser": true, "connectedUserPartner": true, "partner": true, "platform": true, "user": true}',
       '{"connectedUser": null, "connectedUserPartner": null, "partner": null, "platform": null, "user": null}', true,
       a.status = 'activated', a.context_id, a.on_root_list
     from account a where a.owner_id is not null and (a.tenant_id, a.livemode) = (${tenantAndMode})`,
    `insert into payout_block (tenant_id, livemode, id, created, account_id, currency, reason_code, context_id,
      on_root_list)
     select ${tenantAndMode}, ${id('payout_block', 'n')}, ${now}, ${user('n')}, 'USD', 'rate_missing', ${user('n')},
     true from generate_series(1, ${users + others}) n`,
    addresses('address_in', user('n'), 'service_receive', year, true),
    addresses('address_out', user('n'), 'user_payout', 0, true),
    addresses('address_partner', partner('n'), 'partner_payment', 0, false),
    `insert into file (tenant_id, livemode, id, created, account_id, purpose, filename, content_type, size, sha256,
      context_id, on_root_list)
     select ${tenantAndMode}, ${file('n')}, ${born('n')}, ${user('n')}, 'identity_document', 'a.pdf', 'application/pdf',
     10, 'sha', ${user('n')}, true from generate_series(1, ${users + others}) n`,
    `insert into person (tenant_id, livemode, id, created, updated_at, account_id, full_name, relationship,
      identification, context_id, on_root_list)
     select ${tenantAndMode}, ${id('person', 'n')}, ${born('n')}, ${born('n')}, ${user('n')}, 'A Person',
     '{"owner": true}', jsonb_build_object('taxCardImage', ${file('n')}, 'passportImage', ${file('n')}),
       ${user('n')}, true from generate_series(1, ${users + others}) n`,
    `insert into api_key (tenant_id, livemode, id, created, updated_at, account_id, permission, prefix, digest,
      context_id, on_root_list)
     select ${tenantAndMode}, ${id('api_key', 'n')}, ${now} + n, ${now} + n, ${user('n')}, 'full', 'sk', 'digest ' || n,
     ${user('n')}, true from generate_series(1, ${users + others}) n`,
    `insert into session (tenant_id, livemode, id, created, account_id, api_key_id, role, allowed_origins, digest,
      expires_at, context_id, on_root_list)
     select ${tenantAndMode}, ${id('session', 'n')}, ${now} + n, ${user('n')}, ${id('api_key', 'n')}, 'read', '{}',
     'digest ' || n, ${now} + n + 900, ${user('n')}, true from generate_series(1, ${users + others}) n`,
    `insert into request_log (tenant_id, livemode, id, created, api, operation, status, outcome, codes, milliseconds,
      api_key_id, session_id, on_behalf_of, context_id, on_root_list)
     select ${tenantAndMode}, 'req_' || lpad(to_hex(n), 24, '0'), ${born('n')}, case
     when n % 3 = 0 then 'rest' else 'graphql' end, case when n % 7 = 0 then 'createDeposit' else 'deposits' end,
       200, case when n % 10 = 7 then 'refused' else 'succeeded' end, '{}', 5, ${id('api_key', '1')},
       ${id('session', '1')}, ${user('1')}, ${user(`1 + n % ${users}`)}, true
       from generate_series(1, ${users + others}) n`,
    `insert into webhook_endpoint (tenant_id, livemode, id, created, updated_at, account_id, url, event_types,
      connected, enabled, secret_sealed, context_id, on_root_list)
     select ${tenantAndMode}, ${id('webhook', 'n')}, ${now} + n, ${now} + n, ${user('n')}, 'https://example.com/',
     '{*}', false, n % 10 > 0, 'sealed', ${user('n')}, true from generate_series(1, ${users + others}) n`,
    `insert into webhook_delivery (tenant_id, livemode, id, created, updated_at, endpoint_id, event_id, event_type,
      event_number, status, queued, context_id, on_root_list)
     select ${tenantAndMode}, ${id('delivery', 'n')}, ${born('n')}, ${born('n')}, ${id('webhook', `1 + n % ${users}`)},
     'event_' || n, 'account.updated', n, case when n % 10 = 7 then 'failed' else 'succeeded' end, ${now},
       ${user(`1 + n % ${users}`)}, true from generate_series(1, ${users + others}) n`,
    `insert into data_export (tenant_id, livemode, id, created, account_id, list, filters, format, status, caller, due,
      context_id, on_root_list)
     select ${tenantAndMode}, ${id('export', 'n')}, ${born('n')}, ${user('n')}, '/v1/deposits', '', 'csv', case
     when n % 10 = 7 then 'failed' else 'completed' end, '{}', ${now},
       ${user('n')}, true from generate_series(1, ${users + others}) n`,
    `insert into data_import (tenant_id, livemode, id, created, account_id, kind, file_id, dry_run, rows, status,
      caller, due, context_id, on_root_list)
     select ${tenantAndMode}, ${id('import', 'n')}, ${born('n')}, ${user('n')}, 'partners', ${file('n')}, false, 1, case
     when n % 10 = 7 then 'failed' else 'completed' end, '{}', ${now},
       ${user('n')}, true from generate_series(1, ${users + others}) n`,
    `insert into import_row (tenant_id, livemode, id, created, import_id, row, status, problems, context_id,
      on_root_list)
     select ${tenantAndMode}, ${id('import_row', 'n')}, ${born('n')}, ${id('import', 'n')}, 1, case
     when n % 10 = 7 then 'failed' else 'created' end, '[]',
       ${user('n')}, true from generate_series(1, ${users + others}) n`,
    `insert into receivable (tenant_id, livemode, id, created, account_id, customer_id, currency,
      amount_maximum_reconcilable, amount_locked, deposit_ids_amount_locked, invoice, purpose_code,
                             transaction_type, voided, context_id, on_root_list)
     ${common('receivable')}, receiver, payer, currency, 1000, 500, array[${id('deposit', 'n')}],
       jsonb_build_object('amount', '1000', 'currency', currency, 'creationDate', '2026-01-01', 'dueDate', to_char(date
       '2026-01-01' + (n % 400)::int, 'YYYY-MM-DD'), 'referenceNumber', 'R', 'document', ${file('u')}),
       'P0802', case when round % 10 = 5 then 'goods' else 'services' end, round % 10 = 6, ${listed}`,
    `insert into deposit (tenant_id, livemode, id, created, amount, currency, from_account_id, from_address_id,
      to_account_id, to_address_id, payment_method, statement_descriptor,
                          status, payment_id, disputes_id, context_id, on_root_list)
     ${common('deposit')}, 1000, currency, payer, payer_address, receiver, ${id('address_in', 'u')}, case
     when round % 10 = 3 then 'domestic_wire' else 'domestic_credit' end, 'INVOICE',
       case when round % 10 = 7 then 'failed' else 'completed' end, ${id('payment', 'n')}, case
       when round > 0 then ${id('deposit', `n - ${users}`)} end, ${listedInPart}`,
    `insert into checkout (tenant_id, livemode, id, created, expires_at, amount, gross_amount, currency,
      from_account_id, to_account_id, to_address_id, payment_methods, receivable_ids,
                           redirect_url, status, effective_transaction_id, effective_transaction_status, deposit_id,
                           context_id, on_root_list)
     ${common('checkout')}, case when round % 10 = 1 and n % 2000 > 0 then ${now} + ${year} else at + 60 end, 1000,
     1000, currency, payer, receiver, payer_address, '{upi}', array[${id('receivable', 'n')}], 'https://shop.example/',
       case when round % 10 = 1 or n % 2000 = 0 then 'initialized' when round % 10 = 2 then 'cancelled'
       when n = 7 then 'expired' else 'completed' end,
       ${id('transaction', 'n')}, 'succeeded', ${id('deposit', 'n')}, ${listed}`,
    `insert into checkout_receivable (tenant_id, livemode, id, created, checkout_id, receivable_id, position)
     ${common('checkout_receivable')}, ${id('checkout', 'n')}, ${id('receivable', 'n')}, 0 ${traded}`,
    `insert into transaction (tenant_id, livemode, id, created, checkout_id, attempt_key, expires_at, payment_method,
      amount, currency, status, payment_id, deposit_id, context_id, on_root_list)
     ${common('transaction')}, ${id('checkout', 'n')}, 'attempt', at + 60, 'upi', 1000, currency, 'succeeded',
     ${id('payment', 'n')}, ${id('deposit', 'n')}, ${listed}`,
    `insert into payment (tenant_id, livemode, id, created, updated_at, account_id, type, amount, currency, status,
      deposit_id, checkout_id, context_id, on_root_list)
     ${common('payment')}, at, receiver, case when round % 10 = 8 then 'checkout' else 'deposit' end, 1000, currency,
     case when round % 10 = 7 then 'failed' else 'completed' end,
       ${id('deposit', 'n')}, ${id('checkout', 'n')}, ${listed}`,
    `insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id)
     ${common('posting')}, 'deposit', ${id('deposit', 'n')}, ${id('payment', 'n')} ${traded}`,
    `insert into entry (tenant_id, livemode, id, created, posting_id, account_id, amount, currency, category,
      payment_id, balance_after, version, context_id, on_root_list)
     ${common('bt')}, ${id('posting', 'n')}, receiver, 1000, currency, 'pending', ${id('payment', 'n')}, (1 + round) *
     1000, 1 + round, ${listed}`,
    `insert into balance (tenant_id, livemode, account_id, currency, pending, version, latest, of_partner,
      context_id, on_root_list)
     select tenant_id, livemode, account_id, currency, sum(amount), count(*), max(created), false, account_id, true
     from entry
     where (tenant_id, livemode) = (${tenantAndMode}) group by 1, 2, 3, 4`,
    `insert into balance (tenant_id, livemode, account_id, currency, of_partner, context_id, on_root_list)
     select ${tenantAndMode}, ${user('n')}, 'USD', false, ${user('n')}, true
     from generate_series(${users + 1}, ${users + others}) n`,
    `insert into balance_rank (tenant_id, livemode, account_id, currency, ranked_as, amount, version, owner_id,
      context_id, on_root_list)
     select a.tenant_id, a.livemode, a.id, c.currency, a.type || ' ' || c.currency, hashtext(a.id) % 10000, 1,
     a.owner_id, a.context_id, a.on_root_list
     from account a, (values ('USD'), ('EUR')) c (currency) where (a.tenant_id, a.livemode) = (${tenantAndMode})
     and (c.currency = 'USD' or a.id like '%3')`,
    `insert into lock_batch (tenant_id, livemode, id, created, account_id, held_in)
     select distinct on (receiver, currency) ${tenantAndMode}, ${id('lock_batch', 'n')}, at, receiver, currency
     ${traded}`,
    `insert into receivable_lock (tenant_id, livemode, id, created, receivable_id, deposit_id, account_id, currency,
      amount, batch_id)
     select k.*, b.id from (${common('receivable_lock')}, ${id('receivable', 'n')}, ${id('deposit', 'n')}, receiver,
     currency, 500 ${traded}) k (tenant_id, livemode, id, created, receivable_id, deposit_id, account_id, currency,
     amount)
     join lock_batch b on (b.tenant_id, b.livemode, b.account_id, b.held_in) = (k.tenant_id, k.livemode, k.account_id,
     k.currency)`,
    `insert into payout (tenant_id, livemode, id, created, account_id, address_id, amount, currency, status, payment_id,
      bank_reference, source_amount, source_currency, rate, context_id, on_root_list)
     ${common('payout')}, receiver, ${id('address_out', 'u')}, 1000, 'USD',
       case when round % 10 = 9 then 'failed' else 'completed' end, ${id('payment', 'n')}, 'UTR' || n, 1000,
       currency, 1, ${listed}`,
    `insert into refund (tenant_id, livemode, id, created, account_id, deposit_id, checkout_id, amount, currency,
      status, payment_id, from_pending, debited_account_id, context_id, on_root_list)
     ${common('refund')}, receiver, ${id('deposit', 'n')}, ${id('checkout', 'n')}, 10, currency,
       case when round % 10 = 9 then 'failed' else 'succeeded' end, ${id('payment', 'n')}, 10, receiver, ${listed}`,
    `insert into change_request (tenant_id, livemode, id, created, account_id, changes, status, context_id,
      on_root_list)
     ${common('change_request')}, receiver, '[{"path": "businessDetails.dba", "from": null, "to": "Harbour"}]',
       case when round % 10 = 9 then 'declined' else 'accepted' end, ${listed}`,
    `insert into dispute (tenant_id, livemode, id, created, account_id, deposit_id, debit_deposit_id, amount, currency,
      status, reason_code, context_id, on_root_list)
     ${common('dispute')}, receiver, ${id('deposit', 'n')}, ${id('deposit', 'n')}, 10, currency,
       case when round % 10 = 9 then 'lost' else 'accepted' end, 'general', ${listed}`,
    `insert into event (tenant_id, livemode, id, created, type, object, object_id, data, number, context_id,
       on_root_list)
     select d.tenant_id, d.livemode, 'event' || substr(d.id, 8), d.created,
       case d.status when 'failed' then 'deposit.failed' else 'deposit.completed' end, 'deposit', d.id,
       to_jsonb(d), 1000 + row_number() over (order by d.id), d.context_id, d.on_root_list
     from deposit d where (tenant_id, livemode) = (${tenantAndMode})`,
    // The totals are not computed, as after an upgrade.
    `insert into deposit_total_backfill (tenant_id, livemode, up_to, not_before) values (${tenantAndMode}, '', 0)`,
  ];
}

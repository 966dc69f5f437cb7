import fs from 'node:fs';
import { WebhookDeliveryStatus } from '../../src/resources/webhook-delivery/table.js';
import { WebhookDisabledReason } from '../../src/resources/webhook-endpoint/table.js';
import { getTableColumns, getTableName } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { definedFunctions } from '../../src/db/write/print-write-functions.js';
import { currencyOf } from '../../src/sites/dashboard/format/money.js';
import { Scope } from '../../src/db/scope.js';
import { editions } from '../../src/editions/editions.js';
import { payerScope } from '../../src/hosted/session.js';
import { acquirerKinds } from '../../src/jobs/table.js';
import { Operator } from '../../src/operator/operator.js';
import { BankLineState, UnmatchedReason } from '../../src/operator/bank-file/table.js';
import { PaymentOrderStatus } from '../../src/operator/payment-order/table.js';
import {
  ActionOutcome,
  OperatorRole,
  UnexplainedDecision,
  UnexplainedReason,
  UnexplainedStatus,
} from '../../src/operator/table.js';
import { Mode } from '../../src/types/mode.js';
import { AccountAddressState, AccountKind, AccountStatus } from '../../src/resources/account/table.js';
import { accountMoves } from '../../src/resources/account/rules.js';
import { AdjustmentStatus } from '../../src/resources/adjustment/table.js';
import { AddressCategory, AddressStatus, AddressType, address } from '../../src/resources/address/table.js';
import { checkoutNow } from '../../src/resources/checkout/now.js';
import { CheckoutStatus, checkout } from '../../src/resources/checkout/table.js';
import { checkoutTermsDefault } from '../../src/config/defaults.js';
import { attemptsMax } from '../../src/resources/checkout/terms.js';
import { receiverOf } from '../../src/resources/deposit/rules.js';
import { BulkStatus, ExportFormat } from '../../src/resources/export/table.js';
import { ImportKind } from '../../src/resources/import/table.js';
import { ImportRowStatus } from '../../src/resources/import-row/table.js';
import { DepositStatus } from '../../src/resources/deposit/table.js';
import { FilePurpose } from '../../src/resources/file/table.js';
import { KeyPermission } from '../../src/resources/key/table.js';
import { LedgerCheckStatus } from '../../src/resources/ledger/table.js';
import { PaymentStatus, PaymentType } from '../../src/resources/payment/table.js';
import { PayoutBlockReason, PayoutReasonCode, PayoutStatus } from '../../src/resources/payout/table.js';
import { ChangeRequestStatus } from '../../src/resources/change-request/table.js';
import { DisputeStatus } from '../../src/resources/dispute/table.js';
import { RefundStatus } from '../../src/resources/refund/table.js';
import { RequestApi, RequestOutcome } from '../../src/resources/request-log/table.js';
import { SessionRole } from '../../src/resources/session/table.js';
import { TransactionStatus } from '../../src/resources/transaction/table.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { rulesText } from '../../src/server/build/print-schema.js';
import { metadataKeysMax } from '../../src/types/scalars.js';
import { receivableBody } from '../support/bodies.js';
import { givenIn, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

describe('a rule that TypeScript and SQL both need', () => {
  it('is generated into drizzle/functions/shared/rules.sql, which `npm run schema` writes', () => {
    expect(fs.readFileSync('drizzle/functions/shared/rules.sql', 'utf8')).toBe(rulesText());
  });

  it('has one value in both: currency of an edition, attempts of a checkout, number of metadata keys', async () => {
    const [row] = await world.sql`
      select edition_currency(1) as first, edition_currency(2) as second, checkout_attempts_max() as attempts,
      metadata_keys_max() as keys`;
    expect(row).toEqual({
      first: editions[1].currency,
      second: editions[2].currency,
      attempts: attemptsMax,
      keys: metadataKeysMax,
    });
  });

  it('has one value in the dashboard, which imports nothing of the gateway: the currency of an edition', () => {
    const shown = Object.values(editions).map(({ number }) => currencyOf(number));
    expect(shown).toEqual(Object.values(editions).map(({ currency }) => currency));
  });

  it('has one value for the receiver of a deposit, for every kind of account', async () => {
    const platform = await given.platform(2);
    const user = await platform.connectedUser();
    const partner = await user.partner();
    const own = await platform.partner();
    for (const id of [platform.id, user.id, partner.id, own.id]) {
      const row = await world.operator.account(id, false);
      const [computed] = await world.sql`select receiver_of(${row.tenantId}, false, ${id}) as id`;
      expect([row.kind, receiverOf(row)]).toEqual([row.kind, computed!.id]);
    }
    expect(receiverOf(await world.operator.account(partner.id, false))).toBe(user.id);
  });

  it('has one set of values for each column with a CHECK on them', async () => {
    const enums: Record<string, Record<string, string>> = {
      adjustment_status: AdjustmentStatus,
      account_kind: AccountKind,
      account_status: AccountStatus,
      account_address: AccountAddressState,
      address_category: AddressCategory,
      address_type: AddressType,
      address_status: AddressStatus,
      api_key_permission: KeyPermission,
      bank_line_direction: { CREDIT: 'credit', DEBIT: 'debit' },
      bank_line_reason: UnmatchedReason,
      payment_order_status: PaymentOrderStatus,
      bank_line_state: BankLineState,
      bank_notice_event: { RECEIVED: 'received', REVERSED: 'reversed' },
      checkout_status: CheckoutStatus,
      clawback_kind: { RECALL: 'recall', CHARGEBACK: 'chargeback' },
      data_export_format: ExportFormat,
      data_import_kind: ImportKind,
      deposit_status: DepositStatus,
      export_status: BulkStatus,
      import_status: BulkStatus,
      import_row_status: ImportRowStatus,
      file_purpose: FilePurpose,
      ledger_check_status: LedgerCheckStatus,
      operator_action_mode: Mode,
      operator_action_outcome: ActionOutcome,
      operator_role: OperatorRole,
      payment_type: PaymentType,
      payment_status: PaymentStatus,
      payout_reason: PayoutReasonCode,
      payout_status: PayoutStatus,
      change_request_status: ChangeRequestStatus,
      dispute_status: DisputeStatus,
      refund_status: RefundStatus,
      webhook_delivery_status: WebhookDeliveryStatus,
      webhook_endpoint_reason: WebhookDisabledReason,
      payout_block_reason: PayoutBlockReason,
      request_log_api: RequestApi,
      request_log_outcome: RequestOutcome,
      session_role: SessionRole,
      transaction_status: TransactionStatus,
      unexplained_decision: UnexplainedDecision,
      unexplained_reason: UnexplainedReason,
      unexplained_status: UnexplainedStatus,
    };
    const checks = await world.sql<{ name: string; text: string }[]>`
      select conname as name, pg_get_constraintdef(oid) as text from pg_constraint
      where contype = 'c' and connamespace = 'public'::regnamespace and pg_get_constraintdef(oid) like '%= ANY%'`;
    const found = checks.map(({ name, text }) => [name, [...text.matchAll(/'(\w+)'/g)].map((match) => match[1]!)]);
    // A CHECK on numbers has no enum.
    expect(Object.fromEntries(found.filter(([, values]) => values!.length > 0))).toEqual(
      Object.fromEntries(Object.entries(enums).map(([name, values]) => [name, Object.values(values)])),
    );
  });

  it("has one table of an account's status changes, which includes those that SQL makes by itself", () => {
    const moves = definedFunctions().flatMap(({ body }) =>
      [...body.matchAll(/move_account\([^;]*'from', jsonb_build_array\('(\w+)'\), 'to', '(\w+)'/g)].map((match) => [
        match[1],
        match[2],
      ]),
    );
    expect(moves).toEqual([['verifying', 'activated']]);
    expect(accountMoves.verify.activated).toContain('verifying');
  });

  it('is refused with the same message before a write and by the write', async () => {
    const user = await given.directUser(1);
    const metadata = (from: number, to: number) =>
      Object.fromEntries(Array.from({ length: to - from }, (_, i) => [`key${from + i}`, 'x']));
    const setting = (await user.get('/v1/account_settings')).body.data[0];
    const change = (map: object) => user.post(`/v1/account_settings/${setting.id}`, { metadata: map });
    const early = await change(metadata(0, 11));
    expect((await change(metadata(0, 10))).status).toBe(200);
    const late = await change(metadata(10, 11));
    expect([early.status, late.status]).toEqual([400, 400]);
    expect(early.body.errors[0].message).toContain('must have at most 10 keys');
    expect(late.body.errors[0].message).toContain('must have at most 10 keys; unset some first');
  });
});

describe('the kinds of jobs', () => {
  it('have a function each, and a place that enqueues them', async () => {
    const functions = definedFunctions();
    const enqueued = functions.flatMap(({ body }) => [
      ...[...body.matchAll(/enqueue(?:_at)?\(\s*p_tenant,\s*[\w.]+,\s*'(\w+)'/g)].map((match) => match[1]!),
      ...[...body.matchAll(/(?:when '\w+' then|else) '((?:process|issue)_addresses)'/g)].map((match) => match[1]!),
    ]);
    const rows = await world.sql`
      select proname as name from pg_proc where proname like 'job\_%' and pronamespace = 'public'::regnamespace`;
    // A migration enqueues what it does not do itself.
    const migrations = fs.readdirSync('drizzle').filter((name) => name.endsWith('.sql'));
    for (const name of migrations)
      for (const [, kind] of fs.readFileSync(`drizzle/${name}`, 'utf8').matchAll(/INSERT INTO "job"[^;]*, '(\w+)',/g))
        enqueued.push(kind!);
    const kinds = rows.map((row) => row.name.replace('job_', '') as string);
    // These call an acquirer, which no statement can do.
    expect([...new Set(enqueued)].filter((kind) => !acquirerKinds.includes(kind)).sort()).toEqual(kinds.sort());
  });
});

describe('checkout_now', () => {
  it('has every column of the table, and the time of the tenant', async () => {
    const columns = async (name: string) => {
      const rows = await world.sql`
        select attname as name from pg_attribute where attrelid = ${name}::regclass and attnum > 0
        and not attisdropped`;
      return rows.map((row) => row.name as string).sort();
    };
    expect(await columns('checkout_now')).toEqual(
      [...(await columns(getTableName(checkout))), 'now', 'stored_status'].sort(),
    );
    expect(Object.keys(getTableColumns(checkoutNow))).toContain('now');
  });

  it('can be created again after the table gets another column', async () => {
    const text = fs.readFileSync('drizzle/functions/checkout/checkout.sql', 'utf8');
    const added = text.replace(/ {4}c\.version,\n/, '    c.version,\n    c.note,\n');
    expect(added).not.toBe(text);
    const undone = new Error('undone');
    const change = world.sql.begin(async (sql) => {
      await sql.unsafe('alter table checkout add column note text');
      await sql.unsafe(added);
      expect(await sql`select note, now from checkout_now`).toEqual([]);
      throw undone;
    });
    await expect(change).rejects.toBe(undone);
  });
});

describe('the permission to write', () => {
  const place = { tenantId: 't', livemode: false };

  it("depends on the caller's permission, also in a scope", async () => {
    const caller = { ...payerScope(world.database, place).caller, permission: 'read' } as const;
    const scope = new Scope(caller, world.database);
    await expect(
      scope.write('move_address', address, { requestId: 'req_1' }, { id: 'a', from: [], to: 'x' }),
    ).rejects.toThrow('move_address was called for a caller that may only read');
  });

  it('includes the payer, who creates attempts', () => {
    expect(payerScope(world.database, place).caller.permission).toBe('full');
  });
});

it('the operator creates a checkout with the configured terms', async () => {
  const user = await given.directUser(2);
  const partner = await user.partner();
  const made = await user.post('/v1/receivables', receivableBody({ currency: 'INR', reference_number: 'A1' }));
  const terms = { ...checkoutTermsDefault, seconds: 3_600, feeBasisPoints: 250 };
  const operator = new Operator(world.database, buildGraph(), world.pepper, undefined, terms);
  const row = await operator.account(user.id, false);
  const { checkout: created } = await operator.as<{ checkout: { id: string } }>(row, 'createCheckout', {
    amount: 10_000n,
    currency: 'INR',
    from: { accountId: partner.id },
    paymentMethods: ['cards'],
    receivables: [{ id: made.body.id }],
    redirectUrl: 'https://shop.example/',
  });
  const [stored] = await world.sql`
    select gross_amount::text as gross, expires_at - created as seconds from checkout
    where tenant_id = ${tenantOf(user.id)} and id = ${created.id}`;
  expect(stored).toEqual({ gross: '10250', seconds: '3600' });
});

import { describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { unknownId } from '../support/bodies.js';
import { must, nickname, tenantOf, useWorld } from '../support/world.js';
import { banksIn, depositsOf, money, pendingOf } from './bank-fixture.js';
import { agrees, type Json, mutation, OPERATOR_KEY, operatorIn } from './operator-fixture.js';

const world = useWorld({ worker: false, environment: { OPERATOR_KEY } });
const { receiver, recordNotice, received } = banksIn(world);
const { ask, data } = operatorIn(world);

auditLedger(world);

const fields = `id created livemode tenantId accountId depositId checkoutId amount currency status reason
  failureReason bankReference`;
const succeed = mutation('succeedRefund', 'SucceedRefundInput', `refund { ${fields} }`);
const fail = mutation('failRefund', 'FailRefundInput', `refund { ${fields} }`);

/** A refund of 4.00 of a live deposit of 10.00. */
async function pending() {
  const to = await receiver();
  await recordNotice(received(to));
  const [deposit] = await depositsOf(to.live);
  const made = await must(to.live.post('/v1/refunds', { deposit_id: deposit.id, amount: '4.00' }));
  return { ...to, deposit, made };
}

describe('a live refund', () => {
  it.each([
    ['succeedRefund', succeed, 'SUCCEEDED', { bankReference: ' ARN 1\u00a0' }, '6.00'],
    ['failRefund', fail, 'FAILED', { failureReason: 'Account closed' }, '10.00'],
  ])('waits for the operator until %s ends it, once', async (name, document, status, report, left) => {
    const { live, deposit, made } = await pending();
    // No job ends it by itself.
    const jobs = await world.sql`select kind from job where tenant_id = ${tenantOf(live)} and livemode
      and subject_id = ${made.id}`;
    expect(jobs).toEqual([]);
    expect(await pendingOf(live)).toEqual(money('6.00'));
    const waiting = `query ($tenant: ID) { refunds(status: PENDING, mode: LIVE, tenantId: $tenant) {
      nodes { ${fields} account { id } deposit { id amount } } next } }`;
    const { refunds } = await data(ask(waiting, { tenant: tenantOf(live) }));
    const [{ account, deposit: of_, ...shown }] = refunds.nodes;
    agrees(shown, made);
    expect([refunds.nodes.length, refunds.next, account, of_]).toEqual([
      ...[1, null, { id: live.id }, { id: deposit.id, amount: '10.00' }],
    ]);

    const ended = (await data(ask(document, { input: { id: made.id, ...report } })))[name].refund;

    const said = { bankReference: null, failureReason: null, ...report };
    expect(ended).toEqual({ ...shown, status, ...said, ...(said.bankReference && { bankReference: 'ARN 1' }) });
    expect(await data(ask(`{ refund(id: "${made.id}") { ${fields} } }`))).toEqual({ refund: ended });
    agrees(ended, await must(live.get(`/v1/refunds/${made.id}`)));
    // When it ended: the operator and the account read the time of the posting.
    const [posted] = await world.sql`select created from posting where kind = 'refund_end' and cause = ${made.id}`;
    const at = new Date(Number(posted!.created) * 1000).toISOString().replace('.000', '');
    const times = `{ refund(id: "${made.id}") { endedAt } }`;
    expect(await data(ask(times))).toEqual({ refund: { endedAt: at } });
    const own = await live.graph(`{ refund(id: "${made.id}") { completedAt failedAt } }`);
    expect(own.body.data.refund).toEqual(
      status === 'FAILED' ? { completedAt: null, failedAt: at } : { completedAt: at, failedAt: null },
    );
    expect(await pendingOf(live)).toEqual(money(left));
    for (const again of [succeed, fail]) {
      const { body } = await ask(again, { input: { id: made.id } });
      expect(body.errors.map(({ extensions }: Json) => extensions.error)).toEqual([
        { code: 'status_invalid', message: expect.any(String), metadata: { field_name: 'refund.status' } },
      ]);
    }
    expect((await data(ask(waiting, { tenant: tenantOf(live) }))).refunds.nodes).toEqual([]);
  });

  it('is replayed under its Idempotency-Key, and is in the audit log', async () => {
    const { made } = await pending();
    const key = { 'idempotency-key': nickname() };
    const input = { input: { id: made.id, reason: 'As the bank says' } };
    const [first, again] = [await ask(succeed, input, key), await ask(succeed, input, key)];
    expect([again.body.data, again.headers.get('idempotent-replayed')]).toEqual([first.body.data, 'true']);
    const logged = `{ operatorActions(first: 5, objectId: "${made.id}") { nodes { operation outcome } } }`;
    const { nodes } = (await data(ask(logged))).operatorActions;
    expect(nodes).toContainEqual({ operation: 'succeedRefund', outcome: 'SUCCEEDED' });
  });

  it('ends once under concurrent requests', async () => {
    const { made } = await pending();
    const ends = await Promise.all(
      Array.from({ length: 16 }, (_, i) => ask(i % 2 ? succeed : fail, { input: { id: made.id } })),
    );
    expect(ends.filter(({ body }) => !body.errors)).toHaveLength(1);
  });

  it('is refused for an unknown refund, and for texts that cannot be', async () => {
    const unknown = await ask(succeed, { input: { id: unknownId('refund') } });
    expect([unknown.codes, unknown.fieldNames]).toEqual([['resource_missing'], ['refund.id']]);
    const { made } = await pending();
    for (const [more, code, field] of [
      [{ bankReference: '\u00a0' }, 'parameter_invalid_empty', 'refund.bank_reference'],
      [{ bankReference: 'U'.repeat(256) }, 'parameter_invalid', 'refund.bank_reference'],
      [{ bankReference: 'UTR\u0000' }, 'parameter_invalid', 'refund.bank_reference'],
      [{ failureReason: 'x'.repeat(256) }, 'parameter_invalid', 'refund.failure_reason'],
    ] as const) {
      const { codes, fieldNames } = await ask(fail, { input: { id: made.id, ...more } });
      expect([codes, fieldNames]).toEqual([[code], [field]]);
    }
  });
});

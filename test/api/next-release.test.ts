import { beforeAll, describe, expect, it } from 'vitest';
import { completeDeposit, givenIn, must, payoutAddress, type Speaker, tenantOf, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

/** Rows with values that no function of this release writes, as the next release stores them. */
describe('a value that the next release stores', () => {
  let user: Speaker;
  let stored: { payments: string[]; payout: string; file: string };

  beforeAll(async () => {
    user = await given.directUser(1);
    const tenant = tenantOf(user);
    const payments: string[] = [];
    for (const type of ['refund', 'adjustment']) {
      const deposit = await must(user.post('/v1/deposits', { amount: '10.00', currency: 'USD' }));
      await completeDeposit(user, deposit.id);
      const [row] = await world.sql`
        update payment set type = ${type} where tenant_id = ${tenant} and deposit_id = ${deposit.id} returning id`;
      payments.push(row!.id);
    }
    const address = await payoutAddress(user);
    const payout = `payout_${'1'.repeat(32)}`;
    await world.sql`
      insert into payout (tenant_id, livemode, id, created, account_id, address_id, amount, currency, status,
        payment_id, source_amount, source_currency, rate, context_id, on_root_list)
      values (${tenant}, false, ${payout}, 1790000000, ${user.id}, ${address.id}, 1000, 'USD', 'returned',
        ${payments[0]!}, 1000, 'USD', 1, ${user.id}, true)`;
    const { id: file } = await must(
      user.upload('invoice', Buffer.from('%PDF-1.4\n%evidence\n%%EOF\n'), 'evidence.pdf'),
    );
    await world.sql`update file set purpose = 'dispute_evidence' where tenant_id = ${tenant} and id = ${file}`;
    stored = { payments, payout, file };
  });

  it('is shown by /v1, and filters its lists', async () => {
    const lists = await Promise.all(
      ['payments?type=refund&type=adjustment', 'payouts?status=returned', 'files?purpose=dispute_evidence'].map(
        async (path) => (await must(user.get(`/v1/${path}`))).data,
      ),
    );
    expect(lists.map((list) => list.map((one: any) => one.type ?? one.status ?? one.purpose))).toEqual([
      ['adjustment', 'refund'],
      ['returned'],
      ['dispute_evidence'],
    ]);
    expect(await must(user.get(`/v1/payouts/${stored.payout}`))).toMatchObject({
      status: 'returned',
      expected_arrival: null,
    });
  });

  it('is shown by the graph, by resolvers and by compiled queries', async () => {
    const query = `query ($payout: ID!, $file: ID!) {
      payments(type: [REFUND, ADJUSTMENT]) { nodes { type } }
      payouts(status: [RETURNED]) { nodes { status } }
      payout(id: $payout) { status expectedArrivalAt completedAt }
      files(purpose: [DISPUTE_EVIDENCE]) { nodes { purpose } }
      file(id: $file) { purpose }
    }`;
    const variables = { payout: stored.payout, file: stored.file };
    // A document is compiled from the third time on; a directive prevents it.
    const documents = [query, query, query, query, query.replace('{ purpose }', '{ purpose @include(if: true) }')];
    for (const document of documents) {
      const { body } = await user.graph(document, variables);
      expect([body.errors, body.data]).toEqual([
        undefined,
        {
          payments: { nodes: [{ type: 'ADJUSTMENT' }, { type: 'REFUND' }] },
          payouts: { nodes: [{ status: 'RETURNED' }] },
          payout: { status: 'RETURNED', expectedArrivalAt: null, completedAt: null },
          files: { nodes: [{ purpose: 'DISPUTE_EVIDENCE' }] },
          file: { purpose: 'DISPUTE_EVIDENCE' },
        },
      ]);
    }
  });

  it('is shown to operators', async () => {
    const { nodes } = await world.operator.payouts({ status: 'returned', livemode: false });
    expect(nodes.map(({ id, status }) => [id, status])).toEqual([[stored.payout, 'returned']]);
  });

  it('is counted by status, and not taken from an upload', async () => {
    const { body } = await user.graph(
      '{ viewer { account { statusCounts { payouts { statuses { status count } } } } } }',
    );
    expect(body.data.viewer.account.statusCounts.payouts.statuses.at(-1)).toEqual({ status: 'RETURNED', count: 1 });
    const refused = await user.upload('dispute_evidence', Buffer.from('%PDF-1.4\n%%EOF\n'), 'evidence.pdf');
    expect([refused.status, refused.codes, refused.fieldNames]).toEqual([
      ...[400, ['parameter_invalid'], ['file.purpose']],
    ]);
  });
});

it('the checks that the migration replaced hold for new rows, and did not read all rows that exist', async () => {
  const user = await given.directUser(1);
  const { id } = await must(user.upload('invoice', Buffer.from('%PDF-1.4\n%%EOF\n'), 'invoice.pdf'));
  await expect(world.sql`update file set purpose = 'selfie' where id = ${id}`).rejects.toThrow('file_purpose');
  const checks = await world.sql`
    select conname as name from pg_constraint where contype = 'c' and not convalidated and conname in
    ('payment_type', 'payout_status', 'file_purpose')`;
  expect(checks.length).toBe(3);
});

import { describe, expect, it } from 'vitest';
import { find } from '../../src/operator/find/find.js';
import { trailOf, postingsOf } from '../../src/operator/trail/trail.js';
import { listFailing } from '../../src/operator/webhook/failing.js';
import { must, useWorld } from '../support/world.js';
import { banksIn } from './bank-fixture.js';
import { nodesOf, plannerIn } from './planner.js';

const world = useWorld({ worker: false });
const { askedBy, planOf } = plannerIn(world);
const { receiver, recordNotice, received } = banksIn(world);

/** The indexes of each statement by which the operator finds something. */
const expected: Record<string, readonly string[]> = {
  operator_checkout: ['checkout_by_id'],
  operator_receivable: ['receivable_by_id'],
  operator_request_log: ['request_log_by_id'],
  operator_notices_of_reference: ['bank_notice_by_reference'],
  operator_payouts_of_reference: ['payout_of_reference'],
  operator_clawbacks: ['clawback_by_reference'],
  operator_unexplained_of_reference: ['unexplained_by_reference'],
  operator_bank_lines_of_reference: ['bank_line_reference'],
  operator_addresses_of_number: ['address_of_bank_iban', 'address_of_bank_number'],
  operator_failing_webhooks: ['webhook_endpoint_failing_of_all'],
  'operator_failing_webhooks:after': ['webhook_endpoint_failing_of_all'],
};

describe('what the operator finds', () => {
  it('is found by an index over all tenants each, without a scan or a sort', async () => {
    const { operator } = world;
    const cursor = Buffer.from(JSON.stringify([1, 'tenant', true, 'webhook_1'])).toString('base64url');
    const asked = await askedBy(async () => {
      for (const text of ['checkout_0', 'receivable_0', 'req_0', 'UTR00012345']) await find(operator, text);
      await listFailing(operator, 10);
      await listFailing(operator, 10, cursor);
    });
    for (const [name, indexes] of Object.entries(expected)) {
      const nodes = nodesOf(await planOf(asked.get(name)!.statement));
      const types = nodes.map((node) => node['Node Type']).filter((type) => /Seq Scan|Sort/.test(type));
      const used = new Set(nodes.flatMap((node) => node['Index Name'] ?? []));
      expect([name, types, [...used]]).toEqual([name, [], expect.arrayContaining([...indexes])]);
    }
  });

  it('is looked up by the key of its tenant in a trail', async () => {
    const to = await receiver();
    const { deposit } = await recordNotice(received(to));
    await must(to.live.get('/v1/deposits'));
    const asked = await askedBy(async () => {
      await postingsOf(await trailOf(world.operator, deposit!.id, to.row.tenantId));
    });
    const used = async (name: string) =>
      nodesOf(await planOf(asked.get(name)!.statement)).flatMap((node) => node['Index Name'] ?? []);
    expect(await used('trail_entries')).toEqual(['entry_by_payment']);
    expect(await used('trail_postings')).toEqual(['posting_pkey']);
    expect(await used('trail_contra_entries')).toEqual(['contra_entry_of_posting']);
  });
});

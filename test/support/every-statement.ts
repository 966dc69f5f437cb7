import { expect } from 'vitest';
import { receivableBody } from './bodies.js';
import type { givenIn } from './world.js';

/** Walks every list with every filter and both cursors, every edge, and one write of each kind. */
export async function everyStatement(given: ReturnType<typeof givenIn>): Promise<void> {
  const platform = await given.platform(1);
  const user = await platform.connectedUser();
  const partner = await user.partner();
  const acting = platform.actingFor(user.id);
  for (const speaker of [platform, user, acting]) {
    for (const path of [
      `/v1/accounts?limit=1&starting_after=${user.id}&status=draft&type=user&address=deactivated` +
        '&capability.multicurrency_exports_v1=pending&created.gte=1',
      `/v1/accounts?limit=1&ending_before=${user.id}&created.lt=99999999999`,
      `/v1/accounts/${partner.id}`,
      `/v1/account_settings?account_id=${user.id}&address.partner=true&payouts.enabled=true` +
        '&payouts.reason_code_not_enabled=platform_hold',
      `/v1/addresses?linked_id=${user.id}&category=user_payout&currency=INR&is_reusable=false&status=activated` +
        '&type=wallet&wallet.provider=klarna',
      `/v1/persons?account_id=${user.id}`,
      '/v1/files?purpose=logo',
      `/v1/deposits?account_id=${user.id}&status=completed&created.gte=1`,
    ]) {
      expect([path, (await speaker.get(path)).status]).toEqual([path, 200]);
    }
    const reply = await speaker.graph(`{
      deposits(accountId: "${user.id}") { totalCount nodes { id } }
      accounts(first: 5) {
        totalCount pageInfo { hasNextPage hasPreviousPage }
        nodes {
          owner { id } setting { id } logo { id } idDocument { id } requirements { fieldName }
          partners(first: 2) { totalCount nodes { id owes { asOf } } }
          connectedUsers(last: 2) { nodes { id } }
          addresses(first: 2) { nodes { id account { id } } pageInfo { hasNextPage hasPreviousPage } } persons { nodes {
          id } } files { nodes { id } } apiKeys { nodes { id account { id } } }
        }
      }
    }`);
    expect(reply.body.errors).toBeUndefined();
  }
  const exporter = await given.directUser(2);
  const made = await exporter.post('/v1/receivables', receivable);
  expect(made.status).toBe(200);
  for (const page of ['first: 1', 'last: 1, status: [EXPIRED]']) {
    const reply = await exporter.graph(`{
      checkouts(accountId: "${exporter.id}", ${page}) { totalCount nodes { id } }
      receivables { nodes { checkouts(${page}) { totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage } } } }
    }`);
    expect(reply.body.errors).toBeUndefined();
  }
}

const receivable = receivableBody({ amount: '1.00', currency: 'INR', reference_number: 'A1' });

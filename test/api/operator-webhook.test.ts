import { describe, expect, it } from 'vitest';
import { eventually, must, useWorld } from '../support/world.js';
import { type Json, mutation, OPERATOR_KEY, operatorIn } from './operator-fixture.js';
import { create, partner, webhooksIn } from './webhook-fixture.js';

const world = useWorld({ environment: { OPERATOR_KEY } });
const { ask, data } = operatorIn(world);
const { receiver, settled } = webhooksIn(world);

const query = `query ($first: Int, $after: String) {
  failingWebhookEndpoints(first: $first, after: $after) {
    nodes {
      id livemode tenantId accountId url enabled disabledReason failingSince lastError lastStatus lastTriedAt
      nextAttemptAt account { id } root { id }
    }
    next
  }
}`;
const failing = async (variables: object = {}): Promise<Json> =>
  (await data(ask(query, variables))).failingWebhookEndpoints;

describe('the failing webhooks of all tenants', () => {
  it('are listed with the last error and the next try, until a delivery succeeds', async () => {
    let broken = true;
    const users = [await settled(), await settled(2)];
    const hooks = await Promise.all(
      users.map(() => receiver((_, response) => void response.writeHead(broken ? 503 : 200).end('busy'))),
    );
    const ids: string[] = [];
    for (const [i, user] of users.entries()) {
      ids.push((await must(create(user, { url: hooks[i]!.url }))).id);
      await partner(user);
    }
    // The endpoint and its last attempt are read one after the other: a try that ends between is the last one, already.
    const waits = ({ lastError, lastTriedAt, nextAttemptAt }: Json) =>
      lastError !== null && Date.parse(nextAttemptAt) > Date.parse(lastTriedAt);
    const { nodes } = await eventually(
      () => failing(),
      (page: Json) => page.nodes.length === 2 && page.nodes.every(waits),
    );
    const one = nodes.find(({ id }: Json) => id === ids[0]);
    expect(one).toMatchObject({
      ...{ livemode: false, accountId: users[0]!.id, url: hooks[0]!.url, enabled: true, disabledReason: null },
      ...{ lastStatus: 503, account: { id: users[0]!.id }, root: { id: users[0]!.id } },
    });
    // A failure is recorded after its attempt, perhaps in the next second, and decides when the next one is.
    expect(Date.parse(one.failingSince)).toBeLessThan(Date.parse(one.nextAttemptAt));

    // Page by page, those that have failed the longest first.
    const first = await failing({ first: 1 });
    const second = await failing({ first: 1, after: first.next });
    expect([...first.nodes, ...second.nodes].map(({ id }: Json) => id).toSorted()).toEqual(ids.toSorted());
    expect(second.next).toBeNull();
    expect((await ask(query, { after: 'nothing' })).codes).toEqual(['parameter_invalid']);

    // What its account has disabled fails no more, and neither does what takes its events again.
    await must(users[0]!.post(`/v1/webhook_endpoints/${ids[0]}`, { enabled: false }));
    broken = false;
    await world.sql`update webhook_delivery set next_attempt = 0 where endpoint_id = ${ids[1]!}`;
    await world.sql`update webhook_endpoint set due = 0, claimed_until = null where id = ${ids[1]!}`;
    await eventually(
      () => failing(),
      (page: Json) => page.nodes.length === 0,
    );
  });
});

describe('names in the lists of the operator', () => {
  it('are those of the account and of the root, also in the audit log', async () => {
    const user = await settled();
    const input = { id: user.id, mode: 'LIVE', outcome: 'ACTIVATED' };
    await data(ask(mutation('verifyAccount', 'VerifyAccountInput', 'account { id statusSince }'), { input }));
    const actions = `query ($id: ID!) {
      operatorActions(objectId: $id) { nodes { objectId account { id livemode } root { id } } }
      unknown: operatorActions(operation: "signIn") { nodes { account { id } root { id } } }
    }`;
    const { operatorActions } = await data(ask(actions, { id: user.id }));
    expect(operatorActions.nodes).toEqual([
      { objectId: user.id, account: { id: user.id, livemode: true }, root: { id: user.id } },
    ]);
    const rate = { accountId: user.id, source: 'USD', target: 'INR', rate: '83.25' };
    const { setRate } = await data(
      ask(mutation('setRate', 'SetRateInput', 'rate { rate root { id } }'), { input: rate }),
    );
    expect(setRate.rate.root).toEqual({ id: user.id });
    const { accounts } = await data(ask('{ accounts(mode: LIVE, status: ACTIVATED) { nodes { id statusSince } } }'));
    expect(accounts.nodes[0].statusSince).not.toBeNull();
  });
});

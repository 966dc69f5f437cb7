import { type KeyAccount, type TestGateway, TriggerError } from './gateway.js';
import { newName, type Trader, trades } from './trade.js';

/** What a recipe has: the gateway as the key's account sees it, the account, and the account that trades. */
interface Given {
  gateway: TestGateway;
  account: KeyAccount;
  trader: () => Promise<Trader>;
  /** Makes a webhook endpoint that answers 410; absent where none can be made, such as in a page. */
  goneEndpoint?: ((gateway: TestGateway) => Promise<string>) | undefined;
}

/** Causes an event; returns the id of the object that it is about, or undefined where only the event has it. */
export type Recipe = (given: Given) => Promise<string | undefined>;

/** Why the account of a key cannot follow a recipe; undefined if it can. */
type Obstacle = (account: KeyAccount) => string | undefined;

const withoutCheckouts: Obstacle = ({ edition }) =>
  trades[edition].checkouts ? undefined : 'Checkouts are part of Edition 2. Use a test key of an account of it.';

const withoutTransfers: Obstacle = ({ subType }) =>
  subType === 'AGGREGATOR'
    ? undefined
    : 'Only the users of an aggregator transfer money. Use a test key of such a platform.';

/** A recipe that begins with an account that trades. It asks for the obstacle first, before it makes an object. */
const trading =
  (
    steps: (trader: Trader, given: Given) => Promise<{ id: string } | string | undefined>,
    obstacle: Obstacle = () => undefined,
  ): Recipe =>
  async (given) => {
    const reason = obstacle(given.account);
    if (reason !== undefined) throw new TriggerError(reason);
    const made = await steps(await given.trader(), given);
    return typeof made === 'object' ? made.id : made;
  };

/** A recipe that begins with an account that is no root account, and therefore a draft. */
const drafting =
  (steps: (trader: Trader) => Promise<{ id: string }>): Recipe =>
  async ({ account, trader }) => {
    if (account.type === 'USER')
      throw new TriggerError(
        'Persons change while their account is a draft, and in test mode the account ' +
          'of this key is not. Use a test key of a platform.',
      );
    return (await steps(await trader())).id;
  };

const addresses: Record<string, Recipe> = {
  'address.created': trading(async (t) =>
    t.gateway.post(`/test_helpers/accounts/${(await t.partner()).id}/wallet`, { provider: 'affirm' }),
  ),
  'address.updated': trading(async (t) => {
    const { id } = await t.payoutAddress();
    return t.gateway.post(`/addresses/${id}`, { metadata: { trigger: newName() } });
  }),
  'address.expired': trading(async (t) =>
    t.gateway.post(`/test_helpers/addresses/${await t.receivingAddress()}/expire`),
  ),
  'address.pending_deactivation': trading(async (t) => {
    const payout = await t.payout();
    const { address_id: id } = await t.gateway.get(`/payouts/${payout}`);
    await t.payoutAddress();
    return id as string;
  }),
  'address.deactivated': trading(async (t) =>
    t.gateway.post(`/test_helpers/addresses/${await t.receivingAddress()}/deactivate`),
  ),
};

/** Asks for a change of a new account, and ends the request. */
const changing = (end = '') =>
  trading(async (t) => {
    const asked = { account_id: await t.activated(), business_details: { dba: newName() } };
    const { id } = await t.gateway.post('/change_requests', asked);
    if (end !== '') await t.gateway.post(end.replace(':id', id));
    return id;
  });

const accounts: Record<string, Recipe> = {
  'account.created': trading((t) => t.partner()),
  // The account of a partner changes when its receiving addresses are issued.
  'account.updated': trading((t) => t.verifying()),
  'account.verifying': trading((t) => t.verifying()),
  'account.activated': trading((t) => t.verifying()),
  'account.hold': trading(async (t) => {
    const id = await t.activated();
    return t.gateway.post(`/test_helpers/accounts/${id}/hold`);
  }),
  'account.deactivated': trading(async (t) => {
    const id = await t.activated();
    return t.gateway.post(`/test_helpers/accounts/${id}/deactivate`);
  }),
  'account_setting.updated': async ({ gateway, account }) => {
    const [setting] = await gateway.list(`/account_settings?account_id=${account.id}`);
    return (await gateway.post(`/account_settings/${setting!.id}`, { metadata: { trigger: newName() } })).id;
  },
  'change_request.created': changing(),
  'change_request.accepted': changing('/test_helpers/change_requests/:id/accept'),
  'change_request.declined': changing('/test_helpers/change_requests/:id/decline'),
  'change_request.withdrawn': changing('/change_requests/:id/withdraw'),
  'file.created': async ({ gateway }) => (await gateway.upload('additional_verification')).id,
  'person.created': trading((t) => t.person()),
  'person.updated': drafting(async (t) =>
    t.gateway.post(`/persons/${(await t.person()).id}`, { full_name: newName() }),
  ),
  'person.removed': drafting(async (t) => t.gateway.post(`/persons/${(await t.person()).id}/remove`)),
};

const money: Record<string, Recipe> = {
  'checkout.created': trading((t) => t.checkout(), withoutCheckouts),
  'checkout.updated': trading((t) => t.afterHelper('decline'), withoutCheckouts),
  'checkout.completed': trading((t) => t.afterHelper('pay'), withoutCheckouts),
  'checkout.late_payment': trading(async (t) => {
    const id = await t.afterHelper('expire');
    await t.gateway.post(`/test_helpers/checkouts/${id}/pay`);
    return id;
  }, withoutCheckouts),
  'checkout.cancelled': trading(
    async (t) => t.gateway.post(`/checkouts/${(await t.checkout()).id}/cancel`),
    withoutCheckouts,
  ),
  'checkout.expired': trading((t) => t.afterHelper('expire'), withoutCheckouts),
  'deposit.initialized': trading((t) => t.deposit()),
  'deposit.processing': trading((t) => t.moved('process')),
  'deposit.completed': trading((t) => t.moved('complete')),
  'deposit.failed': trading((t) => t.moved('fail')),
  'deposit.cancelled': trading((t) => t.moved('cancel')),
  'deposit.reversed': trading(async (t) => {
    const { id } = await t.moved('complete');
    return t.gateway.post(`/test_helpers/deposits/${id}/reverse`);
  }),
  'deposit.disputed': trading(async (t) => {
    const { id } = await t.moved('complete');
    await t.gateway.post(`/test_helpers/deposits/${id}/dispute`);
    return id;
  }),
  'deposit.reconciled': trading((t) => t.reconciled()),
  'refund.created': trading((t) => t.refund()),
  'refund.succeeded': trading(async (t) => t.gateway.post(`/test_helpers/refunds/${(await t.refund()).id}/succeed`)),
  'refund.failed': trading(async (t) => t.gateway.post(`/test_helpers/refunds/${(await t.refund()).id}/fail`)),
  'dispute.opened': trading((t) => t.dispute()),
  'dispute.responded': trading((t) => t.dispute('/disputes/:id/respond', { text: 'Delivered' })),
  'dispute.accepted': trading((t) => t.dispute('/disputes/:id/accept')),
  'dispute.won': trading((t) => t.dispute('/test_helpers/disputes/:id/win')),
  'dispute.lost': trading((t) => t.dispute('/test_helpers/disputes/:id/lose')),
  'receivable.created': trading((t) => t.receivable()),
  'receivable.updated': trading(async (t) =>
    t.gateway.post(`/receivables/${(await t.receivable()).id}`, { metadata: { trigger: newName() } }),
  ),
  'receivable.voided': trading(async (t) => t.gateway.post(`/receivables/${(await t.receivable()).id}/void`)),
  'payment.completed': trading(async (t) => {
    await t.reconciled();
    return undefined;
  }, withoutTransfers),
  'payout.processing': trading((t) => t.payout()),
  'payout.completed': trading(async (t) => t.gateway.post(`/test_helpers/payouts/${await t.payout()}/settle`)),
  'payout.returned': trading(async (t) => {
    const id = await t.payout();
    await t.gateway.post(`/test_helpers/payouts/${id}/settle`);
    return t.gateway.post(`/test_helpers/payouts/${id}/return`);
  }),
  'payout.failed': trading(async (t) => t.gateway.post(`/test_helpers/payouts/${await t.payout()}/fail`)),
  // Money that is due without an address to which it could be paid.
  'payout.blocked': trading(async (t) => {
    await t.reconciled();
    for (const { id } of await t.gateway.list(`/addresses?linked_id=${t.id}&category=user_payout&status=activated`))
      await t.gateway.post(`/test_helpers/addresses/${id}/deactivate`);
    await t.nextDay();
    return undefined;
  }),
  'transaction.created': trading((t) => attempt(t, 'pay'), withoutCheckouts),
  // The acquirer of the sandbox never answers this UPI address, so the attempt stays submitted until its time is over.
  'transaction.submitted': trading(async (t) => {
    const { id } = await t.checkout();
    const page = await t.gateway.page(id);
    await t.gateway.form(`${page}/upi`, { attempt: `${crypto.randomUUID()}-upi` });
    const { checkout } = await t.gateway.graph<{ checkout: { transactions: { nodes: { id: string }[] } } }>(
      'query ($id: ID!) { checkout(id: $id) { transactions(first: 1) { nodes { id } } } }',
      { id },
    );
    const attempted = checkout.transactions.nodes[0]!.id;
    await t.gateway.form(`${page}/upi/${attempted}`, { vpa: 'pending@test' });
    return attempted;
  }, withoutCheckouts),
  'transaction.succeeded': trading((t) => attempt(t, 'pay'), withoutCheckouts),
  'transaction.failed': trading((t) => attempt(t, 'decline'), withoutCheckouts),
};

const access: Record<string, Recipe> = {
  'api_key.created': async ({ gateway }) => apiKey(gateway),
  'api_key.rotated': async ({ gateway }) => {
    const id = await apiKey(gateway);
    await gateway.mutate('rotateApiKey', { id, graceSeconds: 0 }, 'apiKey');
    return id;
  },
  'api_key.revoked': async ({ gateway }) => {
    const id = await apiKey(gateway);
    return (await gateway.mutate('revokeApiKey', { id }, 'apiKey')).id;
  },
  'session.created': async ({ gateway }) => session(gateway),
  'session.revoked': async ({ gateway }) => (await gateway.post(`/sessions/${await session(gateway)}/revoke`)).id,
  'clock.advanced': async ({ gateway }) => {
    await gateway.post('/test_helpers/clock', { advance_seconds: 1 });
    return undefined;
  },
  'webhook_endpoint.created': ({ gateway }) => endpoint(gateway),
  'webhook_endpoint.updated': ({ gateway }) => endpoint(gateway, async () => {}),
  'webhook_endpoint.secret_rotated': ({ gateway }) =>
    endpoint(gateway, (id) => gateway.post(`/webhook_endpoints/${id}/rotate_secret`)),
  'webhook_endpoint.tested': ({ gateway }) => endpoint(gateway, (id) => gateway.post(`/webhook_endpoints/${id}/test`)),
  'webhook_endpoint.disabled': async ({ gateway, goneEndpoint }) => {
    if (goneEndpoint) return goneEndpoint(gateway);
    throw new TriggerError(
      'It needs an endpoint that answers 410. The command line has one: tidegate trigger webhook_endpoint.disabled.',
    );
  },
};

const bulk: Record<string, Recipe> = {
  'export.created': async ({ gateway }) => exported(gateway),
  'export.completed': async ({ gateway }) => exported(gateway),
  'import.created': async ({ gateway }) => imported(gateway),
  'import.completed': async ({ gateway }) => imported(gateway),
};

const recipes: Record<string, Recipe> = { ...accounts, ...addresses, ...money, ...access, ...bulk };

const impossible: Readonly<Record<string, string>> = {
  'bank_notice.waiting': 'Only the operator enters the notices of banks, in live mode.',
  'bank_notice.withdrawn': 'Only the operator withdraws the notices of banks, in live mode.',
  'export.failed': 'An export fails when it is too large, or when each process that makes it ends.',
  'import.failed': 'An import fails when each process that runs it ends. Faults of its rows do not fail it.',
  'rate.set': 'Only the operator sets exchange rates.',
  'transaction.mismatched':
    'The acquirer of the sandbox reports each attempt once, as it was ' +
    'submitted. Only an acquirer of live mode can differ.',
};

/** Why a test key cannot cause events of a type; undefined if it can. */
export const reasonAgainst = (type: string): string | undefined =>
  Object.hasOwn(impossible, type) ? impossible[type] : undefined;

/** The recipe of a type; undefined for a type without one. */
export const recipeOf = (type: string): Recipe | undefined =>
  Object.hasOwn(recipes, type) ? recipes[type] : undefined;

/** The attempt that a test helper makes for a new checkout. */
async function attempt(t: Trader, helper: 'pay' | 'decline'): Promise<string | undefined> {
  const id = await t.afterHelper(helper);
  const { effective_transaction: made } = await t.gateway.get(`/checkouts/${id}`);
  return (made as { id: string } | null)?.id;
}

const apiKey = async (gateway: TestGateway) =>
  (await gateway.mutate('createApiKey', { permission: 'READ', expiresInSeconds: 3_600 }, 'apiKey')).id;

const exported = async (gateway: TestGateway) =>
  (await gateway.post('/exports', { list: '/v1/files', format: 'csv' })).id;

/** An import of a row with faults, for trial: it creates nothing. */
async function imported(gateway: TestGateway): Promise<string> {
  const file = await gateway.upload('import', 'nickname\nTrigger\n', 'rows.csv');
  return (await gateway.post('/imports', { kind: 'partners', file_id: file.id, dry_run: true })).id;
}

const session = async (gateway: TestGateway) => (await gateway.post('/sessions', { role: 'read', expires_in: 60 })).id;

/** Makes an endpoint that gets no events, does something with it, and disables it again. */
async function endpoint(gateway: TestGateway, work?: (id: string) => Promise<unknown>): Promise<string> {
  const { id } = await gateway.post('/webhook_endpoints', {
    ...{ url: 'https://example.com/hooks', event_types: ['webhook_endpoint.tested'], description: 'tidegate trigger' },
  });
  await work?.(id);
  await gateway.post(`/webhook_endpoints/${id}`, { enabled: false });
  return id;
}

import { beforeAll, describe, expect, it } from 'vitest';
import { pdf, receivableBody } from '../support/bodies.js';
import { givenIn, type Reply, type Speaker, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

type Json = any;
const problems = ({ status, codes, fieldNames }: Reply) => [
  status,
  ...codes.map((code, i) => `${code} ${fieldNames[i]}`),
];
const done = ({ status, text, body }: Reply): Json => {
  if (status !== 200 || body.errors) throw new Error(text);
  return body;
};

let user: Speaker;
let outsider: Speaker;
let partner: Json;
/** Every deposit, payout and receivable of the user, as /v1 shows them. */
const all: Record<'deposits' | 'payouts' | 'receivables', Json[]> = { deposits: [], payouts: [], receivables: [] };
/** The ids of the receivables that bill the partner. */
const billed = new Set<string>();

beforeAll(async () => {
  [user, outsider] = await Promise.all([given.directUser(1), given.directUser(1)]);
  partner = await user.partner();
  const receivable = (i: number) =>
    receivableBody(
      {
        amount: `${100 * ((i * 5) % 7) + 50}.00`,
        creation_date: '2026-01-01',
        currency: i % 4 === 3 ? 'EUR' : 'USD',
        due_date: `20${26 + (i % 3) * 20}-0${1 + (i % 5)}-15`,
        reference_number: `INV-${i}`,
      },
      { transaction_type: i % 2 ? 'services' : 'goods', ...(i % 3 < 2 && { customer_id: partner.id }) },
    );
  for (let i = 0; i < 12; i++) {
    const made = done(await user.post('/v1/receivables', receivable(i)));
    if (i % 3 < 2) billed.add(made.id);
    if (i % 4 === 1) done(await user.post(`/v1/receivables/${made.id}/void`, {}));
  }
  const tenant = user.id.replace('account_', '');
  await world.sql`
    insert into address (tenant_id, livemode, id, created, category, type, status, currency, name, is_reusable,
    linked_id, context_id, on_root_list)
    select ${tenant}, false, 'address_' || n, 1, 'service_receive', 'bank_account', 'activated', 'USD', 'A', true,
    ${user.id}, ${user.id}, true
    from generate_series(1, 2) n`;
  await world.sql`
    insert into deposit (tenant_id, livemode, id, created, amount, currency, to_account_id, to_address_id,
    payment_method, statement_descriptor, status, payment_id, context_id, on_root_list)
    select ${tenant}, false, 'deposit_' || lpad(n::text, 4, '0'), 1000 + n, (n * 7 % 5) * 1000 + 100, case
    when n % 3 = 0 then 'EUR' else 'USD' end,
      case when n % 4 = 0 then ${partner.id as string} else ${user.id} end, 'address_' || 1 + n % 2, 'domestic_credit',
      '', case when n % 5 = 0 then 'failed' else 'processing' end, 'payment_' || n, ${user.id}, n % 4 > 0
    from generate_series(1, 16) n`;
  await world.sql`
    insert into webhook_endpoint (tenant_id, livemode, id, created, account_id, url, event_types, connected, enabled,
    secret_sealed, context_id, on_root_list)
    values (${tenant}, false, 'webhook_1', 1, ${user.id}, 'https://example.com/', '{*}', false, true, 'sealed',
    ${user.id}, true)`;
  await world.sql`
    insert into webhook_delivery (tenant_id, livemode, id, created, endpoint_id, event_id, event_type, event_number,
    status, queued, context_id, on_root_list)
    select ${tenant}, false, 'delivery_' || n, n, 'webhook_1', 'event_' || n, 'account.updated', n, case
    when n % 3 = 0 then 'failed' else 'succeeded' end, 1, ${user.id}, true
    from generate_series(1, 9) n`;
  await world.sql`
    insert into payout (tenant_id, livemode, id, created, account_id, address_id, amount, currency, status, payment_id,
    source_amount, source_currency, rate, context_id, on_root_list)
    select ${tenant}, false, 'payout_' || lpad(n::text, 4, '0'), 1000 + n, ${user.id}, 'address_1',
      (n * 7 % 5) * 1000 + 100, case when n % 3 = 0 then 'EUR' else 'USD' end,
      case when n % 4 < 2 then 'failed' else 'completed' end, 'payment_' || n, 1, 'USD', 1, ${user.id}, true
    from generate_series(1, 16) n`;
  for (const name of ['deposits', 'payouts', 'receivables'] as const) all[name] = await walk(name, 'limit=10');
});

/** All objects of a list of /v1, page by page. */
async function walk(list: string, search: string): Promise<Json[]> {
  const found: Json[] = [];
  for (let after = ''; ; ) {
    const page = done(await user.get(`/v1/${list}?${search}${after}`));
    found.push(...page.data);
    if (!page.has_next) return found;
    after = `&starting_after=${found.at(-1).id}`;
  }
}

/** The ids of a list through /v1, and through the graph forwards, backwards and compiled; all must be the same. */
async function idsOf(list: string, search: string, args: string): Promise<string[]> {
  const ids = (await walk(list, `limit=3&${search}`)).map(({ id }) => id);
  const field = list.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const nodes = async (page: string) => {
    const { data } = done(
      await user.graph(
        `{ ${field}(${page}, ${args}) { nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor ` +
          'endCursor } } }',
      ),
    );
    return data[field];
  };
  for (let times = 0; times < 4; times++)
    expect((await nodes('first: 100')).nodes.map(({ id }: Json) => id)).toEqual(ids);
  const backwards: string[] = [];
  for (let before = ''; ; ) {
    const page = await nodes(`last: 3${before}`);
    backwards.unshift(...page.nodes.map(({ id }: Json) => id));
    if (!page.pageInfo.hasPreviousPage) break;
    before = `, before: "${page.pageInfo.startCursor}"`;
  }
  expect(backwards).toEqual(ids);
  return ids;
}

type Value = (row: Json) => string | number;
const amount = (row: Json) => Number(row.amount);
const invoiced = (row: Json) => Number(row.invoice.amount);
const due = (row: Json): string => row.invoice.due_date;
const created = (row: Json): number => row.created;
const sortedBy = (rows: Json[], value: Value, way: 'asc' | 'desc') =>
  rows
    .toSorted((a, b) => {
      const [x, y] = [value(a), value(b)];
      const order = x < y || (x === y && a.id < b.id) ? -1 : 1;
      return way === 'asc' ? order : -order;
    })
    .map(({ id }) => id);
const usd = (row: Json) => row.currency === 'USD';
const open = ({ status }: Json) => status === 'open';
const processing = ({ status }: Json) => status === 'processing';

describe('the order of a list', () => {
  it.each([
    ['deposits', 'order_by=created_asc', 'orderBy: CREATED_ASC', () => true, created, 'asc'],
    [
      'deposits',
      'order_by=created_desc&status=processing',
      'orderBy: CREATED_DESC, status: [PROCESSING]',
      processing,
      created,
      'desc',
    ],
    [
      'deposits',
      'currency=USD&status=processing',
      'filter: { currency: ["USD"], status: [PROCESSING] }',
      (row: Json) => usd(row) && processing(row),
      created,
      'desc',
    ],
    [
      'deposits',
      'order_by=amount_desc&currency=USD&status=processing&amount.gte=11.00',
      'orderBy: AMOUNT_DESC, filter: { currency: ["USD"], status: [PROCESSING], amount: { gte: "11.00" } }',
      (row: Json) => usd(row) && processing(row) && amount(row) >= 11,
      amount,
      'desc',
    ],
    ['deposits', 'order_by=amount_desc&currency=USD', 'orderBy: AMOUNT_DESC, currency: ["USD"]', usd, amount, 'desc'],
    [
      'deposits',
      'order_by=amount_asc&currency=EUR',
      'orderBy: AMOUNT_ASC, currency: ["EUR"]',
      (row: Json) => !usd(row),
      amount,
      'asc',
    ],
    [
      'deposits',
      'order_by=amount_asc&currency=USD&amount.gt=1.00&amount.lte=31.00',
      'orderBy: AMOUNT_ASC, currency: ["USD"], amount: { gt: "1.00", lte: "31.00" }',
      (row: Json) => usd(row) && amount(row) > 1 && amount(row) <= 31,
      amount,
      'asc',
    ],
    [
      'deposits',
      'order_by=amount_desc&currency=USD&amount.eq=21.00',
      'orderBy: AMOUNT_DESC, currency: ["USD"], amount: { eq: "21.00" }',
      (row: Json) => usd(row) && amount(row) === 21,
      amount,
      'desc',
    ],
    ['receivables', 'order_by=due_date_asc', 'orderBy: DUE_DATE_ASC', () => true, due, 'asc'],
    [
      'receivables',
      'order_by=due_date_desc&status=open,void',
      'orderBy: DUE_DATE_DESC, status: [OPEN, VOID]',
      () => true,
      due,
      'desc',
    ],
    [
      'receivables',
      'order_by=due_date_desc&status=void',
      'orderBy: DUE_DATE_DESC, status: [VOID]',
      (row: Json) => !open(row),
      due,
      'desc',
    ],
    [
      'receivables',
      'order_by=due_date_asc&due_date.gte=2026-03-01&due_date.lt=2046-04-01',
      'orderBy: DUE_DATE_ASC, dueDate: { gte: "2026-03-01", lt: "2046-04-01" }',
      (row: Json) => due(row) >= '2026-03-01' && due(row) < '2046-04-01',
      due,
      'asc',
    ],
    [
      'receivables',
      'order_by=due_date_asc&overdue=true',
      'orderBy: DUE_DATE_ASC, overdue: true',
      (row: Json) => open(row) && due(row) < '2026-11-01',
      due,
      'asc',
    ],
    [
      'receivables',
      'overdue=true&currency=USD',
      'filter: { overdue: true, currency: ["USD"] }',
      (row: Json) => open(row) && usd(row) && due(row) < '2026-11-01',
      due,
      'asc',
    ],
    [
      'receivables',
      'order_by=due_date_desc&currency=USD&status=open',
      'orderBy: DUE_DATE_DESC, filter: { currency: ["USD"], status: [OPEN] }',
      (row: Json) => open(row) && usd(row),
      due,
      'desc',
    ],
    [
      'receivables',
      'order_by=amount_desc&currency=USD&status=open',
      'orderBy: AMOUNT_DESC, filter: { currency: ["USD"], status: [OPEN] }',
      (row: Json) => open(row) && usd(row),
      invoiced,
      'desc',
    ],
    [
      'receivables',
      'order_by=amount_desc&currency=USD',
      'orderBy: AMOUNT_DESC, currency: ["USD"]',
      usd,
      invoiced,
      'desc',
    ],
    [
      'receivables',
      'order_by=amount_asc&currency=USD&amount.gte=150',
      'orderBy: AMOUNT_ASC, currency: ["USD"], amount: { gte: "150" }',
      (row: Json) => usd(row) && invoiced(row) >= 150,
      invoiced,
      'asc',
    ],
    ['payouts', 'currency=USD', 'filter: { currency: ["USD"] }', usd, created, 'desc'],
    [
      'payouts',
      'currency=USD&status=failed',
      'filter: { currency: ["USD"], status: [FAILED] }',
      (row: Json) => usd(row) && row.status === 'failed',
      created,
      'desc',
    ],
    [
      'payouts',
      'order_by=amount_desc&currency=USD&status=completed&amount.gte=11.00',
      'orderBy: AMOUNT_DESC, filter: { currency: ["USD"], status: [COMPLETED], amount: { gte: "11.00" } }',
      (row: Json) => usd(row) && row.status === 'completed' && amount(row) >= 11,
      amount,
      'desc',
    ],
    [
      'payouts',
      'currency=EUR&created.gte=1004&created.lt=1013',
      'filter: { currency: ["EUR"], created: { gte: "1970-01-01T00:16:44Z", lt: "1970-01-01T00:16:53Z" } }',
      (row: Json) => !usd(row) && created(row) >= 1_004 && created(row) < 1_013,
      created,
      'desc',
    ],
  ] as const)(
    'is the same through both APIs and in both directions: %s?%s',
    async (list, search, args, has, value, way) => {
      const wanted = sortedBy(all[list].filter(has), value, way);
      expect(wanted.length).toBeGreaterThan(1);
      expect(await idsOf(list, search, args)).toEqual(wanted);
    },
  );

  it('is available for edges, alone and with an account as a filter', async () => {
    const own = sortedBy(
      all.deposits.filter((row) => usd(row) && row.to.account_id === user.id),
      amount,
      'desc',
    );
    const args = 'orderBy: AMOUNT_DESC, currency: ["USD"], first: 100';
    const { data } = done(
      await user.graph(`{ account(id: "${user.id}") { depositsIn(${args}) { totalCount nodes { id } } } }`),
    );
    expect(data.account.depositsIn).toEqual({ totalCount: own.length, nodes: own.map((id) => ({ id })) });
    const wanted = sortedBy(all.receivables.filter(usd), invoiced, 'asc');
    expect(
      await idsOf(
        'receivables',
        `order_by=amount_asc&currency=USD&account_id=${user.id}`,
        `orderBy: AMOUNT_ASC, currency: ["USD"], accountId: "${user.id}"`,
      ),
    ).toEqual(wanted);
  });

  it.each([
    ['newest first', 'filter: { currency: ["USD"], status: [OPEN] }', (row: Json) => usd(row) && open(row), 'created'],
    ['overdue', 'filter: { overdue: true }', (row: Json) => open(row) && due(row) < '2026-11-01', 'due'],
    [
      'due',
      'orderBy: DUE_DATE_ASC, filter: { currency: ["USD"], status: [OPEN] }',
      (row: Json) => usd(row) && open(row),
      'due',
    ],
    ['by amount', 'orderBy: AMOUNT_DESC, filter: { currency: ["USD"] }', usd, 'amount'],
    [
      'within a range of due dates',
      'orderBy: DUE_DATE_ASC, filter: { dueDate: { gte: "2026-03-01", lt: "2046-04-01" } }',
      (row: Json) => due(row) >= '2026-03-01' && due(row) < '2046-04-01',
      'due',
    ],
    [
      'within a range of amounts',
      'orderBy: AMOUNT_DESC, filter: { currency: ["USD"], amount: { gte: "150", lt: "650" } }',
      (row: Json) => usd(row) && invoiced(row) >= 150 && invoiced(row) < 650,
      'amount',
    ],
    ['of goods', 'filter: { transactionType: [GOODS] }', (row: Json) => row.transaction_type === 'goods', 'created'],
  ] as const)('of the receivables that bill an account: %s', async (_, args, has, by) => {
    const [value, way] = ({ created: [created, 'desc'], due: [due, 'asc'], amount: [invoiced, 'desc'] } as const)[by];
    const wanted = sortedBy(
      all.receivables.filter((row) => billed.has(row.id) && has(row)),
      value,
      way,
    );
    expect(wanted.length).toBeGreaterThan(1);
    const of = (id: string) =>
      user.graph(`{ account(id: "${id}") { billedReceivables(${args}, first: 100) { totalCount nodes { id } } } }`);
    for (let times = 0; times < 4; times++)
      expect(done(await of(partner.id)).data.account.billedReceivables).toEqual({
        totalCount: wanted.length,
        nodes: wanted.map((id) => ({ id })),
      });
    // It bills nobody else.
    expect(done(await of(user.id)).data.account.billedReceivables.nodes).toEqual([]);
    const filtered = args.replace('filter: {', `filter: { accountId: "${partner.id}",`);
    const named = done(await user.graph(`{ receivables(${filtered}, first: 100) { totalCount nodes { id } } }`));
    expect(named.data.receivables).toEqual({ totalCount: wanted.length, nodes: wanted.map((id) => ({ id })) });
  });

  it('orders by creation for every list', async () => {
    const newest = (await walk('webhook_deliveries', 'limit=4')).map(({ id }) => id);
    expect(newest).toHaveLength(9);
    expect(await idsOf('webhook_deliveries', 'order_by=created_asc', 'orderBy: CREATED_ASC')).toEqual(
      newest.toReversed(),
    );
    const events = (await walk('events', 'limit=10')).map(({ id }) => id);
    expect((await walk('events', 'limit=10&order_by=created_asc')).map(({ id }) => id)).toEqual(events.toReversed());
  });
});

describe('a filter', () => {
  it('finds deliveries by their status, of all endpoints and of one', async () => {
    const failed = ['delivery_9', 'delivery_6', 'delivery_3'];
    expect(await idsOf('webhook_deliveries', 'status=failed', 'status: [FAILED]')).toEqual(failed);
    const one = ['status=failed&endpoint_id=webhook_1', 'status: [FAILED], endpointId: "webhook_1"'] as const;
    expect(await idsOf('webhook_deliveries', ...one)).toEqual(failed);
    const { data } = done(
      await user.graph('{ webhookEndpoint(id: "webhook_1") { deliveries(status: [FAILED]) { nodes { id } } } }'),
    );
    expect(data.webhookEndpoint.deliveries.nodes.map(({ id }: Json) => id)).toEqual(failed);
  });

  it('finds the deposits that came in to an address, and none for another tenant', async () => {
    const wanted = all.deposits.filter(({ to }) => to.address_id === 'address_2').map(({ id }) => id);
    expect(wanted.length).toBeGreaterThan(4);
    expect(await idsOf('deposits', 'address_id=address_2', 'addressId: "address_2"')).toEqual(wanted);
    expect(done(await outsider.get('/v1/deposits?address_id=address_2')).data).toEqual([]);
  });
});

const amounts = 'order_by=amount_desc&currency=USD';
describe('a list that no index serves is refused, and says what to use', () => {
  it.each([
    [
      'deposits?amount.gte=5',
      'amount',
      'amount needs order_by=amount_desc or amount_asc, because only that order has its ranges.',
    ],
    [
      'deposits?order_by=amount_desc',
      'currency',
      'currency must have one value with order_by amount, since amounts of several currencies have no common order.',
    ],
    [
      'deposits?order_by=amount_desc&currency=USD,EUR',
      'currency',
      'currency must have one value with order_by amount, since amounts of several currencies have no common order.',
    ],
    [
      `deposits?${amounts}&unreconciled=true`,
      'unreconciled',
      'unreconciled cannot be combined with order_by amount. Leave out one of them.',
    ],
    [
      `deposits?${amounts}&created.gt=5`,
      'created',
      'created cannot be combined with order_by amount. Leave out one of them.',
    ],
    [
      `deposits?${amounts}&account_id=x`,
      'account_id',
      'account_id cannot be combined with order_by amount. Leave out one of them.',
    ],
    [
      'deposits?address_id=x&status=failed',
      'status',
      'status cannot be combined with address_id. Leave out one of them.',
    ],
    [
      'receivables?overdue=true&order_by=created_asc',
      'overdue',
      'overdue needs order_by=due_date_desc or due_date_asc, because only that order has its ranges.',
    ],
    [
      'receivables?order_by=due_date_asc&overdue=false',
      'overdue',
      'overdue must be true. Leave it out for all objects.',
    ],
    [
      'receivables?order_by=due_date_asc&overdue=true&status=open',
      'status',
      'status cannot be combined with overdue. Leave out one of them.',
    ],
    [
      'receivables?order_by=due_date_asc&transaction_type=goods',
      'transaction_type',
      'transaction_type cannot be combined with order_by due_date. Leave out one of them.',
    ],
    [
      'receivables?due_date.lt=2026-01-01',
      'due_date',
      'due_date needs order_by=due_date_desc or due_date_asc, because only that order has its ranges.',
    ],
  ])('%s', async (path, name, message) => {
    const reply = await user.get(`/v1/${path}`);
    const object = path.startsWith('deposits') ? 'deposit' : 'receivable';
    expect(problems(reply)).toEqual([400, `parameter_invalid ${object}.${name}`]);
    expect(reply.body.errors[0].message).toBe(message);
  });

  it('is refused by the graph with the names of the graph', async () => {
    const { body } = await user.graph('{ receivables(orderBy: AMOUNT_ASC, overdue: true) { nodes { id } } }');
    expect(body.errors.map(({ message }: Json) => message)).toEqual([
      expect.stringMatching(/^overdue needs orderBy: DUE_DATE_DESC/),
    ]);
    const edge = await user.graph(
      `{ account(id: "${user.id}") { depositsOut(orderBy: AMOUNT_ASC, currency: ["USD"]) { nodes { id } } } }`,
    );
    expect(edge.body.errors[0]).toMatchObject({
      message: expect.stringContaining('orderBy is not available for this list'),
    });
  });

  it('is refused alone where a list has not the arguments that the order needs', async () => {
    const file = done(await user.upload('identity_document', pdf));
    const { body } = await user.graph(
      `{ file(id: "${file.id}") { usedByAccounts(orderBy: BALANCE_DESC) { nodes { id } } } }`,
    );
    expect(body.errors.map(({ message }: Json) => message)).toEqual([
      'orderBy is not available for this list, except by created.',
    ]);
  });

  it.each([
    'order_by=size_desc',
    'order_by=amount',
    'order_by=',
    'order_by=amount_asc&order_by=amount_desc',
    'amount=5',
    'amount.ge=5',
    'amount.gte=-5',
  ])('has a clear error for a bad value: %s', async (search) => {
    const reply = await user.get(`/v1/deposits?${search}`);
    expect([search, reply.status]).toEqual([search, 400]);
  });

  it('refuses the cursor of an object that the filters exclude, and accepts any other in any order', async () => {
    const [euro] = all.deposits.filter((row) => !usd(row));
    const after = (id: string, more = '') => user.get(`/v1/deposits?${amounts}${more}&starting_after=${id}`);
    expect(problems(await after(euro.id))).toEqual([400, 'parameter_invalid deposit.starting_after']);
    const [greatest] = all.deposits.filter(usd).toSorted((a, b) => (amount(b) > amount(a) ? 1 : -1));
    expect(problems(await after(greatest.id, '&amount.lt=30'))).toEqual([
      400,
      'parameter_invalid deposit.starting_after',
    ]);
    expect(problems(await after('deposit_none'))).toEqual([400, 'parameter_invalid deposit.starting_after']);
    expect(problems(await after(greatest.id))).toEqual([200]);
  });
});

describe('the filter of checkouts by status', () => {
  it('finds what is over and not marked yet among the expired, page by page, for all lists', async () => {
    const platform = await given.platform(2);
    const owner = await platform.connectedUser();
    const { id: payer } = await owner.partner();
    await world.sql`
      insert into checkout (tenant_id, livemode, id, created, expires_at, amount, gross_amount, currency,
      from_account_id, to_account_id, to_address_id, payment_methods,
                            receivable_ids, redirect_url, status, context_id, on_root_list)
      select ${platform.id.replace('account_', '')}, false, 'checkout_' || lpad(n::text, 3, '0'), 1000 + n / 2, case
      when n % 7 < 3 then 2000 else 9999999999 end, 100, 100, 'INR',
        ${payer}, ${owner.id}, 'address_1', '{upi}', '{}', 'https://shop.example/', (array['initialized', 'initialized',
        'expired', 'cancelled', 'completed'])[1 + n % 5], ${owner.id}, true
      from generate_series(1, 60) n`;
    const whole = async (speaker: Speaker, search: string) => {
      const found: Json[] = [];
      for (let after = ''; ; ) {
        const page = done(await speaker.get(`/v1/checkouts?limit=7&${search}${after}`));
        found.push(...page.data.map(({ id, status }: Json) => [id, status]));
        if (!page.has_next) return found;
        after = `&starting_after=${found.at(-1)[0]}`;
      }
    };
    const every = await whole(platform, '');
    expect(every).toHaveLength(60);
    const over = (await world.sql`select id from checkout where status = 'initialized' and expires_at = 2000`).length;
    expect(over).toBeGreaterThan(5);
    const lists = [
      'initialized',
      'expired',
      'cancelled',
      'completed',
      'expired,initialized',
      'completed,expired,expired',
    ];
    for (const status of lists) {
      const expected = every.filter(([, is]) => status.split(',').includes(is));
      for (const speaker of [platform, owner])
        for (const account of ['', `&account_id=${owner.id}`, `&account_id=${payer}`])
          expect([status, account, await whole(speaker, `status=${status}${account}`)]).toEqual([
            ...[status, account, expected],
          ]);
      const wanted = status.toUpperCase();
      const edges = `checkoutsIn(status: [${wanted}], last: 100) { totalCount nodes { id } }`;
      const { data } = done(await owner.graph(`{ account(id: "${owner.id}") { ${edges} } }`));
      expect(data.account.checkoutsIn).toEqual({
        totalCount: expected.length,
        nodes: expected.map(([id]) => ({ id })),
      });
    }
  });
});

import fs from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { partnerBody } from '../support/bodies.js';
import { accountIn } from '../support/onboarding-profile.js';
import { details, givenIn, nickname, payoutAddressBody, type Speaker, useWorld } from '../support/world.js';
import { code, decodersIn, expectErrorObject, sorted } from './decoder-fixture.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const { callers } = decodersIn(world);

describe('the encoding of a query', () => {
  let statuses: Record<string, string[]>;
  beforeAll(async () => {
    const ids = await Promise.all(
      (['draft', 'draft', 'hold', 'verifying'] as const).map((status) => accountIn(callers.user, 'partner', status)),
    );
    statuses = { draft: [ids[0]!, ids[1]!], hold: [ids[2]!], verifying: [ids[3]!] };
  });
  const listed = async (query: string, speaker = callers.user) => {
    const reply = await speaker.get(query);
    expect([reply.status, reply.codes]).toEqual([200, []]);
    return (reply.body.data as { id: string }[]).map(({ id }) => id);
  };

  it.each([
    'status=hold&status=verifying',
    'status[]=hold&status[]=verifying',
    'status%5B%5D=hold&status%5B%5D=verifying',
    'status=hold,verifying',
    'status=hold%2Cverifying',
    'status[]=hold,verifying',
    'status[]=hold&status=verifying',
    'status=verifying&status=hold&status=hold',
    'status[0]=hold&status[1]=verifying',
    'status%5B1%5D=hold&status%5B0%5D=verifying',
    'status[7]=hold&status[3]=verifying&status[0]=hold',
    'status[0]=hold&status[0]=verifying',
    'status[0]=hold&status[]=verifying',
    'status=hold&status[1]=verifying',
    'status[0]=hold,verifying',
    'status.0=hold&status.1=verifying',
  ])('reads both values of an array: %s', async (query) => {
    const found = await listed(`/v1/accounts?${query}`);
    expect(found.sort()).toEqual([...statuses.hold!, ...statuses.verifying!].sort());
  });

  it.each(['status=hold', 'status[]=hold', 'status[0]=hold', 'status[0][]=hold'])(
    'reads one value of an array: %s',
    async (query) => {
      expect(await listed(`/v1/accounts?${query}`)).toEqual(statuses.hold);
    },
  );

  it.each([
    ['created.gte=1&created.lt=2', 'created[gte]=1&created[lt]=2', 'created%5Bgte%5D=1&created%5Blt%5D=2'],
    ['created.gte=1', 'created[gte]=1', 'created%5Bgte%5D=1'],
  ])('accepts a dotted name in brackets too: %s', async (...queries) => {
    const lists = await Promise.all(queries.map((query) => listed(`/v1/accounts?type=user&${query}`)));
    expect(lists).toEqual(queries.map(() => (queries[0].includes('lt') ? [] : [callers.user.id])));
  });

  it('accepts deeper names in brackets, too, for arrays and switches', async () => {
    const second = await given.directUser(2);
    const own = (await listed('/v1/account_settings?address.user=true')).at(0);
    expect(own).toMatch(/^account_setting_/);
    for (const query of ['address[user]=true', 'payouts[reason_code_not_enabled]=account_not_activated'])
      expect(await listed(`/v1/account_settings?${query}`)).toEqual(
        await listed(`/v1/account_settings?${query.replace('[', '.').replace(']', '')}`),
      );
    await world.sql`update address set wallet = '{"provider":"klarna"}' where linked_id = ${callers.user.id}`;
    await world.sql`update address set vpa = '{"id":"a@b","upi":{"onetime":"enabled","recurring":"disabled"}}'
      where linked_id = ${second.id}`;
    const [wallet, vpa] = [await listed('/v1/addresses'), await listed('/v1/addresses', second)];
    for (const query of ['wallet.provider=klarna', 'wallet[provider]=klarna', 'wallet[provider][]=klarna,affirm'])
      expect(await listed(`/v1/addresses?${query}`)).toEqual(wallet);
    for (const query of ['vpa.upi.onetime=enabled', 'vpa[upi][onetime]=enabled', 'vpa.upi[onetime]=enabled'])
      expect(await listed(`/v1/addresses?${query}`, second)).toEqual(vpa);
    expect([wallet.length, vpa.length]).toEqual([1, 1]);
  });

  it.each([
    ['status=hold,gone', 'parameter_invalid account.status'],
    ['status=', 'parameter_invalid_empty account.status'],
    ['status[]=', 'parameter_invalid_empty account.status'],
    ['status=HOLD', 'parameter_invalid account.status'],
    ['status[x]=hold', 'parameter_invalid account.status'],
    ['status[0]=', 'parameter_invalid_empty account.status'],
    ['status[0]=gone', 'parameter_invalid account.status'],
    ['status[0]=hold&status[x]=hold', 'parameter_invalid account.status'],
    ['status[0][x]=hold', 'parameter_invalid account.status'],
    ['status[-1]=hold', 'parameter_invalid account.status'],
    ['created.gte=yesterday', 'parameter_invalid account.created.gte'],
    ['created.gte=1.5', 'parameter_invalid account.created.gte'],
    ['created.gte=-1', 'parameter_invalid account.created.gte'],
    ['created.gte=', 'parameter_invalid_empty account.created.gte'],
    ['created.gte=1&created.gte=2', 'parameter_invalid account.created.gte'],
    ['created.near=1', 'parameter_unknown account.created.near'],
    ['created=1', 'parameter_invalid account.created'],
    ['created.gte=1&created=2', 'parameter_invalid account.created'],
    ['created=2&created.gte=1', 'parameter_invalid account.created'],
    ['colour=red', 'parameter_unknown account.colour'],
    ['__proto__=x', 'parameter_unknown account.__proto__'],
    ['constructor[prototype][x]=y', 'parameter_unknown account.constructor'],
    ['first=1', 'parameter_unknown account.first'],
    ['startingAfter=account_0', 'parameter_unknown account.startingAfter'],
    ['starting_after=', 'parameter_invalid_empty account.starting_after'],
    ['starting_after=account_0&starting_after=account_1', 'parameter_invalid account.starting_after'],
    ['starting_after[x]=account_0', 'parameter_invalid account.starting_after'],
    ['ending_before[]=account_0&ending_before[]=account_1', 'parameter_invalid account.ending_before'],
    ['starting_after=%00', 'parameter_invalid account.starting_after'],
    ['capability.multicurrency_exports_v1=open', 'parameter_invalid account.capability.multicurrency_exports_v1'],
    ['limit[x]=1', 'parameter_invalid account.limit'],
  ])('refuses %s', async (query, problem) => {
    expectErrorObject(await callers.user.get(`/v1/accounts?${query}`), 400, problem);
  });

  it.each([
    ['is_reusable=yes', 'parameter_invalid address.is_reusable'],
    ['is_reusable=true&is_reusable=false', 'parameter_invalid address.is_reusable'],
    ['currency=inr', 'parameter_invalid address.currency'],
    ['linked_id=account_0&linked_id=account_1', 'parameter_invalid address.linked_id'],
    ['linked_id[x]=account_0', 'parameter_invalid address.linked_id'],
    ['wallet=klarna', 'parameter_invalid address.wallet'],
    ['wallet.provider=cash', 'parameter_invalid address.wallet.provider'],
  ])('refuses %s of addresses', async (query, problem) => {
    expectErrorObject(await callers.user.get(`/v1/addresses?${query}`), 400, problem);
  });

  it('refuses a query on an object, and on a post', async () => {
    expectErrorObject(
      await callers.user.get(`/v1/accounts/${callers.user.id}?expand=x`),
      400,
      'parameter_unknown account.expand',
    );
    expectErrorObject(
      await callers.user.get(`/v1/accounts/${callers.user.id}?limit=1`),
      400,
      'parameter_unknown account.limit',
    );
    expectErrorObject(
      await callers.user.post('/v1/accounts?type=partner', partnerBody()),
      400,
      'parameter_unknown account.type',
    );
  });

  it('names all errors of a query in one response', async () => {
    const reply = await callers.user.get(
      '/v1/accounts?limit=11&status=gone&colour=red&created.gte=x&starting_after=&type=partner,nobody',
    );
    expect(sorted(reply)).toEqual([
      400,
      'parameter_invalid account.created.gte',
      'parameter_invalid account.limit',
      'parameter_invalid account.status',
      'parameter_invalid account.type',
      'parameter_invalid_empty account.starting_after',
      'parameter_unknown account.colour',
    ]);
  });
});

describe('a required parameter', () => {
  it('has the complete error of the specification for an empty enum', async () => {
    const reply = await callers.user.post('/v1/accounts', partnerBody({ type: '' }));
    expect([reply.status, reply.body]).toEqual([
      400,
      {
        object: 'error',
        http_status_code: 400,
        errors: [
          {
            code: 'parameter_invalid_empty',
            message: expect.stringMatching(/retry with a valid value/i),
            metadata: { field_name: 'account.type' },
          },
        ],
      },
    ]);
  });

  const set = (body: object, path: string, value: unknown): object => {
    const [name = '', ...rest] = path.split('.');
    const at = body as Record<string, unknown>;
    if (rest.length > 0) return { ...at, [name]: set(at[name] as object, rest.join('.'), value) };
    const { [name]: _, ...others } = at;
    return value === undefined ? others : { ...others, [name]: value };
  };
  const bodies = {
    account: { path: '/v1/accounts', of: () => partnerBody() as object },
    address: { path: '/v1/addresses', of: () => payoutAddressBody(callers.user.id) as object },
    person: {
      path: '/v1/persons',
      of: () => ({
        full_name: 'Asha Rao',
        relationship: { director: true },
        identification: { tax_card_number: 'ABCDE1234F' },
      }),
    },
  };

  it.each<[object: keyof typeof bodies, parameter: string, hash?: 'hash']>([
    ['account', 'type'],
    ['account', 'nickname'],
    ['account', 'business_details', 'hash'],
    ['account', 'business_details.legal_name'],
    ['account', 'business_details.email'],
    ['account', 'business_details.type'],
    ['account', 'business_details.physical_address.country'],
    ['address', 'category'],
    ['address', 'type'],
    ['address', 'currency'],
    ['address', 'linked_id'],
    ['address', 'linked_object'],
    ['address', 'name'],
    ['address', 'bank_account', 'hash'],
    ['address', 'bank_account.number'],
    ['address', 'bank_account.domestic_credit'],
    ['address', 'billing_details', 'hash'],
    ['person', 'full_name'],
    ['person', 'relationship', 'hash'],
  ])('of an %s: %s is missing when absent, and empty when null or ""', async (object, parameter, hash) => {
    const { path, of } = bodies[object];
    const absent = await callers.user.post(path, set(of(), parameter, undefined));
    expectErrorObject(absent, 400, `parameter_missing ${object}.${parameter}`);
    for (const empty of [null, '', ...(hash ? [{}] : [])]) {
      const reply = await callers.user.post(path, set(of(), parameter, empty));
      expectErrorObject(reply, 400, `parameter_invalid_empty ${object}.${parameter}`);
    }
  });

  it('is named with all others if the body is empty, {}, or missing', async () => {
    const missing = ['business_details', 'nickname', 'type'].map((name) => `parameter_missing account.${name}`);
    for (const body of [undefined, '', '{}'])
      expect(sorted(await callers.user.post('/v1/accounts', body))).toEqual([400, ...missing]);
  });

  it('is one of two choices in Edition 2, by the first of them', async () => {
    const second = await given.directUser(2);
    const of = (account: object) => payoutAddressBody(second.id, { bank_account: account });
    const reply = await second.post('/v1/addresses', of({ domestic_debit: '1' }));
    expect(sorted(reply)).toEqual([
      400,
      'parameter_missing address.bank_account.global_wire',
      'parameter_missing address.bank_account.number',
    ]);
    for (const choice of [
      { number: '12341', global_wire: 'HDFCINBB' },
      { iban: 'DE75512108001245126199', bank_name: 'HDFC' },
    ])
      expect((await second.post('/v1/addresses', of(choice))).status).toBe(200);
  });
});

describe('a long list', () => {
  const status = (n: number, of: string) => Array.from({ length: n }, () => of);
  const query = 'query ($m: [DepositStatus!]) { deposits(status: $m) { nodes { id } } }';
  const tooLong = 'status must have at most 1000 members.';

  it('of 1,000 values is accepted, and a longer one is refused by its name, valid or not', async () => {
    const edge = `query ($m: [DepositStatus!]) { viewer { account { depositsIn(status: $m) { nodes { id } } } } }`;
    expect((await callers.user.get(`/v1/deposits?status=${status(1_000, 'failed').join(',')}`)).status).toBe(200);
    expect((await callers.user.graph(query, { m: status(1_000, 'FAILED') })).body.errors).toBeUndefined();
    for (const value of ['failed', 'no']) {
      const reply = await callers.user.get(`/v1/deposits?status=${status(1_001, value).join(',')}`);
      expect([reply.status, reply.body.errors]).toEqual([
        400,
        [{ code: 'parameter_invalid', message: tooLong, metadata: { field_name: 'deposit.status' } }],
      ]);
    }
    for (const [asked, value] of [
      [query, 'FAILED'],
      [query, 'NO'],
      [edge, 'FAILED'],
    ] as const) {
      const reply = await callers.user.graph(asked, { m: status(1_001, value) });
      expect(reply.body.errors.map((e: any) => [e.message, e.extensions.error.metadata])).toEqual([
        [tooLong, { field_name: 'deposit.status' }],
      ]);
    }
    const body = { receivables: Array.from({ length: 1_001 }, () => 5) };
    const posted = await callers.user.post('/v1/deposits/deposit_0/reconcile', body);
    expect(posted.body.errors.map((e: any) => e.message)).toEqual(['receivables must have at most 1000 members.']);
  });
});

describe('an integer of a query', () => {
  it.each(['010', '00', '+5', '1e1', ' 5', '5 ', '5.0', '0x5', '٥', '-1', '11', '0'])(
    'is refused as a limit unless it is as JSON writes it: %s',
    async (limit) => {
      const reply = await callers.user.get(`/v1/accounts?limit=${encodeURIComponent(limit)}`);
      expectErrorObject(reply, 400, 'parameter_invalid account.limit');
      expect(reply.body.errors[0].message).toBe('limit must be a whole number from 1 to 10.');
    },
  );

  it.each(['010', '+5', '1e1', ' 5', '5.0', '-0'])(
    'is refused as a time unless it is as JSON writes it: %s',
    async (time) => {
      expectErrorObject(
        await callers.user.get(`/v1/accounts?created.gte=${encodeURIComponent(time)}`),
        400,
        'parameter_invalid account.created.gte',
      );
    },
  );
});

describe('a country', () => {
  it('is stored and returned in upper case for both cases of its letters, in both APIs', async () => {
    const address = { ...details().physical_address, country: 'in' };
    const made = await callers.user.post(
      '/v1/accounts',
      partnerBody({ business_details: { ...details(), physical_address: address } }),
    );
    expect(made.body.business_details.physical_address.country).toBe('IN');
    const graph = await callers.user.graph(
      'query ($id: ID!) { account(id: $id) { businessDetails { physicalAddress { country } } } }',
      { id: made.body.id },
    );
    expect(graph.body.data.account.businessDetails.physicalAddress.country).toBe('IN');
    const [row] = await world.sql`select business_details -> 'physicalAddress' ->> 'country' as country from account
        where id = ${made.body.id}`;
    expect(row!.country).toBe('IN');
    const created = await callers.user.graph(
      'mutation { createAccount(input: { type: PARTNER, nickname: "Lower", businessDetails: { legalName: "A", ' +
        'email: "a@b.example", type: COMPANY, physicalAddress: { country: "us" } } }) { account { ' +
        'businessDetails { physicalAddress { country } } } } }',
    );
    expect(created.body.data.createAccount.account.businessDetails.physicalAddress.country).toBe('US');
    const lower = { billing_details: { ...details().physical_address, country: 'in' } };
    const paid = await callers.user.post('/v1/addresses', payoutAddressBody(callers.user.id, lower));
    expect([paid.status, paid.body.billing_details?.country]).toEqual([200, 'IN']);
  });

  it('that was stored in lower case before is in upper case after the migration', async () => {
    const { id } = (await callers.user.post('/v1/accounts', partnerBody())).body;
    const [address] = (await callers.user.get('/v1/addresses?category=user_payout')).body.data;
    await world.sql`update account set business_details = jsonb_set(business_details, '{physicalAddress,country}',
      '"in"') where id = ${id}`;
    await world.sql`update address set billing_details = jsonb_set(billing_details, '{country}', '"in"')
      where id = ${address.id}`;
    const statements = fs.readFileSync('drizzle/0007_payout_blocks.sql', 'utf8').match(/^update .*country.*$/gm)!;
    for (const statement of statements) await world.sql.unsafe(statement);
    const stored = await world.sql`
      select business_details #>> '{physicalAddress,country}' as country from account where id = ${id}
      union all select billing_details ->> 'country' from address where id = ${address.id}`;
    expect([statements.length, ...stored.map(({ country }) => country)]).toEqual([2, 'IN', 'IN']);
  });
});

describe('amounts and currencies', () => {
  const volume = 'account.business_details.estimated_monthly_volume';
  const send = (amount: unknown, currency: unknown = 'USD') =>
    callers.user.post('/v1/accounts', {
      ...partnerBody(),
      business_details: { ...details(), estimated_monthly_volume: { amount, currency } },
    });

  it.each<[sent: string, currency: string, stored: string]>([
    ['10', 'USD', '10.00'],
    ['10.50', 'USD', '10.50'],
    ['0', 'USD', '0.00'],
    ['9999999999999.99', 'USD', '9999999999999.99'],
    ['0.05', 'USD', '0.05'],
    ['10', 'JPY', '10.00'],
    ['10.00', 'JPY', '10.00'],
    ['1.00', 'KRW', '1.00'],
  ])('accepts %s %s', async (amount, currency, stored) => {
    const reply = await send(amount, currency);
    expect(reply.status).toBe(200);
    expect(reply.body.business_details.estimated_monthly_volume).toEqual({ amount: stored, currency });
    expect((await callers.user.get(`/v1/accounts/${reply.body.id}`)).body).toEqual(reply.body);
  });

  it.each<[sent: unknown, code?: string]>([
    [10],
    [10.5],
    [0],
    [true],
    [['10.00']],
    ['', 'parameter_invalid_empty'],
    [null, 'parameter_invalid_empty'],
    [{}, 'parameter_invalid_empty'],
    ['10.5'],
    ['10.500'],
    ['10.'],
    ['.50'],
    ['-10.00'],
    ['+10.00'],
    ['1e3'],
    ['1,000.00'],
    ['0x10'],
    [' 10.00'],
    ['10.00\n'],
    ['١٠.٠٠'],
    ['10000000000000.00'],
    ['01.00'],
    ['00'],
    ['00.50'],
    ['NaN'],
    ['Infinity'],
  ])('refuses the amount %j', async (amount, domainError = 'parameter_invalid') => {
    expectErrorObject(await send(amount), 400, `${domainError} ${volume}.amount`);
  });

  it.each(['JPY', 'KRW', 'VND', 'CLP'])('refuses cents of %s, which has none', async (currency) => {
    expectErrorObject(await send('10.50', currency), 400, `parameter_invalid ${volume}.amount`);
    expectErrorObject(await send('10.01', currency), 400, `parameter_invalid ${volume}.amount`);
  });

  it.each(['usd', 'US', 'USDT', 'XYZ', 'DEM', 'XXX', 'XTS', 'BGN', 'HRK', 840, ' USD'])(
    'refuses %j, which is not an active currency',
    async (currency) => {
      expectErrorObject(await send('10.00', currency), 400, `parameter_invalid ${volume}.currency`);
    },
  );

  it('refuses numbers in GraphQL, too, before they lose their cents', async () => {
    const input = (amount: unknown) => ({
      type: 'PARTNER',
      nickname: nickname(),
      businessDetails: {
        legalName: 'Acme',
        email: 'ap@acme.example',
        type: 'COMPANY',
        physicalAddress: { country: 'IN' },
        estimatedMonthlyVolume: { amount, currency: 'USD' },
      },
    });
    const create = 'mutation ($input: CreateAccountInput!) { createAccount(input: $input) { account { id } } }';
    const replies = await Promise.all(
      [10, 10.5, '10.5'].map((amount) => callers.user.graph(create, { input: input(amount) })),
    );
    for (const reply of replies) expect(code(reply)).toEqual([400, `parameter_invalid ${volume}.amount`]);
    const literal = await callers.user.graph(
      'mutation { createAccount(input: { type: PARTNER, nickname: "n", businessDetails: { legalName: "A", ' +
        'email: "a@b.example", type: COMPANY, physicalAddress: { country: "IN" }, estimatedMonthlyVolume: { ' +
        'amount: 10.00, currency: "USD" } } }) { account { id } } }',
    );
    expect(code(literal)).toEqual([400, `parameter_invalid ${volume}.amount`]);
  });
});

describe('a parameter of one edition', () => {
  let second: Speaker;
  let connected: { 1: Speaker; 2: Speaker };
  beforeAll(async () => {
    const other = await given.platform(2);
    [second, connected] = await Promise.all([
      given.directUser(2),
      Promise.all([callers.platform.connectedUser(), other.connectedUser()]).then(([a, b]) => ({ 1: a, 2: b })),
    ]);
  });

  it.each<[edition: 1 | 2, body: object, parameter: string]>([
    [
      1,
      { supporting_documentation: { physical_address_document: 'file_0' } },
      'supporting_documentation.physical_address_document',
    ],
    [
      2,
      { supporting_documentation: { ownership_structure_document: 'file_0' } },
      'supporting_documentation.ownership_structure_document',
    ],
    [2, { tos_acceptance: { ip: '10.0.0.1' } }, 'tos_acceptance'],
    [
      2,
      { business_details: { estimated_monthly_volume: { amount: '1', currency: 'INR' } } },
      'business_details.estimated_monthly_volume',
    ],
  ])('is unknown in Edition %i: %j', async (edition, body, parameter) => {
    const speaker = connected[edition];
    expectErrorObject(
      await speaker.post(`/v1/accounts/${speaker.id}`, body),
      400,
      `parameter_unknown account.${parameter}`,
    );
  });

  it('is unknown in the other also if it is null, and in the settings', async () => {
    const setting = (await second.get('/v1/account_settings')).body.data[0].id;
    for (const payouts of [{ interval: 'weekly' }, null])
      expectErrorObject(
        await second.post(`/v1/account_settings/${setting}`, { payouts }),
        400,
        'parameter_unknown account_setting.payouts',
      );
    expectErrorObject(
      await connected[2].post(`/v1/accounts/${connected[2].id}`, { tos_acceptance: null }),
      400,
      'parameter_unknown account.tos_acceptance',
    );
  });

  it.each<[edition: 1 | 2, query: string, problem: string]>([
    [
      2,
      'accounts?capability.multicurrency_exports_v1=pending',
      'parameter_unknown account.capability.multicurrency_exports_v1',
    ],
    [1, 'addresses?vpa.upi.onetime=enabled', 'parameter_unknown address.vpa.upi.onetime'],
    [1, 'addresses?vpa.upi.recurring=enabled', 'parameter_unknown address.vpa.upi.recurring'],
    [1, 'addresses?type=vpa', 'parameter_invalid address.type'],
    [1, 'addresses?type=wallet,vpa', 'parameter_invalid address.type'],
  ])('is no filter in Edition %i: %s', async (edition, query, problem) => {
    expectErrorObject(await (edition === 1 ? callers.user : second).get(`/v1/${query}`), 400, problem);
  });

  it('is accepted in its own edition', async () => {
    const replies = await Promise.all([
      callers.user.get('/v1/accounts?capability.multicurrency_exports_v1=pending'),
      second.get('/v1/addresses?vpa.upi.onetime=enabled&vpa.upi.recurring=disabled&type=vpa,wallet'),
      connected[1].post(`/v1/accounts/${connected[1].id}`, {
        tos_acceptance: { ip: '10.0.0.1', time: 1_700_000_000, user_agent: 'x' },
      }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(replies[2].body.tos_acceptance).toEqual({ ip: '10.0.0.1', time: 1_700_000_000, user_agent: 'x' });
  });

  it('is shown only in that edition, and parent_account_id and link are always null', async () => {
    const [one, two] = await Promise.all(
      ([1, 2] as const).map(async (n) => (await connected[n].get(`/v1/accounts/${connected[n].id}`)).body),
    );
    expect(Object.keys(one.supporting_documentation)).toEqual(['id_document', 'ownership_structure_document']);
    expect(Object.keys(two.supporting_documentation)).toEqual(['id_document', 'physical_address_document']);
    expect(one.business_details).toHaveProperty('estimated_monthly_volume', null);
    expect(two.business_details).not.toHaveProperty('estimated_monthly_volume');
    expect([one.capability, two.capability]).toEqual([{ multicurrency_exports_v1: 'pending' }, {}]);
    const aggregator = await given.platform(2, { subType: 'aggregator' });
    const own = (await aggregator.get(`/v1/accounts/${aggregator.id}`)).body;
    expect([own.sub_type, own.capability, own.address]).toEqual(['aggregator', null, 'deactivated']);
    for (const { parent_account_id: parent, link } of [one, two, own]) expect([parent, link]).toEqual([null, null]);
  });

  it('has the checkouts of Edition 2: in Edition 1 the path does not exist, for any input', async () => {
    expectErrorObject(await callers.user.post('/v1/checkouts', '{'), 404, 'route_missing ');
    expectErrorObject(await callers.user.post('/v1/checkouts', { amount: '1.00' }), 404, 'route_missing ');
  });
});

describe('an update with no parameters', () => {
  it('returns the object unchanged, and stores nothing', async () => {
    const connected = await callers.platform.connectedUser({ metadata: { a: '1' } });
    const setting = (await connected.get('/v1/account_settings')).body.data[0];
    const address = (await callers.platform.get('/v1/addresses')).body.data[0];
    const objects: [string, object][] = [
      [`/v1/accounts/${connected.id}`, (await connected.get(`/v1/accounts/${connected.id}`)).body],
      [`/v1/account_settings/${setting.id}`, setting],
      [`/v1/addresses/${address.id}`, address],
    ];
    const events = () => world.sql`select count(*)::int as n from event`;
    const [before] = await events();
    for (const [path, object] of objects)
      for (const body of [undefined, '', '{}']) {
        const reply = await callers.platform.post(path, body);
        expect([reply.status, reply.body]).toEqual([200, object]);
      }
    expect((await events())[0]).toEqual(before);
  });
});

describe('a time', () => {
  const last = '5138-11-16T09:46:39Z';
  const range = `must be from 1970-01-01T00:00:00Z to ${last}`;
  const asked = (time: string) =>
    callers.user.graph('query ($gte: DateTime) { accounts(created: { gte: $gte }) { nodes { id } } }', { gte: time });
  const written = (time: string) => callers.user.graph(`{ accounts(created: { gte: "${time}" }) { nodes { id } } }`);

  it.each([
    ['1970-01-01T00:00:00Z', 0],
    ['1970-01-01T05:30:00+05:30', 0],
    [last, 99_999_999_999],
  ])('is the same through both APIs: %s', async (time, seconds) => {
    for (const reply of [await asked(time), await written(time)]) expect(reply.body.errors).toBeUndefined();
    expect((await callers.user.get(`/v1/accounts?created.gte=${seconds}`)).status).toBe(200);
  });

  it.each([
    ['1969-12-31T23:59:59Z', -1],
    ['1970-01-01T00:00:00+05:30', -19_800],
    ['0000-01-01T00:00:00Z', -62_167_219_200],
    ['5138-11-16T09:46:40Z', 100_000_000_000],
    ['9999-12-31T23:59:59Z', 253_402_300_799],
  ])('is refused by both APIs: %s', async (time, seconds) => {
    for (const reply of [await asked(time), await written(time)]) {
      expect(reply.body.data ?? undefined).toBeUndefined();
      expect(reply.text).toContain(range);
    }
    expect(code(await callers.user.get(`/v1/accounts?created.gte=${seconds}`))).toEqual([
      400,
      'parameter_invalid account.created.gte',
    ]);
  });
});

import { accountIn } from '../support/onboarding-profile.js';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildClientSchema, type GraphQLSchema, getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll } from 'vitest';
import { pdf, receivableBody } from '../support/bodies.js';
import {
  completeDeposit,
  details,
  type Edition,
  eventually,
  givenIn,
  loggedRequest,
  nickname,
  partnerRows,
  payoutAddressBody,
  type Speaker,
  type World,
} from '../support/world.js';
import { done } from './equality-shapes.js';

export const pageOrigin = 'https://app.example';

/** Platforms of both editions with rows of every object, and the schema that describes them. */
export function rowsIn(world: World) {
  const given = givenIn(world);
  const served = {} as {
    aggregator: Speaker;
    /** The GraphQL schema as clients see it. */
    schema: GraphQLSchema;
  };
  /** A receiver of webhooks: one path accepts events, one asks to wait for an hour, and one is gone. */
  const receiver = http.createServer((request, response) => {
    if (request.url === '/later') response.writeHead(503, { 'retry-after': '3600' });
    else response.writeHead(request.url === '/gone' ? 410 : 200);
    request.resume().on('end', () => response.end('noted'));
  });
  receiver.keepAliveTimeout = 1;
  const started = new Promise<void>((resume) => receiver.listen(0, '127.0.0.1', resume));
  afterAll(() => new Promise((resume) => receiver.close(resume)));

  /** The endpoint of each account that gets all events, and its import. */
  const endpoints = new Map<Speaker, string>();
  const imports = new Map<Speaker, string>();

  /**
   * Exports with and without filters, and imports with a row that is created, one that is valid, and one with faults.
   */
  async function inBulk(speaker: Speaker): Promise<void> {
    const { id: filtered } = done(
      await speaker.post('/v1/exports', { list: '/v1/files', format: 'jsonl', filters: 'purpose=import' }),
    );
    const { id: whole } = done(await speaker.post('/v1/exports', { list: '/v1/deposits', format: 'csv' }));
    const file = done(await speaker.upload('import', partnerRows(), 'rows.csv')).id;
    const importing = [true, false].map(async (dry) =>
      done(await speaker.post('/v1/imports', { kind: 'partners', file_id: file, dry_run: dry })),
    );
    const made = await Promise.all(importing);
    imports.set(speaker, made[1]!.id);
    const paths = [filtered, whole].map((id) => `/v1/exports/${id}`);
    for (const path of [...paths, ...made.map(({ id }) => `/v1/imports/${id}`)])
      await eventually(
        () => speaker.get(path),
        ({ body }) => body.status === 'completed',
      );
  }

  /** Sessions, and webhook endpoints in each state with deliveries in each state. */
  async function integrated(speaker: Speaker): Promise<void> {
    await started;
    const { port } = receiver.address() as AddressInfo;
    const endpoint = async (path: string, body: object) =>
      done(await speaker.post('/v1/webhook_endpoints', { url: `http://127.0.0.1:${port}${path}`, ...body })).id;
    endpoints.set(speaker, await endpoint('/all', { event_types: ['*'], description: 'Orders & more' }));
    // These get the event of the test alone: there are no events of rates in test mode.
    for (const path of ['/later', '/gone'])
      done(await speaker.post(`/v1/webhook_endpoints/${await endpoint(path, { event_types: ['rate.set'] })}/test`));
    const stopped = await endpoint('/all', { event_types: ['deposit.completed', 'payout.*'] });
    done(await speaker.post(`/v1/webhook_endpoints/${stopped}`, { enabled: false }));
    done(await speaker.post('/v1/sessions', { role: 'operate', allowed_origins: [pageOrigin] }));
    const { id } = done(await speaker.post('/v1/sessions', { role: 'read', expires_in: 60 }));
    done(await speaker.post(`/v1/sessions/${id}/revoke`));
    await inBulk(speaker);
    await loggedRequest(speaker);
    const more = { apiKeyId: 'key_1', sessionId: id, onBehalfOf: 'account_1', codes: ['resource_missing'] };
    await loggedRequest(speaker, { api: 'graphql', operation: 'deposit', outcome: 'refused', ...more });
  }

  /** A platform with every kind of object of /v1, with and without optional values, in one edition. */
  async function furnished(edition: Edition): Promise<Speaker> {
    const platform = await given.platform(edition);
    await integrated(platform);
    const upload = async (purpose: string, fields = {}) =>
      done(await platform.upload(purpose, pdf, 'a b.pdf', fields)).id;
    const [logo, document] = [await upload('logo', { 'metadata[a]': '1' }), await upload('identity_document')];
    const [rich, bare] = await Promise.all([
      platform.connectedUser(),
      platform.connectedUser({ nickname: null, metadata: { a: '1' } }),
    ]);
    done(
      await platform.post(`/v1/accounts/${rich.id}`, {
        nickname: nickname(),
        logo_id: logo,
        metadata: { a: '1', 'camelCase key': 'Ümläut', snake_key: '{"json":true}' },
        business_details: {
          ...details('Rich & Söhne'),
          dba: 'Rich',
          website: 'https://rich.example',
          date_of_incorporation: '2001-02-03',
          type: 'limited_liability_partnership',
          ids: { business: 'b', tax: 't', tax_deduction: 'd', tax_gst: 'g', tax_trade: 'r' },
          merchant_category_code: '5399',
          merchant_size: 'small',
          product_category: 'goods',
          product_description: 'Things',
          ...(edition === 1 && { estimated_monthly_volume: { amount: '1234567.80', currency: 'USD' } }),
        },
        supporting_documentation: {
          id_document: document,
          ...(edition === 1 ? { ownership_structure_document: document } : { physical_address_document: document }),
        },
        ...(edition === 1 && { tos_acceptance: { ip: '10.0.0.1', time: 1_700_000_000, user_agent: 'Mozilla' } }),
      }),
    );
    await Promise.all([platform.partner({ metadata: { a: '1' } }), rich.partner()]);
    for (const more of [{ metadata: { a: '1' }, supporting_documentation: { id_document: document } }, {}])
      done(await platform.post('/v1/addresses', payoutAddressBody(rich.id, more)));
    done(await bare.post('/v1/addresses', payoutAddressBody(bare.id)));
    for (const identification of [
      { tax_card_number: 'ABCDE1234F', tax_card_image: document },
      { passport_image: document, tax_card_number: '12' },
    ])
      done(
        await platform.post('/v1/persons', {
          account_id: rich.id,
          full_name: 'Asha Rao',
          relationship: { owner: true, director: identification.tax_card_number === '12' },
          identification,
          metadata: { a: '1' },
        }),
      );
    const setting = (await platform.get(`/v1/account_settings?account_id=${platform.id}`)).body.data[0].id;
    done(await platform.post(`/v1/account_settings/${setting}`, { metadata: { a: '1' }, address: { partner: false } }));
    const tenant = platform.id.replace('account_', '');
    // The objects that payments and the bank would create: one of each other kind, so that no column is null in all
    // rows.
    const made = [
      { category: 'service_receive', type: 'bank_account', bank_account: { number: '9', last4: '9', type: 'all' } },
      { category: 'partner_payment', type: 'wallet', wallet: { provider: 'paypal_external' }, is_reusable: true },
      {
        category: 'service_checkout',
        type: 'vpa',
        vpa: { id: 'a@b', upi: { onetime: 'enabled', recurring: 'disabled' } },
        status: 'pending_deactivation',
      },
    ];
    for (const [i, row] of made.entries()) {
      const stored: Record<string, unknown> = {
        status: 'expired',
        ...row,
        tenant_id: tenant,
        livemode: false,
        id: `address_${tenant.slice(0, 31)}${i}`,
        created: 1_700_000_000 + i,
        currency: 'EUR',
        linked_id: rich.id,
        context_id: rich.id,
        on_root_list: true,
      };
      await world.sql`insert into address ${world.sql(stored as never)}`;
    }
    for (const [status, address] of [
      ['hold', 'requested'],
      ['activated', 'activated'],
      ['verifying', 'processing'],
      ['deactivated', 'deactivated'],
    ] as const) {
      const other = await accountIn(platform, 'connected user', status);
      await world.sql`update account set address = ${address} where id = ${other}`;
      const columns = { account_activated: status === 'activated', platform_hold: status === 'hold' };
      const weekly = { payouts_interval: 'weekly', payouts_weekly_anchor: 5 };
      const monthly = { payouts_interval: 'monthly', payouts_monthly_anchor: 31, service_hold: true };
      const changed = { ...columns, ...(status === 'hold' ? weekly : status === 'verifying' ? monthly : {}) };
      await world.sql`update account_setting set ${world.sql(changed)} where account_id = ${other}`;
    }
    return platform;
  }

  /** A direct user with money received, paid out, disputed and reversed, and some still in progress. */
  async function traded(edition: Edition): Promise<Speaker> {
    const user = await given.directUser(edition);
    await integrated(user);
    const currency = edition === 1 ? 'USD' : 'INR';
    const partner = (await user.partner()).id;
    done(await user.post('/v1/addresses', payoutAddressBody(user.id)));
    const document = done(await user.upload('invoice', pdf)).id;
    const receivable = async (amount: string, more: object = {}) =>
      done(
        await user.post(
          '/v1/receivables',
          receivableBody({ amount, currency, creation_date: '2026-01-31', document }, more),
        ),
      ).id as string;
    const [open, settled, withdrawn] = await Promise.all([
      receivable('100.00', { description: 'Hulls', metadata: { a: '1' }, amount_maximum_reconcilable: '90.50' }),
      receivable('30.00'),
      receivable('1.00', { transaction_type: 'goods' }),
    ]);
    done(await user.post(`/v1/receivables/${withdrawn}/void`));
    /** A deposit that a helper has moved, unless the sandbox has completed it before: then another one. */
    const deposit = async (amount: string, verb: string, body: object = {}): Promise<string> => {
      const made = await user.post('/v1/deposits', {
        amount,
        currency,
        from: { account_id: partner },
        to: { account_id: user.id },
        payment_method: edition === 1 ? 'domestic_wire' : 'upi',
        statement_descriptor: 'INV 7',
        metadata: { a: '1' },
      });
      const { id } = done(made);
      if (verb === 'complete') return (await completeDeposit(user, id)).id;
      const moved = await user.post(`/v1/test_helpers/deposits/${id}/${verb}`, body);
      return moved.codes[0] === 'status_invalid' ? deposit(amount, verb, body) : done(moved).id;
    };
    const paid = await deposit('80.00', 'complete');
    const counted = [
      { id: settled, amount: '30.00' },
      { id: open, amount: '20.00' },
    ];
    done(await user.post(`/v1/deposits/${paid}/reconcile`, { receivables: counted }));
    done(await user.post('/v1/test_helpers/clock', { advance_seconds: 40 * 24 * 3600 }));
    const payout = await eventually(
      () => user.get('/v1/payouts'),
      (reply) => reply.body.data.length > 0,
    );
    done(await user.post(`/v1/test_helpers/payouts/${payout.body.data[0].id}/settle`));
    done(await user.post(`/v1/test_helpers/deposits/${paid}/dispute`, { amount: '5.00', reason_code: 'duplicate' }));
    const [dispute] = done(await user.get('/v1/disputes')).data;
    done(await user.post(`/v1/disputes/${dispute.id}/respond`, { text: 'Delivered on 3 October' }));
    const changed = { account_id: user.id, business_details: { dba: 'Hulls & Co' }, reason: 'A new name' };
    const { id: request } = done(await user.post('/v1/change_requests', changed));
    done(await user.post(`/v1/test_helpers/change_requests/${request}/decline`, { answer: 'Send a certificate' }));
    await deposit('7.00', 'fail', { reason_code: 'high_risk' });
    const left = await deposit('8.00', 'complete');
    for (const [verb, body] of [
      ['succeed', {}],
      ['fail', { failure_reason: 'Account closed' }],
    ] as const) {
      const asked = { deposit_id: left, amount: '1.50', reason: 'Hulls were late' };
      const { id } = done(await user.post('/v1/refunds', asked));
      done(await user.post(`/v1/test_helpers/refunds/${id}/${verb}`, body));
    }
    if (edition === 2) {
      const methods = [['cards'], ['upi'], ['upi', 'cards'], ['cards', 'upi'], ['cards']];
      for (const [i, verbs] of [[], ['decline'], ['decline', 'pay', 'pay'], ['expire', 'pay'], ['cancel']].entries()) {
        const made = await user.post('/v1/checkouts', {
          ...{ amount: '2.00', currency, from: { account_id: partner }, payment_methods: methods[i] },
          receivables: [{ id: open }, { id: await receivable('5.00') }].slice(i % 2),
          redirect_url: 'https://shop.example/thanks?a=1',
          ...(i > 2 && { metadata: { a: '1', 'camelCase key': 'Ümläut' } }),
        });
        for (const verb of verbs)
          done(
            await user.post(`/v1${verb === 'cancel' ? '' : '/test_helpers'}/checkouts/${done(made).id}/${verb}`, {
              ...(verb === 'decline' && { reason_code: 'insufficient_funds' }),
            }),
          );
      }
    }
    return user;
  }

  /**
   * Waits until nothing is in progress, so that two queries of one object return the same. Only the receiver that asks
   * to wait for an hour gets an event later.
   */
  async function settled(): Promise<void> {
    const idle = (besides: string[]) =>
      eventually(
        () => world.sql`
          select (select count(*) from job where kind not in ${world.sql(besides)})::int as jobs,
                 (select count(*) from event where number is null)::int as events,
                 (select count(*) from webhook_delivery where status = 'pending'
                 and coalesce(next_attempt, 0) < queued + 1800)::int as deliveries`,
        ([left]) => left!.jobs + left!.events + left!.deliveries === 0,
      );
    const later = ['pay_out', 'expire_checkout', 'expire_transaction'];
    await idle([...later, 'settle_payout']);
    for (const trader of [traders[1], traders[2]])
      done(await trader.post('/v1/test_helpers/clock', { advance_seconds: 60 }));
    await idle(later);
    // A use of a key is stored a moment later, and again after a minute, which would be between two queries of the key.
    const users = [platforms[1], platforms[2], traders[1], traders[2], served.aggregator].map(({ id }) => id);
    await eventually(
      () => world.sql`select distinct account_id from api_key
        where account_id in ${world.sql(users)} and last_used_at is not null`,
      (rows) => rows.length === users.length,
    );
    await world.sql`update api_key set last_used_at = last_used_at + 86400 where last_used_at is not null`;
  }

  const platforms = {} as Record<Edition, Speaker>;
  const traders = {} as Record<Edition, Speaker>;

  beforeAll(async () => {
    const user = await given.directUser(1);
    served.schema = buildClientSchema(
      (await user.graph(getIntrospectionQuery({ inputValueDeprecation: true }))).body.data,
    );
    [platforms[1], platforms[2], traders[1], traders[2], served.aggregator] = await Promise.all([
      furnished(1),
      furnished(2),
      traded(1),
      traded(2),
      given.platform(2, { subType: 'aggregator' }),
    ]);
    await integrated(served.aggregator);
    await settled();
  });
  const queryType = (field: string) => served.schema.getQueryType()!.getFields()[field]!.type;
  return { served, endpoints, imports, platforms, traders, queryType };
}

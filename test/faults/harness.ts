import { expect } from 'vitest';
import { compartments, receivableBody } from '../support/bodies.js';
import { assemble, complete } from '../support/onboarding-profile.js';
import { evidence } from '../support/scale.js';
import {
  type Edition,
  givenIn,
  must,
  payoutAddressBody,
  type Reply,
  type Speaker,
  type World,
} from '../support/world.js';
import { Model, type DepositStatus, type Refused, type Share, type Shelf, type Sides } from './model.js';
import { passTime } from '../../src/operator/job/test-clock.js';

export const tenantKinds = [
  'user of Edition 1',
  'platform of Edition 1',
  'user of Edition 2',
  'platform of Edition 2',
  'aggregator',
] as const;
export type TenantKind = (typeof tenantKinds)[number];

/** A destination of a deposit. */
interface Destination {
  account: string;
  /** The address of the platform's fee advance; without one, the deposit goes to the account. */
  address?: string;
}

/** A tenant that trades, with the model that its money is compared to. */
export interface Harness {
  world: World;
  root: Speaker;
  tenant: string;
  model: Model;
  currencies: string[];
  destinations: Destination[];
  /** Accounts that own receivables. */
  users: string[];
  partners: string[];
  /** Connected users whose payouts their platform can stop, with the ids of their account settings. */
  stoppable: { account: string; setting: string }[];
  began: number;
}

export const text = (minor: bigint): string => {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(3, '0');
  return `${minor < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
};

/**
 * Creates a root account with users and partners that can receive money, and with payout addresses in the given
 * currencies.
 */
export async function newHarness(
  world: World,
  kind: TenantKind,
  payoutCurrencies: string[] = ['INR'],
): Promise<Harness> {
  const given = givenIn(world);
  const edition: Edition = kind.endsWith('Edition 1') ? 1 : 2;
  const direct = kind.startsWith('user');
  const aggregator = kind === 'aggregator';
  const root = direct
    ? await given.directUser(edition)
    : await given.platform(edition, aggregator ? { subType: 'aggregator' } : {});
  const tenant = root.id.replace('account_', '');
  const model = new Model();
  const harness: Harness = {
    ...{ world, root, tenant, model, destinations: [], users: [], partners: [], stoppable: [], began: 0 },
    currencies: edition === 1 ? ['USD'] : ['INR', 'USD'],
  };
  const pass = (seconds: number) => passTime(world.operator, { tenantId: tenant }, seconds);
  // Midday: payouts are made at midnight, which is then far away.
  const { now } = await must(root.post('/v1/test_helpers/clock', { advance_seconds: 1 }));
  await pass(86_400 + 43_200 - (now % 86_400));
  harness.began = now;

  const addresses = async (of: string, currencies: string[]) => {
    for (const currency of currencies) await must(root.post('/v1/addresses', payoutAddressBody(of, { currency })));
  };
  const activate = async (id: string) => must(root.post(`/v1/accounts/${id}/activate`));

  if (direct || aggregator || edition === 1) {
    // Edition 1 pays out in rupees only.
    const currencies = edition === 1 ? payoutCurrencies.slice(0, 1).map(() => 'INR') : payoutCurrencies;
    await addresses(root.id, currencies);
    model.holders.set(root.id, {
      ...{ id: root.id, kind: direct ? 'user' : 'platform', payoutCurrencies: currencies },
    });
  }
  if (direct || edition === 1) {
    harness.users.push(root.id);
    harness.destinations.push({ account: root.id });
  }
  const owners = direct ? [root.id] : [];
  for (let n = 0; !direct && n < (aggregator ? 2 : 1); n++) {
    const user = await assemble(root, complete(edition, edition === 1 ? 'individual' : 'company'));
    await activate(user);
    model.holders.set(user, {
      ...{ id: user, kind: 'user', payoutCurrencies: ['INR'], ...(aggregator && { aggregator: root.id }) },
    });
    owners.push(user);
    harness.users.push(user);
    harness.destinations.push({ account: user });
    const { data } = await must(root.get(`/v1/account_settings?account_id=${user}`));
    if (edition === 1) harness.stoppable.push({ account: user, setting: data[0].id });
  }
  for (const owner of direct ? [root.id, root.id] : owners) {
    const { id } = await (direct ? root : root.actingFor(owner)).partner();
    await activate(id);
    model.holders.set(id, { id, kind: 'partner', owner, payoutCurrencies: [] });
    harness.partners.push(id);
    harness.destinations.push({ account: id });
  }
  for (let second = 0; second < 4; second++) await pass(2);
  const advance = await must(root.get('/v1/addresses?category=service_fee_advance'));
  if (!direct && edition === 1) harness.destinations.push({ account: root.id, address: advance.data[0].id });
  return harness;
}

/** An operation of a client, whose result the model predicts. */
export type Act =
  | { do: 'deposit'; to: Destination; currency: string; amount: bigint; payer: string | undefined }
  | { do: 'move'; id: string; verb: 'process' | 'complete' | 'fail' | 'cancel' | 'reverse' }
  | { do: 'dispute' | 'recall'; id: string; amount: bigint | undefined }
  /** `id` is that of the deposit that took the money. */
  | { do: 'end dispute'; id: string; verb: 'accept' | 'win' | 'lose' }
  | {
      do: 'receivable';
      owner: string;
      currency: string;
      invoice: bigint;
      maximum: bigint | undefined;
      reference: string;
    }
  | { do: 'limit'; id: string; maximum: bigint }
  | { do: 'void'; id: string }
  | { do: 'reconcile'; id: string; shares: Share[]; by: string | undefined }
  | { do: 'payout'; id: string; verb: 'settle' | 'fail' | 'return' }
  | { do: 'adjust'; account: string; sides: Sides }
  | { do: 'refund'; id: string; amount: bigint | undefined }
  | { do: 'end refund'; id: string; verb: 'succeed' | 'fail' }
  | { do: 'stop'; account: string; setting: string; held: boolean }
  | { do: 'pass'; seconds: number };

/**
 * A random draw: a kind of operation and four numbers, from which `actOf` chooses according to the state of the model.
 */
export interface Draw {
  kind: Act['do'];
  a: number;
  b: number;
  c: number;
  d: number;
}
export const drawMax = 65_535;
/** A kind that is listed more often is drawn more often. */
export const kinds: readonly Act['do'][] = [
  ...[
    'deposit',
    'deposit',
    'deposit',
    'deposit',
    'move',
    'move',
    'move',
    'move',
    'move',
    'dispute',
    'dispute',
    'recall',
  ],
  ...['receivable', 'receivable', 'receivable', 'limit', 'void', 'reconcile', 'reconcile', 'reconcile', 'reconcile'],
  ...[
    'reconcile',
    'payout',
    'payout',
    'adjust',
    'refund',
    'refund',
    'end refund',
    'end refund',
    'end dispute',
    'end dispute',
    'stop',
    'pass',
    'pass',
  ],
  'pass',
] as Act['do'][];

export const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % list.length];
const one = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;

/** An amount: one cent, small, large, or the largest that the APIs accept. */
function amountOf(n: number, m: number): bigint {
  if (n % 16 === 0) return 9_999_999_999_999n;
  if (n % 16 === 1) return 1n;
  return n % 2 === 0 ? BigInt(m + 1) : BigInt((m % 40) + 1) * 500n;
}

/** All of an amount, a part of it, or one cent more than it. */
export function partOf(amount: bigint, n: number): bigint {
  if (n % 8 < 3) return amount;
  if (n % 8 === 3) return amount + 1n;
  return (amount * BigInt(n % 256)) / 256n;
}

let references = 0;
const viewMax = 250;

/** The objects of a shelf that a draw chooses from: all of them, or `viewMax` consecutive ones when there are more. */
function inView<T>({ listed }: Shelf<T>, n: number): T[] {
  const start = listed.length > viewMax ? n % (listed.length - viewMax + 1) : 0;
  return listed.slice(start, start + viewMax);
}

/** The operation that a draw means in this state; undefined where no object exists yet that it could apply to. */
export function actOf(harness: Harness, model: Model, { kind, a, b, c, d }: Draw): Act | undefined {
  const deposits = inView(model.deposits, a ^ c);
  const receivables = inView(model.receivables, a ^ d);
  if (kind === 'deposit') {
    const to = one(harness.destinations, a);
    const siblings = harness.partners.filter((id) => model.receiver(id) === model.receiver(to.account));
    const payer = d % 3 === 0 && !to.address ? pick(siblings, d) : undefined;
    return { do: 'deposit', to, currency: one(harness.currencies, b), amount: amountOf(c, d), payer };
  }
  if (kind === 'receivable') {
    const invoice = amountOf(b + 2, c);
    const maximum = d % 4 === 0 ? partOf(invoice, d >> 2) : undefined;
    const reference = `INV-${++references}`;
    const [owner, currency] = [one(harness.users, a), one(harness.currencies, b)];
    return { do: 'receivable', owner, currency, invoice, maximum, reference };
  }
  if (kind === 'pass') return { do: 'pass', seconds: a % 2 === 0 ? 86_400 : 61 };
  if (kind === 'stop') {
    const user = pick(harness.stoppable, a);
    return user && { do: 'stop', ...user, held: b % 2 === 0 };
  }
  if (kind === 'adjust') {
    const account = one([...model.holders.keys()], a);
    const currency = one(harness.currencies, b);
    const other = harness.currencies.find((each) => each !== currency);
    const { available } = model.fundsOf(account, currency);
    const taken = partOf(available > 0n ? available : 100n, c);
    const debit = taken > 0n ? { amount: taken, currency } : undefined;
    const credit = { amount: amountOf(d + 2, c), currency: debit ? other : currency };
    const given = credit.currency !== undefined && (d % 2 === 0 || !debit);
    const sides = { ...(debit && { debit }), ...(given && { credit: { ...credit, currency: credit.currency! } }) };
    return { do: 'adjust', account, sides };
  }
  if (kind === 'payout') {
    const all = inView(model.payouts, a ^ c);
    const open = all.filter((payout) => payout.status === 'processing');
    const payout = pick(open.length > 0 && c % 4 > 0 ? open : all, a);
    if (!payout) return undefined;
    if (payout.status === 'completed' && b % 4 > 0) return { do: 'payout', id: payout.id, verb: 'return' };
    return { do: 'payout', id: payout.id, verb: b % 2 === 0 ? 'settle' : 'fail' };
  }
  if (kind === 'end refund') {
    const all = inView(model.refunds, a ^ c);
    const open = all.filter((refund) => refund.status === 'pending');
    const refund = pick(open.length > 0 && c % 8 > 0 ? open : all, a);
    return refund && { do: 'end refund', id: refund.id, verb: b % 4 === 0 ? 'succeed' : 'fail' };
  }
  if (kind === 'end dispute') {
    const all = deposits.filter(({ dispute }) => dispute !== undefined);
    const open = all.filter(({ dispute }) => dispute === 'needs_response');
    const debit = pick(open.length > 0 && c % 8 > 0 ? open : all, a);
    return debit && { do: 'end dispute', id: debit.id, verb: one(['win', 'win', 'win', 'lose', 'accept'] as const, b) };
  }
  if (kind === 'limit' || kind === 'void') {
    const receivable = pick(receivables, a);
    if (!receivable) return undefined;
    if (kind === 'void') return { do: 'void', id: receivable.id };
    const used = receivable.locked + receivable.settled;
    const maximum = b % 2 === 0 ? used + BigInt(c % 3) - 1n : partOf(receivable.invoice, c);
    return { do: 'limit', id: receivable.id, maximum: maximum < 0n ? 0n : maximum };
  }
  // Mostly deposits in a state that allows the operation, so that histories make progress; sometimes any deposit.
  const apt = (wanted: DepositStatus[], rest = false) => {
    const found = deposits.filter((x) => wanted.includes(x.status) && x.amount > 0n && (!rest || x.rest > 0n));
    return pick(found.length > 0 && d % 8 > 0 ? found : deposits, a);
  };
  if (kind === 'move') {
    const verb = one(['complete', 'complete', 'complete', 'process', 'fail', 'cancel', 'reverse'] as const, b);
    const deposit = apt(verb === 'reverse' ? ['completed'] : ['initialized', 'processing']);
    return deposit && { do: 'move', id: deposit.id, verb };
  }
  const deposit = apt(['completed'], kind === 'reconcile');
  if (!deposit) return undefined;
  if (kind === 'dispute' || kind === 'recall' || kind === 'refund') {
    const left = deposit.amount - deposit.disputed - (kind === 'refund' ? deposit.refunded : 0n);
    const amount = c % 4 === 0 ? undefined : partOf(left < 0n ? 0n : left, c >> 2);
    // The APIs refuse a dispute or a refund of zero, which other tests check.
    return { do: kind, id: deposit.id, amount: amount === 0n ? undefined : amount };
  }
  const receiver = model.receiver(deposit.to);
  const fitting = receivables.filter((r) => r.owner === receiver && r.currency === deposit.currency);
  const open = fitting.filter((r) => model.statusOf(r) === 'open');
  const choice = open.length > 0 && d % 8 > 1 ? open : d % 8 === 1 || fitting.length === 0 ? receivables : fitting;
  if (choice.length === 0) return undefined;
  let rest = deposit.rest;
  const shares = Array.from({ length: 1 + (b % 3 === 0 ? 1 + (b % 2) : 0) }, (_, n) => {
    const receivable = one(choice, c + n);
    const able = model.reconcilable(receivable);
    const amount = partOf(rest < able ? rest : able, (c >> (3 * n)) + d);
    rest -= amount < rest ? amount : rest;
    return { receivable: receivable.id, amount };
  });
  // A client that acts for one user cannot see another user's receivable: only the platform can try to reconcile that.
  const own = choice.every((r) => r.owner === receiver);
  return { do: 'reconcile', id: deposit.id, shares, by: own && b % 2 === 0 ? receiver : undefined };
}

/** Sends an operation to the REST API. */
export async function send(harness: Harness, act: Act, speaker = harness.root): Promise<Reply> {
  const { root, world } = harness;
  switch (act.do) {
    case 'deposit':
      return speaker.post('/v1/deposits', {
        ...{ amount: text(act.amount), currency: act.currency },
        to: act.to.address ? { address_id: act.to.address } : { account_id: act.to.account },
        payment_method: root.edition === 1 ? 'domestic_credit' : 'upi',
        ...(act.payer && { from: { account_id: act.payer } }),
      });
    case 'move':
      return speaker.post(`/v1/test_helpers/deposits/${act.id}/${act.verb}`);
    case 'dispute':
    case 'recall':
      return speaker.post(
        `/v1/test_helpers/deposits/${act.id}/${act.do}`,
        act.amount === undefined ? {} : { amount: text(act.amount) },
      );
    case 'receivable':
      return speaker.post(
        '/v1/receivables',
        receivableBody(
          { amount: text(act.invoice), currency: act.currency, reference_number: act.reference },
          {
            account_id: act.owner,
            ...(act.maximum !== undefined && { amount_maximum_reconcilable: text(act.maximum) }),
          },
        ),
      );
    case 'limit':
      return speaker.post(`/v1/receivables/${act.id}`, { amount_maximum_reconcilable: text(act.maximum) });
    case 'void':
      return speaker.post(`/v1/receivables/${act.id}/void`);
    case 'reconcile': {
      const receivables = act.shares.map(({ receivable: id, amount }) => ({ id, amount: text(amount) }));
      const owner = act.by === undefined || act.by === root.id ? speaker : speaker.actingFor(act.by);
      return owner.post(`/v1/deposits/${act.id}/reconcile`, { receivables });
    }
    case 'payout':
      return speaker.post(`/v1/test_helpers/payouts/${act.id}/${act.verb}`);
    case 'adjust': {
      const sides = Object.entries(act.sides).map(([name, { amount, currency }]) => [
        name,
        { amount: text(amount), currency },
      ]);
      return speaker.post('/v1/test_helpers/adjustments', {
        ...{ account_id: act.account, ...Object.fromEntries(sides), reason: 'A correction' },
      });
    }
    case 'refund':
      return speaker.post('/v1/refunds', {
        deposit_id: act.id,
        ...(act.amount !== undefined && { amount: text(act.amount) }),
      });
    case 'end refund':
      return speaker.post(`/v1/test_helpers/refunds/${act.id}/${act.verb}`);
    case 'end dispute': {
      const [row] = await world.sql`select id from dispute where debit_deposit_id = ${act.id}`;
      const path = act.verb === 'accept' ? 'disputes' : 'test_helpers/disputes';
      return speaker.post(`/v1/${path}/${row!.id}/${act.verb}`);
    }
    case 'stop':
      return speaker.post(`/v1/account_settings/${act.setting}`, { payouts: { enabled: !act.held } });
    case 'pass':
      return speaker.post('/v1/test_helpers/clock', { advance_seconds: act.seconds });
  }
}

/**
 * Applies an operation to the model; returns the domain error that it must end with. `id` is that of the created
 * object.
 */
export function enter(model: Model, act: Act, id: string): Refused {
  switch (act.do) {
    case 'deposit':
      model.addDeposit({
        ...{ id, to: act.to.account, currency: act.currency, amount: act.amount },
        feeAdvance: act.to.address !== undefined,
      });
      return undefined;
    case 'move':
      return model.moveDeposit(act.id, act.verb);
    case 'dispute':
    case 'recall': {
      const taken = model.disputable(act.id, act.amount);
      if (typeof taken !== 'bigint') return taken;
      model.take(act.id, taken, id, act.do);
      return undefined;
    }
    case 'receivable': {
      const maximum = act.maximum ?? act.invoice;
      const refused = model.receivableRefused(act.invoice, maximum);
      if (!refused)
        model.addReceivable({ id, owner: act.owner, currency: act.currency, invoice: act.invoice, maximum });
      return refused;
    }
    case 'limit':
      return model.limitReceivable(act.id, act.maximum);
    case 'void':
      return model.voidReceivable(act.id);
    case 'reconcile':
      return model.reconcile(act.id, act.shares);
    case 'payout':
      return model.endPayout(act.id, act.verb);
    case 'adjust':
      return model.adjust(act.account, act.sides);
    case 'refund':
      return model.refund(act.id, act.amount, id);
    case 'end refund':
      return model.endRefund(act.id, act.verb);
    case 'end dispute':
      return model.endDispute(act.id, act.verb);
    case 'stop':
      model.holders.get(act.account)!.held = act.held;
      return undefined;
    case 'pass':
      return undefined;
  }
}

/** The result of a response in the terms of the model. */
export const outcome = (reply: Reply): Refused =>
  reply.status === 200 ? undefined : { status: reply.status, code: reply.codes[0] ?? reply.text };

/** What the response to an operation must show of its object, according to the model. */
export function shown(model: Model, act: Act, id: string): object {
  const object = act.do === 'limit' || act.do === 'void' || act.do === 'payout' ? act.id : id;
  if (act.do === 'limit' || act.do === 'void' || act.do === 'receivable') return receivableShown(model, object);
  if (act.do === 'payout') return payoutShown(model, object);
  if (act.do === 'adjust') return { object: 'adjustment', account_id: act.account };
  if (act.do === 'refund' || act.do === 'end refund') return refundShown(model, id);
  if (act.do === 'end dispute') return disputeShown(model, act.id);
  if (act.do === 'stop' || act.do === 'pass') return {};
  return depositShown(model, act.do === 'move' || act.do === 'reconcile' ? act.id : id);
}

const depositShown = (model: Model, id: string) => {
  const { status, currency, amount } = model.deposits.get(id)!;
  return { id, object: 'deposit', status, currency, amount: text(amount) };
};
const payoutShown = (model: Model, id: string) => {
  const { account, status, currency, amount } = model.payouts.get(id)!;
  return { id, account_id: account, status, currency, amount: text(amount) };
};
const refundShown = (model: Model, id: string) => {
  const { deposit, status, amount, fromPending } = model.refunds.get(id)!;
  return { id, deposit_id: deposit, status, amount: text(amount), from_pending: text(fromPending) };
};
const disputeShown = (model: Model, debitId: string) => {
  const { amount, currency, disputes, dispute } = model.deposits.get(debitId)!;
  return {
    ...{ debit_deposit_id: debitId, deposit_id: disputes, status: dispute, amount: text(-amount), currency },
  };
};
export const receivableShown = (model: Model, id: string) => {
  const r = model.receivables.get(id)!;
  return {
    ...{ id, account_id: r.owner, currency: r.currency, status: model.statusOf(r) },
    ...{ amount_maximum_reconcilable: text(r.maximum), amount_reconcilable: text(model.reconcilable(r)) },
    ...{ amount_locked: text(r.locked), amount_settled_payouts: text(r.settled) },
    deposit_ids_amount_locked: model.lockedDeposits(r),
  };
};

/** Every compartment that is not empty: here from the tables, below from the model. */
export async function fundsHeld(
  { world, tenant }: Pick<Harness, 'world' | 'tenant'>,
  livemode = false,
): Promise<Record<string, string>> {
  const rows = await world.sql`
    select account_id, currency, available, pending, processing, payout_processing, fee_advance
    from balance where tenant_id = ${tenant} and livemode = ${livemode}`;
  return filled(rows.map((row) => [`${row.account_id} ${row.currency}`, row as unknown as Record<string, string>]));
}
export const fundsWanted = ({ funds }: Model): Record<string, string> =>
  filled([...funds].map(([key, held]) => [key, held]));

function filled(rows: [key: string, held: Record<string, bigint | string>][]): Record<string, string> {
  const found = rows.flatMap(([key, held]) =>
    compartments.filter((name) => BigInt(held[name]!) !== 0n).map((name) => [`${key} ${name}`, String(held[name])]),
  );
  return Object.fromEntries(found.toSorted(([a], [b]) => (a! < b! ? -1 : 1)));
}

/** A complete list of /v1, page by page; fails if an object repeats or the order is wrong. */
export async function listed(speaker: Speaker, path: string): Promise<any[]> {
  const all: any[] = [];
  for (let after = ''; ; ) {
    const page = await must(speaker.get(`${path}${path.includes('?') ? '&' : '?'}limit=10${after}`));
    all.push(...page.data);
    if (!page.has_next) break;
    after = `&starting_after=${page.data.at(-1).id}`;
  }
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  const order = (x: any) => `${String(x.created).padStart(12, '0')} ${x.id}`;
  expect(all.map(order)).toEqual(all.map(order).toSorted().reverse());
  return all;
}

/** Compares everything that the APIs show with the model, and checks the invariants of the database's ledger. */
export async function audit(harness: Harness): Promise<void> {
  const { world, root, tenant, model } = harness;
  expect(await world.sql`select rule, what from violations where tenant_id = ${tenant} or tenant_id is null`).toEqual(
    [],
  );
  evidence({ audits: 1 });
  expect(await fundsHeld(harness)).toEqual(fundsWanted(model));
  const byId = (rows: any[]) => rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));

  const whose = (id: string) => id === root.id || model.holders.get(id)!.kind === 'user';
  const actingAccounts = [...model.holders.keys()].filter(whose);
  for (const id of [...model.holders.keys()]) {
    const balance = await must(root.get(`/v1/balance?account_id=${id}`));
    const actual = compartments.flatMap((name) =>
      balance[name].filter((m: any) => m.amount !== '0.00').map((m: any) => [`${name} ${m.currency}`, m.amount]),
    );
    const wanted = compartments.flatMap((name) =>
      harness.currencies
        .concat('JPY', ...(harness.currencies.includes('INR') ? [] : ['INR']))
        .filter((currency) => model.fundsOf(id, currency)[name] !== 0n)
        .map((currency) => [`${name} ${currency}`, text(model.fundsOf(id, currency)[name])]),
    );
    expect(Object.fromEntries(actual)).toEqual(Object.fromEntries(wanted));
  }

  const speakers = new Map(actingAccounts.map((id) => [id, id === root.id ? root : root.actingFor(id)]));
  const joined = async (path: string) => {
    const all = new Map<string, any>();
    for (const speaker of speakers.values()) for (const row of await listed(speaker, path)) all.set(row.id, row);
    return byId([...all.values()]);
  };
  const has = (rows: any[], wanted: object[]) => {
    expect(rows.map((row, n) => Object.fromEntries(Object.keys(wanted[n] ?? row).map((k) => [k, row[k]])))).toEqual(
      wanted,
    );
  };
  has(await joined('/v1/deposits'), byId([...model.deposits.keys()].map((id) => depositShown(model, id))));
  has(await joined('/v1/receivables'), byId([...model.receivables.keys()].map((id) => receivableShown(model, id))));
  has(await joined('/v1/payouts'), byId([...model.payouts.keys()].map((id) => payoutShown(model, id))));
  has(await joined('/v1/refunds'), byId([...model.refunds.keys()].map((id) => refundShown(model, id))));
  const debits = [...model.deposits.values()].filter(({ dispute }) => dispute !== undefined);
  const byDebit = (rows: any[]) => rows.toSorted((a, b) => (a.debit_deposit_id < b.debit_deposit_id ? -1 : 1));
  has(byDebit(await joined('/v1/disputes')), byDebit(debits.map(({ id }) => disputeShown(model, id))));

  for (const [id, speaker] of speakers) {
    // The partners of a platform are its own and those of its users.
    const partners = harness.partners.filter((partner) => id === root.id || model.receiver(partner) === id);
    const sums = new Map<string, bigint>();
    for (const partner of partners)
      for (const currency of harness.currencies)
        sums.set(currency, (sums.get(currency) ?? 0n) + model.fundsOf(partner, currency).pending);
    const { pending } = await must(speaker.get('/v1/balance/aggregate'));
    const actual = pending.filter((m: any) => m.amount !== '0.00').map((m: any) => [m.currency, m.amount]);
    expect(Object.fromEntries(actual)).toEqual(
      Object.fromEntries([...sums].filter(([, sum]) => sum !== 0n).map(([currency, sum]) => [currency, text(sum)])),
    );
  }

  // All balance transactions of one account, and its totals. The page size is a prime, so that the last page is rarely
  // full.
  const account = one([...model.holders.keys()], model.deposits.size);
  await totalsAgree(harness, account);
}

async function totalsAgree({ root, model, began }: Harness, account: string): Promise<void> {
  const sums: Record<string, bigint> = {};
  for (let after: string | null = null; ; ) {
    const { data } = await must(
      root.graph(
        `query ($id: ID!, $after: ID) { account(id: $id) { balanceTransactions(first: 97, after: $after) {
           nodes { amount currency category } pageInfo { hasNextPage endCursor } } } }`,
        { id: account, after },
      ),
    );
    const { nodes, pageInfo } = data.account.balanceTransactions;
    for (const { amount, currency, category } of nodes) {
      const key = `${account} ${currency} ${category.toLowerCase()}`;
      sums[key] = (sums[key] ?? 0n) + BigInt(amount.replace('.', ''));
    }
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  const wanted = Object.entries(fundsWanted(model)).filter(([key]) => key.startsWith(account));
  const filledSums = Object.entries(sums).filter(([, sum]) => sum !== 0n);
  expect(Object.fromEntries(filledSums.map(([key, sum]) => [key, String(sum)]))).toEqual(Object.fromEntries(wanted));

  const day = (seconds: number) => new Date(seconds * 1000).toISOString();
  const { data } = await must(
    root.graph(
      `query ($id: ID!, $from: DateTime!, $to: DateTime!) { account(id: $id) {
         depositTotals(from: $from, to: $to, interval: MONTH) { currency count amount } } }`,
      { id: account, from: day(began - 86_400), to: day(began + 10_000 * 86_400) },
    ),
  );
  const totals: Record<string, [count: number, amount: bigint]> = {};
  for (const { currency, count, amount } of data.account.depositTotals) {
    const [n, sum] = totals[currency] ?? [0, 0n];
    totals[currency] = [n + count, sum + BigInt(amount.replace('.', ''))];
  }
  const expected: typeof totals = {};
  for (const deposit of model.deposits.values()) {
    const disputed = deposit.disputes === undefined ? undefined : model.deposits.get(deposit.disputes);
    if (deposit.to !== account || deposit.status !== 'completed' || disputed?.status === 'reversed') continue;
    const [n, sum] = expected[deposit.currency] ?? [0, 0n];
    expected[deposit.currency] = [n + 1, sum + deposit.amount];
  }
  expect(totals).toEqual(expected);
}

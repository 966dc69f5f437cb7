import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { config } from '../../src/config/config.js';
import { acquirersOf } from '../../src/hosted/adapter/client.js';
import type { Report } from '../../src/hosted/adapter/protocol.js';
import { payerScope } from '../../src/hosted/session.js';
import { pollStatus, sendRefunds } from '../../src/hosted/status-poll.js';
import { verifyAccount } from '../../src/operator/account/accounts.js';
import { createOperator } from '../../src/operator/access/operators.js';
import { refund } from '../../src/resources/refund/table.js';
import { transaction } from '../../src/resources/transaction/table.js';
import { fundsHeld, fundsWanted, outcome, partOf, pick, text } from '../faults/harness.js';
import type { Refused } from '../faults/model.js';
import { auditLedger } from '../support/audit.js';
import { receivableBody, unknownId } from '../support/bodies.js';
import { PayeeFixture, payeesIn, upiCode } from '../support/checkout-fixture.js';
import { payOutLive, runAllJobs } from '../support/jobs.js';
import { assemble, complete } from '../support/onboarding-profile.js';
import { scale, seedsOf } from '../support/scale.js';
import { givenIn, must, nickname, payoutAddress, Speaker, tenantOf, useWorld } from '../support/world.js';
import { type Audited, audit } from './acquirer-audit.js';
import { reportsTo, secret, StandIn } from './acquirer-fixture.js';
import { AcquirerModel, type Attempt, type Checkout } from './acquirer-model.js';
import { type Json, mutation, operatorIn } from './operator-fixture.js';

const acquirer = new StandIn();
const feeBasisPoints = 200n;
const environment: Record<string, string> = {
  ACQUIRER_SECRET: secret,
  CHECKOUT_FEE_BASIS_POINTS: String(feeBasisPoints),
};
// Before the gateway starts, which knows it by its settings.
beforeAll(async () => {
  environment.ACQUIRER_URL = await acquirer.start();
});
const world = useWorld({ worker: false, environment });
const payees = payeesIn(world);
const send = reportsTo(world);
afterAll(() => acquirer.stop());
auditLedger(world);

/** The keys of three operators, each with a name. */
let operators: string[];
beforeAll(async () => {
  const named = () => createOperator(world.operator, nickname(), 'operate', 'a test');
  operators = [await named(), await named(), await named()].map(({ key }) => key);
});

/** What an operator's mutation ended with: its code in lower case, or undefined. */
async function told(
  by: number,
  name: string,
  input: object,
  selection: string,
): Promise<{ code?: string; data: Json }> {
  const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`;
  const { body } = await operatorIn(world)
    .at(pick(operators, by)!)
    .ask(mutation(name, type, selection), { input });
  const code = body.errors?.[0].extensions.code.toLowerCase();
  return { ...(code && { code }), data: body.data?.[name] };
}

const codes = {
  ...{ 402: 'amount_exceeds_deposit', 404: 'resource_missing', 409: 'state_conflict' },
  503: 'service_unavailable',
} as const;
const codeOf = (status: 200 | 402 | 404 | 409 | 503) => (status === 200 ? undefined : codes[status]);

const kinds = [
  ...['checkout', 'checkout', 'code', 'pay', 'pay', 'pay', 'pay', 'pay', 'decline', 'work', 'work', 'expire'],
  ...['ask', 'away', 'refund', 'refund', 'refund', 'refund', 'refund', 'end refund', 'end refund', 'end refund'],
  ...['contradict', 'dispute', 'dispute', 'dispute', 'dispute', 'decide', 'decide', 'decide', 'answer', 'unknown'],
  ...['again', 'again', 'again', 'record', 'resolve', 'adjust', 'pay out', 'end payout', 'reconcile', 'reconcile'],
  ...['take at once', 'take at once', 'end by hand', 'end by hand'],
] as const;
type Kind = (typeof kinds)[number];
interface Draw {
  kind: Kind;
  a: number;
  b: number;
  c: number;
}

let references = 0;

const tenantKinds = ['user', 'aggregator'] as const;

/** An account that is paid in live mode, with all that has happened to it. */
class History implements Audited {
  readonly operator = operators[0]!;
  readonly world = world;
  readonly model: AcquirerModel;
  readonly live: Speaker;
  readonly tenant: string;
  readonly checkouts: Checkout[] = [];
  readonly urls = new Map<string, string>();
  /** All reports, to be sent again; `early` has references of disputes that were decided before they were opened. */
  readonly reports: Report[] = [];
  readonly early: string[] = [];
  readonly done: string[] = [];

  private constructor(
    readonly root: Speaker,
    readonly payee: PayeeFixture,
    readonly partnerId: string,
  ) {
    this.live = payee.live;
    this.tenant = tenantOf(root);
    const { id } = this.live;
    this.model = new AcquirerModel(id);
    const { holders } = this.model;
    holders.set(root.id, { id: root.id, kind: id === root.id ? 'user' : 'platform', payoutCurrencies: ['INR'] });
    if (id !== root.id) holders.set(id, { id, kind: 'user', aggregator: root.id, payoutCurrencies: [] });
  }

  static async begin(kind: (typeof tenantKinds)[number]): Promise<History> {
    let payee: PayeeFixture;
    let root: Speaker;
    if (kind === 'user') {
      payee = await payees.open();
      root = payee.live;
    } else {
      root = (await givenIn(world).platformBoth(2, { subType: 'aggregator' })).live;
      await verifyAccount(world.operator, await world.operator.account(root.id, true), 'activated');
      const id = await assemble(root, complete(2));
      await must(root.post(`/v1/accounts/${id}/activate`));
      const user = new Speaker(world, id, root.key, 2, { 'on-behalf-of': id });
      payee = new PayeeFixture(world, user, user, '');
    }
    const partnerId = await payee.goLive();
    await payoutAddress(root);
    return new History(root, payee, partnerId);
  }

  get attempts(): Attempt[] {
    return [...this.model.attempts.values()];
  }

  get paid(): Attempt[] {
    return this.attempts.filter(({ status }) => status === 'succeeded' || status === 'duplicate');
  }

  /** Those that have taken another currency, and so have no deposit. */
  get foreign(): Attempt[] {
    return this.attempts.filter(({ taken }) => taken && taken.currency !== 'INR');
  }

  /** Those of whose deposit refunds and disputes have left something. */
  get withMoney(): Attempt[] {
    return this.paid.filter(({ id }) => (this.model.leftOf(id) ?? 0n) > 0n);
  }

  async deposits(): Promise<Map<string, string>> {
    const rows = await world.sql`select id, deposit_id from transaction
      where tenant_id = ${this.tenant} and livemode and deposit_id is not null`;
    return new Map(rows.map(({ id, deposit_id: deposit }) => [id, deposit]));
  }

  /** Sends a report some times at once. */
  async tell(report: Report, times = 1): Promise<void> {
    this.reports.push(report);
    const answers = await Promise.all(Array.from({ length: times }, () => send(report)));
    const wanted = answers.map(() => this.model.report(report));
    this.done.push(`${times} × ${JSON.stringify(report)} → ${wanted}`);
    expect(answers.map(({ status, body }) => [status, body.errors?.[0].code])).toEqual(
      wanted.map((status) => [status, codeOf(status)]),
    );
  }

  /** Whether it disputes an attempt that has taken nothing. */
  isOfNothing({ type, data }: Report): boolean {
    return (
      type === 'dispute.opened' &&
      ![...this.paid, ...this.foreign].some(({ id }) => id === data.attempt) &&
      this.model.attempts.has(data.attempt)
    );
  }

  async work(): Promise<void> {
    // A midnight that passes pays nothing out: the history says when.
    await world.sql`update job set due = due + 86400 where tenant_id = ${this.tenant} and livemode
      and kind = 'pay_out'`;
    await runAllJobs(this.root, true);
    this.model.work();
  }

  async expire(attempts: readonly Attempt[]): Promise<void> {
    await this.work();
    const ids = attempts.map(({ id }) => id);
    await world.sql`update transaction set expires_at = created where id = any(${ids})`;
    await world.sql`update job set due = 0 where subject_id = any(${ids}) and kind = 'expire_transaction'`;
    for (const attempt of attempts) this.model.expire(attempt);
    await this.work();
  }

  /** The worker asks about attempts and submits refunds, one after the other. Returns how often it got no answer. */
  async ask(): Promise<void> {
    const { database } = world;
    const acquirers = acquirersOf(config({ serves: true }, { PORT: '0', ...environment }));
    const scope = payerScope(database, { tenantId: this.tenant, livemode: true });
    await world.sql`update job set due = 0 where tenant_id = ${this.tenant} and livemode
      and kind in ('inquire_transaction', 'send_refund')`;
    const asked = this.attempts.filter((x) => x.isAsked && ['processing', 'expired'].includes(x.status));
    const due = await database.write(
      ...(['claim_status_polls', this.tenant, true, null, { limit: 50 }, transaction] as const),
    );
    expect(due.map(({ id }) => id).toSorted()).toEqual(asked.map(({ id }) => id).toSorted());
    const args = { limit: 50, duplicates: true, submits: true };
    const refunds = await database.write(...(['claim_refunds', this.tenant, true, null, args, refund] as const));
    const attemptOf = new Map([...(await this.deposits())].map(([attempt, deposit]) => [deposit, attempt]));
    for (const { id, depositId, debitedAccountId } of refunds)
      if (debitedAccountId === null && !this.model.duplicates.has(id))
        this.model.refundDuplicate(attemptOf.get(depositId)!, id);
    const pending = [...this.model.refunds.values(), ...this.model.duplicates.values()].filter(
      ({ status }) => status === 'pending',
    );
    expect(refunds.length).toBe(pending.length);
    let faults = 0;
    const fault = () => void faults++;
    for (const attempt of due) {
      await pollStatus(scope, [attempt], fault, acquirers);
      if (!acquirer.away) this.model.answer(this.model.attempts.get(attempt.id)!, acquirer.attempts.get(attempt.id));
    }
    for (const each of refunds) {
      await sendRefunds(scope, [each], fault, acquirers);
      const state = acquirer.refunds.get(each.id);
      if (!acquirer.away && state)
        this.model.report({ type: 'refund.decided', data: { id: each.id, ...state } } as Report);
    }
    expect(faults).toBe(acquirer.away ? due.length + refunds.length : 0);
    this.done.push(`asked, ${acquirer.away ?? 'there'}: ${due.length} and ${refunds.length}`);
  }

  async compare(): Promise<void> {
    expect(await fundsHeld(this, true)).toEqual(fundsWanted(this.model));
    const rows = await world.sql`select contra || ' ' || currency as key, sum(amount)::text as amount from contra_entry
      where tenant_id = ${this.tenant} and livemode group by 1`;
    const filled = (entries: [string, bigint][]) => Object.fromEntries(entries.filter(([, amount]) => amount !== 0n));
    expect(filled(rows.map(({ key, amount }) => [key, BigInt(amount)]))).toEqual(
      filled(Object.entries(this.model.outside)),
    );
  }
}

/** An amount that a payer may really have paid of what was asked for. */
const takenOf = ({ checkout: { amount, gross } }: Attempt, n: number): bigint =>
  [gross, gross, gross, amount, (amount * BigInt(n % 97)) / 97n + 1n, gross + BigInt(n % 2_000) + 1n][n % 6]!;

const decided = (id: string, said: object) => ({ type: 'attempt.decided', data: { id, ...said } }) as Report;
const decidedRefund = (id: string, status: 'succeeded' | 'failed') =>
  ({ type: 'refund.decided', data: { id, status } }) as Report;
const reasons = ['high_risk', 'general'] as const;

/** The pending refunds, with those of second payments. */
const pendingRefunds = ({ model }: History): string[] =>
  [...model.refunds, ...model.duplicates].flatMap(([id, { status }]) => (status === 'pending' ? [id] : []));

/** What the acquirer decides of a refund, once. */
function decideRefund(id: string, n: number): 'succeeded' | 'failed' {
  const status = n % 2 === 0 ? 'succeeded' : 'failed';
  if (!acquirer.refunds.has(id)) acquirer.refunds.set(id, { status });
  return (acquirer.refunds.get(id) as { status: typeof status }).status;
}

const exceeds = 'amount_exceeds_deposit';

/** What each kind of act does, as far as there is what it is about. */
const acts: Record<Kind, (history: History, draw: Draw) => Promise<void>> = {
  checkout: async (history, { a, b }) => {
    const { model, live, payee, partnerId } = history;
    // Few, so that much happens to each.
    if (history.checkouts.length === 4) return;
    const amount = [100_000n, 4_025n, 133n][a % 3]!;
    const { id, url, receivableIds } = await payee.checkoutFixture({ speaker: live, partnerId, amount: text(amount) });
    const [receivable] = receivableIds as [string];
    const gross = amount + (amount * feeBasisPoints + 5_000n) / 10_000n;
    model.addReceivable({ id: receivable, owner: live.id, currency: 'INR', invoice: amount, maximum: amount });
    history.checkouts.push({ id, amount, gross, receivable, isPaid: false });
    history.urls.set(id, url);
    const code: Draw = { kind: 'code', a: history.checkouts.length - 1, b: 0, c: 0 };
    for (let codes = 0; codes <= b % 3; codes++) await acts.code(history, code);
  },
  code: async ({ checkouts, urls, payee, model, attempts }, { a }) => {
    const checkout = pick(checkouts, a);
    if (!checkout || checkout.isPaid) return;
    const isBeingPaid = ({ status, taken, isOver }: Attempt) => status === 'processing' && taken && !isOver;
    if (attempts.some((each) => each.checkout === checkout && isBeingPaid(each))) return;
    const id = await upiCode(payee, {
      ...checkout,
      url: urls.get(checkout.id)!,
      path: '',
      token: '',
      receivableIds: [],
    });
    model.attempts.set(id, { id, checkout, status: 'processing', isAsked: true, isOver: false });
  },
  pay: async (history, { a, b, c }) => {
    const attempt = pick(history.attempts, a);
    if (!attempt) return;
    const currency = b % 7 === 0 ? 'USD' : 'INR';
    const taken = { status: 'succeeded', amount: text(takenOf(attempt, b)), currency };
    const said = { ...taken, details: { upi: { vpa: 'asha@bank' } } };
    if (!acquirer.attempts.has(attempt.id)) acquirer.attempts.set(attempt.id, said);
    // A report may be lost, and may say something else than before.
    const report = c % 5 === 0 ? said : acquirer.attempts.get(attempt.id)!;
    if (c % 4 > 0) await history.tell(decided(attempt.id, report), 1 + (c % 3));
  },
  decline: async (history, { a, c }) => {
    const attempt = pick(history.attempts, a);
    if (!attempt) return;
    const said = { status: 'failed', reason_code: 'declined' };
    if (!acquirer.attempts.has(attempt.id)) acquirer.attempts.set(attempt.id, said);
    if (c % 4 > 0) await history.tell(decided(attempt.id, said), 1 + (c % 2));
  },
  work: (history) => history.work(),
  expire: async (history, { a }) => {
    const attempt = pick(
      history.attempts.filter(({ isOver }) => !isOver),
      a,
    );
    if (attempt) await history.expire([attempt]);
  },
  ask: (history) => history.ask(),
  away: async (history, { a, b }) => {
    acquirer.away = a % 2 === 0 ? 'refuses' : 'hangs up';
    try {
      await history.ask();
      await history.expire(history.attempts.filter(({ isOver }) => !isOver));
      await history.ask();
    } finally {
      acquirer.away = undefined;
    }
    // Meanwhile it has decided everything that it knows of.
    for (const id of pendingRefunds(history)) decideRefund(id, b++);
    const waiting = history.attempts.flatMap(({ isAsked, id }) => (isAsked && acquirer.attempts.has(id) ? [id] : []));
    await history.ask();
    await history.work();
    // Nothing is asked any more, nor open.
    const open = await world.sql`select subject_id from job where kind = 'inquire_transaction' and subject_id =
      any(${waiting}) union all select id from refund where tenant_id = ${history.tenant} and status = 'pending'`;
    expect(open).toEqual([]);
  },
  refund: async (history, { a, b, c }) => {
    const { model, live } = history;
    const attempt = pick(a % 8 > 0 ? history.withMoney : history.paid, a);
    if (!attempt) return;
    const left = model.leftOf(attempt.id) ?? attempt.taken!.amount;
    const part = [undefined, left + 1n, left / 2n, left / 3n, left / 3n, left / 5n, 7n][b % 7];
    const deposit = (await history.deposits()).get(attempt.id)!;
    const body = { deposit_id: deposit, ...(part !== undefined && { amount: text(part) }) };
    const replies = await Promise.all(Array.from({ length: 1 + (c % 2) }, () => live.post('/v1/refunds', body)));
    const made = replies.filter(({ status }) => status === 200).map(({ body: { id } }) => id as string);
    history.done.push(`refunds ${made} of ${attempt.id}, ${part}`);
    const refund = (id: string): Refused => {
      if (!model.deposits.has(attempt.id)) return { status: 400, code: 'status_invalid' };
      if (part !== undefined && part <= 0n) return { status: 400, code: 'parameter_invalid' };
      return model.refund(attempt.id, part, id);
    };
    for (const id of made.toSorted()) expect(refund(id)).toBeUndefined();
    for (const reply of replies.filter(({ status }) => status !== 200))
      expect(outcome(reply)).toEqual(refund('refused'));
  },
  'end refund': async (history, { a, b, c }) => {
    const id = pick(pendingRefunds(history), a);
    if (!id) return;
    const status = decideRefund(id, b);
    const other = status === 'failed' ? 'succeeded' : 'failed';
    if (c % 4 > 0) await history.tell(decidedRefund(id, status), 1 + (c % 3));
    if (c % 5 === 0) await history.tell(decidedRefund(id, c % 2 ? status : other));
  },
  contradict: async (history, { a, b }) => {
    const { model } = history;
    const id = pick(pendingRefunds(history), a);
    const open = [...model.disputes].filter(([, { status }]) => ['needs_response', 'under_review'].includes(status));
    const [reference, dispute] = pick(open, a) ?? [];
    const reports =
      id !== undefined && (b % 2 === 0 || !dispute)
        ? (['succeeded', 'failed'] as const).map((status) => decidedRefund(id, status))
        : dispute &&
          (['won', 'lost'] as const).map((status): Report => {
            return { type: 'dispute.decided', data: { id: reference!, attempt: dispute.attempt, status } };
          });
    if (!reports) return;
    const answers = await Promise.all(reports.map((report) => send(report)));
    const first = answers[0]!.status === 200 ? 0 : 1;
    history.done.push(`at once ${JSON.stringify(reports)}: ${first} came first`);
    expect([model.report(reports[first]!), model.report(reports[1 - first]!)]).toEqual([200, 409]);
    expect([answers[first]!.status, answers[1 - first]!.status]).toEqual([200, 409]);
    history.reports.push(...reports);
  },
  'end by hand': async (history, { a, b, c }) => {
    const { model, done } = history;
    const id = pick(pendingRefunds(history), a);
    if (!id) return;
    const status = decideRefund(id, b);
    const name = status === 'succeeded' ? 'succeedRefund' : 'failRefund';
    const said = c % 2 === 0 ? status : status === 'failed' ? 'succeeded' : 'failed';
    const reports = [decidedRefund(id, status), decidedRefund(id, said)] as const;
    const [hand, answer] = await Promise.all([
      told(c, name, { id, toldByAcquirer: true }, 'refund { status }'),
      send(reports[1]),
    ]);
    const isFirst = hand.code === undefined;
    done.push(`${name} ${id}, at once ${said}: ${hand.code}, ${answer.status}`);
    if (isFirst) expect(model.report(reports[0])).toBe(200);
    else expect(hand.code).toBe('status_invalid');
    expect(answer.status).toBe(model.report(reports[1]));
    history.reports.push(reports[1]);
  },
  'take at once': async (history, { a, c }) => {
    const { model, live, done, tenant } = history;
    const attempt = pick(history.withMoney, a);
    if (!attempt) return;
    const amount = text(model.leftOf(attempt.id)!);
    const data = { id: `D-${tenant}-${++references}`, attempt: attempt.id, amount, currency: 'INR' };
    const report: Report = { type: 'dispute.opened', data: { ...data, reason_code: reasons[c % 2]! } };
    const depositId = (await history.deposits()).get(attempt.id)!;
    const [reply, answer] = await Promise.all([
      live.post('/v1/refunds', { deposit_id: depositId, amount }),
      send(report),
    ]);
    const refused = outcome(reply);
    done.push(`refund and ${JSON.stringify(report)} at once: ${refused?.code}, ${answer.status}`);
    const wanted = { refund: refused, dispute: answer.status };
    const take = {
      refund: () => model.refund(attempt.id, undefined, reply.body.id),
      dispute: () => model.report(report),
    };
    // Each takes all that is left, so that the second one finds nothing.
    const order = refused?.code === exceeds ? (['dispute', 'refund'] as const) : (['refund', 'dispute'] as const);
    for (const which of order) expect([which, take[which]()]).toEqual([which, wanted[which]]);
    history.reports.push(report);
  },
  dispute: async (history, { a, b, c }) => {
    const { model, early } = history;
    const attempt = (a % 7 === 3 && pick(history.foreign, b)) || pick(a % 4 > 0 ? history.withMoney : history.paid, a);
    if (!attempt) return;
    const left = model.leftOf(attempt.id) ?? attempt.taken!.amount;
    const all = attempt.taken!.amount;
    const amount = [left / 2n, left / 3n, left / 3n, left, all / 2n, all, all + 1n][b % 7]!;
    if (amount <= 0n) return;
    const known = [...model.disputes.keys(), ...model.kept.flatMap((row) => row.reference ?? [])];
    const id =
      (c % 6 === 0 && pick(known, b)) ||
      (c % 2 === 0 && early.splice(0, 1)[0]) ||
      `D-${history.tenant}-${++references}`;
    const reason = reasons[c % 7 === 0 ? 1 : 0];
    const { currency: own } = attempt.taken!;
    if (c % 5 === 0 && (attempt.status === 'succeeded' || own !== 'INR')) {
      const named = (await history.deposits()).get(attempt.id) ?? attempt.id;
      const input = { id: named, amount: text(amount), reference: id };
      const report = { id, attempt: attempt.id, amount: text(amount), currency: own, reason_code: reason };
      const given = { ...input, reasonCode: reason.toUpperCase() };
      const { code } = await told(b, 'openDispute', given, 'dispute { id } unexplained { id }');
      history.done.push(`by an operator: ${JSON.stringify(report)} → ${code}`);
      expect(code).toBe(codeOf(model.report({ type: 'dispute.opened', data: report })));
      history.reports.push({ type: 'dispute.opened', data: report });
      return;
    }
    const currency = (c % 11 === 0) === (own === 'INR') ? 'USD' : 'INR';
    const data = { id, attempt: attempt.id, amount: text(amount), currency, reason_code: reason, reason: '10.4' };
    await history.tell({ type: 'dispute.opened', data }, 1 + (b % 3));
  },
  decide: async (history, { a, b, c }) => {
    const { model } = history;
    const known = [
      ...model.disputes,
      ...model.kept.flatMap((row) => (row.reference ? [[row.reference, row] as const] : [])),
    ];
    const [id, { attempt } = { attempt: '' }] = pick(known, a) ?? [];
    if (!id) return;
    const of = c % 8 === 0 ? pick(history.attempts, b)!.id : attempt;
    const report: Report = {
      type: 'dispute.decided',
      data: { id, attempt: of, status: b % 3 > 0 ? 'won' : 'lost' },
    };
    await history.tell(report, 1 + (c % 3));
  },
  answer: async ({ model, live, tenant, done }, { a, b }) => {
    const [reference, dispute] = pick([...model.disputes], a) ?? [];
    if (!dispute) return;
    const [row] = await world.sql`select id from dispute where tenant_id = ${tenant} and reference = ${reference!}`;
    const accepts = b % 2 === 0;
    const path = `/v1/disputes/${row!.id}/${accepts ? 'accept' : 'respond'}`;
    const reply = await live.post(path, accepts ? undefined : { text: 'It was delivered.' });
    done.push(`${path} → ${reply.status}`);
    const invalid = { status: 400, code: 'status_invalid' };
    expect(outcome(reply)).toEqual(dispute.status === 'needs_response' ? undefined : invalid);
    if (reply.status === 200) dispute.status = accepts ? 'accepted' : 'under_review';
  },
  unknown: async (history, { a, b }) => {
    const attempt = pick(history.paid, a);
    const unknown = unknownId('transaction');
    const id = `D-${history.tenant}-${++references}`;
    const status = b % 2 === 0 ? 'won' : 'lost';
    const said = { status: 'succeeded', amount: '1.00', currency: 'INR' };
    const opened = { amount: '1.00', currency: 'INR', reason_code: reasons[0] };
    const reports: Report[] = [
      decided(unknown, said),
      decidedRefund(unknownId('refund'), 'failed'),
      { type: 'dispute.opened', data: { id, attempt: unknown, ...opened } },
      { type: 'dispute.decided', data: { id, attempt: attempt?.id ?? unknown, status } },
    ];
    if (attempt) history.early.push(id);
    await history.tell(attempt ? reports[3]! : pick(reports, b)!);
  },
  again: async (history, { a, b }) => {
    const report = pick(history.reports, a);
    if (report && !history.isOfNothing(report)) await history.tell(report, 1 + (b % 3));
  },
  record: async (history, { a, b, c }) => {
    const { model } = history;
    // Mostly of those of which nothing is left: of others it is refused.
    const spent = history.paid.filter(({ id }) => (model.leftOf(id) ?? 0n) === 0n);
    const attempt = pick(c % 5 === 0 ? history.paid : spent, a);
    if (!attempt) return;
    const known = [
      ...model.disputes.keys(),
      ...model.kept.flatMap((row) => (row.reason === 'recorded' ? row.reference! : [])),
    ];
    const reference = (c % 3 === 0 && pick(known, b)) || `R-${history.tenant}-${++references}`;
    const amount = c % 2 === 0 ? attempt.taken!.amount : 33n;
    const depositId = (await history.deposits()).get(attempt.id);
    const input = { depositId, amount: text(amount), reference, note: 'After its refund' };
    const replies = await Promise.all(
      [b, b + 1].map((by) => told(by, 'recordUnexplained', input, 'unexplained { id }')),
    );
    const wanted = replies.map(() => model.record(attempt.id, amount, reference));
    history.done.push(`recorded ${JSON.stringify(input)} → ${wanted}`);
    expect(replies.map(({ code }) => code)).toEqual(wanted.map(codeOf));
  },
  resolve: async ({ model, tenant, done }, { a, b }) => {
    const rows = await world.sql`select id from unexplained where tenant_id = ${tenant} and livemode order by id`;
    const row = pick(model.kept, a);
    if (!row) return;
    const input = { id: rows[model.kept.indexOf(row)]!.id, resolution: 'Agreed with the acquirer' };
    const both = [b, b + 1].map((by) => told(by, 'resolveUnexplained', input, 'unexplained { status }'));
    const replies = await Promise.all(both);
    done.push(`resolved ${input.id}`);
    expect(replies.filter(({ code }) => code === undefined)).toHaveLength(row.isResolved ? 0 : 1);
    for (const { code } of replies) expect([undefined, 'status_invalid']).toContain(code);
    row.isResolved = true;
  },
  adjust: async (history, { a, b, c }) => {
    const { model, root } = history;
    const { available } = model.fundsOf(root.id, 'INR');
    const amount = a % 2 === 0 ? BigInt(b % 50) * 100n + 1n : partOf(available, b);
    if (amount <= 0n) return;
    const side = { [a % 2 === 0 ? 'credit' : 'debit']: { amount, currency: 'INR' } };
    const given = Object.fromEntries(
      Object.keys(side).map((name) => [name, { amount: text(amount), currency: 'INR' }]),
    );
    const input = { accountId: root.id, mode: 'LIVE', reason: 'Agreed', ...given };
    const proposed = await told(c, 'proposeAdjustment', input, 'adjustment { id }');
    const { id } = proposed.data.adjustment;
    // The one that proposed it, and both others, or one of them twice.
    const approvers = [c, c + 1, c % 2 === 0 ? c + 1 : c + 2];
    const replies = await Promise.all(
      approvers.map((by) => told(by, 'approveAdjustment', { id }, 'adjustment { status }')),
    );
    const refused = model.adjust(root.id, side);
    const late = c % 2 === 0 ? [] : ['status_invalid'];
    const wanted = refused ? [refused.code, refused.code] : late;
    history.done.push(`adjusted ${JSON.stringify(input)} → ${refused?.code}`);
    expect(replies[0]!.code).toBe('permission_denied');
    expect(replies.slice(1).flatMap(({ code }) => code ?? [])).toEqual(wanted);
  },
  'pay out': async (history) => {
    const { model, root, tenant, done } = history;
    await history.work();
    await payOutLive(root);
    const rows = await world.sql`select id, amount, currency from payout where tenant_id = ${tenant} and livemode`;
    const made = rows.filter(({ id }) => !model.payouts.has(id));
    const payable = model.payable(root.id, 'INR');
    done.push(`paid out ${JSON.stringify(made)}`);
    expect(made.map(({ amount, currency }) => ({ amount: BigInt(amount), currency }))).toEqual(
      payable ? [payable] : [],
    );
    for (const { id } of made) model.pay(root.id, 'INR', id);
  },
  'end payout': async ({ model, done }, { a, b }) => {
    const payout = pick([...model.payouts.values()], a);
    if (!payout) return;
    const verbs = payout.status === 'processing' ? (['settle', 'fail'] as const) : (['return', 'return'] as const);
    const names = { settle: 'settlePayout', fail: 'failPayout', return: 'returnPayout' };
    const both = verbs.map((verb, n) => told(b + n, names[verb], { id: payout.id }, 'payout { status }'));
    const replies = await Promise.all(both);
    const first = replies[0]!.code === undefined ? 0 : 1;
    const wanted = [first, 1 - first].map((n) => model.endPayout(payout.id, verbs[n]!)?.code);
    done.push(`${payout.id} → ${payout.status}`);
    expect([first, 1 - first].map((n) => replies[n]!.code)).toEqual(wanted);
  },
  reconcile: async (history, { a, b, c }) => {
    const { model, live } = history;
    const attempt = pick(
      history.paid.filter(({ id }) => model.deposits.has(id)),
      a,
    );
    if (!attempt) return;
    if (c % 2 === 0) {
      const invoice = BigInt(b % 300) * 100n + 50n;
      const body = receivableBody({ amount: text(invoice), currency: 'INR' });
      const { id } = await must(live.post('/v1/receivables', body));
      model.addReceivable({ id, owner: live.id, currency: 'INR', invoice, maximum: invoice });
    }
    const receivable = c % 2 === 0 ? model.receivables.listed.at(-1)! : pick(model.receivables.listed, b)!;
    const { rest } = model.deposits.get(attempt.id)!;
    const most = model.reconcilable(receivable);
    const amount = partOf(rest < most ? rest : most, c >> 1);
    if (amount <= 0n) return;
    const deposit = (await history.deposits()).get(attempt.id)!;
    const receivables = [{ id: receivable.id, amount: text(amount) }];
    const reply = await live.post(`/v1/deposits/${deposit}/reconcile`, { receivables });
    history.done.push(`reconciled ${attempt.id} ${amount} → ${reply.status}`);
    expect(outcome(reply)).toEqual(model.reconcile(attempt.id, [{ receivable: receivable.id, amount }]));
  },
};

const number = fc.nat(65_535);
const draw = fc.record({ kind: fc.constantFrom(...kinds), a: number, b: number, c: number });
/** There is something to draw about from the start. */
const first: Draw[] = (['checkout', 'pay', 'work'] as const).map((kind) => ({ kind, a: 0, b: 1, c: 1 }));

/**
 * An acquirer takes money and takes it back, in whatever order its reports come and however often, while the account
 * refunds, reconciles and is paid out, and operators correct what is left to them.
 */
describe.each(seedsOf('api/acquirer-history'))('histories of an acquirer, seed %i', (seed) => {
  it('end in the state of the model', async () => {
    const history = fc.asyncProperty(
      fc.constantFrom(...tenantKinds),
      fc.noBias(fc.array(draw, { minLength: 40, maxLength: 80, size: 'max' })),
      async (kind, draws) => {
        const history = await History.begin(kind);
        try {
          for (const each of [...first, ...draws]) {
            history.done.push(`— ${each.kind}`);
            await acts[each.kind](history, each);
            await history.compare();
          }
          // What came too early comes again.
          const again = history.reports.filter(({ type }) => type === 'dispute.decided').slice(-20);
          for (const report of again) await history.tell(report);
          await history.work();
          await history.compare();
          await audit(history);
        } catch (error) {
          (error as Error).message += `\n${history.done.join('\n')}`;
          throw error;
        }
      },
    );
    await fc.assert(history, { seed, numRuns: Math.max(4, Math.min(100, scale.histories.runs)), endOnFailure: true });
  });
});

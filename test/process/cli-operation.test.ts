import fs from 'node:fs';
import os from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pdf } from '../support/bodies.js';
import { alive } from '../support/alive.js';
import { behind, type Finished, postmaster, useChildren } from '../support/child.js';
import { readingCommands } from '../../src/operator/commands/command.js';
import { details, eventually, must, payoutAddressBody, type Speaker } from '../support/world.js';
import { commandsIn, document, type Json, named, processesOf, sameAsV1 } from './cli-fixture.js';

// Each command starts Node, which takes long on a busy machine.

const children = useChildren();
const { started, tidegate, ownProcess, outputOf, made, id, test, live } = commandsIn(children);

describe('live mode, where the operator decides', () => {
  let user: Speaker;
  let weaver: string;
  let persons: Json[];
  let files: Json[];
  beforeAll(async () => {
    user = await live('first').connectedUser({ nickname: 'Weaver', businessDetails: { legalName: 'Weaver' } });
    weaver = user.id;
    const document = await user.upload('tax_document', pdf, 'gst.pdf');
    const image = await user.upload('identity_document', pdf, 'card.pdf');
    const person = await user.post('/v1/persons', {
      full_name: 'Meera Rao',
      relationship: { owner: true },
      identification: { tax_card_number: 'ABCPE1234F', tax_card_image: image.body.id },
    });
    const paid = await live('first').post(
      '/v1/addresses',
      payoutAddressBody(weaver, { billing_details: { ...details().physical_address, line2: 'x' } }),
    );
    const updated = await user.post(`/v1/accounts/${weaver}`, {
      business_details: { type: 'sole_proprietor' },
      supporting_documentation: { id_document: document.body.id },
    });
    const submitted = await live('first').post(`/v1/accounts/${weaver}/activate`);
    const replies = [document, image, person, paid, updated, submitted];
    expect(replies.map(({ status, text }) => (status === 200 ? 200 : text))).toEqual(Array(6).fill(200));
    persons = [person.body];
    files = [document.body, image.body];
  });

  it('lists accounts in verification, with persons and files as on /v1, until outcomes are recorded', async () => {
    const [{ accounts: waiting }, shown, table] = await Promise.all([
      outputOf('account', 'list', '--status=verifying', '--mode=live'),
      outputOf('account', 'show', weaver),
      tidegate('account', 'list', '--status=verifying', '--mode=live'),
    ]);
    const account = (await user.get(`/v1/accounts/${weaver}`)).body;
    expect(account.status).toBe('verifying');
    expect(waiting).toEqual([{ account, mode: 'live', persons, files }]);
    expect(shown).toEqual(waiting[0]);
    // A verification uses documents; a number that is shown could be noted and misused.
    expect(waiting[0].persons[0].identification.tax_card_number).toBe('••••••234F');
    const numbered = await outputOf('account', 'show', weaver, '--numbers');
    expect(numbered).toEqual({
      ...shown,
      tax_card_numbers: [{ person: persons[0].id, number: expect.stringMatching(/^\w{6}234F$/) }],
    });
    expect(table.out).toMatch(new RegExp(`^${weaver}  live  user  verifying  Weaver +Weaver +1 +2$`, 'm'));

    const held = await outputOf('account', 'verify', weaver, '--outcome=hold');
    await sameAsV1(held, user, '/v1/accounts');
    expect([held.status, held.capability]).toEqual(['hold', { multicurrency_exports_v1: 'hold' }]);
    const activated = await outputOf('account', 'verify', weaver, '--outcome=activated');
    await sameAsV1(activated, user, '/v1/accounts');
    expect([activated.status, activated.capability]).toEqual(['activated', { multicurrency_exports_v1: 'activated' }]);
    const none = await tidegate('account', 'list', '--status=verifying', '--mode=live');
    expect([none.code, none.out]).toEqual([0, 'None.\n']);
  });

  // In live mode the operator records what banks and the market do; test mode has a sandbox for it.
  it('has a user whose money moves as the operator recorded', async () => {
    const [address, , rate] = await Promise.all([
      outputOf('address', 'issue', '--account', weaver, '--currency=USD', '--number=000123450000'),
      outputOf('account', 'update', id('first'), '--mode=live', '--live-fx=true'),
      outputOf('payout', 'rate', id('first'), '--from=USD', '--to=INR', '--rate=83.25'),
    ]);
    expect(rate).toEqual({ from: 'USD', to: 'INR', rate: '83.25' });
    expect(await outputOf('payout', 'rates', id('first'))).toEqual({ rates: [rate] });
    const invoice = { creation_date: '2026-01-05', currency: 'USD', due_date: '2026-02-05' };
    const owed = async (amount: string, reference_number: string) => {
      const reply = await user.post('/v1/receivables', {
        ...{ currency: 'USD', purpose_code: 'P0102', transaction_type: 'goods' },
        invoice: { ...invoice, amount, reference_number },
      });
      expect([reply.status, reply.body.amount_reconcilable]).toEqual([200, amount]);
      return reply.body.id as string;
    };
    const [one, other] = [await owed('100.00', 'INV-1'), await owed('50.00', 'INV-2')];
    const balance = async () => {
      const { available, pending, payout_processing } = (await user.get('/v1/balance')).body;
      const funds = (hash: Json) =>
        hash
          .filter(({ amount }: Json) => amount !== '0.00')
          .map(({ amount, currency }: Json) => `${amount} ${currency}`);
      return [funds(pending), funds(available), funds(payout_processing)];
    };

    const wire = [
      ...['deposit', 'record', '--reference=WIRE-1', '--address', address.id, '--currency=USD'],
      ...['--method=domestic_wire', '--descriptor=INV-1 INV-2'],
    ];
    // The other edition's payment methods, and money in another currency than that of the address, are refused.
    const [method, currency] = await Promise.all([
      tidegate(...wire, '--amount=150.00', '--method=upi'),
      tidegate(...wire, '--amount=150.00', '--currency=EUR'),
    ]);
    expect([method.code, method.errors]).toEqual([
      1,
      expect.stringMatching(/^parameter_invalid \(deposit\.payment_method\): .+\n$/),
    ]);
    expect([currency.code, currency.errors]).toEqual([
      1,
      expect.stringMatching(/^parameter_invalid \(deposit\.currency\): .+--allow-currency.+\n$/),
    ]);
    const recorded = await outputOf(...wire, '--amount=150.00');
    expect(recorded).toMatchObject({
      reference: 'WIRE-1',
      event: 'received',
      deposit: {
        ...{ livemode: true, amount: '150.00', currency: 'USD', status: 'completed', reason_code: null },
        to: { account_id: weaver, address_id: address.id },
        payment_method: 'domestic_wire',
        statement_descriptor: 'INV-1 INV-2',
      },
    });
    await sameAsV1(recorded.deposit, user, '/v1/deposits');
    expect(await outputOf('deposit', 'show', recorded.deposit.id)).toEqual(recorded.deposit);
    for (const tenant of [id('first'), id('first').replace('account_', '')])
      expect(await outputOf('deposit', 'show', recorded.deposit.id, '--tenant', tenant)).toEqual(recorded.deposit);
    const elsewhere = await tidegate('deposit', 'show', recorded.deposit.id, '--tenant=0000');
    expect([elsewhere.code, elsewhere.out]).toEqual([1, '']);
    expect(elsewhere.errors).toBe('There is no such deposit. Check the id.\n');
    const [again, otherwise] = await Promise.all([
      outputOf(...wire, '--amount=150.00'),
      tidegate(...wire, '--amount=151.00', '--json'),
    ]);
    expect(again).toEqual(recorded);
    expect([otherwise.code, otherwise.out]).toEqual([1, '']);
    expect(otherwise.errors).toMatch(/^state_conflict \(deposit\.reference\): .+\n$/);
    expect(await balance()).toEqual([['150.00 USD'], [], []]);
    const euros = [
      'deposit',
      'record',
      '--reference=SEPA-1',
      '--address',
      address.id,
      '--currency=EUR',
      '--amount=9.00',
    ];
    expect((await outputOf(...euros, '--allow-currency')).deposit).toMatchObject({ amount: '9.00', currency: 'EUR' });
    expect((await outputOf(...euros, '--event=reversed')).deposit.status).toBe('reversed');
    expect(await balance()).toEqual([['150.00 USD'], [], []]);
    const mistyped = ['--reference=WIRE-l', '--address', address.id];
    await outputOf('deposit', 'record', ...mistyped, '--event=reversed', '--currency=USD', '--amount=150.00');
    const waits = {
      ...{ object: 'bank_notice', reference: 'WIRE-l', event: 'reversed', created: expect.any(Number), livemode: true },
      ...{ address_id: address.id, amount: '150.00', currency: 'USD', deposit_id: null },
    };
    expect(await outputOf('deposit', 'waiting')).toEqual({ notices: [named(waits)] });
    expect(await outputOf('deposit', 'withdraw', ...mistyped)).toEqual(waits);
    expect(await outputOf('deposit', 'waiting')).toEqual({ notices: [] });
    expect(await outputOf('deposit', 'duplicates')).toEqual({ notices: [] });

    const reconciled = await outputOf('deposit', 'reconcile', recorded.deposit.id, '--receivable', `${one}=100.00`);
    await sameAsV1(reconciled, user, '/v1/deposits');
    const payouts = async () => (await user.get('/v1/payouts')).body.data;
    const [paid] = await eventually(payouts, (list) => list.length === 1);
    expect([paid.amount, paid.currency, paid.status]).toEqual(['8325.00', 'INR', 'processing']);
    expect(await balance()).toEqual([['50.00 USD'], [], ['8325.00 INR']]);
    const waiting = await outputOf('payout', 'list', '--status=processing', '--mode=live');
    expect(waiting).toEqual({ payouts: [named(paid)] });
    expect(await outputOf('payout', 'show', paid.id)).toEqual(paid);
    const settled = await outputOf('payout', 'settle', paid.id, '--reason=The bank has said so.');
    await sameAsV1(settled, user, '/v1/payouts');
    expect(settled).toEqual({ ...paid, status: 'completed' });
    const receivable = (await user.get(`/v1/receivables/${one}`)).body;
    expect([receivable.status, receivable.amount_settled_payouts]).toEqual(['settled', '100.00']);

    await outputOf('deposit', 'reconcile', recorded.deposit.id, '--receivable', `${other}=50.00`);
    const [second] = await eventually(payouts, (list) => list.length === 2);
    const failed = await outputOf('payout', 'fail', second.id, '--reason=The account is closed.');
    expect(failed).toEqual({
      ...second,
      ...{ amount: '4162.50', currency: 'INR', status: 'failed', expected_arrival: null, reason_code: 'general' },
    });
    expect(await balance()).toEqual([[], ['4162.50 INR'], []]);
    const [why] = (await outputOf('operator', 'actions', '--operation=payout fail', '--object', second.id)).actions;
    expect(why).toMatchObject(named({ details: { reason: 'The account is closed.' } }));

    const held = await outputOf('payout', 'hold', weaver);
    await sameAsV1(held, user, '/v1/account_settings');
    expect(held.payouts).toMatchObject({ enabled: false, reason_code_not_enabled: 'service_hold' });
    const released = await outputOf('payout', 'release', weaver);
    await sameAsV1(released, user, '/v1/account_settings');
    expect(released.payouts).toMatchObject({ enabled: true, reason_code_not_enabled: null });

    const at = ['--address', address.id, '--currency=USD'];
    const payer = ['--payer-name=Acme Gadgets', '--payer-address', '1 Main St', 'Pune', '--payer-country=in'];
    const wired = await outputOf(
      ...['deposit', 'record', '--reference=WIRE-2', ...at, '--amount=100.00', ...payer, '--text=INV-9'],
    );
    expect(await must(user.get(`/v1/deposits/${wired.deposit.id}/bank_details`))).toEqual({
      ...{ object: 'bank_details', reference: 'WIRE-2', text: 'INV-9' },
      payer: { name: 'Acme Gadgets', address_lines: ['1 Main St', 'Pune'], country: 'IN' },
    });
    const recall = ['deposit', 'record', '--reference=RCL-1', '--event=recalled', ...at, '--amount=30.00'];
    const taken = await outputOf(...recall, '--original=WIRE-2', '--reason-code=incorrect_amount');
    expect(taken).toMatchObject({
      ...{ reference: 'RCL-1', event: 'recalled' },
      deposit: { amount: '-30.00', status: 'completed', reason_code: 'incorrect_amount' },
    });
    await sameAsV1(taken.deposit, user, '/v1/deposits');
    expect(await outputOf(...recall, '--original=WIRE-2')).toEqual(taken);
    const unnamed = await tidegate(...recall);
    expect([unnamed.code, unnamed.errors]).toEqual([
      1,
      expect.stringMatching(/^parameter_missing \(deposit\.original_reference\): .+\n$/),
    ]);
    const dispute = ['dispute', 'open', wired.deposit.id, '--reference=CB-1', '--reason-code=high_risk'];
    const disputed = await outputOf(...dispute, '--tenant', id('first'));
    expect(disputed).toMatchObject({ amount: '70.00', reason_code: 'high_risk', status: 'needs_response' });
    expect(await outputOf(...dispute, '--amount=70.00')).toEqual(disputed);
    const openDisputes = ['dispute', 'list', '--status=needs_response', '--mode=live'];
    expect(await outputOf(...openDisputes)).toEqual({ disputes: [named(disputed)] });
    expect(await outputOf('dispute', 'show', disputed.id)).toEqual(disputed);
    await sameAsV1(disputed, user, '/v1/disputes');
    expect(await outputOf('dispute', 'win', disputed.id)).toMatchObject({ id: disputed.id, status: 'won' });
    expect((await tidegate('dispute', 'lose', disputed.id)).errors).toMatch(/^status_invalid \(dispute\.status/);
    const until = '--respond-by=2030-01-01T12:00:00Z';
    const reopened = ['dispute', 'open', wired.deposit.id, '--reference=CB-2', '--reason-code=general', until];
    const contested = await outputOf(...reopened, '--acquirer-reason=13.1', '--amount=70.00');
    expect(contested).toMatchObject({ respond_by: 1_893_499_200, acquirer_reason: '13.1' });
    expect(await outputOf('dispute', 'lose', contested.id)).toMatchObject({ status: 'lost' });
    expect(await outputOf(...openDisputes)).toEqual({ disputes: [] });
    const { actions } = await outputOf('operator', 'actions', '--operation=deposit record');
    expect(JSON.stringify(actions)).toContain('WIRE-2');
    expect(JSON.stringify(actions)).not.toMatch(/Acme|Main St|INV-9/);

    const third = await outputOf('deposit', 'record', '--reference=WIRE-3', ...at, '--amount=5.00');
    const refund = async () => must(user.post('/v1/refunds', { deposit_id: third.deposit.id }));
    const asked = await refund();
    const waitingForBank = ['refund', 'list', '--status=pending', '--mode=live'];
    expect(await outputOf(...waitingForBank)).toEqual({ refunds: [named(asked)] });
    expect(await outputOf('refund', 'show', asked.id)).toEqual(asked);
    const bounced = await outputOf('refund', 'fail', asked.id, '--failure-reason=Account closed');
    expect(bounced).toEqual({ ...asked, status: 'failed', failure_reason: 'Account closed' });
    await sameAsV1(bounced, user, '/v1/refunds');
    const returned = await outputOf('refund', 'succeed', (await refund()).id, '--bank-reference=UTR-9');
    expect(returned).toMatchObject({ status: 'succeeded', amount: '5.00', bank_reference: 'UTR-9' });
    expect((await tidegate('refund', 'fail', returned.id)).errors).toMatch(/^status_invalid \(refund\.status/);
    expect(await outputOf(...waitingForBank)).toEqual({ refunds: [] });

    const fee = ['adjustment', 'propose', weaver, '--mode=live', '--debit', '4.00 USD', '--reason=Courier'];
    const proposed = await outputOf(...fee);
    expect(proposed).toMatchObject({
      ...{ object: 'adjustment', account_id: weaver, credit: null, debit: '4.00 USD' },
      ...{
        reason: 'Courier',
        livemode: true,
        status: 'proposed',
        proposed_by: expect.stringContaining('command line'),
      },
    });
    const waitingForOne = await outputOf('adjustment', 'list', '--status=proposed');
    expect(waitingForOne).toEqual({ adjustments: [named(proposed)] });
    const wrong = await tidegate(...fee.slice(0, 4), '--debit=4.00', '--reason=Courier');
    expect([wrong.code, wrong.errors]).toEqual([2, expect.stringContaining('ISO 4217')]);
    expect((await outputOf('adjustment', 'reject', proposed.id)).status).toBe('rejected');
    expect((await tidegate('adjustment', 'reject', proposed.id)).errors).toMatch(/^status_invalid \(adjustment/);

    expect(await outputOf('transaction', 'mismatches')).toEqual({ mismatches: [] });
    expect(await outputOf('transaction', 'pending')).toEqual({ transactions: [] });
    const unknown = await tidegate('transaction', 'decide', 'transaction_0', '--status=succeeded', '--amount=4.00');
    expect(unknown.errors).toMatch(/no such attempt in live mode/);
    expect(await outputOf('unexplained', 'list', '--status=open')).toEqual({ unexplained: [] });
    const given = ['deposit_0', '--amount=1.00', '--reference=CB-9', '--note=After a refund'];
    expect((await tidegate('unexplained', 'record', ...given)).errors).toMatch(/no such deposit/);
    const lost = await tidegate('unexplained', 'resolve', 'unexplained_0', '--resolution=It was refunded');
    expect(lost.errors).toMatch(/no such unexplained money/);
    const { secrets } = await outputOf('secrets');
    const kinds = new Set(secrets.map(({ setting }: Json) => setting));
    expect(kinds).toEqual(new Set(['API_KEY_PEPPER', 'ENCRYPTION_KEY']));

    const [audit, chains, late] = await Promise.all([
      outputOf('ledger', 'audit'),
      outputOf('ledger', 'verify'),
      tidegate('payout', 'settle', second.id, '--json'),
    ]);
    expect(audit).toEqual({
      violations: [],
      violationCount: 0,
      accounts: expect.any(Number),
      postings: expect.any(Number),
    });
    expect(chains.chains.filter(({ firstBroken }: Json) => firstBroken !== null)).toEqual([]);
    expect([late.code, late.out, late.errors]).toEqual([
      1,
      '',
      expect.stringMatching(/^status_invalid \(payout\.status\): .+\n$/),
    ]);
  });

  it('has partners to verify too; the list without a status has all accounts of the mode, newest first', async () => {
    const partner = await live('first').partner();
    await live('first').post(`/v1/accounts/${partner.id}/activate`);

    const { accounts } = await outputOf('account', 'list', '--mode=live');

    const known = accounts.filter(({ account }: Json) => [partner.id, weaver, id('first')].includes(account.id));
    expect(known.map(({ account, mode }: Json) => [account.id, account.status, mode])).toEqual([
      [partner.id, 'verifying', 'live'],
      [weaver, 'activated', 'live'],
      [id('first'), 'draft', 'live'],
    ]);
    expect(accounts.every(({ mode }: Json) => mode === 'live')).toBe(true);
  });

  it('is searched by the words of names, which goes with the mode alone', async () => {
    const made = await live('first').partner({ nickname: 'Saltmarsh Traders' });
    const { accounts } = await outputOf('account', 'list', '--search=SALTMARSH', '--mode=live');
    expect(accounts.map(({ account, mode }: Json) => [account.id, mode])).toEqual([[made.id, 'live']]);
    const refused = await tidegate('account', 'list', '--search=salt', '--status=draft');
    expect([refused.code, refused.out, refused.errors]).toEqual([
      1,
      '',
      expect.stringContaining('status cannot be combined with search'),
    ]);
  });
});

describe('tidegate job', () => {
  let sql: ReturnType<typeof behind>;
  beforeAll(() => {
    sql = behind(started.DATA_DIR);
  });
  afterAll(() => sql.end());

  it('list --stuck shows the failing jobs with their errors, and retry runs one now', async () => {
    const tenant = id('second').replace('account_', '');
    const later = Math.floor(Date.now() / 1000) + 3_000;
    const job = (number: number) => `job_${String(number).padStart(4, '0')}`;
    const at = (seconds: number) => new Date(seconds * 1000).toISOString();
    const place = { tenant: id('second'), tenant_name: 'Root Traders', mode: 'live' };
    await sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due, attempts, error,
      failing_since)
      select ${tenant}, true, 'job_' || lpad(n::text, 4, '0'), ${later}::bigint + n / 2, 'no_such_kind', 'subject_1',
      '{}', ${later}::bigint, 11, 'no such job: no_such_kind', ${later - 6_000}::bigint from generate_series(1, 203) n`;
    await sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      values (${tenant}, true, 'job_well', ${later + 1_000}, 'retire_address', 'subject_2', '{}', ${later}::bigint)`;
    const first = await outputOf('job', 'list', '--stuck');
    const rest = await outputOf('job', 'list', '--stuck', `--after=${first.next}`);
    const ids = [...first.jobs, ...rest.jobs].map((one: Json) => one.id);
    expect([first.jobs.length, ids, rest.next]).toEqual([
      200,
      Array.from({ length: 203 }, (_, n) => job(n + 1)),
      undefined,
    ]);
    expect(first.jobs[0]).toEqual({
      ...{ ...place, id: 'job_0001', work: 'run_jobs', kind: 'no_such_kind', subject: 'subject_1', attempts: 11 },
      ...{ error: 'no such job: no_such_kind', since: at(later - 6_000), due: at(later) },
    });
    // The work of a whole tenant is in the same list. Its pauses are shorter.
    const soon = later - 2_950;
    await sql`insert into worker_fault (tenant_id, livemode, work, error, since, attempts, next_attempt)
      values (${tenant}, true, 'seal_postings', 'cannot be sealed', ${later - 6_000}, 7, ${soon})`;
    const whole = await outputOf('job', 'list', '--stuck', `--after=${tenant}.job_0203.live`);
    const sealing = { ...place, id: null, work: 'seal_postings', kind: null, subject: null, attempts: 7 };
    expect(whole.jobs).toEqual([{ ...sealing, error: 'cannot be sealed', since: at(later - 6_000), due: at(soon) }]);
    expect(whole.next).toBe(undefined);
    await sql`delete from worker_fault where tenant_id = ${tenant}`;
    // The list of all has the newest first, and of one second by the id.
    const newest = await outputOf('job', 'list');
    const older = await outputOf('job', 'list', `--after=${newest.next}`);
    expect([newest.jobs.length, [...newest.jobs, ...older.jobs].slice(0, 204).map((one: Json) => one.id)]).toEqual([
      200,
      ['job_well', ...Array.from({ length: 203 }, (_, n) => job(203 - n))],
    ]);
    expect(newest.jobs[0]).toEqual({
      ...{ ...place, id: 'job_well', kind: 'retire_address', subject: 'subject_2', attempts: 0, error: null },
      ...{ due: at(later), created: at(later + 1_000) },
    });

    // The gateway's worker runs it at once, and it fails once more.
    const retried = await outputOf('job', 'retry', 'job_0002');
    expect(Date.parse(retried.due)).toBeLessThan(later * 1000);
    const [tried] = await eventually(
      () => sql`select attempts, error from job where id = 'job_0002'`,
      (rows) => rows[0]?.attempts > 11,
    );
    expect(tried).toEqual({ attempts: 12, error: 'no such job: no_such_kind' });
    // A job that can succeed is done.
    await outputOf('job', 'retry', 'job_well');
    await eventually(
      () => sql`select from job where id = 'job_well'`,
      (rows) => rows.length === 0,
    );
    const [gone, lost] = await Promise.all([
      tidegate('job', 'retry', 'job_well'),
      tidegate('job', 'list', '--after=x'),
    ]);
    expect([gone.code, gone.out, gone.errors]).toEqual([1, '', expect.stringContaining('There is no such job')]);
    expect([lost.code, lost.out, lost.errors]).toEqual([
      1,
      '',
      expect.stringContaining('must be the cursor of a page'),
    ]);
    await sql`delete from job where kind = 'no_such_kind'`;
  });
});

describe('tidegate ledger', () => {
  let sql: ReturnType<typeof behind>;
  beforeAll(() => {
    sql = behind(started.DATA_DIR);
  });
  afterAll(() => sql.end());
  const ends = async (...args: string[]) => {
    const { code, out, errors } = await ownProcess(...args, '--json');
    return { code, errors, printed: out === '' ? undefined : JSON.parse(out) };
  };

  it('ends with 1 when an invariant is violated, and shows where', async () => {
    const change = (by: number) =>
      sql`update balance set pending = pending + ${by} where (tenant_id, livemode, account_id, currency) in
        (select tenant_id, livemode, account_id, currency from balance order by 1, 2, 3, 4 limit 1)
        returning tenant_id`;
    const [wrong] = await change(1);
    const { code, errors, printed } = await ends('ledger', 'audit').finally(() => change(-1));
    expect([code, errors]).toEqual([1, '']);
    expect(new Set(printed.violations.map(({ tenant }: Json) => tenant))).toEqual(new Set([wrong!.tenant_id]));
    expect(await ends('ledger', 'audit')).toMatchObject({ code: 0, printed: { violations: [] } });
  });

  it('ends with 1 when the seal is broken, and shows the chain and its block', async () => {
    const [block] = await eventually(
      () => sql`select tenant_id, livemode, number from seal_block order by 1, 2, 3 limit 1`,
      (rows) => rows.length === 1,
    );
    const { tenant_id: tenant, livemode, number } = block as Json;
    const change = (by: number) =>
      sql`update seal_block set postings = postings + ${by} where tenant_id = ${tenant} and livemode = ${livemode}
        and number = ${number}`;
    await sql`grant update on seal_block to current_user`;
    await change(1);
    const { code, errors, printed } = await ends('ledger', 'verify').finally(async () => {
      await change(-1);
      await sql`revoke update on seal_block from current_user`;
    });
    expect([code, errors]).toEqual([1, '']);
    const broken = printed.chains.filter(({ firstBroken }: Json) => firstBroken !== null);
    expect(broken).toMatchObject([{ tenant, livemode, firstBroken: Number(number) }]);
    expect((await ends('ledger', 'verify')).code).toBe(0);
  });

  it.each([
    ['audit', 'alter view violations rename to violations_away', 'alter view violations_away rename to violations'],
    [
      'verify',
      'alter function first_broken_block rename to first_broken_block_away',
      'alter function first_broken_block_away rename to first_broken_block',
    ],
  ])('%s ends with 2 when it cannot run, which is neither result', async (command, away, back) => {
    await sql.unsafe(away);
    const { code, errors, printed } = await ends('ledger', command).finally(() => sql.unsafe(back));
    expect([code, printed]).toEqual([2, undefined]);
    expect(errors).toMatch(/does not exist/);
  });
});

describe('tidegate operator', () => {
  const viewer = (key: string) =>
    started.gateway.speaker(key).post('/operator/graphql', { query: '{ viewer { name role } }' });

  it('creates operators whose keys work at once, lists them, and revokes them by name', async () => {
    const anna = await outputOf('operator', 'create', '--name=anna');
    const bruno = await outputOf('operator', 'create', '--name=Bruno B.', '--role=read');
    expect((await viewer(anna.key)).body.data.viewer).toEqual({ name: 'anna', role: 'OPERATE' });
    expect((await viewer(bruno.key)).body.data.viewer).toEqual({ name: 'Bruno B.', role: 'READ' });
    const taken = await tidegate('operator', 'create', '--name=ANNA', '--role=operate');
    expect([taken.code, taken.errors]).toEqual([1, expect.stringMatching(/^state_conflict \(operator\.name\): /)]);

    const revoked = await outputOf('operator', 'revoke', 'Anna');

    expect(revoked.operator).toMatchObject({ id: anna.operator.id, revoked: expect.any(String) });
    expect((await viewer(anna.key)).codes).toEqual(['api_key_invalid']);
    const { operators } = await outputOf('operator', 'list');
    expect(operators.map(({ name, role, revoked }: Json) => [name, role, revoked !== null])).toEqual([
      ['Bruno B.', 'read', false],
      ['anna', 'operate', true],
    ]);
    const unknown = await tidegate('operator', 'revoke', 'nobody');
    expect([unknown.code, unknown.errors]).toEqual([1, 'There is no such operator. Check the name.\n']);
  });

  it('has all commands that change something in the audit log, by the user of the machine', async () => {
    // The commands that no test before this one runs.
    const root = await outputOf('account', 'create', '--legal-name=Audited', '--type=user', '--edition=1');
    const key = await outputOf('key', 'create', '--account', root.account.id, '--mode=test');
    const rotated = await outputOf('key', 'rotate', key.key.id);
    await outputOf('key', 'revoke', rotated.key.id);
    const checked = (await outputOf('ledger', 'check', root.account.id)).checks;
    expect(checked.map(({ mode, status }: Json) => [mode, status])).toEqual([
      ['live', 'passed'],
      ['test', 'passed'],
    ]);
    await outputOf('account', 'hold', root.account.id, '--mode=test');
    await outputOf('account', 'deactivate', root.account.id, '--mode=test');
    const seen: Json[] = [];
    const mine = ['actions', '--operator', `command line (${os.userInfo().username})`];
    for (let after: string[] = []; ; ) {
      const { actions, next } = await outputOf('operator', ...mine, ...after);
      seen.push(...actions);
      if (next === undefined) break;
      after = ['--after', next];
    }
    const operations = [
      ...['migrate', 'demo', 'account create', 'account update', 'account verify', 'account hold'],
      ...['account deactivate', 'adjustment propose', 'adjustment reject', 'refund succeed', 'refund fail'],
      ...['transaction decide', 'unexplained record', 'unexplained resolve'],
      ...['address issue', 'key create', 'key rotate', 'key revoke', 'deposit record', 'deposit reconcile'],
      ...['dispute open', 'dispute win', 'dispute lose', 'deposit withdraw', 'job retry'],
      ...['payout rate', 'payout settle', 'payout fail', 'payout hold', 'payout release', 'ledger check'],
      ...['operator create', 'operator revoke', 'account show'],
    ];
    expect([...new Set(seen.map(({ operation }) => operation))].sort()).toEqual([...operations].sort());
    const [revoked] = (await outputOf('operator', 'actions', '--operation=operator revoke')).actions;
    expect(revoked).toMatchObject({ object: 'nobody', outcome: 'refused', code: 'resource_missing' });
    const created = seen.findLast(({ operation }) => operation === 'account create');
    expect(created).toMatchObject({ outcome: 'succeeded', result: expect.stringMatching(/^account_/), mode: 'test' });
    const { actions: ofAccount } = await outputOf('operator', 'actions', '--object', created.result);
    expect(ofAccount.map(({ number }: Json) => number)).toContain(created.number);
    const seal = await outputOf('operator', 'verify');
    expect(seal).toEqual({
      ...{ entries: expect.any(Number), lastHash: expect.stringMatching(/^[0-9a-f]{64}$/), firstBroken: null },
    });
    const since = (entries: number) =>
      tidegate('operator', 'verify', `--entries=${entries}`, '--last-hash', seal.lastHash, '--json');
    const [intact, shorter, half] = await Promise.all([
      since(seal.entries),
      since(seal.entries + 1),
      tidegate('operator', 'verify', '--entries=1'),
    ]);
    expect([intact.code, JSON.parse(intact.out)]).toEqual([0, seal]);
    expect([shorter.code, JSON.parse(shorter.out).firstBroken]).toEqual([1, seal.entries + 1]);
    expect([half.code, half.errors]).toEqual([1, expect.stringMatching(/^--entries and --last-hash belong together/)]);
  });

  it('knows of each command whether it only reads', () => {
    const help = (path: string) => fs.readFileSync(`src/operator/commands/${path.split(' ')[0]}.ts`, 'utf8');
    for (const path of readingCommands) {
      if (path === 'tidegate secrets') continue;
      const file = path.replace('tidegate doctor', 'doctor doctor');
      expect([path, help(file)]).toEqual([path, expect.stringContaining(`'${path.split(' ')[1]}`)]);
    }
  });
});

describe('an invalid command', () => {
  let [connected, partner] = ['', ''];
  const refusals = new Map<string, Promise<Finished>>();
  beforeAll(async () => {
    connected = (await test('first').connectedUser()).id;
    partner = (await test('direct').partner()).id;
    // All commands start before the first test, so that they use the machine well.
    for (const [name, args] of refused)
      refusals.set(name, (inOwnProcess.includes(name) ? ownProcess : tidegate)(...args(), '--json'));
  });

  const create = ['account', 'create', '--legal-name=x'];
  const connect = [...create, '--type=user', '--platform'];
  const key = ['key', 'create', '--mode=test', '--account'];
  const refused: [string, () => string[], RegExp][] = [
    ['no such command', () => ['bogus'], /^unknown command 'bogus'$/],
    ['a root without its edition', () => [...create, '--type=user'], /--edition is required/],
    ['a mode of a root', () => [...create, '--type=user', '--edition=1', '--mode=live'], /--mode goes with --platform/],
    ['no legal name', () => ['account', 'create', '--type=user', '--edition=1', '--legal-name='], /legal.name/],
    ['too long a nickname', () => [...create, '--type=user', '--edition=1', '--nickname', 'x'.repeat(101)], /nickname/],
    ['a connected user of a direct user', () => [...connect, id('direct'), '--mode=test'], /platform/],
    [
      'an account that does not exist',
      () => ['account', 'show', 'account_nobody'],
      /^There is no such account\. Check the id\.$/,
    ],
    [
      'an account of the other mode',
      () => ['account', 'show', connected, '--mode=live'],
      /^There is no such account in live mode\. Check the id\.$/,
    ],
    ['an update of a connected user', () => ['account', 'update', connected, '--dba=x'], /platform or a direct user/],
    ['live FX of Edition 2', () => ['account', 'update', id('second'), '--live-fx=true'], /--live-fx .*Edition 1/],
    ['an invalid e-mail address', () => ['account', 'update', id('direct'), '--email=nobody'], /email/],
    ['a logo that is not a file', () => ['account', 'update', id('direct'), '--logo-id=file_none'], /logo/],
    ['a key of a partner', () => [...key, partner], /^(permission_denied|account_type_invalid)\b/],
    [
      'a key that has expired',
      () => [...key, id('direct'), '--expires-in=0s'],
      /^parameter_invalid \(api_key\.expires_in_seconds\)/,
    ],
    [
      'an address in test mode',
      () => ['address', 'issue', '--account', connected, '--currency=USD', '--number=12341'],
      /^There is no such account in live mode\. Check the id\.$/,
    ],
  ];

  /** One that ends before it connects, and one that ends after that. */
  const inOwnProcess = ['no such command', 'an account that is none'];
  const unasked = ['no such command', 'no legal name', 'an invalid e-mail address'];

  it.each(refused)(
    '%s: prints the reason on standard error and nothing else, with its exit code',
    async (name, _, why) => {
      const { code, out, errors } = (await refusals.get(name))!;

      expect([code, out]).toEqual([unasked.includes(name) ? 2 : 1, '']);
      expect(errors).toMatch(/^[^\n]+\n$/);
      expect(errors.trimEnd()).toMatch(why);
    },
  );

  it('changes nothing', async () => {
    const shown = async (name: 'first' | 'direct', account: string) =>
      (await test(name).get(`/v1/accounts/${account}`)).body;
    expect((await shown('first', connected)).status).toBe('draft');
    expect((await shown('direct', partner)).status).toBe('draft');
    expect(await shown('direct', id('direct'))).toEqual(made.direct.account);
  });

  it('prints the help without arguments', async () => {
    const [nothing, help] = await Promise.all([ownProcess(), ownProcess('--help')]);

    expect([nothing.code, nothing.out, nothing.errors.trim()]).toEqual([2, '', help.out.trim()]);
    expect([help.code, help.errors]).toEqual([0, '']);
    for (const name of ['account', 'key', 'address', 'migrate', 'demo'])
      expect(help.out).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  });
});

describe('a command without a running gateway', () => {
  it('starts PostgreSQL and stops it again, also when two start at once in an empty folder', async () => {
    const folder = children.folder();
    const here = (...args: string[]) => children.command({ DATA_DIR: folder }, ...args, '--json');

    // One of them waits for the other, and says so when that takes long.
    const waiting = /^Waiting up to 60 s for the lock for "migrate": [^\n]+\n/;
    const both = await Promise.all([here('migrate'), here('migrate')]);
    const [first, second] = both.map((one) => document({ ...one, errors: one.errors.replace(waiting, '') }));
    // The one that waited had nothing to do.
    expect([first.migrated, second.migrated].toSorted()).toEqual([false, true]);
    expect(second.version).toBe(first.version);
    expect([postmaster(folder), processesOf(folder)]).toEqual([undefined, []]);

    const doc = document(await here('account', 'create', '--type=user', '--edition=1', '--legal-name=x'));
    expect([postmaster(folder), processesOf(folder)]).toEqual([undefined, []]);
    const failed = await here('account', 'show', 'account_nobody');
    expect([failed.code, failed.out, failed.errors]).toEqual([1, '', 'There is no such account. Check the id.\n']);
    expect([postmaster(folder), processesOf(folder)]).toEqual([undefined, []]);

    const started = await children.gateway({ DATA_DIR: folder });
    // The demo is only for an empty database.
    expect(started.keys).toEqual({});
    await sameAsV1(doc.account, started.speaker(doc.keys.test), '/v1/accounts');
    const { pid } = postmaster(folder)!;
    expect([await started.stop(), alive(pid)]).toEqual([0, false]);
  });
});

describe('a command on a separate PostgreSQL', () => {
  it('creates accounts whose keys work there, and has no demo for it', async () => {
    const environment = await children.database();
    const here = (...args: string[]) => children.command(environment, ...args, '--json');

    await here('migrate');
    const doc = document(await here('account', 'create', '--type=platform', '--edition=2', '--legal-name=x'));
    const [demo, listed] = await Promise.all([here('demo'), here('account', 'list', '--mode=live')]);
    expect([demo.code, demo.out, demo.errors]).toEqual([1, '', expect.stringMatching(/^[^\n]*DATABASE_URL[^\n]*\n$/)]);
    expect(document(listed).accounts.map(({ account }: Json) => account.id)).toEqual([doc.account.id]);

    const started = await children.gateway({ ...environment, TRUSTED_PROXY: '127.0.0.1' });
    const speaker = started.speaker(doc.keys.test, { 'x-forwarded-proto': 'https' });
    await sameAsV1(doc.account, speaker, '/v1/accounts');
    expect(await started.stop()).toBe(0);

    // Keys are hashed with the pepper: with another one they would all be unknown.
    const peppered = { ...environment, API_KEY_PEPPER: 'another pepper that is long enough for it' };
    const other = children.start({ ...peppered, TRUSTED_PROXY: '127.0.0.1' });
    expect(await other.ended).toBe(1);
    expect(other.errors).toMatch(/^Tidegate could not start\.\nAPI_KEY_PEPPER: must be the secret [^\n]+\n$/);
    const command = await children.command(peppered, 'key', 'create', `--account=${doc.account.id}`, '--mode=test');
    expect(command).toEqual({ code: 2, out: '', errors: expect.stringMatching(/^API_KEY_PEPPER: /) });
  });
});

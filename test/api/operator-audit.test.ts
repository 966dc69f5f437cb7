import fs from 'node:fs';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { Worker } from '../../src/jobs/runner.js';
import { buildOperatorGraph } from '../../src/operator/graph/graph.js';
import { pdf, png } from '../support/bodies.js';
import { eventually, givenIn, must, nickname, Speaker, useWorld } from '../support/world.js';
import { everyMutation, type Json, OPERATOR_KEY, operatorsIn } from './operator-audit-fixture.js';

const world = useWorld({ worker: false, readers: 2, environment: { OPERATOR_KEY } });
const given = givenIn(world);
const { operator, requestIds, asking, data, actions, sealed, signIn } = operatorsIn(world);

const mutation = (name: string, type: string, selection: string) =>
  `mutation ($input: ${type}!) { ${name}(input: $input) { ${selection} } }`;
const verify = mutation('verifyAccount', 'VerifyAccountInput', 'account { id status }');

describe('the audit log', () => {
  it('has each mutation with who, what, object, tenant, request and outcome', async () => {
    const anna = await operator();
    const { live } = await given.directUserBoth(1);
    const reply = await anna.ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } });
    const again = await anna.ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } });
    expect(again.codes).toEqual(['status_invalid']);

    const found = await actions(`(objectId: "${live.id}")`);
    const shared = {
      ...{ operator: anna.name, operatorId: anna.id, operation: 'verifyAccount', objectId: live.id, resultId: null },
      ...{ tenantId: live.id.replace('account_', ''), mode: 'LIVE', ended: expect.any(String) },
      details: { id: live.id, outcome: 'activated' },
    };
    expect(found).toEqual([
      {
        ...shared,
        ...{ number: found[0].number, outcome: 'REFUSED', code: 'status_invalid' },
        requestId: again.headers.get('request-id'),
      },
      {
        ...shared,
        ...{ number: found[1].number, outcome: 'SUCCEEDED', code: null },
        requestId: reply.headers.get('request-id'),
      },
    ]);
  });

  it('says of an action with a known idempotency key that it was answered before', async () => {
    const { ask, name } = await operator();
    const { live } = await given.directUserBoth(1);
    const key = { 'idempotency-key': nickname() };
    for (let i = 0; i < 2; i++) await data(ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } }, key));
    const [second, first] = await actions(`(operator: "${name}")`);
    expect([first.details.replayed, second.details.replayed, second.outcome]).toEqual([undefined, true, 'SUCCEEDED']);
  });

  it('has every mutation of the schema, and what it was refused for', async () => {
    const { ask, name } = await operator();
    const mutations = everyMutation(buildOperatorGraph());
    for (const { query, input } of mutations) await ask(query, { input });
    const found = await actions(`(operator: "${name}")`);
    expect(found.map(({ operation }) => operation)).toEqual(mutations.map((each) => each.name).reverse());
    for (const { operation, outcome, code } of found)
      expect([operation, outcome, code]).toEqual([operation, 'REFUSED', expect.stringMatching(/./)]);
  });

  it('shows a bank account by its last characters, and a long list by its beginning', async () => {
    const { ask, name } = await operator();
    const { live } = await given.directUserBoth(1);
    await ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } });
    const made = await ask(mutation('issueAddress', 'IssueAddressInput', 'address { id }'), {
      input: {
        accountId: live.id,
        currency: 'USD',
        bankAccount: { number: '000123456789', domesticCredit: '026009593' },
      },
    });
    expect(made.codes).toEqual([]);
    const receivables = Array.from({ length: 30 }, (_, i) => ({ id: `receivable_${i}`, amount: '1.00' }));
    await ask(mutation('reconcileDeposit', 'ReconcileDepositInput', 'deposit { id }'), {
      input: { id: 'deposit_0', receivables },
    });
    const [reconciled, issued] = await actions(`(operator: "${name}")`);
    expect(issued.details.bankAccount).toEqual({ number: '…6789', domesticCredit: '026009593' });
    expect([issued.objectId, issued.resultId]).toEqual([live.id, expect.stringMatching(/^address_/)]);
    expect(await actions(`(objectId: "${issued.resultId}")`)).toEqual([issued]);
    expect([reconciled.details.receivables.length, reconciled.details.receivables[20]]).toEqual([21, '… 10 more']);
    expect(reconciled.details.receivables[0]).toEqual({ id: 'receivable_0', amount: '1.00' });
  });

  it('is listed page by page, by operator, operation and object, each action once', async () => {
    const { ask, name } = await operator();
    for (let i = 0; i < 5; i++)
      await ask(mutation('settlePayout', 'SettlePayoutInput', 'payout { id }'), { input: { id: `payout_${i}` } });
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const page: Json = await data(
        ask(
          'query ($after: String, $name: String) { operatorActions(first: 2, after: $after, operator: $name, ' +
            'operation: "settlePayout") { nodes { objectId } next } }',
          {
            ...{ after, name },
          },
        ),
      );
      seen.push(...page.operatorActions.nodes.map(({ objectId }: Json) => objectId));
      after = page.operatorActions.next;
    } while (after !== null);
    expect(seen).toEqual([4, 3, 2, 1, 0].map((i) => `payout_${i}`));
    expect(await actions(`(operator: "${name}", operation: "failPayout")`)).toEqual([]);
    for (const [filter, field] of [
      ['(first: 0)', 'operator_action.limit'],
      ['(first: 201)', 'operator_action.limit'],
      ['(after: "x")', 'operator_action.starting_after'],
      ['(after: "")', 'operator_action.starting_after'],
      ['(after: "99999999999999999")', 'operator_action.starting_after'],
    ])
      expect((await ask(`{ operatorActions${filter} { next } }`)).fieldNames).toEqual([field]);
  });

  it('and each other list refuses a cursor that is none, by its name', async () => {
    const ask = asking(OPERATOR_KEY);
    const lists = Object.values(buildOperatorGraph().getQueryType()!.getFields()).filter(({ args }) =>
      args.some(({ name }) => name === 'after'),
    );
    expect(lists.length).toBeGreaterThan(12);
    for (const { name, args } of lists) {
      const more = args.filter(({ type }) => String(type).endsWith('!')).map((arg) => `, ${arg.name}: "a"`);
      if (name === 'bankLines') more.push(', state: UNMATCHED');
      const query = `query ($after: String) { ${name}(after: $after${more.join('')}) { next } }`;
      for (const after of ['', 'x', '\u0000', 'x'.repeat(5_000)]) {
        const { codes, fieldNames } = await ask(query, { after });
        expect([name, after, codes, fieldNames]).toEqual([
          ...[name, after],
          ...[[expect.stringMatching(/^(parameter_invalid|resource_missing)$/)], [expect.any(String)]],
        ]);
      }
    }
    expect((await ask('{ paymentOrders(after: "") { next } }')).fieldNames).toEqual(['payment_order.starting_after']);
  });

  it('runs nothing while it cannot be written', async () => {
    const { live } = await given.directUserBoth(1);
    await world.sql`alter table operator_action rename to operator_action_gone`;
    const reply = await asking(OPERATOR_KEY)(verify, { input: { id: live.id, outcome: 'ACTIVATED' } });
    await world.sql`alter table operator_action_gone rename to operator_action`;
    expect([reply.codes, reply.body.errors[0].extensions.httpStatus]).toEqual([['service_unavailable'], 503]);
    expect((await live.get(`/v1/accounts/${live.id}`)).body.status).toBe('draft');
  });

  it('has an action before it takes effect, so that a killed process leaves it there', async () => {
    const { ask, name } = await operator();
    const { live } = await given.directUserBoth(1);
    let reply!: ReturnType<typeof ask>;
    // The mutation waits for the row. What the log shows meanwhile is what it shows if the process is killed then.
    await world.sql.begin(async (tx) => {
      await tx`select from account where id = ${live.id} and livemode for update`;
      reply = ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } });
      const [waiting] = await eventually(
        () => actions(`(operator: "${name}")`),
        (list) => list.length === 1,
      );
      expect(waiting).toMatchObject({
        operation: 'verifyAccount',
        objectId: live.id,
        outcome: 'ATTEMPTED',
        ended: null,
      });
    });
    expect((await reply).body.data.verifyAccount.account.status).toBe('ACTIVATED');
    expect((await actions(`(operator: "${name}")`))[0].outcome).toBe('SUCCEEDED');
  });

  it('shows an action without an outcome when the process ended before it', async () => {
    const { ask, name } = await operator();
    const { live } = await given.directUserBoth(1);
    // The second entry cannot be written, as if the process had been killed after the mutation.
    await world.sql.unsafe(
      `alter table operator_action add constraint no_outcome check (outcome = 'attempted') not valid`,
    );
    const reply = await ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } });
    await world.sql`alter table operator_action drop constraint no_outcome`;
    expect(reply.body.data.verifyAccount.account.status).toBe('ACTIVATED');
    expect((await actions(`(operator: "${name}")`))[0]).toMatchObject({
      outcome: 'ATTEMPTED',
      ended: null,
      code: null,
    });
  });

  it('numbers the entries of two gateways that append at once without a gap, in one chain', async () => {
    const other = await world.another();
    const { key } = await operator();
    const settle = mutation('settlePayout', 'SettlePayoutInput', 'payout { id }');
    /** On a busy machine an entry may wait longer for the one before it than for a lock: 503, so it is sent again. */
    const settled = async (i: number) => {
      for (;;) {
        const reply = await asking(key, i % 2 === 0 ? world.origin : other)(settle, {
          input: { id: `payout_at_once_${i}` },
        });
        if (!reply.codes.includes('service_unavailable')) return reply;
      }
    };
    const replies = await Promise.all(Array.from({ length: 24 }, (_, i) => settled(i)));
    expect(new Set(replies.flatMap(({ codes }) => codes))).toEqual(new Set(['resource_missing']));
    const [row] = await world.sql`select count(*)::int n, max(number)::int last from operator_action`;
    expect(row!.n).toBe(row!.last);
    expect(await sealed()).toEqual({
      entries: row!.n,
      lastHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      firstBroken: null,
    });
  });

  it('shows the first entry that was changed or removed, even by a superuser', async () => {
    const { ask } = await operator();
    // Two entries each.
    for (const id of ['account_0', 'account_1', 'account_2', 'account_3'])
      await ask(verify, { input: { id, outcome: 'ACTIVATED' } });
    expect((await sealed()).firstBroken).toBeNull();
    const tampered = async (statement: string) => {
      let found: Json;
      await world.sql
        .begin(async (tx) => {
          await tx.unsafe('grant update, delete on operator_action to tidegate');
          await tx.unsafe(statement);
          [found] = await tx`select * from check_operator_actions(0, '', 100000)`;
          throw new Error('undone');
        })
        .catch((error: Error) => expect(error.message).toBe('undone'));
      return Number(found.first_broken);
    };
    expect(await tampered(`update operator_action set operator = 'other' where number = 5`)).toBe(5);
    expect(await tampered(`update operator_action set details = '{"id": "x"}' where number = 7`)).toBe(7);
    expect(await tampered(`delete from operator_action where number = 3`)).toBe(3);
    expect(await tampered(`update operator_action set hash = repeat('0', 64) where number = 4`)).toBe(4);
  });

  it('shows, by an earlier check, that its newest entries are gone', async () => {
    const { ask } = await operator();
    const { entries, lastHash } = await sealed();
    const since = (number: number, hash: string) =>
      ask(`{ operatorActionsSeal(entries: ${number}, lastHash: "${hash}") { entries firstBroken } }`);
    await ask(verify, { input: { id: 'account_0', outcome: 'ACTIVATED' } });
    expect((await data(since(entries, lastHash))).operatorActionsSeal).toEqual({
      entries: entries + 2,
      firstBroken: null,
    });
    expect((await data(since(entries, 'other'))).operatorActionsSeal.firstBroken).toBe(entries);
    expect((await data(since(entries + 9, lastHash))).operatorActionsSeal.firstBroken).toBe(entries + 9);
    for (const [given, field] of [
      ['entries: 1', 'operator_action.last_hash'],
      ['lastHash: "x"', 'operator_action.entries'],
      ['entries: 0, lastHash: "x"', 'operator_action.entries'],
    ])
      expect((await ask(`{ operatorActionsSeal(${given}) { entries } }`)).fieldNames).toEqual([field]);
  });

  it('cannot be changed by the role of the gateways', async () => {
    for (const statement of [
      `update operator_action set operator = 'x'`,
      'delete from operator_action',
      'truncate operator_action',
    ])
      await expect(world.sql.unsafe(statement)).rejects.toMatchObject({ code: '42501' });
  });

  it('counts wrong keys in one entry, however many there are', async () => {
    const refused = () => actions('(operation: "signIn", operator: "(unknown)")');
    await asking('wrong')('{ viewer { name } }');
    const before = await refused();
    await Promise.all(Array.from({ length: 30 }, () => asking('wrong')('{ viewer { name } }')));
    await sleep(50);
    // The first wrong key of all gateways has made the entry; all others wait for the next one.
    expect(before).toMatchObject([{ outcome: 'REFUSED', code: 'api_key_invalid', details: { count: 1 } }]);
    expect(requestIds).toContain(before[0].requestId);
    expect(await refused()).toEqual(before);
  });
});

describe("what the operators' console shows", () => {
  it('is an account with its documents, persons and missing requirements', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser();
    const document = (await user.upload('identity_document', png, 'id.png')).body.id;
    await must(platform.post(`/v1/accounts/${user.id}`, { supporting_documentation: { id_document: document } }));
    const query = `{ account(id: "${user.id}") {
      supportingDocumentation { idDocument } requirements { fieldName message alternatives }
      files { id purpose contentPath }
    } }`;
    const shown = (await data(asking(OPERATOR_KEY)(query))).account;
    const own = await user.graph(`{ account(id: "${user.id}") { requirements { fieldName message alternatives } } }`);
    expect(shown.requirements.length).toBeGreaterThan(1);
    expect(shown.requirements).toEqual(own.body.data.account.requirements);
    expect(shown.supportingDocumentation).toEqual({ idDocument: document });
    expect(shown.files).toEqual([
      {
        ...{ id: document, purpose: 'IDENTITY_DOCUMENT' },
        contentPath: `/operator/files/${document}?tenant_id=${platform.id.replace('account_', '')}&mode=test`,
      },
    ]);
  });

  it('is the content of a file, by key or cookie, never rendered by a browser, with an entry in the log', async () => {
    const user = await given.directUser(1);
    const other = await given.directUser(1);
    const { key, name } = await operator('read');
    const { file, alone } = await signIn(key);
    const id = (await user.upload('identity_document', pdf, 'Pässe <1>.pdf')).body.id;
    const path = (tenant: Speaker, mode = 'test') =>
      `/operator/files/${id}?tenant_id=${tenant.id.replace('account_', '')}&mode=${mode}`;

    const answer = await file(path(user));

    expect(Buffer.from(await answer.arrayBuffer())).toEqual(pdf);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename*=UTF-8''P%C3%A4sse%20%3C1%3E.pdf`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    const byKey = await fetch(`${world.origin}${path(user)}`, { headers: { authorization: `Bearer ${key}` } });
    expect([byKey.status, (await file(path(user), alone)).status]).toEqual([200, 401]);
    for (const wrong of [path(other), path(user, 'live')]) expect((await file(wrong)).status).toBe(404);
    const strange = `/operator/files/${'a%00b'}?tenant_id=${user.id.replace('account_', '')}&mode=test`;
    expect((await file(strange)).status).toBe(404);
    const problems = async (query: string) => {
      const { errors }: Json = await (await file(`/operator/files/${id}${query}`)).json();
      return errors.map((each: Json) => `${each.code} ${each.metadata.field_name}`);
    };
    expect(await problems('')).toEqual(['parameter_missing file.tenant_id', 'parameter_missing file.mode']);
    expect(await problems('?tenant_id=%00&mode=both&x=1')).toEqual([
      ...['parameter_unknown file.x', 'parameter_invalid file.tenant_id', 'parameter_invalid file.mode'],
    ]);
    const found = (await actions(`(operator: "${name}", operation: "readFile")`)).reverse();
    expect(found.map(({ objectId, outcome, mode }) => [objectId, outcome, mode])).toEqual([
      ...[
        [id, 'SUCCEEDED', 'TEST'],
        [id, 'SUCCEEDED', 'TEST'],
        [id, 'REFUSED', null],
        [id, 'REFUSED', null],
      ],
    ]);
    expect(found[0].details).toEqual({ purpose: 'identity_document' });
  });

  it('is all notices of banks, newest first, page by page, with their deposits', async () => {
    const { live } = await given.directUserBoth(1);
    const ask = asking(OPERATOR_KEY);
    await ask(verify, { input: { id: live.id, outcome: 'ACTIVATED' } });
    const issue = mutation('issueAddress', 'IssueAddressInput', 'address { id }');
    const bankAccount = { number: '000123456789' };
    const issued = await data(ask(issue, { input: { accountId: live.id, currency: 'USD', bankAccount } }));
    const addressId = issued.issueAddress.address.id;
    const record = mutation('recordBankNotice', 'RecordBankNoticeInput', 'notice { reference }');
    const notice = { addressId, amount: '10.00', currency: 'USD' };
    for (const reference of ['WIRE A', 'WIRE B']) await data(ask(record, { input: { ...notice, reference } }));
    await data(ask(record, { input: { ...notice, reference: 'WIRE C', event: 'REVERSED' } }));
    await world.sql`update bank_notice set created = case reference when 'WIRE B' then 3 else 2 end`;

    const seen: Json[] = [];
    for (let after: string | null = null; ; ) {
      const page: Json = await data(
        ask(
          `query ($after: String) { bankNotices(first: 1, after: $after) {
             nodes { reference event accountId addressId livemode deposit { amount status } } next } }`,
          { after },
        ),
      );
      seen.push(...page.bankNotices.nodes);
      after = page.bankNotices.next;
      if (after === null) break;
    }
    const own = { accountId: live.id, addressId, livemode: true };
    const completed = { amount: '10.00', status: 'COMPLETED' };
    expect(seen).toEqual([
      { reference: 'WIRE B', event: 'RECEIVED', ...own, deposit: completed },
      { reference: 'WIRE C', event: 'REVERSED', ...own, deposit: null },
      { reference: 'WIRE A', event: 'RECEIVED', ...own, deposit: completed },
    ]);
    for (const after of ['x', 'WzFd', Buffer.from('[1,"a",true,"\\u0000","b"]').toString('base64url')])
      expect((await ask(`{ bankNotices(after: "${after}") { next } }`)).fieldNames).toEqual(['deposit.starting_after']);
    const withReference = '{ bankNotices(reference: "wire b", first: 9) { nodes { reference } next } }';
    expect((await data(ask(withReference))).bankNotices).toEqual({ nodes: [{ reference: 'WIRE B' }], next: null });
    const withdraw = mutation('withdrawBankNotice', 'WithdrawBankNoticeInput', 'notice { reference }');
    await data(ask(withdraw, { input: { addressId, reference: 'WIRE C' } }));
  });

  it('is the service holds of all tenants, newest accounts first', async () => {
    const ask = asking(OPERATOR_KEY);
    const users = [await given.directUser(1), await given.directUser(1), await given.directUser(1)];
    const place = mutation('placeServiceHold', 'PlaceServiceHoldInput', 'accountSetting { id }');
    for (const { id } of users.slice(0, 2)) await data(ask(place, { input: { accountId: id, mode: 'TEST' } }));
    const page = (more: string) =>
      data(ask(`{ serviceHolds(first: 1${more}) { nodes { livemode serviceHold account { id } } next } }`));
    const first = (await page('')).serviceHolds;
    const second = (await page(`, after: "${first.next}"`)).serviceHolds;
    const held = [...first.nodes, ...second.nodes];
    expect(held.map(({ account }) => account.id).sort()).toEqual(
      users
        .slice(0, 2)
        .map(({ id }) => id)
        .sort(),
    );
    expect([second.next, held[0].serviceHold, held[0].livemode]).toEqual([null, true, false]);
    expect((await ask('{ serviceHolds(after: "x") { next } }')).fieldNames).toEqual(['account_setting.starting_after']);
  });

  it('is the gateways that run, and those that have ended without saying so', async () => {
    const worker = new Worker(world.database, pino({ level: 'silent' }));
    const gateways = async () =>
      (await data(asking(OPERATOR_KEY)('{ gateways { id host process version alive } }'))).gateways;
    worker.start();
    const [running] = await eventually(gateways, (list) => list.length === 1);
    const { version } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
    expect(running).toEqual({
      ...{ id: expect.stringMatching(/^gateway_/), host: os.hostname(), process: process.pid, version, alive: true },
    });
    await world.sql`update gateway_process set seen_at = seen_at - 31`;
    expect((await gateways())[0].alive).toBe(false);
    await worker.stop();
    expect(await gateways()).toEqual([]);
  });

  it('is a job to retry', async () => {
    const { id } = await given.directUser(1);
    const tenant = id.replace('account_', '');
    await world.sql`insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due, attempts, error)
      values (${tenant}, false, 'job_stuck', 1, 'pay_out', 'x', '{}', 99999999999, 3, 'broken')`;
    const retry = mutation('retryJob', 'RetryJobInput', 'job { id tenantId kind subjectId attempts error due }');
    const { job } = (await data(asking(OPERATOR_KEY)(retry, { input: { id: 'job_stuck' } }))).retryJob;
    expect(job).toMatchObject({ id: 'job_stuck', tenantId: tenant, kind: 'pay_out', attempts: 3, error: 'broken' });
    expect(Date.parse(job.due)).toBeLessThan(Date.now() + 5_000);
    await world.sql`delete from job where id = 'job_stuck'`;
  });
});

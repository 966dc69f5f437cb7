import { describe, expect, it } from 'vitest';
import { currencyOf, pdf, unknownId } from '../support/bodies.js';
import { auditLedger } from '../support/audit.js';
import { advanceClock } from '../support/jobs.js';
import { activatedUser } from '../support/onboarding-profile.js';
import { givenIn, must, type Reply, type Speaker, transports, useWorld } from '../support/world.js';
import { completed } from './deposit-fixture.js';
import { funds, number } from './payout-fixture.js';

// No worker runs, so that nothing but the calls of a test changes a dispute.
const world = useWorld({ worker: false });
const given = givenIn(world);

auditLedger(world);

/** A dispute of a new deposit, with the deposit and the one that took the money. */
async function disputed(speaker: Speaker, amount = '30.00') {
  const { id } = await completed(speaker, '100.00');
  const asked = { amount, reason_code: 'high_risk' };
  const debit = await must(speaker.post(`/v1/test_helpers/deposits/${id}/dispute`, asked));
  const { data } = await must(speaker.get('/v1/disputes'));
  return { paid: id as string, debit, dispute: data[0] };
}
const eventsOf = async (speaker: Speaker, id: string) => {
  await number(speaker);
  const { data } = await must(speaker.get(`/v1/events?object_id=${id}`));
  return data.map(({ type }: { type: string }) => type).toReversed() as string[];
};
const evidence = async (speaker: Speaker, purpose = 'dispute_evidence') =>
  (await must(speaker.upload(purpose, pdf, 'evidence.pdf'))).id as string;
const respond = (speaker: Speaker, id: string, body: object): Promise<Reply> =>
  speaker.post(`/v1/disputes/${id}/respond`, body);
const decide = (speaker: Speaker, id: string, verb: 'win' | 'lose') =>
  must(speaker.post(`/v1/test_helpers/disputes/${id}/${verb}`));

describe.each([1, 2] as const)('a dispute of a deposit, Edition %i', (edition) => {
  it('is opened with the deposit that takes the money, and can be answered for a week', async () => {
    const user = await given.directUser(edition);
    const { paid, debit, dispute } = await disputed(user);
    expect(dispute).toEqual({
      ...{ id: expect.stringMatching(/^dispute_/), object: 'dispute', created: expect.any(Number), livemode: false },
      ...{ account_id: user.id, deposit_id: paid, debit_deposit_id: debit.id, amount: '30.00' },
      ...{ currency: currencyOf[edition], status: 'needs_response', reason_code: 'high_risk', acquirer_reason: null },
      ...{ respond_by: dispute.created + 604_800, evidence_text: null, evidence_file_ids: [], submitted_at: null },
      ...{ decided_at: null, reference: null },
    });
    expect(await must(user.get(`/v1/disputes/${dispute.id}`))).toEqual(dispute);
    expect(await funds(user)).toMatchObject({ [`pending ${currencyOf[edition]}`]: '70.00' });
    expect(await eventsOf(user, dispute.id)).toEqual(['dispute.opened']);
  });

  it('is pending of the deposit again when it is won, and stays taken when it is lost', async () => {
    const user = await given.directUser(edition);
    const { paid, debit, dispute } = await disputed(user);
    await must(respond(user, dispute.id, { text: 'Delivered' }));
    expect(await decide(user, dispute.id, 'win')).toMatchObject({ status: 'won', decided_at: expect.any(Number) });
    expect(await funds(user)).toMatchObject({ [`pending ${currencyOf[edition]}`]: '100.00' });
    expect((await must(user.get(`/v1/deposits/${debit.id}`))).status).toBe('reversed');
    expect((await must(user.get(`/v1/deposits/${paid}`))).status).toBe('completed');
    const again = await must(user.post(`/v1/test_helpers/deposits/${paid}/dispute`));
    expect(again.amount).toBe('-100.00');
    const [second] = (await must(user.get('/v1/disputes?status=needs_response'))).data;
    expect(await decide(user, second.id, 'lose')).toMatchObject({ status: 'lost' });
    expect(await funds(user)).toEqual({});
    expect(await eventsOf(user, dispute.id)).toEqual(['dispute.opened', 'dispute.responded', 'dispute.won']);
  });
});

describe.each([1, 2] as const)('the recall of a bank, Edition %i', (edition) => {
  it('takes a part of a deposit, and what is left of it, and nothing can answer it', async () => {
    const user = await given.directUser(edition);
    const { id } = await completed(user, '100.00');
    const recall = (body: object) => user.post(`/v1/test_helpers/deposits/${id}/recall`, body);
    const part = await must(recall({ amount: '30.00', reason_code: 'duplicate' }));
    expect(part).toMatchObject({ amount: '-30.00', status: 'completed', reason_code: 'duplicate' });
    expect(await funds(user)).toMatchObject({ [`pending ${currencyOf[edition]}`]: '70.00' });
    expect((await recall({ amount: '70.01' })).codes).toEqual(['amount_exceeds_deposit']);
    expect(await must(recall({}))).toMatchObject({ amount: '-70.00', reason_code: 'general' });
    expect(await funds(user)).toEqual({});
    expect((await recall({})).codes).toEqual(['amount_exceeds_deposit']);
    expect((await must(user.get('/v1/disputes'))).data).toEqual([]);
    expect(await eventsOf(user, id)).toEqual(expect.arrayContaining(['deposit.disputed', 'deposit.disputed']));
  });
});

describe.each(transports)('an answer over %s', (transport) => {
  const answer = async (speaker: Speaker, id: string, text: string | null, fileIds: string[]): Promise<Reply> => {
    if (transport === 'REST') return respond(speaker, id, { ...(text && { text }), file_ids: fileIds });
    const reply = await speaker.graph(
      'mutation ($input: RespondToDisputeInput!) { respondToDispute(input: $input) { dispute { id } } }',
      { input: { id, text, fileIds } },
    );
    const made = reply.body.data?.respondToDispute?.dispute;
    return made
      ? speaker.get(`/v1/disputes/${made.id}`)
      : { ...reply, status: reply.body.errors[0].extensions.httpStatus };
  };

  it('is a text and files, once', async () => {
    const user = await given.directUser(1);
    const { dispute } = await disputed(user);
    const file = await evidence(user);
    const text = 'é'.repeat(20_000);
    expect(await must(answer(user, dispute.id, text, [file]))).toMatchObject({
      ...{ status: 'under_review', evidence_text: text, evidence_file_ids: [file], submitted_at: expect.any(Number) },
    });
    const second = await answer(user, dispute.id, 'More', []);
    expect([second.status, second.codes, second.fieldNames]).toEqual([400, ['status_invalid'], ['dispute.status']]);
  });

  it('is refused without text and files, with too much of them, and with other files', async () => {
    const user = await given.directUser(1);
    const { dispute } = await disputed(user);
    const partner = await user.partner();
    const foreign = await evidence(await given.directUser(1));
    const invoice = await evidence(user, 'invoice');
    const file = await evidence(user);
    for (const [text, files, code, field] of [
      [null, [], 'parameter_missing', 'dispute.text'],
      ['x'.repeat(20_001), [], 'parameter_invalid', 'dispute.text'],
      ['No', [file, file], 'parameter_invalid', 'dispute.file_ids'],
      ['No', Array.from({ length: 11 }, () => unknownId('file')), 'parameter_invalid', 'dispute.file_ids'],
      ['No', [file, invoice], 'parameter_invalid', 'dispute.file_ids[1]'],
      ['No', [foreign], 'resource_missing', 'dispute.file_ids[0]'],
      ['No', [partner.id], 'resource_missing', 'dispute.file_ids[0]'],
    ] as const) {
      const refused = await answer(user, dispute.id, text, [...files]);
      expect([refused.codes, refused.fieldNames]).toEqual([[code], [field]]);
    }
    await must(answer(user, dispute.id, null, [file]));
  });

  it('is taken until the last second, after which the dispute is still decided', async () => {
    const user = await given.directUser(1);
    const [first, second] = [(await disputed(user)).dispute, (await disputed(user)).dispute];
    await advanceClock(user, 601_200);
    await must(answer(user, first.id, 'In time', []));
    await advanceClock(user, 7_200);
    expect((await answer(user, second.id, 'Late', [])).codes).toEqual(['status_invalid']);
    expect((await must(user.get(`/v1/disputes/${second.id}`))).status).toBe('needs_response');
    await decide(user, second.id, 'win');
  });
});

describe('a dispute of a connected user', () => {
  it('is answered by its platform, with a file of the platform', async () => {
    const platform = await given.platform(1);
    const user = await activatedUser(platform);
    const { dispute } = await disputed(user);
    expect((await must(platform.get(`/v1/disputes/${dispute.id}`))).account_id).toBe(user.id);
    await must(respond(platform, dispute.id, { file_ids: [await evidence(platform)] }));
  });

  it('is accepted once, and then neither answered nor won', async () => {
    const user = await given.directUser(1);
    const { dispute } = await disputed(user);
    const accept = () => user.post(`/v1/disputes/${dispute.id}/accept`);
    expect(await must(accept())).toMatchObject({ status: 'accepted', decided_at: expect.any(Number) });
    for (const reply of [
      await accept(),
      await respond(user, dispute.id, { text: 'No' }),
      await user.post(`/v1/test_helpers/disputes/${dispute.id}/win`),
    ])
      expect(reply.codes).toEqual(['status_invalid']);
    expect(await eventsOf(user, dispute.id)).toEqual(['dispute.opened', 'dispute.accepted']);
  });
});

describe('the graph', () => {
  it('shows the disputes of a deposit and an account, and the dispute as the source of its payment', async () => {
    const user = await given.directUser(1);
    const { paid, debit, dispute } = await disputed(user);
    const query = `query ($id: ID!, $debit: ID!) {
      deposit(id: $id) { openedDisputes { nodes { id amount deposit { id } debitDeposit { id } account { id } } } }
      debit: deposit(id: $debit) { payment { source { __typename ... on Dispute { id } } } }
      viewer { account { disputes(status: [NEEDS_RESPONSE]) { nodes { id } } } }
      lost: disputes(status: [LOST]) { nodes { id } }
    }`;
    const { data } = (await user.graph(query, { id: paid, debit: debit.id })).body;
    expect(data).toEqual({
      deposit: {
        openedDisputes: {
          nodes: [
            {
              ...{ id: dispute.id, amount: '30.00', deposit: { id: paid } },
              ...{ debitDeposit: { id: debit.id }, account: { id: user.id } },
            },
          ],
        },
      },
      debit: { payment: { source: { __typename: 'Dispute', id: dispute.id } } },
      viewer: { account: { disputes: { nodes: [{ id: dispute.id }] } } },
      lost: { nodes: [] },
    });
  });
});

describe('a dispute during a rolling upgrade', () => {
  it('takes the money without an object, which an older release cannot read, and refuses other writes', async () => {
    const user = await given.directUser(1);
    const { dispute } = await disputed(user);
    const { id } = await completed(user, '100.00');
    await world.database.work('report_gateway_process', ['gateway_old', 'pay-1', 4_242, '0.1.0'] as never);
    const debit = await must(user.post(`/v1/test_helpers/deposits/${id}/dispute`));
    expect(debit.amount).toBe('-100.00');
    expect((await must(user.get('/v1/disputes'))).data.map((row: { id: string }) => row.id)).toEqual([dispute.id]);
    const early = await respond(user, dispute.id, { text: 'Delivered' });
    expect([early.status, early.codes]).toEqual([503, ['service_unavailable']]);
    await world.sql`delete from gateway_process where id = 'gateway_old'`;
    await must(respond(user, dispute.id, { text: 'Delivered' }));
    const query = 'query ($id: ID!) { deposit(id: $id) { payment { source { __typename } } } }';
    expect((await user.graph(query, { id: debit.id })).body.data.deposit.payment.source.__typename).toBe('Deposit');
  });
});

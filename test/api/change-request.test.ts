import { describe, expect, it } from 'vitest';
import { pdf } from '../support/bodies.js';
import { assemble, complete } from '../support/onboarding-profile.js';
import { givenIn, must, type Reply, type Speaker, useWorld } from '../support/world.js';
import { endChangeRequest, listChangeRequests } from '../../src/operator/account/change-requests.js';
import { passTime } from '../../src/operator/job/test-clock.js';

const world = useWorld({ worker: false });
const given = givenIn(world);

const shown = 'id status reason answer answeredAt accountId changes { path from to } account { id }';
const ask = (me: Speaker, input: object) =>
  me.graph(
    `mutation ($input: RequestAccountChangeInput!) {
      requestAccountChange(input: $input) { changeRequest { ${shown} } } }`,
    { input },
  );
const requestOf = (reply: Reply, name = 'requestAccountChange') => reply.body.data[name].changeRequest;
const move = (me: Speaker, name: string, input: object) =>
  me.graph(
    `mutation ($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) {
    ${name}(input: $input) { changeRequest { ${shown} } } }`,
    { input },
  );
const accountOf = async (me: Speaker, id: string) => must(me.get(`/v1/accounts/${id}`));

/** An activated user of a platform. */
async function activated(platform: Speaker): Promise<string> {
  const user = await assemble(platform, complete(platform.edition, 'company'));
  await must(platform.post(`/v1/accounts/${user}/activate`));
  await must(platform.post(`/v1/test_helpers/accounts/${user}/verify`));
  await passTime(world.operator, await world.operator.account(platform.id, false), 5);
  return user;
}

describe('a change request of an activated account', () => {
  it.each([1, 2] as const)('changes it once the service accepts, Edition %i', async (edition) => {
    const platform = await given.platform(edition);
    const id = await activated(platform);
    const before = await accountOf(platform, id);
    const refused = await platform.post(`/v1/accounts/${id}`, { business_details: { legal_name: 'Harbour Ltd' } });
    expect(refused.codes).toEqual(['account_not_updatable']);

    const document = (await must(platform.upload('additional_verification', pdf))).id as string;
    const asked = await ask(platform, {
      ...{ accountId: id, reason: 'We have a new name.' },
      businessDetails: {
        legalName: 'Harbour Ltd',
        type: before.business_details.type.toUpperCase(),
        ids: { taxDeduction: '' },
      },
      supportingDocumentation: { [edition === 1 ? 'ownershipStructureDocument' : 'physicalAddressDocument']: document },
    });
    expect([asked.codes, asked.fieldNames]).toEqual([[], []]);
    const request = requestOf(asked);
    expect(request).toMatchObject({ status: 'OPEN', reason: 'We have a new name.', answer: null, answeredAt: null });
    const paths = request.changes.map(({ path }: { path: string }) => path);
    expect(paths).toContain('businessDetails.legalName');
    expect(paths).not.toContain('businessDetails.type');
    const [name] = request.changes.filter(({ path }: { path: string }) => path === 'businessDetails.legalName');
    expect(name).toEqual({ path: name.path, from: before.business_details.legal_name, to: 'Harbour Ltd' });
    expect(await accountOf(platform, id)).toEqual(before);

    const user = platform.actingFor(id);
    const listed = await user.graph(
      '{ viewer { account { changeRequests(status: [OPEN]) { nodes { id } totalCount } } } }',
    );
    expect(listed.body.data.viewer.account.changeRequests).toEqual({ nodes: [{ id: request.id }], totalCount: 1 });
    const accepted = requestOf(
      await move(platform, 'acceptTestChangeRequest', { id: request.id }),
      'acceptTestChangeRequest',
    );
    expect(accepted).toMatchObject({ id: request.id, status: 'ACCEPTED', answeredAt: expect.any(String) });
    const after = await accountOf(platform, id);
    expect(after.business_details).toEqual({ ...before.business_details, legal_name: 'Harbour Ltd' });
    expect(after.status).toBe('activated');
    await world.database.call('number_events', [platform.id.replace('account_', ''), false, 500]);
    const [event] = (await must(platform.get('/v1/events?type=change_request.accepted'))).data;
    expect(event.data.object).toMatchObject({ id: request.id, object: 'change_request', account_id: id });
  });

  it('is answered by the operator, who says why', async () => {
    const platform = await given.platform(1);
    const id = await activated(platform);
    const { id: request } = requestOf(await ask(platform, { accountId: id, businessDetails: { dba: 'Harbour' } }));
    const waiting = await listChangeRequests(world.operator, { status: 'open', livemode: false });
    expect(waiting.nodes.map((row) => row.id)).toContain(request);
    await endChangeRequest(world.operator, request, 'declined', 'Send the certificate.');
    const read = await platform.graph('query ($id: ID!) { changeRequest(id: $id) { status answer } }', { id: request });
    expect(read.body.data.changeRequest).toEqual({ status: 'DECLINED', answer: 'Send the certificate.' });
    expect((await accountOf(platform, id)).business_details.dba).not.toBe('Harbour');
  });

  it('is open once at a time, and can be withdrawn', async () => {
    const platform = await given.platform(2);
    const { id } = await platform.partner();
    const first = requestOf(await ask(platform, { accountId: id, businessDetails: { dba: 'Harbour' } }));
    const second = await ask(platform, { accountId: id, businessDetails: { dba: 'Haven' } });
    expect([second.codes, second.fieldNames]).toEqual([['state_conflict'], ['change_request.account_id']]);
    await move(platform, 'withdrawChangeRequest', { id: first.id });
    const again = await move(platform, 'acceptTestChangeRequest', { id: first.id });
    expect(again.codes).toEqual(['status_invalid']);
    expect(requestOf(await ask(platform, { accountId: id, businessDetails: { dba: 'Haven' } })).status).toBe('OPEN');
  });

  it('cannot take away what the activation required', async () => {
    const platform = await given.platform(2);
    const id = await activated(platform);
    const reply = await ask(platform, { accountId: id, businessDetails: { legalName: null, dba: 'Harbour' } });
    expect(reply.fieldNames).toEqual(['account.business_details.legal_name']);
    expect((await platform.graph('{ changeRequests { totalCount } }')).body.data.changeRequests.totalCount).toBe(0);
  });

  it.each([
    ['nothing', {}, 'parameter_missing', 'change_request.business_details'],
    [
      'no details',
      { businessDetails: null, supportingDocumentation: null },
      'parameter_missing',
      'change_request.business_details',
    ],
    ['the same', { businessDetails: {} }, 'parameter_invalid', 'change_request.business_details'],
    [
      'a long reason',
      { businessDetails: { dba: 'X' }, reason: 'x'.repeat(501) },
      'parameter_invalid',
      'change_request.reason',
    ],
    [
      'a wrong date',
      { businessDetails: { dateOfIncorporation: 'yesterday' } },
      'parameter_invalid',
      'change_request.business_details.date_of_incorporation',
    ],
  ])('is refused for %s, and stores nothing', async (_, input, code, field) => {
    const user = await given.directUser(2);
    const reply = await ask(user, { accountId: user.id, ...input });
    expect([reply.codes, reply.fieldNames]).toEqual([[code], [field]]);
    expect((await user.graph('{ changeRequests { totalCount } }')).body.data.changeRequests.totalCount).toBe(0);
  });

  it('is not for a draft, which is updated', async () => {
    const platform = await given.platform(1);
    const { id } = await platform.connectedUser();
    const reply = await ask(platform, { accountId: id, businessDetails: { dba: 'Harbour' } });
    expect([reply.codes, reply.fieldNames]).toEqual([['status_invalid'], ['account.status']]);
  });

  it.each([1, 2] as const)('is asked for on /v1, listed and withdrawn, Edition %i', async (edition) => {
    const user = await given.directUser(edition);
    const asked = { account_id: user.id, business_details: { dba: 'Haven' }, reason: 'A new name' };
    const made = await must(user.post('/v1/change_requests', asked));
    expect(made).toEqual({
      ...{ id: expect.stringMatching(/^change_request_[0-9a-f]{32}$/), object: 'change_request', account_id: user.id },
      ...{ created: expect.any(Number), livemode: false, status: 'open', reason: 'A new name', answer: null },
      ...{ answered_at: null, changes: [{ path: 'business_details.dba', from: null, to: 'Haven' }] },
    });
    expect(await must(user.get(`/v1/change_requests/${made.id}`))).toEqual(made);
    expect((await must(user.get('/v1/change_requests?status=open'))).data).toEqual([made]);
    const ended = await must(user.post(`/v1/change_requests/${made.id}/withdraw`));
    expect(ended).toEqual({ ...made, status: 'withdrawn', answered_at: expect.any(Number) });
  });

  it('never changes live mode from test mode', async () => {
    const user = await given.directUser(2);
    const live = await world.operator.account(user.id, true);
    const { id } = requestOf(await ask(user, { accountId: user.id, businessDetails: { dba: 'Harbour' } }));
    await move(user, 'acceptTestChangeRequest', { id });
    expect((await accountOf(user, user.id)).business_details.dba).toBe('Harbour');
    expect((await world.operator.account(user.id, true)).businessDetails).toEqual(live.businessDetails);
  });
});

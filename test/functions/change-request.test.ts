import { expect, it } from 'vitest';
import { statementsWaiting } from '../support/world.js';
import { activate, lockRow, makeAccount, refusal, type Row, useFunctions, useRoot, violations } from './fixture.js';

const fixture = useFunctions();
const { world, of, call, value, write, rowText, stored, eventsOf } = fixture;
const root = useRoot(fixture, 'platform', 2);

const user = async () =>
  activate(fixture, root, (await makeAccount(fixture, root, 'connected_user', { businessDetails })).id);
const businessDetails = { legalName: 'Acme', type: 'company', ids: { tax: 'AAACA1234A' }, physicalAddress: {} };
const ask = ({ id }: Row, changes: object, place: typeof root | typeof root.inLive = root) =>
  write(place, 'create_change_request', { accountId: id, changes, reason: 'We have moved' });
const end = ({ id }: Row, to: string, place: typeof root | typeof root.inLive = root) =>
  write(place, 'end_change_request', { id, to, answer: 'As you wish' });
const account = ({ id }: Row, place: typeof root | typeof root.inLive = root) => stored('account', place, id);

of('changeable_of', () => {
  it('has the objects whose members may change, also where the account has none', async () => {
    const { id } = await makeAccount(fixture, root, 'partner', { businessDetails: { legalName: 'Acme' } });
    expect(await value('changeable_of', await rowText('account', root, id))).toEqual({
      businessDetails: { legalName: 'Acme', ids: {}, physicalAddress: {} },
      supportingDocumentation: {},
    });
  });
});

of('create_change_request', () => {
  it('keeps what each detail was and is to become, and leaves out what stays', async () => {
    const made = await user();
    const changes = {
      'businessDetails.legalName': 'Acme',
      'businessDetails.ids.tax': 'AAACA1234B',
      'businessDetails.dba': null,
      'businessDetails.physicalAddress.city': 'Kochi',
      'businessDetails.estimatedMonthlyVolume': { amount: '100', currency: 'USD' },
    };
    const row = await ask(made, changes);
    expect(row).toMatchObject({ account_id: made.id, status: 'open', reason: 'We have moved', answer: null });
    expect(row.changes).toEqual([
      { path: 'businessDetails.estimatedMonthlyVolume', from: null, to: { amount: '100', currency: 'USD' } },
      { path: 'businessDetails.ids.tax', from: 'AAACA1234A', to: 'AAACA1234B' },
      { path: 'businessDetails.physicalAddress.city', from: null, to: 'Kochi' },
    ]);
    expect(await account(made)).toEqual(made);
    expect(await eventsOf(root, row.id)).toEqual(['change_request.created']);
  });

  it('refuses a draft user, what is deactivated, no change, a date to come, and a second open request', async () => {
    const draft = await makeAccount(fixture, root, 'connected_user');
    const dba = { 'businessDetails.dba': 'Acme Retail' };
    expect(await refusal(ask(draft, dba))).toBe('status_invalid account.status');
    const partner = await makeAccount(fixture, root);
    await write(root, 'move_account', { id: partner.id, from: ['draft'], to: 'deactivated' });
    expect(await refusal(ask(partner, dba))).toBe('status_invalid account.status');
    const made = await user();
    const same = { 'businessDetails.legalName': 'Acme' };
    expect(await refusal(ask(made, same))).toBe('parameter_invalid change_request.business_details');
    expect(await refusal(ask(made, { 'businessDetails.dateOfIncorporation': '2999-01-01' }))).toBe(
      'parameter_invalid account.business_details.date_of_incorporation',
    );
    const first = await ask(made, dba);
    expect(await refusal(ask(made, dba))).toBe('state_conflict change_request.account_id');
    await end(first, 'withdrawn');
    expect((await ask(made, dba)).id).not.toBe(first.id);
  });

  it('admits one of several at the same time', async () => {
    const made = await user();
    const asked = Array.from({ length: 6 }, (_, n) => ask(made, { 'businessDetails.dba': `Name ${n}` }));
    const done = await Promise.allSettled(asked);
    expect(done.filter(({ status }) => status === 'fulfilled').length).toBe(1);
  });
});

of('apply_changes', () => {
  it('changes what is named and nothing else', async () => {
    const made = await user();
    const request = await ask(made, { 'businessDetails.ids.tax': null, 'businessDetails.dba': 'Acme Retail' });
    await call('apply_changes', root.tenantId, false, '{}', await rowText('change_request', root, request.id));
    expect((await account(made)).business_details).toEqual({
      ...{ legalName: 'Acme', type: 'company', dba: 'Acme Retail', ids: { tax: null }, physicalAddress: {} },
    });
    expect((await eventsOf(root, made.id)).at(-1)).toBe('account.updated');
  });

  it('changes a root in both modes when it was asked in live mode, but its documents in live mode alone', async () => {
    const changes = { 'businessDetails.dba': 'Spices', 'supportingDocumentation.idDocument': 'file_1' };
    const request = await ask(root, changes, root.inLive);
    await end(request, 'accepted', root.inLive);
    const [live, test] = [await account(root, root.inLive), await account(root)];
    expect([live.business_details.dba, test.business_details.dba]).toEqual(['Spices', 'Spices']);
    expect(live.supporting_documentation.idDocument).toBe('file_1');
    expect(test.supporting_documentation.idDocument).toBe(undefined);
  });

  it('changes a root in test mode alone when it was asked in test mode', async () => {
    const before = await account(root, root.inLive);
    await end(await ask(root, { 'businessDetails.dba': 'Tea' }), 'accepted');
    expect((await account(root)).business_details.dba).toBe('Tea');
    expect(await account(root, root.inLive)).toEqual(before);
  });
});

of('end_change_request', () => {
  it.each([
    ['accepted', 'Acme Retail', ['change_request.created', 'change_request.accepted']],
    ['declined', undefined, ['change_request.created', 'change_request.declined']],
    ['withdrawn', undefined, ['change_request.created', 'change_request.withdrawn']],
  ])('%s: the account has what was accepted alone, and a request ends once', async (to, dba, events) => {
    const made = await user();
    const request = await ask(made, { 'businessDetails.dba': 'Acme Retail' });
    const ended = await end(request, to);
    expect(ended).toMatchObject({ id: request.id, status: to, answer: 'As you wish', version: '1' });
    expect(ended.answered_at).toBe(ended.updated_at);
    expect((await account(made)).business_details.dba).toBe(dba);
    expect(await eventsOf(root, request.id)).toEqual(events);
    for (const again of ['accepted', 'declined', 'withdrawn'])
      expect(await refusal(end(request, again))).toBe('status_invalid change_request.status');
    expect(await violations(fixture)).toEqual([]);
  });

  it('gives a deactivated account nothing, and can be declined', async () => {
    const made = await user();
    const request = await ask(made, { 'businessDetails.dba': 'Acme Retail' });
    await write(root, 'move_account', { id: made.id, from: [made.status], to: 'deactivated' });
    expect(await refusal(end(request, 'accepted'))).toBe('status_invalid account.status');
    expect((await end(request, 'declined')).status).toBe('declined');
  });

  it('waits for the account before it takes the request, as a new request does', async () => {
    const made = await user();
    const request = await ask(made, { 'businessDetails.dba': 'Acme Retail' });
    const { accepting, free } = await world.sql.begin(async (tx) => {
      await lockRow(tx, root, 'account', made.id);
      const asked = end(request, 'accepted');
      await statementsWaiting(world, 1);
      const rows = await world.sql`select id from change_request where tenant_id = ${root.tenantId}
        and not livemode and id = ${request.id} for update skip locked`;
      return { accepting: [asked], free: rows.length };
    });
    expect(free).toBe(1);
    expect((await accepting[0])!.status).toBe('accepted');
  });
});

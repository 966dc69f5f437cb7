import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { patience, scale, seedsOf } from '../support/scale.js';
import {
  accountIn,
  assemble,
  type BusinessType,
  businessTypes,
  complete,
  type Kind,
  type Move,
  movedBy,
  type OnboardingProfile,
  type Purpose,
  type Role,
  secondDetails,
  type Status,
  without,
} from '../support/onboarding-profile.js';
import { type Edition, givenIn, must, Speaker, useWorld } from '../support/world.js';
import { activate, nothing, statusOf } from './activation-fixture.js';

vi.setConfig(patience);

// Without a worker no state changes by itself, so that a test can look at every state.
const world = useWorld({ worker: false });
const given = givenIn(world);

const statuses: Status[] = ['draft', 'verifying', 'activated', 'hold', 'deactivated'];
const moves: Move[] = ['activate', 'deactivate', 'verify', 'verify to hold', 'hold', 'close'];

/** Decisions 3.5: every edge of the status table. All others are 400 status_invalid. */
const edges: Record<Kind, Partial<Record<Status, Partial<Record<Move, Status>>>>> = {
  'connected user': {
    draft: { activate: 'verifying', close: 'deactivated' },
    verifying: { verify: 'activated', 'verify to hold': 'hold', hold: 'hold', close: 'deactivated' },
    activated: { hold: 'hold', close: 'deactivated' },
    hold: { verify: 'activated', close: 'deactivated' },
  },
  partner: {
    draft: { activate: 'verifying', deactivate: 'deactivated', close: 'deactivated' },
    verifying: {
      verify: 'activated',
      'verify to hold': 'hold',
      hold: 'hold',
      deactivate: 'deactivated',
      close: 'deactivated',
    },
    activated: { hold: 'hold', deactivate: 'deactivated', close: 'deactivated' },
    hold: { verify: 'activated', close: 'deactivated' },
    deactivated: { activate: 'verifying' },
  },
};

const mutations: Record<Move, [field: string, input: string, more?: object]> = {
  activate: ['activateAccount', 'ActivateAccountInput'],
  deactivate: ['deactivateAccount', 'DeactivateAccountInput'],
  verify: ['verifyTestAccount', 'VerifyTestAccountInput'],
  'verify to hold': ['verifyTestAccount', 'VerifyTestAccountInput', { outcome: 'HOLD' }],
  hold: ['holdTestAccount', 'HoldTestAccountInput'],
  close: ['deactivateTestAccount', 'DeactivateTestAccountInput'],
};
const graph = (move: Move, speaker: Speaker, id: string) => {
  const [field, input, more] = mutations[move];
  return speaker.graph(
    `mutation ($input: ${input}!) { answer: ${field}(input: $input) { account { status capability { ` +
      'multicurrencyExportsV1 } } } }',
    { input: { id, ...more } },
  );
};

describe.each(['connected user', 'partner'] as const)('the status of a %s', (kind) => {
  const rows = statuses.flatMap((from) => moves.map((move) => ({ from, move, to: edges[kind][from]?.[move] })));
  let platform: Speaker;
  beforeAll(async () => {
    platform = await given.platform(1);
  });
  it.concurrent.each(rows)('$from, $move: $to', async ({ from, move, to }) => {
    const one = await accountIn(platform, kind, from);
    // What is refused changes nothing, so both APIs can refuse it for one account.
    const two = to ? await accountIn(platform, kind, from) : one;

    const [byRest, byGraph] = await Promise.all([movedBy[move](platform, one), graph(move, platform, two)]);

    const code = move === 'deactivate' && kind !== 'partner' ? 'account_type_invalid' : 'status_invalid';
    expect([byRest.status, byRest.codes, byRest.body.status]).toEqual(to ? [200, [], to] : [400, [code], undefined]);
    expect([byGraph.codes, byGraph.body.data?.answer?.account.status]).toEqual(
      to ? [[], to.toUpperCase()] : [[code], undefined],
    );
    expect(await Promise.all([statusOf(platform, one), statusOf(platform, two)])).toEqual([to ?? from, to ?? from]);
  });
});

describe('deactivating', () => {
  it.each([1, 2] as const)(
    'is for partners only: a root and a connected user have the wrong type, Edition %i',
    async (edition) => {
      const [platform, direct] = await Promise.all([given.platform(edition), given.directUser(edition)]);
      const user = await platform.connectedUser();

      const replies = await Promise.all([
        movedBy.deactivate(platform, platform.id),
        movedBy.deactivate(platform, user.id),
        movedBy.deactivate(user, user.id),
        movedBy.deactivate(direct, direct.id),
      ]);

      expect(replies.map(({ status, codes }) => [status, codes])).toEqual(
        replies.map(() => [400, ['account_type_invalid']]),
      );
      expect(await Promise.all([statusOf(platform, platform.id), statusOf(direct, direct.id)])).toEqual([
        'activated',
        'activated',
      ]);
    },
  );

  it('can be undone by another activation for a partner, and not for a connected user', async () => {
    const platform = await given.platform(2);
    const [partner, user] = await Promise.all([
      accountIn(platform, 'partner', 'activated'),
      accountIn(platform, 'connected user', 'activated'),
    ]);
    await Promise.all([must(movedBy.deactivate(platform, partner)), must(movedBy.close(platform, user))]);

    const [again, never] = await Promise.all([activate(platform, partner), activate(platform, user)]);

    expect([again.status, again.body.status]).toEqual([200, 'verifying']);
    expect([never.status, never.codes]).toEqual([400, ['status_invalid']]);
  });

  it('finds no partner of another tenant', async () => {
    const [mine, other] = await Promise.all([given.directUser(1), given.directUser(1)]);
    const partner = await other.partner();

    expect((await movedBy.deactivate(mine, partner.id)).status).toBe(404);
    expect(await statusOf(other, partner.id)).toBe('draft');
  });

  it('takes no parameters, like activating', async () => {
    const user = await given.directUser(1);
    const partner = await user.partner();

    const replies = await Promise.all([
      user.post(`/v1/accounts/${partner.id}/deactivate`, { reason: 'x' }),
      user.post(`/v1/accounts/${partner.id}/activate`, { nickname: 'x' }),
    ]);

    expect(replies.map(({ status, codes, fieldNames }) => [status, codes, fieldNames])).toEqual([
      [400, ['parameter_unknown'], ['account.reason']],
      [400, ['parameter_unknown'], ['account.nickname']],
    ]);
    expect(await statusOf(user, partner.id)).toBe('draft');
  });
});

describe('the capability', () => {
  const expected: Record<Status, string> = {
    draft: 'pending',
    verifying: 'verifying',
    activated: 'activated',
    hold: 'hold',
    deactivated: 'hold',
  };

  it.each(statuses)('follows the status %s in Edition 1', async (status) => {
    const platform = await given.platform(1);
    const ids = await Promise.all([
      accountIn(platform, 'partner', status),
      accountIn(platform, 'connected user', status),
    ]);

    for (const id of ids) {
      const { capability } = await must(platform.get(`/v1/accounts/${id}`));
      expect(capability).toEqual({ multicurrency_exports_v1: expected[status] });
      const shown = await must(
        platform.graph('query ($id: ID!) { account(id: $id) { capability { multicurrencyExportsV1 } } }', { id }),
      );
      expect(shown.data.account.capability).toEqual({ multicurrencyExportsV1: expected[status].toUpperCase() });
    }
    const user = ids[1];
    const listed = await Promise.all(
      ['pending', 'verifying', 'activated', 'hold'].map(async (value) => {
        const list = await must(platform.get(`/v1/accounts?type=user&capability.multicurrency_exports_v1=${value}`));
        return list.data.map(({ id }: { id: string }) => id);
      }),
    );
    expect(listed).toEqual(
      ['pending', 'verifying', 'activated', 'hold'].map((value) => (value === expected[status] ? [user] : [])),
    );
  });

  it('is separate in each mode for a root of Edition 1', async () => {
    const { test, live } = await given.platformBoth(1);
    const shown = await Promise.all([test, live].map((speaker) => must(speaker.get(`/v1/accounts/${test.id}`))));
    expect(shown.map(({ status, capability, livemode }) => [status, capability, livemode])).toEqual([
      ['activated', { multicurrency_exports_v1: 'activated' }, null],
      ['draft', { multicurrency_exports_v1: 'pending' }, null],
    ]);
  });

  it('is in Edition 2 an empty object in every status, and null only for an aggregator', async () => {
    const [platform, aggregator] = await Promise.all([given.platform(2), given.platform(2, { subType: 'aggregator' })]);
    const user = await aggregator.connectedUser();
    const partners = await Promise.all(statuses.map((status) => accountIn(platform, 'partner', status)));

    const shown = await Promise.all([
      ...[platform.id, ...partners].map((id) => must(platform.get(`/v1/accounts/${id}`))),
      must(aggregator.get(`/v1/accounts/${user.id}`)),
      must(aggregator.get(`/v1/accounts/${aggregator.id}`)),
    ]);

    expect(shown.map(({ capability }) => capability)).toEqual([{}, {}, {}, {}, {}, {}, {}, null]);
    expect(shown.map(({ sub_type }) => sub_type)).toEqual([...Array(7).fill(null), 'aggregator']);
    const filtered = await platform.get('/v1/accounts?capability.multicurrency_exports_v1=pending');
    expect([filtered.status, filtered.codes, filtered.fieldNames]).toEqual([
      400,
      ['parameter_unknown'],
      ['account.capability.multicurrency_exports_v1'],
    ]);
  });
});

/**
 * Edition 1, rules 2 to 4, implemented again and separately from the product: the missing requirements of a profile, by
 * field name.
 */
function firstMissing({ details, document, persons, payoutAddress }: OnboardingProfile): string[] {
  const type = details.type as BusinessType | undefined;
  const { ids = {}, physical_address: place } = details as {
    ids?: Record<string, string>;
    physical_address?: Record<string, string>;
  };
  const located = ['line1', 'city', 'postal_code', 'country'].every((part) => place?.[part]);
  const out = [
    ...(payoutAddress ? [] : ['account.addresses.user_payout']),
    ...(place?.country === 'IN' ? mistyped(ids, type) : []),
  ];
  if (type === undefined) return [...out, 'account.business_details.type'];
  if (type === 'sole_proprietor' || type === 'individual') {
    if (!ids.tax_gst && document !== 'tax_document' && !located) out.push('account.business_details.ids.tax_gst');
    if (persons.length !== 1 || persons[0]!.join() !== 'owner') out.push('account.persons.owner');
    return out;
  }
  if (type === 'partnership') {
    if (!ids.tax_gst) out.push('account.business_details.ids.tax_gst');
    if (document !== 'identity_document') out.push('account.supporting_documentation.id_document');
  } else if (!ids.business && !ids.tax && !ids.tax_gst && document === null) {
    out.push('account.business_details.ids.business');
  }
  for (const role of ['director', 'owner', 'representative'] as const)
    if (!persons.some((roles) => roles.includes(role))) out.push(`account.persons.${role}`);
  return out;
}

/** The numbers of a business in India that have not their form; that of a company is one of a company alone. */
const mistyped = (ids: Record<string, string>, type: string | undefined) =>
  Object.entries(ids)
    .filter(([name, number]) => number === 'ID42' && name !== 'tax_deduction')
    .filter(([name]) => name !== 'business' || type === 'company' || type === 'limited_liability_partnership')
    .map(([name]) => `account.business_details.ids.${name}`);

/** The same for Edition 2, rule 2. */
function secondMissing({ nickname, details, persons, payoutAddress }: OnboardingProfile): string[] {
  const at = (path: string) =>
    path.split('.').reduce<unknown>((hash, name) => (hash as Record<string, unknown> | undefined)?.[name], details);
  return [
    ...secondDetails.filter((path) => !at(path)).map((path) => `account.business_details.${path}`),
    ...(nickname ? [] : ['account.nickname']),
    ...(persons.filter((roles) => roles.includes('director')).length >= 2 ? [] : ['account.persons.director']),
    ...(payoutAddress ? [] : ['account.addresses.user_payout']),
  ];
}

const role = fc.constantFrom<Role>('director', 'owner', 'representative');
const persons = fc.array(fc.uniqueArray(role, { minLength: 1 }), { maxLength: 4 });
const document = fc.constantFrom<Purpose | null>(null, 'additional_verification', 'identity_document', 'tax_document');
const often = fc.integer({ min: 0, max: 9 }).map((n) => n > 1);
/** The numbers of a business, each with its form or another. */
const number = (right: string) => fc.constantFrom('ID42', right);

const firstProfile: fc.Arbitrary<OnboardingProfile> = fc.record({
  nickname: fc.boolean(),
  details: fc.record(
    {
      type: fc.constantFrom(...businessTypes),
      ids: fc.record(
        {
          business: number('U52100RJ2014PTC041234'),
          tax: number('AAPFU0939F'),
          tax_gst: number('27AAPFU0939F1ZV'),
          tax_deduction: number('PNEA01234B'),
        },
        { requiredKeys: [] },
      ),
      physical_address: fc.constantFrom(
        { city: 'Pune' },
        { line1: '1 Wharf', city: 'Pune', postal_code: '411001', country: 'IN' },
      ),
    },
    { requiredKeys: [] },
  ),
  document,
  persons: fc.oneof(persons, fc.constantFrom<Role[][]>([['owner']], [['director', 'owner'], ['representative']])),
  payoutAddress: often,
});
const secondProfile: fc.Arbitrary<OnboardingProfile> = fc.record({
  nickname: often,
  // Most profiles leave out few requirements, so that many profiles are complete.
  details: fc
    .oneof(fc.constant([]), fc.subarray([...secondDetails], { maxLength: 4 }))
    .map((gone) => gone.reduce((hash, path) => without(hash, path), complete(2).details)),
  document,
  persons: fc.oneof(persons, fc.constant<Role[][]>([['director'], ['director', 'owner']])),
  payoutAddress: often,
});

/** A requirement in the graph, and an error of it. */
interface Requirement {
  fieldName: string;
  code: string;
  path: string[];
  message: string;
}
interface GraphError {
  message: string;
  extensions: { code: string };
}
/** A name of the graph as /v1 has it. */
const inWords = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

describe.each([
  { edition: 1 as Edition, profiles: firstProfile, missing: firstMissing },
  { edition: 2 as Edition, profiles: secondProfile, missing: secondMissing },
])('any profile, Edition $edition', ({ edition, profiles, missing }) => {
  const seeds = seedsOf('api/account-status');
  it.each(seeds)('has requirements exactly if activation is refused, in the same order, seed %i', async (seed) => {
    const platform = await given.platform(edition);
    const seen = { complete: 0, incomplete: 0 };
    await fc.assert(
      fc.asyncProperty(profiles, async (profile) => {
        const id = await assemble(platform, profile);
        const asked = await must(
          platform.graph('query ($id: ID!) { account(id: $id) { requirements { fieldName code path message } } }', {
            id,
          }),
        );
        const requirements: Requirement[] = asked.data.account.requirements;
        const reply = await activate(platform, id);

        const expected = missing(profile);
        seen[expected.length === 0 ? 'complete' : 'incomplete']++;
        expect(requirements.map(({ fieldName }) => fieldName)).toEqual(reply.fieldNames);
        expect(requirements.map(({ path }) => ['account', ...path.map(inWords)].join('.'))).toEqual(reply.fieldNames);
        // In GraphQL's format, where enum values have other names.
        const refused = reply.body.errors && (await graph('activate', platform, id));
        expect(requirements.map(({ code }) => code)).toEqual(
          (refused?.body.errors ?? []).map((e: GraphError) => e.extensions.code),
        );
        expect(requirements.map(({ message }) => message)).toEqual(
          (refused?.body.errors ?? []).map((e: GraphError) => e.message),
        );
        expect(reply.fieldNames.toSorted()).toEqual(expected.toSorted());
        expect([reply.status, await statusOf(platform, id)]).toEqual(
          expected.length === 0 ? [200, 'verifying'] : [400, 'draft'],
        );
      }),
      // The examples are the first of the runs: both kinds must occur, or the property has checked nothing.
      { seed, numRuns: scale.profiles, examples: [[complete(edition)], [nothing]] },
    );
    expect(Math.min(seen.complete, seen.incomplete)).toBeGreaterThan(0);
  });
});

describe('the test helpers for accounts', () => {
  it.each(moves.filter((move) => move !== 'activate' && move !== 'deactivate'))(
    'are for test keys only: %s with a live key is 403',
    async (move) => {
      const { live } = await given.directUserBoth(1);
      const partner = await live.partner();

      const [byRest, byGraph] = await Promise.all([movedBy[move](live, partner.id), graph(move, live, partner.id)]);

      expect([byRest.status, byRest.codes]).toEqual([403, ['permission_denied']]);
      expect([byGraph.codes, byGraph.body.errors[0].extensions.httpStatus]).toEqual([['permission_denied'], 403]);
      expect(await statusOf(live, partner.id)).toBe('draft');
    },
  );

  it('refuse an unknown outcome, and an account of another tenant', async () => {
    const [mine, other] = await Promise.all([given.directUser(1), given.directUser(1)]);
    const [partner, outsider] = await Promise.all([mine.partner(), other.partner()]);
    await must(activate(mine, partner.id));

    const odd = await mine.post(`/v1/test_helpers/accounts/${partner.id}/verify`, { outcome: 'draft' });
    const replies = await Promise.all(
      moves.filter((move) => move !== 'activate').map((move) => movedBy[move](mine, outsider.id)),
    );

    expect([odd.status, odd.codes, odd.fieldNames]).toEqual([400, ['parameter_invalid'], ['account.outcome']]);
    expect(replies.map(({ status, codes }) => [status, codes])).toEqual(replies.map(() => [404, ['resource_missing']]));
    expect(await statusOf(other, outsider.id)).toBe('draft');
  });

  it('hold a root of test mode and lift the hold again, without a change to its live mode', async () => {
    const { test, live } = await given.platformBoth(1);
    const seen = [];
    for (const move of ['hold', 'verify', 'close'] as const)
      seen.push((await must(movedBy[move](test, test.id))).status);
    expect(seen).toEqual(['hold', 'activated', 'deactivated']);
    expect(await statusOf(live, live.id)).toBe('draft');
  });

  // Payouts follow the status: an account that is not activated receives none.
  it('switch payouts on and off with the activation', async () => {
    const platform = await given.platform(1);
    const user = await accountIn(platform, 'connected user', 'verifying');
    const payouts = async () => {
      const list = await must(platform.get(`/v1/account_settings?account_id=${user}`));
      const { enabled, reason_code_not_enabled } = list.data[0].payouts;
      return [enabled, reason_code_not_enabled];
    };
    const seen = [await payouts()];
    for (const move of ['verify', 'hold', 'verify', 'close'] as const) {
      await must(movedBy[move](platform, user));
      seen.push(await payouts());
    }
    const off = [false, 'account_not_activated'];
    expect(seen).toEqual([off, [true, null], off, [true, null], off]);
  });
});

import { cacheExchange, Client, type CombinedError, fetchExchange, gql, type OperationResult } from '@urql/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { pdf } from '../support/bodies.js';
import {
  eventually,
  givenIn,
  nickname,
  payoutAddress,
  payoutAddressBody,
  type Speaker,
  useWorld,
} from '../support/world.js';

const world = useWorld();
const given = givenIn(world);

const listLength = 37;
const pageSize = 5;

/**
 * The objects of two lists with 37 members each: the account with 36 partners, and its receiving address with 36 payout
 * addresses.
 */
let walker: Speaker;

beforeAll(async () => {
  walker = await given.directUser(1);
  await eventually(
    () => walker.get('/v1/addresses'),
    (reply) => reply.body.data.length === 1,
  );
  const others = Array.from({ length: listLength - 1 });
  // All in one second, so that the order depends on the tie-break by id and not on the clock.
  await Promise.all(others.map(() => walker.partner()));
  const made = await Promise.all(others.map(() => walker.post('/v1/addresses', payoutAddressBody(walker.id))));
  expect(made.map((reply) => reply.status)).toEqual(others.map(() => 200));
});

/** urql as an application configures it: its document cache, its choice of GET or POST, and the key as a header. */
function clientOf(speaker: Speaker) {
  const sent: string[] = [];
  const client = new Client({
    url: `${world.origin}/graphql`,
    exchanges: [cacheExchange, fetchExchange],
    fetchOptions: { headers: { authorization: `Bearer ${speaker.key}` } },
    fetch: async (address, init) => {
      sent.push(init?.method ?? 'GET');
      return fetch(address, init);
    },
  });
  return { client, sent };
}

const pageOf = (list: string) => gql`
  query Page($first: Int, $after: ID, $last: Int, $before: ID) {
    list: ${list}(first: $first, after: $after, last: $last, before: $before) {
      edges { cursor node { id created status } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      totalCount
    }
  }
`;

interface Item {
  id: string;
  created: string;
  status: string;
}

interface PageData {
  list: {
    edges: { cursor: string; node: Item }[];
    pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
    totalCount: number | null;
  };
}

/** All pages of a list in the order in which the client read them; it uses only `pageInfo` to continue and to stop. */
async function pages(speaker: Speaker, list: string, backward = false): Promise<PageData['list'][]> {
  const { client } = clientOf(speaker);
  const met: PageData['list'][] = [];
  for (let cursor: string | null = null; ; ) {
    const variables: object = backward ? { last: pageSize, before: cursor } : { first: pageSize, after: cursor };
    const result: OperationResult<PageData> = await client.query(pageOf(list), variables).toPromise();
    if (!result.data) throw result.error ?? new Error('no data');
    const page: PageData['list'] = result.data.list;
    met.push(page);
    if (!(backward ? page.pageInfo.hasPreviousPage : page.pageInfo.hasNextPage)) return met;
    cursor = backward ? page.pageInfo.startCursor : page.pageInfo.endCursor;
    if (met.length > listLength) throw new Error('the walk has no end');
  }
}

/** The same list through /v1: every object, newest first. */
async function walkV1(speaker: Speaker, path: string): Promise<Item[]> {
  const all: Item[] = [];
  for (let after = ''; ; ) {
    const reply = await speaker.get(`${path}?limit=${pageSize}${after}`);
    for (const { id, created, status } of reply.body.data)
      all.push({
        id,
        created: new Date(created * 1000).toISOString().replace('.000Z', 'Z'),
        status: status.toUpperCase(),
      });
    if (!reply.body.has_next) return all;
    after = `&starting_after=${all.at(-1)!.id}`;
    if (all.length > 2 * listLength) throw new Error('the walk has no end');
  }
}

const lists = [
  ['accounts', '/v1/accounts'],
  ['addresses', '/v1/addresses'],
] as const;

describe.each(lists)('paging through %s with an independent client', (list, path) => {
  it('forward shows every object once, newest first, as /v1 lists them', async () => {
    const [met, listed] = await Promise.all([pages(walker, list), walkV1(walker, path)]);

    expect(met.map((page) => page.edges.length)).toEqual([5, 5, 5, 5, 5, 5, 5, 2]);
    expect(met.map((page) => [page.pageInfo.hasPreviousPage, page.pageInfo.hasNextPage])).toEqual([
      [false, true],
      ...Array.from({ length: 6 }, () => [true, true]),
      [true, false],
    ]);
    const nodes = met.flatMap((page) => page.edges.map((edge) => edge.node));
    expect(nodes.map(({ id, created, status }) => ({ id, created, status }))).toEqual(listed);
    expect(new Set(nodes.map((node) => node.id)).size).toBe(listLength);
    const newestFirst = nodes.toSorted((a, b) => compare(b.created, a.created) || compare(b.id, a.id));
    expect(nodes).toEqual(newestFirst);
  });

  it('backward shows the pages of the list from its other end, each still newest first', async () => {
    const [met, listed] = await Promise.all([pages(walker, list, true), walkV1(walker, path)]);

    expect(met.map((page) => page.edges.length)).toEqual([5, 5, 5, 5, 5, 5, 5, 2]);
    expect(met.map((page) => [page.pageInfo.hasPreviousPage, page.pageInfo.hasNextPage])).toEqual([
      [true, false],
      ...Array.from({ length: 6 }, () => [true, true]),
      [false, true],
    ]);
    const ids = met.toReversed().flatMap((page) => page.edges.map((edge) => edge.node.id));
    expect(ids).toEqual(listed.map((item) => item.id));
  });

  it('has ids as cursors, the ends of the page in its info, and the length of the list on every page', async () => {
    for (const page of [...(await pages(walker, list)), ...(await pages(walker, list, true))]) {
      const ids = page.edges.map((edge) => edge.node.id);
      expect(page.edges.map((edge) => edge.cursor)).toEqual(ids);
      expect([page.pageInfo.startCursor, page.pageInfo.endCursor]).toEqual([ids[0], ids.at(-1)]);
      expect(page.totalCount).toBe(listLength);
    }
  });

  it('can use a cursor of the graph as starting_after and ending_before of /v1, and change direction', async () => {
    const listed = (await walkV1(walker, path)).map((item) => item.id);
    const { client } = clientOf(walker);
    const first = await client.query<PageData>(pageOf(list), { first: pageSize }).toPromise();
    const cursor = first.data!.list.pageInfo.endCursor!;

    const older = await walker.get(`${path}?limit=${pageSize}&starting_after=${cursor}`);
    const newer = await walker.get(`${path}?limit=${pageSize}&ending_before=${cursor}`);
    const back = await client.query<PageData>(pageOf(list), { last: pageSize, before: cursor }).toPromise();

    expect(older.body.data.map((item: Item) => item.id)).toEqual(listed.slice(5, 10));
    expect(newer.body.data.map((item: Item) => item.id)).toEqual(listed.slice(0, 4));
    expect(back.data!.list.edges.map((edge) => edge.node.id)).toEqual(listed.slice(0, 4));
    expect(back.data!.list.pageInfo).toMatchObject({ hasPreviousPage: false, hasNextPage: true });
  });
});

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

const partnersQuery = gql`
  query Partners {
    accounts(first: 3, type: [PARTNER]) {
      nodes { id nickname metadata }
    }
  }
`;
const viewerQuery = gql`
  query Mode {
    viewer { mode edition }
  }
`;
const createAccount = gql`
  mutation CreateAccount($input: CreateAccountInput!) {
    createAccount(input: $input) {
      account { id nickname }
    }
  }
`;

const partnerInput = (nickname: string, more: object = {}) => ({
  type: 'PARTNER',
  nickname,
  businessDetails: {
    legalName: 'Blue Whale LLC',
    email: 'ap@whale.example',
    type: 'COMPANY',
    physicalAddress: { country: 'US' },
  },
  ...more,
});

describe("a client's cache", () => {
  it('answers a repeated query, and queries again after a mutation of the same type', async () => {
    const user = await given.directUser(1);
    const { client, sent } = clientOf(user);
    const old = await user.partner();
    const nicknames = async () => {
      const { data } = await client.query(partnersQuery, {}).toPromise();
      return data.accounts.nodes.map((node: { nickname: string }) => node.nickname);
    };
    expect(await nicknames()).toEqual([old.nickname]);
    expect(await nicknames()).toEqual([old.nickname]);
    await client.query(viewerQuery, {}).toPromise();
    expect(sent).toEqual(['GET', 'GET']);

    const name = nickname();
    const made = await client.mutation(createAccount, { input: partnerInput(name) }).toPromise();

    expect(made.data.createAccount.account).toMatchObject({ __typename: 'Account', nickname: name });
    expect(await nicknames()).toEqual([name, old.nickname]);
    // Of another type, so the mutation has not changed it.
    await client.query(viewerQuery, {}).toPromise();
    expect(sent).toEqual(['GET', 'GET', 'POST', 'GET']);
  });

  it('updates a list on the screen after a mutation, without a request by the application', async () => {
    const user = await given.directUser(1);
    const { client } = clientOf(user);
    const shown: string[][] = [];
    const first = await user.partner();
    const { unsubscribe } = client.query(partnersQuery, {}).subscribe((result) => {
      if (!result.stale) shown.push(result.data.accounts.nodes.map((node: { id: string }) => node.id));
    });
    await eventually(
      async () => shown.length,
      (count) => count === 1,
    );

    const made = await client.mutation(createAccount, { input: partnerInput(nickname()) }).toPromise();

    await eventually(
      async () => shown.length,
      (count) => count === 2,
    );
    unsubscribe();
    expect(shown).toEqual([[first.id], [made.data.createAccount.account.id, first.id]]);
  });
});

describe('the error that a client receives', () => {
  /** The parts that an application reads: no network error, the status, and the extensions of each problem. */
  const partsOf = (error: CombinedError | undefined) => ({
    network: error?.networkError,
    status: error?.response?.status,
    problems: error?.graphQLErrors.map((e) => e.extensions),
  });
  const requestId = expect.stringMatching(/^req_\w+$/);

  it('is the code, the status and the name of the parameter when a nickname is taken', async () => {
    const user = await given.directUser(1);
    const { nickname: name } = await user.partner();
    const { client } = clientOf(user);

    const { error } = await client.mutation(createAccount, { input: partnerInput(name) }).toPromise();

    expect(partsOf(error)).toEqual({
      network: undefined,
      status: 200,
      problems: [
        {
          code: 'NICKNAME_TAKEN',
          httpStatus: 409,
          docUrl: '/docs/errors#nickname_taken',
          argumentPath: ['input', 'nickname'],
          error: {
            code: 'nickname_taken',
            message: expect.any(String),
            metadata: { field_name: 'account.nickname' },
          },
          requestId,
        },
      ],
    });
    expect(error?.graphQLErrors[0]?.path).toEqual(['createAccount']);
  });

  const invalid = {
    // The edition's rules, in a resolver, refuse these: the operation runs and returns null.
    'an empty and a missing parameter': {
      status: 200,
      businessDetails: { legalName: '', email: 'ap@x.example', physicalAddress: { country: 'US' } },
      fields: ['account.business_details.legal_name', 'account.business_details.type'],
      codes: ['PARAMETER_INVALID_EMPTY', 'PARAMETER_MISSING'],
    },
    // A type refuses these before anything runs.
    'a malformed e-mail address': {
      status: 400,
      businessDetails: { legalName: 'X', email: 'nobody', type: 'COMPANY', physicalAddress: { country: 'US' } },
      fields: ['account.business_details.email'],
      codes: ['PARAMETER_INVALID'],
    },
    'an enum value and a member that do not exist': {
      status: 400,
      businessDetails: {
        legalName: 'X',
        email: 'ap@x.example',
        type: 'GUILD',
        motto: 'x',
        physicalAddress: { country: 'US' },
      },
      fields: ['account.business_details.motto', 'account.business_details.type'],
      codes: ['PARAMETER_UNKNOWN', 'PARAMETER_INVALID'],
    },
  };
  it.each(Object.entries(invalid))(
    'is one problem per parameter for %s',
    async (_, { status, fields, codes, ...rest }) => {
      const user = await given.directUser(1);
      const { client } = clientOf(user);
      const input = partnerInput(nickname(), { businessDetails: rest.businessDetails });

      const { error } = await client.mutation(createAccount, { input }).toPromise();

      expect(partsOf(error)).toMatchObject({ network: undefined, status });
      expect(error?.graphQLErrors.map((e) => e.extensions.code)).toEqual(codes);
      expect(error?.graphQLErrors.map((e: any) => e.extensions.error.metadata.field_name)).toEqual(fields);
    },
  );

  it('is 401 and its code when the key is wrong, and not a network error', async () => {
    const { client } = clientOf(walker.using('sk_test_wrong'));

    const { error, data } = await client.query(viewerQuery, {}).toPromise();

    expect(data).toBeUndefined();
    expect(partsOf(error)).toEqual({
      network: undefined,
      status: 401,
      problems: [
        {
          code: 'API_KEY_INVALID',
          httpStatus: 401,
          docUrl: '/docs/errors#api_key_invalid',
          error: { code: 'api_key_invalid', message: expect.any(String), metadata: {} },
          requestId,
        },
      ],
    });
  });

  // The page of addresses cannot be null, so the object around it is null; the fields next to that object have their
  // values.
  it('comes together with the available data', async () => {
    const { client } = clientOf(walker);
    const query = gql`
      query Both($id: ID!) {
        good: node(id: $id) { id }
        bad: node(id: $id) { ... on Account { id addresses(first: 1000) { nodes { id } } } }
      }
    `;

    const { data, error } = await client.query(query, { id: walker.id }).toPromise();

    expect(data).toEqual({
      good: { __typename: 'Account', id: walker.id },
      bad: { __typename: 'Account', id: walker.id, addresses: null },
    });
    expect(partsOf(error)).toMatchObject({ network: undefined, status: 200 });
    expect(error?.graphQLErrors.map((e) => [e.path, e.extensions.code, e.extensions.argumentPath])).toEqual([
      [['bad', 'addresses'], 'PARAMETER_INVALID', ['first']],
    ]);
  });
});

describe('refetching by id, as Relay does', () => {
  const refetch = gql`
    query Refetch($id: ID!) {
      node(id: $id) {
        __typename
        id
        ... on Account { nickname }
        ... on AccountSetting { accountId }
        ... on Address { linkedId }
        ... on ApiKey { accountId }
        ... on File { filename }
        ... on Person { fullName }
      }
    }
  `;

  it('finds every kind of object by its id, with its own type', async () => {
    const platform = await given.platform(1);
    const user = await platform.connectedUser({ nickname: 'Refetched' });
    const [file, person, setting] = await Promise.all([
      user.upload('logo', pdf, 'logo.pdf'),
      platform.post('/v1/persons', {
        account_id: user.id,
        full_name: 'Meera Rao',
        relationship: { owner: true },
        identification: { tax_card_number: 'ABCPE1234F' },
      }),
      user.get(`/v1/account_settings?account_id=${user.id}`),
    ]);
    const address = await payoutAddress(platform, 'INR', user.id);
    const key = await platform.graph(
      'mutation ($id: ID) { createApiKey(input: { accountId: $id }) { apiKey { id } } }',
      { id: user.id },
    );
    const keyId = key.body.data.createApiKey.apiKey.id;
    const { client } = clientOf(platform);
    const ids = [user.id, setting.body.data[0].id, address.id, keyId, file.body.id, person.body.id];

    const found = await Promise.all(ids.map((id) => client.query(refetch, { id }).toPromise()));

    expect(found.map((result) => result.data?.node)).toEqual([
      { __typename: 'Account', id: user.id, nickname: 'Refetched' },
      { __typename: 'AccountSetting', id: setting.body.data[0].id, accountId: user.id },
      { __typename: 'Address', id: address.id, linkedId: user.id },
      { __typename: 'ApiKey', id: keyId, accountId: user.id },
      { __typename: 'File', id: file.body.id, filename: 'logo.pdf' },
      { __typename: 'Person', id: person.body.id, fullName: 'Meera Rao' },
    ]);
  });

  // A response must not reveal that an object of another tenant exists, so both are null, and neither is an error.
  it('returns null for an invented id and for the id of another tenant', async () => {
    const outsider = await given.directUser(1);
    const { client } = clientOf(walker);
    const ids = ['account_00000000000000000000000000000000', outsider.id, 'nonsense', 'deposit_', '_', ''];

    const found = await Promise.all(ids.map((id) => client.query(refetch, { id }).toPromise()));

    expect(found.map(({ data, error }) => [data?.node, error])).toEqual(ids.map(() => [null, undefined]));
  });

  it('returns several objects in the order of their ids, with null in the place of a missing one', async () => {
    const [user, outsider] = await Promise.all([given.directUser(1), given.directUser(1)]);
    const [one, two] = await Promise.all([user.partner(), user.partner()]);
    const { client } = clientOf(user);
    const ids = [two.id, outsider.id, one.id, two.id];

    const { data } = await client.query(gql`query Many($ids: [ID!]!) { nodes(ids: $ids) { id } }`, { ids }).toPromise();

    expect(data.nodes.map((node: { id: string } | null) => node?.id ?? null)).toEqual([two.id, null, one.id, two.id]);
  });
});

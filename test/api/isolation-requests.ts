import { type Edition, inputTypeOf, type Reply, type Speaker } from '../support/world.js';
import { reconcileAll } from './deposit-fixture.js';

/** One object of each kind that an account owns, by the prefix of its id. */
export type Holdings = Record<
  'account' | 'account_setting' | 'address' | 'change_request' | 'file' | 'key' | 'person',
  string
> &
  Record<'delivery' | 'export' | 'import' | 'import_row' | 'req' | 'session' | 'webhook', string> &
  Earnings;
/**
 * Objects that exist only after money has moved. A live connected user in draft has no receivable, and only a root has
 * reconciled a deposit and was paid out. An allocation is known by its cursor.
 */
export type Earnings = Record<'bt' | 'deposit' | 'event' | 'payment' | 'refund' | 'dispute', string> &
  Partial<Record<'receivable' | 'payout' | 'allocation' | 'checkout' | 'transaction', string>>;

export const hook = { url: 'https://hooks.invalid/', event_types: ['file.*'] };

/** A request with an id of another tenant, and the response that a missing object gets. */
export interface Probe {
  call(me: Speaker, id: string, own: Holdings): Promise<Reply>;
  answer: 'resource_missing' | 'parameter_invalid' | 'nothing';
  /** The other callers that are refused and so learn nothing. */
  platformOnly?: true;
  testOnly?: true;
  /** Needs an activated account in live mode; the connected users here are drafts. */
  activatedWhenLive?: true;
  /** The parameter exists only in this edition. */
  edition?: Edition;
  /** The operation exists only in Edition 2. */
  second?: true;
}

export const graphById = (name: string): Probe => ({
  call: (me, id) => me.graph(`query ($id: ID!) { ${name}(id: $id) { __typename } }`, { id }),
  answer: 'resource_missing',
});
export const mutation = (name: string, input: (id: string, me: Speaker, own: Holdings) => object): Probe => ({
  call: (me, id, own) =>
    me.graph(`mutation ($input: ${inputTypeOf(name)}!) { ${name}(input: $input) { __typename } }`, {
      input: input(id, me, own),
    }),
  answer: 'resource_missing',
});
export const sharesOf = (id: string) => ({ receivables: [{ id, amount: '1.00' }] });
/** Reconciles a deposit among several, of which the foreign one is refused by itself. */
export const amongSeveral = (input: (id: string, own: Holdings) => object): Probe => ({
  call: (me, id, own) => reconcileAll(me, [input(id, own)]),
  answer: 'resource_missing',
});
export const byIdInput = (name: string): Probe => ({
  call: (me, id) => me.graph(`mutation ($id: ID!) { ${name}(input: { id: $id }) { __typename } }`, { id }),
  answer: 'resource_missing',
});
export const helper = (path: string): Probe => ({
  call: (me, id) => me.post(path.replace(':id', id)),
  answer: 'resource_missing',
  testOnly: true,
});
/** The test helpers of an object, through both APIs. */
export const helpers = (noun: string, verbs: string[]): Record<string, Probe> =>
  Object.fromEntries(
    verbs.flatMap((verb) => [
      [`POST ${verb}`, helper(`/v1/test_helpers/${noun.toLowerCase()}s/:id/${verb}`)],
      [`${verb}Test${noun}`, { ...byIdInput(`${verb}Test${noun}`), testOnly: true as const }],
    ]),
  );
export const read = (path: string, answer: Probe['answer'] = 'resource_missing'): Probe => ({
  call: (me, id) => me.get(path.replace(':id', id)),
  answer,
});
export const write = (path: string, body: (id: string, me: Speaker, own: Holdings) => object): Probe => ({
  call: (me, id, own) =>
    me.post(
      Object.entries({ ...own, id, me: me.id }).reduce((at, [name, value]) => at.replace(`:${name}`, value), path),
      body(id, me, own),
    ),
  answer: 'resource_missing',
});
export const nodes: Record<string, Probe> = {
  node: { call: (me, id) => me.graph('query ($id: ID!) { node(id: $id) { id } }', { id }), answer: 'nothing' },
  nodes: {
    call: (me, id) => me.graph('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: [id, id] }),
    answer: 'nothing',
  },
  'events of': read('/v1/events?object_id=:id', 'nothing'),
  events: {
    call: (me, id) => me.graph('query ($id: ID!) { events(objectId: $id) { nodes { id } totalCount } }', { id }),
    answer: 'nothing',
  },
};
/** A cursor in every place that takes one: the lists of both APIs, and the edges. */
export const cursors = (path: string, list: string, edge?: string): Record<string, Probe> => ({
  [`${path} starting_after`]: read(`${path}?starting_after=:id`, 'parameter_invalid'),
  [`${path} ending_before`]: read(`${path}?ending_before=:id`, 'parameter_invalid'),
  ...graphCursors(list, edge),
});
export const graphCursors = (list: string, edge?: string): Record<string, Probe> => {
  const at = (text: string): Probe => ({
    call: (me, id) => me.graph(`query ($id: ID!) { ${text} }`, { id }),
    answer: 'parameter_invalid',
  });
  const page = '{ nodes { id } totalCount pageInfo { hasNextPage hasPreviousPage } }';
  return {
    [`${list} after`]: at(`${list}(first: 5, after: $id) ${page}`),
    [`${list} before`]: at(`${list}(last: 5, before: $id) ${page}`),
    ...(edge && {
      [`account.${edge} after`]: at(`viewer { account { ${edge}(first: 5, after: $id) ${page} } }`),
      [`account.${edge} before`]: at(`viewer { account { ${edge}(last: 5, before: $id) ${page} } }`),
    }),
  };
};
export const argument = (field: string, given: string, select: string): Probe => ({
  call: (me, id) => me.graph(`query ($id: ID!) { ${field}(${given}) { ${select} } }`, { id }),
  answer: 'nothing',
});
/** A member of the filter of a list. The argument of its name, which is deprecated, is a parameter of /v1. */
export const filter = (list: string, of: string) => argument(list, `filter: { ${of} }`, 'nodes { id } totalCount');

/** A cursor of an edge of the caller's own object. */
export function ofOwn(
  object:
    | 'address'
    | 'apiKey'
    | 'deposit'
    | 'event'
    | 'file'
    | 'import'
    | 'payment'
    | 'payout'
    | 'checkout'
    | 'receivable'
    | 'webhookEndpoint',
  edge: string,
  select = 'nodes { id }',
): Record<string, Probe> {
  const held = object === 'webhookEndpoint' ? 'webhook' : object === 'apiKey' ? 'key' : object;
  const at = (paging: string): Probe => ({
    call: (me, id, own) =>
      me.graph(`query ($id: ID!, $own: ID!) { ${object}(id: $own) { ${edge}(${paging}: $id) { ${select} } } }`, {
        id,
        own: own[held],
      }),
    answer: 'parameter_invalid',
  });
  return { [`${object}.${edge} after`]: at('after'), [`${object}.${edge} before`]: at('before') };
}

/** A mutation with each of the three documents of an account; two of them exist in one edition only. */
export const documented = (name: string, input: (documents: object, me: Speaker) => object): Record<string, Probe> =>
  Object.fromEntries(
    ([['idDocument'], ['ownershipStructureDocument', 1], ['physicalAddressDocument', 2]] as [string, Edition?][]).map(
      ([document, edition]) => [
        `${name}, ${document}`,
        {
          ...mutation(name, (id, me) => input({ [document]: id }, me)),
          ...(name === 'createConnectedUser' && { platformOnly: true as const }),
          ...(edition && { edition }),
        },
      ],
    ),
  );

/** The same probes for operations that Edition 1 does not have. */
export const inSecond = (some: Record<string, Probe>): Record<string, Probe> =>
  Object.fromEntries(Object.entries(some).map(([name, probe]) => [name, { ...probe, second: true }]));

import { getNamedType, isAbstractType, isEnumType, isObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { growthSentence } from '../../src/api/graphql/growth.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { buildOperatorGraph } from '../../src/operator/graph/graph.js';

const schemas = { graph: buildGraph(), operator: buildOperatorGraph() };

/** Why the members of an answered enum are complete: every other one may grow. */
const complete: Record<string, string> = {
  AgeingBucket: 'The buckets cover every age.',
  CapabilityStatus: 'The specification has all of them.',
  LedgerCheckStatus: 'A check runs, or has one of three ends.',
  Mode: 'The specification has both.',
  OperatorActionOutcome: 'An action is attempted, or has one of three ends.',
  RequestOutcome: 'A request succeeds, is refused, or fails.',
  VpaState: 'The specification has all of them.',
};

/** The enums, unions and interfaces that a client can meet in an answer. */
function answered(schema: (typeof schemas)['graph']): string[] {
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const fields = types.filter(isObjectType).flatMap((type) => Object.values(type.getFields()));
  const named = fields.map(({ type }) => getNamedType(type)).filter((type) => isEnumType(type) || isAbstractType(type));
  return [...new Set([...named, ...types.filter(isAbstractType)].map(({ name }) => name))].filter(
    (name) => !name.startsWith('__'),
  );
}

describe.each(['graph', 'operator'] as const)('the types of the %s whose members may grow', (name) => {
  const schema = schemas[name];
  const growing = (type: string) => schema.getType(type)!.description!.endsWith(` ${growthSentence}`);

  it('are all enums, unions and interfaces of answers, except for the complete ones', () => {
    const found = answered(schema);
    expect(found.length).toBeGreaterThan(20);
    expect(found.filter(growing).toSorted()).toEqual(found.filter((type) => !(type in complete)).toSorted());
  });

  it('are no others, and have the sentence once', () => {
    const found = new Set(answered(schema));
    for (const type of Object.values(schema.getTypeMap())) {
      const count = (type.description ?? '').split(growthSentence).length - 1;
      expect([type.name, count]).toEqual([type.name, found.has(type.name) && !(type.name in complete) ? 1 : 0]);
    }
  });
});

it('a complete type is one that a schema has', () => {
  const names = Object.values(schemas).flatMap(answered);
  expect(Object.keys(complete).filter((name) => !names.includes(name))).toEqual([]);
});

it('includes what the next release grows by', () => {
  const next = ['PaymentType', 'PayoutStatus', 'FilePurpose', 'DepositStatus', 'PaymentMethod', 'EventType'];
  for (const name of [...next, 'AddressType', 'PaymentMethodDetails', 'Node'])
    expect(schemas.graph.getType(name)!.description).toContain(growthSentence);
});

describe('a description', () => {
  const texts = Object.values(schemas.graph.getTypeMap()).flatMap((type) => [
    type.description ?? '',
    ...(isObjectType(type)
      ? Object.values(type.getFields()).flatMap(({ description, args }) => [
          description ?? '',
          ...args.map((arg) => arg.description ?? ''),
        ])
      : []),
  ]);

  it('promises no form of a cursor', () => {
    expect(texts.filter((text) => /cursor is (an|the) id|starting_after/i.test(text))).toEqual([]);
    expect(schemas.graph.getType('PageInfo')!.description).toContain('Cursors are opaque');
    const edge = schemas.graph.getType('AllocationEdge');
    expect(isObjectType(edge) && edge.getFields().cursor!.description).toContain('opaque');
  });

  it('of the steps of a chart does not say that all of them are of UTC', () => {
    expect(texts.filter((text) => /begin at midnight UTC/.test(text))).toEqual([]);
  });
});

it('links to what retention may delete are nullable', () => {
  const typeOf = (type: string, field: string) => {
    const found = schemas.graph.getType(type);
    return isObjectType(found) ? String(found.getFields()[field]?.type) : undefined;
  };
  expect([typeOf('Import', 'file'), typeOf('WebhookDelivery', 'endpoint'), typeOf('WebhookDelivery', 'event')]).toEqual(
    ['File', 'WebhookEndpoint', 'Event'],
  );
});

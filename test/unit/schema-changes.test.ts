import fs from 'node:fs';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import {
  buildSchema,
  type GraphQLEnumType,
  type GraphQLNamedType,
  isInputObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  type GraphQLObjectType,
  isIntrospectionType,
  isListType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { catalogue } from '../../src/errors/catalogue.js';
import { graphCatalogue } from '../../src/errors/graph-codes.js';
import { routes } from '../../src/resources/registry.js';
import { inputTypeOf } from '../support/world.js';

const read = (file: string): GraphQLSchema =>
  buildSchema(fs.readFileSync(new URL(`../../${file}.graphql`, import.meta.url), 'utf8'));
const schemas = { graph: read('schema/graph'), operator: read('schema/operator') };
/** The schemas of the last release. */
const released = {
  graph: read('test/fixtures/schema-0.3.0/graph'),
  operator: read('test/fixtures/schema-0.3.0/operator'),
};

/** Why a change that breaks clients was made since the last release, by the path of what changed. */
const reasons: Record<keyof typeof schemas, Record<string, string>> = { graph: {}, operator: {} };

/** The root fields that nothing refuses: they show what the request has already. */
const notNull = ['Query.viewer', 'Query.rateLimit'];

/** The fields that can be refused alone: root fields, and those with arguments, which are pages and figures. */
const refusable = (schema: GraphQLSchema): string[] =>
  Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !isIntrospectionType(type) && type.name !== 'Subscription')
    .flatMap((type) =>
      Object.values((type as GraphQLObjectType).getFields())
        .filter(({ args }) => /^(Query|Mutation)$/.test(type.name) || args.length > 0)
        .map(({ name }) => `${type.name}.${name}`),
    )
    .filter((path) => !notNull.includes(path));

const typeAt = (schema: GraphQLSchema, path: string): string => {
  const [name = '', field = ''] = path.split('.');
  const type = schema.getType(name);
  return isObjectType(type) ? String(type.getFields()[field]?.type) : '';
};

/** The objects in the results of mutations. */
const inPayloads = (schema: GraphQLSchema): string[] =>
  Object.values(schema.getMutationType()!.getFields()).flatMap(({ type }) => {
    const payload = getNamedType(type) as GraphQLObjectType;
    const objects = Object.values(payload.getFields()).filter((field) => isObjectType(getNullableType(field.type)));
    return objects.map(({ name }) => `${payload.name}.${name}`);
  });

async function breaks(before: GraphQLSchema, after: GraphQLSchema): Promise<{ path: string; message: string }[]> {
  const changes = await diff(before, after);
  return changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .map(({ path, message }) => ({ path: path ?? '', message }));
}

describe.each(['graph', 'operator'] as const)('the schema %s since the last release', (name) => {
  it('has no change that breaks clients, except those with a recorded reason', async () => {
    const found = await breaks(released[name], schemas[name]);
    const paths = found.map(({ path }) => path);
    expect(found.filter(({ path }) => !Object.hasOwn(reasons[name], path))).toEqual([]);
    expect(
      Object.keys(reasons[name]).filter((path) => !paths.includes(path)),
      'reasons without a change',
    ).toEqual([]);
  });
});

describe('the fields of the public graph that can be refused alone', () => {
  it('are nullable, and of the root fields all but those that nothing refuses', () => {
    const paths = refusable(schemas.graph);
    expect(paths.length).toBeGreaterThan(130);
    expect(paths.filter((path) => typeAt(schemas.graph, path).endsWith('!'))).toEqual([]);
    expect(notNull.map((path) => typeAt(schemas.graph, path))).toEqual(['Viewer!', 'RateLimit!']);
  });

  it('have lists inside whose members are not null, except for objects by their ids', () => {
    const lists = refusable(schemas.graph).filter((path) => typeAt(schemas.graph, path).startsWith('['));
    expect(lists.filter((path) => !typeAt(schemas.graph, path).endsWith('!]'))).toEqual(['Query.nodes']);
  });
});

describe('the objects in the results of mutations', () => {
  it('are nullable in the public graph, and not in that of operators', () => {
    const paths = inPayloads(schemas.graph);
    // What becomes of each of several deposits is in a list of results.
    const results = ['ReconcileDepositsPayload.results'];
    expect(paths.length + results.length).toBe(Object.keys(schemas.graph.getMutationType()!.getFields()).length);
    expect(results.map((path) => typeAt(schemas.graph, path))).toEqual(['[DepositReconciliation!]!']);
    expect(paths.filter((path) => typeAt(schemas.graph, path).endsWith('!'))).toEqual([]);
    const ofOperators = inPayloads(schemas.operator);
    expect(ofOperators.length).toBeGreaterThan(10);
    // Where nothing is left of a deposit, what was taken back is unexplained money, and there is no dispute.
    const instead = [
      ...['LoseDisputePayload.dispute', 'LoseDisputePayload.unexplained'],
      ...['OpenDisputePayload.dispute', 'OpenDisputePayload.unexplained'],
      'RecordBankNoticePayload.unexplained',
      ...['WinDisputePayload.dispute', 'WinDisputePayload.unexplained'],
    ];
    expect(ofOperators.filter((path) => !typeAt(schemas.operator, path).endsWith('!')).toSorted()).toEqual(instead);
  });
});

describe('the inputs of mutations', () => {
  const inputsIn = (schema: GraphQLSchema) =>
    Object.values(schema.getMutationType()!.getFields()).map(({ name, args }) => [
      name,
      args.map((each) => `${each.name}: ${each.type}`).join(),
    ]);

  it.each(['graph', 'operator'] as const)('are of types that are named after them in the schema %s', (name) => {
    const found = inputsIn(schemas[name]);
    expect(found.length).toBeGreaterThan(12);
    expect(found).toEqual(found.map(([mutation = '']) => [mutation, `input: ${inputTypeOf(mutation)}!`]));
  });

  it('have no type that an argument of a query has', () => {
    const within = (type: GraphQLNamedType, found: Set<string>): Set<string> => {
      // An export takes the filters of a list as they are.
      if (!isInputObjectType(type) || found.has(type.name) || type.name === 'ExportSource') return found;
      found.add(type.name);
      for (const member of Object.values(type.getFields())) within(getNamedType(member.type), found);
      return found;
    };
    const of = (types: GraphQLObjectType[]) => {
      const found = new Set<string>();
      for (const type of types)
        for (const { args } of Object.values(type.getFields()))
          for (const each of args) within(getNamedType(each.type), found);
      return found;
    };
    const mutation = schemas.graph.getMutationType()!;
    const inputs = of([mutation]);
    const filters = of(
      Object.values(schemas.graph.getTypeMap())
        .filter(isObjectType)
        .filter((type) => type !== mutation),
    );
    expect([...filters].filter((name) => inputs.has(name))).toEqual([]);
    expect([inputs.size > 60, filters.has('AddressOfferFilter')]).toEqual([true, true]);
  });
});

describe('the arguments of lists', () => {
  const lists = Object.values(schemas.graph.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ path: `${type.name}.${field.name}`, field })))
    .flatMap(({ path, field: { args } }) => {
      const filter = getNamedType(args.find(({ name }) => name === 'filter')?.type);
      return isInputObjectType(filter) ? [{ path, args, members: filter.getFields() }] : [];
    });

  it('that are filters are deprecated, with the member of `filter` that takes their place', () => {
    expect(lists.length).toBeGreaterThan(60);
    const wrong = lists.flatMap(({ path, args, members }) =>
      args
        .filter(({ name, deprecationReason }) => Object.hasOwn(members, name) || deprecationReason != null)
        .filter(({ deprecationReason }) => {
          const [, member = ''] = /^Use `filter: \{ (\w+): … \}`\.$/.exec(deprecationReason ?? '') ?? [];
          return members[member] === undefined || members[member].deprecationReason != null;
        })
        .map(({ name, deprecationReason }) => `${path}(${name}): ${deprecationReason}`),
    );
    expect(wrong).toEqual([]);
  });

  it('that say how a list is read, and whose, are no filters', () => {
    const others = /^(first|after|last|before|orderBy|orderCurrency|scope|search|metadata)$/;
    expect(
      lists.flatMap(({ path, members }) =>
        Object.keys(members)
          .filter((name) => others.test(name))
          .map((name) => `${path}: ${name}`),
      ),
    ).toEqual([]);
    const kept = lists.flatMap(({ args }) => args.filter((each) => each.deprecationReason == null));
    expect([...new Set(kept.map(({ name }) => name))].filter((name) => !others.test(name))).toEqual(['filter']);
  });
});

describe('the codes of errors', () => {
  const codes = schemas.graph.getType('ErrorCode') as GraphQLEnumType;

  it('are an enum of all that the catalogues have, each with its meaning', () => {
    const texts = [...Object.entries(catalogue), ...Object.entries(graphCatalogue)].map(([code, entry]) => [
      code.toUpperCase(),
      entry.at(-2),
    ]);
    expect(codes.getValues().map(({ name, description }) => [name, description])).toEqual(texts);
    expect(codes.getValues().map(({ name }) => name)).toEqual(
      (schemas.operator.getType('ErrorCode') as GraphQLEnumType).getValues().map(({ name }) => name),
    );
  });

  it('are values of the enum in each object, and texts in the log of requests, which other versions write', () => {
    const objects = Object.values(schemas.graph.getTypeMap()).filter(isObjectType);
    const found = objects.flatMap((type) =>
      Object.values(type.getFields())
        // A purpose and a message about a receivable have codes of their own.
        .filter(({ name }) => /^(code|codes|problems)$/.test(name) && !/^(PurposeCode|SystemMessage)$/.test(type.name))
        .map((field) => `${type.name}.${field.name}: ${field.type}`),
    );
    expect(found.toSorted()).toEqual([
      'ActivationRequirement.code: ErrorCode!',
      'DepositReconciliation.problems: [Problem!]!',
      'DryRun.problems: [Problem!]!',
      'ImportRow.problems: [Problem!]!',
      'Problem.code: ErrorCode',
      'RequestLog.codes: [String!]!',
    ]);
  });
});

it('finds fields that were removed, renamed or given another type, and arguments that became required', async () => {
  const before = buildSchema('type Query { a: String b(c: Int): Int d: [Int] }');
  const after = buildSchema('type Query { a: ID b(c: Int!): Int e: [Int] }');
  expect((await breaks(before, after)).map(({ path }) => path).toSorted()).toEqual(['Query.a', 'Query.b.c', 'Query.d']);
});

describe('names', () => {
  const types = Object.values(schemas.graph.getTypeMap()).filter(isObjectType);
  const fields = types.flatMap((type) => Object.values(type.getFields()).map((field) => ({ type, field })));

  it('of deprecated fields have a reason that names a field of the same list and null forms', () => {
    const deprecated = fields.filter(({ field }) => field.deprecationReason != null);
    expect(deprecated.map(({ type, field }) => `${type.name}.${field.name}`)).toEqual(
      expect.arrayContaining([
        ...['Checkout.paymentMethods', 'Deposit.paymentMethod', 'DepositTotal.paymentMethod', 'Deposit.disputes'],
        ...['Deposit.paymentMethodDetails', 'Receivable.systemMessage', 'Transaction.paymentMethod'],
      ]),
    );
    // The better field may have another type, such as a scalar with a format. It may be null only where the old one
    // may.
    const form = (type: unknown) => String(type).replace(/\w+/, '');
    // A figure is an object, where the older one is a list of points.
    const figures = deprecated.filter(({ field }) => field.name === 'balanceHistory');
    expect(figures.map(({ type }) => String(type.getFields().balanceChart!.type))).toEqual(['BalanceChart']);
    for (const { type, field } of deprecated.filter((each) => !figures.includes(each))) {
      const [, other = ''] = /use `(\w+)`\.$/.exec(field.deprecationReason!) ?? [];
      const named = type.getFields()[other];
      expect([type.name, field.name, named !== undefined, named?.deprecationReason ?? null, form(named?.type)]).toEqual(
        [...[type.name, field.name, true, null, form(field.type)]],
      );
    }
  });

  it('of lists are in the plural', () => {
    // A history is a list of points. Payouts are blocked by reasons, and a path has steps.
    // Spec: Balance, and AccountSetting, `address_currency`: the compartments, and the kinds of accounts.
    const ofSpecification = /^(Balance|BalanceAggregate|AddressCurrencyOffer)$/;
    const wrong = fields.filter(
      ({ type, field }) =>
        isListType(getNullableType(field.type)) &&
        field.deprecationReason == null &&
        !ofSpecification.test(type.name) &&
        !/(s|Locked|History|BlockedBy|^path)$/.test(field.name),
    );
    expect(wrong.map(({ type, field }) => `${type.name}.${field.name}: ${field.type}`)).toEqual([]);
  });
});

it('amounts of objects with ids and one currency have a field of the type Money beside them', () => {
  const types = Object.values(schemas.graph.getTypeMap()).filter(isObjectType);
  const nodes = types.filter((type) => type.getInterfaces().some(({ name }) => name === 'Node'));
  const amounts = nodes.flatMap((type) => {
    const fields = Object.values(type.getFields());
    if (!fields.some(({ type: of }) => String(of) === 'Currency!')) return [];
    return fields.filter(({ type: of }) => String(of) === 'Amount!').map(({ name }) => ({ type, name }));
  });
  expect(amounts.length).toBeGreaterThan(14);
  const money = amounts.map(({ type, name }) => [
    `${type.name}.${name}`,
    String(type.getFields()[`${name}Money`]?.type),
  ]);
  expect(money).toEqual(amounts.map(({ type, name }) => [`${type.name}.${name}`, 'Money!']));
});

it('test helpers say in their descriptions that they are test helpers', () => {
  const helpers = Object.values(schemas.graph.getMutationType()!.getFields()).filter(({ name }) => /Test/.test(name));
  expect(helpers.length).toBeGreaterThan(10);
  // The others work in live mode too, or create what a bank would report.
  const paths = routes.filter(({ path }) => path.startsWith('/v1/test_helpers/'));
  expect(helpers.map(({ name }) => name).toSorted()).toEqual([...new Set(paths.map(({ field }) => field))].toSorted());
  expect(
    helpers.filter(({ description }) => !description?.startsWith('Test helper: ')).map(({ name }) => name),
  ).toEqual([]);
});

it('scalars name their specification, except for those of this API', () => {
  const scalars = Object.values(schemas.graph.getTypeMap()).filter(isScalarType);
  const without = scalars.filter((type) => !type.specifiedByURL).map(({ name }) => name);
  expect(without.toSorted()).toEqual(['Amount', 'Boolean', 'Float', 'ID', 'Int', 'Metadata', 'String']);
});

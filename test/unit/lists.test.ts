import fs from 'node:fs';
import { getNamedType, isInputObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { editions } from '../../src/editions/editions.js';
import { deposit, depositLists } from '../../src/resources/deposit/table.js';
import { listPageText } from '../../src/server/build/list-page.js';
import { methodsOf, receivedMethodsOf } from '../../src/sites/dashboard/format/methods.js';
import { listingOf } from '../../src/types/list-order.js';

const schema = buildGraph();
const page = fs.readFileSync('docs/lists.md', 'utf8');

describe('the page of the documentation about filters and their indexes', () => {
  it('is what the declarations say; npm run schema writes it', () => {
    expect(page).toBe(listPageText(schema));
  });

  it('names indexes that the tables have, and one for each filter without a reason against it', () => {
    const [snapshot] = fs.readdirSync('drizzle/meta').filter((name) => name.endsWith('_snapshot.json'));
    const { tables } = JSON.parse(fs.readFileSync(`drizzle/meta/${snapshot}`, 'utf8')) as {
      tables: Record<string, { indexes: object; uniqueConstraints: object }>;
    };
    const known = new Set(
      Object.values(tables).flatMap(({ indexes, uniqueConstraints }) => [
        ...Object.keys(indexes),
        ...Object.keys(uniqueConstraints),
      ]),
    );
    const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Filters'));
    expect(rows.length).toBeGreaterThan(50);
    for (const row of rows) {
      const [, filters, , by] = row.split('|').map((cell) => cell.trim()) as [string, string, string, string];
      const names = [...by.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
      expect([filters, names.filter((name) => !known.has(name))]).toEqual([filters, []]);
      expect([filters, names.length > 0 || by.startsWith('None. ')]).toEqual([filters, true]);
    }
  });

  it('has every filter of every root list', () => {
    const sections = page.split(/^## /m).slice(1);
    const seen = new Set<string>();
    for (const { name, args, type } of Object.values(schema.getQueryType()!.getFields())) {
      const filter = args.find((each) => each.name === 'filter');
      const input = filter && getNamedType(filter.type);
      // A further list of the same objects, such as that of partners, has some of the filters.
      if (!isInputObjectType(input) || seen.has(getNamedType(type).name)) continue;
      seen.add(getNamedType(type).name);
      const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^api /, 'API ');
      const section = sections.find((text) => text.toLowerCase().startsWith(`${words.toLowerCase()}\n`));
      for (const member of Object.values(input.getFields()))
        if (member.name !== 'created' && member.deprecationReason == null)
          expect([name, member.name, section?.match(new RegExp(`\`${member.name}[.\`]`)) != null]).toEqual([
            name,
            member.name,
            true,
          ]);
    }
  });
});

describe('a filter of a list', () => {
  const lists = depositLists(deposit);

  it('is one line, and a key of the indexes another', () => {
    const { filters, keys } = listingOf('deposit', {
      ...lists,
      filters: { ...lists.filters, reasonCode: deposit.reasonCode },
      keys: { ...lists.keys, reason: ['reasonCode'] },
    });
    expect([Object.keys(filters).at(-1), keys!.reason]).toEqual(['reasonCode', ['reasonCode']]);
  });

  it.each([
    ['is in no key', {}],
    ['is in a key with another whose values are not all known', { reason: ['reasonCode', 'paymentMethod'] }],
  ])('that no index serves, since it %s, stops the start with its name', (_, more) => {
    const filters = { ...lists.filters, reasonCode: deposit.reasonCode };
    expect(() => listingOf('deposit', { ...lists, filters, keys: { ...lists.keys, ...more } })).toThrow(
      'no index serves the filter reasonCode of lists of deposit: add it to the keys of its lists',
    );
  });

  it('that is no value of the row cannot be in a key', () => {
    expect(() => listingOf('deposit', { ...lists, keys: { ...lists.keys, account: ['accountId'] } })).toThrow(
      'a key of the lists of deposit has accountId, which is no filter by a value of the row',
    );
    const amount = { ...lists.orders!.amount!, keys: { colour: ['colour'] } };
    expect(() => listingOf('deposit', { ...lists, orders: { amount } })).toThrow(
      'a key of the lists of deposit has colour, which is no filter by a value of the row',
    );
  });
});

describe('the methods of payments in the dashboard', () => {
  it.each([1, 2] as const)('are those of the filter, and of the test payments, of Edition %i', (edition) => {
    const { deposits, createDeposit } = editions[edition].values;
    const named = (values: readonly string[] | undefined) => values!.map((value) => value.toUpperCase()).toSorted();
    expect([...receivedMethodsOf(edition)].toSorted()).toEqual(named(deposits!.payment_method));
    expect([...methodsOf(edition)].toSorted()).toEqual(named(createDeposit!.payment_method));
  });
});

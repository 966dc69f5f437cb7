import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { GraphQLEnumType } from 'graphql';
import { buildGraph } from '../../src/api/graphql/server.js';
import { type CatalogueEntry, recordedExamples } from '../../src/api/rest/contract/examples.js';
import { definedFunctions, writeFunctions } from '../../src/db/write/print-write-functions.js';
import { events } from '../../src/resources/registry.js';
import { withNewKeys } from '../../src/server/build/example-keys.js';
import { eventsText } from '../../src/server/build/print-schema.js';
import { contract, violationsOf } from '../support/contract.js';
import { functionFiles } from '../../src/db/schema/schema-version.js';

const committed = fs.readFileSync(new URL('../../schema/events.json', import.meta.url), 'utf8');
const entries = JSON.parse(committed) as CatalogueEntry[];

describe('the catalogue of events', () => {
  it('is what the declarations say; npm run schema writes it', () => {
    expect(eventsText()).toBe(committed);
    expect(entries.map(({ type }) => type)).toEqual([...events.keys()]);
  });

  it.each(entries)('has a sentence and a real example of $type', ({ type, object, when, modes, example }: any) => {
    const recording = `run a test that causes ${type} alone with RECORD_EXAMPLES=1, and then npm run schema`;
    expect(when).toMatch(/^[A-Z].*\.$/);
    expect(example, recording).toMatchObject({ object: 'event', type, number: expect.any(Number) });
    expect(example.data.object.object).toBe(object);
    expect(modes).toContain(example.livemode ? 'live' : 'test');
    const { mapping } = contract.components.schemas.Event.properties.data.properties.object.discriminator;
    expect(violationsOf(mapping[object].split('/').pop(), example.data.object), recording).toBe('');
    expect(violationsOf('Event', example), recording).toBe('');
  });

  it('is an enum of the graph, with descriptions, and the webhooks of the contract', () => {
    const values = (buildGraph().getType('EventType') as GraphQLEnumType).getValues();
    expect(values.map(({ value }) => value)).toEqual([...events.keys()]);
    for (const { name, value, description } of values) {
      expect(name).toBe(String(value).replace('.', '_').toUpperCase());
      expect(description).toContain(events.get(String(value))!.when);
    }
    expect(Object.keys(contract.webhooks)).toEqual([...events.keys()]);
    expect(contract.components.schemas.Event.properties.type.enum).toEqual([...events.keys()]);
  });

  it('has the objects that SQL emits', () => {
    const emitted = definedFunctions().flatMap(({ body }) => [
      ...body.matchAll(/emit_(?:root_)?event(?:_at)?\([^;]*?'(\w+\.\w+)',\s*'(\w+)'/g),
    ]);
    expect(emitted.length).toBeGreaterThan(25);
    for (const [, type, object] of emitted) expect([type, events.get(type!)!.object]).toEqual([type, object]);
  });
});

describe('the examples', () => {
  const recorded = recordedExamples();
  const without = (name: string) =>
    JSON.parse(JSON.stringify(recorded, (key, value) => (key === name ? undefined : value)));

  it('get null for a new key from npm run schema, in its place and where the contract allows null', () => {
    expect(JSON.stringify(recorded).split('"parent_account_id":null').length).toBeGreaterThan(10);
    expect(JSON.stringify(withNewKeys(contract, without('parent_account_id')))).toBe(JSON.stringify(recorded));
    expect(withNewKeys(contract, without('created'))).toEqual(without('created'));
  });
});

/** The reasons beside the definitions of functions: `-- Without an event: …` in the comment before a function. */
function reasons(): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of functionFiles()) {
    const text = fs.readFileSync(`drizzle/${file}`, 'utf8');
    for (const [, comment, name] of text.matchAll(/^((?:--.*\n)+)create or replace function (\w+)\(/gm)) {
      const [, reason] = /^-- Without an event: (.+\.)$/m.exec(comment!) ?? [];
      if (reason) found.set(name!, reason);
    }
  }
  return found;
}

/**
 * The functions with which the gateway writes, and whether each of them, or a function that it calls, emits an event:
 * those that no other function calls, those of the write envelope, and those of the jobs.
 */
function writes(): Map<string, boolean> {
  const functions = new Map(definedFunctions().map((fn) => [fn.name, fn]));
  const called = new Map(
    [...functions].map(([name, { body }]) => [
      name,
      new Set([...body.matchAll(/\b(\w+)\(/g)].map(([, other]) => other!).filter((other) => functions.has(other))),
    ]),
  );
  const reached = (name: string, seen = new Set<string>()): Set<string> => {
    if (!seen.has(name)) for (const other of (seen.add(name), called.get(name)!)) reached(other, seen);
    return seen;
  };
  // An older name calls the function of today, which the gateway calls, too.
  const current = [...called].filter(([name]) => !functions.get(name)!.retired);
  const all = new Set(current.flatMap(([, names]) => [...names]));
  const enveloped = new Set(writeFunctions().map(({ name }) => name));
  const changes = (name: string) =>
    /\b(?:insert into|delete from|update) \w+/.test(
      functions.get(name)!.body.replaceAll(/for (?:no key )?update\b/g, ''),
    );
  const entered = [...functions.keys()].filter(
    (name) => !all.has(name) || enveloped.has(name) || name.startsWith('job_'),
  );
  // The jobs are called by their names, which are data.
  const direct = entered
    .map((name) => [name, reached(name)] as const)
    .filter(([name]) => !/^run_(?:due_)?jobs$/.test(name));
  const writing = direct.filter(([, names]) => [...names].some(changes));
  const stores = (name: string) => /\binsert into event\b/.test(functions.get(name)!.body);
  return new Map(writing.map(([name, names]) => [name, [...names].some(stores)]));
}

describe('each function that writes', () => {
  const emits = writes();
  const given = reasons();

  it('has an event, or the comment before it says why it has none', () => {
    expect(emits.size).toBeGreaterThan(60);
    expect([...emits].filter(([name, event]) => !event && !given.has(name)).map(([name]) => name)).toEqual([]);
  });

  it('has no reason if it has an event', () => {
    expect([...given.keys()].filter((name) => emits.get(name) !== false)).toEqual([]);
  });
});

import { afterAll, beforeAll, expect } from 'vitest';
import { Database } from '../../src/db/database.js';
import { charactersMax, statementsMax } from '../../src/api/graphql/compiler/compiler.js';
import type { Speaker, useWorld } from '../support/world.js';

/** Compares the answers of the resolvers with those of compiled queries. `faults` gets what the gateway logs. */
export function comparing(world: ReturnType<typeof useWorld>, faults: string[]) {
  /** The number of queries that any gateway has compiled to SQL so far, and their statements. */
  let answered = 0;
  const statements = new Set<string>();
  /** The statements of the present gateway. */
  let used = new Set<string>();
  const { text } = Database.prototype;
  beforeAll(() => {
    Database.prototype.text = async function <T>(this: Database, ...args: Parameters<typeof text>) {
      statements.add(args[0]);
      used.add(args[0]);
      const rows = await text.apply(this, args);
      answered += rows.length;
      return rows as T[];
    };
  });
  afterAll(() => {
    Database.prototype.text = text;
  });

  /** Another gateway, with its own hourly limit of statements: these tests need more than a tenant may add. */
  const anew = async () => {
    used = new Set();
    await world.endLast();
    world.origin = await world.another();
  };

  /**
   * The responses of the resolvers and of PostgreSQL: resolvers answer a document the first two times; from then on it
   * is compiled to SQL. Also returns how often it was compiled.
   */
  const both = async (speaker: Speaker, query: string, variables: object = {}) => {
    if (used.size > statementsMax / 3 || [...used].join('').length > charactersMax / 3) await anew();
    const asked = `${query} # ${speaker.id} ${JSON.stringify(variables)}`;
    const first = await speaker.graph(asked, variables);
    const second = await speaker.graph(asked, variables);
    const before = answered;
    const third = await speaker.graph(asked, variables);
    const fourth = await speaker.graph(asked, variables);
    const comparable = ({ status, body, text: whole, cost }: typeof first) => {
      const { requestId, ...extensions } = body.extensions;
      const errors = body.errors?.map((e: any) => ({ ...e, extensions: { ...e.extensions, requestId: '' } }));
      // What is left of the allowance depends on the time, and what could be read on the number of the request.
      const bytes = whole.replaceAll(requestId, '').replace(/"cost":.*/, '');
      return { status, data: body.data, errors, extensions, cost: cost?.actual, bytes };
    };
    return {
      resolved: comparable(first),
      again: comparable(second),
      whole: comparable(third),
      once: comparable(fourth),
      compiler: answered - before,
      faults: faults.splice(0),
    };
  };

  /** Expects that both answer the same bytes without an error, and returns the data. */
  const expectEqual = async (speaker: Speaker, query: string, variables: object = {}) => {
    const { resolved, again, whole, once, compiler, faults } = await both(speaker, query, variables);
    expect({ query, errors: resolved.errors }).toEqual({ query, errors: undefined });
    expect(again).toEqual(resolved);
    expect(whole).toEqual(resolved);
    expect(once).toEqual(resolved);
    expect({ query, compiler, faults }).toEqual({ query, compiler: 2, faults: [] });
    return resolved.data;
  };

  return { statements, anew, both, expectEqual };
}

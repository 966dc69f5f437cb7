import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { definedFunctions, definedIn } from '../../src/db/write/print-write-functions.js';
import { type Keys, signaturesOf } from '../support/released-functions.js';

/** What the gateways of the last release call: test/tools/released-functions.ts has written it. */
const released = JSON.parse(fs.readFileSync('test/fixtures/schema-0.3.0/functions.json', 'utf8')) as ReturnType<
  typeof signaturesOf
>;

/** Why a change was made that would fail a call, by the change. */
const reasons: Record<string, string> = {
  'claim_deliveries(text, boolean, text, int, int) is gone':
    '0.3.0 calls claim_webhook_deliveries; only gateways before it called the other name, which its body did not say.',
  'create_address(text, boolean, jsonb, jsonb) requires byPlatform': '0.3.0 sends it with each address.',
};

/** What changed so that a call of the gateways before would fail or mean something else. */
function changes(before: Record<string, Keys>, after: Record<string, Keys>): string[] {
  return Object.entries(before).flatMap(([signature, keys]) => {
    const now = after[signature];
    if (!now) return [`${signature} is gone`];
    return [
      ...Object.keys(keys).flatMap((key) => (key in now ? [] : [`${signature} refuses ${key}`])),
      ...Object.entries(now).flatMap(([key, is]) =>
        // A member of a new optional object is required of those that send the object.
        is === 'required' && keys[key] !== 'required' && !isNewMember(keys, key)
          ? [`${signature} requires ${key}`]
          : [],
      ),
    ];
  });
}

const isNewMember = (keys: Keys, key: string) => key.includes('.') && !(key.slice(0, key.lastIndexOf('.')) in keys);

describe('the functions of the last release', () => {
  // During a rolling upgrade its gateways call the functions of this one.
  it('are there with the same types, and take the same arguments', () => {
    expect(Object.keys(released).length).toBeGreaterThan(250);
    expect(changes(released, signaturesOf(definedFunctions()))).toEqual(Object.keys(reasons));
  });

  it.each([
    ['p_live boolean, p_id text', "'id text, note? text'", ['f(text, boolean, jsonb) is gone']],
    ['p_live boolean, p_args jsonb', "'id text, note text'", ['f(text, boolean, jsonb) requires note']],
    ['p_live boolean, p_args jsonb', "'id text, note? text, more text'", ['f(text, boolean, jsonb) requires more']],
    ['p_live boolean, p_args jsonb', "'id text'", ['f(text, boolean, jsonb) refuses note']],
    ['p_live boolean, p_args jsonb', "'id text, note? text retired'", []],
    ['p_live boolean, p_args jsonb, p_more text default null', "'id text, note? text'", []],
    ['p_live boolean, p_args jsonb, p_more text', "'id text, note? text'", ['f(text, boolean, jsonb) is gone']],
    ['p_live boolean, p_args jsonb', "'id text, note? text, more? object {of text}'", []],
  ])('are found to differ: %s, with %s', (parameters, declared, expected) => {
    const written = (given: string, args: string) => {
      const body = `declare\n  v_args jsonb := check_args(p_args, args_of(${args}));\nbegin\nend;`;
      const head = `create or replace function f(p_tenant text, ${given})\nreturns void\nlanguage plpgsql`;
      return signaturesOf(definedIn('f.sql', `${head}\nas $$\n${body}\n$$;`));
    };
    const before = written('p_live boolean, p_args jsonb', "'id text, note? text'");
    expect(changes(before, written(parameters, declared))).toEqual(expected);
  });
});

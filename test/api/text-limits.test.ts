import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { GraphQLScalarType, isObjectType, isSpecifiedScalarType, Kind } from 'graphql';
import { describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/api/graphql/server.js';
import { first } from '../../src/editions/first.js';
import { checkEdge } from '../../src/operation/guard.js';
import { DomainError } from '../../src/errors/problems.js';
import { givenIn, useWorld } from '../support/world.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const schema = buildGraph();
const long = 'x'.repeat(5_001);
const tooLong = 'must have at most 5000 characters';

/** Scalars that are maps: their members have limits of their own, or those of every argument. */
const maps = ['Metadata', 'JSONObject'];

describe('a text that is longer than any text may be', () => {
  const scalars = Object.values(schema.getTypeMap()).filter(
    (type) => type instanceof GraphQLScalarType && !isSpecifiedScalarType(type) && !maps.includes(type.name),
  ) as GraphQLScalarType[];
  it.each(scalars.map((type) => [type.name, type] as const))(
    'is refused by its length before a pattern of %s sees it',
    (_, type) => {
      expect(() => type.parseValue(long)).toThrow(tooLong);
      expect(() => type.parseLiteral({ kind: Kind.STRING, value: long })).toThrow(tooLong);
    },
  );

  const edges = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => type !== schema.getQueryType() && type !== schema.getMutationType())
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) => Object.values(type.getFields()).map((field) => [`${type.name}.${field.name}`, field] as const))
    .filter(([, { args }]) => args.length > 0);
  it.each(edges)('is refused among the arguments of %s', (_, field) => {
    for (const { name } of field.args)
      for (const text of [long, 'a\u0000b']) {
        const check = () => checkEdge(field, { [name]: text }, { caller: {} as never, edition: first });
        expect(check).toThrow(DomainError);
      }
  });

  it('is refused by its name at an edge, also where one statement answers the query', async () => {
    const user = await given.directUser(1);
    const query = 'query ($t: ID) { accounts { nodes { receivables(after: $t) { nodes { id } } } } }';
    for (let n = 0; n < 4; n++) {
      const { codes, fieldNames, text } = await user.graph(query, { t: long });
      expect([codes, fieldNames], text).toEqual([['parameter_invalid'], ['receivable.starting_after']]);
    }
  });
});

describe('the check of the regular expressions', () => {
  const check = async (file: string, text: string): Promise<string> => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-patterns-'));
    fs.writeFileSync(path.join(folder, file), text);
    const program = path.resolve(import.meta.dirname, '../tools/patterns.mjs');
    const ran = await promisify(execFile)(process.execPath, [program, folder]).then(
      () => '',
      ({ stderr }: { stderr: string }) => stderr,
    );
    fs.rmSync(folder, { recursive: true });
    return ran;
  };

  it('finds those of quadratic time, with their places', async () => {
    const texts = [
      String.raw`path.replace(/\/+$/, '');`,
      String.raw`name.replaceAll(/\[([^\]]*)\]/g, '.$1');`,
      String.raw`/^\s*(\d{1,2}\s*[/ ]\s*\d{2,4}|\d{4}-\d{1,2})\s*$/.test(text);`,
      'new RegExp("a+" + String.raw`\\.?$`);',
      'text.match("a+$");',
    ];
    const found = (await check('a.ts', `\n${texts.join('\n')}`)).trimEnd().split('\n');
    expect(found.map((line) => line.replace(/the pattern .* takes .*polynomial.*/, 'quadratic'))).toEqual(
      texts.map((_, i) => `a.ts:${i + 2}: quadratic`),
    );
  });

  it('refuses one that is put together of what is not known, and takes linear ones', async () => {
    expect(await check('a.ts', 'new RegExp(`${name}$`);')).toContain('is put together of parts that are not known');
    expect(await check('a.ts', '/^[a-z]+$/.test(text); /\\[([^[\\]]*)\\]/g;')).toBe('');
  });
});

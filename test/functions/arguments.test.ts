import { expect, it } from 'vitest';
import { useFunctions } from './fixture.js';

const { world, of, call, value } = useFunctions();
const json = (object: unknown) => JSON.stringify(object);

of('declared_parts', () => {
  it('lists each argument with its JSON type', async () => {
    const parts = await call(
      'declared_parts',
      'id text, shares object[] {id text, amount bigint}, from text[], amount? bigint null, old? int retired',
    );
    expect(parts.map((part) => Object.values(part))).toEqual([
      ['id', false, 'string', false, null],
      ['shares', false, 'array', false, 'id text, amount bigint'],
      ['from', false, 'array', false, null],
      ['amount', true, 'string', true, null],
      ['old', true, 'number', false, null],
    ]);
  });

  it('raises an error for a part that it cannot read', async () => {
    await expect(call('declared_parts', 'id texts')).rejects.toThrow('an argument cannot be declared by "id texts"');
  });
});

of('args_of', () => {
  it('has the keys and a path that matches what does not fit', async () => {
    const [parsed] = await call('args_of', 'id text, hold? boolean');
    expect(parsed).toMatchObject({ declaration: 'id text, hold? boolean', keys: ['id', 'hold'] });
    const misfits = async (args: object) =>
      (
        await world.sql`select jsonb_path_exists(${json(args)}::text::jsonb, ${parsed!.misfit}::text::jsonpath) as m`
      )[0]!.m;
    expect(await misfits({ id: 'a' })).toBe(false);
    expect(await misfits({ hold: true })).toBe(true);
    expect(await misfits({ id: 'a', hold: null })).toBe(true);
  });
});

of('check_args', () => {
  const check = async (args: object, declaration: string) => {
    const [row] = await world.sql`select args_of(${declaration})::text as declared`;
    return value('check_args', json(args), row!.declared);
  };

  it('returns arguments that fit', async () => {
    expect(await check({ id: 'a', n: 1 }, 'id text, n? int null')).toEqual({ id: 'a', n: 1 });
    expect(await check({ id: 'a', n: null }, 'id text, n? int null')).toEqual({ id: 'a', n: null });
  });

  it('names every argument that does not fit', async () => {
    await expect(check({ id: 1, other: 2 }, 'id text, from text[]')).rejects.toThrow(
      '"from" is missing, "id" is of type number instead of string, "other" is not declared',
    );
  });

  it.each([
    [{ shares: [{ id: 'a' }, { id: 'b', n: null }], at: null }, null],
    [{ shares: [] }, null],
    [{ shares: [{ id: 'a' }, { idd: 'b' }] }, '"shares[1].id" is missing, "shares[1].idd" is not declared'],
    [{ shares: [{ id: 1 }] }, '"shares[0].id" is of type number instead of string'],
    [{ shares: ['a'] }, '"shares[0]" is of type string instead of object'],
    [{ shares: [], at: { city: 'Pune', street: 'x' } }, '"at.street" is not declared'],
    [{ shares: [], at: {} }, '"at.city" is missing'],
  ])('checks the members of objects and of lists: %j', async (args, faults) => {
    const checked = check(args, 'shares object[] {id text, n? int null}, at? object {city text} null');
    if (faults === null) expect(await checked).toEqual(args);
    else await expect(checked).rejects.toThrow(faults);
  });
});

of('mismatch_path', () => {
  it('is the condition of a JSON path', async () => {
    expect(await value('mismatch_path', '$', 'id text, n? int null')).toBe(
      '!exists($."id") || $."id".type() != "string" || $."n".type() != "number" && $."n" != null',
    );
  });
});

of('argument_faults', () => {
  it('names each fault with the place of its object', async () => {
    const faults = await value('argument_faults', json({ a: 1, c: 2 }), 'a text, b? int', 'content.');
    expect(faults).toEqual(['"content.a" is of type number instead of string', '"content.c" is not declared']);
  });
});

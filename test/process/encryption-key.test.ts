import { expect, it } from 'vitest';
import { connectionOf } from '../../src/db/connect/driver/address.js';
import { single } from '../../src/db/connect/driver/connection.js';
import type { Json } from './cli-fixture.js';
import { personBody } from '../support/bodies.js';
import { useChildren } from '../support/child.js';

const children = useChildren();

const refusal = (names: string) =>
  new RegExp(`^Tidegate could not start\\.\\nENCRYPTION_KEY: must be the secret that encrypted [^\\n]*\\(${names}\\)`);

const createPlatform = ['account', 'create', '--type=platform', '--edition=1', '--legal-name=Root Traders', '--json'];

it('a gateway without the key of its tax cards does not start either', async () => {
  const database = { ...(await children.database({ migrated: true })), TRUSTED_PROXY: '127.0.0.1' };
  const made = await children.quickCommand(database, ...createPlatform);
  const gateway = await children.gateway({ ...database, ENCRYPTION_KEY: 'the first encryption key of several' });
  const speaker = gateway.speaker((JSON.parse(made.out) as Json).keys.test as string, {
    'x-forwarded-proto': 'https',
  });
  const person = await speaker.post('/v1/persons', personBody());
  expect([person.status, person.body.identification.tax_card_number]).toEqual([200, expect.stringContaining('•')]);
  expect(await gateway.stop()).toBe(0);

  const counted = JSON.parse((await children.quickCommand(database, 'secrets', '--json')).out) as Json;
  const missing = counted.secrets.filter(({ setting }: Json) => setting === null);
  expect(missing).toEqual([expect.objectContaining({ tax_card_numbers: 1, webhook_secrets: 0 })]);
  const child = children.start({ ...database, ENCRYPTION_KEY: 'the second encryption key of several' });
  expect([await child.ended, child.errors]).toEqual([1, expect.stringMatching(refusal(missing[0].name))]);
});

it('a gateway without the encryption key of its database does not start, and says so', async () => {
  const database = { ...(await children.database({ migrated: true })), TRUSTED_PROXY: '127.0.0.1' };
  const [one, two] = ['the first encryption key of several', 'the second encryption key of several'];
  const made = await children.quickCommand(database, ...createPlatform);
  const key = (JSON.parse(made.out) as Json).keys.test as string;
  const started = (ENCRYPTION_KEY?: string) =>
    children.gateway({ ...database, ...(ENCRYPTION_KEY && { ENCRYPTION_KEY }) });
  const refused = async (ENCRYPTION_KEY?: string) => {
    const child = children.start({ ...database, ...(ENCRYPTION_KEY && { ENCRYPTION_KEY }) });
    return [await child.ended, child.errors];
  };

  const first = await started(one);
  const hook = { url: 'https://receiver.example/hook', event_types: ['*'] };
  const speaker = first.speaker(key, { 'x-forwarded-proto': 'https' });
  const created = await speaker.post('/v1/webhook_endpoints', hook);
  expect(created.status).toBe(200);
  expect(await first.stop()).toBe(0);

  const sql = single(connectionOf(database.DATABASE_URL), 'a test');
  const sealers = async () =>
    (await sql`select split_part(secret_sealed, '.', 2) as name from webhook_endpoint`).map(({ name }) => name);
  const [name] = await sealers();
  // A mistyped key, a lost one, and a new one without the one before it.
  for (const wrong of ['a key that was typed wrongly by someone', undefined, two])
    expect([wrong, await refused(wrong)]).toEqual([wrong, [1, expect.stringMatching(refusal(name))]]);
  expect(await sealers()).toEqual([name]);
  // What may be asked without the key is what says which one is missing.
  const counted = JSON.parse((await children.quickCommand(database, 'secrets', '--json')).out) as Json;
  expect(counted.secrets).toContainEqual(expect.objectContaining({ setting: null, name, webhook_secrets: 1 }));

  // The change in steps loses nothing.
  const both = await started(`${two},${one}`);
  await expect.poll(sealers).not.toEqual([name]);
  expect(await both.stop()).toBe(0);
  const second = await started(two);
  expect(await second.stop()).toBe(0);

  // A key that is lost for good, as docs/operations/keys-and-secrets.md says.
  const [last] = await sealers();
  expect((await refused(one))[0]).toBe(1);
  await sql`update webhook_endpoint set secret_sealed = replace(secret_sealed, ${`v1.${last}.`}, 'v1.lost.')`;
  const after = await started(one);
  expect(await after.stop()).toBe(0);
  await sql.end();
});

import { expect, it } from 'vitest';
import { Secrets } from '../../src/config/secrets.js';
import { connectionOf } from '../../src/db/connect/driver/address.js';
import { single } from '../../src/db/connect/driver/connection.js';
import type { Json } from './cli-fixture.js';
import { personBody } from '../support/bodies.js';
import { until, useChildren } from '../support/child.js';

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

it('a gateway that lacks the older of two keys says so, and no secret is lost that is rotated meanwhile', async () => {
  const database = { ...(await children.database({ migrated: true })), TRUSTED_PROXY: '127.0.0.1' };
  const [one, two] = ['the first encryption key of several', 'the second encryption key of several'];
  const [older, newer] = [one, two].map((key) => Secrets.of(database.API_KEY_PEPPER, key).encryptionIds[0]);
  const made = await children.quickCommand(database, ...createPlatform);
  const started = async (ENCRYPTION_KEY: string) => {
    const gateway = await children.gateway({ ...database, ENCRYPTION_KEY });
    const key = (JSON.parse(made.out) as Json).keys.test as string;
    return { gateway, speaker: gateway.speaker(key, { 'x-forwarded-proto': 'https' }) };
  };
  const sql = single(connectionOf(database.DATABASE_URL), 'a test');
  const rows = () => sql`select * from webhook_endpoint order by url`;
  const name = (sealed: string | null) => sealed && sealed.split('.')[1];
  const sealers = async () => (await rows()).map((row) => [name(row.secret_sealed), name(row.previous_secret_sealed)]);
  const hook = (nth: number) => ({ url: `https://receiver.example/hook${nth}`, event_types: ['*'] });
  const doctor = async (ENCRYPTION_KEY: string) => {
    const { out } = await children.quickCommand({ ...database, ENCRYPTION_KEY }, 'doctor', '--json');
    return (JSON.parse(out) as Json).health.filter(({ check }: Json) => check === 'secrets') as Json[];
  };
  const missing = {
    ...{ check: 'secrets', level: 'now', command: 'tidegate secrets' },
    finding: `The encryption key ${older} is not configured: 1 webhook secret cannot be decrypted.`,
  };

  // During the change of the key a gateway that has the older one alone makes a secret, and both keys have one then.
  const before = await started(one);
  expect((await before.speaker.post('/v1/webhook_endpoints', hook(1))).status).toBe(200);
  const change = await started(`${two},${one}`);
  await until(async () => (await sealers())[0]![0] === newer);
  const created = await before.speaker.post('/v1/webhook_endpoints', hook(2));
  expect([await before.gateway.stop(), await change.gateway.stop()]).toEqual([0, 0]);
  expect(await sealers()).toEqual([
    [newer, null],
    [older, null],
  ]);

  // The older one is removed too early: a gateway starts, since its first key has a secret, and says what is missing.
  const early = await started(two);
  const said = () => early.gateway.log().filter(({ check }) => check === 'secrets');
  await until(() => said().length > 0);
  expect(said()).toEqual([expect.objectContaining({ level: 50, finding: missing.finding, command: missing.command })]);
  expect(await doctor(two)).toEqual([missing]);
  const rotated = await early.speaker.post(`/v1/webhook_endpoints/${created.body.id}/rotate_secret`);
  expect([rotated.status, rotated.body.secret]).toEqual([200, expect.stringMatching(/^whsec_/)]);
  expect(await early.gateway.stop()).toBe(0);
  // The new one signs, and the one before it is kept as it was.
  expect((await sealers())[1]).toEqual([newer, older]);
  expect(await doctor(two)).toEqual([missing]);

  // With the older key behind the newer one both are there again, and are encrypted under the newer one.
  const back = await started(`${two},${one}`);
  await until(async () => (await sealers())[1]![1] === newer);
  expect(await back.gateway.stop()).toBe(0);
  const [, row] = await rows();
  const place = { tenantId: row!.tenant_id, livemode: row!.livemode, id: row!.id };
  const readable = [row!.secret_sealed, row!.previous_secret_sealed].map((sealed) =>
    Secrets.of(database.API_KEY_PEPPER, two).readable(sealed, place),
  );
  expect(readable).toEqual([rotated.body.secret, created.body.secret]);
  expect(await doctor(two)).toEqual([expect.objectContaining({ level: 'ok' })]);
  await sql.end();
});

it('a gateway that cannot find out in time whether its key is the right one starts, and says so', async () => {
  const database = { ...(await children.database({ migrated: true })), TRUSTED_PROXY: '127.0.0.1' };
  const sql = single(connectionOf(database.DATABASE_URL), 'a test');
  // The check waits a minute for a lock; a role may wait shorter.
  const name = new URL(database.DATABASE_URL).pathname.slice(1);
  await sql.unsafe(`alter role tidegate in database ${name} set lock_timeout = '200ms'`);
  await sql.unsafe('begin; lock table webhook_endpoint in access exclusive mode');
  const gateway = await children.gateway({ ...database, ENCRYPTION_KEY: 'the first encryption key of several' });
  expect(gateway.errors).toMatch(
    /^Whether ENCRYPTION_KEY is the one of this database could not be checked: .*lock timeout/m,
  );
  await sql.unsafe('rollback');
  expect(await gateway.stop()).toBe(0);
  await sql.end();
});

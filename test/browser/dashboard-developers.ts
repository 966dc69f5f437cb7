import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { Visit } from './dashboard-fixture.js';

/** What the stories need: a browser signed in to the demo of Edition 2, and a secret key of the same account. */
export interface SignedIn {
  signIn: () => Promise<Visit>;
  /** A browser with a session of its own. */
  signInAlone: () => Promise<Visit>;
  origin: () => string;
  key: () => string;
  /** The test key of another account. */
  otherKey: () => string;
  faults: (page: Page) => Promise<string[]>;
}

/** Enters a key for one action of a form or dialog, and sends it. */
async function withKey(page: Page, key: string, button: string): Promise<void> {
  await page.getByLabel('Secret key').fill(key);
  await page.getByRole('button', { name: button, exact: true }).last().click();
}

/** A server that gets webhooks, and answers them with a status. */
async function receiver(status: number) {
  const bodies: string[] = [];
  const server = http.createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part));
    request.on('end', () => {
      bodies.push(text);
      response.writeHead(status, { 'content-type': 'text/html' }).end('<b>received</b>');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    bodies,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    close: () => server.close(),
  };
}

/** The stories of the section for developers. */
export function developerStories({ signIn, signInAlone, origin, key, otherKey, faults }: SignedIn): void {
  it('finds a refused request in the request log, and links to the explorer with the query of the page', async () => {
    const { page, complaints, open } = await signIn();
    await open('/dashboard/settings');
    const headers = { authorization: `Bearer ${key()}` };
    const refused = await fetch(`${origin()}/v1/deposits?nothing=1`, { headers });
    const id = refused.headers.get('request-id')!;
    await page.getByRole('link', { name: 'Developers' }).click();
    const table = page.getByRole('table', { name: 'Requests' });
    await table.getByText('parameter_unknown').first().waitFor();
    await page.getByLabel('Outcome').selectOption('Refused');
    await page.getByLabel('API', { exact: true }).selectOption('REST');
    await table.getByText('GET /v1/deposits').first().waitFor();
    expect(new URL(page.url()).search).toBe('?outcome=REFUSED&api=REST');
    await page.getByLabel('Operation').fill('GET /v1/nothing');
    await page.keyboard.press('Enter');
    await page.getByText('No request matches').waitFor();
    await page.getByLabel('Request ID').fill(id);
    await page.keyboard.press('Enter');
    await expect.poll(() => table.getByRole('row').count()).toBe(2);
    await table.getByText(id).waitFor();

    const link = await page.getByRole('link', { name: 'Show me the query' }).getAttribute('href');
    const shown = new URLSearchParams(link!.replace('/graphiql#', ''));
    expect(shown.get('query')).toContain('query Request($id: ID!)');
    expect(JSON.parse(shown.get('variables')!)).toEqual({ id });
    expect(complaints).toEqual([]);
  });

  it('creates, rotates and revokes a key, each with a key that is entered for it, and keeps none', async () => {
    const { page, complaints, open } = await signIn();
    await open('/dashboard/developers/keys');
    await page.getByRole('button', { name: 'Show the keys' }).click();
    await page.getByText('Enter a secret key').waitFor();
    await withKey(page, 'sk_live_1', 'Show the keys');
    await page.getByText('it begins with sk_test_').waitFor();
    // A key of another account is refused, and the viewer stays signed in.
    await withKey(page, 'sk_test_1', 'Show the keys');
    await page.getByRole('alert').waitFor();
    await withKey(page, otherKey(), 'Show the keys');
    await page.getByText('This account has no keys').or(page.getByRole('alert')).waitFor();
    await page.reload();
    await withKey(page, key(), 'Show the keys');
    const table = page.getByRole('table', { name: 'API keys' });
    await table.waitFor();
    const before = await table.getByRole('row').count();

    await page.getByRole('button', { name: 'Create a key' }).click();
    // A dialog begins with its first field.
    const first = page.getByRole('dialog').getByRole('combobox').first();
    await expect.poll(() => first.evaluate((field) => field === document.activeElement)).toBe(true);
    await page.getByLabel('It may').selectOption('Read');
    await page.getByLabel('It expires').selectOption('In 30 days');
    await withKey(page, key(), 'Create the key');
    const secret = await page.getByRole('dialog').locator('code').textContent();
    expect(secret).toMatch(/^sk_test_/);
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await table.getByRole('row').count()).toBe(before + 1);
    const balance = (of: string) =>
      fetch(`${origin()}/v1/balance`, { headers: { authorization: `Bearer ${of}` } }).then(({ status }) => status);
    expect(await balance(secret!)).toBe(200);

    await table
      .getByRole('button', { name: /^Rotate/ })
      .first()
      .click();
    await withKey(page, key(), 'Rotate the key');
    await page.getByText('The new key.').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await table.getByRole('row').count()).toBe(before + 2);

    await table
      .getByRole('button', { name: /^Revoke/ })
      .nth(1)
      .click();
    await withKey(page, key(), 'Revoke the key');
    await table.getByText('Revoked').first().waitFor();
    await expect.poll(() => balance(secret!)).toBe(401);
    const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage, document.cookie]));
    expect(kept).not.toContain('sk_test_');
    expect(await page.content()).not.toContain(key());
    expect(complaints).toEqual([]);
  });

  it('adds an endpoint, tests it, sees a failed attempt, sends it again, and disables it', async () => {
    const { page, complaints, open } = await signIn();
    const failing = await receiver(500);
    await open('/dashboard/developers/webhooks');
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await page.getByLabel('Address').fill('ftp://nowhere');
    await withKey(page, key(), 'Add the endpoint');
    // What is wrong stands beside its field.
    await expect.poll(() => page.getByLabel('Address').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Address').fill(failing.url);
    await page.getByLabel('Description').fill('<i>Books</i>');
    await withKey(page, key(), 'Add the endpoint');
    expect(await page.getByRole('dialog').locator('code').textContent()).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('table', { name: 'Webhook endpoints' }).getByText('<i>Books</i>').waitFor();
    await page.getByRole('link', { name: failing.url }).click();

    await page.getByRole('button', { name: 'Send a test' }).click();
    await withKey(page, key(), 'Send a test');
    const deliveries = page.getByRole('list', { name: 'Deliveries' });
    await deliveries.getByText('webhook_endpoint.tested').first().click();
    await deliveries.getByText('<b>received</b>').first().waitFor();
    await page.getByText(/^Deliveries have failed since .* The last one, .*500/).waitFor();
    await deliveries.getByRole('button', { name: 'Send again' }).first().click();
    await withKey(page, key(), 'Send again');
    await expect.poll(() => failing.bodies.length).toBeGreaterThan(1);
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await withKey(page, key(), 'Rotate the secret');
    await page.getByText('The new secret.').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Disable' }).click();
    await withKey(page, key(), 'Disable the endpoint');
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    failing.close();

    await page.getByRole('link', { name: 'Events' }).click();
    await page.getByLabel('Type').fill('webhook_endpoint.tested');
    await page.keyboard.press('Enter');
    const events = page.getByRole('list', { name: 'Events' });
    await events.getByText('webhook_endpoint.tested').first().click();
    await events.getByText('"object": "webhook_endpoint"').waitFor();
    await events.getByRole('link', { name: 'the request that caused it' }).click();
    await page.getByRole('table', { name: 'Requests' }).getByText('testWebhookEndpoint').waitFor();
    expect(complaints).toEqual([]);
  });

  it('lists sessions with a key that is entered for it, and revokes its own', async () => {
    const { context, page, open } = await signInAlone();
    await open('/dashboard/developers/sessions');
    await withKey(page, key(), 'Show the sessions');
    const table = page.getByRole('table', { name: 'Sessions' });
    await table.getByText('Active').first().waitFor();
    expect({ faults: await faults(page) }).toEqual({ faults: [] });
    // The newest session is that of this browser. Its pages may notice the end before the list shows it.
    const own = table.getByRole('row').nth(1);
    await own.getByRole('button', { name: /^Revoke/ }).click();
    await withKey(page, key(), 'Revoke the session');
    const signIn = page.getByRole('heading', { name: 'Sign in to Tidegate' });
    await own.getByText('Revoked').or(signIn).first().waitFor();
    await open('/dashboard/');
    await signIn.waitFor();
    await context.close();
  });
}

/** The pages for developers, with a text that is there when they have loaded. */
export const developerPages = [
  ['/developers', 'Request ID'],
  ['/developers/events', 'Next page'],
  ['/developers/webhooks', 'Add an endpoint'],
  ['/developers/keys', 'Being signed in is not enough for this'],
  ['/developers/sessions', 'Being signed in is not enough for this'],
] as const;

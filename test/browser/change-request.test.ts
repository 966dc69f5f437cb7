import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOperator } from '../../src/operator/access/operators.js';
import { create, webhooksIn } from '../api/webhook-fixture.js';
import { browser } from '../support/browser.js';
import { eventually, givenIn, must, useWorld } from '../support/world.js';
import { faultsInThemes, type Visit, visit } from './dashboard-fixture.js';

const world = useWorld({ environment: { OPERATOR_KEY: 'op_5f0d4c1f9b7e43a28c6d1e0f9a8b7c6e' } });
const given = givenIn(world);
const { receiver } = webhooksIn(world);

let chromium: Browser;
beforeAll(async () => {
  chromium = await browser();
});
afterAll(() => chromium?.close());

const opened = (address: string) => visit({ chromium, origin: world.origin }, address);

/** The dashboard of a key. */
async function dashboardOf(key: string): Promise<Visit> {
  const visited = await opened('/dashboard');
  await visited.page.getByLabel('API key').fill(key);
  await visited.page.getByRole('button', { name: 'Sign in' }).click();
  await visited.page.getByRole('heading', { level: 1 }).first().waitFor();
  return visited;
}

/** The console of a new operator. */
async function consoleOf(name = 'Priya Nair'): Promise<Visit> {
  const { key } = await createOperator(world.operator, name, 'operate', 'a test');
  const visited = await opened('/operator');
  await visited.page.getByLabel("Operator's key").fill(key);
  await visited.page.getByRole('button', { name: 'Sign in' }).click();
  await visited.page.getByRole('heading', { name: 'Home' }).waitFor();
  return visited;
}

describe('a change of an account that is no longer a draft', () => {
  it('is asked for on its page, and made once the operator accepts', async () => {
    const user = await given.directUser(2);
    const dashboard = await dashboardOf(user.key);
    const { page, go } = dashboard;
    await go(`/dashboard/accounts/${user.id}`);
    await page.getByRole('button', { name: 'Request a change' }).click();
    const form = page.getByRole('form', { name: 'Request a change' });
    const { body: before } = await user.get(`/v1/accounts/${user.id}`);
    expect(await form.getByLabel('Legal name').inputValue()).toBe(before.business_details.legal_name ?? '');
    await form.getByRole('button', { name: 'Send request' }).click();
    await form.getByRole('alert').waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    await form.getByLabel('Legal name').fill('Harbour Lights Private Limited');
    await form.getByLabel('City').fill('Kochi');
    await form.getByLabel('Legal form').selectOption('Partnership');
    await form.getByLabel('Date of incorporation').fill('2019-04-01');
    await form.getByText('Of a change of persons, such as a new director, send a document, too.').waitFor();
    await form.getByLabel('Why').fill('We have moved and have a new name.');
    // What was typed is there again after Escape and after a reload, and nothing else: the rest may have changed.
    const kept = await page.evaluate(() => JSON.stringify({ ...sessionStorage }));
    expect([kept.includes('Kochi'), kept.includes('postalCode')]).toEqual([true, false]);
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Request a change' }).click();
    expect(await form.getByLabel('City').inputValue()).toBe('Kochi');
    await page.reload();
    await page.getByRole('button', { name: 'Request a change' }).click();
    expect(await form.getByLabel('Why').inputValue()).toBe('We have moved and have a new name.');
    expect(await form.getByLabel('Legal form').locator('option:checked').textContent()).toBe('Partnership');
    await form.getByRole('button', { name: 'Send request' }).click();
    await form.waitFor({ state: 'detached' });
    const card = page.getByRole('region', { name: 'Requested change' });
    await card.getByText('Harbour Lights Private Limited').waitFor();
    await card.getByText('Partnership', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Request a change' }).count()).toBe(0);
    expect(await faultsInThemes(page)).toEqual([]);

    const desk = await consoleOf();
    const list = desk.page;
    await list.getByRole('link', { name: 'Changes 1 waiting' }).click();
    const changed = (await list.getByText(/Legal name, /).textContent())!;
    expect(changed.split(', ').toSorted()).toEqual(['City', 'Date of incorporation', 'Legal form', 'Legal name']);
    expect(await faultsInThemes(list)).toEqual([]);
    await list.getByRole('button', { name: /^Accept: / }).click();
    const dialog = list.getByRole('dialog');
    for (const text of ['Harbour Lights Private Limited', 'Kochi', 'We have moved'])
      await dialog.getByText(text).waitFor();
    expect(await faultsInThemes(list)).toEqual([]);
    await dialog.getByLabel('What the account is told').fill('Done, with our wishes.');
    await dialog.getByRole('button', { name: 'Change the account' }).click();
    await dialog.waitFor({ state: 'detached' });
    await list.getByText('No change is requested').waitFor();

    const after = await must(user.get(`/v1/accounts/${user.id}`));
    expect(after.business_details).toMatchObject({ legal_name: 'Harbour Lights Private Limited' });
    expect(after.business_details).toMatchObject({ type: 'partnership', date_of_incorporation: '2019-04-01' });
    expect(after.business_details.physical_address.city).toBe('Kochi');
    await page.reload();
    await card.getByText('The service says: Done, with our wishes.').waitFor();
    await page.getByRole('button', { name: 'Request a change' }).waitFor();
    expect([...dashboard.complaints, ...desk.complaints]).toEqual([]);
  });

  it('is withdrawn on its page', async () => {
    const user = await given.directUser(1);
    await must(user.post('/v1/change_requests', { account_id: user.id, business_details: { dba: 'Haven' } }));
    const { page, go, complaints } = await dashboardOf(user.key);
    await go(`/dashboard/accounts/${user.id}`);
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
    await page.getByRole('region', { name: 'Requested change' }).waitFor({ state: 'detached' });
    expect((await must(user.get('/v1/change_requests'))).data[0].status).toBe('withdrawn');
    expect(complaints).toEqual([]);
  });
});

describe('a webhook that does not take its events', () => {
  it('is in the console with its account, its last error and its next try', async () => {
    const user = await given.directUser(1);
    const { url } = await receiver((_, response) => void response.writeHead(503).end('busy'));
    const { id } = await must(create(user, { url }));
    await user.partner({ nickname: 'Quayside Carpets' });
    await eventually(
      () => world.sql`select from webhook_endpoint where id = ${id} and failing_since is not null`,
      (rows) => rows.length === 1,
    );
    const { page, go, complaints } = await consoleOf('Meera Das');
    await go('/operator/webhooks');
    const row = page.getByRole('table', { name: 'Failing webhooks' }).getByRole('row').filter({ hasText: url });
    await row.getByText(/^Status 503, /).waitFor();
    expect(await row.innerText()).toContain('the response has status 503');
    expect(await row.getByRole('link').first().getAttribute('href')).toBe(`/operator/accounts/${user.id}?mode=TEST`);
    // When it is tried next is a time, where it would otherwise say that the endpoint is enabled.
    await row.getByRole('cell').last().locator('time').waitFor();
    expect(await faultsInThemes(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

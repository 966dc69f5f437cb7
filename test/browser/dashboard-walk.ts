import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { decimal, formatMoney, sum } from '../../src/sites/dashboard/format/money.js';
import { pdfOf, personBody, receivableBody } from '../support/bodies.js';
import type { Visit } from './dashboard-fixture.js';
import { complete } from '../support/onboarding-profile.js';
import {
  completeDeposit,
  eventually,
  must,
  payoutAddressBody,
  Speaker,
  tenantOf,
  type World,
} from '../support/world.js';
import { createRoot } from '../../src/operator/account/accounts.js';

const sources = 'src/sites/dashboard';
const ofConsole = /(^|\/)console\//;

/** The addresses that the sources declare, of the dashboard or of the console: a new page is walked without a line. */
export function routesOf(app: 'dashboard' | 'console'): string[] {
  const files = fs.readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tsx'));
  const mine = files.filter((name) => ofConsole.test(name) === (app === 'console'));
  const declared = mine.flatMap((name) => [
    ...fs.readFileSync(path.join(sources, name), 'utf8').matchAll(/<Route\s+path="([^"]+)"/g),
  ]);
  // A route that ends with a star has routes of its own.
  return [...new Set(declared.map(([, route]) => route!))].filter((route) => !route.endsWith('*?'));
}

const escapes = ['">', "'>", '</script>', '</textarea></title>', '-->', '`', '\u202e', '}}'];
const vectors = [
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<script>alert(1)</script>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '<a href="javascript:alert(1)">x</a>',
  "' onmouseover='alert(1)' x='",
  '${alert(1)}{{constructor.constructor("alert(1)")()}}',
  '<form><button formaction=javascript:alert(1)>x',
];
/** What an outsider could write to leave the place of a text, and to run something. Shown as text, it does nothing. */
const hostileTexts = fc.tuple(fc.constantFrom(...escapes), fc.constantFrom(...vectors)).map((parts) => parts.join(''));
const cents = fc.bigInt({ min: 1_000n, max: 99_999_999_999n });

/** A platform, a user and a customer whose texts are hostile, and whose amounts are like no others. */
export interface HostileTenant {
  platform: Speaker;
  user: Speaker;
  /** The objects of the addresses that name one. */
  objects: Record<string, string[]>;
  /** Texts that have to be on the page of an address; a page without an entry may show any. */
  shown: Record<string, string[]>;
}

/** Makes a tenant of Edition 2 in which everything that a client may write is hostile, by the public interfaces. */
export async function hostileTenant(world: World): Promise<HostileTenant> {
  const samples = fc.sample(fc.tuple(hostileTexts, cents), 40);
  let taken = 0;
  /** A hostile text that no other place has. */
  const text = (place: string) => `${place} ${samples[taken++]![0]}`;
  const amount = () => decimal(samples[taken++]![1]);
  const platform = await rootOf(world, text('Platform'));
  const [name, legalName] = [text('User'), text('Legal')];
  const user = await activatedUser(platform, { name, legalName, text });
  const partnerName = text('Customer');
  const at = { line1: text('Street'), city: text('City'), postal_code: '560001', country: 'IN' };
  const partner = await user.partner({
    nickname: partnerName,
    business_details: { legal_name: text('Payer'), email: 'a@b.example', type: 'business', physical_address: at },
  });
  await must(platform.post(`/v1/accounts/${partner.id}/activate`));
  await platform.post(`/v1/test_helpers/accounts/${partner.id}/verify`);
  const draft = await platform.connectedUser({ nickname: text('Draft') });

  // A form sends a quotation mark in the name of a file as %22, and a file's name has no folder.
  const document = await must(user.upload('invoice', pdfOf('invoice'), `${text('File')}.pdf`.replaceAll('/', '')));
  const [paid, open] = [text('Paid'), text('Open')];
  const [description, key] = [text('About'), text('Key').slice(0, 40)];
  const owed = amount();
  const bill = (reference: string, due: string, more: object = {}) =>
    must(
      user.post(
        '/v1/receivables',
        receivableBody(
          {
            amount: owed,
            currency: 'INR',
            reference_number: reference,
            document: document.id,
            creation_date: '2026-01-01',
            due_date: due,
          },
          { description, customer_id: partner.id, metadata: { [key]: text('Value') }, ...more },
        ),
      ),
    );
  const [receivable] = await Promise.all([bill(paid, '2031-01-01'), bill(open, '2026-02-01')]);
  const checkout = await must(
    user.post('/v1/checkouts', {
      ...{ amount: '7.31', currency: 'INR', from: { account_id: partner.id }, payment_methods: ['upi'] },
      ...{ receivables: [{ id: receivable.id }], redirect_url: 'https://shop.example/' },
    }),
  );
  await must(user.post(`/v1/test_helpers/checkouts/${checkout.id}/pay`));
  const descriptor = text('Wire').slice(0, 30);
  // The sandbox issues the address of the user in steps of some seconds.
  await must(user.post('/v1/test_helpers/clock', { advance_seconds: 60 }));
  const sent = {
    ...{ amount: amount(), currency: 'INR', from: { account_id: partner.id }, to: { account_id: user.id } },
    ...{ payment_method: 'upi', statement_descriptor: descriptor },
  };
  const deposit = await must(
    eventually(
      () => user.post('/v1/deposits', sent),
      ({ status }) => status !== 402,
    ),
  );
  const refused = [text('Refund'), text('Answer'), `${text('Evidence')}.pdf`.replaceAll('/', '')] as const;
  await contested(user, deposit.id, refused);
  const about = text('Hook');
  const webhook = await must(
    platform.post('/v1/webhook_endpoints', {
      ...{ url: 'http://127.0.0.1:9/?x=%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E', event_types: ['*'] },
      description: about,
    }),
  );
  const rowName = text('Row');
  const sheet = Buffer.from(`nickname\n"${rowName.replaceAll('"', '""')}"\n`);
  const sheetFile = await must(user.upload('import', sheet, `${text('Sheet')}.csv`.replaceAll('/', '')));
  const imported = await must(user.post('/v1/imports', { kind: 'partners', file_id: sheetFile.id }));
  // The payout of the next midnight settles the invoice, and its statement names the payer.
  await must(user.post('/v1/test_helpers/clock', { advance_seconds: 86_400 }));
  const query = 'query ($id: ID!) { receivable(id: $id) { allocations { nodes { payout { id } } } } }';
  // The bank of the sandbox would confirm it while its pages are looked at.
  const hold = () =>
    world.sql`update job set due = due + 1000000 where kind = 'settle_payout' and tenant_id = ${tenantOf(user)}`;
  const payout = await eventually(
    async () => {
      await hold();
      return (await user.graph(query, { id: receivable.id })).body.data.receivable.allocations.nodes[0]?.payout?.id;
    },
    (found: string | undefined) => found !== undefined,
  );
  // It may have been made since.
  await hold();
  return {
    ...{ platform, user },
    objects: {
      '/accounts/:id': [partner.id, user.id, draft.id],
      '/payments/:id': [deposit.id],
      '/receivables/:id': [receivable.id],
      '/checkouts/:id': [checkout.id],
      '/payouts/:id': [payout!],
      '/imports/:id': [imported.id],
      '/developers/webhooks/:id': [webhook.id],
    },
    shown: {
      '/': [partnerName],
      '/customers': [partnerName],
      [`/accounts/${partner.id}`]: [partnerName, open, at.line1],
      [`/accounts/${user.id}`]: [legalName],
      '/payments': [descriptor],
      [`/payments/${deposit.id}`]: [descriptor, open, ...refused],
      '/receivables': [open, description],
      [`/receivables/${receivable.id}`]: [paid, document.filename, description],
      '/receivables/new': [partnerName],
      '/checkouts': [partnerName, paid],
      [`/checkouts/${checkout.id}`]: [partnerName, paid],
      '/checkouts/new': [partnerName, open],
      [`/payouts/${payout!}`]: [paid, legalName],
      '/developers/events': [JSON.stringify(key).slice(1, -1)],
      '/developers/webhooks': [about],
      [`/developers/webhooks/${webhook.id}`]: [about],
    },
  };
}

/** A deposit of which a part is refunded, and another part disputed and answered with a text and a file. */
async function contested(user: Speaker, id: string, [reason, answer, name]: readonly [string, string, string]) {
  await completeDeposit(user, id);
  await must(user.post('/v1/refunds', { deposit_id: id, amount: '1.01', reason }));
  await must(user.post(`/v1/test_helpers/deposits/${id}/dispute`, { amount: '2.03' }));
  const [dispute] = (await must(user.get('/v1/disputes'))).data;
  const file = await must(user.upload('dispute_evidence', pdfOf('evidence'), name));
  await must(user.post(`/v1/disputes/${dispute.id}/respond`, { text: answer, file_ids: [file.id] }));
}

async function rootOf(world: World, legalName: string): Promise<Speaker> {
  const { account, keys } = await createRoot(world.operator, {
    ...{ type: 'platform', edition: 2, nickname: legalName, businessDetails: { legalName, type: 'company' } },
  });
  return new Speaker(world, account.id, keys.test, 2);
}

interface UserTexts {
  name: string;
  legalName: string;
  text: (place: string) => string;
}

/** A connected user that is paid and paid out; the client acts for it with the platform's key. */
async function activatedUser(platform: Speaker, { name, legalName, text }: UserTexts): Promise<Speaker> {
  const { id } = await platform.connectedUser({ nickname: name });
  const identity = await must(platform.upload('identity_document', pdfOf('id'), text('Identity').replaceAll('/', '')));
  const details = {
    ...complete(2).details,
    ...{ legal_name: legalName, dba: text('Brand'), product_description: text('Product') },
  };
  await Promise.all([
    must(platform.post('/v1/persons', { ...personBody(id, ['director', 'owner']), full_name: text('Director') })),
    must(platform.post('/v1/persons', { ...personBody(id, ['director']), full_name: text('Another') })),
    must(
      platform.post(
        '/v1/addresses',
        payoutAddressBody(id, {
          name: text('Holder'),
          bank_account: { bank_name: text('Bank'), number: '004501551234' },
        }),
      ),
    ),
  ]);
  await must(
    platform.post(`/v1/accounts/${id}`, {
      business_details: details,
      supporting_documentation: { id_document: identity.id },
    }),
  );
  await must(platform.post(`/v1/accounts/${id}/activate`));
  // The sandbox verifies it by itself after a second, which may be before its helper does.
  await platform.post(`/v1/test_helpers/accounts/${id}/verify`);
  await eventually(
    () => platform.get(`/v1/accounts/${id}`),
    ({ body }) => body.status === 'activated',
  );
  return new Speaker(platform.world, id, platform.key, 2, { 'on-behalf-of': id });
}

/** Every address that a route leads to. A route with an object that is not made here fails by its name. */
export function addressesOf(routes: readonly string[], objects: Record<string, string[]>): string[] {
  return routes.flatMap((route) => {
    if (!route.includes(':')) return [route];
    const ids = objects[route];
    if (!ids) throw new Error(`The route ${route} has no object: make one in hostileTenant.`);
    return ids.map((id) => route.replace(/:\w+/, id));
  });
}

/** What the graph has answered to a page, as the page may show it. */
export class Answers {
  readonly amounts = new Set<string>();
  readonly #read: Promise<void>[] = [];

  constructor(page: Page) {
    page.on('response', (response) => {
      if (!response.url().endsWith('/graphql') || /event-stream/.test(response.headers()['content-type'] ?? '')) return;
      // A page that is left gives no content any more.
      this.#read.push(
        response.json().then(
          (body) => this.#take(body, []),
          () => {},
        ),
      );
    });
  }

  async all(): Promise<ReadonlySet<string>> {
    await Promise.all(this.#read);
    return this.amounts;
  }

  #add(amount: string, currencies: readonly string[]): void {
    for (const currency of currencies) {
      this.amounts.add(formatMoney({ amount, currency }));
      this.amounts.add(`${formatMoney({ amount, currency })} ${currency}`);
    }
  }

  /** Takes the amounts of a part of an answer, with the currency beside or above each, and the sums of lists. */
  #take(value: unknown, above: readonly string[]): void {
    if (Array.isArray(value)) this.#takeSums(value);
    if (typeof value !== 'object' || value === null) return;
    const members = Object.entries(value);
    const own = members.filter(([name]) => /currency$/i.test(name)).map(([, code]) => code as string);
    const currencies = own.length > 0 ? own : above;
    for (const [, member] of members) {
      if (typeof member === 'string' && /^-?\d+\.\d\d$/.test(member)) this.#add(member, currencies);
      else this.#take(member, currencies);
    }
  }

  /** What pages add up: all of a list by currency, also by its methods, and what is overdue of all ages. */
  #takeSums(list: { amount?: string; currency?: string; paymentMethod?: string; bucket?: string }[]): void {
    const groups = new Map<string, string[]>();
    for (const { amount, currency, paymentMethod, bucket } of list) {
      if (amount === undefined || currency === undefined) continue;
      const names = [currency, paymentMethod && `${currency} ${paymentMethod}`];
      if (bucket && bucket !== 'NOT_DUE') names.push(`${currency} overdue`);
      for (const name of names) if (name) groups.set(name, [...(groups.get(name) ?? []), amount]);
    }
    for (const [name, amounts] of groups) this.#add(sum(amounts), [name.slice(0, 3)]);
  }
}

interface Seen {
  /** Every amount of money on the page, and the sums of balances with their parts. */
  money: string[];
  totals: { total: string; parts: string[] }[];
}

/** Runs in the page: the money that it shows. */
function seenOn(): Seen {
  const money: string[] = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { textContent, parentElement } = texts.currentNode as Text;
    if (parentElement?.closest('.bars-axis, .balance-total, script, style')) continue;
    money.push(...(textContent.match(/-?[₹$€£¥][\d.,]*\d/g) ?? []));
  }
  const textOf = (element: Element | null) => (element?.textContent ?? '').trim();
  const totals = [...document.querySelectorAll('.balance-total')].map((total) => ({
    total: textOf(total.querySelector('.money')),
    parts: [...(total.closest('.balance, .card')?.querySelectorAll('.balance-parts .money, .legend .money') ?? [])].map(
      (part) => textOf(part),
    ),
  }));
  return { money, totals };
}

/** Elements and addresses on a page that it never has by itself: a text has become one. */
export function foreignOn(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    // A document of the console is a picture or a frame with an address that the page has made.
    const markup =
      'img:not([src^="blob:"]), iframe:not([src^="blob:"]), object, embed, form form, body script, [onerror], ' +
      '[onload], [onmouseover], [formaction]';
    const foreign = [...document.querySelectorAll(markup)].filter((each) => !each.matches('body > script[src]'));
    const links = [...document.querySelectorAll<HTMLAnchorElement>('a[href]')].filter(
      ({ protocol }) => !/^(https?|blob|mailto):$/.test(protocol),
    );
    return [...foreign, ...links].map((each) => each.outerHTML.slice(0, 200));
  });
}

const centsOf = (shown: string) => {
  const digits = BigInt(shown.replaceAll(/\D/g, ''));
  return shown.includes('-') ? -digits : digits;
};

/**
 * What is wrong with the page that is open: a text of the list that it does not show, one that became an element, or an
 * amount that the graph did not answer.
 */
export async function wrongOn({ page }: Visit, texts: readonly string[], answers: Answers): Promise<string[]> {
  for (const text of texts) {
    await page
      .waitForFunction((sought) => document.body.textContent.includes(sought), text, { polling: 50 })
      .catch(() => expect.fail(`${page.url()} does not show ${text}`));
  }
  const [{ money, totals }, foreign] = [await page.evaluate(seenOn), await foreignOn(page)];
  const known = await answers.all();
  return [
    ...foreign.map((element) => `an element: ${element}`),
    ...money.filter((shown) => !known.has(shown)).map((shown) => `${shown} is no amount of the graph`),
    ...totals
      .filter(({ total, parts }) => parts.map(centsOf).reduce((all, part) => all + part, 0n) !== centsOf(total))
      .map(({ total, parts }) => `${total} is not the sum of ${parts.join(' and ')}`),
  ];
}

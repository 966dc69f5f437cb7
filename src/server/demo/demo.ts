import { createHmac } from 'node:crypto';
import type { GraphQLSchema } from 'graphql';
import type { AccountRow } from '../../resources/account/table.js';
import { derived, newKey } from '../../auth/tokens.js';
import { Operator } from '../../operator/operator.js';
import { historyDays, type Trader, createHistory } from './history.js';
import type { Store } from '../../db/connect/open.js';
import { accountExists, createRoot, hasNoAccounts } from '../../operator/account/accounts.js';
import { passTime } from '../../operator/job/test-clock.js';

/** A demo tenant: one per edition, so that a reader can compare the two. */
export interface Demo {
  edition: 1 | 2;
  name: string;
  accountId: string;
  testKey: string;
}

const names = { 1: 'Harborline', 2: 'Saffron Collect' } as const;

/**
 * Opens the demo of a database. It seeds the demo once, when the database is empty. After an interrupted seeding it
 * starts again with new tenants. A file next to the pepper file stores the state of the seeding.
 */
export async function openDemo(
  store: Store,
  operator: Operator,
  schema: GraphQLSchema,
  progress: (step: string) => void,
): Promise<Demo[]> {
  await store.withAdvisoryLock('demo', async () => {
    const before = store.demo();
    if (before ? before.complete : !(await hasNoAccounts(operator))) return;
    const attempt = (before?.attempt ?? 0) + 1;
    store.demo({ attempt, complete: false });
    await store.withAsynchronousCommit((database) =>
      seedDemo(new Operator(database, schema, store.secrets), store.pepper, progress, attempt),
    );
    store.demo({ attempt, complete: true });
  });
  return demos(operator, store.pepper, store.demo()?.attempt);
}

/** The demo tenants that exist. Their ids and keys derive from the pepper, so every start can print them again. */
export async function demos(operator: Operator, pepper: string, attempt = 1): Promise<Demo[]> {
  const all = ([1, 2] as const).map((edition) => {
    const tenantId = tenantOf(pepper, edition, attempt);
    return {
      edition,
      name: names[edition],
      accountId: `account_${tenantId}`,
      testKey: keyOf(pepper, edition, tenantId, false).secret,
    };
  });
  const exist = await Promise.all(all.map((demo) => accountExists(operator, demo.accountId)));
  return all.filter((_, i) => exist[i]);
}

function tenantOf(pepper: string, edition: 1 | 2, attempt: number): string {
  return createHmac('sha256', pepper).update(`demo:tenant:${edition}:${attempt}`).digest('hex').slice(0, 32);
}

function keyOf(pepper: string, edition: 1 | 2, tenantId: string, livemode: boolean) {
  return newKey(pepper, tenantId, livemode, derived(pepper, `demo:key:${edition}:${livemode}`));
}

interface Made {
  account: AccountRow;
}

/** Seeds a platform in each edition, with users and partners in every state. It uses the product's own operations. */
export async function seedDemo(
  operator: Operator,
  pepper: string,
  progress: (step: string) => void,
  attempt = 1,
): Promise<void> {
  await Promise.all([
    seedEdition(operator, pepper, 1, attempt, progress),
    seedEdition(operator, pepper, 2, attempt, progress),
  ]);
}

/** Seeds one of the two, as a part of a demo. */
export async function seedEdition(
  operator: Operator,
  pepper: string,
  edition: 1 | 2,
  attempt: number,
  progress: (step: string) => void,
): Promise<void> {
  progress(`Seeding the demo of Edition ${edition}`);
  const tenantId = tenantOf(pepper, edition, attempt);
  await passTime(operator, { tenantId }, -(historyDays + 1) * 86_400);
  const { account: platform } = await createRoot(operator, {
    type: 'platform',
    edition,
    nickname: names[edition],
    businessDetails: {
      legalName: `${names[edition]} ${edition === 1 ? 'Inc.' : 'Private Limited'}`,
      email: `ops@${edition === 1 ? 'harborline' : 'saffron'}.example`,
      type: 'company',
    },
    tenantId,
    key: (livemode) => keyOf(pepper, edition, tenantId, livemode),
  });
  const traders: Trader[] = [];
  for (const seed of users[edition]) {
    const trader = await seedUser(operator, platform, edition, seed);
    if (trader.partners.length > 0 && !seed.draft) traders.push(trader);
  }
  // In these five seconds the sandbox verifies all accounts and issues their addresses.
  for (let second = 0; second < 5; second++) await passTime(operator, platform, 1);
  let nextReport = 0;
  await createHistory(operator, platform, edition, traders, (share) => {
    if (share < nextReport) return;
    progress(`Seeding a quarter of Edition ${edition}: ${Math.round(100 * share)} %`);
    nextReport += 0.25;
  });
}

interface SeedUser {
  nickname: string;
  legalName: string;
  address: { line1: string; city: string; state: string; postalCode: string; country: string };
  /** A draft lacks details that activation requires; an example of the explorer lists them. */
  draft?: true;
  partners: { nickname: string; legalName: string; country: string; postalCode: string; draft?: true }[];
}

const users: Record<1 | 2, SeedUser[]> = {
  1: [
    {
      nickname: 'Indigo Looms',
      legalName: 'Indigo Looms Exports LLP',
      address: { line1: '14 Amer Road', city: 'Jaipur', state: 'Rajasthan', postalCode: '302002', country: 'IN' },
      partners: [
        { nickname: 'Northwind Home', legalName: 'Northwind Home LLC', country: 'US', postalCode: '60607' },
        { nickname: 'Maison Claire', legalName: 'Maison Claire SARL', country: 'FR', postalCode: '75011' },
        { nickname: 'Kite & Barrel', legalName: 'Kite & Barrel Ltd', country: 'GB', postalCode: 'E1 6AN', draft: true },
      ],
    },
    {
      nickname: 'Malabar Spice',
      legalName: 'Malabar Spice Traders Private Limited',
      address: { line1: '8 Bazaar Road', city: 'Kochi', state: 'Kerala', postalCode: '682002', country: 'IN' },
      partners: [
        { nickname: 'Pantry Supply', legalName: 'Pantry Supply Inc.', country: 'US', postalCode: '11201' },
        { nickname: 'Rheingold Feinkost', legalName: 'Rheingold Feinkost GmbH', country: 'DE', postalCode: '50667' },
      ],
    },
    {
      nickname: 'Deccan Robotics',
      legalName: 'Deccan Robotics Private Limited',
      address: {
        line1: '31 Tank Bund Road',
        city: 'Hyderabad',
        state: 'Telangana',
        postalCode: '500029',
        country: 'IN',
      },
      draft: true,
      partners: [],
    },
  ],
  2: [
    {
      nickname: 'Lighthouse Courses',
      legalName: 'Lighthouse Courses Pte. Ltd.',
      address: {
        line1: '1 Marina Boulevard',
        city: 'Singapore',
        state: 'Singapore',
        postalCode: '018989',
        country: 'SG',
      },
      partners: [
        { nickname: 'Asha Traders', legalName: 'Asha Traders', country: 'IN', postalCode: '560001' },
        { nickname: 'Vindhya Textiles', legalName: 'Vindhya Textiles', country: 'IN', postalCode: '452001' },
      ],
    },
    {
      nickname: 'Fjord Software',
      legalName: 'Fjord Software AS',
      address: { line1: '12 Bryggen', city: 'Bergen', state: 'Vestland', postalCode: '5003', country: 'NO' },
      partners: [
        { nickname: 'Deepak Stores', legalName: 'Deepak Stores', country: 'IN', postalCode: '400001' },
        {
          nickname: 'Konkan Marine',
          legalName: 'Konkan Marine Private Limited',
          country: 'IN',
          postalCode: '403001',
          draft: true,
        },
      ],
    },
    {
      nickname: 'Cedar Books',
      legalName: 'Cedar Books Ltd',
      address: { line1: '5 Hamra Street', city: 'Beirut', state: 'Beirut', postalCode: '1103', country: 'LB' },
      draft: true,
      partners: [],
    },
  ],
};

async function seedUser(operator: Operator, platform: AccountRow, edition: 1 | 2, seed: SeedUser): Promise<Trader> {
  const slug = seed.nickname.toLowerCase().replaceAll(/[^a-z]+/g, '-');
  const completeDetails = {
    legalName: seed.legalName,
    dba: seed.nickname,
    email: `accounts@${slug}.example`,
    website: `https://${slug}.example`,
    dateOfIncorporation: '2014-04-01',
    type: 'company',
    ids: { business: 'U52100RJ2014PTC041234' },
    physicalAddress: seed.address,
    merchantCategoryCode: '5131',
    merchantSize: 'small',
    productCategory: 'goods',
    productDescription: 'Goods and services for customers abroad.',
  };
  const businessDetails = seed.draft ? { legalName: seed.legalName, type: 'company' } : completeDetails;
  const { account: user } = await operator.as<Made>(platform, 'createConnectedUser', {
    nickname: seed.nickname,
    businessDetails,
    metadata: { seeded: 'demo' },
  });
  if (!seed.draft) {
    for (const fullName of ['Meera Rao', 'Jonas Lind']) {
      await operator.as(platform, 'createPerson', {
        accountId: user.id,
        fullName,
        relationship: { director: true, owner: true, representative: true },
        identification: { taxCardNumber: 'ABCPE1234F' },
      });
    }
    await operator.as(platform, 'createAddress', {
      category: 'user_payout',
      type: 'bank_account',
      currency: 'INR',
      linkedId: user.id,
      linkedObject: 'account',
      name: seed.legalName,
      bankAccount: {
        bankName: 'Bank of the Coast',
        number: '004501551234',
        domesticCredit: 'BOTC0000451',
        globalWire: 'BOTCINBB',
      },
      billingDetails: completeDetails.physicalAddress,
    });
    await operator.as(platform, 'activateAccount', { id: user.id });
  }
  const partners: AccountRow[] = [];
  for (const { draft, nickname, legalName, ...physicalAddress } of seed.partners) {
    const email = `ap@${nickname.toLowerCase().replaceAll(/[^a-z]+/g, '-')}.example`;
    const { account: partner } = await operator.as<Made>(user, 'createAccount', {
      type: 'partner',
      nickname,
      businessDetails: { legalName, email, type: edition === 1 ? 'company' : 'business', physicalAddress },
    });
    if (draft) continue;
    await operator.as(platform, 'activateAccount', { id: partner.id });
    partners.push(partner);
  }
  return { user, partners };
}

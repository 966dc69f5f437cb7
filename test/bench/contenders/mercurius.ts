import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import mercurius from 'mercurius';
import postgres from 'postgres';
import { listening, readers, setting } from './setting.ts';

/**
 * Mercurius with its compiler, its loaders for the edges, statements written by hand, and a small pipelined pool, which
 * was the fastest. It has the same fields as the product, no API keys and no limits; its tenant is fixed.
 */
const sql = readers();
const writer = postgres({ ...setting.login, max: 5, types: { bigint: postgres.BigInt } });
const { tenant, platform } = setting;

const schema = `
  scalar DateTime
  scalar Metadata
  type Query { account(id: ID!): Account! accounts(first: Int = 10, after: ID): AccountConnection! }
  type Mutation { createDeposit(input: CreateDepositInput!): CreateDepositPayload! }
  input PartyInput { accountId: ID }
  input CreateDepositInput { amount: String! currency: String! to: PartyInput! statementDescriptor: String }
  type CreateDepositPayload { deposit: Deposit! }
  type AccountConnection { nodes: [Account!]! }
  type BusinessIds { business: String tax: String }
  type PostalAddress { line1: String city: String state: String postalCode: String country: String }
  type BusinessDetails {
    legalName: String dba: String email: String website: String type: String
    ids: BusinessIds physicalAddress: PostalAddress merchantCategoryCode: String
  }
  type Account {
    id: ID! created: DateTime! type: String! status: String! nickname: String address: String!
    businessDetails: BusinessDetails! metadata: Metadata
    setting: AccountSetting! addresses(first: Int = 10): AddressConnection!
    depositsIn(first: Int = 10): DepositConnection! balance: Balance!
  }
  type Payouts { enabled: Boolean interval: String! }
  type AccountSetting { id: ID! liveFx: Boolean! payouts: Payouts! }
  type BankAccount { bankName: String last4: String }
  type Address { id: ID! category: String! currency: String! status: String! bankAccount: BankAccount }
  type AddressConnection { nodes: [Address!]! }
  type Money { amount: String! currency: String! }
  type Balance { available: [Money!]! pending: [Money!]! }
  type Party { accountId: ID addressId: ID }
  type Deposit {
    id: ID! created: DateTime! amount: String! currency: String! status: String! paymentMethod: String!
    statementDescriptor: String! metadata: Metadata from: Party! to: Party! fromAccount: Account
  }
  type DepositConnection { nodes: [Deposit!]! }
`;

type Row = Record<string, any>;
const amountText = (minor: bigint) => `${minor / 100n}.${(minor % 100n).toString().padStart(2, '0')}`;
const time = (seconds: bigint) => new Date(Number(seconds) * 1000).toISOString();
const upper = (text: string | null | undefined) => text?.toUpperCase() ?? null;

const accountOf = (r: Row) => ({
  id: r.id,
  created: time(r.created),
  type: upper(r.type),
  status: upper(r.status),
  nickname: r.nickname,
  address: upper(r.address),
  businessDetails: { ...r.business_details, type: upper(r.business_details.type) },
  metadata: r.metadata,
});
const depositOf = (r: Row) => ({
  id: r.id,
  created: time(r.created),
  amount: amountText(r.amount),
  currency: r.currency,
  status: upper(r.status),
  paymentMethod: upper(r.payment_method),
  statementDescriptor: r.statement_descriptor,
  metadata: r.metadata,
  fromAccountId: r.from_account_id,
  from: { accountId: r.from_account_id, addressId: r.from_address_id },
  to: { accountId: r.to_account_id, addressId: r.to_address_id },
});

function grouped<T>(ids: string[], rows: Row[], key: string, of: (row: Row) => T): T[][] {
  const byId = new Map<string, T[]>(ids.map((id) => [id, []]));
  for (const row of rows) byId.get(row[key])?.push(of(row));
  return ids.map((id) => byId.get(id)!);
}

const accountColumns = sql`id, created, type, status, nickname, address, business_details, metadata`;

const resolvers = {
  Query: {
    account: async (_: unknown, { id }: Row) => {
      const [row] = await sql`select ${accountColumns} from account where tenant_id = ${tenant} and livemode = false
          and id = ${id}`;
      if (!row) throw new Error('no such account');
      return accountOf(row);
    },
    accounts: async (_: unknown, { first, after }: Row) => {
      const beyond = after
        ? sql`and (created, id) < (select created, id from account
            where tenant_id = ${tenant} and livemode = false and id = ${after})`
        : sql``;
      const rows = await sql`select ${accountColumns} from account where tenant_id = ${tenant} and livemode = false
          and on_root_list = true ${beyond} order by created desc, id desc limit ${first + 1}`;
      return { nodes: rows.slice(0, first).map(accountOf) };
    },
  },
  Mutation: {
    createDeposit: async (_: unknown, { input }: Row) => {
      const [to] = await writer`
        select a.id, d.id as address_id from account a
        join address d on d.tenant_id = a.tenant_id and d.livemode = a.livemode and d.linked_id = a.id
        where a.tenant_id = ${tenant} and a.livemode = false and a.id = ${input.to.accountId}
        and d.category = 'service_receive' and d.status = 'activated'
        order by d.currency = ${input.currency} desc limit 1`;
      if (!to) throw new Error('no address');
      const call = { account: platform, key: randomUUID(), operation: 'createDeposit', request: {} };
      const args = {
        amount: input.amount.replace('.', ''),
        currency: input.currency,
        toAccountId: to.id,
        toAddressId: to.address_id,
        fromAccountId: null,
        fromAddressId: null,
        paymentMethod: 'domestic_credit',
        statementDescriptor: input.statementDescriptor,
      };
      const [row] =
        await writer`select * from create_deposit(${tenant}, false, ${writer.json(call)}, ${writer.json(args)})`;
      return { deposit: depositOf(row!) };
    },
  },
};

const loaders = {
  Account: {
    setting: async (queries: Row[]) => {
      const ids = queries.map(({ obj }) => obj.id);
      const rows = await sql`
        select id, account_id, live_fx, payouts_enabled, payouts_interval from account_setting
        where tenant_id = ${tenant} and livemode = false and account_id = any(${ids})`;
      return grouped(ids, rows, 'account_id', (r) => ({
        id: r.id,
        liveFx: r.live_fx,
        payouts: { enabled: r.payouts_enabled, interval: upper(r.payouts_interval) },
      })).map(([one]) => one);
    },
    addresses: async (queries: Row[]) => {
      const ids = queries.map(({ obj }) => obj.id);
      const rows = await sql`
        select a.* from unnest(${ids}::text[]) as parent(id) cross join lateral (
          select id, linked_id, category, currency, status, bank_account from address
          where tenant_id = ${tenant} and livemode = false and linked_id = parent.id order by created desc, id desc
          limit ${queries[0]!.params.first}) a`;
      return grouped(ids, rows, 'linked_id', (r) => ({
        id: r.id,
        category: upper(r.category),
        currency: r.currency,
        status: upper(r.status),
        bankAccount: r.bank_account,
      })).map((nodes) => ({ nodes }));
    },
    depositsIn: async (queries: Row[]) => {
      const ids = queries.map(({ obj }) => obj.id);
      const rows = await sql`
        select d.* from unnest(${ids}::text[]) as parent(id) cross join lateral (
          select id, created, amount, currency, status, payment_method, statement_descriptor, metadata, from_account_id,
          from_address_id, to_account_id, to_address_id from deposit
          where tenant_id = ${tenant} and livemode = false and to_account_id = parent.id order by created desc, id desc
          limit ${queries[0]!.params.first}) d`;
      return grouped(ids, rows, 'to_account_id', depositOf).map((nodes) => ({ nodes }));
    },
    balance: async (queries: Row[]) => {
      const ids = queries.map(({ obj }) => obj.id);
      const rows = await sql`
        select account_id, currency, available, pending from balance
        where tenant_id = ${tenant} and livemode = false and account_id = any(${ids}) order by currency`;
      return grouped(ids, rows, 'account_id', (r) => r).map((held) => {
        const each = (of: string) =>
          held.length === 0
            ? [{ amount: '0.00', currency: 'USD' }]
            : held.map((r) => ({ amount: amountText(r[of]), currency: r.currency }));
        return { available: each('available'), pending: each('pending') };
      });
    },
  },
  Deposit: {
    fromAccount: async (queries: Row[]) => {
      const ids = queries.map(({ obj }) => obj.fromAccountId);
      const rows = await sql`select ${accountColumns} from account where tenant_id = ${tenant} and livemode = false
          and id = any(${[...new Set(ids)]})`;
      const byId = new Map(rows.map((r) => [r.id, accountOf(r)]));
      return ids.map((id) => byId.get(id) ?? null);
    },
  },
};

const app = Fastify();
await app.register(mercurius as never, { schema, resolvers, loaders, jit: 1, graphiql: false } as never);
await app.listen({ port: setting.port, host: '127.0.0.1' });
listening();

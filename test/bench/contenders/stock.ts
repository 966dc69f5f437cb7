import 'reflect-metadata';
import http from 'node:http';
import { randomUUID } from 'node:crypto';
import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginDrainHttpServer } from '@apollo/server/plugin/drainHttpServer';
import { expressMiddleware } from '@as-integrations/express5';
import DataLoader from 'dataloader';
import { and, desc, eq, inArray, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
// @ts-ignore: the module has no types.
import express from 'express';
import { GraphQLScalarType } from 'graphql';
import pg from 'pg';
import {
  Arg,
  buildSchema,
  Ctx,
  Field,
  FieldResolver,
  ID,
  InputType,
  Int,
  Mutation,
  ObjectType,
  Query,
  Resolver,
  Root,
} from 'type-graphql';
import { listening, setting } from './setting.ts';
import * as t from './tables.ts';

/**
 * The stock stack, written as the documentation of its parts shows: Apollo Server behind Express, classes with
 * type-graphql, a DataLoader per edge and request, queries with drizzle over a pool of node-postgres. It has no API
 * keys and no limits; its tenant is fixed.
 */
const { host, port, username: user, database, password } = setting.login;
const db = drizzle(new pg.Pool({ host, port, user, database, password, max: 10 }));
const live = false;

const Time = new GraphQLScalarType({
  name: 'DateTime',
  serialize: (seconds) => new Date(Number(seconds) * 1000).toISOString(),
});
const Json = new GraphQLScalarType({ name: 'Metadata', serialize: (map) => map });
const amountText = (minor: bigint) => `${minor / 100n}.${(minor % 100n).toString().padStart(2, '0')}`;
const upper = (text: string) => text.toUpperCase();

type AccountRow = typeof t.account.$inferSelect;
type AddressRow = typeof t.address.$inferSelect;
type DepositRow = typeof t.deposit.$inferSelect;
type SettingRow = typeof t.accountSetting.$inferSelect;
type BalanceRow = typeof t.balance.$inferSelect;

/** One DataLoader per edge, created for each request. */
function loaders() {
  const of = (table: { tenantId: typeof t.account.tenantId; livemode: typeof t.account.livemode }) =>
    and(eq(table.tenantId, setting.tenant), eq(table.livemode, live));
  const grouped = <T>(ids: readonly string[], rows: T[], key: (row: T) => string): T[][] => {
    const byId = new Map<string, T[]>(ids.map((id) => [id, []]));
    for (const row of rows) byId.get(key(row))?.push(row);
    return ids.map((id) => byId.get(id)!);
  };
  return {
    account: new DataLoader<string, AccountRow | undefined>(async (ids) => {
      const rows = await db
        .select()
        .from(t.account)
        .where(and(of(t.account as never), inArray(t.account.id, [...ids])));
      const byId = new Map(rows.map((row) => [row.id, row]));
      return ids.map((id) => byId.get(id));
    }),
    setting: new DataLoader<string, SettingRow | undefined>(async (ids) => {
      const rows = await db
        .select()
        .from(t.accountSetting)
        .where(and(of(t.accountSetting as never), inArray(t.accountSetting.accountId, [...ids])));
      const byId = new Map(rows.map((row) => [row.accountId, row]));
      return ids.map((id) => byId.get(id));
    }),
    addresses: new DataLoader<{ id: string; first: number }, AddressRow[], string>(
      async (keys) => {
        const newest = db
          .select()
          .from(t.address)
          .where(and(of(t.address as never), sql`${t.address.linkedId} = parent.id`))
          .orderBy(desc(t.address.created), desc(t.address.id))
          .limit(keys[0]!.first)
          .as('newest');
        const ids = keys.map(({ id }) => id);
        const rows = await db
          .select()
          .from(sql`unnest(${sql.param(ids)}::text[]) as parent(id)`)
          .crossJoinLateral(newest);
        return grouped(
          ids,
          rows.map((row) => (row as unknown as { newest: AddressRow }).newest),
          (row) => row.linkedId,
        );
      },
      { cacheKeyFn: ({ id, first }) => `${id}:${first}` },
    ),
    deposits: new DataLoader<{ id: string; first: number }, DepositRow[], string>(
      async (keys) => {
        const newest = db
          .select()
          .from(t.deposit)
          .where(and(of(t.deposit as never), sql`${t.deposit.toAccountId} = parent.id`))
          .orderBy(desc(t.deposit.created), desc(t.deposit.id))
          .limit(keys[0]!.first)
          .as('newest');
        const ids = keys.map(({ id }) => id);
        const rows = await db
          .select()
          .from(sql`unnest(${sql.param(ids)}::text[]) as parent(id)`)
          .crossJoinLateral(newest);
        return grouped(
          ids,
          rows.map((row) => (row as unknown as { newest: DepositRow }).newest),
          (row) => row.toAccountId,
        );
      },
      { cacheKeyFn: ({ id, first }) => `${id}:${first}` },
    ),
    balances: new DataLoader<string, BalanceRow[]>(async (ids) => {
      const rows = await db
        .select()
        .from(t.balance)
        .where(and(of(t.balance as never), inArray(t.balance.accountId, [...ids])))
        .orderBy(t.balance.currency);
      return grouped(ids, rows, (row) => row.accountId);
    }),
  };
}

interface Context {
  load: ReturnType<typeof loaders>;
}

@ObjectType()
class BusinessIds {
  @Field(() => String, { nullable: true }) business?: string;
  @Field(() => String, { nullable: true }) tax?: string;
}
@ObjectType()
class PostalAddress {
  @Field(() => String, { nullable: true }) line1?: string;
  @Field(() => String, { nullable: true }) city?: string;
  @Field(() => String, { nullable: true }) state?: string;
  @Field(() => String, { nullable: true }) postalCode?: string;
  @Field(() => String, { nullable: true }) country?: string;
}
@ObjectType()
class BusinessDetails {
  @Field(() => String, { nullable: true }) legalName?: string;
  @Field(() => String, { nullable: true }) dba?: string;
  @Field(() => String, { nullable: true }) email?: string;
  @Field(() => String, { nullable: true }) website?: string;
  @Field(() => String, { nullable: true }) type?: string;
  @Field(() => BusinessIds, { nullable: true }) ids?: BusinessIds;
  @Field(() => PostalAddress, { nullable: true }) physicalAddress?: PostalAddress;
  @Field(() => String, { nullable: true }) merchantCategoryCode?: string;
}
@ObjectType()
class Account {
  @Field(() => ID) id: string;
  @Field(() => Time) created: number;
  @Field(() => String) type: string;
  @Field(() => String) status: string;
  @Field(() => String, { nullable: true }) nickname?: string;
  @Field(() => String) address: string;
  @Field(() => BusinessDetails) businessDetails: BusinessDetails;
  @Field(() => Json, { nullable: true }) metadata?: unknown;
}
@ObjectType()
class AccountConnection {
  @Field(() => [Account]) nodes: Account[];
}
@ObjectType()
class Payouts {
  @Field(() => Boolean, { nullable: true }) enabled: boolean | undefined;
  @Field(() => String) interval: string;
}
@ObjectType()
class AccountSetting {
  @Field(() => ID) id: string;
  @Field(() => Boolean) liveFx: boolean;
  @Field(() => Payouts) payouts: Payouts;
}
@ObjectType()
class BankAccount {
  @Field(() => String, { nullable: true }) bankName?: string;
  @Field(() => String, { nullable: true }) last4?: string;
}
@ObjectType()
class Address {
  @Field(() => ID) id: string;
  @Field(() => String) category: string;
  @Field(() => String) currency: string;
  @Field(() => String) status: string;
  @Field(() => BankAccount, { nullable: true }) bankAccount?: BankAccount;
}
@ObjectType()
class AddressConnection {
  @Field(() => [Address]) nodes: Address[];
}
@ObjectType()
class Money {
  @Field(() => String) amount: string;
  @Field(() => String) currency: string;
}
@ObjectType()
class Balance {
  @Field(() => [Money]) available: Money[];
  @Field(() => [Money]) pending: Money[];
}
@ObjectType()
class Party {
  @Field(() => ID, { nullable: true }) accountId?: string | null;
  @Field(() => ID, { nullable: true }) addressId?: string | null;
}
@ObjectType()
class Deposit {
  @Field(() => ID) id: string;
  @Field(() => Time) created: number;
  @Field(() => String) amount: string;
  @Field(() => String) currency: string;
  @Field(() => String) status: string;
  @Field(() => String) paymentMethod: string;
  @Field(() => String) statementDescriptor: string;
  @Field(() => Json, { nullable: true }) metadata?: unknown;
}
@ObjectType()
class DepositConnection {
  @Field(() => [Deposit]) nodes: Deposit[];
}
@ObjectType()
class CreateDepositPayload {
  @Field(() => Deposit) deposit: unknown;
}
@InputType()
class PartyInput {
  @Field(() => ID, { nullable: true }) accountId?: string;
}
@InputType()
class CreateDepositInput {
  @Field(() => String) amount: string;
  @Field(() => String) currency: string;
  @Field(() => PartyInput) to: PartyInput;
  @Field(() => String, { nullable: true }) statementDescriptor?: string;
}

const nothing: Money[] = [{ amount: '0.00', currency: 'USD' }];

@Resolver(() => Account)
class AccountResolver {
  @Query(() => Account)
  async account(@Arg('id', () => ID) id: string, @Ctx() { load }: Context) {
    const row = await load.account.load(id);
    if (!row) throw new Error('no such account');
    return row;
  }
  @Query(() => AccountConnection)
  async accounts(
    @Arg('first', () => Int, { defaultValue: 10 }) first: number,
    @Arg('after', () => ID, { nullable: true }) after: string | null,
  ) {
    const a = t.account;
    const beyond = after
      ? sql`(${a.created}, ${a.id}) < (select c.created, c.id from account c
          where c.tenant_id = ${setting.tenant} and c.livemode = ${live} and c.id = ${after})`
      : undefined;
    const nodes = await db
      .select()
      .from(a)
      .where(and(eq(a.tenantId, setting.tenant), eq(a.livemode, live), eq(a.onRootList, true), beyond))
      .orderBy(desc(a.created), desc(a.id))
      .limit(first + 1);
    return { nodes: nodes.slice(0, first) };
  }
  @FieldResolver(() => String)
  type(@Root() row: AccountRow) {
    return upper(row.type);
  }
  @FieldResolver(() => String)
  status(@Root() row: AccountRow) {
    return upper(row.status);
  }
  @FieldResolver(() => String)
  address(@Root() row: AccountRow) {
    return upper(row.address);
  }
  @FieldResolver(() => AccountSetting)
  setting(@Root() row: AccountRow, @Ctx() { load }: Context) {
    return load.setting.load(row.id);
  }
  @FieldResolver(() => AddressConnection)
  async addresses(
    @Root() row: AccountRow,
    @Arg('first', () => Int, { defaultValue: 10 }) first: number,
    @Ctx() { load }: Context,
  ) {
    return { nodes: await load.addresses.load({ id: row.id, first }) };
  }
  @FieldResolver(() => DepositConnection)
  async depositsIn(
    @Root() row: AccountRow,
    @Arg('first', () => Int, { defaultValue: 10 }) first: number,
    @Ctx() { load }: Context,
  ) {
    return { nodes: await load.deposits.load({ id: row.id, first }) };
  }
  @FieldResolver(() => Balance)
  async balance(@Root() row: AccountRow, @Ctx() { load }: Context): Promise<Balance> {
    const rows = await load.balances.load(row.id);
    const each = (of: (row: BalanceRow) => bigint) =>
      rows.length === 0 ? nothing : rows.map((held) => ({ amount: amountText(of(held)), currency: held.currency }));
    return { available: each((held) => held.available), pending: each((held) => held.pending) };
  }
}

@Resolver(() => BusinessDetails)
class BusinessDetailsResolver {
  @FieldResolver(() => String, { nullable: true })
  type(@Root() details: BusinessDetails) {
    return details.type?.toUpperCase();
  }
}

@Resolver(() => AccountSetting)
class AccountSettingResolver {
  @FieldResolver(() => Payouts)
  payouts(@Root() row: SettingRow): Payouts {
    return { enabled: row.payoutsEnabled ?? undefined, interval: upper(row.payoutsInterval) };
  }
}

@Resolver(() => Address)
class AddressResolver {
  @FieldResolver(() => String)
  category(@Root() row: AddressRow) {
    return upper(row.category);
  }
  @FieldResolver(() => String)
  status(@Root() row: AddressRow) {
    return upper(row.status);
  }
}

@Resolver(() => Deposit)
class DepositResolver {
  @FieldResolver(() => String)
  amount(@Root() row: DepositRow) {
    return amountText(row.amount);
  }
  @FieldResolver(() => String)
  status(@Root() row: DepositRow) {
    return upper(row.status);
  }
  @FieldResolver(() => String)
  paymentMethod(@Root() row: DepositRow) {
    return upper(row.paymentMethod);
  }
  @FieldResolver(() => Party)
  from(@Root() row: DepositRow): Party {
    return { accountId: row.fromAccountId, addressId: row.fromAddressId };
  }
  @FieldResolver(() => Party)
  to(@Root() row: DepositRow): Party {
    return { accountId: row.toAccountId, addressId: row.toAddressId };
  }
  @FieldResolver(() => Account, { nullable: true })
  fromAccount(@Root() row: DepositRow, @Ctx() { load }: Context) {
    return row.fromAccountId ? load.account.load(row.fromAccountId) : null;
  }

  /** The rows that the product's function writes, in a transaction. */
  @Mutation(() => CreateDepositPayload)
  async createDeposit(@Arg('input', () => CreateDepositInput) input: CreateDepositInput) {
    const row = await db.transaction(async (tx) => {
      const scope = { tenantId: setting.tenant, livemode: live };
      const [to] = await tx
        .select()
        .from(t.account)
        .where(
          and(
            eq(t.account.tenantId, setting.tenant),
            eq(t.account.livemode, live),
            eq(t.account.id, input.to.accountId ?? ''),
          ),
        );
      if (!to) throw new Error('no such account');
      const addresses = await tx
        .select()
        .from(t.address)
        .where(
          and(
            eq(t.address.tenantId, setting.tenant),
            eq(t.address.livemode, live),
            eq(t.address.linkedId, to.id),
            eq(t.address.category, 'service_receive'),
            eq(t.address.status, 'activated'),
          ),
        )
        .orderBy(desc(t.address.created));
      const receiving = addresses.find(({ currency }) => currency === input.currency) ?? addresses[0];
      if (!receiving) throw new Error('no address');
      const created = Math.floor(Date.now() / 1000);
      const where = { ...scope, created, actingAccountId: to.actingAccountId, onRootList: to.onRootList };
      const [id, paymentId] = [`deposit_${randomUUID()}`, `payment_${randomUUID()}`];
      const minor = BigInt(input.amount.replace('.', ''));
      const money = { amount: minor, currency: input.currency };
      await tx.insert(t.payment).values({
        ...where,
        ...money,
        id: paymentId,
        accountId: to.id,
        type: 'deposit',
        status: 'processing',
        depositId: id,
      });
      const [made] = await tx
        .insert(t.deposit)
        .values({
          ...where,
          ...money,
          id,
          toAccountId: to.id,
          toAddressId: receiving.id,
          paymentMethod: 'domestic_credit',
          statementDescriptor: input.statementDescriptor ?? '',
          status: 'initialized',
          paymentId,
        })
        .returning();
      const data = { ...made, amount: String(minor) };
      await tx.insert(t.job).values({
        ...scope,
        created,
        id: `job_${randomUUID()}`,
        kind: 'process_deposit',
        subjectId: id,
        args: {},
        due: created,
      });
      await tx.insert(t.event).values({
        ...where,
        id: `event_${randomUUID()}`,
        type: 'deposit.initialized',
        object: 'deposit',
        objectId: id,
        data,
      });
      await tx.insert(t.idempotency).values({
        ...scope,
        accountId: setting.platform,
        key: randomUUID(),
        created,
        operation: 'createDeposit',
        request: {},
        answer: data,
      });
      return made;
    });
    return { deposit: row };
  }
}

const schema = await buildSchema({
  resolvers: [AccountResolver, BusinessDetailsResolver, AccountSettingResolver, AddressResolver, DepositResolver],
});
const app = express();
const httpServer = http.createServer(app);
const server = new ApolloServer<Context>({ schema, plugins: [ApolloServerPluginDrainHttpServer({ httpServer })] });
await server.start();
app.use('/graphql', express.json(), expressMiddleware(server, { context: async () => ({ load: loaders() }) }));
httpServer.listen(setting.port, '127.0.0.1', listening);

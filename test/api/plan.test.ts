import { getTableName, is } from 'drizzle-orm';
import { PgColumn } from 'drizzle-orm/pg-core';
import { getNamedType, type GraphQLObjectType, isObjectType, parse } from 'graphql';
import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { accountListing } from '../../src/resources/account/listing.js';
import { account } from '../../src/resources/account/table.js';
import { checkoutNow } from '../../src/resources/checkout/now.js';
import { checkoutListing } from '../../src/resources/checkout/listing.js';
import { Context } from '../../src/operation/context.js';
import type { Link, Rows } from '../../src/db/list/statement.js';
import { Scope } from '../../src/db/scope.js';
import { editions } from '../../src/editions/editions.js';
import { depositListing } from '../../src/resources/deposit/listing.js';
import { deposit } from '../../src/resources/deposit/table.js';
import { buildGraph } from '../../src/api/graphql/server.js';
import { file } from '../../src/resources/file/table.js';
import { entry } from '../../src/resources/ledger/table.js';
import { type Listing, type PageArgs, readOf } from '../../src/types/pagination.js';
import { scannedBy } from '../../src/types/list-order.js';
import { person } from '../../src/resources/person/table.js';
import { Worker } from '../../src/jobs/runner.js';
import { receivableListing } from '../../src/resources/receivable/listing.js';
import { receivable } from '../../src/resources/receivable/table.js';
import { resources } from '../../src/resources/define.js';
import { operationOf, rules } from '../../src/resources/registry.js';
import { QueryCompiler } from '../../src/api/graphql/compiler/compiler.js';
import { buffersIn, type Plan } from '../support/explained.js';
import { scale } from '../support/scale.js';
import {
  type Asked,
  buffersMax,
  faultsOf,
  ignored,
  limited,
  lists,
  nodesOf,
  ofOverdue,
  plannerIn,
  rowsSeenBy,
  sorted,
  unseeded,
  userOf,
} from './planner.js';
import { givenIn, tenantOf, useWorld } from '../support/world.js';
import { listAccounts } from '../../src/operator/account/accounts.js';
import { listActions } from '../../src/operator/action/actions.js';
import { listHolds, listNotices } from '../../src/operator/console.js';
import { listPendingAttempts } from '../../src/operator/money/attempts.js';
import { listPayouts, payoutOf } from '../../src/operator/money/payouts.js';
import { reconcileFor, recordBankNotice } from '../../src/operator/money/bank.js';

const world = useWorld({ worker: false });
const given = givenIn(world);
const planner = plannerIn(world);
const { platforms, caller, askedBy, first, valuesOf, argumentsOf, orderedOf, ownersOf, parentsOf } = planner;
const { triedBy, askFor, rowsPlan, chosenPlan, buffersOf, keptPlan, plansWithin, planOf } = planner;

describe('the plan of a list', () => {
  it.each(
    lists.map(
      (one) => [[getTableName(one.table), ...Object.values(one.listing.fixed ?? {})].join(' of '), one] as const,
    ),
  )('uses an index with its order, for all filters, ends and cursors: %s', async (_, list) => {
    const asked = await askedBy(async () => {
      const tried = await triedBy(list, argumentsOf, (filter) => String(Object.keys(filter)));
      for (const [kind, args] of tried) await askFor(list, kind, args);
    });
    const kinds = new Set([...asked.keys()].map((name) => name.replace(/:.*/, '')));
    const expected = [
      list.root === false ? [] : ['page', 'count'],
      list.edges.length > 0 ? ['edge', 'beyond', 'count'] : [],
    ];
    expect([...kinds]).toEqual(expect.arrayContaining(expected.flat()));
    const statements = [...asked].filter(([name]) => /^(page|edge|beyond|count):/.test(name));
    expect(statements.length).toBeGreaterThanOrEqual(scale.all ? 16 : 4);
    const judged = statements.filter(([name]) => !sorted.some(([those]) => those.test(name)));
    const faults = await Promise.all(
      judged.map(async ([name, one]) => {
        const chosen = faultsOf(await rowsPlan(one));
        // For other values, and for more rows, another plan may be chosen: there must be one that neither scans nor
        // sorts.
        const other = nodesOf(await planOf(one.statement));
        // What is overdue and not marked yet is little: the worker marks it within a second.
        const bad = (node: Plan) =>
          node['Node Type'] === 'Seq Scan' || (/Sort/.test(node['Node Type']) && !limited(node) && !ofOverdue(node));
        if (other.some(bad)) chosen.push(other.map((node) => node['Node Type']).join(' < '));
        return chosen.map((fault) => `${name}: ${fault}`);
      }),
    );
    expect(faults.flat()).toEqual([]);
  });

  it.each(
    lists.map(
      (one) => [[getTableName(one.table), ...Object.values(one.listing.fixed ?? {})].join(' of '), one] as const,
    ),
  )(`reads at most ${buffersMax} buffers for a page, whatever value is asked for: %s`, async (_, list) => {
    const { table, listing, edges, root } = list;
    const faults: string[] = [];
    for (const [kind, tried] of await triedBy(list, valuesOf, JSON.stringify)) {
      const scope = () => new Scope(caller(kind), world.database);
      const parents = await Promise.all(
        edges
          .filter((edge): edge is PgColumn => listing.parents?.includes(edge as PgColumn) ?? false)
          .map(async (edge) => [edge, (await parentsOf(list, edge, kind))[0]!] as const),
      );
      const asked = await askedBy(async () => {
        for (const args of tried) {
          // Balance transactions are always those of one account. What an account paid to others is on their lists.
          const given = listing.byAccount.find((name) => name in args);
          const either = given !== undefined && 'either' in listing.filters[given]! && kind === 'connected_user';
          if (root !== false && !either && (given || table !== entry))
            await scope().page(table, listing, args).catch(ignored);
          if (!listing.byAccount.some((name) => name in args))
            for (const [edge, parent] of parents) await scope().edge(table, listing, edge, parent, args).catch(ignored);
        }
      }, true);
      for (const [name, one] of asked) {
        const buffers = await buffersOf(one);
        if (buffers > buffersMax) faults.push(`${name}: ${buffers}`);
      }
    }
    expect(faults).toEqual([]);
  });

  it.each(lists.filter(({ listing }) => listing.orders).map((one) => [getTableName(one.table), one] as const))(
    `reads at most ${buffersMax} buffers, and no other rows, for a page in an order by a value: %s`,
    async (_, list) => {
      const { table, listing, root, always } = list;
      const faults: string[] = [];
      const nameOf = (filter: object) => `${(filter as PageArgs).orderBy} ${String(Object.keys(filter))}`;
      for (const [kind, args] of await triedBy(list, orderedOf, nameOf, 2)) {
        const scope = () => new Scope(caller(kind), world.database);
        const account = listing.byAccount.filter((name) => is(listing.filters[name], PgColumn) && name === 'accountId');
        const asked = await askedBy(async () => {
          for (const each of args) {
            if (root !== false)
              await scope()
                .page(table, listing, { ...each, ...always } as PageArgs)
                .catch(ignored);
            for (const name of account)
              await scope()
                .page(table, listing, { ...each, [name]: userOf } as PageArgs)
                .catch(ignored);
            for (const order of Object.values(listing.orders!))
              for (const parent of scannedBy(order).filter(({ name }) => name !== 'tenant_id'))
                for (const of of await ownersOf(list, parent, kind))
                  await scope().edge(table, listing, parent, of, each).catch(ignored);
          }
        }, true);
        const pages = [...asked].filter(([name]) => /^(page|edge):/.test(name));
        // The order by balance has one value in the key of its filter, and with a fixed type no other.
        const ranked = 'balance' in listing.orders!;
        const least = ranked ? (listing.fixed ? 10 : 30) : 50;
        expect(pages.length).toBeGreaterThan(scale.all ? least : least / 7);
        for (const [name, one] of pages) {
          const plan = await chosenPlan(one);
          const buffers = buffersIn(plan);
          if (buffers > buffersMax) faults.push(`${name}: ${buffers}`);
          for (const node of nodesOf(plan))
            if (
              (node['Actual Rows'] ?? 0) > readOf(11) * 4 ||
              (/Seq Scan|Bitmap/.test(node['Node Type']) && !unseeded.has(node['Relation Name']!))
            )
              faults.push(`${name}: ${node['Node Type']} ${node['Index Name'] ?? ''} ${node['Actual Rows']}`);
        }
        for (const [name, { statement }] of new Map(pages.map(([, one]) => [one.statement, one])))
          for (const node of nodesOf(await planOf(statement)))
            if (node['Node Type'] === 'Seq Scan' && !unseeded.has(node['Relation Name']!))
              faults.push(`${name}: scans`);
      }
      expect(faults).toEqual([]);
    },
  );

  const unreconciled: [which: string, where: string][] = [
    ['every deposit is', 'true'],
    ['one deposit of each user is', "id like '%1' and id in (select min(id) from deposit group by context_id)"],
    ['none is', 'false'],
  ];
  it.each(unreconciled)(
    `reads at most ${buffersMax} buffers for a page of unreconciled deposits, where %s`,
    async (_, where) => {
      const tenant = tenantOf(platforms.large);
      const tested = `tenant_id = '${tenant}' and not livemode`;
      await world.sql.unsafe(
        `update deposit set pending_rest = amount - disputed where ${tested} and amount > 0 and ${where}`,
      );
      // Beside a large tenant that is first in each index and last in the table, fewer and scattered rows are expected.
      await world.sql`
        insert into account (tenant_id, livemode, id, created, kind, edition, status, address, business_details,
          supporting_documentation, tos_acceptance, context_id, on_root_list)
        select '0', false, 'account_beside', created, kind, edition, status, address, business_details,
          supporting_documentation, tos_acceptance, 'account_beside', true
        from account where tenant_id = ${tenant} and not livemode and id = ${userOf}`;
      await world.sql`
        insert into deposit (tenant_id, livemode, id, created, amount, currency, to_account_id, payment_method,
          statement_descriptor, status, payment_id, context_id, on_root_list)
        select '0', false, 'deposit_' || n, n, 100, 'INR', 'account_beside', 'upi', '', 'completed', 'payment_' || n,
          'account_beside', true
        from generate_series(1, 20000) n`;
      await world.sql`vacuum analyze deposit`;
      const payer = await first(
        `select from_account_id from deposit where ${tested} and context_id = $1 and from_account_id <> $1 limit 1`,
        [userOf],
      );
      const faults: string[] = [];
      let pages = 0;
      try {
        for (const kind of ['platform', 'connected_user'] as const) {
          // What a user has paid to others is not on its own list, and has a known limit.
          const of = kind === 'platform' ? userOf : String(payer[0]);
          const asked = await askedBy(async () => {
            for (const filter of [{}, { accountId: of }, { status: ['completed'] }, { created: { gte: 1 } }]) {
              const page = (args: object) => {
                const all: object = { unreconciled: true, ...filter, ...args };
                return new Scope(caller(kind), world.database).page(deposit, depositListing, all as PageArgs);
              };
              const { nodes } = await page({ first: 10 });
              await page({ last: 10 });
              if (nodes.length < 10) continue;
              await page({ first: 10, after: nodes[5]!.id });
              await page({ last: 10, before: nodes[5]!.id });
            }
            for (const [edge, id] of [
              [deposit.toAccountId, userOf],
              [deposit.fromAccountId, of],
            ] as const)
              await new Scope(caller(kind), world.database).edge(deposit, depositListing, edge, id, {
                unreconciled: true,
                first: 10,
              } as PageArgs);
          }, true);
          for (const [name, one] of asked) {
            pages++;
            const plan = await chosenPlan(one);
            const buffers = buffersIn(plan);
            if (buffers > buffersMax) faults.push(`${kind} ${name}: ${buffers}`);
            faults.push(...faultsOf(plan).map((fault) => `${kind} ${name}: ${fault}`));
          }
        }
      } finally {
        await world.sql.unsafe(`update deposit set pending_rest = 0 where ${tested} and pending_rest <> 0`);
        await world.sql`delete from deposit where tenant_id = '0'`;
        await world.sql`delete from account where tenant_id = '0'`;
        await world.sql`vacuum analyze deposit`;
      }
      expect(faults).toEqual([]);
      expect(pages).toBeGreaterThan(15);
    },
  );

  it(`reads at most ${buffersMax} buffers, and few rows, for a page of a search, whatever it is for`, async () => {
    const tenant = tenantOf(platforms.large);
    // All objects of a kind have a frequent text, and one deposit of the user has a rare one.
    await world.sql.unsafe(
      `update deposit set metadata = '{"a": "rare"}' where tenant_id = '${tenant}' and id in (
         select id from deposit where tenant_id = '${tenant}' and not livemode and context_id = '${userOf}' order by id
         limit 1)`,
    );
    for (const [table, rows] of Object.entries({ account: 3_000, deposit: 10_000, receivable: 1_000 }))
      await world.sql.unsafe(
        `select count(index_object(tenant_id, livemode, '${table}', null, to_jsonb(x))) from
           (select * from ${table} where tenant_id = '${tenant}' and not livemode and context_id <> 'account_${tenant}'
           order by id limit ${rows}) x`,
      );
    await world.sql`vacuum analyze search_entry`;
    const owned: Listing = {
      ...accountListing,
      filters: { ...accountListing.filters, ownerId: account.ownerId },
      byAccount: ['ownerId'],
      fixed: { ownerId: userOf, type: 'partner' },
    };
    const searched: [Rows, Listing, string[]][] = [
      [account, accountListing, ['exporter', 'account user 00', 'account user 00000002']],
      [account, owned, ['exporter', 'partner']],
      [deposit, depositListing, ['invoice', 'inv', 'account', 'exporter', 'rare']],
      [receivable, receivableListing, ['r']],
    ];
    const faults: string[] = [];
    let pages = 0;
    // The first rows of two lists may be sorted together.
    const reads = (node: Plan) => /Sort|Seq Scan|Bitmap/.test(node['Node Type']) && !limited(node);
    const checkPages = async (asked: Map<string, Asked>) => {
      for (const [name, one] of asked) {
        pages++;
        const plan = await chosenPlan(one);
        const buffers = buffersIn(plan);
        if (buffers > buffersMax) faults.push(`${name}: ${buffers}`);
        for (const node of nodesOf(plan))
          if (reads(node) || (node['Actual Rows'] ?? 0) > readOf(11) * 4)
            faults.push(`${name}: ${node['Node Type']} ${node['Actual Rows']}`);
        for (const node of nodesOf(await planOf(one.statement)))
          if (reads(node)) faults.push(`${name}: ${node['Node Type']}`);
      }
    };
    for (const kind of ['platform', 'connected_user'] as const)
      for (const [table, listing, texts] of searched) {
        const filters: object[] = [...texts, 'none', 'zz'].map((search) => ({ search }));
        for (const metadata of [{ key: 'a' }, { key: 'a', value: 'b' }, { key: 'a', value: 'none' }, { key: 'none' }])
          filters.push({ metadata });
        const asked = await askedBy(async () => {
          for (const filter of filters) {
            const page = (of: object) =>
              new Scope(caller(kind), world.database).page(table, listing, { ...filter, ...of } as PageArgs);
            for (const scope of kind === 'platform' ? ['self', 'descendants'] : ['self']) {
              const middle = (await page({ scope, first: 10 })).nodes[5]?.id;
              if (middle !== undefined) await page({ scope, first: 10, after: middle });
              if (middle !== undefined) await page({ scope, last: 10, before: middle });
            }
          }
        }, true);
        await checkPages(asked);
      }
    // The operator searches the accounts of all tenants.
    const byOperator = await askedBy(async () => {
      for (const search of ['exporter', 'account user 00', 'account user 00000002', 'none', 'zz'])
        for (const livemode of [undefined, false]) {
          const { next } = await listAccounts(world.operator, { search, livemode, limit: 10 });
          if (next !== null) await listAccounts(world.operator, { search, livemode, limit: 10, after: next });
        }
    }, true);
    const searches = new Map([...byOperator].filter(([name]) => name.startsWith('operator_account_search')));
    expect(searches.size).toBeGreaterThan(11);
    await checkPages(searches);
    expect(faults).toEqual([]);
    expect(pages).toBeGreaterThan(90);
  });

  it('reads the same indexes in whole queries: every list, alone and below every other object', async () => {
    const schema = buildGraph();
    const nobody = () => {
      throw new Error('no query makes keys');
    };
    const fieldOf = (name: string) => {
      const [type, field] = name.split('.') as [string, string];
      return (schema.getType(type) as GraphQLObjectType).getFields()[field]!;
    };
    const below = (name: string): string => {
      const field = fieldOf(name);
      const type = getNamedType(field.type);
      if (!isObjectType(type)) return field.name;
      const nodes = type.name === 'AllocationConnection' ? 'created' : 'id created';
      if (type.name.endsWith('Connection'))
        return `${field.name}(first: 10) { nodes { ${nodes} } pageInfo { hasNextPage endCursor } }`;
      const withoutId = rules.get(name)!.read === 'funds' ? 'pending { amount }' : '__typename';
      return `${field.name} { ${'id' in type.getFields() ? 'id' : withoutId} }`;
    };
    const roots = [...rules].flatMap(([name, { read }]) => (read === 'page' ? [name] : []));
    const queries = roots.flatMap((root) => {
      const node = (getNamedType(fieldOf(root).type) as GraphQLObjectType).getFields().nodes!;
      const type = getNamedType(node.type).name;
      const edges = [...rules.keys()].filter((name) => name.startsWith(`${type}.`));
      const { callers } = operationOf(fieldOf(root).name);
      return edges.map((edge) => ({
        callers,
        query: `{ ${fieldOf(root).name}(first: 10) { nodes { id ${below(edge)} } pageInfo { hasNextPage } } }`,
      }));
    });
    const queriesOf = (kind: 'platform' | 'connected_user') =>
      queries.flatMap(({ callers, query }) => (callers.includes(kind) ? [query] : []));
    expect(queriesOf('connected_user').length).toBeGreaterThan(25);
    const asked = await askedBy(async () => {
      for (const kind of ['platform', 'connected_user'] as const) {
        const by = caller(kind);
        const context = new Context(
          by,
          new Scope(by, world.database),
          editions[2],
          'req',
          undefined,
          nobody,
          {} as never,
          {} as never,
        );
        const compiler = new QueryCompiler(schema); // A tenant may add half of the statements of one.
        for (const query of queriesOf(kind))
          expect([query, await compiler.of(parse(query))!.answer(null, {}, context)]).toMatchObject([
            query,
            { data: expect.stringMatching(/"id":/) },
          ]);
      }
    });
    expect(asked.size).toBe(queriesOf('platform').length + queriesOf('connected_user').length);
    const faults: string[] = [];
    for (const [name, one] of asked)
      for (const fault of faultsOf(await chosenPlan(one))) faults.push(`${name}: ${fault}`);
    expect(faults).toEqual([]);
  });

  it.each([
    ['deposit', deposit, depositListing],
    ['checkout', checkoutNow, checkoutListing],
  ] as const)(
    'uses the index of each side where an account may be on either, from the cursor on: %s',
    async (name, table, listing) => {
      const asked = await askedBy(() =>
        new Scope(caller('platform'), world.database)
          .page(table, listing, { accountId: 'x', last: 1, before: 'y' } as PageArgs)
          .catch(() => {}),
      );
      const { statement } = asked.get(`page:${getTableName(table)}:all:back:2:from:accountId`)!;
      const walks = nodesOf(await planOf(statement)).filter((node) => /ROW\(/.test(node['Index Cond'] ?? ''));
      expect(walks.map((node) => node['Index Name'])).toEqual([
        name === 'deposit' ? 'deposit_by_receiver' : `${name}_to`,
        name === 'deposit' ? 'deposit_by_payer' : `${name}_from`,
      ]);
      for (const walk of walks) expect(walk['Index Cond']).toMatch(/tenant_id = .*livemode = .*account_id\)? = /);
    },
  );

  // A worker runs this query up to four times a second, over the connections that requests use.
  it('limits what a worker reads to find due work', async () => {
    const worker = new Worker(world.database, pino({ level: 'silent' }));
    const asked = await askedBy(async () => {
      worker.start();
      await worker.stop();
    });
    const { sql } = world;
    await sql`
      insert into job (tenant_id, livemode, id, created, kind, subject_id, args, due)
      select 'tenant', false, 'job_' || n, 1, 'none', 'subject_' || n, '{}', extract(epoch
      from now())::bigint + 86400 + n from generate_series(1, 5000) n`;
    await sql`analyze job`;
    const { statement, values } = asked.get('tenants_with_new_jobs')!;
    const [plan] = await sql.unsafe(`explain (format json) ${statement}`, values as never[]);
    expect(
      nodesOf((plan as any)['QUERY PLAN'][0].Plan).map((node) => [node['Index Name'], node['Index Cond']]),
    ).toContainEqual(['job_due', expect.stringContaining('due <=')]);
  });

  it('adds up what customers owe from an index alone, and stops where they owe too many invoices', async () => {
    const { sql } = world;
    const user = await given.directUser(2);
    const [few, many, most] = [await user.partner(), await user.partner(), await user.partner()];
    for (const [customer, count] of [
      [few, 3],
      [many, 10_000],
      [most, 12_000],
    ] as const)
      await sql`insert into receivable (tenant_id, livemode, id, created, account_id, customer_id, currency,
        amount_maximum_reconcilable,
          amount_settled_payouts, invoice, purpose_code, transaction_type, context_id, on_root_list)
        select ${tenantOf(user.id)}, false, ${customer.id} || n, n, ${user.id}, ${customer.id}, case
        when n % 2 = 0 then 'INR' else 'USD' end, 100,
          case when n > ${count}::int then 100 else 0 end, '{"amount": "100", "dueDate": "2030-01-01"}', 'P0802',
          'services', ${user.id}, true
        from generate_series(1, ${count + 2_000}::int) n`;
    await sql`vacuum analyze receivable`;
    let partners: { id: string; owes: any }[] = [];
    const asked = await askedBy(async () => {
      ({
        partners: { nodes: partners },
      } = (
        await user.graph(
          '{ partners { nodes { id owes { receivables { value precision } ' +
            'currencies { count total { amount } } } } } }',
        )
      ).body.data);
    });
    const owed = new Map(partners.map(({ id, owes }) => [id, owes]));
    const sums = (value: number, ...parts: [count: number, amount: string][]) => ({
      receivables: { value, precision: 'EXACT' },
      currencies: parts.map(([count, amount]) => ({ count, total: { amount } })),
    });
    expect(owed.get(few.id)).toEqual(sums(3, [1, '1.00'], [2, '2.00']));
    expect(owed.get(many.id)).toEqual(sums(10_000, [5_000, '5000.00'], [5_000, '5000.00']));
    expect(owed.get(most.id)).toEqual({ receivables: { value: 10_000, precision: 'AT_LEAST' }, currencies: null });
    const one = asked.get('owed_by_customers')!;
    // One statement for all of them, which reads no receivable that is not open.
    expect(one.values.flat()).toEqual(expect.arrayContaining([few.id, many.id, most.id]));
    const reads = nodesOf(await chosenPlan(one)).filter((node) => node['Relation Name'] === 'receivable');
    expect(reads.map((node) => [node['Node Type'], node['Index Name']])).toEqual([
      ['Index Only Scan', 'receivable_owed'],
    ]);
    // The mean of three customers: 3, 10,000, and one more than the maximum of the 12,000.
    expect(reads[0]!['Actual Rows']).toBeCloseTo((3 + 10_000 + 10_001) / 3, -1);
  });

  it('reads a history and a balance as of a time by points, for any number of entries', async () => {
    const user = await given.directUser(2);
    const tenant = user.id.replace('account_', '');
    const { sql } = world;
    const [days, perDay, first] = [400, 50, 1_700_006_400];
    await sql`insert into balance (tenant_id, livemode, account_id, currency, of_partner, context_id, on_root_list,
      available, version)
      values (${tenant}, false, ${user.id}, 'INR', false, ${user.id}, true, ${days * perDay}, ${days * perDay})`;
    await sql`insert into entry (tenant_id, livemode, id, created, posting_id, account_id, amount, currency, category,
      payment_id, balance_after, version, context_id, on_root_list)
      select ${tenant}, false, 'bt_' || n, ${first}::bigint + (n - 1) * 86400 / ${perDay}::int, 'posting_' || n,
      ${user.id}, 1, 'INR', 'available', 'payment_' || n, n, n, ${user.id}, true
      from generate_series(1, ${days * perDay}::int) n`;
    await sql`vacuum analyze entry`;
    const pagesOf = async (from: number, to: number) => {
      const iso = (day: number) => new Date((first + day * 86_400) * 1000).toISOString();
      const asked = await askedBy(() =>
        user.graph(
          `{ account(id: "${user.id}") { balanceHistory(from: "${iso(from)}", to: "${iso(to)}", interval: DAY) ` +
            '{ available } } }',
        ),
      );
      return buffersOf(asked.get('balance_history_day')!);
    };
    // The look-up of the last entry of each day takes some four pages.
    for (const [from, to] of [
      [0, 400],
      [0, 100],
      [300, 400],
      [399, 400],
    ] as const)
      expect([from, to, await pagesOf(from, to)]).toEqual([
        from,
        to,
        expect.toSatisfy((n: number) => n <= 60 + (to - from) * 5),
      ]);
    const at = new Date((first + 200 * 86_400) * 1000).toISOString();
    const asked = await askedBy(() =>
      user.graph(`{ account(id: "${user.id}") { balance(asOf: "${at}") { available { amount } } } }`),
    );
    expect(await buffersOf(asked.get('balance_history_as_of')!)).toBeLessThanOrEqual(100);
  });

  it('reads each posting of a block once, by any plan, also of a tenant that has just begun', async () => {
    const count = 500;
    const add = (tenants: string) => {
      const rows = `from unnest('${tenants}'::text[]) t, generate_series(1, ${count}) n`;
      return world.sql.unsafe(`
        insert into posting (tenant_id, livemode, id, created, kind, cause, payment_id)
          select t, false, 'posting_' || n, n, 'deposit', 'payment_' || n, 'payment_' || n ${rows};
        insert into entry (tenant_id, livemode, id, created, posting_id, account_id, amount, currency, category,
          payment_id, balance_after, version, context_id, on_root_list)
          select t, false, 'bt_' || n, n, 'posting_' || n, 'account', 1, 'INR', 'available', 'payment_' || n, n, n,
          'account', true ${rows};
        insert into contra_entry (tenant_id, livemode, id, created, posting_id, contra, amount, currency)
          select t, false, 'contra_' || n, n, 'posting_' || n, 'clearing', -1, 'INR' ${rows}`);
    };
    await add('{sealed1, sealed2, sealed3, sealed4, sealed5, sealed6, sealed7, sealed8}');
    await world.sql`analyze posting, entry, contra_entry`;
    await add('{begun}');
    const ids = Array.from({ length: count }, (_, n) => `posting_${n + 1}`);
    for (const mode of ['force_generic_plan', 'force_custom_plan'])
      for (const tenant of ['sealed3', 'begun']) {
        const plans = await plansWithin(mode, 'select cardinality(posting_texts($1, false, $2))', [tenant, ids]);
        const seen = plans.flatMap(nodesOf).map(rowsSeenBy);
        expect(seen.filter((n) => n === count).length, mode).toBeGreaterThanOrEqual(3);
        // The ids, their postings, and the entries on both sides.
        expect(Math.max(...seen), `${mode} ${tenant}`).toBeLessThanOrEqual(4 * count);
      }
  });

  it('reads the totals of deposits by points, for any number of deposits and for ends within an hour', async () => {
    const user = await given.directUser(2);
    const tenant = tenantOf(user.id);
    const { sql } = world;
    const [days, perDay, first] = [400, 48, 1_700_006_400];
    await sql`insert into deposit (tenant_id, livemode, id, created, amount, currency, to_account_id, payment_method,
      statement_descriptor, status, payment_id, context_id, on_root_list)
      select ${tenant}, false, 'deposit_' || lpad(n::text, 8, '0'), ${first}::bigint + (n - 1) * 86400 / ${perDay}::int,
      100, 'INR', ${user.id}, 'upi', '', 'completed', 'payment_' || n, ${user.id}, true
      from generate_series(1, ${days * perDay}::bigint) n`;
    await sql`insert into deposit_total_backfill values (${tenant}, false, '', 0)`;
    for (let more = true; more; ) {
      const [row] = await world.database.call('backfill_deposit_totals', [tenant, false, 10_000]);
      more = row!.backfill_deposit_totals !== null;
    }
    await sql`vacuum analyze deposit`;
    await sql`vacuum analyze deposit_total`;
    const read = async (from: number, to: number, interval = 'DAY', timeZone = 'UTC') => {
      const iso = (at: number) => new Date((first + at * 86_400) * 1000).toISOString();
      let count = 0;
      const asked = await askedBy(async () => {
        const { body } = await user.graph(
          `{ account(id: "${user.id}") { depositTotals(from: "${iso(from)}", to: "${iso(to)}", interval: ` +
            `${interval}, timeZone: "${timeZone}") { count } } }`,
        );
        count = body.data.account.depositTotals.reduce((sum: number, total: any) => sum + total.count, 0);
      });
      const name = `deposit_totals_${interval.toLowerCase()}${timeZone === 'UTC' ? '' : ':zoned'}`;
      return { count, buffers: buffersIn(await keptPlan(asked.get(name)!)) };
    };
    for (const [from, to, interval, count] of [
      [0, 400, 'DAY', 19_200],
      [0, 400, 'MONTH', 19_200],
      [100.26, 399.74, 'DAY', 14_375],
      [300.26, 330.74, 'DAY', 1_463],
      [399, 400, 'DAY', 48],
      [200.26, 200.74, 'DAY', 23],
    ] as const)
      expect([from, to, interval, await read(from, to, interval)]).toEqual([
        ...[from, to, interval],
        { count, buffers: expect.toSatisfy((n: number) => n <= 30 + (to - from) / 10) },
      ]);
    // In another time zone a day is one look-up of its hours, some five pages; where it differs from UTC by half an
    // hour, one hour of each step is read from the deposits too, some seven pages for two deposits.
    for (const [from, to, interval, timeZone, count, most] of [
      [0, 400, 'DAY', 'America/New_York', 19_200, 6],
      [0, 400, 'MONTH', 'America/New_York', 19_200, 1],
      [0, 400, 'DAY', 'Asia/Kolkata', 19_200, 13],
      [300.26, 330.74, 'DAY', 'Asia/Kolkata', 1_463, 13],
    ] as const)
      expect([from, to, timeZone, await read(from, to, interval, timeZone)]).toEqual([
        ...[from, to, timeZone],
        { count, buffers: expect.toSatisfy((n: number) => n <= 60 + (to - from) * most) },
      ]);
  });

  it('uses an index for the operator too, over all tenants, for all modes, statuses and cursors', async () => {
    const { operator } = world;
    const asked = await askedBy(async () => {
      for (const livemode of [undefined, true])
        for (const after of [undefined, `1.x.live`])
          for (const [ofAccounts, ofPayouts] of [[], ['verifying', 'processing']] as const) {
            await listAccounts(operator, { livemode, status: ofAccounts, after });
            await listPayouts(operator, { livemode, status: ofPayouts, after });
          }
      await operator.related().all(person, person.accountId, { tenantId: 'tenant', livemode: false }, 'account_a');
      await operator.related().one(file, file.id, { tenantId: 'tenant', livemode: false }, 'file_a');
    });
    const lists = [...asked].filter(([name]) => /^operator_(accounts|payouts|related):/.test(name));
    expect(lists.length).toBeGreaterThanOrEqual(18);
    for (const [name, { statement }] of lists) {
      const nodes = nodesOf(await planOf(statement));
      const scans = nodes.filter((node) => node['Relation Name']);
      expect([name, nodes.map((node) => node['Node Type'])]).not.toContainEqual(expect.arrayContaining(['Seq Scan']));
      if (name.startsWith('operator_related')) continue;
      expect([name, nodes.map((node) => node['Node Type']).filter((type) => /Sort/.test(type))]).toEqual([name, []]);
      for (const scan of scans) {
        expect(scan['Index Name']).toMatch(/_queue$/);
        expect(scan['Index Cond']).toMatch(/status = /);
        if (name.endsWith(':after')) expect(scan['Index Cond']).toMatch(/ROW\(/);
      }
    }
  });

  it("uses an index with its order for the lists of the operators' console, with each filter and cursor", async () => {
    const { operator } = world;
    const asked = await askedBy(async () => {
      for (const after of [undefined, '9'])
        for (const name of [undefined, 'anna'])
          for (const operation of [undefined, 'settlePayout'])
            for (const objectId of [undefined, 'payout_1'])
              await listActions(operator, { limit: 1, after, operator: name, operation, objectId });
      const cursor = (...values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url');
      for (const after of [undefined, cursor(1, 'tenant', true, 'reference', 'received')])
        await Promise.all([listNotices(operator, 1, after), listNotices(operator, 1, after, 'reference')]);
      for (const after of [undefined, cursor(1, 'account_setting_1', true)])
        await Promise.all([listHolds(operator, 1, after), listPendingAttempts(operator, after, 1)]);
    });
    const lists = [...asked].filter(([name]) => /^operator_(actions|notices|holds|pending_attempts)/.test(name));
    expect(lists.length).toBe(24);
    for (const [name, { statement }] of lists) {
      const nodes = nodesOf(await planOf(statement));
      const types = nodes.map((node) => node['Node Type']);
      expect([name, types]).not.toContainEqual(expect.arrayContaining(['Seq Scan']));
      // The actions on one object, and the notices with one reference, are few, and are read as a whole.
      const used = nodes.map((node) => node['Index Name']);
      if (/objectId|reference/.test(name)) {
        expect(used).toContain(name.includes('reference') ? 'bank_notice_by_reference' : 'operator_action_of_object');
        continue;
      }
      expect([name, types.filter((type) => /Sort/.test(type))]).toEqual([name, []]);
      // A rare operator or operation is not looked for among all actions.
      const [, , filter = ''] = /^operator_(actions):(operator:operation|operator|operation)?/.exec(name) ?? [];
      const index = { operator: 'of_operator', operation: 'of_operation', 'operator:operation': 'of_both' }[filter];
      if (index) expect([name, used]).toContainEqual(expect.arrayContaining([`operator_action_${index}`]));
    }
  });

  it.each(['account', 'address', 'deposit', 'payout'] as const)(
    'finds by an id alone for the operator: %s',
    async (name) => {
      const { operator } = world;
      const money = { amount: 100n, currency: 'USD' };
      const notice = { reference: 'x', event: 'received', addressId: 'address_0', ...money } as const;
      const asked = await askedBy(async () => {
        await operator.account('account_0').catch(() => {});
        await payoutOf(operator, 'payout_0').catch(() => {});
        await reconcileFor(operator, 'deposit_0', []).catch(() => {});
        await recordBankNotice(operator, notice).catch(() => {});
      });
      const nodes = nodesOf(await planOf(asked.get(`operator_${name}`)!.statement));
      expect(nodes.map((node) => node['Index Name'])).toEqual([`${name}_by_id`]);
    },
  );

  it('is checked for every list, and for every edge to a page of one', () => {
    const nameOf = (table: Rows, match?: PgColumn | Link) =>
      `${getTableName(table)}${match ? ` by ${'links' in match ? getTableName(match.links) : match.name}` : ''}`;
    const declared = resources.flatMap(({ node, fields = [] }) => [
      ...(node ? [nameOf(node.rows)] : []),
      ...fields.flatMap(({ edges }) =>
        Object.values(edges).flatMap((edge) => (edge.read === 'edge' ? [nameOf(edge.table, edge.match)] : [])),
      ),
    ]);
    const tried = lists.flatMap(({ table, edges }) => [nameOf(table), ...edges.map((edge) => nameOf(table, edge))]);
    const missing = [...new Set(declared)].filter((name) => !tried.includes(name));
    expect(missing, 'the lists in test/api/planner.ts').toEqual([]);
  });
});

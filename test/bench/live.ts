import { flaws, load, median, type Round } from './load.ts';
import { cpuOf, cpuOfServer, headersFor, parentOf, start } from './processes.ts';
import { type Seeded, tidegate } from './seed.ts';
import { connect, type Server } from './server.ts';
import { requestsOf, type Workload } from './workloads.ts';

/** What the writes of live mode take, beside the creation of a deposit in test mode. */
export interface LiveWrites {
  rounds: number;
  writes: {
    name: string;
    title: string;
    perSecond: number;
    p50: number;
    p99: number;
    cpu: number;
    postgresql: number;
  }[];
  /** Seconds of an import, from its request to its end, the median of the rounds. */
  importSeconds: number;
  wrong: string[];
}

const operatorKey = 'bench-operator-key-bench-operator-key-00';
/** Users whose money moves, so that they do not wait for one balance. */
const usersMax = 20;
const rowsOfImport = 10_000;
/** More notices than a round can send: a notice that is sent twice has no effect. */
const noticesOfSecond = 3_000;

interface Write {
  name: string;
  title: string;
  headers: Record<string, string>;
  requests(round: number): { method: string; path: string; body?: string }[];
}

/**
 * Measures the creation of receivables, reconciliations and bank notices in live mode, in rounds interleaved with M1,
 * and an import of 10,000 receivables in each round. The rows of the seeded platform's users exist in live mode, too.
 */
export async function liveWrites(
  server: Server,
  seeded: Seeded,
  m1: Workload,
  { rounds, seconds }: { rounds: number; seconds: number },
  progress: (step: string) => void,
): Promise<LiveWrites> {
  const sql = connect(server.login);
  const { secret } = tidegate(server, [...['key', 'create', '--account', seeded.platform, '--mode', 'live']]) as {
    secret: string;
  };
  const product = await start('tidegate', server.login, seeded, 0, 1, { OPERATOR_KEY: operatorKey });
  try {
    const [{ pid }] = (await sql`select pg_backend_pid() as pid`) as unknown as [{ pid: number }];
    const postgresql = parentOf(pid);
    const live = { ...headersFor(seeded), Authorization: `Bearer ${secret}` };
    const world = await liveWorld(sql, product.origin, seeded, live);
    const wrong: string[] = [];
    const writes: Write[] = [
      { name: 'M1', title: m1.title, headers: headersFor(seeded), requests: () => requestsOf(m1.asks.tidegate!) },
      ...world.writes(seconds),
    ];
    const measured = new Map<string, (Round & { cpu: number; postgresql: number })[]>();
    const imports: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      progress(round === 0 ? 'warming up' : `round ${round} of ${rounds}`);
      for (const write of writes) {
        const before = { cpu: cpuOf(product.pid) ?? 0, postgresql: cpuOfServer(postgresql) ?? 0 };
        const { origin } = product;
        const requests = write.requests(round);
        const result = await load({ origin, headers: write.headers, requests, seconds: round === 0 ? 1 : seconds });
        wrong.push(...flaws(result).map((flaw) => `${write.name}: ${flaw}`));
        const cell = {
          ...result,
          cpu: (cpuOf(product.pid) ?? 0) - before.cpu,
          postgresql: (cpuOfServer(postgresql) ?? 0) - before.postgresql,
        };
        if (round > 0) measured.set(write.name, [...(measured.get(write.name) ?? []), cell]);
      }
      if (round > 0) imports.push(await world.import(round));
    }
    const of = (name: string, figure: (cell: Round & { cpu: number; postgresql: number }) => number) =>
      median(measured.get(name)!.map(figure))!;
    return {
      rounds,
      writes: writes.map(({ name, title }) => ({
        ...{ name, title, perSecond: of(name, (cell) => cell.requests / cell.seconds) },
        ...{ p50: of(name, (cell) => cell.p50), p99: of(name, (cell) => cell.p99) },
        cpu: of(name, (cell) => (cell.cpu * 1000) / cell.requests),
        postgresql: of(name, (cell) => (cell.postgresql * 1000) / cell.requests),
      })),
      importSeconds: median(imports)!,
      wrong,
    };
  } finally {
    await product.stop();
    await sql.end();
  }
}

/** Copies users, their partners, settings and addresses into live mode, and gives them money and receivables. */
async function liveWorld(
  sql: ReturnType<typeof connect>,
  origin: string,
  { tenant, platform, users }: Seeded,
  headers: Record<string, string>,
) {
  const some = users.slice(0, usersMax).map((id) => `${id.slice(0, -2)}ff`);
  const ids = ['id', 'account_id', 'linked_id', 'context_id', 'owner_id'];
  // The operator finds an address by its id alone, so a row has other ids in live mode.
  const liveId = (column: string) =>
    `case ${column} when '${platform}' then ${column} else left(${column}, -2) || 'ff' end`;
  for (const [table, key] of [
    ['account', 'id'],
    ['account_setting', 'account_id'],
    ['address', 'linked_id'],
  ]) {
    const columns = await sql`select column_name as name from information_schema.columns
      where table_schema = 'public' and table_name = ${table!} and is_generated = 'NEVER'`;
    const names = columns.map(({ name }) => String(name));
    const values = names.map((name) => (name === 'livemode' ? 'true' : ids.includes(name) ? liveId(name) : name));
    await sql.unsafe(
      `insert into ${table} (${names.join()}) select ${values.join()} from ${table}
       where tenant_id = $1 and not livemode and ${key} in (select id from account
         where tenant_id = $1 and not livemode and context_id = any ($2)) on conflict do nothing`,
      [tenant, users.slice(0, usersMax)],
    );
  }
  const addresses = await sql`select linked_id, id, context_id, currency from address where tenant_id = ${tenant}
    and livemode and category = 'service_receive' and currency = 'USD' and linked_id <> context_id
    order by context_id, id`;
  const addressOf = new Map(addresses.map((row) => [String(row.context_id), String(row.id)]));
  const operator = { ...headers, Authorization: `Bearer ${operatorKey}` };
  const send = async (path: string, body: unknown, by = headers): Promise<any> => {
    const response = await fetch(origin + path, { method: 'POST', headers: by, body: JSON.stringify(body) });
    const answer = (await response.json()) as any;
    if (!response.ok || answer.errors) throw new Error(`${path}: ${JSON.stringify(answer).slice(0, 500)}`);
    return answer;
  };
  const notice = (reference: string, addressId: string, amount: string) => ({
    query:
      'mutation ($input: RecordBankNoticeInput!) ' +
      '{ recordBankNotice(input: $input) { notice { deposit { id } } } }',
    variables: { input: { reference, addressId, amount, currency: 'USD' } },
  });
  const receivable = (amount: string, reference: string) => ({
    ...{ currency: 'USD', purpose_code: 'P0802', transaction_type: 'services' },
    invoice: {
      ...{ amount, currency: 'USD', reference_number: reference },
      ...{ creation_date: '2026-10-01', due_date: '2026-12-01' },
    },
  });
  const stamp = Date.now();
  const pairs: { deposit: string; receivable: string }[] = [];
  for (const user of some) {
    const body = notice(`bench-${stamp}-${user}`, addressOf.get(user)!, '900000.00');
    const { data } = await send('/operator/graphql', body, operator);
    const deposit = data.recordBankNotice.notice.deposit.id;
    const made = await send('/v1/receivables', receivable('900000.00', `B-${stamp}`), of(headers, user));
    pairs.push({ deposit, receivable: made.id });
  }
  const post = (path: string, body: unknown) => ({ method: 'POST', path, body: JSON.stringify(body) });
  return {
    writes: (seconds: number): Write[] => [
      {
        name: 'receivable',
        title: 'POST /v1/receivables',
        headers: of(headers, some[0]!),
        requests: () => [post('/v1/receivables', receivable('125.00', 'INVOICE 17'))],
      },
      {
        name: 'reconcile',
        title: `POST /v1/deposits/:id/reconcile, of ${usersMax} users in turn`,
        headers,
        requests: () =>
          pairs.map(({ deposit, receivable: id }) =>
            post(`/v1/deposits/${deposit}/reconcile`, { receivables: [{ id, amount: '0.01' }] }),
          ),
      },
      {
        name: 'bank notice',
        title: `recordBankNotice, to ${usersMax} addresses in turn`,
        headers: operator,
        requests: (round) =>
          Array.from({ length: seconds * noticesOfSecond }, (_, n) =>
            post(
              '/operator/graphql',
              notice(`bench-${stamp}-${round}-${n}`, addressOf.get(some[n % some.length]!)!, '125.00'),
            ),
          ),
      },
    ],
    /** Imports receivables, and returns the seconds until the import has ended. */
    async import(round: number): Promise<number> {
      const columns = 'currency,purpose_code,transaction_type,invoice.amount,invoice.currency,invoice.reference_number';
      const lines = Array.from(
        { length: rowsOfImport },
        (_, n) => `USD,P0802,services,125.00,USD,I-${stamp}-${round}-${n},2026-10-01,2026-12-01`,
      );
      const form = new FormData();
      form.set('purpose', 'import');
      form.set('file', new Blob([`${columns},invoice.creation_date,invoice.due_date\n${lines.join('\n')}\n`]), 'a.csv');
      const { 'Content-Type': _, ...by } = of(headers, some[1]!) as Record<string, string>;
      const uploaded = await fetch(`${origin}/v1/files`, { method: 'POST', headers: by, body: form });
      const file = (await uploaded.json()) as { id: string };
      const begun = performance.now();
      let one = await send('/v1/imports', { kind: 'receivables', file_id: file.id }, of(headers, some[1]!));
      while (one.status !== 'completed' && one.status !== 'failed') {
        await new Promise((resume) => setTimeout(resume, 100));
        const path = `${origin}/v1/imports/${one.id}`;
        one = await (await fetch(path, { headers: of(headers, some[1]!) })).json();
      }
      if (one.status !== 'completed' || one.rows_failed > 0) throw new Error(JSON.stringify(one).slice(0, 500));
      return (performance.now() - begun) / 1000;
    },
  };
}

const of = (headers: Record<string, string>, user: string) => ({ ...headers, 'On-Behalf-Of': user });

/** The figures as text. */
export function liveWritesTable({ rounds, writes, importSeconds, wrong }: LiveWrites): string {
  const cells = (name: string, figures: string[]) =>
    `${name.padEnd(14)}${figures.map((figure) => figure.padStart(14)).join('')}`;
  const m1 = writes[0]!.perSecond;
  return [
    `Medians of ${rounds} interleaved rounds; CPU in milliseconds of a request.`,
    cells('', ['requests/s', 'by M1', 'p50 ms', 'p99 ms', 'CPU ms', 'of PostgreSQL']),
    ...writes.map(({ name, perSecond, p50, p99, cpu, postgresql }) =>
      cells(name, [
        ...[String(Math.round(perSecond)), `× ${(perSecond / m1).toFixed(2)}`],
        ...[p50, p99, cpu, postgresql].map((figure) => figure.toFixed(2)),
      ]),
    ),
    ...writes.map(({ name, title }) => `${name}: ${title}`),
    `Import of ${rowsOfImport} receivables: ${importSeconds.toFixed(1)} s`,
    ...wrong,
    '',
  ].join('\n');
}

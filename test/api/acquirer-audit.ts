import { expect } from 'vitest';
import { camel } from '../../src/errors/problems.js';
import { listed, receivableShown, text } from '../faults/harness.js';
import { compartments } from '../support/bodies.js';
import { must, type Speaker, type World } from '../support/world.js';
import type { AcquirerModel, Attempt } from './acquirer-model.js';
import { type Json, operatorIn } from './operator-fixture.js';

/** An account that an acquirer pays, and what must have become of its money. */
export interface Audited {
  world: World;
  model: AcquirerModel;
  /** The account, and the one that is paid out. */
  live: Speaker;
  root: Speaker;
  tenant: string;
  attempts: Attempt[];
  /** Attempts whose money has come, for a checkout or as its second payment. */
  paid: Attempt[];
  /** The key of an operator. */
  operator: string;
  /** The ids of the deposits by the attempts that they are of. */
  deposits(): Promise<Map<string, string>>;
}

const asked = `{
  balance { ${compartments.map((name) => `${camel(name)} { amount currency }`).join(' ')} }
  deposits(first: 100) { nodes { id amount status pendingRest disputed disputedDeposit { id }
    bankDetails { reference } } }
  refunds(first: 100) { nodes { id depositId amount status fromPending } }
  disputes(first: 100) { nodes { id reference amount status reasonCode } }
  payouts(first: 100) { nodes { id amount status } }
}`;

/** What an account sees of its money, in the graph, when both APIs and the model agree about its balance. */
async function balanceSeen({ model }: Audited, speaker: Speaker): Promise<Json> {
  const { data: graph } = await must(speaker.graph(asked));
  const balance = await must(speaker.get('/v1/balance'));
  for (const name of compartments) {
    const shown = balance[name].filter((m: Json) => m.amount !== '0.00');
    const wanted = model.fundsOf(speaker.id, 'INR')[name];
    expect([name, shown]).toEqual([name, wanted === 0n ? [] : [{ amount: text(wanted), currency: 'INR' }]]);
    expect(graph.balance[camel(name)]).toEqual(balance[name]);
  }
  return graph;
}

/** The rows of a list of /v1, whose members with these names are those of the graph. */
async function rowsSeen(speaker: Speaker, graph: Json, path: string, names: string[]): Promise<Json[]> {
  const rows = await listed(speaker, `/v1/${path}`);
  const inGraph = graph[path].nodes.map((row: Json) => names.map((name) => String(row[camel(name)]).toLowerCase()));
  expect(inGraph).toEqual(rows.map((row) => names.map((name) => String(row[name]).toLowerCase())));
  return rows;
}

/** Compares everything that the APIs show with the model. */
export async function audit(history: Audited): Promise<void> {
  const { world, model, live, root, tenant } = history;
  expect(await world.sql`select rule, what from violations where tenant_id = ${tenant} or tenant_id is null`).toEqual(
    [],
  );
  expect(await world.sql`select kind, error from job where tenant_id = ${tenant} and error is not null`).toEqual([]);
  const graph = await balanceSeen(history, live);
  const agree = (path: string, names: string[]) => rowsSeen(live, graph, path, names);
  const attemptOf = new Map([...(await history.deposits())].map(([attempt, deposit]) => [deposit, attempt]));
  const sorted = (rows: unknown[][]) => rows.map((row) => row.join(' ')).toSorted();

  await agree('deposits', ['id', 'amount', 'status']);
  const deposits: Json[] = graph.deposits.nodes;
  const shownDeposits = deposits.map((row) => {
    const of = row.disputedDeposit ? row.bankDetails.reference : attemptOf.get(row.id);
    return [of, row.amount, row.status.toLowerCase(), row.pendingRest, row.disputed];
  });
  const wantedDeposits = model.deposits.listed.map(({ id, amount, status, rest, disputed }) => {
    return [id.split(' ')[0], text(amount), status, text(rest), text(disputed)];
  });
  const failed = history.paid.flatMap(({ id, status, taken, checkout: { amount } }) => {
    const credited = taken!.amount < amount ? taken!.amount : amount;
    return status === 'duplicate' ? [[id, text(credited), 'failed', '0.00', '0.00']] : [];
  });
  expect(sorted(shownDeposits)).toEqual(sorted([...wantedDeposits, ...failed]));

  const refunds = await agree('refunds', ['id', 'deposit_id', 'amount', 'status', 'from_pending']);
  const wantedRefunds = [
    ...model.refunds.listed.map((x) => [x.id, x.deposit, text(x.amount), x.status, text(x.fromPending)]),
    ...[...model.duplicates].map(([id, x]) => [id, x.attempt, text(x.amount), x.status, '0.00']),
  ];
  const shownRefunds = refunds.map((row) => {
    return [row.id, attemptOf.get(row.deposit_id), row.amount, row.status, row.from_pending];
  });
  expect(sorted(shownRefunds)).toEqual(sorted(wantedRefunds));

  const disputes = await agree('disputes', ['id', 'reference', 'amount', 'status', 'reason_code']);
  const shownDisputes = disputes.map((row) => {
    return [row.reference, attemptOf.get(row.deposit_id), row.amount, row.status, row.reason_code];
  });
  const wantedDisputes = [...model.disputes].map(([id, x]) => [id, x.attempt, text(x.amount), x.status, x.reason]);
  expect(sorted(shownDisputes)).toEqual(sorted(wantedDisputes));

  const payouts = await rowsSeen(root, await balanceSeen(history, root), 'payouts', ['id', 'amount', 'status']);
  const wantedPayouts = [...model.payouts.values()].map(({ id, amount, status }) => [id, text(amount), status]);
  expect(sorted(payouts.map(({ id, amount, status }) => [id, amount, status]))).toEqual(sorted(wantedPayouts));

  const query = `query ($tenantId: ID!) { unexplained(tenantId: $tenantId, first: 200) { nodes {
    transactionId depositId amount covered currency reason reference status } } }`;
  const { body } = await operatorIn(world).at(history.operator).ask(query, { tenantId: tenant });
  const debits = new Map(deposits.flatMap((d) => (d.disputedDeposit ? [[d.id, d.disputedDeposit.id]] : [])));
  const shownRows = body.data.unexplained.nodes.toReversed().map((row: Json) => {
    const of = row.transactionId ?? attemptOf.get(debits.get(row.depositId) ?? row.depositId);
    const reason = row.reason.toLowerCase();
    return [of, row.amount, row.covered, row.currency, reason, row.reference, row.status.toLowerCase()];
  });
  const wantedRows = model.kept.map((row) => {
    const { attempt, amount, covered, currency, reason, reference, isResolved } = row;
    const shown = reason === 'recorded' ? reference : null;
    return [attempt, text(amount), text(covered), currency, reason, shown, isResolved ? 'resolved' : 'open'];
  });
  expect(shownRows).toEqual(wantedRows);

  const receivables = new Map((await listed(live, '/v1/receivables')).map((row) => [row.id, row]));
  for (const { id } of model.receivables.listed) {
    const { deposit_ids_amount_locked: locked, ...shown } = receivableShown(model, id);
    expect(receivables.get(id)).toMatchObject(shown);
    const of = receivables.get(id).deposit_ids_amount_locked.map((deposit: string) => attemptOf.get(deposit));
    expect(of.toSorted()).toEqual(locked);
  }

  const rows = await world.sql`select id, status, reason_code as reason, mismatch from transaction
    where tenant_id = ${tenant} and livemode order by id`;
  const shownAttempts = rows.map(({ id, status, reason, mismatch }) => {
    return [id, reason ?? status, mismatch && (mismatch.amount ? `${mismatch.amount} ${mismatch.currency}` : 'same')];
  });
  const wantedAttempts = history.attempts.map(({ id, status, mismatch }) => {
    return [id, status, mismatch ? (mismatch.said ?? 'same') : null];
  });
  expect(shownAttempts).toEqual(wantedAttempts.toSorted(([one], [other]) => (one! < other! ? -1 : 1)));
}

import { expect } from 'vitest';
import { inputOf, receivableBody } from '../support/bodies.js';
import { inputTypeOf, type Reply, type Speaker, type Transport } from '../support/world.js';

export const bodyOf = (more: object = {}, invoice: object = {}) =>
  receivableBody({ reference_number: 'INV-7', ...invoice }, more);

export interface Answer extends Reply {
  /** The receivable of the response, in the format of /v1. */
  receivable: any;
}

export async function ask(
  speaker: Speaker,
  transport: Transport,
  [path, mutation]: [path: string, mutation: string],
  body: object,
  id?: string,
): Promise<Answer> {
  if (transport === 'REST') {
    const reply = await speaker.post(path, body);
    return { ...reply, receivable: reply.body };
  }
  const type = inputTypeOf(mutation);
  const reply = await speaker.graph(
    `mutation ($input: ${type}!) { ${mutation}(input: $input) { receivable {
      id status amountLocked amountMaximumReconcilable amountReconcilable description metadata purposeCodeDescription
    } } }`,
    { input: { ...inputOf(body), ...(id && { id }) } },
  );
  const status = reply.body.errors?.[0]?.extensions.httpStatus ?? reply.status;
  const made = reply.body.data?.[mutation]?.receivable;
  if (!made) return { ...reply, status, receivable: undefined };
  const receivable = (await speaker.get(`/v1/receivables/${made.id}`)).body;
  // The response of the mutation must equal a later read.
  expect(made).toEqual({
    id: receivable.id,
    status: receivable.status.toUpperCase(),
    amountLocked: receivable.amount_locked,
    amountMaximumReconcilable: receivable.amount_maximum_reconcilable,
    amountReconcilable: receivable.amount_reconcilable,
    description: receivable.description,
    metadata: receivable.metadata,
    purposeCodeDescription: receivable.purpose_code_description,
  });
  return { ...reply, status, receivable };
}

export const update = (speaker: Speaker, transport: Transport, id: string, body: object) =>
  ask(speaker, transport, [`/v1/receivables/${id}`, 'updateReceivable'], body, id);
export const withdraw = (speaker: Speaker, transport: Transport, id: string) =>
  ask(speaker, transport, [`/v1/receivables/${id}/void`, 'voidReceivable'], {}, id);

export async function created(speaker: Speaker, more: object = {}, invoice: object = {}): Promise<any> {
  const reply = await speaker.post('/v1/receivables', bodyOf(more, invoice));
  expect([reply.fieldNames, reply.status]).toEqual([[], 200]);
  return reply.body;
}

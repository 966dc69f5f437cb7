import { describe, expect, it } from 'vitest';
import { auditLedger } from '../support/audit.js';
import { must, useWorld, withLiveAcquirer } from '../support/world.js';
import { checkoutsIn, depositsOf, funds, locksOf, look, pay, refusalOf, transactionsOf } from './checkout-fixture.js';
import { type Json, mutation, OPERATOR_KEY, operatorIn } from './operator-fixture.js';

const world = useWorld({ worker: false, environment: { OPERATOR_KEY }, acquirers: withLiveAcquirer });
const { opened } = checkoutsIn(world);
const { ask, data } = operatorIn(world);

auditLedger(world);

const listed = async (tenantId: string): Promise<Json[]> =>
  (
    await data(
      ask(
        `query ($tenantId: ID!) { unexplained(tenantId: $tenantId) {
          nodes { id transactionId amount currency reason status resolution resolvedBy } next } }`,
        { tenantId },
      ),
    )
  ).unexplained.nodes;
const resolving = mutation(
  'resolveUnexplained',
  'ResolveUnexplainedInput',
  'unexplained { id status resolution resolvedBy }',
);

describe('what an acquirer really takes', () => {
  it('is credited up to the amount of the checkout; the rest is unexplained, until the operator says more', async () => {
    const { user, id, receivable } = await opened();
    const { amount, gross_amount: gross, currency } = await look(user, id);
    const beyond = (Number(gross) + 12.5).toFixed(2);
    await pay(user, id, { amount: beyond });
    expect(await depositsOf(user, id)).toMatchObject([{ amount, currency, status: 'completed' }]);
    expect((await locksOf(user, receivable))[0]).toBe(amount);
    const [row] = await listed(user.id);
    const [attempt] = await transactionsOf(user, id);
    expect(row).toMatchObject({
      ...{ transactionId: attempt.id, amount: '12.50', currency, reason: 'BEYOND_ATTEMPT', status: 'OPEN' },
      ...{ resolution: null, resolvedBy: null },
    });
    const before = await funds(user);
    const resolution = 'The acquirer refunded it, ARN 7';
    const resolved = await data(ask(resolving, { input: { id: row.id, resolution } }));
    expect(resolved.resolveUnexplained.unexplained).toEqual({
      ...{ id: row.id, status: 'RESOLVED', resolution, resolvedBy: 'OPERATOR_KEY' },
    });
    expect(await funds(user)).toEqual(before);
    const again = await ask(resolving, { input: { id: row.id, resolution } });
    expect(again.body.errors[0].extensions.code).toBe('STATUS_INVALID');
    const unknown = await ask(resolving, { input: { id: 'unexplained_0', resolution } });
    expect(unknown.body.errors[0].extensions.code).toBe('RESOURCE_MISSING');
  });

  it('completes a checkout that is underpaid: its deposit is what was taken, and locks as far as it goes', async () => {
    const { user, id, receivable } = await opened();
    const paid = await pay(user, id, { amount: '40.00' });
    expect(paid.status).toBe('completed');
    expect(await depositsOf(user, id)).toMatchObject([{ amount: '40.00', status: 'completed' }]);
    expect((await locksOf(user, receivable))[0]).toBe('40.00');
    expect(await funds(user)).toEqual({ 'available INR': '40.00' });
    expect(await listed(user.id)).toEqual([]);
  });

  it('pays nothing in another currency: all of it is unexplained', async () => {
    const { user, id } = await opened();
    const paid = await pay(user, id, { amount: '9.00', currency: 'USD' });
    expect(paid.status).toBe('initialized');
    expect(await funds(user)).toEqual({});
    expect(await listed(user.id)).toMatchObject([{ amount: '9.00', currency: 'USD', reason: 'OTHER_CURRENCY' }]);
  });

  it('is more than nothing', async () => {
    const { user, id } = await opened();
    const reply = await user.post(`/v1/test_helpers/checkouts/${id}/pay`, { amount: '0.00' });
    expect(refusalOf(reply)).toEqual([400, ['parameter_invalid'], ['checkout.amount']]);
    await must(user.post(`/v1/test_helpers/checkouts/${id}/pay`));
  });
});

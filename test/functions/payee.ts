import { type FunctionsFixture, moneyOf } from './fixture.js';
import { createRoot } from '../../src/operator/account/accounts.js';

/** Makes roots of their own, each with available money and, unless `address` is null, a payout address. */
export const payeesOf = (fixture: FunctionsFixture) => {
  const { world, call, write, stored } = fixture;
  return async (amount = 100n, address: string | null = 'USD') => {
    const { account } = await createRoot(world.operator, {
      ...{ type: 'user', edition: 1, businessDetails: { legalName: 'Payee' } },
    });
    const root = { id: account.id, tenantId: account.tenantId, live: false };
    const money = moneyOf(fixture, root);
    const { receivable } = await money.reconciled(amount);
    const payTo = (currency: string) =>
      write(root, 'create_address', {
        ...{ linkedId: root.id, category: 'user_payout', type: 'bank_account', currency, name: 'Payee' },
        ...{ bankAccount: { number: '1' }, billingDetails: {}, supportingDocumentation: null, byPlatform: true },
      });
    if (address !== null) await payTo(address);
    const payOut = async () => {
      await call('pay_out', root.tenantId, false, '{}', root.id);
      return stored('payout', root, root.id, 'account_id');
    };
    return { ...root, money, receivable, payTo, payOut };
  };
};

import type { AccountRow } from '../../src/resources/account/table.js';
import type { BankNotice } from '../../src/operator/money/notice.js';
import { currencyOf } from '../support/bodies.js';
import { type Edition, givenIn, must, type Speaker, type World } from '../support/world.js';
import { issueAddress, verifyAccount } from '../../src/operator/account/accounts.js';
import { recordBankNotice } from '../../src/operator/money/bank.js';

export const money = (amount: string, currency = 'USD') => [{ amount, currency }];

export interface Receiver {
  live: Speaker;
  test: Speaker;
  row: AccountRow;
  addressId: string;
}

export const reversed = (notice: BankNotice): BankNotice => ({ ...notice, event: 'reversed' });

export const pendingOf = async (speaker: Speaker, id = speaker.id) =>
  (await speaker.get(`/v1/balance?account_id=${id}`)).body.pending;
export const depositsOf = async (speaker: Speaker): Promise<any[]> => (await speaker.get('/v1/deposits')).body.data;

/** Accounts that receive bank notices in live mode. */
export function banksIn(world: World) {
  const given = givenIn(world);
  let count = 0;
  const reference = () => `UTR${String(++count).padStart(8, '0')}`;

  /** Creates a direct user that is activated in live mode, with an address that its bank has issued. */
  async function receiver(edition: Edition = 1, number = '123456789'): Promise<Receiver> {
    const { account, live, test } = await given.directUserBoth(edition);
    const draft = await world.operator.account(account.id, true);
    const row = await verifyAccount(world.operator, draft, 'activated');
    const { id } = await issueAddress(world.operator, row, {
      ...{ category: 'service_receive', currency: currencyOf[edition], bankAccount: { number } },
    });
    return { live, test, row, addressId: id };
  }

  /** Creates an activated partner in live mode, with its own receiving address. */
  async function partnerOf({ live }: Receiver): Promise<{ id: string; addressId: string }> {
    const partner = await live.partner();
    await must(live.post(`/v1/accounts/${partner.id}/activate`));
    const row = await verifyAccount(world.operator, await world.operator.account(partner.id), 'activated');
    const { id } = await issueAddress(world.operator, row, {
      ...{ category: 'service_receive', currency: currencyOf[live.edition], bankAccount: { number: '987654321' } },
    });
    return { id: partner.id, addressId: id };
  }

  const recordNotice = async (given: BankNotice) => {
    const { notice, deposit } = await recordBankNotice(world.operator, given);
    return { reference: notice.reference, event: notice.event, deposit };
  };
  const received = (to: Receiver, more: Partial<BankNotice> = {}): BankNotice => ({
    reference: reference(),
    event: 'received',
    addressId: to.addressId,
    amount: 1_000n,
    currency: currencyOf[to.live.edition],
    ...more,
  });
  return { reference, receiver, partnerOf, recordNotice, received };
}

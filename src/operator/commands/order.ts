import { type Command, Option } from 'commander';
import { payoutV1 } from '../../resources/payout/v1.js';
import { amountText } from '../../types/scalars.js';
import { approvalsLeft } from '../access/approvals.js';
import { addOwnAccount, closeOwnAccount, listOwnAccounts } from '../payment-order/accounts.js';
import {
  createPaymentOrder,
  listOrders,
  orderedPayouts,
  orderOf,
  rejectPaymentOrder,
  sendPaymentOrder,
} from '../payment-order/orders.js';
import { type OwnAccountRow, type PaymentOrderRow, PaymentOrderStatus } from '../payment-order/table.js';
import { currencyCode, day, name, reasonText } from './arguments.js';
import { type AddCommand, after, commandUser, given } from './command.js';

const byCommand = () => ({ id: null, name: commandUser() });

/** Adds the commands about payment orders and the accounts that they are paid from. */
export function paymentOrderCommands(program: Command, command: AddCommand): void {
  const order = program.command('order').description('Payment orders: files by which a bank pays payouts');
  command(
    order,
    'create',
    'Gather the payouts that wait, for two named operators to approve in the console',
    async (operator, o) =>
      orderV1(
        await createPaymentOrder(
          operator,
          { ownAccountId: String(o.account), valueDate: String(o.valueDate) },
          byCommand(),
        ),
      ),
  )
    .requiredOption('--account <account>', 'your account from which the bank pays; its currency is that of the payouts')
    .requiredOption('--value-date <day>', 'when the bank is to pay, such as 2026-01-31', day);
  command(order, 'list', 'List payment orders, the newest first', async (operator, o) => {
    const { nodes, next } = await listOrders(operator, {
      ...{ status: o.status as PaymentOrderStatus | undefined, after: o.after as string | undefined },
    });
    return { orders: nodes.map(orderV1), ...(next !== null && { next }) };
  })
    .addOption(new Option('--status <status>').choices(Object.values(PaymentOrderStatus)))
    .addOption(after());
  command(order, 'show <order>', 'List the payouts of an order, as its file has them', async (operator, o, id) => {
    const { nodes, next } = await orderedPayouts(operator, id, { after: o.after as string | undefined });
    return { ...orderV1(await orderOf(operator, id)), of: nodes.map(payoutV1), ...(next !== null && { next }) };
  }).addOption(after());
  command(order, 'sent <order>', 'Record that the file of an order was given to the bank', async (operator, _, id) =>
    orderV1(await sendPaymentOrder(operator, id, byCommand())),
  );
  command(order, 'reject <order>', 'Reject an order; its payouts can be in others', async (operator, o, id) => {
    return orderV1(await rejectPaymentOrder(operator, id, String(o.reason), byCommand()));
  }).requiredOption('--reason <text>', 'why', reasonText);
  accountCommands(order, command);
}

function accountCommands(order: Command, command: AddCommand): void {
  command(order, 'accounts', 'List your accounts at banks', async (operator) => ({
    accounts: (await listOwnAccounts(operator)).map(accountV1),
  }));
  command(order, 'account', 'Add an account of yours at a bank, from which payouts are paid', async (operator, o) => {
    const codes = given(o, { iban: 'iban', number: 'number', bic: 'bic', ifsc: 'ifsc' });
    const content = { holder: String(o.holder), currency: String(o.currency), ...codes };
    return accountV1(await addOwnAccount(operator, content, commandUser()));
  })
    .requiredOption('--holder <name>', 'who holds it, as the bank knows them', name)
    .requiredOption('--currency <currency>', 'ISO 4217 code', currencyCode)
    .option('--iban <iban>', 'the IBAN')
    .option('--number <number>', 'the number, of an account without an IBAN')
    .option('--bic <bic>', 'the BIC of its bank')
    .option('--ifsc <ifsc>', 'the IFSC of its bank');
  command(order, 'close-account <account>', 'Close an account of yours', async (operator, _, id) =>
    accountV1(await closeOwnAccount(operator, id)),
  );
}

const orderV1 = (row: PaymentOrderRow) => ({
  ...{ id: row.id, created: row.created, status: row.status, payouts: row.payouts },
  ...{ total: row.total === null ? null : amountText(row.total), currency: row.currency },
  ...{ own_account_id: row.ownAccountId, value_date: row.valueDate, created_by: row.createdBy },
  ...{ decided_by: row.decidedBy, decided_at: row.decidedAt, note: row.note },
  ...{ sent_by: row.sentBy, sent_at: row.sentAt, approvals_left: approvalsLeft(row.status, row.createdById) },
  left_out: row.leftOut ?? [],
});

const accountV1 = ({ id, created, createdBy, holder, currency, iban, number, bic, ifsc, closedAt }: OwnAccountRow) => ({
  ...{ id, created, holder, currency, iban, number, bic, ifsc, created_by: createdBy, closed_at: closedAt },
});

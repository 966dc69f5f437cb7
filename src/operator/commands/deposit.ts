import { type Command, Option } from 'commander';
import type { ReconciledReceivableInput } from '../../resources/deposit/inputs.js';
import { DepositPaymentMethod, DepositReasonCode } from '../../resources/deposit/table.js';
import { bankNoticeV1, depositV1 } from '../../resources/deposit/v1.js';
import { amount, countryCode, currencyCode, share } from './arguments.js';
import type { AddCommand, Options } from './command.js';
import type { BankDetails } from '../money/bank-details.js';
import {
  duplicateNotices,
  operatorDeposit,
  reconcileFor,
  recordBankNotice,
  waitingNotices,
  withdrawNotice,
} from '../money/bank.js';
import type { NoticeEvent } from '../money/notice.js';
import type { Operator } from '../operator.js';
import type { BankNoticeRow } from '../table.js';
import { namedPage } from './named.js';
import { shownJson } from './unexplained.js';

/** Adds the commands about deposits and about the reports of banks. */
export function depositCommands(program: Command, command: AddCommand): void {
  const deposits = program.command('deposit').description('Live deposits, as banks report them');
  recordCommand(deposits, command);
  command(deposits, 'show <deposit>', 'Show a deposit', async (operator, o, id) =>
    depositV1(await operatorDeposit(operator, id, o.tenant as string | undefined)),
  ).addOption(tenant());
  command(deposits, 'waiting', 'List the reversals that wait for their deposits', async (operator) =>
    namedNotices(operator, await waitingNotices(operator)),
  );
  command(
    deposits,
    'duplicates',
    'List notices that earlier releases credited more than once, because of white space around their references',
    async (operator) => namedNotices(operator, await duplicateNotices(operator)),
  );
  command(
    deposits,
    'withdraw',
    'Withdraw a reversal that waits, for example when its reference was wrong',
    async (operator, o) => bankNoticeV1(await withdrawNotice(operator, String(o.address), String(o.reference))),
  )
    .requiredOption('--reference <reference>', "the bank's own reference")
    .requiredOption('--address <address>', 'the receiving address that the notice names');

  command(deposits, 'reconcile <deposit>', 'Count a deposit towards receivables', async (operator, o, id) =>
    depositV1(
      await reconcileFor(operator, id, o.receivable as ReconciledReceivableInput[], o.tenant as string | undefined),
    ),
  )
    .requiredOption('--receivable <id=amount...>', 'such as receivable_…=100.00; may be repeated', share, [])
    .addOption(tenant());
}

/** Notices with the names of the accounts that they name. */
const namedNotices = (operator: Operator, rows: BankNoticeRow[]) =>
  namedPage(
    operator,
    { nodes: rows.map((row) => ({ ...row, accountId: row.content.toAccountId })), next: null },
    'notices',
    bankNoticeV1,
  );

/** The option for the tenant of a deposit. */
export const tenant = () =>
  new Option(
    '--tenant <tenant>',
    'the tenant of the deposit, by the id of its root; without it, all tenants are searched',
  );

/** The option for why money was taken back. */
export const reasonCode = () => new Option('--reason-code <code>', 'why').choices(Object.values(DepositReasonCode));

function recordCommand(deposits: Command, command: AddCommand): void {
  command(
    deposits,
    'record',
    'Record what a bank has reported about a transfer; recording it again changes nothing',
    async (operator, o) => {
      const { notice, deposit, unexplained } = await recordBankNotice(operator, {
        reference: String(o.reference),
        event: o.event as NoticeEvent,
        addressId: String(o.address),
        amount: o.amount as bigint,
        currency: String(o.currency),
        fromAccountId: o.from as string | undefined,
        paymentMethod: o.method as string | undefined,
        statementDescriptor: o.descriptor as string | undefined,
        allowCurrency: o.allowCurrency as boolean | undefined,
        originalReference: o.original as string | undefined,
        reasonCode: o.reasonCode as DepositReasonCode | undefined,
        ...detailsOf(o),
      });
      const { reference, event } = notice;
      return {
        ...{ reference, event, deposit: deposit && depositV1(deposit) },
        ...(unexplained && { unexplained: shownJson(unexplained) }),
      };
    },
  )
    .requiredOption('--reference <reference>', "the bank's own reference")
    .addOption(
      new Option('--event <event>', 'what happened').choices(['received', 'reversed', 'recalled']).default('received'),
    )
    .option('--original <reference>', "of a recall: the bank's reference of the received transfer")
    .addOption(reasonCode())
    .requiredOption('--address <address>', 'the receiving address')
    .requiredOption('--amount <amount>', 'such as 1250.00', amount)
    .requiredOption('--currency <currency>', 'ISO 4217 code', currencyCode)
    .option('--from <account>', 'the partner that paid')
    .option('--allow-currency', 'record a transfer in another currency than its address')
    .addOption(
      new Option('--method <method>', "a payment method of the account's edition").choices(
        Object.values(DepositPaymentMethod),
      ),
    )
    .option('--descriptor <text>', 'narration on the incoming deposit')
    .option('--payer-name <text>', "the payer's name, as its bank says it")
    .option('--payer-address <line...>', "the lines of the payer's address")
    .option('--payer-country <code>', "the payer's country, a two-letter ISO 3166-1 code", countryCode)
    .option('--text <text>', 'the remittance text of the payer');
}

/** What the bank says of the payer, from the options of a command. */
function detailsOf({ payerName: name, payerAddress, payerCountry: country, text }: Options): BankDetails {
  const payer = { name, addressLines: payerAddress, country } as NonNullable<BankDetails['payer']>;
  const given = Object.values(payer).some((value) => value !== undefined);
  return { ...(given && { payer }), text: text as string | undefined };
}

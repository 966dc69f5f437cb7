import { everyone } from '../../auth/permissions.js';
import { whileRows } from '../../operation/work.js';
import { AccountScope } from '../../types/account-scope.js';
import { CursorArgs } from '../../types/pagination.js';
import { account } from '../account/table.js';
import { DepositConnection } from '../deposit/type.js';
import { PaymentType, payment } from '../payment/table.js';
import { depositTotalChange } from './table.js';
import { defineResource, get } from '../define.js';
import { fields, fieldsOfType, link, value } from '../edges.js';
import { BalanceChart, balanceChart } from './balance-chart.js';
import { ChartArgs, chartCurrenciesMax, currenciesOfChart, stepsOfChart } from './chart.js';
import { countedDepositsOf } from './counted-deposits.js';
import { DepositChart, depositChart, DepositChartStep } from './deposit-chart.js';
import { BalanceHistoryArgs, BalancePoint, balanceHistory } from './history.js';
import { pointsOfRange, stepsMax } from './range.js';
import { funds } from './funds.js';
import { AsOfArgs } from './inputs.js';
import { BalanceResolver } from './resolver.js';
import {
  BalanceMovement,
  BalanceMovementConnection,
  BalanceMovementTotal,
  BalanceStatement,
  BalanceStatementArgs,
  balanceStatement,
  MovementArgs,
  movementsOf,
  movementTotals,
  statementEntriesMax,
} from './statement.js';
import { balanceOfAccount } from './sums.js';
import { DepositTotal, DepositTotalsArgs, depositTotals } from './totals.js';
import { currenciesOfTop, TopUsers, TopUsersArgs, topUsers, UserTotal, usersOfCurrency } from './top-users.js';
import { Balance, BalanceAggregate } from './type.js';
import { balanceAggregateV1, balanceV1 } from './v1.js';

/** Whether a scope is that of an account alone, as a document or as the resolvers have it. */
const ofSelf = (scope: unknown): boolean => String(scope ?? AccountScope.SELF).toLowerCase() === AccountScope.SELF;

export default defineResource({
  object: 'balance',
  resolvers: [BalanceResolver],
  operations: {
    balance: { access: 'read', callers: everyone, v1: balanceV1, routes: [get('/v1/balance')] },
    balanceAggregate: {
      access: 'read',
      callers: everyone,
      v1: balanceAggregateV1,
      routes: [get('/v1/balance/aggregate')],
    },
  },
  fields: [
    fieldsOfType(Balance, {
      account: link(account, 'accountId', { description: 'The account whose funds these are.' }),
    }),
    fieldsOfType(BalanceAggregate, {
      account: link(account, 'accountId', { description: 'The account that owns the partners.' }),
    }),
    fieldsOfType(UserTotal, {
      account: link(account, 'accountId', { description: 'The connected user.' }),
      deposits: value(() => DepositConnection, countedDepositsOf, {
        args: CursorArgs,
        description: 'The deposits that are counted, to the user and to its partners, newest first.',
      }),
    }),
    fieldsOfType(DepositChartStep, {
      deposits: value(() => DepositConnection, countedDepositsOf, {
        args: CursorArgs,
        description: 'The deposits that are counted in the step, newest first.',
      }),
    }),
    fieldsOfType(BalanceMovement, {
      payment: link(payment, 'paymentId', {
        nullable: true,
        description: "Its payment; null where it is another account's and the caller cannot see it.",
      }),
    }),
    fieldsOfType(BalanceStatement, {
      totals: value(() => [BalanceMovementTotal], movementTotals, {
        nullable: true,
        description:
          'What each type of payment moved: with it, `opening` becomes `closing`. Null with an error for a range ' +
          `with more than ${statementEntriesMax} balance transactions.`,
      }),
      movements: value(() => BalanceMovementConnection, movementsOf, {
        args: MovementArgs,
        description: 'Every movement of the range, the oldest first. Its `totalCount` is null.',
      }),
    }),
    fields(account, {
      balanceStatement: value(() => BalanceStatement, balanceStatement, {
        args: BalanceStatementArgs,
        description: 'A statement of account in one currency, exact by the ledger, such as that of a month.',
      }),
      balanceHistory: value(() => [BalancePoint], balanceHistory, {
        args: BalanceHistoryArgs,
        description:
          `The amounts of the compartments at the end of each step, and at \`to\` for the last step, per ` +
          `currency; ${stepsMax} steps at most.`,
        deprecationReason: 'Since 0.4.0 a chart has its currencies, steps and time zone: use `balanceChart`.',
      }),
      depositTotals: value(() => [DepositTotal], depositTotals, {
        args: DepositTotalsArgs,
        description:
          'Completed deposits to the account by step, method and currency, minus the disputed amounts; ' +
          `${stepsMax} steps at most.`,
      }),
      depositChart: value(() => DepositChart, depositChart, {
        args: ChartArgs,
        description:
          'Completed deposits to the account by currency and step, minus the disputed amounts: ' +
          `${stepsMax} steps and ${chartCurrenciesMax} currencies at most.`,
      }),
      balanceChart: value(() => BalanceChart, balanceChart, {
        args: ChartArgs,
        description:
          'What the account has at the end of each step, by currency: ' +
          `${stepsMax} steps and ${chartCurrenciesMax} currencies at most.`,
      }),
      topUsers: value(() => TopUsers, topUsers, {
        args: TopUsersArgs,
        description:
          "The platform's connected users that received most, each with what its partners received, by " +
          'currency. None for other accounts.',
      }),
      balance: value(() => Balance, balanceOfAccount, {
        args: AsOfArgs,
        description: "The account's funds, now or as they were at a time.",
        funds,
      }),
    }),
  ],
  work: {
    sum_deposits: whileRows({
      does: 'Sums deposits for the totals of accounts.',
      fn: 'sum_deposits',
      table: depositTotalChange,
      max: 1_000,
      everyMilliseconds: 2_000,
    }),
  },
  weights: {
    'Account.balance': (argument) => (argument('asOf') == null && ofSelf(argument('scope')) ? 'object' : 'figure'),
    'Account.balanceHistory': 'figure',
    'Account.depositTotals': 'figure',
    'Account.depositChart': 'figure',
    'Account.balanceChart': 'figure',
    'Account.topUsers': 'figure',
    'Account.balanceStatement': 'figure',
    'BalanceStatement.totals': 'figure',
    'BalanceStatement.movements': 'figure',
    'Query.balance': 'object',
    'Query.balanceAggregate': 'figure',
  },
  sizes: {
    'Account.balanceHistory': pointsOfRange,
    'Account.depositTotals': pointsOfRange,
    'DepositChart.currencies': currenciesOfChart,
    'DepositChartOfCurrency.steps': stepsOfChart,
    'BalanceChart.currencies': currenciesOfChart,
    'BalanceChartOfCurrency.steps': stepsOfChart,
    'TopUsers.currencies': currenciesOfTop,
    'TopUsersOfCurrency.users': usersOfCurrency,
    'BalanceStatement.totals': Object.keys(PaymentType).length,
    'Balance.available': 0,
    'Balance.pending': 0,
    'Balance.processing': 0,
    'Balance.payoutProcessing': 0,
    'Balance.feeAdvance': 0,
    'BalanceAggregate.pending': 0,
  },
});

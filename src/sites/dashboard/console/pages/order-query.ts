import { formatMoney } from '../../format/money';
import { formatDay } from '../../format/time';
import { counted } from '../../format/words';
import type { ResultOf } from '../../graph/graphql';
import { graphql } from '../graphql';

export const OrdersQuery = graphql(`
  query PaymentOrders($after: String) {
    ownAccounts { id holder currency iban number closedAt }
    paymentOrders(first: 25, after: $after) {
      nodes {
        id created createdBy ownAccountId currency valueDate status payouts total
        decidedBy note sentBy sentAt approvalsLeft
      }
      next
    }
  }
`);

export type OwnAccount = ResultOf<typeof OrdersQuery>['ownAccounts'][number];
export type Order = ResultOf<typeof OrdersQuery>['paymentOrders']['nodes'][number];

/** What an order pays, in words. */
export const orderWords = ({ payouts, total, currency, valueDate }: Order): string =>
  `${counted(payouts ?? 0, 'payout')}, ${formatMoney({ amount: total ?? '0.00', currency })} ${currency}, on ` +
  formatDay(valueDate);

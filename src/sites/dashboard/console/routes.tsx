import { lazy, Suspense } from 'react';
import { Route, Switch } from 'wouter';
import { NotFound } from '../parts/empty';
import { PageSkeleton } from '../parts/skeleton';
import { Home } from './pages/home';

const Account = lazy(() => import('./pages/account').then(({ Account }) => ({ default: Account })));
const Accounts = lazy(() => import('./pages/accounts').then(({ Accounts }) => ({ default: Accounts })));
const Adjustments = lazy(() => import('./pages/adjustments').then(({ Adjustments }) => ({ default: Adjustments })));
const Attempts = lazy(() => import('./pages/attempts').then(({ Attempts }) => ({ default: Attempts })));
const Audit = lazy(() => import('./pages/audit').then(({ Audit }) => ({ default: Audit })));
const Bank = lazy(() => import('./pages/bank').then(({ Bank }) => ({ default: Bank })));
const BankFiles = lazy(() => import('./pages/bank-files').then(({ BankFiles }) => ({ default: BankFiles })));
const ChangeRequests = lazy(() =>
  import('./pages/change-requests').then(({ ChangeRequests }) => ({ default: ChangeRequests })),
);
const Disputes = lazy(() => import('./pages/disputes').then(({ Disputes }) => ({ default: Disputes })));
const FoundObject = lazy(() => import('./pages/found').then(({ FoundObject }) => ({ default: FoundObject })));
const Holds = lazy(() => import('./pages/holds').then(({ Holds }) => ({ default: Holds })));
const Ledger = lazy(() => import('./pages/ledger').then(({ Ledger }) => ({ default: Ledger })));
const Mismatches = lazy(() => import('./pages/mismatches').then(({ Mismatches }) => ({ default: Mismatches })));
const Operators = lazy(() => import('./pages/operators').then(({ Operators }) => ({ default: Operators })));
const PaymentOrders = lazy(() =>
  import('./pages/payment-orders').then(({ PaymentOrders }) => ({ default: PaymentOrders })),
);
const Payment = lazy(() => import('./pages/payment').then(({ Payment }) => ({ default: Payment })));
const Payout = lazy(() => import('./pages/payout').then(({ Payout }) => ({ default: Payout })));
const Payouts = lazy(() => import('./pages/payouts').then(({ Payouts }) => ({ default: Payouts })));
const Queue = lazy(() => import('./pages/queue').then(({ Queue }) => ({ default: Queue })));
const Rates = lazy(() => import('./pages/rates').then(({ Rates }) => ({ default: Rates })));
const Refunds = lazy(() => import('./pages/refunds').then(({ Refunds }) => ({ default: Refunds })));
const Unexplained = lazy(() => import('./pages/unexplained').then((page) => ({ default: page.UnexplainedMoney })));
const Webhooks = lazy(() => import('./pages/webhooks').then(({ Webhooks }) => ({ default: Webhooks })));
const Work = lazy(() => import('./pages/work').then(({ Work }) => ({ default: Work })));
const Settings = lazy(() => import('../pages/settings/display').then(({ Display }) => ({ default: Display })));

/** The pages by their addresses. All but the first are loaded when they are opened. */
export function Routes() {
  return (
    <Suspense fallback={<PageSkeleton />}>
      <Switch>
        <Route path="/" component={Home} />
        <Route path="/accounts" component={Accounts} />
        <Route path="/accounts/:id" component={Account} />
        <Route path="/adjustments" component={Adjustments} />
        <Route path="/attempts" component={Attempts} />
        <Route path="/audit" component={Audit} />
        <Route path="/bank" component={Bank} />
        <Route path="/bank-files" component={BankFiles} />
        <Route path="/change-requests" component={ChangeRequests} />
        <Route path="/disputes" component={Disputes} />
        <Route path="/found/:id" component={FoundObject} />
        <Route path="/holds" component={Holds} />
        <Route path="/ledger" component={Ledger} />
        <Route path="/mismatches" component={Mismatches} />
        <Route path="/operators" component={Operators} />
        <Route path="/payment-orders" component={PaymentOrders} />
        <Route path="/payments/:id" component={Payment} />
        <Route path="/payouts" component={Payouts} />
        <Route path="/payouts/:id" component={Payout} />
        <Route path="/rates" component={Rates} />
        <Route path="/refunds" component={Refunds} />
        <Route path="/unexplained" component={Unexplained} />
        <Route path="/verification" component={Queue} />
        <Route path="/webhooks" component={Webhooks} />
        <Route path="/work" component={Work} />
        <Route path="/settings" component={Settings} />
        <Route component={NotFound} />
      </Switch>
    </Suspense>
  );
}

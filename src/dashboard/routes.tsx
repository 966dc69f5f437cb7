import { lazy, Suspense } from 'react';
import { Route, Switch } from 'wouter';
import { Home } from './pages/home/home';
import { NotFound } from './parts/empty';
import { PageSkeleton } from './parts/skeleton';

const Payments = lazy(() => import('./pages/payments/list').then(({ Payments }) => ({ default: Payments })));
const Payment = lazy(() => import('./pages/payments/detail').then(({ Payment }) => ({ default: Payment })));
const Checkouts = lazy(() => import('./pages/checkouts/list').then(({ Checkouts }) => ({ default: Checkouts })));
const CreateCheckout = lazy(() =>
  import('./pages/checkouts/create').then(({ CreateCheckout }) => ({ default: CreateCheckout })),
);
const Checkout = lazy(() => import('./pages/checkouts/detail').then(({ Checkout }) => ({ default: Checkout })));
const Payouts = lazy(() => import('./pages/payouts/list').then(({ Payouts }) => ({ default: Payouts })));
const Payout = lazy(() => import('./pages/payouts/detail').then(({ Payout }) => ({ default: Payout })));
const Users = lazy(() => import('./pages/accounts/list').then(({ Users }) => ({ default: Users })));
const Customers = lazy(() => import('./pages/accounts/list').then(({ Customers }) => ({ default: Customers })));
const CreateUser = lazy(() => import('./pages/accounts/create').then(({ CreateUser }) => ({ default: CreateUser })));
const CreateCustomer = lazy(() =>
  import('./pages/accounts/create').then(({ CreateCustomer }) => ({ default: CreateCustomer })),
);
const Account = lazy(() => import('./pages/accounts/detail').then(({ Account }) => ({ default: Account })));
const Receivables = lazy(() =>
  import('./pages/receivables/list').then(({ Receivables }) => ({ default: Receivables })),
);
const CreateReceivable = lazy(() =>
  import('./pages/receivables/create').then(({ CreateReceivable }) => ({ default: CreateReceivable })),
);
const Receivable = lazy(() => import('./pages/receivables/detail').then(({ Receivable }) => ({ default: Receivable })));
const Settings = lazy(() => import('./pages/settings').then(({ Settings }) => ({ default: Settings })));
const Developers = lazy(() =>
  import('./pages/developers/developers').then(({ Developers }) => ({ default: Developers })),
);

/** The pages by their addresses. All but the first are loaded when they are opened. */
export function Routes() {
  return (
    <Suspense fallback={<PageSkeleton />}>
      <Switch>
        <Route path="/" component={Home} />
        <Route path="/sign-in" component={Home} />
        <Route path="/payments" component={Payments} />
        <Route path="/payments/:id" component={Payment} />
        <Route path="/receivables" component={Receivables} />
        <Route path="/receivables/new" component={CreateReceivable} />
        <Route path="/receivables/:id" component={Receivable} />
        <Route path="/payouts" component={Payouts} />
        <Route path="/payouts/:id" component={Payout} />
        <Route path="/users" component={Users} />
        <Route path="/users/new" component={CreateUser} />
        <Route path="/customers" component={Customers} />
        <Route path="/customers/new" component={CreateCustomer} />
        <Route path="/accounts/:id" component={Account} />
        <Route path="/checkouts" component={Checkouts} />
        <Route path="/checkouts/new" component={CreateCheckout} />
        <Route path="/checkouts/:id" component={Checkout} />
        <Route path="/developers/*?" component={Developers} />
        <Route path="/settings" component={Settings} />
        <Route component={NotFound} />
      </Switch>
    </Suspense>
  );
}

import { type ComponentType, lazy, Suspense } from 'react';
import { Route, Switch } from 'wouter';
import { Home } from './pages/home/home';
import { NotFound } from './parts/empty';
import { PageSkeleton } from './parts/skeleton';
import { useSession } from './session';

/** A page that is loaded when it is opened: an export of its file. */
function page<Name extends string>(load: () => Promise<Record<Name, ComponentType<any>>>, name: Name) {
  return lazy(async () => ({ default: (await load())[name] }));
}

const Payments = page(() => import('./pages/payments/list'), 'Payments');
const Payment = page(() => import('./pages/payments/detail'), 'Payment');
const Checkouts = page(() => import('./pages/checkouts/list'), 'Checkouts');
const CreateCheckout = page(() => import('./pages/checkouts/create'), 'CreateCheckout');
const Checkout = page(() => import('./pages/checkouts/detail'), 'Checkout');
const Payouts = page(() => import('./pages/payouts/list'), 'Payouts');
const Payout = page(() => import('./pages/payouts/detail'), 'Payout');
const Balance = page(() => import('./pages/balance/balance'), 'Balance');
const Users = page(() => import('./pages/accounts/list'), 'Users');
const Customers = page(() => import('./pages/accounts/list'), 'Customers');
const CreateUser = page(() => import('./pages/accounts/create'), 'CreateUser');
const CreateCustomer = page(() => import('./pages/accounts/create'), 'CreateCustomer');
const Account = page(() => import('./pages/accounts/detail'), 'Account');
const Receivables = page(() => import('./pages/receivables/list'), 'Receivables');
const CreateReceivable = page(() => import('./pages/receivables/create'), 'CreateReceivable');
const Receivable = page(() => import('./pages/receivables/detail'), 'Receivable');
const ImportReceivables = page(() => import('./pages/imports/create'), 'ImportReceivables');
const ImportCustomers = page(() => import('./pages/imports/create'), 'ImportCustomers');
const Import = page(() => import('./pages/imports/detail'), 'Import');
const Settings = page(() => import('./pages/settings/settings'), 'Settings');
const Developers = page(() => import('./pages/developers/developers'), 'Developers');

/** The pages by their addresses. All but the first are loaded when they are opened. */
export function Routes() {
  const isPlatform = useSession().viewer.account.type === 'PLATFORM';
  return (
    <Suspense fallback={<PageSkeleton />}>
      <Switch>
        <Route path="/" component={Home} />
        <Route path="/sign-in" component={Home} />
        <Route path="/payments" component={Payments} />
        <Route path="/payments/:id" component={Payment} />
        <Route path="/receivables" component={Receivables} />
        <Route path="/receivables/import" component={ImportReceivables} />
        <Route path="/receivables/new" component={CreateReceivable} />
        <Route path="/receivables/:id" component={Receivable} />
        <Route path="/payouts" component={Payouts} />
        <Route path="/payouts/:id" component={Payout} />
        <Route path="/balance" component={Balance} />
        {isPlatform && <Route path="/users" component={Users} />}
        {isPlatform && <Route path="/users/new" component={CreateUser} />}
        <Route path="/customers" component={Customers} />
        <Route path="/customers/import" component={ImportCustomers} />
        <Route path="/customers/new" component={CreateCustomer} />
        <Route path="/imports/:id" component={Import} />
        <Route path="/accounts/:id" component={Account} />
        <Route path="/checkouts" component={Checkouts} />
        <Route path="/checkouts/new" component={CreateCheckout} />
        <Route path="/checkouts/:id" component={Checkout} />
        <Route path="/developers/*?" component={Developers} />
        <Route path="/settings/*?" component={Settings} />
        <Route component={NotFound} />
      </Switch>
    </Suspense>
  );
}

import { lazy, Suspense } from 'react';
import { Route, Switch } from 'wouter';
import { Home } from './pages/home/home';
import { NotFound } from './parts/empty';
import { PageSkeleton } from './parts/skeleton';

const Payments = lazy(() => import('./pages/payments/list').then(({ Payments }) => ({ default: Payments })));
const Payment = lazy(() => import('./pages/payments/detail').then(({ Payment }) => ({ default: Payment })));
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
        <Route path="/developers/*?" component={Developers} />
        <Route path="/settings" component={Settings} />
        <Route component={NotFound} />
      </Switch>
    </Suspense>
  );
}

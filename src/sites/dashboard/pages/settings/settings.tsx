import { Route, Switch } from 'wouter';
import { NotFound } from '../../parts/empty';
import { Sections } from '../../parts/sections';
import { Display } from './display';
import { PayoutSettings } from './payouts';

const places = [
  ['/settings', 'Display'],
  ['/settings/payouts', 'Payouts'],
] as const;

/** The settings of the viewer and of the account, which are loaded together. */
export function Settings() {
  return (
    <>
      <Sections label="Settings" places={places} />
      <Switch>
        <Route path="/settings" component={Display} />
        <Route path="/settings/payouts" component={PayoutSettings} />
        <Route component={NotFound} />
      </Switch>
    </>
  );
}

import { Route, Switch } from 'wouter';
import { NotFound } from '../../parts/empty';
import { Sections } from '../../parts/sections';
import { Display } from './display';
import { Exports } from './exports';
import { Matching } from './matching';
import { PayoutSettings } from './payouts';

const places = [
  ['/settings', 'Display'],
  ['/settings/matching', 'Matching'],
  ['/settings/payouts', 'Payouts'],
  ['/settings/exports', 'Exports'],
] as const;

/** The settings of the viewer and of the account, which are loaded together. */
export function Settings() {
  return (
    <>
      <Sections label="Settings" places={places} />
      <Switch>
        <Route path="/settings" component={Display} />
        <Route path="/settings/matching" component={Matching} />
        <Route path="/settings/payouts" component={PayoutSettings} />
        <Route path="/settings/exports" component={Exports} />
        <Route component={NotFound} />
      </Switch>
    </>
  );
}

import { Route, Switch } from 'wouter';
import { NotFound } from '../../parts/empty';
import { Sections } from '../../parts/sections';
import { Events } from './events';
import { Keys } from './keys';
import { Requests } from './requests';
import { Sessions } from './sessions';
import { Webhook } from './webhook';
import { Webhooks } from './webhooks';

const places = [
  ['/developers', 'Requests'],
  ['/developers/events', 'Events'],
  ['/developers/webhooks', 'Webhooks'],
  ['/developers/keys', 'API keys'],
  ['/developers/sessions', 'Sessions'],
] as const;

/** The pages for those who build on the APIs, which are loaded together. */
export function Developers() {
  return (
    <>
      <Sections label="Developers" places={places} />
      <Switch>
        <Route path="/developers" component={Requests} />
        <Route path="/developers/events" component={Events} />
        <Route path="/developers/webhooks" component={Webhooks} />
        <Route path="/developers/webhooks/:id" component={Webhook} />
        <Route path="/developers/keys" component={Keys} />
        <Route path="/developers/sessions" component={Sessions} />
        <Route component={NotFound} />
      </Switch>
    </>
  );
}

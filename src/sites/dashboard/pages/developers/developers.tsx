import { Link, Route, Switch, useLocation } from 'wouter';
import { NotFound } from '../../parts/empty';
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
  const [location] = useLocation();
  const here = location.replace(/\/$/, '');
  return (
    <>
      <nav className="page sections" aria-label="Developers">
        <ul>
          {places.map(([path, name], i) => (
            <li key={path}>
              <Link href={path} aria-current={(i === 0 ? here === path : here.startsWith(path)) ? 'page' : undefined}>
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
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

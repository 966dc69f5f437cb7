import { type EventV1, type KeyAccount, TestGateway, TriggerError } from './gateway.js';
import { reasonAgainst, recipeOf } from './recipes.js';
import { Trader, until } from './trade.js';

/** What is triggered, where, and by whom. */
export interface Triggered {
  gateway: string;
  /** The headers that say who asks: a test key, or a session of test mode. */
  credential: Readonly<Record<string, string>>;
  /** The account for which the requests are sent, if it is not that of the key. */
  onBehalfOf?: string | undefined;
  type: string;
  goneEndpoint?: ((gateway: TestGateway) => Promise<string>) | undefined;
  /** Receives each step, as a line. */
  say: (step: string) => void;
}

/**
 * Makes an event of a type really happen with a test key, over the public API and the test helpers. Returns the event
 * once it has its number. Refuses a type that a test key, or the account of this one, cannot cause.
 */
export async function trigger(triggered: Triggered): Promise<EventV1> {
  const { gateway: origin, credential, onBehalfOf, type, goneEndpoint, say } = triggered;
  const recipe = recipeOf(type);
  const reason = reasonAgainst(type);
  if (reason !== undefined)
    throw new TriggerError(`A test key cannot cause ${type}. ${reason} tidegate trigger --list shows all types.`);
  if (!recipe) throw new TriggerError(`There is no type ${type}. tidegate trigger --list shows all types.`);
  const gateway = new TestGateway(origin, credential, say, onBehalfOf);
  const account: KeyAccount = await gateway.account();
  const [latest] = await gateway.list('/events?limit=1');
  let acting = gateway;
  const trader = async () => {
    const made = await Trader.of(gateway, account);
    acting = made.gateway;
    return made;
  };
  const objectId = await recipe({ gateway, account, trader, goneEndpoint });
  const about = objectId === undefined ? '' : `&object_id=${objectId}`;
  const isNew = ({ number }: EventV1) => latest === undefined || number > Number(latest.number);
  const found = await until(
    async () => (await acting.list<EventV1>(`/events?type=${type}${about}`)).find(isNew),
    (event) => event !== undefined,
    `the event ${type}`,
  );
  return found!;
}

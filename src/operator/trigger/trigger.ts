import fs from 'node:fs';
import type { EventV1 } from '../commands/event-client.js';
import { type KeyAccount, TestGateway, TriggerError } from './gateway.js';
import { reasonAgainst, recipeOf } from './recipes.js';
import { Trader, until } from './trade.js';

/** A type of events, and why a test key cannot cause it, if it cannot. */
export interface TriggerType {
  type: string;
  when: string;
  reason?: string;
}

/** All types of the catalogue. */
export function triggerTypes(): TriggerType[] {
  const text = fs.readFileSync(new URL('../../../schema/events.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as TriggerType[]).map(({ type, when }) => {
    const reason = reasonAgainst(type);
    return { type, when, ...(reason !== undefined && { reason }) };
  });
}

/** What is triggered, where, and with which test key. */
export interface Triggered {
  gateway: string;
  key: string;
  type: string;
  /** Receives each step, as a line. */
  say: (step: string) => void;
}

/**
 * Makes an event of a type really happen with a test key, over the public API and the test helpers. Returns the event
 * once it has its number. Refuses a type that a test key, or the account of this one, cannot cause.
 */
export async function trigger({ gateway: origin, key, type, say }: Triggered): Promise<EventV1> {
  const recipe = recipeOf(type);
  const reason = reasonAgainst(type);
  if (reason !== undefined)
    throw new TriggerError(`A test key cannot cause ${type}. ${reason} tidegate trigger --list shows all types.`);
  if (!recipe) throw new TriggerError(`There is no type ${type}. tidegate trigger --list shows all types.`);
  const gateway = new TestGateway(origin, key, say);
  const account: KeyAccount = await gateway.account();
  const [latest] = await gateway.list('/events?limit=1');
  let acting = gateway;
  const trader = async () => {
    const made = await Trader.of(gateway, account);
    acting = made.gateway;
    return made;
  };
  const objectId = await recipe({ gateway, account, trader });
  const about = objectId === undefined ? '' : `&object_id=${objectId}`;
  const isNew = ({ number }: EventV1) => latest === undefined || number > Number(latest.number);
  const found = await until(
    async () => (await acting.list<EventV1>(`/events?type=${type}${about}`)).find(isNew),
    (event) => event !== undefined,
    `the event ${type}`,
  );
  return found!;
}

import { registerEnumType } from 'type-graphql';
import type { Mode } from '../../request/mode.js';

/** A type of events. */
export interface EventType {
  /** Its name, such as `deposit.completed`. */
  type: string;
  /** The noun of the object that the event is about. */
  object: string;
  /** When it happens, as a sentence for clients. */
  when: string;
  /** The modes in which it happens. */
  modes: readonly Mode[];
}

/** The names of all types in the order of their declarations, for the contract. */
export const eventTypes: string[] = [];
/** The enum of the graph: its values, such as `DEPOSIT_COMPLETED`, and the types as events have them. */
export const EventTypeEnum: Record<string, string> = {};
const valuesConfig: Record<string, { description: string }> = {};

// The registry adds the values once all resources are declared. The schema is built later.
registerEnumType(EventTypeEnum, {
  name: 'EventType',
  description: 'What has happened to an object. The names are those of `Event.type` in capitals.',
  valuesConfig,
});

/** The value of the enum for a type of events. */
const valueNameOf = (type: string): string => type.replace('.', '_').toUpperCase();

/** Adds the declared types to the enum and to the contract. */
export function declareEventTypes(types: Iterable<EventType>): void {
  for (const { type, when, modes } of types) {
    const name = valueNameOf(type);
    if (Object.hasOwn(EventTypeEnum, name)) throw new Error(`two event types have the name ${name}`);
    EventTypeEnum[name] = type;
    const [mode] = modes;
    valuesConfig[name] = { description: modes.length === 1 ? `${when} In ${mode} mode alone.` : when };
    eventTypes.push(type);
  }
}

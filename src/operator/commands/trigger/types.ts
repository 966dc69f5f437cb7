import fs from 'node:fs';
import { reasonAgainst } from './recipes.js';

/** A type of events, and why a test key cannot cause it, if it cannot. */
export interface TriggerType {
  type: string;
  when: string;
  reason?: string;
}

/** All types of the catalogue. */
export function triggerTypes(): TriggerType[] {
  const text = fs.readFileSync(new URL('../../../../schema/events.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as TriggerType[]).map(({ type, when }) => {
    const reason = reasonAgainst(type);
    return { type, when, ...(reason !== undefined && { reason }) };
  });
}

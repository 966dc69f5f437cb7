import { timingSafeEqual } from 'node:crypto';
import type { Secrets } from '../../db/secrets.js';

/** Where a checkout is: what its address stands for. */
export interface CheckoutPlace {
  tenantId: string;
  livemode: boolean;
  id: string;
}

const macBytes = 16;
const prefix = 'checkout_';

/**
 * The last part of a checkout's address: tenant, mode and id, and a keyed hash over them that nobody can guess.
 * It is derived from the deployment's pepper and stored nowhere, so neither a table nor an event gives an address away.
 */
export function tokenOf(secrets: Secrets, { tenantId, livemode, id }: CheckoutPlace): string {
  const place = Buffer.concat([
    Buffer.from([livemode ? 1 : 0]),
    Buffer.from(tenantId, 'hex'),
    Buffer.from(id.slice(prefix.length), 'hex'),
  ]);
  return Buffer.concat([place, macs(secrets, place)[0]]).toString('base64url');
}

/** The checkout that a token is of, or undefined when nobody here has made it. */
export function placeOf(secrets: Secrets, token: string): CheckoutPlace | undefined {
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length !== 33 + macBytes || bytes.toString('base64url') !== token) return undefined;
  const place = bytes.subarray(0, 33);
  if (!macs(secrets, place).some((mac) => timingSafeEqual(bytes.subarray(33), mac))) return undefined;
  return {
    livemode: place[0] === 1,
    tenantId: place.subarray(1, 17).toString('hex'),
    id: prefix + place.subarray(17).toString('hex'),
  };
}

/** One code per pepper, so that an address stays good for as long as the pepper that signed it is configured. */
function macs(secrets: Secrets, place: Buffer): [Buffer, ...Buffer[]] {
  return secrets.macs((mac) => mac.update('checkout').update(place).digest().subarray(0, macBytes));
}

import { timingSafeEqual } from 'node:crypto';
import type { Secrets } from '../../config/secrets.js';

/** The tenant, mode and id of a checkout, which its address encodes. */
export interface CheckoutPlace {
  tenantId: string;
  livemode: boolean;
  id: string;
}

const macBytes = 16;
const prefix = 'checkout_';

/**
 * The last part of a checkout's address: tenant, mode and id, and a keyed hash over them, which cannot be guessed.
 * It is derived from the deployment's pepper and not stored, so neither a table nor an event reveals an address.
 */
export function tokenOf(secrets: Secrets, { tenantId, livemode, id }: CheckoutPlace): string {
  const place = Buffer.concat([
    Buffer.from([livemode ? 1 : 0]),
    Buffer.from(tenantId, 'hex'),
    Buffer.from(id.slice(prefix.length), 'hex'),
  ]);
  return Buffer.concat([place, macs(secrets, place)[0]]).toString('base64url');
}

/** The checkout of a token; undefined when this deployment has not issued the token. */
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

/** One hash per pepper, so that an address works for as long as the pepper that signed it is configured. */
function macs(secrets: Secrets, place: Buffer): [Buffer, ...Buffer[]] {
  return secrets.macs((mac) => mac.update('checkout').update(place).digest().subarray(0, macBytes));
}

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** How long a link can be used after the start of the gateway that printed it. */
const linkMilliseconds = 15 * 60_000;

/**
 * The one-time links that sign the demo's owner in to the dashboard. A code names a demo and a time, and is signed
 * under the pepper, so that every process of the gateway accepts it. Only a local gateway makes and accepts codes.
 */
export class DashboardLinks {
  constructor(
    private readonly pepper: string,
    private readonly demos: readonly { edition: number; testKey: string }[],
    private readonly now: () => number = Date.now,
  ) {}

  /** A new code for the demo of an edition. */
  newCode(edition: number): string {
    const text = `${edition}.${this.now() + linkMilliseconds}.${randomBytes(16).toString('base64url')}`;
    return `${text}.${this.#signature(text)}`;
  }

  /** The test key behind a code; undefined for a code that has expired or was never made. */
  keyOf(code: string): string | undefined {
    const [edition, until, nonce, signature, ...more] = code.split('.');
    if (more.length > 0 || !signature) return undefined;
    const given = Buffer.from(signature);
    const expected = Buffer.from(this.#signature(`${edition}.${until}.${nonce}`));
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    if (Number(until) < this.now()) return undefined;
    return this.demos.find((demo) => String(demo.edition) === edition)?.testKey;
  }

  #signature(text: string): string {
    return createHmac('sha256', this.pepper).update(`dashboard-link:${text}`).digest('base64url');
  }
}

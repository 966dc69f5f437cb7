import postgres from 'postgres';
import type { Login } from '../server.ts';

/** The settings of a contender: its database, its tenant and its port. */
export interface Setting {
  login: Login;
  port: number;
  tenant: string;
  platform: string;
  pepper: string;
}

export const setting = JSON.parse(process.env.BENCH ?? '{}') as Setting;

/** After so many statements another pool takes over. */
const statementsMax = 20_000;

/**
 * Two pipelined connections for reads, which were the fastest. A pool of the driver (3.4.9) leaves an empty place in
 * its list of busy connections with each statement, searches all of it with the next one, and clears it only when a
 * connection is free. So under a load without a pause each statement costs more than the one before, and a server was
 * at a third of its first rate after a minute. The change costs no requests/s that can be measured, but makes the p99
 * longer.
 */
export function readers(): postgres.Sql {
  const open = () => postgres({ ...setting.login, max: 2, types: { bigint: postgres.BigInt } });
  let [pool, left] = [open(), statementsMax];
  return new Proxy(pool, {
    apply(_, self, given) {
      if (left-- === 0) {
        void pool.end();
        [pool, left] = [open(), statementsMax];
      }
      return Reflect.apply(pool, self, given);
    },
  });
}

/** Reports that the contender accepts requests. */
export function listening(): void {
  process.stdout.write('listening\n');
}

import { poolsDefault } from '../../src/db/connect/database-settings.js';

/**
 * Settings of a gateway on a busy machine: it refuses nothing for being late, unless a test is about that. A write may
 * wait for two locks, one after the other, before its statement is over. A kept connection is not closed while a test
 * pauses, since it could be closed just when the next request is sent.
 */
export const patient = {
  ...{ WAIT_MILLISECONDS_MAX: '60000', LOOP_DELAY_MILLISECONDS_MAX: '60000' },
  ...{ STATEMENT_SECONDS: '60', LOCK_SECONDS: '15', SLOW_SECONDS: '60', REQUEST_SECONDS: '300' },
  ...{ HEADER_SECONDS: '120', BODY_SECONDS: '600', KEEP_ALIVE_SECONDS: '3600' },
};

/** The time limits that a gateway has without settings, for tests of what happens at their end. */
export const hasty = { STATEMENT_SECONDS: '5', LOCK_SECONDS: '2', SLOW_SECONDS: '5', REQUEST_SECONDS: '10' };

/** The same limits for a database that a test opens itself; without them it is as patient as a gateway. */
export const hastyPools = { ...poolsDefault, statementMilliseconds: 5_000, lockMilliseconds: 2_000 };

import { z } from 'zod';
import { flag, wholeNumber } from './setting-types.js';
import { connectionOf, replicasOf } from '../db/connect/driver/address.js';

/** The address of a PostgreSQL server. */
const address = z
  .string()
  .regex(/^postgres(ql)?:\/\//, { message: 'must begin with postgres://', abort: true })
  .superRefine((text, refine) => {
    try {
      connectionOf(text);
    } catch (error) {
      refine.addIssue((error as Error).message);
    }
  });

/** The addresses of standbys. */
const replicaAddresses = z.string().superRefine((text, refine) => {
  try {
    replicasOf(text);
  } catch (error) {
    refine.addIssue((error as Error).message);
  }
});

/** The settings of the database. */
export const databaseSettings = {
  DATABASE_URL: address
    .optional()
    .describe('The address of a PostgreSQL 15 or newer to use instead of the embedded one. It may name several hosts.'),
  DATABASE_REPLICA_URL: replicaAddresses
    .optional()
    .describe(
      'The addresses of standbys that answer lists and figures, separated by ' +
        'spaces; each host of an address is one standby.',
    ),
  REPLICA_LAG_SECONDS: wholeNumber(1, 3_600)
    .default(5)
    .describe('How old the data of a standby may be; an older one is not used until it has caught up.'),
  MIGRATE: z
    .enum(['auto', 'never'])
    .default('auto')
    .describe('Whether a gateway migrates the database when it starts; never: `tidegate migrate` has to be run first.'),
  MIGRATION_URL: address
    .optional()
    .describe(
      'The address of PostgreSQL itself, and of the role that owns the ' +
        'tables, for migrations; DATABASE_URL by default.',
    ),
  LISTEN_URL: address
    .optional()
    .describe(
      'The address of PostgreSQL itself for the connections that listen for new events, check the ledger and read ' +
        'exports, where DATABASE_URL leads through a PgBouncer; DATABASE_URL by default.',
    ),
  MIGRATION_LOCK_SECONDS: wholeNumber(1, 3_600)
    .default(60)
    .describe('How long a migration waits for another one to end.'),
  PREPARED_STATEMENTS: flag
    .default(true)
    .describe('Whether statements are prepared by name; false behind a PgBouncer that does not keep them.'),
};

import 'reflect-metadata';
import fc from 'fast-check';
import { afterAll } from 'vitest';
// The order of the schema's fields follows the order in which the resources are loaded, which must be the same for
// every test file.
import '../../src/api/graphql/server.js';
import { poolsDefault } from '../../src/db/connect/database-settings.js';
import { json } from '../../src/db/connect/driver/driver-types.js';
import { slowWaiting } from '../../src/db/read/read-class.js';
import { hastyPools, patient } from './patient.js';
import { scale, triedOfTables } from './scale.js';

// What a property is tried with is the same in each run.
fc.configureGlobal({ seed: scale.seed });

/** A value of JSON that nothing can change, as deep as it goes. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

// Requests share the rows of reads that have all values in common, and nothing may change what others read. Here a
// change is an error.
const { parse } = json;
json.parse = (text) => frozen(parse(text));

afterAll(() => {
  const tried = triedOfTables();
  if (tried) console.info(tried);
});

// A database that a test opens itself waits as long as the gateways of the tests, unless the test says otherwise.
Object.assign(poolsDefault, {
  ...hastyPools,
  statementMilliseconds: Number(patient.STATEMENT_SECONDS) * 1_000,
  lockMilliseconds: Number(patient.LOCK_SECONDS) * 1_000,
});
// An expensive read waits for its turn as long as a request does.
slowWaiting.milliseconds = Number(patient.WAIT_MILLISECONDS_MAX);

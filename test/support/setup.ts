import 'reflect-metadata';
// The order of the schema's fields follows the order in which the resources are loaded, which must be the same for
// every test file.
import '../../src/api/graphql/server.js';
import { json } from '../../src/db/driver-types.js';

/** A value of JSON that nothing can change, as deep as it goes. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

// Requests share the rows of reads that have all values in common, and nothing may change what others read. Here a
// change is an error.
const { parse } = json;
json.parse = (text) => frozen(parse(text));

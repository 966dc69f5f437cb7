import 'reflect-metadata';
// The order of the schema's fields follows the order in which the resources are loaded, which must be the same for
// every test file.
import '../src/api/graphql/server.js';

import 'reflect-metadata';
// The order of the fields in the schema follows the order in which the resources are loaded: the same for every test file.
import '../src/api/graphql/server.js';

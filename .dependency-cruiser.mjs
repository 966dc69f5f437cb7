/**
 * Imports in src point downward: a folder imports only from those before it in this list. Tables are storage shapes
 * that import nothing but columns, the keys of their indexes and other tables, so they come first, wherever their
 * folder stands.
 */
const tables = '^src/(db/schema/(columns|filter-index|lists)|.*/table)\\.ts$';
const layers = [
  '^src/errors/',
  '^src/config/',
  '^src/limits/',
  '^src/request/',
  '^src/types/',
  '^src/db/',
  '^src/editions/',
  '^src/auth/',
  '^src/operation/',
  '^src/resources/',
  '^src/hosted/',
  '^src/api/',
  '^src/operator/',
  '^src/sites/docs/',
  '^src/server/',
  '^src/jobs/',
  '^src/(main|cli)\\.ts$',
];

/** Imports that point upward all the same, each with its reason. One that is gone has to leave this list. */
const exceptions = [
  {
    from: 'src/config/database.ts',
    to: ['src/db/connect/driver/address.ts'],
    reason: 'A wrong DATABASE_URL is refused with the other settings, by the code that reads the address.',
  },
  {
    from: 'src/operation/context.ts',
    to: ['src/resources/checkout/terms.ts'],
    reason: 'A type: the terms of new checkouts come from the settings and are handed to resolvers with the context.',
  },
];

const exactly = (file) => `^${file.replaceAll('.', '\\.')}$`;
const files = exceptions.map(({ from }) => exactly(from));
const above = (layer) => layers.slice(layers.indexOf(layer) + 1);
const layerOf = (file) => layers.find((layer) => new RegExp(layer).test(file));

export default {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-unknown-place',
      comment: 'Every file of src has a place in the order of layers.',
      severity: 'error',
      from: { path: '^src/', pathNot: [tables, ...layers] },
      to: {},
    },
    {
      name: 'tables-import-tables',
      severity: 'error',
      from: { path: tables },
      to: { path: '^src/', pathNot: [tables] },
    },
    ...layers.slice(0, -1).map((layer) => ({
      name: `no-upward-import: ${layer}`,
      severity: 'error',
      from: { path: layer, pathNot: [tables, ...files] },
      to: { path: above(layer), pathNot: [tables] },
    })),
    ...exceptions.map(({ from, to, reason }) => ({
      name: `no-upward-import: ${from}`,
      comment: reason,
      severity: 'error',
      from: { path: exactly(from) },
      to: { path: above(layerOf(from)), pathNot: [tables, ...to.map(exactly)] },
    })),
  ],
  required: exceptions.flatMap(({ from, to }) =>
    to.map((file) => ({
      name: `exception-is-needed: ${from}`,
      comment: 'The exception is not needed any more: remove it from the list.',
      severity: 'error',
      module: { path: exactly(from) },
      to: { path: exactly(file) },
    })),
  ),
  options: {
    // TypeScript 7 has no parser in JavaScript, which the tool would use otherwise.
    parser: 'swc',
    // Imports of types count, too.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // The dashboard and the explorer are programs of their own, for browsers. The linter keeps their imports apart from
    // the gateway, and finds their circles, since swc does not read TSX here.
    exclude: { path: '^src/sites/(dashboard|explorer)/' },
    enhancedResolveOptions: { extensions: ['.ts', '.js'] },
  },
};

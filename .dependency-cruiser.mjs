/**
 * Imports in src point downward: a folder imports only from those before it in this list. Tables are storage shapes
 * that import nothing but columns, the keys of their indexes and other tables, so they come first, wherever their
 * folder stands.
 */
const tables = '^src/(db/(columns|filter-index)|.*/table)\\.ts$';
const layers = [
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
  '^src/config\\.ts$',
  '^src/server/',
  '^src/jobs/',
  '^src/(main|cli)\\.ts$',
];

/** Imports that point upward all the same, each with its reason. One that is gone has to leave this list. */
const exceptions = [
  {
    from: 'src/db/open.ts',
    to: ['src/config.ts'],
    reason: 'Which database is opened, and how, is a matter of the settings; they are read in config.ts alone.',
  },
  {
    from: 'src/db/start.ts',
    to: ['src/config.ts'],
    reason: 'A start that fails because of a setting ends with the error of config.ts, which names the setting.',
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
    // The dashboard is a program of its own, for browsers. The linter keeps its imports apart from the gateway.
    exclude: { path: '^src/dashboard/' },
    enhancedResolveOptions: { extensions: ['.ts', '.js'] },
  },
};

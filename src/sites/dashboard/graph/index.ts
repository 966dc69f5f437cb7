/** How pages ask the graph: queries that stay live, writes, files. */
export * from './balance';
export * from './changes';
export * from './client';
export * from './consistency';
export * from './files';
export * from './find';
export * from './graphql';
export * from './input-types';
export * from './live';
export * from './pages';
export * from './sent';
export * from './shown';
export * from './with-key';
export * from './write';

import { createServer } from 'node:http';
import { grafserv } from 'postgraphile/grafserv/node';
import { makePgService } from 'postgraphile/adaptors/pg';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { postgraphile } from 'postgraphile';
import { listening, setting } from './setting.ts';

/**
 * PostGraphile 5 over the product's tables, as it makes its schema from them. Orders are allowed on every column: the
 * lists are ordered by the last columns of their indexes, which it would not offer by itself. Its own inserts give way
 * to the product's functions, which have the same names.
 */
const { host, port, username: user, database, password } = setting.login;
const preset: GraphileConfig.Preset = {
  extends: [PostGraphileAmberPreset],
  disablePlugins: ['PgIndexBehaviorsPlugin', 'PgMutationCreatePlugin', 'PgMutationUpdateDeletePlugin'],
  pgServices: [
    makePgService({ poolConfig: { host, port, user, database, password, max: 10 } as never, schemas: ['public'] }),
  ],
  grafserv: { graphiql: false, watch: false, port: setting.port },
  grafast: { explain: false },
};
const instance = postgraphile(preset);
if (process.argv.includes('--schema')) {
  const { printSchema } = await import('graphql');
  console.log(printSchema(await instance.getSchema()));
  process.exit(0);
}
const service = instance.createServ(grafserv);
const server = createServer();
await service.addTo(server);
server.listen(setting.port, '127.0.0.1', listening);

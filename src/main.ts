import 'reflect-metadata';
import cluster from 'node:cluster';
import { type Config, ConfigError, config } from './config.js';
import { type Demo, openDemo } from './demo.js';
import { gateway } from './gateway.js';
import { buildGraph } from './graph.js';
import { logger } from './log.js';
import { Operator } from './operator/operator.js';
import { openStore } from './store.js';
import { Worker } from './worker.js';
import { onStop, supervise } from './workers.js';

/** Long steps, for somebody who watches a terminal. */
function progress(step: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${step} …\n`);
}

async function main(): Promise<void> {
  const settings = config({ serves: true });
  if (settings.WORKERS > 1 && cluster.isPrimary) return supervise(settings.WORKERS);
  const log = logger(settings.LOG_LEVEL);
  const store = await openStore(settings, progress);
  const schema = buildGraph();
  const operator = new Operator(store.database, schema, store.pepper);
  const demo = store.embedded ? await openDemo(store, operator, schema, progress) : [];
  const app = await gateway({ config: settings, database: store.database, schema, pepper: store.pepper, log });
  const worker = new Worker(store.database, log);
  await app.listen({ port: settings.PORT, host: settings.HOST });
  worker.start();

  onStop(
    async () => {
      const deadline = setTimeout(() => process.exit(1), settings.DRAIN_SECONDS * 1000);
      await app.close();
      await worker.stop();
      await store.close();
      clearTimeout(deadline);
      process.exit(0);
    },
    () => process.exit(1),
  );
  if (cluster.isPrimary || cluster.worker?.id === 1)
    announce(settings, (app.server.address() as { port: number }).port, demo);
}

function announce({ HOST, EXPLORER, transport }: Config, port: number, demo: Demo[]): void {
  const host = HOST.includes(':') ? `[${HOST}]` : HOST;
  const origin = `${transport === 'tls' ? 'https' : 'http'}://${host}:${port}`;
  const lines = [`Tidegate is listening on ${origin}`];
  if (EXPLORER) lines.push(`  Explorer  ${origin}/graphiql`);
  for (const { edition, name, testKey } of demo) {
    lines.push('', `  Edition ${edition}: the demo platform ${name}`, `  Test key  ${testKey}`);
    if (EXPLORER) lines.push(`  Explore   ${origin}/graphiql#key=${testKey}`);
  }
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

// What nobody foresaw leaves the process in no known state: it ends, and a supervisor starts it anew.
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    process.stderr.write(`${event}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  });
}

main().catch((error: unknown) => {
  const known = error instanceof ConfigError || (error as { code?: string }).code === 'EADDRINUSE';
  const detail = error instanceof Error ? (known ? error.message : error.stack) : String(error);
  process.stderr.write(`Tidegate could not start.\n${detail}\n`);
  process.exit(1);
});

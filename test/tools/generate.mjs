/**
 * Generates a migration from the table files, with what drizzle-kit does not know: a new table of tenants is
 * distributed by them, and only the last snapshot is read. `npm run generate -- --name subject`.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';

const meta = 'drizzle/meta';
const migrations = () => fs.readdirSync('drizzle').filter((name) => name.endsWith('.sql'));

const before = migrations();
const { status } = spawnSync('drizzle-kit', ['generate', ...process.argv.slice(2)], { stdio: 'inherit' });
for (const name of migrations().filter((each) => !before.includes(each))) {
  const file = `drizzle/${name}`;
  const tables = [...fs.readFileSync(file, 'utf8').matchAll(/^CREATE TABLE "(\w+)" \(\n\t"tenant_id" /gm)];
  for (const [, table] of tables)
    fs.appendFileSync(file, `\n--> statement-breakpoint\nSELECT tg_distribute('${table}');`);
  fs.appendFileSync(file, '\n');
  for (const snapshot of fs.readdirSync(meta).filter((each) => each.endsWith('_snapshot.json')))
    if (!name.startsWith(snapshot.split('_')[0])) fs.rmSync(`${meta}/${snapshot}`);
  console.log(`Give ${file} a first line that says why.`);
}
process.exitCode = status ?? 1;

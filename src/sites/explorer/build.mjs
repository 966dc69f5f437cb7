/**
 * Builds the explorer's own script and styles into dist/explorer. GraphiQL, which it loads when its editor is first
 * used, is made into files by the gateway itself.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = path.resolve(fileURLToPath(import.meta.url), '../../../..');
const target = path.join(root, 'dist/explorer');

const { outputFiles } = await build({
  entryPoints: [path.join(root, 'src/sites/explorer/main.ts')],
  outfile: path.join(target, 'explorer.js'),
  bundle: true,
  minify: true,
  format: 'iife',
  platform: 'browser',
  target: 'es2022',
  define: { 'process.env.NODE_ENV': '"production"', 'globalThis.process': 'undefined' },
  write: false,
  logLevel: 'warning',
});
fs.mkdirSync(target, { recursive: true });
for (const { path: file, contents } of outputFiles) {
  // What is the same stays, and the rest is replaced as a whole: a program that starts during the build reads it.
  if (fs.existsSync(file) && fs.readFileSync(file).equals(contents)) continue;
  const staging = `${file}-${process.pid}`;
  fs.writeFileSync(staging, contents);
  fs.renameSync(staging, file);
}

/**
 * Builds the program and its pages in dist; `npm start` and `npm run tidegate` build first. When no input has changed
 * since the last build, no step starts: finding that takes a tenth of a second, and the steps would take several.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stateOf } from './state.mjs';

const root = path.resolve(fileURLToPath(import.meta.url), '../../../..');
const stamp = path.join(root, 'dist/.built');

/** What the steps read. */
const inputs = [
  ...['src', 'docs', 'schema', 'package.json', 'package-lock.json', 'tsconfig.json'],
  ...['clients/typescript/src', 'clients/typescript/tsconfig.json'],
];
/** Types that the build of the dashboard writes beside its sources. */
const written = ['src/sites/dashboard/graph/schema-types.d.ts', 'src/sites/dashboard/console/schema-types.d.ts'];

/** Runs a file by Node with its output here, and ends this process with its exit code when it fails. */
const step = (file, ...options) =>
  new Promise((resolve) => {
    const program = spawn(process.execPath, [path.join(root, file), ...options], { cwd: root, stdio: 'inherit' });
    program.on('close', (code) => {
      if (code === 0) resolve();
      else process.exit(code ?? 1);
    });
  });

async function buildProgram() {
  await step('node_modules/typescript/bin/tsc', '-b');
  await step('src/server/build/assets.mjs');
  await step('src/server/build/packages.mjs');
  await step('dist/sites/docs/maker/main.js');
}

/** Compiles the client for TypeScript. An image has no clients, and is built without. */
async function buildClient() {
  const client = 'clients/typescript';
  if (fs.existsSync(path.join(root, client))) await step('node_modules/typescript/bin/tsc', '-p', client);
}

const isBuilt = (state) =>
  fs.existsSync(stamp) &&
  written.every((name) => fs.existsSync(path.join(root, name))) &&
  fs.readFileSync(stamp, 'utf8') === state;

const state = stateOf(root, inputs, written);
if (!isBuilt(state)) {
  await Promise.all([buildProgram(), buildClient(), step('src/sites/dashboard/build.mjs')]);
  // What has changed meanwhile is not in this state, so that the next build finds it.
  fs.writeFileSync(stamp, state);
}

/**
 * Gathers the packages that the built program imports in dist/node_modules, a few files instead of more than a
 * thousand: finding and reading those takes most of the time of a start (docs/decisions/packages-are-gathered.md). The
 * program's own files are as TypeScript emits them, and find the gathered packages before those in node_modules. Does
 * nothing when neither the imports nor the lock file have changed.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(fileURLToPath(import.meta.url), '../../../..');
const dist = path.join(root, 'dist');
const target = path.join(dist, 'node_modules');

/** Packages that stay where they are, by the beginnings of their names. */
const left = [
  // Instruments the modules that Node loads, and only where traces are on.
  '@opentelemetry/',
  // Finds its own files in a way that no bundler follows.
  'jsonc-parser',
];
/** Folders of files that are no modules of the program. */
const others = /^(node_modules|dashboard|explorer|sites\/docs\/site)\//;
/** Runs at the build. What it imports is not gathered for it alone. */
const maker = 'sites/docs/maker/';

/** What a file imports from packages, as TypeScript emits it: pairs of a package's module and a name of it. */
function importsOf(file) {
  const statement = /^(?:import|export) (?:(\w+)(?:, )?)?(?:\{([^}]*)\})?(?: from )?'([^.'][^']*)';/gm;
  return [...fs.readFileSync(file, 'utf8').matchAll(statement)].flatMap(([, whole, some = '', module]) => {
    const names = some.split(',').map((each) => each.trim().split(' as ')[0]);
    return [whole && 'default', ...names].map((name) => [module, name]);
  });
}

/** The modules of packages that a start may load, each with the names that are used of it. */
function importedModules() {
  const files = fs.readdirSync(dist, { recursive: true, encoding: 'utf8' });
  const used = new Map();
  const gathered = new Set();
  for (const file of files) {
    if (!file.endsWith('.js') || others.test(file) || file.includes('/assets/')) continue;
    for (const [module, name] of importsOf(path.join(dist, file))) {
      if (module.startsWith('node:') || left.some((part) => module.startsWith(part))) continue;
      if (!file.startsWith(maker)) gathered.add(module);
      used.set(module, (used.get(module) ?? new Set()).add(name));
    }
  }
  const namesOf = (module) => [...used.get(module)].filter(Boolean).toSorted();
  return new Map([...gathered].toSorted().map((module) => [module, namesOf(module)]));
}

/** Only what is used: the bundler leaves out the rest where a package allows it. */
function entryOf(module, names) {
  const contents = names.length === 0 ? `import '${module}';` : `export { ${names.join(', ')} } from '${module}';`;
  return { contents, resolveDir: root };
}

/** The package of an import, and the rest of its name. */
function parts(name) {
  const [, owner, rest] = /^((?:@[^/]+\/)?[^/]+)(?:\/(.*))?$/.exec(name);
  return { owner, rest };
}

/** The file that answers an import, without its ending. */
function fileOf(name) {
  const { owner, rest } = parts(name);
  return `${owner}/${rest?.replace(/\.js$/, '') ?? 'index'}`;
}

/** Writes the manifests by which Node finds the file of each import. */
function writeManifests(folder, names) {
  const exportsOf = new Map();
  for (const name of names) {
    const { owner, rest } = parts(name);
    const key = rest === undefined ? '.' : `./${rest}`;
    exportsOf.set(owner, { ...exportsOf.get(owner), [key]: `.${fileOf(name).slice(owner.length)}.js` });
  }
  for (const [owner, exports] of exportsOf)
    fs.writeFileSync(path.join(folder, owner, 'package.json'), `${JSON.stringify({ type: 'module', exports })}\n`);
}

async function gather(folder, modules) {
  const { build } = await import('esbuild');
  await build({
    entryPoints: [...modules.keys()].map((module) => ({ in: `entry:${module}`, out: fileOf(module) })),
    plugins: [
      {
        name: 'entries',
        setup(bundler) {
          bundler.onResolve({ filter: /^entry:/ }, ({ path: entry }) => ({ path: entry.slice(6), namespace: 'entry' }));
          bundler.onLoad({ filter: /.*/, namespace: 'entry' }, ({ path: module }) =>
            entryOf(module, modules.get(module)),
          );
        },
      },
    ],
    outdir: folder,
    chunkNames: '.shared/[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    // The validation of inputs by classes, which type-graphql has only where this package is installed.
    external: ['class-validator', ...left.map((part) => `${part}*`)],
    // CommonJS modules require Node's own.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
  writeManifests(folder, modules.keys());
}

const modules = importedModules();
const lock = fs.readFileSync(path.join(root, 'package-lock.json'));
const inputs = createHash('sha256')
  .update(fs.readFileSync(fileURLToPath(import.meta.url)))
  .update(lock);
const hash = inputs.update(JSON.stringify([...modules])).digest('hex');
const stamp = path.join(target, '.inputs');
if (!fs.existsSync(stamp) || fs.readFileSync(stamp, 'utf8') !== hash) {
  // A folder beside the target, which is replaced when the build is complete.
  const staging = path.join(dist, `packages-${process.pid}`);
  await gather(staging, modules);
  fs.writeFileSync(path.join(staging, '.inputs'), hash);
  fs.rmSync(target, { recursive: true, force: true });
  fs.renameSync(staging, target);
}

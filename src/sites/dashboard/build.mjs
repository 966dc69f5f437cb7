/**
 * Builds the dashboard and the operator's console into dist/dashboard, with compressed copies of their files, and
 * writes the types of both schemas for their queries. Does nothing when no input has changed since the last build.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const root = path.resolve(fileURLToPath(import.meta.url), '../../../..');
const source = path.join(root, 'src/sites/dashboard');
/** What the programs share with the gateway: the forms of numbers of India. */
const shared = path.join(root, 'src/types/india.ts');
const target = path.join(root, 'dist/dashboard');
/** The schemas, and where their types go. */
const schemas = [
  { schema: path.join(root, 'schema/graph.graphql'), types: path.join(source, 'graph/schema-types.d.ts') },
  { schema: path.join(root, 'schema/operator.graphql'), types: path.join(source, 'console/schema-types.d.ts') },
];

const filesOf = (folder) =>
  fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(folder, name))
    .filter((file) => !file.endsWith('schema-types.d.ts') && fs.statSync(file).isFile())
    .sort();

function hashOfInputs() {
  const hash = createHash('sha256');
  const others = [...schemas.map(({ schema }) => schema), path.join(root, 'package-lock.json')];
  for (const file of [...filesOf(source), shared, ...others])
    hash
      .update(`${path.relative(root, file)}\0`)
      .update(fs.readFileSync(file))
      .update('\0');
  return hash.digest('hex');
}

/** Writes the types of a schema. What makes them is loaded only when they are needed. */
async function writeTypes({ schema, types }) {
  const { typesText } = await import('./schema-types.mjs');
  fs.writeFileSync(types, typesText(fs.readFileSync(schema, 'utf8')));
}

async function bundle(folder) {
  // Every build, also that of a test, gets the production build of the libraries.
  process.env.NODE_ENV = 'production';
  const { build } = await import('vite');
  const { default: react } = await import('@vitejs/plugin-react');
  await build({
    root: source,
    // Scripts find each other beside themselves, since both places serve them all.
    experimental: {
      renderBuiltUrl: (name, { hostType, hostId }) =>
        hostType === 'html'
          ? `/${hostId.startsWith('console/') ? 'operator' : 'dashboard'}/${name}`
          : { relative: true },
    },
    configFile: false,
    logLevel: 'warn',
    plugins: [react()],
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      manifest: 'manifest.json',
      rollupOptions: {
        // What a page does not use of the shared folders is left out, although their modules declare queries.
        treeshake: { moduleSideEffects: (id) => !/\.tsx?$/.test(id) || id.endsWith('main.tsx') },
        input: { dashboard: path.join(source, 'index.html'), console: path.join(source, 'console/index.html') },
      },
    },
  });
}

/** Compresses the files once, at the highest levels, so that no request waits for it. Prints the sizes. */
function compress(folder) {
  const sizes = [];
  for (const file of filesOf(folder).filter((name) => /\.(js|css|html|svg)$/.test(name))) {
    const content = fs.readFileSync(file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
    const small = brotliCompressSync(content, { params });
    fs.writeFileSync(`${file}.br`, small);
    fs.writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
    sizes.push({ file: path.relative(folder, file), bytes: content.length, brotli: small.length });
  }
  const sum = sizes.reduce((total, { brotli }) => total + brotli, 0);
  const largest = sizes.toSorted((a, b) => b.brotli - a.brotli)[0];
  const kilobytes = (bytes) => `${(bytes / 1024).toFixed(1)} KiB`;
  process.stderr.write(
    `dashboard: ${sizes.length} files, ${kilobytes(sum)} compressed; the largest is ${largest.file} with ` +
      `${kilobytes(largest.brotli)}\n`,
  );
}

const stamp = path.join(target, 'inputs');
const hash = hashOfInputs();
const built = fs.existsSync(stamp) ? fs.readFileSync(stamp, 'utf8') : undefined;
if (built !== hash || schemas.some(({ types }) => !fs.existsSync(types))) {
  for (const each of schemas) await writeTypes(each);
  // A folder beside the target, which is replaced when the build is complete.
  const staging = `${target}-${process.pid}`;
  await bundle(staging);
  compress(staging);
  fs.writeFileSync(path.join(staging, 'inputs'), hash);
  fs.rmSync(target, { recursive: true, force: true });
  fs.renameSync(staging, target);
}

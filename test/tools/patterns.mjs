/**
 * Finds the regular expressions of `src`, or of the folder that is named, that take more than linear time for some
 * text. One of 64 KB would stop the gateway for seconds. The law: docs/decisions/limits-before-work.md.
 *
 * Recheck decides by the automaton of a pattern, or by trying texts where a pattern has no automaton. What it has
 * found linear is kept, because it takes a minute for all patterns.
 */
import fs from 'node:fs';
import path from 'node:path';
import { parseSync } from 'vite';

const root = path.resolve(import.meta.dirname, '../..');
const folder = path.resolve(process.argv[2] ?? path.join(root, 'src'));

const ownFiles = 'It reads files of the project while these are built or checked.';
const ownSettings = 'It reads a setting, which the operator writes.';

/** What meets no input of a client: files, and folders with a slash at the end. */
const meetNoInput = {
  'api/rest/contract/': ownFiles,
  'sites/dashboard/build.mjs': ownFiles,
  'db/cluster/function-lint.ts': ownFiles,
  'db/connect/open.ts': ownSettings,
  'db/write/print-write-functions.ts': ownFiles,
  'config/secrets.ts': ownSettings,
  'config/setting-types.ts': ownSettings,
  'sites/docs/maker/': ownFiles,
  'server/build/packages.mjs': ownFiles,
};

/** The patterns that are put together when the gateway runs, by their files, with an example of each. */
const examples = {
  'api/graphql/compiler/compiler.ts': '\u0001([^\u0001\u0002]*)\u0002',
  'api/rest/bulk/bulk.ts': String.raw`^/v1/accounts/(?<id>[\w-]{1,100})/deposits$`,
  'db/embedded/place.ts': String.raw`^postgres:[^:]*:(\d+):(\d+)`,
  'server/http/methods.ts': '^/v1/accounts/[^/]+/persons/[^/]+$',
};

const names = fs
  .readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll(path.sep, '/'));
const exempt = (name) =>
  Object.keys(meetNoInput).some((each) => (each.endsWith('/') ? name.startsWith(each) : name === each));
const patterns = names
  .filter((name) => /\.(tsx?|m?js)$/.test(name) && !exempt(name))
  .sort()
  .flatMap(patternsOf);
const { version } = JSON.parse(fs.readFileSync(path.join(root, 'node_modules/recheck/package.json'), 'utf8'));
const cache = path.join(root, 'node_modules/.cache/patterns.json');
/** The patterns that recheck has found linear. */
const linear = new Set(fs.existsSync(cache) ? JSON.parse(fs.readFileSync(cache, 'utf8')) : []);

const faults = [];
for (const { file, line, source, flags } of patterns) {
  const fault = source === undefined ? 'is put together of parts that are not known' : await faultOf(source, flags);
  const pattern = source === undefined ? 'the pattern' : `the pattern /${source}/${flags}`;
  if (fault !== undefined) faults.push(`${file}:${line}: ${pattern} ${fault}`);
}
fs.mkdirSync(path.dirname(cache), { recursive: true });
fs.writeFileSync(cache, JSON.stringify([...linear]));
if (folder === path.join(root, 'src'))
  for (const name of [...Object.keys(meetNoInput), ...Object.keys(examples)])
    if (!fs.existsSync(path.join(folder, name)))
      faults.push(`${name}: test/tools/patterns.mjs names it, and it does not exist`);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);

/** The patterns of a file. The source of one that cannot be read from the text is undefined. */
function patternsOf(file) {
  const text = fs.readFileSync(path.join(folder, file), 'utf8');
  const found = [];
  const add = ({ start }, source, flags = '') =>
    found.push({ file, line: text.slice(0, start).split('\n').length, source, flags });
  const visit = (node) => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) return node.forEach(visit);
    if (node.type === 'Literal' && node.regex) add(node, node.regex.pattern, node.regex.flags);
    // A text that is given to these is made a pattern.
    const method = node.type === 'CallExpression' && node.callee.property?.name;
    const [first, flags] = node.arguments ?? [];
    const made =
      node.callee?.name === 'RegExp' || (['match', 'matchAll'].includes(method) && textOf(first) !== undefined);
    if (made) add(node, textOf(first) ?? examples[file], textOf(flags));
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(file, text).program);
  return found;
}

/** The text of an expression of literals; undefined if it has other parts. */
function textOf(node) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0].value.cooked;
  if (node?.type === 'TaggedTemplateExpression' && node.quasi.expressions.length === 0)
    return node.quasi.quasis[0].value.raw;
  if (node?.type !== 'BinaryExpression' || node.operator !== '+') return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}

/** What is wrong with a pattern; undefined if it takes linear time. It has no limit of time: machines may be busy. */
async function faultOf(source, flags) {
  const name = `${version} /${source}/${flags}`;
  if (linear.has(name)) return undefined;
  // The part of the package that is JavaScript alone: it needs neither Java nor a program of the platform.
  const { default: recheck } = await import('recheck/lib/browser.js');
  const untimed = { timeout: null, attackTimeout: null, incubationTimeout: null, randomSeed: 1 };
  const { status, complexity, attack } = recheck.checkSync(source, flags, untimed);
  if (status !== 'safe') return `takes ${complexity?.summary ?? 'unknown'} time, such as for ${attack?.pattern ?? '?'}`;
  linear.add(name);
  return undefined;
}

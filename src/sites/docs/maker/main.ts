import 'reflect-metadata';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SiteIndex } from './site-files.js';

const root = new URL('../../../../', import.meta.url);
const folder = fileURLToPath(new URL('dist/sites/docs/site', root));

/**
 * The files that the site is made from: the guides, the schemas, the declarations of operations and of error codes, and
 * the maker itself.
 */
const sources = [
  ...['docs', 'schema', 'src/sites/docs/assets'],
  ...['dist/sites/docs/maker', 'dist/resources', 'dist/request', 'dist/errors', 'dist/config'],
];

/** A hash of all sources, so that a build that changes none of them makes no site: it takes two seconds. */
function sourceHash(): string {
  const hash = createHash('sha256');
  const add = (file: string) => hash.update(`${file}\0`).update(fs.readFileSync(new URL(file, root)));
  for (const name of [...sources, 'package.json']) {
    if (!fs.existsSync(new URL(name, root))) continue;
    if (fs.statSync(new URL(name, root)).isFile()) add(name);
    else
      for (const file of fs.readdirSync(new URL(name, root), { recursive: true, encoding: 'utf8' }).toSorted())
        if (fs.statSync(new URL(`${name}/${file}`, root)).isFile() && !file.endsWith('.map')) add(`${name}/${file}`);
  }
  return hash.digest('hex');
}

/** Whether the site was made from the same sources. */
function isMade(source: string): boolean {
  const index = path.join(folder, 'site.json');
  if (!fs.existsSync(index)) return false;
  return (JSON.parse(fs.readFileSync(index, 'utf8')) as SiteIndex).source === source;
}

const source = sourceHash();
if (!isMade(source)) {
  const { makeSite } = await import('./site.js');
  makeSite(root, folder, source);
}

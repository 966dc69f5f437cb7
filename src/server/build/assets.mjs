/**
 * Copies the folders of assets beside the compiled modules that read them. Writes only what has changed, and each file
 * as a whole, because a program that starts during the build reads them.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(fileURLToPath(import.meta.url), '../../../..');
const folders = ['hosted/assets', 'server/dashboard/assets'];

for (const folder of folders) {
  const source = path.join(root, 'src', folder);
  for (const name of fs.readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    const from = path.join(source, name);
    if (!fs.statSync(from).isFile()) continue;
    const to = path.join(root, 'dist', folder, name);
    if (fs.existsSync(to) && fs.readFileSync(from).equals(fs.readFileSync(to))) continue;
    fs.mkdirSync(path.dirname(to), { recursive: true });
    const staging = `${to}-${process.pid}`;
    fs.copyFileSync(from, staging);
    fs.renameSync(staging, to);
  }
}

import fs from 'node:fs';
import path from 'node:path';

/**
 * The paths, sizes and times of files and of all files in folders, as one text that differs when one of them has
 * changed. Installed packages and what a caller leaves out are not looked at. A path that does not exist counts as an
 * empty folder.
 */
export function stateOf(root, inputs, leftOut = []) {
  const lines = [];
  const add = (name) => {
    if (name.endsWith('node_modules') || leftOut.includes(name)) return;
    const found = fs.statSync(path.join(root, name), { throwIfNoEntry: false });
    if (found?.isDirectory()) for (const entry of fs.readdirSync(path.join(root, name))) add(path.join(name, entry));
    else if (found) lines.push(`${name} ${found.size} ${found.mtime.getTime()}`);
  };
  inputs.forEach(add);
  return lines.toSorted().join('\n');
}

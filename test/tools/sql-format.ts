import { hash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { functionFiles } from '../../src/db/schema/schema-version.js';

/**
 * Formats the SQL functions: `npm run format` writes the files, and `--check`, which `npm run check` passes, names
 * those that are not formatted. It refuses a line that is too long and that the formatter cannot break. Migrations are
 * left alone, because they never change.
 */

/** Has an empty file for each text that was found formatted, until the formatter changes: parsing all takes seconds. */
const cache = 'node_modules/.cache/sql-format';
fs.mkdirSync(cache, { recursive: true });
const tools = ['package-lock.json', 'test/tools/sql-layout.ts'].map((file) => fs.readFileSync(file, 'utf8')).join('');

const check = process.argv.includes('--check');
for (const shown of functionFiles().map((name) => `drizzle/${name}`)) {
  const problem = (message: string) => {
    console.error(`${shown}: ${message}`);
    process.exitCode = 1;
  };
  const before = fs.readFileSync(shown, 'utf8');
  const known = path.join(cache, hash('sha256', tools + before));
  if (fs.existsSync(known)) continue;
  const { formatted, widthMax } = await import('./sql-layout.js');
  try {
    const after = await formatted(before);
    const tooLong = [...after.split('\n').entries()].filter(([, line]) => line.length > widthMax);
    for (const [index] of tooLong)
      problem(`Line ${index + 1} of the formatted text is longer than ${widthMax} columns: break it by hand.`);
    if (before === after) {
      if (tooLong.length === 0) fs.writeFileSync(known, '');
    } else if (check) problem('The file is not formatted. Run npm run format.');
    else fs.writeFileSync(shown, after);
  } catch (error) {
    const { message } = error as Error;
    problem(
      `The formatter cannot read a statement; its line counts from the beginning of the function body.\n${message}`,
    );
  }
}

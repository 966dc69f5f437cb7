import fs from 'node:fs';
import path from 'node:path';

/** The files of tests that draw by a seed, with the names by which each asks for the seeds that found a fault. */
export const seededFiles = () =>
  fs
    .readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll(path.sep, '/'))
    .filter((name) => /^[a-z]+\/[\w-]+\.test\.ts$/.test(name))
    .map((name) => ({ name, text: fs.readFileSync(path.join('test', name), 'utf8') }))
    .filter(({ text }) => /\bfc\.assert\(|\bseedsOf\('/.test(text))
    .map(({ name, text }) => ({
      file: `test/${name}`,
      asksFor: [...text.matchAll(/\bseedsOf\('([^']*)'\)/g)].map(([, asked]) => asked),
    }));

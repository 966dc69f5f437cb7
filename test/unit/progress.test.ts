import { expect, it } from 'vitest';
import { ProgressLine } from '../../src/operator/commands/progress.js';

/** What a progress writes for a step of a thousand lines, or so many bytes, in as many parts. */
function written(isTTY: boolean, parts: number, of = 1_000, unit: 'lines' | 'bytes' = 'lines'): string {
  let text = '';
  const line = new ProgressLine({ isTTY, write: (piece: string) => Boolean((text += piece)) });
  for (let part = 0; part <= parts; part++) line.show('Copying', (of * part) / parts, of, unit);
  return text;
}

it('is one line on a terminal, written anew for each percent, which ends with the step', () => {
  const percents = Array.from({ length: 101 }, (_, n) => `\rCopying: ${n} %\u001b[K`);
  expect(written(true, 400)).toBe(`${percents.join('')}\n`);
  expect(written(true, 1, 0)).toBe('\rCopying: 100 %\u001b[K\n');
});

it('ends its line on a terminal before something else is written, once', () => {
  let text = '';
  const line = new ProgressLine({ isTTY: true, write: (piece: string) => Boolean((text += piece)) });
  line.end();
  line.show('Copying', 1, 2, 'bytes');
  line.end();
  line.end();
  expect(text).toBe('\rCopying: 50 %\u001b[K\n');
});

it('is a line for each tenth elsewhere, of work that is worth it', () => {
  const tenths = Array.from({ length: 11 }, (_, n) => `Copying: ${n * 10} %\n`).join('');
  expect(written(false, 400)).toBe(tenths);
  expect(written(false, 400, 64 * 1024 ** 2, 'bytes')).toBe(tenths);
  expect([written(false, 400, 999), written(false, 400, 64 * 1024 ** 2 - 1, 'bytes')]).toEqual(['', '']);
});

import { spawn } from 'node:child_process';
import { expect } from 'vitest';

interface Step {
  commands: string;
  /** Their output, with … for parts that differ between runs; undefined if the page does not show it. */
  printed: string | undefined;
}

/** The commands of a page, each block with its output. Blocks that are marked `sh` are not run. */
export const stepsOf = (text: string): Step[] =>
  [...text.matchAll(/^```bash\n([\s\S]*?)^```(?:\n```json\n([\s\S]*?)^```)?/gm)].map((match) => ({
    commands: match[1]!,
    printed: match[2],
  }));
const marker = '=== next step ===';

function run(
  script: string,
  environment: Record<string, string>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', script], { env: { ...process.env, ...environment } });
    const out = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => (out.stdout += chunk));
    child.stderr.on('data', (chunk) => (out.stderr += chunk));
    child.on('close', (code) => resolve({ code, ...out }));
  });
}

/** Output with one object per line, without other white space. */
const plain = (text: string) =>
  text
    .replaceAll(/\s*\n\s*/g, '\n')
    .replaceAll('}{', '}\n{')
    .trim();

function patternOf(expected: string): RegExp {
  const parts = plain(expected)
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[\\s\\S]*?')}$`);
}

/** Runs the commands of a page in one shell, and compares what each block prints with what the page shows. */
export async function expectPrinted(text: string, environment: Record<string, string>): Promise<void> {
  const steps = stepsOf(text);
  const script = [
    'set -euo pipefail',
    ...steps.map(({ commands }) => `${commands}\nprintf '\\n%s\\n' '${marker}'`),
  ].join('\n');
  const { code, stdout, stderr } = await run(script, environment);
  expect([code, stderr]).toEqual([0, '']);
  const printed = stdout.split(marker);
  steps.forEach(({ printed: expected }, i) => {
    if (expected !== undefined) expect(plain(printed[i]!)).toMatch(patternOf(expected));
  });
}

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { type GraphQLInputObjectType, getNamedType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../src/api/rest/routes.js';
import { buildGraph } from '../src/api/graphql/server.js';
import { camel } from '../src/request/problems.js';
import { type Gateway, startGateway } from './child.js';

/** A section of the README: commands, each followed by what they print, with … for what differs from run to run. */
const sectionOf = (title: string) => fs.readFileSync('README.md', 'utf8').split(`## ${title}`)[1]!.split('\n## ')[0]!;
const stepsOf = (section: string) =>
  [...section.matchAll(/```bash\n([\s\S]*?)```(?:\n```json\n([\s\S]*?)```)?/g)].map((match) => ({
    commands: match[1]!,
    printed: match[2],
  }));
const section = sectionOf('Five minutes');
const OPERATOR_KEY = randomBytes(32).toString('hex');

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

describe('the commands of the README', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({ OPERATOR_KEY });
  }, 60_000);
  afterAll(() => gateway.stop());

  it('has steps that show both APIs, and the story of an exporter in both editions', () => {
    expect(stepsOf(section).length).toBeGreaterThanOrEqual(7);
    for (const told of ['demos[0]', 'demos[1]', 'exporter 1', 'exporter 2', 'ledger audit'])
      expect(section).toContain(told);
    const [first, second] = section.split('demos[1]') as [string, string];
    for (const edition of [first, second]) {
      const outcomes = ['"pendingRest":"20.00"', ' completed', '"amount":"-30.00"', '-10.00 ', '"violations":[]'];
      for (const outcome of outcomes) expect(edition).toContain(outcome);
    }
  });

  it('shows the graph of the operator too', () => {
    expect(stepsOf(sectionOf('Run it for real'))).toHaveLength(1);
  });

  it.each(['Five minutes', 'Run it for real'])(
    'prints what it says, command by command: %s',
    async (title) => {
      const steps = stepsOf(sectionOf(title));
      const script = [
        'set -euo pipefail',
        ...steps.map(({ commands }) => `${commands}\nprintf '\\n%s\\n' '${marker}'`),
      ].join('\n');
      const { code, stdout, stderr } = await run(script, {
        TIDEGATE: gateway.origin,
        DATA_DIR: gateway.dataDir,
        OPERATOR_KEY,
      });
      expect([code, stderr]).toEqual([0, '']);
      const printed = stdout.split(marker);
      const plain = (text: string) =>
        text
          .replaceAll(/\s*\n\s*/g, '\n')
          .replaceAll('}{', '}\n{')
          .trim();
      steps.forEach(({ printed: expected }, i) => {
        if (expected === undefined) return;
        const pattern = plain(expected)
          .split('…')
          .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
          .join('[\\s\\S]*?');
        expect(plain(printed[i]!)).toMatch(new RegExp(`^${pattern}$`));
      });
    },
    // Each command of the operator begins with a build.
    180_000,
  );
});

describe('the test helpers of the README', () => {
  it('are those that there are, with their parameters', () => {
    const told = [...sectionOf('Every state, by a test key').matchAll(/^\| `([^`]+)` \| (.*?) ?\| `(\w+)` \|$/gm)].map(
      ([, path, body, mutation]) => ({
        path: `/v1/test_helpers/${path}`,
        parameters: [...body!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
        mutation,
      }),
    );
    const mutations = buildGraph().getMutationType()!.getFields();
    const there = routes
      .filter(({ path }) => path.startsWith('/v1/test_helpers/'))
      .map(({ path, field }) => ({ path, mutation: field }));
    expect(told.map(({ path, mutation }) => ({ path, mutation }))).toEqual(there);
    for (const { parameters, mutation } of told) {
      const input = getNamedType(mutations[mutation!]!.args[0]!.type) as GraphQLInputObjectType;
      const taken = Object.keys(input.getFields()).filter((name) => name !== 'id');
      expect([mutation, parameters.map(camel).toSorted()]).toEqual([mutation, taken.toSorted()]);
    }
  });
});

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A round of load: the same requests in turn, over 16 connections by default. */
export interface Load {
  origin: string;
  headers: Record<string, string>;
  requests: { method: string; path: string; body?: string }[];
  seconds: number;
  connections?: number;
  /**
   * How long each connection pauses before a request, in the mean; by default it sends the next one at once. autocannon
   * sends the requests of a second one after the other at its beginning.
   */
  pauseMilliseconds?: number;
}

/** The figures of a round. Times are milliseconds. */
export interface Round {
  requests: number;
  seconds: number;
  p50: number;
  p99: number;
  bytes: number;
  failures: number;
  /** Of the failures, those with a status of 400 or more. */
  refused?: number;
}

/** Why a round's figures do not count: no answers, failed requests, or answers of a wrong size. */
export function flaws({ requests, failures, bytes }: Round, size?: number): string[] {
  const found: string[] = [];
  if (failures > 0) found.push(`${failures} requests failed, of ${requests}`);
  // Without answers the mean is NaN, which would pass the comparisons below.
  if (!(requests > 0)) return [...found, 'no answer in the round'];
  const mean = bytes / requests;
  if (size !== undefined && (mean < size * 0.9 || mean > size + 2_000))
    found.push(`answers of ${Math.round(mean)} bytes, where ${size} were right`);
  return found;
}

export const connections = 16;
const here = path.dirname(fileURLToPath(import.meta.url));

/** wrk uses the least processor time of the shared machine; autocannon comes from npm and is always present. */
export const generator = spawnSync('wrk', ['--version']).error ? 'autocannon' : 'wrk';

/** Runs one round in a separate process. */
export async function load(round: Load): Promise<Round> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-load-'));
  try {
    if (generator === 'autocannon') {
      const file = path.join(folder, 'round.json');
      fs.writeFileSync(file, JSON.stringify({ connections, ...round }));
      return JSON.parse(await output(process.execPath, [path.join(here, 'autocannon.mjs'), file])) as Round;
    }
    const file = path.join(folder, 'round.lua');
    fs.writeFileSync(file, script(round));
    const words = [
      '-t1',
      `-c${round.connections ?? connections}`,
      `-d${round.seconds}s`,
      '--timeout',
      '10s',
      '-s',
      file,
      round.origin,
    ];
    const text = await output('wrk', words);
    return JSON.parse(text.slice(text.lastIndexOf('\n{'))) as Round;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Floods a gateway over WebSockets, in a separate process. An answer is a message; those with errors are refused. */
export async function socketLoad(origin: string, key: string, seconds: number): Promise<Round> {
  const words = [path.join(here, 'sockets.mjs'), origin, key, String(seconds)];
  return JSON.parse(await output(process.execPath, words)) as Round;
}

function script({ requests, headers, pauseMilliseconds = 0 }: Load): string {
  const quoted = (text: string) => `[==[${text}]==]`;
  const table = Object.entries(headers).map(([name, value]) => `[ ${quoted(name)} ] = ${quoted(value)}`);
  const each = requests.map(
    ({ method, path: target, body }) =>
      `wrk.format("${method}", ${quoted(target)}, headers, ${body === undefined ? 'nil' : quoted(body)})`,
  );
  return `
    local headers = { ${table.join(', ')} }
    local list, i = {}, 0
    init = function() list = { ${each.join(',\n')} } end
    request = function() i = i % #list + 1; return list[i] end
    ${
      pauseMilliseconds > 0
        ? `delay = function() return math.random(${Math.round(pauseMilliseconds * 0.5)}, ` +
          `${Math.round(pauseMilliseconds * 1.5)}) end`
        : ''
    }
    done = function(s, latency)
      local e = s.errors
      io.write(string.format('\\n{"requests": %d, "seconds": %f, "p50": %f, "p99": %f, ' ..
        '"bytes": %d, "failures": %d, "refused": %d}\\n',
        s.requests, s.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
        s.bytes, e.connect + e.read + e.write + e.status + e.timeout, e.status))
    end`;
}

function output(program: string, words: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => (out += chunk));
    child.stderr.on('data', (chunk) => (err += chunk));
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`${program}: ${err || out}`))));
  });
}

export function median(numbers: number[]): number | null {
  const sorted = [...numbers].sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

import net from 'node:net';
import { beforeAll, expect } from 'vitest';
import { givenIn, type Reply, type Speaker, type World } from '../support/world.js';

/** Four bytes that are invalid in UTF-8. */
export const badUtf8 = Buffer.concat([
  Buffer.from('{"nickname":"'),
  Buffer.from([0xff, 0xfe, 0xc0, 0x80]),
  Buffer.from('"}'),
]);
export const code = ({ status, codes, fieldNames }: Reply) => [
  status,
  ...codes.map((c, i) => [c, fieldNames[i]].join(' ')),
];
export const sorted = (reply: Reply) => {
  const [status, ...problems] = code(reply);
  return [status, ...problems.sort()];
};

function replyOf(status: number, headers: Headers, text: string): Reply {
  const json = (headers.get('content-type') ?? '').includes('json') && text !== '';
  const body = json ? JSON.parse(text) : undefined;
  const items = (body?.errors ?? []).map((e: any) => e.extensions?.error ?? e);
  return {
    status,
    headers,
    body,
    text,
    codes: items.map((e: any) => e.code),
    fieldNames: items.map((e: any) => e.metadata?.field_name),
  };
}

/** Checks a complete error object, with its keys and their order. Spec: Error object. */
export function expectErrorObject(reply: Reply, status: number, ...problems: string[]): void {
  expect(code(reply)).toEqual([status, ...problems]);
  expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
  expect(reply.headers.get('request-id')).toMatch(/^req_[0-9a-f]{24}$/);
  expect(Object.keys(reply.body)).toEqual(['object', 'http_status_code', 'errors']);
  expect([reply.body.object, reply.body.http_status_code]).toEqual(['error', status]);
  for (const item of reply.body.errors) {
    expect(Object.keys(item)).toEqual(['code', 'message', 'metadata']);
    expect(item.message).toMatch(/^[\x20-\x7e]{8,}$/);
    expect(Object.getPrototypeOf(item.metadata)).toBe(Object.prototype);
  }
}

/** Requests of a user and a platform, whole or byte by byte. */
export function decodersIn(world: World) {
  const given = givenIn(world);
  const callers = {} as {
    user: Speaker;
    platform: Speaker;
  };
  /** Sends a request with fetch; returns a `Reply`. */
  async function ask(path: string, init: RequestInit & { duplex?: 'half' } = {}): Promise<Reply> {
    const response = await fetch(`${world.origin}${path}`, init);
    return replyOf(response.status, response.headers, await response.text());
  }

  /**
   * Sends bytes to a socket, for requests that no HTTP client would send; returns all bytes until the connection ends.
   */
  async function raw(request: string): Promise<Reply> {
    const { port, hostname } = new URL(world.origin);
    const text = await new Promise<string>((resolve, reject) => {
      const chunks: Buffer[] = [];
      const socket = net.connect(Number(port), hostname, () => socket.write(request));
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('error', reject);
      socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
    });
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const [line = '', ...lines] = head.split('\r\n');
    const headers = new Headers(lines.map((header) => header.split(/:\s*/, 2) as [string, string]));
    return replyOf(Number(line.split(' ')[1]), headers, body);
  }

  beforeAll(async () => {
    [callers.user, callers.platform] = await Promise.all([given.directUser(1), given.platform(1)]);
  });
  const bearer = (speaker = callers.user) => ({ authorization: `Bearer ${speaker.key}` });
  const json = (speaker = callers.user) => ({ ...bearer(speaker), 'content-type': 'application/json' });
  return { callers, ask, raw, bearer, json };
}

/** Serves the built pages, and makes their sessions. The API key stays here. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname } from 'node:path';

const { GATEWAY = 'http://127.0.0.1:4000', API_KEY, PORT = '5173', DIST = new URL('dist', import.meta.url).pathname } =
  process.env;
if (!API_KEY) throw new Error('Set API_KEY, the key of a platform.');
const origin = `http://localhost:${PORT}`;
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
const files = new Map(
  readdirSync(DIST, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => [`${parentPath}/${name}`.slice(DIST.length), readFileSync(`${parentPath}/${name}`)]),
);

async function session() {
  // Without `account_id` the session is the platform's, so the page may act for each of its users.
  const answer = await fetch(`${GATEWAY}/v1/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ role: 'operate', allowed_origins: [origin] }),
  });
  if (!answer.ok) throw new Error(`No session: ${answer.status} ${await answer.text()}`);
  const { token, expires_at } = await answer.json();
  return JSON.stringify({ token, expires_at, gateway: GATEWAY });
}

createServer(async (request, response) => {
  if (request.url === '/session') {
    // Check your own login here: it decides whether the visitor may see the platform.
    if (request.method !== 'POST' || request.headers.origin !== origin) return response.writeHead(403).end();
    return session().then(
      (body) => response.setHeader('cache-control', 'no-store').end(body),
      (error) => (console.error(error), response.writeHead(502).end()),
    );
  }
  const path = request.url === '/' ? '/apollo.html' : request.url;
  const file = files.get(path);
  if (!file) return response.writeHead(404).end();
  response.setHeader('content-type', types[extname(path)] ?? 'application/octet-stream').end(file);
}).listen(Number(PORT), 'localhost');

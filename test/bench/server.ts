import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import postgres from 'postgres';

/** How to reach the one PostgreSQL that everybody is measured over. */
export interface Login {
  host: string;
  port: number;
  username: string;
  database: string;
  password?: string;
}

export interface Server {
  login: Login;
  /** The same as an address, for the product's DATABASE_URL. */
  url: string;
  version: string;
  close(): Promise<void>;
}

/** A file of the product as it is built. */
export const product = (file: string) => new URL(`../../dist/${file}`, import.meta.url).href;

/**
 * The server of DATABASE_URL, which must be an empty database or one that this benchmark has filled; otherwise the
 * PostgreSQL that the product brings. `folder` keeps its rows for the next run; without one they go.
 */
export async function openServer(folder: string | undefined): Promise<Server> {
  const given = process.env.DATABASE_URL;
  if (given) {
    const url = new URL(given);
    const login = {
      host: url.searchParams.get('host') ?? url.hostname,
      port: Number(url.port || 5432),
      username: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database: url.pathname.slice(1),
    };
    return { login, url: given, version: await versionOf(login), close: async () => {} };
  }
  const { startEmbedded } = (await import(product('db/embedded/server.js'))) as {
    startEmbedded(start: { dir: string }): Promise<{ options: Login; release(): Promise<void> }>;
  };
  const home = folder ?? fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-bench-'));
  fs.mkdirSync(home, { recursive: true });
  fs.chmodSync(home, 0o755);
  const embedded = await startEmbedded({ dir: path.join(home, 'postgres') });
  const login = embedded.options;
  return {
    login,
    url: addressOf(login),
    version: await versionOf(login),
    async close() {
      await embedded.release();
      if (!folder) fs.rmSync(home, { recursive: true, force: true });
    },
  };
}

/** A login as an address; a socket's folder travels as a parameter. */
export function addressOf({ host, port, username, database, password }: Login): string {
  const socket = host.startsWith('/');
  const user = password ? `${encodeURIComponent(username)}:${encodeURIComponent(password)}` : username;
  const query = socket ? `?host=${encodeURIComponent(host)}` : '';
  return `postgres://${user}@${socket ? 'localhost' : host}:${port}/${database}${query}`;
}

export function connect(login: Login, max = 1): postgres.Sql {
  return postgres({ ...login, max, onnotice: () => {} });
}

async function versionOf(login: Login): Promise<string> {
  const sql = connect(login);
  try {
    const [row] = await sql`show server_version`;
    return String(row?.server_version);
  } finally {
    await sql.end();
  }
}

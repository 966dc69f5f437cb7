import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import postgres from 'postgres';

/** The login to the PostgreSQL that all contenders share. */
export interface Login {
  host: string;
  port: number;
  username: string;
  database: string;
  password?: string;
}

export interface Server {
  login: Login;
  /** The same as a URL, for the product's DATABASE_URL. */
  url: string;
  version: string;
  close(): Promise<void>;
}

/** The URL of a file of the built product. */
export const product = (file: string) => new URL(`../../dist/${file}`, import.meta.url).href;

/**
 * Opens the server of DATABASE_URL, whose database must be empty or filled by this benchmark; without DATABASE_URL,
 * the product's embedded PostgreSQL. `folder` keeps its rows for the next run; without a folder they are removed.
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

/** A login as a URL; the folder of a socket is a parameter of it. */
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

import { connectionOf, replicasOf } from '../../src/db/connect/driver/address.js';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, config, settings } from '../../src/config/config.js';
import { makeCertificate } from '../support/certificate.js';
import { useChildren } from '../support/child.js';

type Environment = Record<string, string>;

const children = useChildren();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tidegate-config-'));
const file = (name: string) => path.join(folder, name);
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** Two pairs of a certificate and its key, and a file that is neither. */
beforeAll(() => {
  for (const name of ['one', 'other']) makeCertificate(folder, { name });
  fs.writeFileSync(file('garbage'), 'neither a certificate nor a key');
});

const pair = { TLS_CERT_FILE: file('one.crt'), TLS_KEY_FILE: file('one.key') };
const pepper = '0123456789abcdef0123456789abcdef';
const database = { DATABASE_URL: 'postgres://tidegate:hidden@db.example/tidegate', API_KEY_PEPPER: pepper };
const PUBLIC_URL = 'https://pay.example';
const serving = (environment: Environment) => config({ serves: true }, environment);

/** What becomes of a start with these settings: they are taken, or the message of the error. */
function outcomeOf(environment: Environment, serves = true): string {
  try {
    config({ serves }, environment);
    return 'taken';
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
}

describe('no setting at all', () => {
  it('makes the gateway local: plain HTTP on loopback, and its own database', () => {
    const { proxies, ...rest } = serving({});

    expect(rest).toEqual({
      PORT: 4000,
      HOST: '127.0.0.1',
      WORKERS: 1,
      DATA_DIR: path.resolve('.data'),
      DATABASE_URL: undefined,
      DATABASE_REPLICA_URL: undefined,
      REPLICA_LAG_SECONDS: 5,
      MIGRATE: 'auto',
      MIGRATION_URL: undefined,
      MIGRATION_LOCK_SECONDS: 60,
      IDEMPOTENCY_HOURS: 48,
      LEDGER_CHECK_HOURS: 24,
      EVENT_DAYS: undefined,
      REQUEST_LOG_DAYS: 7,
      EXPORT_HOURS: 72,
      EXPORT_MEGABYTES_MAX: 1_024,
      PREPARED_STATEMENTS: true,
      API_KEY_PEPPER: undefined,
      ENCRYPTION_KEY: undefined,
      CORS_ORIGINS: [],
      OPERATOR_API: true,
      OPERATOR_KEY: undefined,
      TLS_CERT_FILE: undefined,
      TLS_KEY_FILE: undefined,
      TRUSTED_PROXY: undefined,
      TRUSTED_DOCUMENTS_FILE: undefined,
      TRUSTED_DOCUMENTS: 'also',
      COMPILED_QUERIES: 'on',
      INTROSPECTION: true,
      EXPLORER: true,
      DASHBOARD: true,
      STREAMS_MAX: 2000,
      STREAMS_OF_KEY_MAX: 100,
      READ_CONNECTIONS: 2,
      WRITE_CONNECTIONS: 5,
      WORKER_CONNECTIONS: 4,
      STATEMENT_SECONDS: 5,
      LOCK_SECONDS: 2,
      HEADER_SECONDS: 10,
      BODY_SECONDS: 15,
      KEEP_ALIVE_SECONDS: 65,
      SHUTDOWN_DELAY_SECONDS: 0,
      LOG_LEVEL: 'info',
      METRICS_HOST: '127.0.0.1',
      SLOW_STATEMENT_MILLISECONDS: 1_000,
      OTEL_SERVICE_NAME: 'tidegate',
      BODY_BYTES_MAX: 65_536,
      GRAPHQL_TOKENS_MAX: 1_000,
      GRAPHQL_DEPTH_MAX: 16,
      GRAPHQL_ALIASES_MAX: 30,
      GRAPHQL_ROOT_FIELDS_MAX: 10,
      PUBLIC_URL: undefined,
      CHECKOUT_SECONDS: 86_400,
      CHECKOUT_ATTEMPT_SECONDS: 480,
      CHECKOUT_FEE_BASIS_POINTS: 0,
      DRAIN_SECONDS: 25,
      GRAPHQL_NODES_MAX: 10_000,
      ANSWER_BYTES_MAX: 4_194_304,
      RATE_LIMIT: 'enforce',
      RATE_LIMIT_BURST: 2_000_000,
      RATE_LIMIT_PER_SECOND: 10_000,
      REQUEST_SECONDS: 10,
      REQUEST_SLOTS: 32,
      REQUESTS_OF_TENANT_MAX: 1_000,
      REQUESTS_MAX: 4_000,
      WAIT_MILLISECONDS_MAX: 1_000,
      LOOP_DELAY_MILLISECONDS_MAX: 1_000,
      SLOW_CONNECTIONS: 3,
      SLOW_SECONDS: 5,
      NODE_ENV: undefined,
      traced: false,
      suggestions: true,
      transport: 'local',
      tls: undefined,
    });
    expect(proxies.check('127.0.0.1')).toBe(false);
  });

  it('is the same as empty values, as in a file that lists all settings', () => {
    const empty = Object.fromEntries(Object.keys(settings.shape).map((name) => [name, '']));

    expect(serving(empty)).toEqual(serving({}));
  });

  it('is the same as an environment with unrelated variables', () => {
    expect(serving({ PATH: '/bin', port: '1', TIDEGATE_PORT: '1' })).toEqual(serving({}));
  });
});

describe('a setting', () => {
  const taken: [Environment, object][] = [
    [{ PORT: '0' }, { PORT: 0 }],
    [{ PORT: '65535' }, { PORT: 65_535 }],
    [{ HOST: 'localhost' }, { HOST: 'localhost', transport: 'local' }],
    [{ HOST: '::1' }, { HOST: '::1', transport: 'local' }],
    [{ HOST: '127.8.9.10' }, { HOST: '127.8.9.10', transport: 'local' }],
    [{ DATA_DIR: '/var/lib/x' }, { DATA_DIR: '/var/lib/x' }],
    [{ DATA_DIR: 'relative/x' }, { DATA_DIR: path.resolve('relative/x') }],
    [{ API_KEY_PEPPER: pepper }, { API_KEY_PEPPER: pepper, transport: 'local' }],
    [{ API_KEY_PEPPER: `${pepper}, ${pepper}2` }, { API_KEY_PEPPER: `${pepper}, ${pepper}2` }],
    [{ ENCRYPTION_KEY: pepper }, { ENCRYPTION_KEY: pepper }],
    [{ MIGRATE: 'never' }, { MIGRATE: 'never' }],
    [{ MIGRATION_LOCK_SECONDS: '1' }, { MIGRATION_LOCK_SECONDS: 1 }],
    [{ READ_CONNECTIONS: '100' }, { READ_CONNECTIONS: 100 }],
    [{ WRITE_CONNECTIONS: '2' }, { WRITE_CONNECTIONS: 2 }],
    [{ WORKER_CONNECTIONS: '1' }, { WORKER_CONNECTIONS: 1 }],
    [{ STATEMENT_SECONDS: '60' }, { STATEMENT_SECONDS: 60 }],
    [{ LOCK_SECONDS: '5' }, { LOCK_SECONDS: 5 }],
    [{ HEADER_SECONDS: '15' }, { HEADER_SECONDS: 15 }],
    [{ BODY_SECONDS: '600' }, { BODY_SECONDS: 600 }],
    [{ KEEP_ALIVE_SECONDS: '1' }, { KEEP_ALIVE_SECONDS: 1 }],
    [{ SHUTDOWN_DELAY_SECONDS: '120' }, { SHUTDOWN_DELAY_SECONDS: 120 }],
    [{ MIGRATION_LOCK_SECONDS: '3600' }, { MIGRATION_LOCK_SECONDS: 3_600 }],
    [{ PREPARED_STATEMENTS: 'false' }, { PREPARED_STATEMENTS: false }],
    [
      { CORS_ORIGINS: 'https://app.example, https://b.example:8443,http://localhost:5173,http://[::1]:1' },
      { CORS_ORIGINS: ['https://app.example', 'https://b.example:8443', 'http://localhost:5173', 'http://[::1]:1'] },
    ],
    [{ CORS_ORIGINS: 'https://xn--bcher-kva.example' }, { CORS_ORIGINS: ['https://xn--bcher-kva.example'] }],
    [{ OPERATOR_KEY: pepper }, { OPERATOR_KEY: pepper, transport: 'local' }],
    [{ COMPILED_QUERIES: 'off' }, { COMPILED_QUERIES: 'off' }],
    [
      { TRUSTED_DOCUMENTS: 'only', TRUSTED_DOCUMENTS_FILE: 'x.json' },
      { TRUSTED_DOCUMENTS: 'only', TRUSTED_DOCUMENTS_FILE: 'x.json' },
    ],
    [{ INTROSPECTION: 'false' }, { INTROSPECTION: false, EXPLORER: true }],
    [{ EXPLORER: 'false' }, { EXPLORER: false, INTROSPECTION: true }],
    [{ LOG_LEVEL: 'silent' }, { LOG_LEVEL: 'silent' }],
    [{ LOG_LEVEL: 'debug' }, { LOG_LEVEL: 'debug' }],
    [{ BODY_BYTES_MAX: '1024' }, { BODY_BYTES_MAX: 1_024 }],
    [{ BODY_BYTES_MAX: '1048576' }, { BODY_BYTES_MAX: 1_048_576 }],
    [{ GRAPHQL_TOKENS_MAX: '100' }, { GRAPHQL_TOKENS_MAX: 100 }],
    [{ GRAPHQL_TOKENS_MAX: '20000' }, { GRAPHQL_TOKENS_MAX: 20_000 }],
    [{ GRAPHQL_DEPTH_MAX: '5' }, { GRAPHQL_DEPTH_MAX: 5 }],
    [{ GRAPHQL_DEPTH_MAX: '50' }, { GRAPHQL_DEPTH_MAX: 50 }],
    [{ GRAPHQL_ALIASES_MAX: '0' }, { GRAPHQL_ALIASES_MAX: 0 }],
    [{ GRAPHQL_ALIASES_MAX: '1000' }, { GRAPHQL_ALIASES_MAX: 1_000 }],
    [{ GRAPHQL_ROOT_FIELDS_MAX: '1' }, { GRAPHQL_ROOT_FIELDS_MAX: 1 }],
    [{ GRAPHQL_ROOT_FIELDS_MAX: '100' }, { GRAPHQL_ROOT_FIELDS_MAX: 100 }],
    [{ DRAIN_SECONDS: '1' }, { DRAIN_SECONDS: 1 }],
    [{ DRAIN_SECONDS: '300' }, { DRAIN_SECONDS: 300 }],
    [{ GRAPHQL_NODES_MAX: '100' }, { GRAPHQL_NODES_MAX: 100 }],
    [{ GRAPHQL_NODES_MAX: '1000000' }, { GRAPHQL_NODES_MAX: 1_000_000 }],
    [{ ANSWER_BYTES_MAX: '65536' }, { ANSWER_BYTES_MAX: 65_536 }],
    [{ ANSWER_BYTES_MAX: '104857600' }, { ANSWER_BYTES_MAX: 104_857_600 }],
    [{ REQUEST_SECONDS: '1' }, { REQUEST_SECONDS: 1 }],
    [{ REQUEST_SECONDS: '300' }, { REQUEST_SECONDS: 300 }],
    [{ NODE_ENV: 'production' }, { NODE_ENV: 'production', suggestions: false }],
    [{ NODE_ENV: 'development' }, { suggestions: true }],
    [{ NODE_ENV: 'staging' }, { suggestions: true }],
    [{ ...database, TRUSTED_PROXY: '10.0.0.1', PUBLIC_URL }, { suggestions: false }],
    [{ ...database, TRUSTED_PROXY: '10.0.0.1', PUBLIC_URL, NODE_ENV: 'staging' }, { suggestions: false }],
    [{ ...database, TRUSTED_PROXY: '10.0.0.1', PUBLIC_URL, NODE_ENV: 'development' }, { suggestions: true }],
    [
      { ...database, TRUSTED_PROXY: '10.0.0.1', PUBLIC_URL },
      { ...database, transport: 'proxy', tls: undefined },
    ],
    [
      { HOST: '0.0.0.0', TRUSTED_PROXY: '10.0.0.1', PUBLIC_URL },
      { HOST: '0.0.0.0', transport: 'proxy' },
    ],
    [
      { ...database, DATABASE_URL: 'postgresql://db.example/x', TRUSTED_PROXY: '::1', PUBLIC_URL },
      { transport: 'proxy' },
    ],
  ];

  it.each(taken)('%j is accepted', (environment, wanted) => {
    expect(serving(environment)).toMatchObject(wanted);
  });

  it('of a certificate and its key makes the gateway serve HTTPS, on any address and over any database', () => {
    const { transport, tls } = serving({ ...pair, ...database, PUBLIC_URL, HOST: '0.0.0.0' });

    expect(transport).toBe('tls');
    expect(tls).toEqual({ cert: fs.readFileSync(pair.TLS_CERT_FILE), key: fs.readFileSync(pair.TLS_KEY_FILE) });
  });

  it('of trusted proxies may name addresses and subnets, of both families', () => {
    const { proxies } = serving({ PUBLIC_URL, TRUSTED_PROXY: '10.0.0.0/8, 192.168.1.7,::1 , fd00::/8' });
    const believed = (address: string) => proxies.check(address, address.includes(':') ? 'ipv6' : 'ipv4');

    expect(['10.200.3.4', '192.168.1.7', '::1', 'fd12::1'].map(believed)).toEqual([true, true, true, true]);
    expect(['11.0.0.1', '192.168.1.8', '::2', 'fe80::1', '127.0.0.1'].map(believed)).toEqual(Array(5).fill(false));
  });

  const numbers: [string, number, number][] = [
    ['PORT', 0, 65_535],
    ['BODY_BYTES_MAX', 1_024, 1_048_576],
    ['GRAPHQL_TOKENS_MAX', 100, 20_000],
    ['GRAPHQL_DEPTH_MAX', 5, 50],
    ['GRAPHQL_ALIASES_MAX', 0, 1_000],
    ['GRAPHQL_ROOT_FIELDS_MAX', 1, 100],
    ['GRAPHQL_NODES_MAX', 100, 1_000_000],
    ['ANSWER_BYTES_MAX', 65_536, 104_857_600],
    ['REQUEST_SECONDS', 1, 300],
    ['REQUEST_LOG_DAYS', 0, 90],
    ['EXPORT_HOURS', 1, 720],
    ['EXPORT_MEGABYTES_MAX', 1, 100_000],
    ['DRAIN_SECONDS', 1, 300],
  ];
  const noNumbers = ['many', '12.5', '12x', '-1', 'NaN', 'Infinity', 'true', '1,000'];
  const wrongNumbers = numbers.flatMap(([name, min, max]) =>
    [...noNumbers, String(min - 1), String(max + 1)].map((value): [string, string] => [name, value]),
  );
  const wrong: [string, string][] = [
    ...wrongNumbers,
    ['DATABASE_URL', 'mysql://db.example/x'],
    ['DATABASE_URL', 'db.example/x'],
    ['DATABASE_URL', ' postgres://db.example/x'],
    ['API_KEY_PEPPER', 'short'],
    ['API_KEY_PEPPER', '0123456789abcdef0123456789abcde'],
    ['OPERATOR_KEY', '0123456789abcdef0123456789abcde'],
    ['OPERATOR_KEY', '0123456789abcdef 0123456789abcdef'],
    ['OPERATOR_KEY', 'sk_live_0123456789abcdef0123456789abcdef'],
    // Long enough, but easy to guess.
    ['OPERATOR_KEY', '0'.repeat(64)],
    ['CORS_ORIGINS', '*'],
    ['CORS_ORIGINS', 'https://*.example.com'],
    ['CORS_ORIGINS', 'null'],
    ['CORS_ORIGINS', 'app.example'],
    ['CORS_ORIGINS', 'https://app.example/'],
    ['CORS_ORIGINS', 'https://app.example/path'],
    ['CORS_ORIGINS', 'https://App.example'],
    ['CORS_ORIGINS', 'https://app.example:443'],
    ['CORS_ORIGINS', 'https://bücher.example'],
    ['CORS_ORIGINS', 'https://user:secret@app.example'],
    ['CORS_ORIGINS', 'http://app.example'],
    ['CORS_ORIGINS', 'http://localhost.evil.example'],
    ['CORS_ORIGINS', 'file:///tmp/page.html'],
    ['CORS_ORIGINS', 'ftp://app.example'],
    ['CORS_ORIGINS', 'https://a.example,,https://b.example'],
    ['CORS_ORIGINS', 'https://a.example, https://a.example'],
    ['TRUSTED_DOCUMENTS', 'only'],
    ['TRUSTED_DOCUMENTS', 'off'],
    ['COMPILED_QUERIES', 'true'],
    ['INTROSPECTION', 'yes'],
    ['INTROSPECTION', 'TRUE'],
    ['INTROSPECTION', '0'],
    ['EXPLORER', 'off'],
    ['EXPLORER', 'False'],
    ['LOG_LEVEL', 'trace'],
    ['LOG_LEVEL', 'INFO'],
    ['TRUSTED_PROXY', 'proxy.example'],
    ['TRUSTED_PROXY', 'localhost'],
    ['TRUSTED_PROXY', '10.0.0.256'],
    ['TRUSTED_PROXY', '10.0.0.0/33'],
    ['TRUSTED_PROXY', '10.0.0.0/'],
    ['TRUSTED_PROXY', '10.0.0.0/x'],
    ['TRUSTED_PROXY', '10.0.0.0/8/8'],
    ['TRUSTED_PROXY', '::1/129'],
    ['TRUSTED_PROXY', '10.0.0.1;10.0.0.2'],
    ['TRUSTED_PROXY', '10.0.0.1, nonsense'],
    ['TRUSTED_PROXY', 'true'],
    // No proxy at all: the gateway would refuse every request, and could listen on every address.
    ['TRUSTED_PROXY', ','],
    ['TRUSTED_PROXY', ' '],
    // Number() accepts these as numbers, and a blank as 0, which the operator did not mean.
    ['PORT', ' '],
    ['PORT', '0x50'],
    ['PORT', '1e3'],
    ['API_KEY_PEPPER', `${pepper},short`],
    ['API_KEY_PEPPER', `${pepper},${pepper}`],
    ['API_KEY_PEPPER', `${pepper},`],
    ['ENCRYPTION_KEY', 'short'],
    ['MIGRATE', 'always'],
    ['MIGRATION_URL', 'mysql://owner@db.example/x'],
    ['MIGRATION_URL', 'postgres://owner@db.example/x'],
    ['DATABASE_REPLICA_URL', 'mysql://reader@db.example/x'],
    ['DATABASE_REPLICA_URL', 'postgres://reader@db.example/x'],
    ['DATABASE_REPLICA_URL', ' '],
    ['REPLICA_LAG_SECONDS', '0'],
    ['REPLICA_LAG_SECONDS', '3601'],
    ['MIGRATION_LOCK_SECONDS', '0'],
    ['READ_CONNECTIONS', '0'],
    ['WRITE_CONNECTIONS', '1'],
    ['WORKER_CONNECTIONS', '101'],
    ['STATEMENT_SECONDS', '61'],
    ['LOCK_SECONDS', '0'],
    ['LOCK_SECONDS', '6'],
    ['HEADER_SECONDS', '16'],
    ['BODY_SECONDS', '601'],
    ['KEEP_ALIVE_SECONDS', '0'],
    ['SHUTDOWN_DELAY_SECONDS', '121'],
    ['MIGRATION_LOCK_SECONDS', '3601'],
    ['PREPARED_STATEMENTS', 'no'],
    // OpenTelemetry would start with it, and send traces nowhere.
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['HOST', '0.0.0.0'],
    ['HOST', '::'],
    ['HOST', '10.0.0.1'],
    ['HOST', '192.168.0.1'],
    ['HOST', 'gateway.example'],
    ['HOST', '127.0.0.1.gateway.example'],
    ['HOST', 'localhost.gateway.example'],
  ];

  it.each(wrong)('%s=%j is refused, by name', (name, value) => {
    const needed: Environment = name === 'DATABASE_URL' ? { API_KEY_PEPPER: pepper, TRUSTED_PROXY: '10.0.0.1' } : {};
    expect(outcomeOf({ ...needed, [name]: value })).toMatch(new RegExp(`^${name}\\b`));
  });

  it('that is refused is answered with the values that its setting takes', () => {
    expect(outcomeOf({ PORT: 'x', WORKERS: '0', DRAIN_SECONDS: '301', LOG_LEVEL: 'trace', EXPLORER: 'off' })).toBe(
      'PORT: must be a whole number from 0 to 65535.\n' +
        'WORKERS: must be a whole number from 1 to 12.\n' +
        'EXPLORER: must be true or false.\n' +
        'LOG_LEVEL: must be silent, error, warn, info or debug.\n' +
        'DRAIN_SECONDS: must be a whole number from 1 to 300.',
    );
    // No setting is refused in the words of the library.
    for (const [name, value] of wrong)
      expect(outcomeOf({ [name]: value })).not.toMatch(/Too (small|big)|Invalid|expected/);
  });

  it('that is a secret is not repeated when it is refused', () => {
    expect(outcomeOf({ API_KEY_PEPPER: 'canary' })).toBe('API_KEY_PEPPER: must have at least 32 characters');
    expect(outcomeOf({ OPERATOR_KEY: 'canary' })).toMatch(
      /^OPERATOR_KEY: must have at least 32 random characters[^\n]*$/,
    );
    expect(outcomeOf({ OPERATOR_KEY: 'canary' })).not.toContain('canary');
    const address = { API_KEY_PEPPER: pepper, TRUSTED_PROXY: '::1', DATABASE_URL: 'mysql://u:canary@db.example/x' };
    expect(outcomeOf(address)).toBe('DATABASE_URL: must begin with postgres://');
    const port = { ...address, DATABASE_URL: 'postgres://u:canary@db.example:99999/x' };
    expect(outcomeOf(port)).toMatch(/^DATABASE_URL\b/);
    expect(outcomeOf(port)).not.toContain('canary');
  });

  const sslmode = 'DATABASE_URL: sslmode must be disable, prefer, require, verify-ca or verify-full.';
  const hosts = 'DATABASE_URL: A host cannot be read. Write an IPv6 address in brackets, as [::1]:5432.';
  it.each([
    ['postgres://u:canary@h/db?sslmode=verify', sslmode],
    ['postgres://u:canary@h/db?sslmode=', sslmode],
    ['postgres://u:canary@h/db?sslmode=allow', sslmode],
    [
      'postgres://u:canary@h/db?sslmode=verify-full&sslrootcert=/nowhere',
      'DATABASE_URL: The file of sslrootcert cannot be read (ENOENT).',
    ],
    [
      `postgres://u:canary@h/db?sslmode=verify-full&sslrootcert=${file('garbage')}`,
      'DATABASE_URL: The file of sslrootcert has no certificate in PEM.',
    ],
    [
      'postgres://u:canary@h/db?sslmode=verify-ca',
      'DATABASE_URL: sslmode=verify-ca needs sslrootcert, the file with the certificate of the authority.',
    ],
    ['postgres://u:canary@h/db?sslmode=require&sslrootcert=system', /sslrootcert=system needs sslmode=verify-full/],
    ['postgres://u:canary@h/db?target_session_attrs=standby', /^DATABASE_URL: target_session_attrs must be primary/],
    ['postgres://u:canary@h,i/db?target_session_attrs=any', /^DATABASE_URL: target_session_attrs must be primary/],
    ['postgres://u:canary@h/db?options=canary', /^DATABASE_URL: A parameter of the address is not supported/],
    ['postgres://u:canary@h/db?canary=1', /^DATABASE_URL: A parameter of the address is not supported/],
    ['postgres://u:canary@h/db?host=i&host=j', 'DATABASE_URL: A parameter of the address is given twice.'],
    ['postgres://u:canary%@h/db', /Write a percent sign itself as %25/],
    [
      'postgres://u:canary@h:1,i:2/db?port=1,2,3',
      'DATABASE_URL: There are 2 hosts and 3 ports. Give one port, or one for each host.',
    ],
    ['postgres://u:canary@h:0/db', 'DATABASE_URL: A port must be a number from 1 to 65535.'],
    ['postgres://u:canary@h:p/db', hosts],
    ['postgres://u:canary@[::1/db', hosts],
    ['postgres://u:canary?more@h/db', /^DATABASE_URL: A parameter of the address is not supported/],
  ])('%s is refused with a sentence, and without its password', (address, message) => {
    const domainError = outcomeOf({ API_KEY_PEPPER: pepper, TRUSTED_PROXY: '::1', DATABASE_URL: address });
    if (typeof message === 'string') expect(domainError).toBe(message);
    else expect(domainError).toMatch(message);
    expect(domainError).not.toContain('canary');
  });

  it.each([
    [
      'postgres://u@/db?host=/var/run/postgresql',
      { host: ['/var/run/postgresql'], path: '/var/run/postgresql/.s.PGSQL.5432' },
    ],
    ['postgres://u@/db?host=/run&port=5433', { path: '/run/.s.PGSQL.5433', port: [5433] }],
    ['postgres://u@%2Frun/db', { path: '/run/.s.PGSQL.5432', database: 'db' }],
    ['postgres://u@localhost:6432/db?host=%2Frun', { path: '/run/.s.PGSQL.6432' }],
    [
      'postgresql://u%40x:p%3A%2F@[::1]:5433/a%20b',
      { host: ['::1'], port: [5433], username: 'u@x', password: 'p:/', database: 'a b' },
    ],
    ['postgres://h', { host: ['h'], port: [5432], username: 'postgres', database: 'postgres', ssl: false }],
    ['postgres:///db?host=h&user=u&password=p+q', { host: ['h'], username: 'u', password: 'p+q', database: 'db' }],
    ['postgres://h/db?sslmode=require', { ssl: 'require' }],
    [
      'postgres://h/db?sslmode=verify-full&sslrootcert=system',
      { ssl: { rejectUnauthorized: true, checkServerIdentity: expect.any(Function) } },
    ],
    ['postgres://h,i:5433/db', { socket: expect.any(Function) }],
  ])('%s is an address', (address, options) => {
    expect(connectionOf(address)).toMatchObject(options);
  });

  it('of standbys may be several, and each host of one is a standby', () => {
    const both = 'postgres://u:p@a,b:5433/db?sslmode=require  postgres://v@c/db';
    expect(replicasOf(both)).toMatchObject([
      { host: ['a'], port: [5432], username: 'u', password: 'p', ssl: 'require' },
      { host: ['b'], port: [5433], username: 'u' },
      { host: ['c'], port: [5432], username: 'v', ssl: false },
    ]);
    const needed = { ...database, TRUSTED_PROXY: '::1', PUBLIC_URL };
    expect(outcomeOf({ ...needed, DATABASE_REPLICA_URL: both })).toBe('taken');
    const secret = 'postgres://u:canary@a,b/db?target_session_attrs=primary';
    const refused = outcomeOf({ ...needed, DATABASE_REPLICA_URL: secret });
    expect(refused).toBe(
      'DATABASE_REPLICA_URL: target_session_attrs is not for a standby: the gateway finds out what each server is.',
    );
  });

  it.each(['', 'TEST_'])('of an adapter is refused without those that it needs: %sACQUIRER_…', (mode) => {
    const [url, secret, fields] = ['URL', 'SECRET', 'FIELDS_URL'].map((name) => `${mode}ACQUIRER_${name}`);
    const whole = { [url!]: 'https://a.example', [secret!]: `whsec_${Buffer.alloc(32).toString('base64')}` };
    expect(outcomeOf({ ...whole, [fields!]: 'https://a.example/fields' })).toBe('taken');
    for (const [name, value] of Object.entries(whole))
      expect(outcomeOf({ [name]: value })).toBe(`${url} and ${secret} go together: set both or neither.`);
    expect(outcomeOf({ [fields!]: 'https://a.example' })).toBe(`${fields} goes with ${url}, which is not set.`);
  });

  it('is refused together with all others that are wrong', () => {
    const message = outcomeOf({ PORT: 'x', LOG_LEVEL: 'x', EXPLORER: 'x', DRAIN_SECONDS: '0', API_KEY_PEPPER: 'x' });

    expect(message.split('\n').map((line) => line.split(':')[0])).toEqual([
      'PORT',
      'API_KEY_PEPPER',
      'EXPLORER',
      'LOG_LEVEL',
      'DRAIN_SECONDS',
    ]);
  });
});

describe('settings that depend on each other', () => {
  const unsafe: [string, Environment, string][] = [
    ['a database without a pepper', { DATABASE_URL: database.DATABASE_URL, TRUSTED_PROXY: '::1' }, 'API_KEY_PEPPER'],
    ['a database without HTTPS', database, 'TLS_CERT_FILE'],
    ['a database without HTTPS on loopback', { ...database, HOST: '127.0.0.1' }, 'TRUSTED_PROXY'],
    ['an address that others reach without HTTPS', { HOST: '0.0.0.0', API_KEY_PEPPER: pepper }, 'HOST'],
    ['a certificate without its key', { TLS_CERT_FILE: pair.TLS_CERT_FILE }, 'TLS_KEY_FILE'],
    ['a key without its certificate', { TLS_KEY_FILE: pair.TLS_KEY_FILE }, 'TLS_CERT_FILE'],
    ['a certificate that does not exist', { ...pair, TLS_CERT_FILE: file('nowhere') }, 'TLS_CERT_FILE'],
    ['a key that does not exist', { ...pair, TLS_KEY_FILE: file('nowhere') }, 'TLS_KEY_FILE'],
    ['a folder for a certificate', { ...pair, TLS_CERT_FILE: folder }, 'TLS_CERT_FILE'],
    ['an invalid certificate', { ...pair, TLS_CERT_FILE: file('garbage') }, 'TLS_CERT_FILE'],
    ['an invalid key', { ...pair, TLS_KEY_FILE: file('garbage') }, 'TLS_KEY_FILE'],
    [
      'an attempt that is longer than its checkout',
      { CHECKOUT_SECONDS: '1800', CHECKOUT_ATTEMPT_SECONDS: '1801' },
      'CHECKOUT_ATTEMPT_SECONDS',
    ],
    ['a proxy without the address of the pages', { TRUSTED_PROXY: '::1' }, 'PUBLIC_URL'],
    ['a certificate without the address of the pages', pair, 'PUBLIC_URL'],
    ['a database without the address of the pages', { ...database, TRUSTED_PROXY: '::1' }, 'PUBLIC_URL'],
    ['the key of another certificate', { ...pair, TLS_KEY_FILE: file('other.key') }, 'TLS_KEY_FILE'],
  ];

  it.each(unsafe)('are refused when they are %s', (_, environment, name) => {
    expect(outcomeOf(environment)).toContain(name);
  });

  it('need no HTTPS for the command line, which serves no clients, but need the pepper', () => {
    expect(outcomeOf({ TRUSTED_PROXY: '::1' }, false)).toBe('taken');
    expect(outcomeOf(database, false)).toBe('taken');
    expect(outcomeOf({ HOST: '0.0.0.0' }, false)).toBe('taken');
    expect(outcomeOf({ DATABASE_URL: database.DATABASE_URL }, false)).toMatch(/^API_KEY_PEPPER\b/);
  });
});

describe('a program with a wrong setting', () => {
  const refused: [string, Environment, string][] = [
    ['a wrong value', { PORT: 'x', LOG_LEVEL: 'x' }, '^Tidegate could not start\\.\\nPORT: .+\\nLOG_LEVEL: .+\\n$'],
    ['an unsafe address', { HOST: '0.0.0.0' }, '^Tidegate could not start\\.\\nHOST .+\\n$'],
    [
      'a database without a pepper',
      { DATABASE_URL: database.DATABASE_URL, TRUSTED_PROXY: '::1' },
      '^Tidegate could not start\\.\\nAPI_KEY_PEPPER .+\\n$',
    ],
    ['a certificate without a key', { TLS_CERT_FILE: pair.TLS_CERT_FILE }, 'TLS_KEY_FILE'],
  ];

  it.each(refused)(
    'ends with code 1 for %s, names the setting, and changes nothing',
    async (_, environment, message) => {
      const DATA_DIR = children.folder();
      const child = children.start({ DATA_DIR, ...environment });

      expect(await child.ended).toBe(1);
      expect(child.errors).toMatch(new RegExp(message));
      expect(child.errors).not.toContain('    at ');
      expect(child.out).toBe('');
      expect(fs.readdirSync(DATA_DIR)).toEqual([]);
    },
  );

  // An audit ends with 1 if the ledger is wrong: a wrong setting says nothing about the ledger.
  it('ends with code 2 as a command, with only the message', async () => {
    const DATA_DIR = children.folder();

    expect(await children.command({ DATA_DIR, LOG_LEVEL: 'x' }, 'migrate', '--json')).toEqual({
      code: 2,
      out: '',
      errors: expect.stringMatching(/^LOG_LEVEL: .+\n$/),
    });
    expect(fs.readdirSync(DATA_DIR)).toEqual([]);
  });

  it('ends with code 1 for a database that does not answer, and does not print its password', async () => {
    const away = { ...database, DATABASE_URL: 'postgres://u:canary@127.0.0.1:1/x', TRUSTED_PROXY: '::1', PUBLIC_URL };
    const child = children.start(away);

    expect(await child.ended).toBe(1);
    expect(child.errors).toMatch(/^Tidegate could not start\.\n.*ECONNREFUSED 127\.0\.0\.1:1\n/);
    expect(child.out + child.errors).not.toContain('canary');
  });
});

import type { BlockList } from 'node:net';
import path from 'node:path';
import { z } from 'zod';
import { databaseSettings } from './database.js';
import { addressList, isLoopback } from './addresses.js';
import { acquirerSettings, checkAdapters } from './acquirer.js';
import { certified } from './certificate.js';
import { ConfigError } from './config-error.js';
import {
  connectionSettings,
  flag,
  logSettings,
  originList,
  rateLimitSettings,
  secret,
  streamSettings,
  valuesOf,
  wholeNumber,
} from './setting-types.js';
import { checkoutTermsDefault, inFlightDefault, limitsDefault, requestLimitsDefault, slowDefault } from './defaults.js';

/**
 * Every setting, with its default. Only this file reads settings from the environment. The table in
 * docs/operations/configure.md repeats the settings, and a test compares the two.
 */
export const settings = z.object({
  PORT: wholeNumber(0, 65_535).default(4000).describe('The port that the gateway listens on.'),
  HOST: z
    .string()
    .default('127.0.0.1')
    .describe('The address that the gateway listens on. Plain HTTP works on a loopback address only.'),
  WORKERS: wholeNumber(1, 12)
    .default(1)
    .describe(
      'How many processes share the port. One for each core is plenty; each has its own connections and limits.',
    ),
  DATA_DIR: z.string().default('.data').describe('The folder of the embedded PostgreSQL and of the local pepper.'),
  ...databaseSettings,
  API_KEY_PEPPER: secret
    .optional()
    .describe(
      'The secret under which API keys are hashed, or several, the newest first. Required with DATABASE_URL; ' +
        'otherwise a file in DATA_DIR.',
    ),
  ENCRYPTION_KEY: secret
    .optional()
    .describe(
      'The secret under which tax card numbers and the secrets of webhook endpoints are encrypted, or several, the ' +
        'newest first. Otherwise a file in DATA_DIR; with DATABASE_URL it derives from API_KEY_PEPPER.',
    ),
  TLS_CERT_FILE: z
    .string()
    .optional()
    .describe('A certificate chain in PEM; with TLS_KEY_FILE, the gateway serves HTTPS itself.'),
  TLS_KEY_FILE: z.string().optional().describe('The private key of TLS_CERT_FILE.'),
  TRUSTED_PROXY: z
    .string()
    .optional()
    .describe('Addresses or subnets, separated by commas, of proxies whose X-Forwarded-Proto is believed.'),
  CORS_ORIGINS: originList
    .default([])
    .describe(
      'Origins, separated by commas, whose pages may use /v1 and /graphql ' +
        'from a browser, such as https://app.example.com.',
    ),
  OPERATOR_API: flag
    .default(true)
    .describe("Whether the operators' graph, sign-in and console are served below /operator."),
  OPERATOR_KEY: z
    .string()
    .refine(
      (text) => /^(?!sk_)[\x21-\x7e]{32,}$/.test(text) && new Set(text).size >= 8,
      'must have at least 32 random characters, such as the output of openssl rand -hex 32, and be no API key',
    )
    .optional()
    .describe(
      'A shared secret of the operators, at least 32 random characters, for starting out and for programs; it ' +
        'acts as the operator OPERATOR_KEY, which may do everything.',
    ),
  TRUSTED_DOCUMENTS_FILE: z
    .string()
    .optional()
    .describe('A manifest of GraphQL documents in JSON, which clients of /graphql may ask for by their hash.'),
  TRUSTED_DOCUMENTS: z
    .enum(['also', 'only'])
    .default('also')
    .describe('`only` refuses all documents on /graphql but those of TRUSTED_DOCUMENTS_FILE.'),
  COMPILED_QUERIES: z
    .enum(['on', 'off'])
    .default('on')
    .describe('`off` runs every GraphQL document through Apollo and the resolvers, such as for tracing.'),
  INTROSPECTION: flag.default(true).describe('Whether the schema may be introspected.'),
  EXPLORER: flag.default(true).describe('Whether the explorer is served at /graphiql.'),
  DASHBOARD: flag.default(true).describe('Whether the dashboard is served at /dashboard, and its cookie accepted.'),
  ...logSettings,
  OTEL_TRACES_EXPORTER: z
    .enum(['otlp', 'console', 'otlp,console', 'console,otlp', 'none'])
    .optional()
    .describe(
      'Where traces go: `otlp`, `console`, `otlp,console` or `none`; by default `otlp` with an ' +
        'OTEL_EXPORTER_OTLP_ENDPOINT, and otherwise nowhere. All variables of OpenTelemetry apply.',
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.string().optional().describe('The address of an OpenTelemetry collector.'),
  OTEL_SERVICE_NAME: z.string().default('tidegate').describe('The name of the service in traces.'),
  BODY_BYTES_MAX: wholeNumber(1_024, 1_048_576)
    .default(65_536)
    .describe("The largest body of a request, but for file uploads. The operators' graph takes 4 MiB."),
  GRAPHQL_TOKENS_MAX: wholeNumber(100, 20_000).default(1_000).describe('The most tokens of a GraphQL document.'),
  GRAPHQL_DEPTH_MAX: wholeNumber(5, 50)
    .default(limitsDefault.depth)
    .describe('The deepest nesting of fields; an explorer needs 15.'),
  GRAPHQL_ALIASES_MAX: wholeNumber(0, 1_000).default(limitsDefault.aliases).describe('The most aliases of a document.'),
  GRAPHQL_ROOT_FIELDS_MAX: wholeNumber(1, 100)
    .default(limitsDefault.rootFields)
    .describe('The most root fields of an operation.'),
  GRAPHQL_NODES_MAX: wholeNumber(100, 1_000_000)
    .default(requestLimitsDefault.nodes)
    .describe('The most nodes that an operation could touch: page sizes multiply along each path.'),
  ANSWER_BYTES_MAX: wholeNumber(65_536, 104_857_600)
    .default(requestLimitsDefault.answerBytes)
    .describe('The largest answer, but for the content of a file.'),
  REQUEST_SECONDS: wholeNumber(1, 300)
    .default(requestLimitsDefault.seconds)
    .describe('How long a request may take before it is ended with 503.'),
  REQUEST_SLOTS: wholeNumber(1, 1_000)
    .default(inFlightDefault.slots)
    .describe(
      'How many requests of the APIs a process works on at once. A request for many objects counts as several; ' +
        'further requests wait, and tenants take turns.',
    ),
  REQUESTS_OF_TENANT_MAX: wholeNumber(1, 100_000)
    .default(inFlightDefault.ofTenant)
    .describe(
      'The most requests of one tenant and mode in flight, those that wait included; more get 503. While several ' +
        'tenants have requests, a quarter of it, and at least 100.',
    ),
  REQUESTS_MAX: wholeNumber(1, 100_000)
    .default(inFlightDefault.all)
    .describe('The most requests of all tenants in flight, those that wait included.'),
  WAIT_MILLISECONDS_MAX: wholeNumber(1, 60_000)
    .default(inFlightDefault.milliseconds)
    .describe('How long a request may wait for its turn before it gets 503.'),
  LOOP_DELAY_MILLISECONDS_MAX: wholeNumber(10, 60_000)
    .default(inFlightDefault.loopDelay)
    .describe('Beyond this mean delay of the event loop only one request of a tenant may wait; further ones get 503.'),
  ...streamSettings,
  ...connectionSettings,
  SLOW_CONNECTIONS: wholeNumber(1, 100)
    .default(slowDefault.connections)
    .describe('How many expensive reads, such as filtered lists and figures, PostgreSQL answers at once.'),
  SLOW_SECONDS: wholeNumber(1, 300)
    .default(slowDefault.seconds)
    .describe('How long PostgreSQL may take for an expensive read before it is ended with 503.'),
  ...rateLimitSettings,
  PUBLIC_URL: z
    .string()
    .regex(/^https?:\/\/[^/?#@]+$/, 'must be an origin, such as https://pay.example.com')
    .refine((text) => URL.canParse(text), 'is not an address that can be read')
    .optional()
    .describe(
      "The origin of the payment pages' addresses. Required unless the gateway is local; there it is otherwise " +
        'that of the request that asks for one.',
    ),
  CHECKOUT_SECONDS: wholeNumber(1_800, 2_592_000)
    .default(checkoutTermsDefault.seconds)
    .describe('How long a checkout can be paid.'),
  CHECKOUT_ATTEMPT_SECONDS: wholeNumber(60, 3_600)
    .default(checkoutTermsDefault.attemptSeconds)
    .describe('How long one attempt to pay a checkout may take; not longer than CHECKOUT_SECONDS.'),
  CHECKOUT_FEE_BASIS_POINTS: wholeNumber(0, 1_000)
    .default(checkoutTermsDefault.feeBasisPoints)
    .describe('What a payer pays on top of the amount of a checkout, in hundredths of a percent.'),
  ...acquirerSettings,
  IDEMPOTENCY_HOURS: wholeNumber(24, 87_600)
    .default(48)
    .describe('How long the answer of a write is kept under its idempotency key, by the clock of the database.'),
  EVENT_DAYS: wholeNumber(1, 36_500)
    .optional()
    .describe(
      'How long events are kept, by real time; for ever where it is not set. A pending delivery keeps its event.',
    ),
  LEDGER_CHECK_HOURS: wholeNumber(0, 8_760)
    .default(24)
    .describe('How often the ledger of each tenant and mode is checked; 0 checks it by command only.'),
  EXPORT_HOURS: wholeNumber(1, 720)
    .default(72)
    .describe('How many hours the content of an export is kept after its end.'),
  EXPORT_MEGABYTES_MAX: wholeNumber(1, 100_000)
    .default(1_024)
    .describe(
      'The largest content of an export, in MiB. No further export begins while those that a root account ' +
        'keeps in a mode have as much together.',
    ),
  REQUEST_LOG_DAYS: wholeNumber(0, 90)
    .default(7)
    .describe('How many days the requests of each account are kept in its request log; 0 keeps none.'),
  DRAIN_SECONDS: wholeNumber(1, 300)
    .default(25)
    .describe('How long requests under way may take to finish after SIGTERM.'),
  NODE_ENV: z
    .string()
    .optional()
    .describe(
      'Errors of GraphQL suggest names of the schema in `development`, which must be set for that with ' +
        'DATABASE_URL; never in `production`.',
    ),
});

export interface Config extends z.infer<typeof settings> {
  /**
   * How the gateway knows that a request came over HTTPS: it serves TLS itself, or a trusted proxy says so. Only
   * `local` allows plain HTTP.
   */
  transport: 'tls' | 'proxy' | 'local';
  tls: { cert: Buffer; key: Buffer } | undefined;
  proxies: BlockList;
  /** Whether requests are traced. */
  traced: boolean;
  /** Whether GraphQL errors suggest names of the schema. */
  suggestions: boolean;
}

export { ConfigError } from './config-error.js';

/** Pairs of settings of which the first may not be more than the second. */
const orders = [
  ['CHECKOUT_ATTEMPT_SECONDS', 'CHECKOUT_SECONDS'],
  ['LOCK_SECONDS', 'STATEMENT_SECONDS'],
  ['HEADER_SECONDS', 'BODY_SECONDS'],
] as const;

/**
 * Reads the settings, or throws a ConfigError that names the setting. `serves` says whether the process serves
 * requests: the command line does not, so it needs no HTTPS. `keys` says whether the process uses or creates API keys.
 */
export function config(
  { serves, keys = true }: { serves: boolean; keys?: boolean },
  environment: NodeJS.ProcessEnv = process.env,
): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => name in settings.shape && value !== ''),
  );
  const parsed = settings.safeParse(given, { error: valuesOf });
  if (!parsed.success)
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n'));
  const s = parsed.data;
  if ((s.TLS_CERT_FILE === undefined) !== (s.TLS_KEY_FILE === undefined))
    throw new ConfigError('TLS_CERT_FILE and TLS_KEY_FILE go together: set both or neither.');
  if (keys && s.MIGRATION_URL !== undefined && s.DATABASE_URL === undefined)
    throw new ConfigError('MIGRATION_URL goes with DATABASE_URL: set both or neither.');
  if (keys && s.DATABASE_REPLICA_URL !== undefined && s.DATABASE_URL === undefined)
    throw new ConfigError('DATABASE_REPLICA_URL goes with DATABASE_URL: set both or neither.');
  if (keys && s.DATABASE_URL !== undefined && s.API_KEY_PEPPER === undefined) {
    throw new ConfigError(
      'API_KEY_PEPPER must be set with DATABASE_URL: a secret of at least 32 ' +
        'characters that is kept outside the database.',
    );
  }
  checkAdapters(s);
  if (s.TRUSTED_DOCUMENTS === 'only' && s.TRUSTED_DOCUMENTS_FILE === undefined)
    throw new ConfigError('TRUSTED_DOCUMENTS: only goes with TRUSTED_DOCUMENTS_FILE, which is not set.');
  for (const [less, more] of orders)
    if (s[less] > s[more]) throw new ConfigError(`${less}: must not be more than ${more}.`);
  const tls = s.TLS_CERT_FILE === undefined ? undefined : certified(s.TLS_CERT_FILE, s.TLS_KEY_FILE!);
  const transport = tls ? 'tls' : s.TRUSTED_PROXY !== undefined ? 'proxy' : 'local';
  if (serves && transport === 'local' && s.DATABASE_URL !== undefined) {
    throw new ConfigError(
      'TLS_CERT_FILE and TLS_KEY_FILE, or TRUSTED_PROXY, must be set with ' +
        'DATABASE_URL: API keys travel over HTTPS only.',
    );
  }
  if (serves && transport === 'local' && !isLoopback(s.HOST)) {
    throw new ConfigError(
      'HOST must be a loopback address unless TLS_CERT_FILE and TLS_KEY_FILE, or TRUSTED_PROXY, are set: API ' +
        'keys travel over HTTPS only.',
    );
  }
  const proxies = addressList(s.TRUSTED_PROXY ?? '');
  if (!proxies) throw new ConfigError('TRUSTED_PROXY: must be addresses or subnets, separated by commas.');
  if (serves && transport !== 'local' && s.PUBLIC_URL === undefined) {
    throw new ConfigError(
      'PUBLIC_URL must be set unless the gateway is local: payment links carry it, ' +
        'and the Host of a request is what its client says.',
    );
  }
  if (transport !== 'local' && s.PUBLIC_URL?.startsWith('http:'))
    throw new ConfigError('PUBLIC_URL: must begin with https://, as the pages are served over HTTPS only.');
  const suggestions = s.DATABASE_URL === undefined ? s.NODE_ENV !== 'production' : s.NODE_ENV === 'development';
  const traced = (s.OTEL_TRACES_EXPORTER ?? (s.OTEL_EXPORTER_OTLP_ENDPOINT === undefined ? 'none' : 'otlp')) !== 'none';
  return { ...s, DATA_DIR: path.resolve(s.DATA_DIR), transport, tls, proxies, traced, suggestions };
}

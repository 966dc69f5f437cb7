import { z } from 'zod';
import { isLoopback } from './addresses.js';
import { ConfigError } from './config-error.js';

/** The address of another server: https, or http on this machine. */
const serverAddress = z
  .string()
  .refine(
    (text) => /^https?:\/\/[^\s?#@]+$/.test(text) && URL.canParse(text),
    'must be an address, such as https://pay.example.com/v1',
  )
  .refine(
    (text) =>
      !URL.canParse(text) ||
      new URL(text).protocol === 'https:' ||
      isLoopback(new URL(text).hostname.replaceAll(/[[\]]/g, '')),
    'must begin with https://; http is for an adapter on the same machine',
  );

/** The secret of an adapter, or several separated by commas. */
const adapterSecret = z
  .string()
  .refine(
    (text) => text.split(',').every((part) => /^whsec_[A-Za-z0-9+/]{43,}={0,2}$/.test(part.trim())),
    'must be whsec_ and at least 32 bytes in base64, as openssl rand -base64 32 makes them; or several',
  );

/** The settings of the acquirers' adapters, for each mode. */
export const acquirerSettings = {
  ACQUIRER_URL: serverAddress
    .optional()
    .describe('The address of the adapter of an acquirer for live mode; without it, live checkouts are refused.'),
  ACQUIRER_SECRET: adapterSecret
    .optional()
    .describe(
      'The secret of that adapter: `whsec_` and the output of openssl rand -base64 32. The gateway sends it as its ' +
        'bearer token, and the adapter signs its reports with it. Or several, separated by commas: the first is sent.',
    ),
  ACQUIRER_FIELDS_URL: serverAddress
    .optional()
    .describe("The address of the acquirer's card fields; without it, live pages offer UPI alone."),
  TEST_ACQUIRER_URL: serverAddress
    .optional()
    .describe('The address of an adapter for test mode, in place of the sandbox.'),
  TEST_ACQUIRER_SECRET: adapterSecret.optional().describe('As ACQUIRER_SECRET, for test mode.'),
  TEST_ACQUIRER_FIELDS_URL: serverAddress.optional().describe('As ACQUIRER_FIELDS_URL, for test mode.'),
};

const shape = z.object(acquirerSettings);
type AcquirerSettings = z.infer<typeof shape>;

/** Throws a ConfigError unless the settings of each adapter are complete. */
export function checkAdapters(settings: AcquirerSettings): void {
  for (const mode of ['', 'TEST_'] as const) {
    const at = (name: 'URL' | 'SECRET' | 'FIELDS_URL') => settings[`${mode}ACQUIRER_${name}`];
    if ((at('URL') === undefined) !== (at('SECRET') === undefined))
      throw new ConfigError(`${mode}ACQUIRER_URL and ${mode}ACQUIRER_SECRET go together: set both or neither.`);
    if (at('FIELDS_URL') !== undefined && at('URL') === undefined)
      throw new ConfigError(`${mode}ACQUIRER_FIELDS_URL goes with ${mode}ACQUIRER_URL, which is not set.`);
  }
}

import fs from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ConfigError } from './config-error.js';

/** Reads the certificate and its key; refuses when one of them is no such PEM, or when they do not belong together. */
export function certified(certFile: string, keyFile: string): { cert: Buffer; key: Buffer } {
  const pair = { cert: readFile('TLS_CERT_FILE', certFile), key: readFile('TLS_KEY_FILE', keyFile) };
  for (const [name, part] of [
    ['TLS_CERT_FILE', { cert: pair.cert }],
    ['TLS_KEY_FILE', { key: pair.key }],
  ] as const) {
    try {
      createSecureContext(part);
    } catch {
      throw new ConfigError(
        `${name}: the file has no ${name === 'TLS_CERT_FILE' ? 'certificate' : 'private key'} in PEM.`,
      );
    }
  }
  try {
    createSecureContext(pair);
  } catch {
    throw new ConfigError('TLS_KEY_FILE: the key is not that of the certificate in TLS_CERT_FILE.');
  }
  return pair;
}

function readFile(name: string, file: string): Buffer {
  try {
    return fs.readFileSync(file);
  } catch (error) {
    throw new ConfigError(`${name}: the file cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

import type { Server } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import type { Logger } from 'pino';
import type { Config } from '../../config/config.js';
import { certified } from '../../config/certificate.js';

/** The certificate of the settings as Node takes it. */
export const secureContext = (pair: { cert: Buffer; key: Buffer }): SecureContextOptions => ({
  ...pair,
  minVersion: 'TLSv1.2',
});

/**
 * Reads the certificate and its key again: new connections get them, and open ones keep theirs. Files that cannot be
 * used change nothing, so that a renewal that went wrong does not end the service.
 */
export function renewCertificate(server: unknown, { TLS_CERT_FILE, TLS_KEY_FILE }: Config, log: Logger): void {
  try {
    (server as Server).setSecureContext(secureContext(certified(TLS_CERT_FILE!, TLS_KEY_FILE!)));
    log.info('the certificate was read again');
  } catch (error) {
    log.error({ message: (error as Error).message }, 'the certificate could not be read again, and the old one stays');
  }
}

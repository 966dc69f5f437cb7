import { X509Certificate } from 'node:crypto';
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

/** When the certificate that is served expires, in epoch seconds. */
export const certificateExpires = ({ tls }: Config): number =>
  Math.floor(Date.parse(new X509Certificate(tls!.cert).validTo) / 1_000);

/**
 * Reads the certificate and its key again: new connections get them, and open ones keep theirs. Files that cannot be
 * used change nothing, so that a renewal that went wrong does not end the service.
 */
export function renewCertificate(server: unknown, config: Config, log: Logger): void {
  try {
    const pair = certified(config.TLS_CERT_FILE!, config.TLS_KEY_FILE!);
    (server as Server).setSecureContext(secureContext(pair));
    config.tls = pair;
    log.info('the certificate was read again');
  } catch (error) {
    log.error({ message: (error as Error).message }, 'the certificate could not be read again, and the old one stays');
  }
}

import { X509Certificate } from 'node:crypto';
import { type HealthCheck, look, now, span } from './finding.js';

/** A certificate that expires sooner has to be renewed. The alert rule has the same. */
const certificateSecondsMin = 14 * 86_400;

/** The certificate that gateways serve by themselves. */
export const certificate: HealthCheck = {
  name: 'certificate',
  alerts: ['TidegateCertificate'],
  well: 'The certificate in TLS_CERT_FILE, if there is one, is valid for two weeks and more.',
  find(operator) {
    const pem = operator.certificate();
    const left = pem ? Date.parse(new X509Certificate(pem).validTo) / 1_000 - Date.now() / 1_000 : Infinity;
    const command = 'Write the new one to TLS_CERT_FILE and TLS_KEY_FILE, and send SIGHUP to the gateway.';
    const found =
      left < 0
        ? [now('The certificate in TLS_CERT_FILE has expired.', command)]
        : [look(`The certificate in TLS_CERT_FILE expires in ${span(left)}.`, command)];
    return Promise.resolve(left < certificateSecondsMin ? found : []);
  },
};

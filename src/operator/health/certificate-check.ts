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
    const then = 'Once its file has a new one, the gateway reads that at this signal.';
    const found =
      left < 0
        ? [now(`The certificate in TLS_CERT_FILE has expired. ${then}`, 'kill -HUP PROCESS')]
        : [look(`The certificate in TLS_CERT_FILE expires in ${span(left)}. ${then}`, 'kill -HUP PROCESS')];
    return Promise.resolve(left < certificateSecondsMin ? found : []);
  },
};

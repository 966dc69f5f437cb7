import { execFileSync } from 'node:child_process';
import path from 'node:path';

/**
 * Makes a certificate for a host that signs itself, and its key, as `NAME.crt` and `NAME.key` in a folder; with
 * `ip` it is for 127.0.0.1, too. Returns the settings that name them.
 */
export function makeCertificate(
  folder: string,
  { name = 'tidegate', host = 'localhost', ip = false, days = 2 } = {},
): { TLS_CERT_FILE: string; TLS_KEY_FILE: string } {
  const [TLS_CERT_FILE, TLS_KEY_FILE] = ['crt', 'key'].map((end) => path.join(folder, `${name}.${end}`)) as [
    string,
    string,
  ];
  const names = `DNS:${host}${ip ? ',IP:127.0.0.1' : ''}`;
  execFileSync(
    'openssl',
    [
      ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'.split(' '),
      ...['-days', String(days), '-subj', `/CN=${host}`, '-addext', `subjectAltName=${names}`],
      ...['-keyout', TLS_KEY_FILE, '-out', TLS_CERT_FILE],
    ],
    { stdio: 'pipe' },
  );
  return { TLS_CERT_FILE, TLS_KEY_FILE };
}

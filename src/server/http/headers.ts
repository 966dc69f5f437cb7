import helmet from '@fastify/helmet';
import Fastify from 'fastify';
import type { Config } from '../../config/config.js';

/** The security headers for browsers. They are the same on every answer, so helmet computes them only once. */
export async function securityHeaders(config: Config): Promise<Record<string, string>> {
  const sample = Fastify();
  await sample.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    strictTransportSecurity: config.transport === 'local' ? false : { maxAge: 31_536_000 },
    frameguard: { action: 'deny' },
  });
  sample.get('/', async (_, reply) => reply.code(204).send());
  const { headers } = await sample.inject('/');
  await sample.close();
  const { date: _, connection: __, 'content-length': ___, ...fixed } = headers as Record<string, string>;
  return fixed;
}

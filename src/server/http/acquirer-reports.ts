import type { FastifyInstance } from 'fastify';
import type { ScopeSource } from '../../db/doors.js';
import { DomainError, problem } from '../../errors/problems.js';
import { type AcquirerSettings, secretsOf } from '../../hosted/adapter/client.js';
import { bodyBytesMax, reportsPath } from '../../hosted/adapter/protocol.js';
import { recordReport, type ReportParts, signedReport } from '../../hosted/adapter/reports.js';
import type { Operator } from '../../operator/operator.js';
import { liveOf } from '../../request/mode.js';
import type { InFlight } from '../limits/in-flight.js';
import { refuseOtherTypes } from './body-headers.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Registers the routes of the acquirers' signed reports, in each mode that has an adapter. A report is found over all
 * tenants, and recorded in a turn of the tenant that it is about.
 */
export function acquirerReports(
  app: FastifyInstance,
  settings: AcquirerSettings,
  { database, operator, inFlight }: { database: ScopeSource; operator: Operator; inFlight: InFlight },
): void {
  const parts: ReportParts = {
    database,
    byId: operator.byId.bind(operator),
    inTurn: ({ caller }, work) => inFlight.during(caller, work),
  };
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit: bodyBytesMax }, (_, bytes, done) => {
    try {
      done(null, utf8.decode(bytes as Buffer));
    } catch {
      done(new DomainError(problem('body_invalid')));
    }
  });
  for (const mode of ['test', 'live'] as const) {
    const livemode = liveOf(mode)!;
    const secrets = secretsOf(settings, livemode);
    if (secrets.length === 0) continue;
    app.post(reportsPath(mode), { config: { open: true } }, async (request) => {
      const report = signedReport(secrets, String(request.body ?? ''), request.headers);
      await recordReport(parts, livemode, report, request.id);
      return {};
    });
  }
  refuseOtherTypes(app);
}

import type { FastifyInstance } from 'fastify';
import { bodyBytesMax, reportsPath } from '../../acquirer/protocol.js';
import { type AcquirerSettings, secretsOf } from '../../acquirer/client.js';
import { recordReport, type ReportParts, signedReport } from '../../acquirer/reports.js';
import { DomainError, problem } from '../../errors/problems.js';
import { liveOf } from '../../request/mode.js';
import { refuseOtherTypes } from './body-headers.js';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Registers the routes of the acquirers' signed reports, in each mode that has an adapter. */
export function acquirerReports(app: FastifyInstance, settings: AcquirerSettings, parts: ReportParts): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit: bodyBytesMax }, (_, bytes, done) => {
    try {
      done(null, utf8.decode(bytes as Buffer));
    } catch {
      done(new DomainError(problem('body_invalid')));
    }
  });
  for (const mode of ['test', 'live'] as const) {
    const secrets = secretsOf(settings, liveOf(mode)!);
    if (secrets.length === 0) continue;
    app.post(reportsPath(mode), { config: { open: true } }, async (request) => {
      const report = signedReport(secrets, String(request.body ?? ''), request.headers);
      await recordReport(parts, liveOf(mode)!, report, request.id);
      return {};
    });
  }
  refuseOtherTypes(app);
}

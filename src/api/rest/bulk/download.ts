import { Readable } from 'node:stream';
import { and, desc, eq, lte, sql } from 'drizzle-orm';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import parseRange from 'range-parser';
import { readPart } from '../../../db/read/content-part.js';
import type { Scope } from '../../../db/scope.js';
import { callerOf } from '../../../operation/bulk.js';
import type { Context } from '../../../operation/context.js';
import { guarded, run } from '../../../operation/guard.js';
import { DomainError, problem } from '../../../errors/problems.js';
import { type ExportRow, dataExport, exportPart } from '../../../resources/export/table.js';
import { operationOf } from '../../../resources/registry.js';
import { pointsOfRoute, weights } from '../../../types/weights.js';
import { parseQuery } from '../decoder.js';
import { fixedLimit } from '../../../db/schema/drizzle-types.js';

const contentTypes = { csv: 'text/csv; charset=utf-8; header=present', jsonl: 'application/jsonl' } as const;

/** A range of bytes, both ends included. */
interface Range {
  start: number;
  end: number;
}

/**
 * The content of exports. It is read from the database part by part, no faster than the client takes it. It never
 * changes, so a client can go on where a download ended, on any gateway.
 */
export function exportContentRoute(app: FastifyInstance): void {
  const operation = operationOf('exportContent');
  app.route<{ Params: { id: string } }>({
    method: 'GET',
    url: '/v1/exports/:id/content',
    config: { permission: operation, cost: () => pointsOfRoute('object', 'figure', 1) },
    handler: async (request, reply) => {
      const [, search = ''] = request.url.split('?');
      const names = Object.keys(parseQuery(search));
      if (names.length > 0)
        throw new DomainError(...names.map((name) => problem('parameter_unknown', `export.${name}`)));
      const row = (await run(
        { name: operation.name, resolve: guarded(operation, readable) },
        request.params,
        request.context!,
      )) as ExportRow;
      request.budget?.charge?.count(weights.figure + weights.object);
      return answer(request, reply, row);
    },
  });
}

/** A completed export that the caller may read. */
async function readable(_: unknown, { id }: { id: string }, { scope, caller }: Context): Promise<ExportRow> {
  const row = await scope.one(dataExport, id, 'export.id');
  // The lists of a key have objects that a session does not see.
  if (caller.session && !callerOf(row).session)
    throw new DomainError(
      problem('permission_denied', 'export.id', 'A session cannot download the export of an API key; use an API key.'),
    );
  if (row.status !== 'completed')
    throw new DomainError(
      problem(
        'status_invalid',
        'export.id',
        `The export has no content while its status is ${row.status}. Download it when it is completed.`,
      ),
    );
  return row;
}

function answer(request: FastifyRequest, reply: FastifyReply, row: ExportRow): FastifyReply {
  const tag = `"${row.sha256}"`;
  const known = fresh(request.headers, { etag: tag });
  const range = known ? undefined : rangeOf(request, row, tag);
  if (range === 'beyond') {
    reply.header('content-range', `bytes */${row.bytes}`);
    throw new DomainError(problem('range_not_satisfiable'));
  }
  reply.headers({
    etag: tag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    vary: 'Origin, Authorization, On-Behalf-Of',
    'content-type': contentTypes[row.format],
    'content-disposition': `attachment; filename="${row.id}.${row.format}"`,
    'content-security-policy': "default-src 'none'; sandbox",
  });
  if (known) return reply.code(304).removeHeader('content-type').send();
  const { start, end } = range ?? { start: 0, end: row.bytes - 1 };
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end}/${row.bytes}`);
  reply.header('content-length', end - start + 1);
  // Of a stream, Fastify keeps the length that an answer to HEAD has.
  if (request.method === 'HEAD' || row.bytes === 0) return reply.send(Readable.from([]));
  // The client decides from here on how long the answer takes.
  request.timeLimit?.stop();
  return reply.send(Readable.from(parts(request.context!.scope, row.id, { start, end }), { objectMode: false }));
}

/** The one range that a request asks for; undefined for the whole content, also where it asks for several ranges. */
function rangeOf({ headers }: FastifyRequest, { bytes }: ExportRow, tag: string): Range | 'beyond' | undefined {
  const { range, 'if-range': condition } = headers;
  if (typeof range !== 'string' || (condition !== undefined && condition !== tag)) return undefined;
  // More of the last bytes than there are means all of them (RFC 9110, 14.1.2); the parser takes it for an error.
  const last = /^bytes=-(\d+)$/.exec(range);
  const ranges = parseRange(bytes, last && Number(last[1]) > bytes ? 'bytes=0-' : range);
  if (ranges === -1) return 'beyond';
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined;
  return ranges[0];
}

const p = sql.placeholder;

/** The bytes of a range, one part of the content after the other. */
async function* parts(scope: Scope, id: string, { start, end }: Range): AsyncGenerator<Buffer, void, void> {
  for (let at = start; at <= end; ) {
    const part = await readPart<{ start: number; content: Uint8Array }>(
      scope,
      'export_part',
      (db) =>
        db
          .select({ start: exportPart.start, content: exportPart.content })
          .from(exportPart)
          .where(
            and(
              eq(exportPart.tenantId, p('tenantId')),
              eq(exportPart.livemode, p('livemode')),
              eq(exportPart.exportId, p('id')),
              lte(exportPart.start, p('at')),
            ),
          )
          .orderBy(desc(exportPart.start))
          .limit(fixedLimit(1)),
      { id, at },
      at === start,
    );
    const bytes = part && Buffer.from(part.content).subarray(at - part.start, end - part.start + 1);
    // The content was deleted while it was sent.
    if (!bytes || bytes.length === 0) throw new Error(`the export ${id} has no more content`);
    at += bytes.length;
    yield bytes;
  }
}

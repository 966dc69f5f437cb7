import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Scope } from '../../db/scope.js';
import type { Context } from '../../operation/context.js';
import { guarded, run } from '../../operation/guard.js';
import type { RequestBudget } from '../../limits/budget.js';
import type { Charge } from '../../limits/charge.js';
import { operationOf } from '../../resources/registry.js';
import { type Problem, problem, DomainError } from '../../errors/problems.js';
import { FairQueue } from '../../limits/fair-queue.js';
import { parseQuery } from './decoder.js';
import { Metadata, type ScalarFault } from '../../types/scalars.js';
import { pointsOfBytes, pointsOfRoute, weights } from '../../types/weights.js';
import { contentParts, documentTypes, downloadHeaders, fileBytesMax } from '../../resources/file/content.js';
import { claimedSize, imagePixelsMax } from '../../resources/file/image-size.js';
import { FilePurpose, type FileRow, file } from '../../resources/file/table.js';
import { fileV1 } from '../../resources/file/v1.js';

const filenameLengthMax = 255;
/** An upload of so many bytes, as other bodies may have by default, is stored like any write. */
const smallBytesMax = 65_536;
/** The largest form of an upload. */
const formBytesMax = fileBytesMax + 65_536;

/** The parameters of an upload; `file` is the hash of the content and the name, in place of the bytes. */
interface Upload {
  input: { purpose: FilePurpose; file: string; metadata?: Record<string, string | null> | null };
}

/**
 * The large uploads that are stored at once. PostgreSQL takes a second or more for one of 10 MB, so a tenant stores one
 * after the other: several at once would all be too slow, and other tenants would wait. Measured:
 * docs/decisions/contents-are-read-in-parts.md.
 */
const largeUploadLimits = { slots: 2, ofTenant: 1, ticketsOfTenant: 16, tickets: 64, milliseconds: 20_000 };

/** An uploaded file with its detected properties. */
interface Uploaded {
  filename: string;
  contentType: string;
  size: number;
  sha256: string;
}

/**
 * The two routes of /v1 that transfer bytes: upload and download. GraphQL transfers no bytes,
 * so these are guarded operations without a root field. Silent: both.
 */
export function fileRoutes(app: FastifyInstance): void {
  const uploads = new FairQueue('uploads', largeUploadLimits);
  app.route({
    method: 'POST',
    url: '/v1/files',
    bodyLimit: formBytesMax,
    config: {
      permission: operationOf('createFile'),
      streamed: true,
      cost: (request) => pointsOfRoute('payload', undefined, 1) + pointsOfBytes(lengthOf(request)),
    },
    handler: async (request) => {
      refuseQuery(request);
      const { args, uploaded, content } = await uploadOf(request);
      const resolve = guarded(operationOf('createFile'), async (_, { input }: Upload, context: Context) => {
        const { purpose, metadata } = input;
        return {
          file: await context.write(
            'store_file',
            file,
            { ...uploaded, purpose, metadata, accountId: context.caller.actingAccountId },
            content.toString('base64'),
          ),
        };
      });
      const store = async () => {
        request.timeLimit?.start();
        await request.ticket?.begun();
        return run({ name: 'createFile', resolve }, args, request.context!);
      };
      const { tenantId } = request.context!.caller;
      const stored = content.length > smallBytesMax ? uploads.during(tenantId, store, endOf(request.budget!)) : store();
      const payload = (await stored) as { file: FileRow };
      request.budget?.charge?.count(weights.object + pointsOfBytes(payload.file.size));
      return fileV1(payload.file);
    },
  });

  app.route<{ Params: { id: string } }>({
    method: 'GET',
    url: '/v1/files/:id/content',
    config: { permission: operationOf('fileContent'), cost: () => pointsOfRoute('object', undefined, 1) },
    handler: async (request, reply) => {
      refuseQuery(request);
      const resolve = guarded(operationOf('fileContent'), downloadable);
      const row = (await run({ name: 'fileContent', resolve }, request.params, request.context!)) as FileRow;
      const { budget, context, timeLimit } = request;
      const content = request.method === 'HEAD' ? [] : await begun(context!.scope, row, budget?.charge);
      budget?.charge?.count(weights.object);
      reply.headers(downloadHeaders(row.filename));
      // Of a stream, Fastify keeps the length that an answer to HEAD has.
      reply.header('content-length', row.size);
      // The client decides from here on how long the answer takes.
      timeLimit?.stop();
      return reply.type(row.contentType).send(Readable.from(content, { objectMode: false }));
    },
  });
}

/** Calls a function with the reason when a request ends early. */
const endOf = (budget: RequestBudget) => (leave: (reason: DomainError) => void) =>
  budget.onEnd(() => budget.ended && leave(budget.ended));

/** The bytes of the form of an upload: as its client says, or as many as it may have. */
function lengthOf({ headers }: FastifyRequest): number {
  const length = Number(headers['content-length'] ?? formBytesMax);
  return Math.min(length, formBytesMax);
}

/** The parts of a file whose first part has been read, so that a refusal is not in the middle of an answer. */
async function begun(scope: Scope, { id, size }: FileRow, charge: Charge | null | undefined) {
  await charge?.take(pointsOfBytes(size));
  charge?.count(pointsOfBytes(size));
  const parts = contentParts(scope, id);
  const first = await parts.next();
  return (async function* () {
    if (!first.done) yield first.value;
    yield* parts;
  })();
}

/** A file whose content the caller may read. A session cannot download identity documents. */
async function downloadable(_: unknown, { id }: { id: string }, { scope, caller }: Context) {
  const row = await scope.one(file, id);
  if (caller.session && row.purpose === FilePurpose.IDENTITY_DOCUMENT)
    throw new DomainError(
      problem('permission_denied', 'file.id', 'A session cannot download identity documents; use an API key.'),
    );
  return row;
}

interface Parts {
  purpose: string | undefined;
  metadata: Record<string, string>;
  content: Buffer | undefined;
  filename: string;
}

/** Reads the parts of a form and adds a problem for each unknown one. Refuses a form that is cut or has no boundary. */
async function partsOf(request: FastifyRequest, problems: Problem[]): Promise<Parts> {
  const found: Parts = { purpose: undefined, metadata: Object.create(null), content: undefined, filename: '' };
  const twice = (name: string) =>
    problems.push(problem('parameter_invalid', `file.${name}`, 'is given more than once. Send it once.'));
  const limits = { fileSize: fileBytesMax, files: 1, fields: 20, fieldSize: 10_000 };
  try {
    for await (const part of request.parts({ limits })) {
      const key = /^metadata\[(.*)\]$/s.exec(part.fieldname)?.[1];
      if (part.type === 'file' && part.fieldname === 'file') {
        found.content = await part.toBuffer();
        found.filename = part.filename || 'file';
      } else if (part.type === 'file') {
        part.file.resume();
        problems.push(problem('parameter_unknown', `file.${part.fieldname}`));
      } else if (part.fieldname === 'purpose') {
        if (found.purpose !== undefined) twice('purpose');
        found.purpose = String(part.value);
      } else if (key !== undefined) {
        if (key in found.metadata) twice(`metadata.${key}`);
        found.metadata[key] = String(part.value);
      } else problems.push(problem('parameter_unknown', `file.${part.fieldname}`));
    }
  } catch (error) {
    // The framework's own errors have codes with this prefix; every other error of the parser is a malformed form.
    if (String((error as { code?: string }).code).startsWith('FST_')) throw error;
    throw new DomainError(
      problem(
        'body_invalid',
        undefined,
        'The form cannot be read. Send it completely, as multipart/form-data with a boundary.',
      ),
    );
  }
  return found;
}

const csv = { mime: 'text/csv' };

/** Whether bytes are text, which has no zero bytes. */
const isText = (content: Buffer): boolean => isUtf8(content) && !content.includes(0);

/** Refuses query parameters, which both routes would ignore. */
function refuseQuery(request: FastifyRequest): void {
  const [, search = ''] = request.url.split('?');
  const names = Object.keys(parseQuery(search));
  if (names.length > 0) throw new DomainError(...names.map((name) => problem('parameter_unknown', `file.${name}`)));
}

/** The problems of an image. A viewer has to decode it, and a small file can claim to be a huge image. */
function imageProblems(content: Buffer, type: string): Problem[] {
  if (type !== 'image/png' && type !== 'image/jpeg') return [];
  const size = claimedSize(content, type);
  if (!size)
    return [problem('parameter_invalid', 'file.file', 'must be an image whose header has its width and height')];
  if (size.width * size.height > imagePixelsMax)
    return [problem('parameter_invalid', 'file.file', `must have at most ${imagePixelsMax / 1_000_000} megapixels`)];
  return [];
}

async function uploadOf(request: FastifyRequest): Promise<{ args: Upload; uploaded: Uploaded; content: Buffer }> {
  if (!request.isMultipart())
    throw new DomainError(problem('body_invalid', undefined, 'Send the file as multipart/form-data.'));
  const problems: Problem[] = [];
  const { purpose, metadata, content, filename } = await partsOf(request, problems);
  const purposes: readonly string[] = Object.values(FilePurpose);
  if (purpose === undefined) problems.push(problem('parameter_missing', 'file.purpose'));
  else if (purpose === '') problems.push(problem('parameter_invalid_empty', 'file.purpose'));
  else if (!purposes.includes(purpose))
    problems.push(problem('parameter_invalid', 'file.purpose', `must be one of ${purposes.join(', ')}`));
  // Imported at the first upload, because it is 5 % of the code that a start would load.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = content && (await fileTypeFromBuffer(content));
  const type = content && purpose === FilePurpose.IMPORT && !found && isText(content) ? csv : found;
  if (content === undefined) problems.push(problem('parameter_missing', 'file.file'));
  else if (content.length === 0) problems.push(problem('parameter_invalid_empty', 'file.file'));
  else if (purpose === FilePurpose.IMPORT ? type !== csv : !type || !documentTypes.includes(type.mime))
    problems.push(
      problem(
        'parameter_invalid',
        'file.file',
        purpose === FilePurpose.IMPORT ? 'must be CSV: text in UTF-8' : 'must be a PDF, PNG or JPEG by its content',
      ),
    );
  else if (type) problems.push(...imageProblems(content, type.mime));
  if ([...filename].length > filenameLengthMax)
    problems.push(problem('parameter_invalid', 'file.filename', `must have at most ${filenameLengthMax} characters`));
  try {
    Metadata.parseValue(metadata);
  } catch (error) {
    const faults = ((error as { extensions?: { faults?: ScalarFault[] } }).extensions?.faults ?? []) as ScalarFault[];
    problems.push(...faults.map((fault) => problem('parameter_invalid', `file.metadata.${fault.path}`, fault.message)));
  }
  if (problems.length > 0 || !content || !type) throw new DomainError(...problems);
  const sha256 = createHash('sha256').update(content).digest('hex');
  const given = Object.keys(metadata).length > 0 && { metadata: { ...metadata } };
  return {
    args: { input: { purpose: purpose as FilePurpose, file: `${sha256} ${filename}`, ...given } },
    uploaded: { filename, contentType: type.mime, size: content.length, sha256 },
    content,
  };
}

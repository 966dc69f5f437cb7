import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../config/config.js';
import { helpPath } from '../../errors/catalogue.js';
import { DomainError, problem } from '../../errors/problems.js';
import { graphTypeOf } from './request.js';
import { hashOf, type TrustedDocuments } from './trusted-documents.js';

/** How many documents, and how many characters of them, a gateway keeps of a tenant; and of how many tenants. */
const documentsOfTenantMax = 200;
const charactersOfTenantMax = 100_000;
const tenantsMax = 200;

const hashPattern = /^[0-9a-f]{64}$/;

/**
 * The documents that requests name by their hash instead of sending the text: the trusted documents of the operator,
 * and those that clients of the same tenant have sent with their hash before (Apollo's automatic persisted queries).
 * Nothing of one tenant is known to another. A gateway that does not know a hash says so, and the client sends the text
 * once more, so nothing has to be shared between gateways.
 */
export class PersistedDocuments {
  readonly #sent = new LRUCache<string, LRUCache<string, string>>({ max: tenantsMax });
  readonly #only: boolean;

  constructor(
    { TRUSTED_DOCUMENTS }: Pick<Config, 'TRUSTED_DOCUMENTS'>,
    private readonly trusted: TrustedDocuments,
  ) {
    this.#only = TRUSTED_DOCUMENTS === 'only';
  }

  /**
   * The request with the text of the document that it names; the request itself if it has the text. Undefined when the
   * client has to send the text. Refuses a text that is not that of its hash, and documents that are not trusted where
   * only trusted ones are answered.
   */
  resolved(request: FastifyRequest): FastifyRequest | undefined {
    const raw = paramsOf(request);
    const hash = namedHash(raw);
    if (hash === undefined && !this.#only) return request;
    const { query } = raw;
    if (typeof query === 'string') {
      const own = hashOf(query);
      if (hash !== undefined && own !== hash)
        throw new DomainError(
          problem('parameter_invalid', 'request.query', 'must be the document that the hash belongs to'),
        );
      if (!this.trusted.has(own)) this.#remember(request, own, query);
      return withText(request, query);
    }
    const text = this.trusted.get(hash!) ?? this.#documentsOf(request)?.get(hash!);
    if (text !== undefined) return withText(request, text);
    if (this.#only) throw new DomainError(problem('document_not_trusted'));
    return undefined;
  }

  #documentsOf({ context }: FastifyRequest): LRUCache<string, string> | undefined {
    return this.#sent.get(context!.caller.tenantId);
  }

  #remember(request: FastifyRequest, hash: string, text: string): void {
    if (this.#only) throw new DomainError(problem('document_not_trusted'));
    let documents = this.#documentsOf(request);
    if (!documents) {
      documents = new LRUCache({
        max: documentsOfTenantMax,
        maxSize: charactersOfTenantMax,
        sizeCalculation: (document) => document.length,
      });
      this.#sent.set(request.context!.caller.tenantId, documents);
    }
    documents.set(hash, text);
  }
}

/** Says in the words of Apollo's protocol that the client has to send the text of a document with its hash. */
export function documentNotFound(requestId: string) {
  const code = 'PERSISTED_QUERY_NOT_FOUND';
  return { message: 'PersistedQueryNotFound', extensions: { code, docUrl: helpPath(code), requestId } };
}

/** Answers that the client has to send the text of a document with its hash. */
export function answerNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { id: requestId, budget } = request;
  const error = documentNotFound(requestId);
  const cost = budget?.cost;
  reply.type(`${graphTypeOf(request)}; charset=utf-8`);
  return reply.send({ errors: [error], extensions: { requestId, ...(cost && { cost }) } });
}

type Params = Record<string, unknown>;

/** Whether a request names a document by its hash. */
export function namesDocument(request: FastifyRequest): boolean {
  return namedHash(paramsOf(request)) !== undefined;
}

/** The members of a GraphQL request; in a query string, `extensions` is JSON. */
function paramsOf({ method, body, query }: FastifyRequest): Params {
  if (method === 'POST') return body as Params;
  const { extensions, ...rest } = query as Params;
  if (typeof extensions !== 'string') return rest;
  try {
    return { ...rest, extensions: JSON.parse(extensions) };
  } catch {
    // Apollo refuses it.
    return { ...rest, extensions: undefined };
  }
}

/** The hash of the document that a request names, in the form of Apollo's extension or as `documentId`. */
function namedHash({ extensions, documentId }: Params): string | undefined {
  const persisted = (extensions as { persistedQuery?: unknown } | null | undefined)?.persistedQuery;
  if (persisted !== undefined && persisted !== null) {
    const { version, sha256Hash } = persisted as Params;
    if (version === 1 && typeof sha256Hash === 'string' && hashPattern.test(sha256Hash)) return sha256Hash;
    const rule = 'must have in persistedQuery the version 1 and a sha256Hash of 64 hexadecimal digits in small letters';
    throw new DomainError(problem('parameter_invalid', 'request.extensions', rule));
  }
  if (documentId === undefined || documentId === null) return undefined;
  const hash = typeof documentId === 'string' ? documentId.replace(/^sha256:/, '') : '';
  if (hashPattern.test(hash)) return hash;
  const rule = 'must be the SHA-256 of the document, as 64 hexadecimal digits in small letters';
  throw new DomainError(problem('parameter_invalid', 'request.document_id', rule));
}

/** A request with the text of its document in place of the hash, as if the client had sent it. */
function withText(request: FastifyRequest, query: string): FastifyRequest {
  const { documentId: _, extensions, ...rest } = paramsOf(request);
  const { persistedQuery: __, ...others } = (extensions ?? {}) as Params;
  const remaining = Object.keys(others).length > 0 ? others : undefined;
  if (request.method === 'POST') {
    request.body = { ...rest, query, ...(remaining && { extensions: remaining }) };
    return request;
  }
  const search = new URLSearchParams(rest as Record<string, string>);
  search.set('query', query);
  if (remaining) search.set('extensions', JSON.stringify(remaining));
  // Apollo reads the parameters of a GET from the address.
  return Object.create(request, { url: { value: `/graphql?${search.toString()}` } }) as FastifyRequest;
}

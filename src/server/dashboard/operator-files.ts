import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseQuery } from '../../api/rest/decoder.js';
import { logged } from '../../operator/action/actions.js';
import { type FilePlace, fileWithContent } from '../../operator/console.js';
import { orderFile, orderFormats } from '../../operator/payment-order/file.js';
import { OperatorRole } from '../../operator/table.js';
import { downloadHeaders } from '../../resources/file/content.js';
import { DomainError, type Problem, problem } from '../../errors/problems.js';

/** What an id may be, before it is looked up. */
const isId = /^\w{1,100}$/;

/**
 * Registers the download of a file for its verification by an operator. It has entries in the audit log, the first one
 * before the content is read.
 */
export function operatorFiles(app: FastifyInstance): void {
  app.get<{ Params: { id: string } }>(
    '/operator/files/:id',
    { config: { operator: 'rest' } },
    async (request, reply) => {
      const { operator, viewer } = request.operator!;
      const place = placeOf(request, request.params.id);
      const action = { operation: 'readFile', objectId: place.id };
      const read = () => fileWithContent(operator, place);
      const { row, content } = await logged(operator, viewer, action, read, ({ row: { purpose } }) => ({
        details: { purpose },
      }));
      reply.headers(downloadHeaders(row.filename));
      return reply.type(row.contentType).send(content);
    },
  );
}

/**
 * Registers the download of the file of a payment order, which has entries in the audit log, the first one before it is
 * made. It is sent as it is read; one that is not whole has no end that HTTP takes for one. An operator that may only
 * look gets none, and neither does OPERATOR_KEY.
 */
export function orderFiles(app: FastifyInstance): void {
  app.get<{ Params: { id: string; format: string } }>(
    '/operator/payment-orders/:id/:format',
    { config: { operator: 'rest' } },
    async (request, reply) => {
      const { operator, viewer } = request.operator!;
      const { id, format } = request.params;
      if (!isId.test(id)) throw new DomainError(problem('resource_missing', 'payment_order.id'));
      const known = orderFormats.find((each) => each === format);
      if (known === undefined)
        throw new DomainError(
          problem('parameter_invalid', 'payment_order.format', `must be ${orderFormats.join(' or ')}`),
        );
      const action = { operation: 'readPaymentOrder', objectId: id, details: { format } };
      const made = await logged(operator, viewer, action, () => {
        if (viewer.role !== OperatorRole.OPERATE)
          throw new DomainError(problem('permission_denied', undefined, forOperate));
        // Whoever has had the file does not reject the order, so it has to be known who that is.
        if (viewer.id === null) throw new DomainError(problem('permission_denied', undefined, forNamed));
        return orderFile(operator, id, known);
      });
      reply.header('content-disposition', `attachment; filename="${made.name}"`);
      return reply.type(made.contentType).send(Readable.from(made.content));
    },
  );
}

const forOperate =
  'Your role is READ. The file of a payment order pays, and has the numbers of all its accounts: ask for an operator ' +
  'with the role OPERATE.';

const forNamed =
  'The file of a payment order is for operators with a name and a key of their own: OPERATOR_KEY does not say who ' +
  'has it. Make an operator for a program that fetches files, too.';

/** The file that a request names. */
function placeOf(request: FastifyRequest, id: string): FilePlace {
  const [, search = ''] = request.url.split('?');
  const { tenant_id: tenantId, mode, ...others } = parseQuery(search) as Record<string, unknown>;
  const problems: Problem[] = Object.keys(others).map((name) => problem('parameter_unknown', `file.${name}`));
  if (typeof tenantId !== 'string' || !isId.test(tenantId))
    problems.push(problem(tenantId === undefined ? 'parameter_missing' : 'parameter_invalid', 'file.tenant_id'));
  if (mode !== 'test' && mode !== 'live')
    problems.push(
      mode === undefined
        ? problem('parameter_missing', 'file.mode')
        : problem('parameter_invalid', 'file.mode', 'must be test or live'),
    );
  if (problems.length > 0) throw new DomainError(...problems);
  if (!isId.test(id)) throw new DomainError(problem('resource_missing', 'file.id'));
  return { id, tenantId: String(tenantId), livemode: mode === 'live' };
}

import {
  type DocumentNode,
  execute,
  getLocation,
  GraphQLError,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { LRUCache } from 'lru-cache';
import { denied } from '../../auth/permissions.js';
import type { EventQueries, EventQueryCheck, EventQueryResult, QueriedEvent } from '../../operation/event-queries.js';
import type { Context } from '../../operation/context.js';
import { elsewhere } from '../../operation/guard.js';
import { editions } from '../../editions/editions.js';
import { measuredFieldResolver, RequestBudget, tooLarge, tooLate } from '../../limits/budget.js';
import type { Caller } from '../../request/caller.js';
import type { Charge } from '../../limits/charge.js';
import { newRequestId } from '../../request/id.js';
import { DomainError, problem, retryAfter, sentenceOfGraph } from '../../errors/problems.js';
import { operationOf as declared } from '../../resources/registry.js';
import { weights } from '../../types/weights.js';
import { checkedDocument, type DocumentLimits, RefusedDocument, withoutLongNames } from './dry-run.js';
import { flat, formatted } from './errors.js';
import { type Estimator, NodeCounter, refuseTooMany } from './query-cost.js';
import type { ListSizes } from './query-parts.js';
import { formatResponse } from './response.js';
import { operationLabel } from './root-fields.js';

/** The most points that a query may cost for each delivery. An event with its object and its parents costs about 20. */
const costMax = 500;
/** The limits of one run. The body of a delivery has at most 256 KiB. */
const runLimits = { nodes: costMax, answerBytes: 262_144, seconds: 3 };
const documentsMax = 500;
const charactersMax = 250_000;
/** The variables that a document may declare, both of type `ID!`. */
const variables = ['eventId', 'objectId'];

/** What the queries of webhook endpoints need from the gateway. */
export interface EventQueryServices {
  limits: Omit<DocumentLimits, 'introspection' | 'nodesMax'>;
  sizes: ListSizes;
  /** Makes the context of an account. */
  contextOf: (owner: Caller, budget: RequestBudget, requestId: string) => Context;
  /** Does work in a turn of the tenant. */
  during: <T>(owner: Caller, work: () => Promise<T>) => Promise<T>;
  /** The charge of one run; null where requests are not charged. */
  chargeOf: (owner: Caller) => Charge | null;
  /** Called with an internal error, to log it. */
  onFault: (error: unknown, requestId: string) => void;
}

interface Prepared {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  estimator: Estimator;
}

/**
 * Checks and runs the documents whose results are the bodies of deliveries to webhook endpoints. A document is checked
 * like that of a request, and for what its account may call, so that a fault is found when it is stored. A run takes a
 * turn and points of the allowance like a request of the account.
 */
export class PreparedEventQueries implements EventQueries {
  readonly #prepared = new LRUCache<string, Prepared>({
    max: documentsMax,
    maxSize: charactersMax,
    sizeCalculation: (_, text) => text.length,
  });
  readonly #nodes: NodeCounter;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly services: EventQueryServices,
  ) {
    this.#nodes = new NodeCounter(schema, services.sizes);
  }

  check(text: string, owner: Caller): EventQueryCheck {
    try {
      const prepared = this.#prepare(text);
      const faults = this.#refused(prepared.document, owner);
      if (faults.length > 0) return refusal(faults);
      const estimate = prepared.estimator(sample);
      refuseTooMany(estimate, runLimits.nodes);
      const usual = weights.request + estimate.pointsUsual;
      if (usual > costMax)
        return refusal([
          new GraphQLError(
            `It could cost ${usual} points for each delivery, and the limit is ${costMax}. Ask for fewer objects.`,
          ),
        ]);
      return { cost: weights.request + estimate.points, faults: [] };
    } catch (error) {
      if (error instanceof RefusedDocument) return refusal(error.errors);
      if (error instanceof GraphQLError) return refusal([error]);
      throw error;
    }
  }

  async run(text: string, owner: Caller, event: QueriedEvent): Promise<EventQueryResult> {
    const requestId = newRequestId();
    const budget = new RequestBudget(runLimits);
    budget.charge = this.services.chargeOf(owner);
    try {
      const prepared = this.#prepare(text);
      const { points, pointsUsual } = prepared.estimator(sample);
      const cost = [weights.request + points, weights.request + pointsUsual] as const;
      return await this.#admitted(budget, cost, owner, () =>
        this.#result(prepared, this.services.contextOf(owner, budget, requestId), event),
      );
    } catch (error) {
      if (error instanceof DomainError && error.status < 500)
        return { body: JSON.stringify({ data: null, errors: error.problems.map((p) => formatted(p, requestId)) }) };
      if (error instanceof DomainError) return { fault: `the query could not be run: ${sentenceOf(error)}` };
      // The document was valid when it was stored, and the schema has changed since.
      const errors = error instanceof RefusedDocument ? error.errors : error instanceof GraphQLError ? [error] : [];
      if (errors.length > 0) return { body: JSON.stringify({ data: null, errors }) };
      this.services.onFault(error, requestId);
      return { fault: 'the query could not be run because of an internal error' };
    } finally {
      budget.charge?.finish(budget.ended !== undefined);
    }
  }

  /** Does the work once there are a turn and enough allowance; otherwise says when there may be. */
  async #admitted(
    budget: RequestBudget,
    cost: readonly [most: number, usual: number],
    owner: Caller,
    work: () => Promise<EventQueryResult>,
  ): Promise<EventQueryResult> {
    let began = false;
    try {
      await budget.charge?.take(...cost);
      budget.charge?.count(weights.request);
      return await this.services.during(owner, () => {
        began = true;
        return work();
      });
    } catch (error) {
      const seconds = !began && error instanceof DomainError ? retryAfter(error.problems) : undefined;
      if (seconds === undefined) throw error;
      return { later: seconds };
    }
  }

  async #result({ document, operation }: Prepared, context: Context, event: QueriedEvent): Promise<EventQueryResult> {
    const { budget, requestId } = context;
    const operationName = operation.name?.value;
    budget.report.operation = operationLabel(document, operationName);
    budget.start();
    const timer = setTimeout(() => budget.end(tooLate(runLimits.seconds)), runLimits.seconds * 1_000);
    try {
      const executed = await execute({
        schema: this.schema,
        document,
        operationName,
        variableValues: { eventId: event.id, objectId: event.objectId },
        contextValue: context,
        fieldResolver: measuredFieldResolver,
        hideSuggestions: !this.services.limits.suggestions,
      });
      if (budget.ended) throw budget.ended;
      const result = flat(executed, { schema: this.schema, document, operationName }, (error) => {
        this.services.onFault(error, requestId);
        throw new DomainError(problem('service_fault'));
      });
      // What a later attempt can read is no part of the body.
      for (const { originalError } of executed.errors ?? [])
        if (originalError instanceof DomainError && originalError.status >= 500) throw originalError;
      const { data, errors } = formatResponse(
        { data: result.data, ...(result.errors && { errors: result.errors.map((error) => error.toJSON()) }) },
        context,
      ).result;
      const body = JSON.stringify({ data: data ?? null, ...(errors && { errors }) });
      if (Buffer.byteLength(body) > runLimits.answerBytes) throw tooLarge(runLimits.answerBytes);
      return { body };
    } finally {
      clearTimeout(timer);
    }
  }

  #prepare(text: string): Prepared {
    const known = this.#prepared.get(text);
    if (known) return known;
    const limits = { ...this.services.limits, introspection: false, nodesMax: runLimits.nodes };
    const document = checkedDocument(this.schema, limits, text);
    const operations = document.definitions.filter((d) => d.kind === Kind.OPERATION_DEFINITION);
    const [operation, second] = operations;
    if (!operation || second)
      throw new GraphQLError('The document must have exactly one operation.', { nodes: second ?? [] });
    if (operation.operation !== 'query')
      throw new GraphQLError(`The operation must be a query, and not a ${operation.operation}.`, { nodes: operation });
    for (const definition of operation.variableDefinitions ?? []) {
      const { name } = definition.variable;
      if (!variables.includes(name.value))
        throw new GraphQLError(
          `The variable $${name.value} has no value. There are $eventId: ID!, the id of the event, and ` +
            '$objectId: ID!, that of its object.',
          { nodes: definition },
        );
    }
    const given = getVariableValues(this.schema, operation.variableDefinitions ?? [], sample);
    if (given.errors) throw new RefusedDocument(given.errors, document);
    const prepared = { document, operation, estimator: this.#nodes.of(document, operation.name?.value)! };
    this.#prepared.set(text, prepared);
    return prepared;
  }

  /** What a document selects that its account may not read: root fields of other callers, modes and editions. */
  #refused(document: DocumentNode, owner: Caller): GraphQLError[] {
    const found: GraphQLError[] = [];
    const types = new TypeInfo(this.schema);
    const root = this.schema.getQueryType();
    visit(
      document,
      visitWithTypeInfo(types, {
        Field: (node) => {
          const parent = types.getParentType();
          if (!isObjectType(parent) || parent !== root || node.name.value.startsWith('__')) return;
          const operation = declared(node.name.value);
          const other = elsewhere({ edition: editions[owner.edition] }, operation);
          const reason = other ? sentenceOfGraph(other) : denied(owner, operation);
          if (reason !== undefined)
            found.push(new GraphQLError(`The account cannot read \`${node.name.value}\`: ${reason}`, { nodes: node }));
        },
      }),
    );
    return found;
  }
}

const sample = { eventId: '', objectId: '' };

const refusal = (errors: readonly GraphQLError[]): EventQueryCheck => ({
  cost: null,
  faults: errors.map((error) => `${withoutLongNames(error.message).replace(/\.?$/, '')}${placeOf(error)}.`),
});

/** Where an error is, such as ` (line 1, column 9)`. */
function placeOf({ source, positions }: GraphQLError): string {
  if (!source || positions?.[0] === undefined) return '';
  const { line, column } = getLocation(source, positions[0]);
  return ` (line ${line}, column ${column})`;
}

const sentenceOf = ({ problems }: DomainError): string => problems.map((p) => sentenceOfGraph(p)).join(' ');

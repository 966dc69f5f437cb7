import { assertValidSchema, type GraphQLField, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import type { Rules } from '../api/graphql/errors.js';
import { mutationFields } from '../operation/guard.js';
import { emptyRequired, remaining } from '../operation/input-problems.js';
import { textProblems } from '../operation/text-problems.js';
import type { ListSizes } from '../api/graphql/query-parts.js';
import { NodeCounter } from '../api/graphql/query-cost.js';
import { resolveStoredNames } from '../api/graphql/stored-names.js';
import { problem, DomainError } from '../request/problems.js';
import { measure } from '../request/budget.js';
import type { OperatorContext } from './context.js';
import { pageSizeDefault, pageSizeMax } from './inputs.js';
import { OperatorActions } from './action-resolver.js';
import { OperatorConsole, OperatorFiles } from './console-resolver.js';
import { audited } from './audited.js';
import { OperatorWork } from './stuck.js';
import { OperatorAccounts, OperatorPersons } from './account-resolver.js';
import { OperatorMoney } from './money-resolver.js';
import { OperatorLedger } from './ledger-resolver.js';

/** For each root field, the noun that begins the names of its parameters in errors, as in /v1 and in OperatorError. */
const objects: Record<string, string> = {
  account: 'account',
  accounts: 'account',
  verifyAccount: 'account',
  holdAccount: 'account',
  deactivateAccount: 'account',
  issueAddress: 'address',
  deposit: 'deposit',
  recordBankNotice: 'deposit',
  waitingBankNotices: 'deposit',
  withdrawBankNotice: 'deposit',
  reconcileDeposit: 'deposit',
  payout: 'payout',
  payouts: 'payout',
  settlePayout: 'payout',
  failPayout: 'payout',
  placeServiceHold: 'account_setting',
  liftServiceHold: 'account_setting',
  transactionMismatches: 'transaction',
  rates: 'rate',
  setRate: 'rate',
  ledgerAudit: 'ledger',
  ledgerChecks: 'ledger',
  ledgerSeal: 'ledger',
  stuckWork: 'job',
  retryJob: 'job',
  bankNotices: 'deposit',
  serviceHolds: 'account_setting',
  gateways: 'gateway',
  viewer: 'operator',
  operators: 'operator',
  operatorActions: 'operator_action',
  operatorActionsSeal: 'operator_action',
};

/** The rules of the operator's schema. An operator may call every query, and with the role `operate` every mutation. */
export const operatorRules: Rules<OperatorContext> = {
  object: objectOf,
  problems: (field, args) => textProblems('input' in args ? args.input : args, objectOf(field)),
};

/** The bounds of the lists of the operator's schema. */
export const sizes: ListSizes = {
  page: { default: pageSizeDefault, max: pageSizeMax },
  lists: {
    'Query.rates': 200,
    'Query.waitingBankNotices': 200,
    'Query.transactionMismatches': 200,
    'Query.ledgerSeal': 0,
    'Query.operators': 200,
    'Query.gateways': 200,
    'Account.requirements': 20,
    'LedgerAudit.violations': 0,
    'LedgerCheck.violations': 20,
    'Account.persons': 10,
    'Account.files': 10,
    'Account.addresses': 10,
  },
};

/** Builds the operator's schema. Throws when a root field has no noun, or a noun has no root field. */
export function buildOperatorGraph(): GraphQLSchema {
  const schema = buildSchemaSync({
    resolvers: [
      OperatorAccounts,
      OperatorPersons,
      OperatorMoney,
      OperatorLedger,
      OperatorWork,
      OperatorActions,
      OperatorConsole,
      OperatorFiles,
    ],
    validate: false,
    // The library's own check executes an introspection query, which takes longer than building the schema.
    skipCheck: true,
  });
  assertValidSchema(schema);
  resolveStoredNames(schema);
  schema.getQueryType()!.description = 'What the operator can read, over all tenants.';
  schema.getMutationType()!.description = 'What the operator can change.';
  const mutations = schema.getMutationType()!.getFields();
  const fields = { ...schema.getQueryType()!.getFields(), ...mutations };
  for (const name of Object.keys(objects)) if (!fields[name]) throw new Error(`the operator's graph has no ${name}`);
  for (const [name, field] of Object.entries(fields)) {
    const checked = checkedResolver(name, field, name in mutations);
    field.resolve = name in mutations ? audited(name, checked) : checked;
  }
  const nodes = new NodeCounter(schema, sizes);
  measure(schema, { counted: (type) => nodes.counts(type.name) });
  return schema;
}

/** The resolver of a root field, with the checks of its input before it. */
function checkedResolver(
  name: string,
  field: GraphQLField<unknown, OperatorContext>,
  writes: boolean,
): GraphQLFieldResolver<unknown, OperatorContext> {
  const resolve = field.resolve!;
  const object = objectOf(name);
  return (source, args, context, info) => {
    const empty = writes ? emptyRequired(field.args, args, object) : [];
    const problems = [...empty, ...remaining(empty, operatorRules.problems(name, args, context))];
    if (problems.length > 0) throw new DomainError(...problems);
    if (!writes) return resolve(source, args, context, info);
    if (context.idempotencyKey !== undefined && mutationFields(info) > 1)
      throw new DomainError(problem('idempotency_key_ambiguous', 'Idempotency-Key'));
    context.enter(name);
    return resolve(source, args, context, info);
  };
}

function objectOf(field: string): string {
  const object = objects[field];
  if (!object) throw new Error(`the root field ${field} of the operator's graph has no noun`);
  return object;
}

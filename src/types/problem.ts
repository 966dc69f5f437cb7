import { Field, ObjectType, registerEnumType } from 'type-graphql';
import { catalogue, type ProblemCode } from '../errors/catalogue.js';
import { type GraphCode, graphCatalogue } from '../errors/graph-codes.js';
import { argumentPath } from '../errors/problems.js';

/** The codes of errors: those of both APIs, as /v1 writes them, and those that only GraphQL has. */
export type ErrorCode = ProblemCode | GraphCode;

const meanings = new Map<string, string>([
  ...Object.entries(catalogue).map(([code, [, , meaning]]): [string, string] => [code, meaning]),
  ...Object.entries(graphCatalogue).map(([code, [, meaning]]): [string, string] => [code, meaning]),
]);

/** The codes of errors by their names in the graph, made from the catalogues. Silent: the enum. */
export const ErrorCode = Object.fromEntries([...meanings.keys()].map((code) => [code.toUpperCase(), code]));

registerEnumType(ErrorCode, {
  name: 'ErrorCode',
  description: 'The codes of `extensions.code` of errors, and of problems.',
  valuesConfig: Object.fromEntries(
    [...meanings].map(([code, description]) => [code.toUpperCase(), { description }] as const),
  ),
});

/** What is wrong with one part of a request, such as a row of a file. Silent: all fields. */
@ObjectType({
  simpleResolvers: true,
  description:
    'What is wrong with one part of a request: a row of an import, a document of a dry run, or a deposit of ' +
    '`reconcileDeposits`.',
})
export class Problem {
  @Field(() => ErrorCode, {
    nullable: true,
    description:
      'The code that the error has when the part is sent by itself. Null for a code of a later version of the service.',
  })
  code: string | null;
  @Field(() => String, { description: 'What is wrong, as a sentence. Of a row, it has the names of /v1.' })
  message: string;
  @Field(() => [String], {
    nullable: true,
    description:
      'The place of the parameter that is at fault, in the names of the graph, such as `["invoice", "amount"]`; null ' +
      'where no parameter is.',
  })
  path: string[] | null;
  @Field(() => String, {
    nullable: true,
    description: 'The column of a file that is at fault, as its header names it; null where none is.',
  })
  column: string | null;
}

/**
 * A stored fault of a row, as the graph shows it. Codes are stored as texts, and another version may have stored one
 * that this one does not have.
 */
export const problemOfRow = ({ code, message, column }: { code: string; message: string; column: string | null }) => ({
  code: meanings.has(code) ? code : null,
  message,
  path: column === null ? null : pathInGraph(`row.${column}`),
  column,
});

/** The path of a parameter in the graph, as texts, from its field name on /v1. */
export const pathInGraph = (field: string): string[] => argumentPath(field).map(String);

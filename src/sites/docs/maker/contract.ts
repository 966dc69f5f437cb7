/** The parts of the contract of /v1 from which its reference is made, as `schema/openapi.json` has them. */
export interface Contract {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    parameters: Record<string, Parameter>;
    headers: Record<string, { description: string }>;
    responses: Record<string, Answer>;
  };
}

/** A reference to a component. */
interface Reference {
  $ref: string;
}

/** What differs between the editions. */
export interface EditionNotes {
  only?: number;
  required?: number[];
  values?: Record<string, string[]>;
  oneOf?: Record<string, string[]>;
}

/** A schema of JSON Schema 2020-12, with the keywords that the contract uses. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  oneOf?: Schema[];
  enum?: (string | number | null)[];
  const?: unknown;
  default?: unknown;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  contentMediaType?: string;
  'x-edition'?: EditionNotes;
}

/** A parameter of an operation. */
export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description: string;
  schema: Schema;
  example?: unknown;
  'x-edition'?: EditionNotes;
}

/** An answer of an operation. */
export interface Answer {
  description: string;
  'x-codes'?: string[];
  headers?: Record<string, Reference>;
  content?: Record<string, { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }>;
}

/** An operation of the contract. */
interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters: (Parameter | Reference)[];
  requestBody?: { description: string; content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, Answer | Reference>;
  'x-extension'?: boolean;
  'x-edition'?: EditionNotes;
  'x-permission': { access: 'read' | 'write'; callers: string[]; modes: string[] };
}

/** An operation with its place in the contract. */
export interface Placed {
  method: string;
  path: string;
  tag: string;
  operation: Operation;
}

/** All operations, with their methods and paths. */
export const operationsOf = ({ paths }: Contract): Placed[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      tag: operation.tags[0]!,
      operation,
    })),
  );

/** The parameter itself, where the operation refers to one. */
export const parameterOf = (contract: Contract, parameter: Parameter | Reference): Parameter =>
  '$ref' in parameter ? contract.components.parameters[lastOf(parameter.$ref)]! : parameter;

/** The answer itself, where the operation refers to one. */
export const answerOf = (contract: Contract, answer: Answer | Reference): Answer =>
  '$ref' in answer ? contract.components.responses[lastOf(answer.$ref)]! : answer;

/** The name at the end of a reference. */
export const lastOf = (reference: string): string => reference.split('/').at(-1)!;

/** The name of a tag or kind for people: `balance_transactions` is `Balance transactions`. */
export const wordsOf = (name: string): string => {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

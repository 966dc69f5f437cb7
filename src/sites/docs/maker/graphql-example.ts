import {
  type GraphQLField,
  getNamedType,
  isLeafType,
  isNonNullType,
  isObjectType,
  type GraphQLOutputType,
} from 'graphql';

type Field = GraphQLField<unknown, unknown>;

/** A document that asks a root field for the plain fields of its type, with a variable for each required argument. */
export function exampleOf(kind: 'query' | 'mutation', field: Field): string {
  const needed = field.args.filter(({ type, defaultValue }) => isNonNullType(type) && defaultValue === undefined);
  const first = field.args.find(({ name }) => name === 'first');
  const variables = needed.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  const given = [...needed.map(({ name }) => `${name}: $${name}`), ...(first ? ['first: 3'] : [])].join(', ');
  const name = field.name.charAt(0).toUpperCase() + field.name.slice(1);
  const head = `${kind} ${name}${variables === '' ? '' : `(${variables})`}`;
  return `${head} {\n  ${field.name}${given === '' ? '' : `(${given})`}${selectionOf(field.type, 1)}\n}\n`;
}

/** How many plain fields of a type the example has. */
const fieldsMax = 8;

function selectionOf(type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  const space = '  '.repeat(depth + 1);
  if (!isObjectType(named)) return ` {\n${space}__typename\n${'  '.repeat(depth)}}`;
  const fields = Object.values(named.getFields()).filter(
    ({ args, deprecationReason }) => args.every((arg) => !isNonNullType(arg.type)) && !deprecationReason,
  );
  const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)) && field.args.length === 0);
  const isConnection = named.name.endsWith('Connection');
  const isPayload = named.name.endsWith('Payload');
  const below = fields.filter(
    ({ name }) =>
      (isConnection && (name === 'nodes' || name === 'pageInfo')) ||
      (isPayload && !leaves.some((leaf) => leaf.name === name)),
  );
  const chosen = [...(isConnection ? [] : leaves.slice(0, fieldsMax)), ...(depth < 4 ? below : [])];
  if (chosen.length === 0) return ` {\n${space}__typename\n${'  '.repeat(depth)}}`;
  const lines = chosen.map((field) => `${space}${field.name}${selectionOf(field.type, depth + 1)}`);
  return ` {\n${lines.join('\n')}\n${'  '.repeat(depth)}}`;
}

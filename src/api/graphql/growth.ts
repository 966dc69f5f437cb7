import { getNamedType, type GraphQLSchema, isAbstractType, isEnumType, isInputType, isObjectType } from 'graphql';

/** What the description of each answered type ends with whose members are not complete. */
export const growthSentence = 'Later versions may add members: have a default for those that you do not know.';

/** The answered enums whose values are complete, so that a client may list them all. */
const completeTypes: ReadonlySet<string> = new Set([
  'AgeingBucket',
  'CapabilityStatus',
  'LedgerCheckStatus',
  'Mode',
  'OperatorActionOutcome',
  'RequestOutcome',
  'VpaState',
]);

/** The enums, unions and interfaces that answers have. Those of inputs alone may grow without a client noticing it. */
function answeredTypes(schema: GraphQLSchema): Set<string> {
  const answered = new Set<string>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__') || isInputType(type)) continue;
    if (isAbstractType(type)) answered.add(type.name);
    if (!isObjectType(type)) continue;
    for (const { type: of } of Object.values(type.getFields())) {
      const named = getNamedType(of);
      if (isEnumType(named) || isAbstractType(named)) answered.add(named.name);
    }
  }
  return answered;
}

/** Says of each answered enum, union and interface that is not complete that later versions may add members. */
export function describeGrowth(schema: GraphQLSchema): void {
  for (const name of answeredTypes(schema)) {
    const type = schema.getType(name)!;
    if (!completeTypes.has(name)) type.description = `${type.description} ${growthSentence}`;
  }
}

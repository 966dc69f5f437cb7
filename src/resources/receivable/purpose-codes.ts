import { Field, ObjectType, Query, Resolver } from 'type-graphql';
import { declareKeys, stated } from '../shape.js';
import { purposeCodes } from './purpose.js';

@ObjectType({
  simpleResolvers: true,
  description: 'A purpose code of inward remittances by the Reserve Bank of India (RBI).',
})
export class PurposeCode {
  @Field(() => String, { description: 'The code, such as `P0802`.' })
  code: string;
  @Field(() => String, { description: 'The meaning of the code, as the RBI words it.' })
  description: string;
}

const all: readonly PurposeCode[] = Object.entries(purposeCodes).map(([code, description]) => ({ code, description }));

/** The purpose codes that a receivable may have. Silent: the list. */
@Resolver(() => PurposeCode)
export class PurposeCodeResolver {
  @Query(() => [PurposeCode], {
    description: 'The purpose codes that a receivable may have, with their meanings, in the order of the codes.',
  })
  purposeCodes(): readonly PurposeCode[] {
    return all;
  }
}

/** Formats the purpose codes for /v1, as a list of one page. Silent: all of it. */
export function purposeCodesV1(codes: readonly PurposeCode[]) {
  return {
    object: 'list',
    data: codes.map(({ code, description }) => ({ object: 'purpose_code', code, description })),
    has_next: false,
  };
}

const text = stated({ type: 'string' });

declareKeys(purposeCodesV1, {
  object: stated({ type: 'string', const: 'list' }),
  data: stated({
    type: 'array',
    description: 'All purpose codes.',
    items: {
      type: 'object',
      properties: { object: { type: 'string', const: 'purpose_code' }, code: text.schema, description: text.schema },
      required: ['object', 'code', 'description'],
      additionalProperties: false,
    },
  }),
  has_next: stated({ type: 'boolean', const: false }),
});

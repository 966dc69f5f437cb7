import { registerEnumType, Field, Int, ObjectType } from 'type-graphql';
import { RequestApi, RequestOutcome } from './table.js';
import { Node } from '../../types/relay-node.js';
import { DateTime } from '../../types/scalars.js';
import { connectionOf } from '../../types/pagination.js';

registerEnumType(RequestApi, {
  name: 'RequestApi',
  description: 'The API of a request.',
  valuesConfig: { GRAPHQL: { description: 'A request to /graphql.' }, REST: { description: 'A request to /v1.' } },
});

registerEnumType(RequestOutcome, {
  name: 'RequestOutcome',
  description: 'How a request ended. In the graph an answer with the status 200 may have errors.',
  valuesConfig: {
    SUCCEEDED: { description: 'The answer has no errors.' },
    REFUSED: { description: 'The request was refused, or a part of it.' },
    FAILED: { description: 'The service failed, or had no room.' },
  },
});

/** A request of the account. Silent: all fields. */
@ObjectType({
  implements: Node,
  simpleResolvers: true,
  description:
    'A request to a route of the APIs that was made with a key or session of the account. Nothing of what it ' +
    'contained is kept, and itself only for some days. Its id is the header `Request-Id` of its answer.',
})
export class RequestLog extends Node {
  @Field(() => DateTime, { description: 'When the request arrived, by the clock of the database.' })
  created: number;
  @Field(() => Boolean, { description: 'Whether it was made in live mode.' })
  livemode: boolean;
  @Field(() => RequestApi, { description: 'The API that it was sent to.' })
  api: RequestApi;
  @Field(() => String, {
    description:
      'The root field of a GraphQL operation, or `several`; of a request to /v1 its method and route, such as ' +
      '`POST /v1/deposits`. `POST /graphql` for a document that is not valid.',
  })
  operation: string;
  @Field(() => Int, { description: 'The HTTP status of the answer.' })
  status: number;
  @Field(() => RequestOutcome, { description: 'Whether the answer has errors.' })
  outcome: RequestOutcome;
  @Field(() => [String], { description: 'The codes of the errors in the answer, each once; 10 at most.' })
  codes: string[];
  @Field(() => Int, { description: 'From the arrival of the request to the end of its answer, in milliseconds.' })
  durationMilliseconds: number;
}

export const RequestLogConnection = connectionOf('RequestLog', () => RequestLog);

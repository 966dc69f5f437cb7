import { type Audience, eventsFor } from './audience.js';
import type { CatalogueEntry, Examples } from './examples.js';
import type { Json } from './schemas.js';
import { pascal, wordsOf } from './wording.js';

/** All types of events, each with its example. */
export function eventCatalogue(examples: Examples['events'], audience?: Audience): CatalogueEntry[] {
  return eventsFor(audience).map((type) => ({ ...type, example: examples[type.type] ?? null }));
}

/** What webhook endpoints get, by the type of the event: the `webhooks` of the contract. */
export function webhooksOf(examples: Examples['events'], audience?: Audience): Json {
  const entries = eventCatalogue(examples, audience).map(({ type, object, when, modes, example }) => [
    type,
    {
      post: {
        operationId: `on${pascal(type.replace('.', '_'))}`,
        summary: wordsOf(type.replace('.', '_')).join(' '),
        description:
          when +
          (modes.length === 1 && !audience ? ` In ${modes[0]} mode alone.` : '') +
          ` The object is of kind \`${object}\`.`,
        requestBody: {
          description: 'The event, or the result of the query of the endpoint.',
          required: true,
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/Event' },
              ...(example !== null && { example }),
            },
          },
        },
        responses: {
          '204': { description: 'The event has arrived. Each status from 200 to 299 says so.' },
          '410': { description: 'The endpoint is gone; it gets no further events.' },
        },
      },
    },
  ]);
  return Object.fromEntries(entries) as Json;
}

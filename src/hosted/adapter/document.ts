import { z } from 'zod';
import { version } from '../../config/version.js';
import {
  type AdapterCall,
  adapterCalls,
  answerMilliseconds,
  bodyBytesMax,
  report,
  reportsPath,
  toleranceSeconds,
} from './protocol.js';

/** The protocol as an OpenAPI document, as committed in schema/acquirer.json. */
export function protocolText(): string {
  return `${JSON.stringify(protocolDocument(), null, 1)}\n`;
}

/** Where the document has its schemas. */
const place = '#/components/schemas/';

const info = {
  title: 'Tidegate: the protocol of acquirers',
  version,
  contact: { name: 'The operator of the gateway' },
  license: { name: 'MIT', identifier: 'MIT' },
  description:
    'What an adapter of an acquirer answers, and what it reports. Amounts are decimals as strings. An answer is ' +
    `JSON of at most ${bodyBytesMax} bytes, within ${answerMilliseconds / 1_000} seconds and without a redirect; ` +
    'anything else than 200, and 404 where a path has it, leaves the object as it is, and the gateway asks ' +
    'again. Objects may have further members, which are ignored.',
};

function protocolDocument() {
  const schemas: Record<string, unknown> = {};
  /** The schema of a declaration. Those with a name are in the components. */
  const schemaOf = (declared: z.ZodType): unknown => {
    // A schema with a name may come as a reference to its definition.
    const { $schema: _, $defs, ...schema } = z.toJSONSchema(declared, { io: 'input', reused: 'inline' }) as Json;
    for (const [name, definition] of Object.entries(($defs ?? {}) as Json)) schemas[name] = moved(definition);
    const { id } = declared.meta() ?? {};
    if (id === undefined || '$ref' in schema) return moved(schema);
    schemas[id] = moved(without(schema));
    return { $ref: `${place}${id}` };
  };
  const content = (declared: z.ZodType) => ({ 'application/json': { schema: schemaOf(declared) } });
  const paths: Record<string, Json> = {};
  const tags = new Set<string>();
  for (const [operationId, call] of Object.entries(adapterCalls) as [string, AdapterCall][]) {
    const [, name] = /\{(\w+)\}/.exec(call.path)!;
    const tag = call.path.split('/')[1]!;
    tags.add(tag);
    (paths[call.path] ??= {})[call.method.toLowerCase()] = {
      operationId,
      tags: [tag],
      summary: call.summary.split('. ')[0]!.replace(/\.$/, ''),
      description: call.summary,
      parameters: [
        { name, in: 'path', required: true, description: call.parameter, schema: { type: 'string', maxLength: 255 } },
      ],
      ...(call.body && { requestBody: { required: true, content: content(call.body) } }),
      responses: {
        200: { description: 'The state now.', content: content(call.answer) },
        401: { description: 'The bearer token is not the secret. Nothing was done.' },
        ...(call.missing && { 404: { description: call.missing } }),
      },
    };
  }
  return {
    openapi: '3.1.0',
    info,
    tags: [...tags].map((name) => ({ name, description: `Calls about ${name}.` })),
    servers: [{ url: 'https://adapter.example', description: 'ACQUIRER_URL, or TEST_ACQUIRER_URL.' }],
    security: [{ secret: [] }],
    paths,
    webhooks: { report: { post: reportOperation(content(report)) } },
    components: {
      securitySchemes: {
        secret: { type: 'http', scheme: 'bearer', description: 'ACQUIRER_SECRET, or TEST_ACQUIRER_SECRET.' },
      },
      schemas,
    },
  };
}

type Json = Record<string, unknown>;

function reportOperation(content: object) {
  return {
    operationId: 'report',
    summary: `A report of the adapter to the gateway, by POST ${reportsPath('{test or live}')}.`,
    description:
      'It is signed as Standard Webhooks describe, with the secret of the mode. The gateway takes it ' +
      `${toleranceSeconds} seconds before or after its time. Send a report again until the answer is 200, or one ` +
      'that says that it will never be taken. Reports are a shortcut: the gateway asks by itself for what it is not ' +
      'told.',
    security: [],
    parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
      ...{ name, in: 'header', required: true, schema: { type: 'string' } },
    })),
    requestBody: { required: true, content },
    responses: {
      200: { description: 'It is recorded, now or before. A report that contradicts an earlier one is kept apart.' },
      400: { description: 'The body is not a report, or too large. Nothing was stored.' },
      401: { description: 'The signature is missing, wrong or too old. Nothing was stored.' },
      402: { description: 'A dispute is of more than what is left of the attempt. Nothing was stored.' },
      404: { description: 'There is no such attempt, refund or dispute in this mode. Nothing was stored.' },
      409: {
        description:
          'The refund or dispute has ended otherwise, or the attempt has taken no money to dispute. Nothing was ' +
          'stored.',
      },
      503: {
        description:
          'It comes before what it is about is recorded, such as the decision of a dispute before its opening, or ' +
          'the service is busy. Send it again until it is taken.',
      },
    },
  };
}

/** A schema without its name. */
const without = ({ id: _, ...schema }: Json): Json => schema;

/** A schema whose references lead to the components of the document. */
function moved(schema: unknown): unknown {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', `"${place}`);
  return JSON.parse(text, (_, value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    'id' in value &&
    'description' in value &&
    typeof value.id === 'string'
      ? without(value as Json)
      : value,
  );
}

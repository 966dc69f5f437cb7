import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';

/**
 * The bytes of a file, with their number. They are no member of it themselves, so that what walks through inputs does
 * not walk through them.
 */
export class FileContent {
  readonly #bytes: Uint8Array;
  readonly length: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.length = bytes.length;
  }

  /** Begins to read the bytes, in pieces. */
  async *read(): AsyncGenerator<Uint8Array, void, void> {
    const size = 64 * 1024;
    for (let at = 0; at < this.#bytes.length; at += size) yield this.#bytes.subarray(at, at + size);
  }
}

/** The largest body of a request to the operator's graph: a day's file of a bank fits, and is read in a moment. */
export const operatorBodyBytesMax = 4 * 2 ** 20;

/** The content of a file in base64. Silent: all of it. */
export const FileContentScalar = new GraphQLScalarType<FileContent, string>({
  name: 'FileContent',
  description:
    'The content of a file in base64, which has four bytes for three. The body of a request to this graph has at ' +
    'most 4 MiB, into which a file of some 3,100,000 bytes fits. Import larger files with `tidegate bank import`.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc4648#section-4',
  serialize: () => {
    throw new GraphQLError('is never answered');
  },
  parseValue: parse,
  parseLiteral: (node) => parse(node.kind === Kind.STRING ? node.value : undefined),
});

function parse(value: unknown): FileContent {
  if (typeof value !== 'string' || value.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(value))
    throw new GraphQLError('must be the content of a file in base64');
  return new FileContent(Buffer.from(value, 'base64'));
}

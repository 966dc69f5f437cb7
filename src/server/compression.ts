import type { FastifyCompressOptions } from '@fastify/compress';

/**
 * What @fastify/compress does: it compresses answers of at least 1 KiB, with br where the client takes it and otherwise
 * with gzip. An event stream is left alone, since its parts would wait for each other; so are files, whose formats are compressed
 * already. Bodies of requests are never decompressed: a small one could become larger than any limit.
 * The payment pages opt out, see docs/security.md.
 */
export const compressionOptions: FastifyCompressOptions = {
  encodings: ['br', 'gzip'],
  threshold: 1_024,
  customTypes: /^text\/(?:html|css|javascript)|\/(?:[\w-]+\+)?json(?:;|$)/,
  globalDecompression: false,
};

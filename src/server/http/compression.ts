import type { FastifyCompressOptions } from '@fastify/compress';

/**
 * The options of @fastify/compress: it compresses answers of at least 1 KiB, with br when the client accepts it and
 * otherwise with gzip. It does not compress event streams, whose events it would delay, or files, whose formats are
 * already compressed. It never decompresses a request body, because a small body could grow beyond any limit.
 * The payment pages opt out, see docs/security.md.
 */
export const compressionOptions: FastifyCompressOptions = {
  encodings: ['br', 'gzip'],
  threshold: 1_024,
  customTypes: /^text\/(?:html|css|javascript)|\/(?:[\w-]+\+)?json(?:;|$)/,
  globalDecompression: false,
};

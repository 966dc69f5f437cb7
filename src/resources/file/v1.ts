import type { FileRow } from './table.js';
import { noun, value, valueOrNull } from '../shape.js';

/** Formats a file for /v1. Silent: all fields. */
export function fileV1(f: FileRow) {
  return {
    id: value(f.id),
    object: noun('file'),
    created: value(f.created),
    livemode: value(f.livemode),
    purpose: value(f.purpose),
    filename: value(f.filename),
    content_type: value(f.contentType),
    size: value(f.size),
    sha256: value(f.sha256),
    metadata: valueOrNull(f.metadata),
  };
}

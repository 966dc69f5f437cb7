import type { FileRow } from './table.js';
import { declareKeys } from '../shape.js';

/** Formats a file for /v1. Silent: all fields. */
export function fileV1(f: FileRow) {
  return {
    id: f.id,
    object: 'file',
    created: f.created,
    livemode: f.livemode,
    purpose: f.purpose,
    filename: f.filename,
    content_type: f.contentType,
    size: f.size,
    sha256: f.sha256,
    metadata: f.metadata,
  };
}

declareKeys(fileV1, {
  id: 'value',
  object: 'noun',
  created: 'value',
  livemode: 'value',
  purpose: 'value',
  filename: 'value',
  content_type: 'value',
  size: 'value',
  sha256: 'value',
  metadata: 'value or null',
});

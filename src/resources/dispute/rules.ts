import { type Problem, problem } from '../../errors/problems.js';
import type { RespondToDisputeInput } from './inputs.js';

/** The greatest length of the text of an answer, in characters. */
export const evidenceTextMax = 20_000;
/** The most files of an answer. */
const evidenceFilesMax = 10;

/** The limits of an answer, for the contract. */
export const evidenceLimits = {
  text: { maxLength: evidenceTextMax },
  file_ids: { maxItems: evidenceFilesMax },
} as const;

/** The problem of an answer that says nothing. */
export const noEvidence = problem('parameter_missing', 'dispute.text', {
  v1: 'Send text, file_ids or both.',
  graph: 'Send text, fileIds or both.',
});

/** The problems of an answer that names too many files or one of them twice. */
export function evidenceProblems({ fileIds }: Partial<RespondToDisputeInput>): Problem[] {
  const ids = fileIds ?? [];
  if (ids.length > evidenceFilesMax)
    return [problem('parameter_invalid', 'dispute.file_ids', `must be at most ${evidenceFilesMax} files`)];
  if (new Set(ids).size < ids.length)
    return [problem('parameter_invalid', 'dispute.file_ids', 'must name each file once')];
  return [];
}

import { listMembersFault, listMembersMax } from '../types/pagination.js';
import { lengthFault, textLengthMaxDefault } from '../types/text-length.js';
import { listNames, type Problem, problem, problemsMax, snake } from '../errors/problems.js';

/**
 * The problems of text and lists that no argument may contain, whatever its type: PostgreSQL refuses NUL, UTF-8 has no
 * lone surrogates, and the limits here hold for every text and list. Without this check, PostgreSQL's error would
 * become a 500.
 */
export function textProblems(value: unknown, path: string, lengthMax = textLengthMaxDefault): Problem[] {
  const problems: Problem[] = [];
  findText(value, () => path, false, { problems, lengthMax });
  return problems;
}

/** The problems of a text so far, and the greatest length of a text. */
interface TextCheck {
  problems: Problem[];
  lengthMax: number;
}

function findText(value: unknown, path: () => string, asWritten: boolean, check: TextCheck): void {
  const { problems, lengthMax } = check;
  if (problems.length >= problemsMax) return;
  if (typeof value === 'string') {
    const fault = textFault(value, lengthMax);
    if (fault !== undefined) problems.push(problem('parameter_invalid', path(), fault));
  } else if (Array.isArray(value)) {
    if (value.length > listMembersMax) problems.push(problem('parameter_invalid', path(), listMembersFault));
    else for (const [i, member] of value.entries()) findText(member, () => `${path()}[${i}]`, asWritten, check);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      // The client chooses the keys of metadata, so they keep their spelling, and are checked like any other text.
      const within = () => `${path()}.${asWritten ? name : (listNames.get(name) ?? snake(name))}`;
      if (asWritten) findText(name, within, true, check);
      findText(member, within, asWritten || name === 'metadata', check);
    }
  }
}

function textFault(value: string, lengthMax: number): string | undefined {
  if (value.includes('\u0000')) return 'contains the character NUL';
  if (!value.isWellFormed()) return 'must be well-formed Unicode';
  return lengthFault(value, lengthMax);
}

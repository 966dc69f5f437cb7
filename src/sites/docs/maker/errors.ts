import { html } from 'ghtml';
import { catalogue, type ProblemCode } from '../../../errors/catalogue.js';
import { graphCatalogue } from '../../../errors/graph-codes.js';
import { answerOf, type Contract, operationsOf, type Placed } from './contract.js';
import { codeBlock, inline, prose } from './markdown.js';
import type { Entry, Heading, Page } from './page.js';
import { operationPath } from './rest-operation.js';

/** The path of the catalogue of errors. The gateway names it with the code in its errors: `helpPath`. */
const errorsPath = '/docs/errors';

/** What the reference says when a code is of every operation, or of nearly every one. */
const manyOperations = 12;

/** The catalogue of error codes: what each means, and what a client does then, with a recorded example. */
export function errorsPage(contract: Contract): Page {
  const examples = examplesOf(contract);
  const operations = operationsOf(contract);
  const codes = Object.entries(catalogue) as [ProblemCode, (typeof catalogue)[ProblemCode]][];
  const statuses = [...new Set(codes.map(([, [status]]) => status))];
  const headings: Heading[] = [];
  const entries: Entry[] = [
    { address: errorsPath, title: 'Errors', place: 'Reference', text: 'error codes status catalogue docUrl help' },
  ];
  const sections = statuses.map((status) => {
    headings.push({ level: 2, id: `status-${status}`, text: `${status} ${statusNames[status] ?? ''}`.trim() });
    const own = codes.filter(([, entry]) => entry[0] === status);
    const parts = own.map(([code, [, message, meaning, remedy]]) => {
      headings.push({ level: 3, id: code, text: code });
      entries.push({
        address: `${errorsPath}#${code}`,
        title: code,
        place: `Errors › ${status}`,
        text: `${message} ${meaning} ${remedy}`,
      });
      return html`<section class="error" aria-labelledby="${code}"><h3 id="${code}">${code}
        <a class="anchor" href="#${code}" aria-hidden="true" tabindex="-1">#</a></h3>!${prose(meaning)}<p><strong>What
        to do.</strong> !${inline(remedy)}</p><p class="bounds">Status ${status} · in GraphQL
        <code>${code.toUpperCase()}</code>!${answeredBy(contract, operations, code)}</p>!${exampleOf(
          examples[code],
          code,
          status,
          message,
        )}</section>`;
    });
    return html`<h2 id="status-${status}">${status} ${statusNames[status] ?? ''}</h2>!${parts}`;
  });
  const ofGraph = graphSection(headings, entries);
  return {
    path: errorsPath,
    title: 'Errors',
    description: 'Each error code: its status, what it means, what to do, and an example.',
    body: html`!${prose(introduction)}!${sections}!${ofGraph}`,
    headings,
    entries,
    trail: [{ title: 'Documentation', path: '/docs' }],
  };
}

const introduction = `An answer that is not 2xx is an [error](/docs/reference/rest/objects/Error), which says \
everything that is wrong with the request: an entry for each problem, with a \`code\` for programs and a \`message\` \
for people. New codes may be added; judge an unknown one by its status.

On \`/v1\` the header \`Link\` leads to the entry of each code here: \
\`Link: </docs/errors#parameter_missing>; rel="help"\`. In GraphQL each error has the same address as \
\`extensions.docUrl\`, the code in capitals as \`extensions.code\`, and the entry of \`/v1\` as \`extensions.error\`. \
[The guide](/docs/rest#errors) says in which order problems are judged.`;

const statusNames: Record<number, string> = {
  400: 'Bad request',
  401: 'Unauthorized',
  402: 'Request failed',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  406: 'Not acceptable',
  408: 'Request timeout',
  409: 'Conflict',
  429: 'Too many requests',
  431: 'Headers too large',
  500: 'Internal error',
  503: 'Unavailable',
};

/** The recorded answers of the contract, by their code. */
function examplesOf({ components }: Contract): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const { content = {} } of Object.values(components.responses))
    for (const { examples = {} } of Object.values(content))
      for (const [code, { value }] of Object.entries(examples)) found[code] ??= value;
  return found;
}

function exampleOf(recorded: unknown, code: string, status: number, message: string): string {
  const general = { object: 'error', http_status_code: status, errors: [{ code, message, metadata: {} }] };
  return codeBlock(JSON.stringify(recorded ?? general, null, 2), 'json', `${status}`);
}

/** Links to the operations that have a code, where not every operation has it. */
function answeredBy(contract: Contract, operations: Placed[], code: string): string {
  const own = operations.filter(({ operation }) =>
    Object.values(operation.responses).some((answer) => answerOf(contract, answer)['x-codes']?.includes(code)),
  );
  if (own.length === 0 || own.length > manyOperations) return '';
  const links = own.map((placed) => html`<a href="${operationPath(placed)}">${placed.operation.summary}</a>`);
  return html` · answered by: !${links.join(', ')}`;
}

function graphSection(headings: Heading[], entries: Entry[]): string {
  headings.push({ level: 2, id: 'graphql', text: 'Codes of GraphQL alone' });
  const parts = Object.entries(graphCatalogue).map(([code, [status, meaning, remedy]]) => {
    headings.push({ level: 3, id: code, text: code });
    entries.push({
      address: `${errorsPath}#${code}`,
      title: code,
      place: 'Errors › GraphQL',
      text: `${meaning} ${remedy}`,
    });
    return html`<section class="error" aria-labelledby="${code}"><h3 id="${code}">${code}
      <a class="anchor" href="#${code}" aria-hidden="true" tabindex="-1">#</a></h3>!${prose(meaning)}<p><strong>What to
      do.</strong> !${inline(remedy)}</p><p class="bounds">Status ${status}</p></section>`;
  });
  return html`<h2 id="graphql">Codes of GraphQL alone</h2><p>These are judged before any resolver runs, so nothing was
    stored.</p>!${parts}`;
}

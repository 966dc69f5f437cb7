import { html } from 'ghtml';
import { answerOf, type Contract, lastOf, type Parameter, parameterOf, type Placed, wordsOf } from './contract.js';
import { helpPath, type ProblemCode } from '../../../errors/catalogue.js';
import { codeBlock, prose } from './markdown.js';
import type { Entry, Heading, Link, Page } from './page.js';
import { memberOf, membersOf, typeOf } from './schema-view.js';

/** The path of the page of an operation of /v1. */
export const operationPath = ({ tag, operation }: Placed): string =>
  `/docs/reference/rest/${tag}/${operation.operationId}`;

/** The page of one operation: what it needs, takes and answers, with an example and the form that tries it. */
export function operationPage(contract: Contract, placed: Placed, trail: Link[], graph: Map<string, string>): Page {
  const { method, path, operation, tag } = placed;
  const parameters = operation.parameters.map((parameter) => parameterOf(contract, parameter));
  const headings: Heading[] = [];
  const section = (text: string, content: string) => {
    if (content === '') return '';
    const id = text.toLowerCase().replaceAll(' ', '-');
    headings.push({ level: 2, id, text });
    return html`<h2 id="${id}">${text}</h2>!${content}`;
  };
  const field = graph.get(operation.operationId.replace(/By[A-Z]\w*$/, ''));
  const text = html`!${prose(operation.description)}!${
    field ? html`<p>The same in GraphQL: <a href="${field}"><code>${lastOf(field)}</code></a>.</p>` : ''
  }!${section('Parameters in the path', listOf(parameters, 'path'))}!${section(
    'Parameters',
    listOf(parameters, 'query'),
  )}!${section('Body', bodyOf(placed))}!${section('Headers', listOf(parameters, 'header'))}!${section(
    'Answer',
    answerText(contract, placed),
  )}!${section('Errors', errorsOf(contract, placed))}`;
  const call = codeBlock(curlOf(placed, parameters), 'bash', 'curl');
  const sample = html`<div class="sample">!${call}!${tryForm(placed, parameters)}!${exampleOf(placed)}</div>`;
  const entry: Entry = {
    address: operationPath(placed),
    title: operation.summary,
    place: `REST › ${method} ${path}`,
    text: `${operation.operationId} ${parameters.map(({ name }) => name).join(' ')} ${operation.description}`,
  };
  return {
    path: operationPath(placed),
    title: operation.summary,
    description: `${method} ${path}: ${operation.summary}.`,
    head: html`<h1>${operation.summary}</h1><p class="call"><b
      class="${method.toLowerCase()}">${method}</b><span>${path}</span></p>!${badges(placed)}`,
    body: html`<div class="columns"><div>!${text}</div>!${sample}</div>`,
    headings,
    entries: [entry],
    trail: [...trail, { title: wordsOf(tag), path: `/docs/reference/rest/${tag}` }],
    wide: true,
    tries: true,
  };
}

const callerNames: Record<string, string> = {
  platform: 'platforms',
  direct_user: 'direct users',
  connected_user: 'connected users',
};

/** Where the operation comes from, and who may call it. */
function badges({ operation }: Placed): string {
  const { access, callers, modes } = operation['x-permission'];
  const only = operation['x-edition']?.only;
  const items = [
    operation['x-extension'] ? html`<li class="strong">Extension</li>` : html`<li class="strong">Specification</li>`,
    only ? html`<li class="warn">Edition ${only} only</li>` : html`<li>Both editions</li>`,
    modes.length === 1 ? html`<li class="warn">Test mode only</li>` : '',
    html`<li>Permission: ${access}</li>`,
    html`<li>For ${callers.map((caller) => callerNames[caller] ?? caller).join(', ')}</li>`,
  ];
  return html`<ul class="badges" aria-label="Properties of the operation">!${items}</ul>`;
}

function listOf(parameters: Parameter[], place: Parameter['in']): string {
  const found = parameters.filter((parameter) => parameter.in === place);
  if (found.length === 0) return '';
  const items = found.map(({ name, schema, required, description, example, ...rest }) =>
    memberOf({
      name,
      schema,
      input: true,
      required: required === true,
      description,
      example,
      edition: rest['x-edition'],
    }),
  );
  return html`<ul class="members">!${items}</ul>`;
}

function bodyOf({ operation }: Placed): string {
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (!content) return '';
  const none = Object.keys({ ...content.schema.properties, ...content.schema.patternProperties }).length === 0;
  return html`<p class="bounds"><code>${type}</code></p>!${
    none ? '<p>The operation has no parameters in its body.</p>' : membersOf(content.schema, true)
  }`;
}

function answerText(contract: Contract, { operation }: Placed): string {
  const { content = {}, headers = {} } = answerOf(contract, operation.responses[200]!);
  const types = Object.entries(content);
  const schema = types[0]?.[1].schema;
  const object = schema?.$ref ? typeOf(schema) : types.map(([type]) => html`<code>${type}</code>`).join(', ');
  const list = schema?.$ref?.endsWith('List')
    ? ' A page of a list: <code>data</code> has its objects, <code>has_next</code> says whether there are more.'
    : '';
  const items = Object.entries(headers).map(
    ([name, { $ref }]) =>
      html`<li><div
        class="name"><code>${name}</code></div>!${prose(contract.components.headers[lastOf($ref)]!.description)}</li>`,
  );
  return html`<p>200: !${object}.!${list}</p><details><summary>Headers of the answer</summary><ul
    class="members">!${items}</ul></details>`;
}

function errorsOf(contract: Contract, { operation }: Placed): string {
  const rows = Object.entries(operation.responses)
    .map(([status, answer]) => [status, answerOf(contract, answer)['x-codes'] ?? []] as const)
    .filter(([, codes]) => codes.length > 0)
    .map(([status, codes]) => {
      const links = codes.map(
        (code) => html`<li><a href="${helpPath(code as ProblemCode)}"><code>${code}</code></a></li>`,
      );
      return html`<tr><td>${status}</td><td><ul>!${links}</ul></td></tr>`;
    });
  return html`<div class="table codes" tabindex="0" role="group"
    aria-label="Error codes"><table><thead><tr><th>Status</th><th>Codes</th></tr></thead>
    <tbody>!${rows}</tbody></table></div>`;
}

const requestExample = ({ operation }: Placed): unknown =>
  Object.values(operation.requestBody?.content ?? {})[0]?.example;

const isForm = ({ operation }: Placed): boolean =>
  Object.keys(operation.requestBody?.content ?? {})[0] === 'multipart/form-data';

/** The operation as a command: with the example of its path and body. */
function curlOf(placed: Placed, parameters: Parameter[]): string {
  const { method, path } = placed;
  const address = path.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    String(parameters.find((parameter) => parameter.name === name)?.example ?? whole),
  );
  const example = requestExample(placed);
  const lines = [`curl "$TIDEGATE${address}"`, `-H "Authorization: Bearer $KEY"`];
  if (method === 'POST') lines.push(`-H "Idempotency-Key: $(uuidgen)"`);
  if (isForm(placed)) lines.push('-F use=id_document', '-F file=@document.pdf');
  else if (method === 'POST')
    lines.push(
      `-H 'Content-Type: application/json'`,
      `-d '${JSON.stringify(example ?? {}, null, 2).replaceAll("'", String.raw`'\''`)}'`,
    );
  return lines.join(' \\\n  ');
}

function exampleOf({ operation }: Placed): string {
  const { content = {} } = operation.responses[200] as { content?: Record<string, { example?: unknown }> };
  const example = Object.values(content)[0]?.example;
  return example === undefined ? '' : codeBlock(JSON.stringify(example, null, 2), 'json', '200');
}

/** The form that sends the operation to the gateway. Without the script it is not shown. */
function tryForm(placed: Placed, parameters: Parameter[]): string {
  if (isForm(placed)) return '';
  const { method, path, operation } = placed;
  const sent = parameters.filter(
    (parameter) => parameter.name !== 'Idempotency-Key' && parameter.name !== 'If-None-Match',
  );
  const fields = sent.map(({ name, in: place, required, example, schema }) => {
    const hint = place === 'path' ? '' : String([example ?? schema.default ?? ''].flat()[0] ?? '');
    return html`<label>${name}<input name="${name}" data-in="${place}" autocomplete="off" spellcheck="false"
      placeholder="${hint}"!${required ? ' required' : ''}></label>`;
  });
  const optional = fields.filter((_, i) => !sent[i]!.required);
  const example = JSON.stringify(requestExample(placed) ?? {}, null, 2);
  return html`<form class="try" data-method="${method}" data-path="${path}" data-name="${operation.operationId}" hidden>
<h2>Try it</h2>
<p class="note">The request goes to this gateway. The test key stays in the memory of this page.</p>
<label>Test key<input name="key" type="password" autocomplete="off" spellcheck="false" placeholder="sk_test_…"
required></label>
!${fields.filter((_, i) => sent[i]!.required)}
!${method === 'POST' ? html`<label>Body<textarea name="body" spellcheck="false">${example}</textarea></label>` : ''}
!${optional.length > 0 ? html`<details><summary>Optional parameters</summary>!${optional}</details>` : ''}
<div class="actions"><button class="button first" type="submit">Send</button><output aria-live="polite"></output></div>
</form>`;
}

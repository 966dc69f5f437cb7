import sax from 'sax';
import { pathOf } from './markdown.js';
import type { Page } from './page.js';

/** An element of a page. */
interface Element {
  name: string;
  attributes: Record<string, unknown>;
  children: (Element | string)[];
}

/** The addresses of the pages in Markdown, by the paths of the pages. */
export const markdownAddresses = (guides: Iterable<string>, references: Page[]): Map<string, string> =>
  new Map([
    ...[...guides].map((file) => [pathOf(file), `/docs/${file}`] as const),
    ...references.map(({ path }) => [path, `${path}.md`] as const),
  ]);

/**
 * A page as Markdown, from its HTML, so that both say the same. Links lead to the Markdown of other pages. What needs
 * the script, such as the form that sends an operation, is left out.
 */
export function markdownOf({ title, head, body }: Page, addresses: Map<string, string>): string {
  const linkOf = (target: string) => {
    const [path = '', anchor] = target.split('#');
    return `${addresses.get(path) ?? path}${anchor === undefined ? '' : `#${anchor}`}`;
  };
  const blocks = blocksOf(parsed(`<main>${head ?? `<h1>${title}</h1>`}${body}</main>`), linkOf);
  return `${blocks.join('\n\n')}\n`;
}

/** The elements of HTML as the maker writes it. */
function parsed(html: string): Element {
  const root: Element = { name: 'main', attributes: {}, children: [] };
  const open = [root];
  const parser = sax.parser(false, { lowercase: true });
  parser.onopentag = ({ name, attributes }) => {
    const element = { name, attributes, children: [] };
    open.at(-1)!.children.push(element);
    open.push(element);
  };
  parser.onclosetag = () => void open.pop();
  parser.ontext = (text) => void open.at(-1)!.children.push(text);
  parser.onerror = (error) => {
    throw error;
  };
  parser.write(html).close();
  return root;
}

type Link = (target: string) => string;

const left = ({ name, attributes }: Element) => name === 'form' || attributes['aria-hidden'] === 'true';
const isText = (child: Element | string): child is string => typeof child === 'string';
const elementsOf = ({ children }: Element) => children.filter((child): child is Element => !isText(child));
const textOf = (child: Element | string): string => (isText(child) ? child : child.children.map(textOf).join(''));
const isBlock = (child: Element | string): child is Element =>
  !isText(child) && /^(main|section|div|p|h\d|ul|ol|li|details|summary|figure|table)$/.test(child.name);

/** The blocks of an element, each as lines. What stands between its blocks is a paragraph. */
function blocksOf(element: Element, link: Link): string[] {
  const blocks: string[] = [];
  let run: (Element | string)[] = [];
  const end = () => {
    blocks.push(inlineOf({ ...element, children: run }, link));
    run = [];
  };
  for (const child of element.children) {
    if (!isBlock(child)) run.push(child);
    else {
      end();
      blocks.push(...blockOf(child, link));
    }
  }
  end();
  return blocks.filter((block) => block !== '');
}

function blockOf(element: Element, link: Link): string[] {
  const { name, attributes } = element;
  if (/^h\d$/.test(name)) return [`${'#'.repeat(Number(name[1]))} ${inlineOf(element, link)}`];
  if (name === 'summary') return [`${inlineOf(element, link)}:`];
  if (name === 'figure') return codeOf(element);
  if (name === 'table') return [tableOf(element, link)];
  if (attributes.class === 'badges')
    return [
      elementsOf(element)
        .map((item) => inlineOf(item, link))
        .join(' · '),
    ];
  // The parts of such a line, such as a name and its type, are apart by the style alone.
  if (attributes.class === 'name') return [partsOf(element, link).join(' · ')];
  if (attributes.class === 'call') return [partsOf(element, link).join(' ')];
  if (name === 'ul' || name === 'ol')
    return [
      elementsOf(element)
        .map((item) => itemOf(item, link))
        .join('\n'),
    ];
  return blocksOf(element, link);
}

const partsOf = (element: Element, link: Link): string[] =>
  elementsOf(element).map((part) => inlineOf({ ...element, children: [part] }, link));

const itemOf = (item: Element, link: Link): string =>
  `- ${blocksOf(item, link)
    .join('\n\n')
    .replaceAll(/\n(?=[^\n])/g, '\n  ')}`;

function codeOf(figure: Element): string[] {
  const [caption, code] = elementsOf(figure) as [Element, Element];
  const name = textOf(caption).trim();
  const fence = `\`\`\`${String(code.attributes['data-language'])}\n${textOf(code)}\n\`\`\``;
  return name === '' ? [fence] : [`${name}:`, fence];
}

function tableOf(table: Element, link: Link): string {
  const rows = elementsOf(table)
    .flatMap(elementsOf)
    .map((row) => {
      const cells = elementsOf(row).map((cell) => {
        const items = elementsOf(cell).flatMap((child) => (child.name === 'ul' ? elementsOf(child) : []));
        const text = items.length > 0 ? items.map((item) => inlineOf(item, link)).join(', ') : inlineOf(cell, link);
        return text.replaceAll('|', String.raw`\|`);
      });
      return `| ${cells.join(' | ')} |`;
    });
  const columns = elementsOf(elementsOf(elementsOf(table)[0]!)[0]!);
  return [rows[0], `|${columns.map(() => '---|').join('')}`, ...rows.slice(1)].join('\n');
}

/** The text of an element in one line. */
const inlineOf = (element: Element, link: Link): string =>
  element.children
    .map((child) => spanOf(child, link))
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim();

function spanOf(child: Element | string, link: Link): string {
  if (isText(child)) return child.replaceAll(/[\\`*[\]<]/g, String.raw`\$&`);
  if (left(child)) return '';
  const inner = child.children.map((each) => spanOf(each, link)).join('');
  if (child.name === 'a') return `[${inner}](${link(String(child.attributes.href))})`;
  if (child.name === 'strong' || child.name === 'b') return `**${inner}**`;
  if (child.name === 'em') return `*${inner}*`;
  if (child.name !== 'code') return inner;
  // Markdown has no link within code.
  const linked = elementsOf(child)[0];
  const code = textOf(child).replaceAll(/\s+/g, ' ');
  const fence = code.includes('`') ? '`` ' : '`';
  const quoted = `${fence}${code}${[...fence].toReversed().join('')}`;
  return linked ? `[${quoted}](${link(String(linked.attributes.href))})` : quoted;
}

import { html } from 'ghtml';
import { wordsOf } from './contract.js';
import { codeBlock, prose } from './markdown.js';
import type { Entry, Heading, Page } from './page.js';
import { objectPath } from './schema-view.js';

/** A type of event, as `schema/events.json` declares it. */
export interface EventType {
  type: string;
  object: string;
  when: string;
  modes: string[];
  example: unknown;
}

const path = '/docs/events';

/** The catalogue of events: when each type happens, with an example. `objects` are those of /v1 that have a page. */
export function eventsPage(types: EventType[], objects: ReadonlySet<string>): Page {
  const headings: Heading[] = [];
  const entries: Entry[] = [
    { address: path, title: 'Events', place: 'Reference', text: 'event types catalogue webhooks payloads' },
  ];
  const names = [...new Set(types.map(({ object }) => object))].toSorted();
  const sections = names.map((object) => {
    headings.push({ level: 2, id: object, text: wordsOf(object) });
    const parts = types
      .filter((event) => event.object === object)
      .map((event) => {
        headings.push({ level: 3, id: event.type, text: event.type });
        entries.push({ address: `${path}#${event.type}`, title: event.type, place: 'Events', text: event.when });
        return partOf(event);
      });
    const name = object.split('_').map(capital).join('');
    const link = objects.has(name) ? html`<p>Its object is <a href="${objectPath(name)}">${name}</a>.</p>` : '';
    return html`<h2 id="${object}">${wordsOf(object)}</h2>!${link}!${parts}`;
  });
  return {
    path,
    title: 'Events',
    description: 'Each type of event: when it happens, in which modes, and an example.',
    body: html`!${prose(introduction)}!${sections}`,
    headings,
    entries,
    trail: [{ title: 'Documentation', path: '/docs' }],
  };
}

const introduction =
  'Everything that happens is an event. [Webhook endpoints](/docs/webhooks) get events by POST, and `GET ' +
  '/v1/events` lists them; both have the same body. An endpoint names the types that it gets, such as ' +
  '`deposit.completed`, `deposit.*` for all events of an object, or `*` for all. New types may be added.';

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

function partOf({ type, when, modes, example }: EventType): string {
  const mode = modes.length === 1 ? html` <span class="badge warn">${capital(modes[0]!)} mode only</span>` : '';
  return html`<section class="error" aria-labelledby="${type}"><h3 id="${type}">${type}
    <a class="anchor" href="#${type}" aria-hidden="true"
    tabindex="-1">#</a></h3>!${prose(when)}!${mode}<details><summary>Example of
    <code>${type}</code></summary>!${codeBlock(JSON.stringify(example, null, 2), 'json')}</details></section>`;
}

/** A query of the page: one of its tabs at the start, or one of the menu. */
export interface Example {
  query: string;
  variables?: string;
}

/** A file that is loaded with the editor. */
interface EditorFile {
  address: string;
  integrity: string;
}

/** A type of events that can be made to happen, and when it happens. */
export interface EventType {
  type: string;
  when: string;
}

/** What the gateway says to its explorer, in the page. */
export interface Setup {
  endpoint: string;
  tabs: Example[];
  tasks: Example[];
  /** The place in `tasks` of the subscription that is shown beside *Make it happen*. */
  subscription: number;
  /** Whether the session of the dashboard can be used. */
  dashboard: boolean;
  /** The editor, which is loaded when it is first needed. */
  editor: { script: EditorFile; style: EditorFile };
  workers: Record<string, string>;
  events: EventType[];
}

export const setup = JSON.parse(document.getElementById('setup')!.textContent) as Setup;

/** An element of the page, which the gateway has written. */
export const element = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T;

/** Whether the parts of the page are below each other, see narrow.css. */
const isNarrow = (): boolean => matchMedia('(max-width: 768px)').matches;

/** Scrolls to a part of the page whose parts are below each other. */
export function scrollTo(target: Element | null): void {
  if (!isNarrow()) return;
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
  target?.scrollIntoView({ block: 'start', behavior: still ? 'instant' : 'smooth' });
}

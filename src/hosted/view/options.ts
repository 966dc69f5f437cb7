import type { CardErrors } from '../card.js';

/** What a page is made with besides its session. */
export interface PageOptions {
  /** The path of the page. */
  path: string;
  /** The addresses of style and script, which change with their content. */
  assets: { css: string; js: string };
  /** A new name for the attempt that a form of this page begins. */
  attemptKey: string;
  /** Whether anybody takes money in this mode. */
  takesMoney: boolean;
  /** What was wrong with a form that was sent, and what of it may be shown again. */
  card?: { errors: CardErrors; expiry: string; name: string };
  vpaError?: string;
  /** Whether there were so many attempts that no other can begin. */
  capped?: boolean;
}

/** A heading of a page, for its list of contents and for the search. */
export interface Heading {
  level: 2 | 3;
  id: string;
  text: string;
}

/** What the search finds: a page, or a part of it. */
export interface Entry {
  /** The address, with the anchor of the part. */
  address: string;
  title: string;
  /** Where it belongs, such as `REST › deposits`. */
  place: string;
  /** Further words that find it. */
  text: string;
}

/** A page of the site before it gets the frame that all pages share. */
export interface Page {
  /** Its path, such as `/docs/rest`. */
  path: string;
  title: string;
  /** One sentence for search engines and links. */
  description: string;
  /** The HTML of the main part, without the title. */
  body: string;
  headings: Heading[];
  entries: Entry[];
  /** The pages above it, from the outermost one. */
  trail: Link[];
  /** The page has no list of contents beside it and uses the whole width. */
  wide?: boolean;
  /** The HTML of what stands above the title instead of a heading alone. */
  head?: string;
  /** Whether the script of "try it" is needed. */
  tries?: boolean;
}

/** A link of the navigation. */
export interface Link {
  title: string;
  path: string;
  /** A word before the title, such as the method of an operation. */
  mark?: string;
}

/** A link with links below it, which are shown on its own pages and theirs only. */
export type Branch = Link & { below?: Branch[] };

/** A part of the navigation. */
export interface Group {
  title: string;
  links: Branch[];
}

/** An anchor for a text, as GitHub makes it for a heading. */
export const anchorOf = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

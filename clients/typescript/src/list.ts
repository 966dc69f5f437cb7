/** One page of a list. */
export interface Page<T> {
  data: T[];
  /** Whether there is more in the direction of paging. */
  has_next: boolean;
}

/** Where a page begins: after an object of the list, or before one. */
export interface Position {
  starting_after?: string;
  ending_before?: string;
}

/**
 * A list, which is read page after page while you loop over it: `for await (const deposit of client.deposits())`. To
 * loop over newer objects than one that you know, begin with `ending_before`: the pages go on towards the newest.
 */
export class List<T extends { id: string }> implements AsyncIterable<T> {
  readonly #read: (position: Position) => Promise<Page<T>>;
  readonly #isUpwards: boolean;

  constructor(read: (position: Position) => Promise<Page<T>>, isUpwards: boolean) {
    this.#read = read;
    this.#isUpwards = isUpwards;
  }

  /** One page: the first, or the one at a position. */
  page(position: Position = {}): Promise<Page<T>> {
    return this.#read(position);
  }

  /** All pages, each read when the loop asks for it. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    for (let position: Position = {}; ; ) {
      const page = await this.#read(position);
      yield page;
      const end = page.data.at(this.#isUpwards ? 0 : -1);
      if (!page.has_next || !end) return;
      position = this.#isUpwards ? { ending_before: end.id } : { starting_after: end.id };
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const { data } of this.pages()) yield* data;
  }
}

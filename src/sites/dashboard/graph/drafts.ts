/** What the names of drafts in the storage of the tab begin with. */
const start = 'draft:';

/** The values of the fields of a form, by their names. */
export type Draft = Readonly<Record<string, string | boolean>>;

/** The draft of a form of an account; empty where none is kept. */
export function draftOf(name: string): Draft {
  try {
    return JSON.parse(sessionStorage.getItem(start + name) ?? '{}') as Draft;
  } catch {
    return {};
  }
}

/** Keeps a draft until the tab is closed. A storage that is full keeps none. */
export function keepDraft(name: string, draft: Draft): void {
  try {
    sessionStorage.setItem(start + name, JSON.stringify(draft));
  } catch {}
}

export const forgetDraft = (name: string): void => sessionStorage.removeItem(start + name);

/** Forgets all drafts of the tab, such as when the viewer signs out. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(start)) sessionStorage.removeItem(key);
}

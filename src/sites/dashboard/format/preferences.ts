import { useSyncExternalStore } from 'react';

/** What the viewer prefers; kept by the browser. */
export interface Preferences {
  theme: 'system' | 'light' | 'dark';
  /** A name of the IANA list, or empty for the browser's own zone. */
  timeZone: string;
}

const name = 'preferences';
const initial: Preferences = { theme: 'system', timeZone: '' };
const listeners = new Set<() => void>();
let current = read();

function read(): Preferences {
  try {
    return { ...initial, ...(JSON.parse(localStorage.getItem(name) ?? '{}') as Partial<Preferences>) };
  } catch {
    return initial;
  }
}

/** Applies the theme to the page. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = current.theme;
}

/** Changes some preferences, for this page and the next visits. */
export function prefer(changes: Partial<Preferences>): void {
  current = { ...current, ...changes };
  localStorage.setItem(name, JSON.stringify(current));
  applyTheme();
  for (const listener of listeners) listener();
}

/** The preferences of the viewer; a component that uses them is drawn again when they change. */
export function usePreferences(): Preferences {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}

/** The chosen time zone, or that of the device: in it days begin. */
export function useTimeZone(): string {
  return usePreferences().timeZone || deviceZone();
}

export const deviceZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

import fs from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';

/**
 * Takes pictures of pages in their states, for people to judge: a test cannot decide whether a page looks right.
 * `PICTURES=folder npx vitest run --config test/vitest.config.ts` writes a sheet for each state and theme, with screens
 * of all widths beside each other. `ONLY` is a pattern of the names of states, `WIDTHS` and `THEMES` choose some.
 */
const folder = process.env.PICTURES ?? '';
const only = new RegExp(process.env.ONLY ?? '');
const widths = (process.env.WIDTHS ?? '1440,1280,390,320').split(',').map(Number);
const themes = (process.env.THEMES ?? 'light,dark').split(',') as ('light' | 'dark')[];

type Prepare = (page: Page) => Promise<unknown>;
/** A state of a page, and what brings it about. */
export type State = readonly [name: string, prepare: Prepare];

/** States whose pages do not follow a change of the theme while they are open. */
const reopened = /^explorer/;
/** States of a phone with a touch screen, on which a picture of the whole page is taken without touch. */
const touched = /-touch/;

export const named = (prefix: string, states: readonly State[]): State[] =>
  states.map(([name, prepare]) => [`${prefix}-${name}`, prepare]);

/** Does one step after another. */
export const steps =
  (...all: Prepare[]): Prepare =>
  async (page) => {
    for (const step of all) await step(page);
  };

/** Waits until a page of the dashboard or the console is loading nothing. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main h1, main.alone').first().waitFor();
  await page.waitForFunction(() => document.querySelector('.skeleton') === null);
  await page.waitForTimeout(250);
}

export const press =
  (name: string | RegExp): Prepare =>
  async (page) => {
    await page.getByRole('button', { name }).first().click();
    await page.waitForTimeout(200);
  };

/** Opens the first object of a list. */
export async function first(page: Page): Promise<void> {
  await page.locator('.linked a').first().click();
  await page.locator('.back').waitFor();
  await settled(page);
}

/** Shows a page as it is printed. */
export const printed: Prepare = (page) => page.emulateMedia({ media: 'print' });

/** The browser with which the pictures are taken. */
export class Camera {
  readonly #contexts: BrowserContext[] = [];
  #table: Page | undefined;

  constructor(private readonly chromium: () => Browser) {
    fs.mkdirSync(folder, { recursive: true });
  }

  async page(options: object = {}): Promise<Page> {
    const context = await this.chromium().newContext({
      ...{ viewport: { width: 1440, height: 900 }, timezoneId: 'Asia/Kolkata', locale: 'en-IN' },
      ...{ reducedMotion: 'reduce', ...options },
    });
    this.#contexts.push(context);
    context.setDefaultTimeout(15_000);
    return context.newPage();
  }

  /** Takes the pictures of the states that are asked for, in a page that is opened for them. */
  async take(states: readonly State[], open: () => Promise<Page> = () => this.page()): Promise<void> {
    const wanted = states.filter(([name]) => only.test(name));
    if (wanted.length === 0) return;
    const page = await open();
    const failed: string[] = [];
    for (const [name, prepare] of wanted) {
      try {
        for (const theme of themes) {
          await page.emulateMedia({ colorScheme: theme });
          if (theme === themes[0] || reopened.test(name)) await prepare(page);
          await this.#shoot(page, `${name}-${theme}`);
        }
      } catch (error) {
        failed.push(`${name}: ${String(error).slice(0, 400)}`);
      }
      await page.emulateMedia({ media: 'screen' });
    }
    if (failed.length > 0) throw new Error(failed.join('\n'));
  }

  async close(): Promise<void> {
    await Promise.all(this.#contexts.map((context) => context.close()));
  }

  async #shoot(page: Page, name: string): Promise<void> {
    const touch = touched.test(name);
    const pictures: Buffer[] = [];
    for (const width of widths) {
      await page.setViewportSize({ width, height: touch ? 1300 : 900 });
      await page.waitForTimeout(120);
      pictures.push(await page.screenshot({ fullPage: !touch }));
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    this.#table ??= await this.page();
    const all = widths.reduce((sum, width) => sum + width + 16, 0);
    await this.#table.setViewportSize({ width: all, height: 900 });
    const images = pictures.map((picture) => `<img src="data:image/png;base64,${picture.toString('base64')}">`);
    await this.#table.setContent(
      `<body style="margin:0;display:flex;align-items:start;gap:16px;background:#888">${images.join('')}</body>`,
    );
    await this.#table.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
  }
}

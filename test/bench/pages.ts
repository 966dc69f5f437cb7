/*
 * What the pages of the dashboard, of the operator's console and the explorer cost a browser with a slow processor and
 * none of their files:
 *   npm run --silent build && npx tsx test/bench/pages.ts ORIGIN KEY [PAGE,PAGE]
 * ORIGIN is that of a gateway with the demo (`npm start`), KEY a test key that it printed, or an operator's key for the
 * pages of the console. Each round opens every page of the navigation once, or those that are named, with the processor
 * four times slower.
 */
import type { CDPSession, Page } from 'playwright-core';
import { browser } from '../support/browser.js';

const [origin = 'http://127.0.0.1:4000', key = '', only] = process.argv.slice(2);
const rounds = 5;
const slower = 4;
const explorer = 'Explorer';
const ofOperator = !key.startsWith('sk_');
const program = ofOperator ? '/operator' : '/dashboard';

interface Opened {
  /** Milliseconds from the navigation to the largest paint. */
  largest: number;
  /** The sum of all shifts of the layout. */
  shift: number;
  /** Bytes as they were transferred. */
  bytes: number;
}

/** Counts paints and shifts from the first moment of each document. */
const watch = () => {
  const seen = { largest: 0, shift: 0 };
  Object.assign(globalThis, { seen });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.largest = entry.startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.shift += (entry as unknown as { value: number }).value;
  }).observe({ type: 'layout-shift', buffered: true });
};

async function opened(page: Page, devtools: CDPSession, name: string, address: string): Promise<Opened> {
  await devtools.send('Network.clearBrowserCache');
  let bytes = 0;
  const count = ({ encodedDataLength }: { encodedDataLength: number }) => void (bytes += encodedDataLength);
  devtools.on('Network.loadingFinished', count);
  if (name === explorer) {
    // A fragment alone would not load the page again.
    await page.goto('about:blank');
    await page.goto(`${origin}/graphiql#key=${key}`);
    await page.locator('#key-owner', { hasText: 'mode' }).waitFor();
  } else {
    await page.goto(`${origin}${address}`);
    await page.locator('main h1').first().waitFor();
    await page.waitForFunction(() => document.querySelector('.skeleton') === null);
  }
  // The paints after the last answer, and what the last part moves.
  await page.waitForTimeout(1_500);
  devtools.off('Network.loadingFinished', count);
  return { ...(await page.evaluate(() => (globalThis as unknown as { seen: Omit<Opened, 'bytes'> }).seen)), bytes };
}

const sorted = (values: number[]) => values.toSorted((a, b) => a - b);
const chromium = await browser();
try {
  const page = await chromium.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(`${origin}${program}`);
  await page.getByLabel(ofOperator ? "Operator's key" : 'API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  await page.addInitScript(watch);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slower });
  const places = await page.locator('.side nav a, .side-end a[href]').evaluateAll((links) =>
    links.map((link) => {
      const text = [...link.childNodes].find(
        ({ nodeType, textContent }) => nodeType === Node.TEXT_NODE && textContent?.trim(),
      );
      return [text?.textContent?.trim() ?? '', link.getAttribute('href')!];
    }),
  );
  const all = new Map([
    ...places.map(([name, href]) => [name!, href!] as const),
    ...(ofOperator ? [] : ([[explorer, '']] as const)),
  ]);
  const pages = [...all].filter(
    ([name, href]) => (name === explorer || href.startsWith(program)) && (!only || only.split(',').includes(name)),
  );
  const found = new Map<string, Opened[]>(pages.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const [name, address] of pages) found.get(name)!.push(await opened(page, devtools, name, address));
  console.log('| Page | Largest paint, ms | Shift | KB |\n|---|---|---|---|');
  for (const [name, each] of found) {
    const times = sorted(each.map(({ largest }) => Math.round(largest)));
    const shift = Math.max(...each.map((one) => one.shift));
    const kilobytes = Math.round(sorted(each.map(({ bytes }) => bytes))[2]! / 1_000);
    console.log(`| ${name} | ${times[2]} (${times[0]} to ${times.at(-1)}) | ${shift.toFixed(3)} | ${kilobytes} |`);
  }
} finally {
  await chromium.close();
}

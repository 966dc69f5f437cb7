/*
 * What the pages of the dashboard and the explorer cost a browser with a slow processor and none of their files:
 *   npm run --silent build && npx tsx test/bench/pages.ts ORIGIN KEY [PAGE,PAGE]
 * ORIGIN is that of a gateway with the demo (`npm start`), KEY a test key that it printed. Each round opens every page
 * once, or those that are named, with the processor four times slower.
 */
import type { CDPSession, Page } from 'playwright-core';
import { browser } from '../support/browser.js';

const [origin = 'http://127.0.0.1:4000', key = '', only] = process.argv.slice(2);
const rounds = 5;
const slower = 4;
const explorer = 'Explorer';
const all = ['Home', explorer, 'Payments', 'Receivables', 'Payouts', 'Balance', 'Customers', 'Users'];
const names = only?.split(',') ?? all;

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

async function opened(page: Page, devtools: CDPSession, name: string): Promise<Opened> {
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
    await page.goto(`${origin}/dashboard/${name === 'Home' ? '' : name.toLowerCase()}`);
    await page.getByRole('heading', { name, level: 1 }).waitFor();
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
  await page.goto(`${origin}/dashboard`);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  await page.addInitScript(watch);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slower });
  const found = new Map<string, Opened[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const name of names) found.get(name)!.push(await opened(page, devtools, name));
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

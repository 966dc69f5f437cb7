import { browser } from './browser.js';
const b = await browser();
const p = await b.newPage();
p.on('console', (m) => console.log('C', m.text()));
p.on('pageerror', (e) => console.log('E', e.message));
p.on('requestfailed', (r) => console.log('F', r.url(), r.failure()?.errorText));
p.on('response', (r) => {
  if (r.status() >= 400) console.log(r.status(), r.url());
});
await p.goto(process.argv[2]!);
await p.waitForTimeout(6000);
console.log(p.url(), (await p.textContent('body'))!.slice(0, 300));
await p.screenshot({ path: '/dev/shm/a.png' });
await b.close();

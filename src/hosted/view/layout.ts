import { html } from 'ghtml';
import { icon } from './icons.js';
import type { PageOptions } from './options.js';

/** The text of a page with one message, and its link. */
export interface Message {
  title: string;
  text: string;
  /** The page of the checkout, whose state the script polls, and the words of the link to it. */
  way?: { path: string; words: string };
}

/** A page with one message and no checkout, for a wrong address or an error. */
export function messagePage(assets: PageOptions['assets'], { title, text, way }: Message): string {
  return layout({
    title,
    assets,
    main: html`<main class="single" !${way ? html`data-state="message" data-path="${way.path}"` : ''}>
      <div class="pay">
        <div class="result">
          <div class="tick none">!${icon('alert')}</div>
          <h1 tabindex="-1">${title}</h1>
          <p>${text}</p>
        </div>
        !${way ? html`<p class="leave"><a class="button" href="${way.path}">${way.words}</a></p>` : ''}
      </div>
    </main>`,
  });
}

interface Layout {
  title: string;
  assets: PageOptions['assets'];
  banner?: string | undefined;
  main: string;
}

/** The HTML document around the content of a page. */
export function layout({ title, assets, banner, main }: Layout): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets.css}">
<script src="${assets.js}" type="module"></script>
</head>
<body>
!${banner ? html`<aside class="banner" aria-label="Mode"><p>${banner}</p></aside>` : ''}
!${main}
<div id="live" class="unseen" role="status"></div>
<footer><p>!${icon('lock')}Secure payment page by Tidegate. Card numbers are never stored.</p></footer>
</body>
</html>`;
}

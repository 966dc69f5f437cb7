// What the pages do beyond links: search, copying of code, the choice of colours, the heading that is being read.
const here = new URL(import.meta.url);
const own = [...document.scripts].find(({ src }) => src === here.href);
const finder = document.querySelector('.finder');
const query = document.getElementById('site-query');
const found = document.getElementById('site-found');
const status = finder.querySelector('[role=status]');
const openButton = document.querySelector('[data-find]');

// Search: the library and the index are loaded when the dialog opens for the first time.
let index;
async function load() {
  const [{ default: MiniSearch }, response] = await Promise.all([
    import(own.dataset.finder),
    fetch(own.dataset.search),
  ]);
  if (!response.ok) throw new Error(String(response.status));
  const { options, index: made } = await response.json();
  return MiniSearch.loadJS(made, options);
}

/** Guides count more than the reference and the records. */
const boostDocument = (_, __, { rank }) => rank;

async function search() {
  const text = query.value.trim();
  let results = [];
  if (text !== '') {
    try {
      results = (await (index ??= load())).search(text, { boostDocument }).slice(0, 12);
    } catch {
      index = undefined;
      status.textContent = 'The search could not be loaded. Try again.';
      return;
    }
  }
  // The reader typed on while the index was loaded.
  if (text !== query.value.trim()) return;
  found.replaceChildren(...results.map(option));
  query.setAttribute('aria-expanded', String(results.length > 0));
  select(results.length > 0 ? 0 : -1);
  status.textContent =
    text === '' ? '' : results.length === 0 ? `Nothing was found for “${text}”.` : `${results.length} results`;
}

function option({ address, title, place }, i) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  const where = document.createElement('small');
  item.setAttribute('role', 'presentation');
  link.setAttribute('role', 'option');
  link.setAttribute('aria-selected', 'false');
  link.id = `result-${i}`;
  link.tabIndex = -1;
  link.href = address;
  link.textContent = title;
  where.textContent = place;
  link.append(where);
  item.append(link);
  return item;
}

const options = () => [...found.querySelectorAll('a')];
const selected = () => options().findIndex((each) => each.getAttribute('aria-selected') === 'true');
function select(place) {
  for (const [i, each] of options().entries()) each.setAttribute('aria-selected', String(i === place));
  if (place < 0) query.removeAttribute('aria-activedescendant');
  else {
    query.setAttribute('aria-activedescendant', `result-${place}`);
    options()[place].scrollIntoView({ block: 'nearest' });
  }
}

function openFinder() {
  finder.showModal();
  query.select();
  index ??= load().catch(() => (index = undefined));
}

openButton.hidden = false;
openButton.addEventListener('click', openFinder);
query.addEventListener('input', () => void search());
query.addEventListener('keydown', (event) => {
  const all = options();
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    const step = event.key === 'ArrowDown' ? 1 : -1;
    if (all.length > 0) select((selected() + step + all.length) % all.length);
  } else if (event.key === 'Enter') {
    event.preventDefault();
    all[selected()]?.click();
  }
});
found.addEventListener('click', () => finder.close());
finder.addEventListener('click', (event) => {
  if (event.target === finder) finder.close();
});
document.addEventListener('keydown', (event) => {
  const typing = event.target.closest('input, textarea, select, [contenteditable]');
  const asks = (event.key === '/' && !typing) || (event.key === 'k' && (event.metaKey || event.ctrlKey));
  if (!asks || finder.open) return;
  event.preventDefault();
  openFinder();
});

// Copying of code.
for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(block.querySelector('pre').textContent);
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Select it';
      getSelection().selectAllChildren(block.querySelector('pre'));
    }
    setTimeout(() => (button.textContent = 'Copy'), 1_500);
  });
  block.querySelector('figcaption').append(button);
}

// Colours: those of the system until the reader chooses others.
const theme = document.querySelector('[data-theme-button]');
const root = document.documentElement;
const dark = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : dark.matches);
function showTheme() {
  theme.textContent = isDark() ? '☀' : '☾';
  theme.setAttribute('aria-label', isDark() ? 'Use light colours' : 'Use dark colours');
}
theme.hidden = false;
theme.addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  try {
    localStorage.setItem('tidegate:theme', root.dataset.theme);
  } catch {
    // Without storage the choice holds for this page.
  }
  showTheme();
});
dark.addEventListener('change', showTheme);
showTheme();

// The navigation: behind a button on a small screen; elsewhere it is scrolled to the current page.
const side = document.querySelector('.side');
const menu = document.querySelector('.menu');
menu.addEventListener('click', () => {
  menu.setAttribute('aria-expanded', String(side.classList.toggle('open')));
});
const current = side.querySelector('[aria-current]');
if (current && matchMedia('(min-width: 52rem)').matches) side.scrollTop = current.offsetTop - side.clientHeight / 3;

// The contents beside the text mark the heading that is being read.
const links = new Map([...document.querySelectorAll('.contents a')].map((link) => [link.hash.slice(1), link]));
if (links.size > 0) {
  const headings = [...links.keys()].map((id) => document.getElementById(id)).filter(Boolean);
  const mark = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 120);
    const reading = passed.at(-1)?.id ?? headings[0]?.id;
    for (const [id, link] of links) link.classList.toggle('here', id === reading);
  };
  addEventListener('scroll', mark, { passive: true });
  mark();
}

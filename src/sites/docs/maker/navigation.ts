import type { Branch, Group } from './page.js';

/** The groups of the guides, by the names of their files. A page that no group has is in the last one. */
const guideGroups: [title: string, files: string[]][] = [
  ['Start', ['README.md', 'concepts.md', 'getting-started.md', 'dashboard.md']],
  [
    'Build',
    ['dashboards.md', 'rest.md', 'typescript.md', 'webhooks.md', 'streams.md', 'sandbox.md', 'payment-page.md'],
  ],
  ['Operate', ['operations.md', 'operator-console.md', 'cluster.md', 'security.md', 'performance.md']],
  [
    'Understand',
    [
      ...['architecture.md', 'glossary.md', 'decisions/README.md', 'measurements/README.md', 'specification.md'],
      ...['dependencies.md', 'acquirer.md', 'contributing.md'],
    ],
  ],
  ['More', ['changelog.md']],
];

/** The groups of the navigation: the guides by what they are for, and the reference after the second group. */
export function navigationOf(guides: Map<string, Branch>, reference: Branch[]): Group[] {
  const grouped = new Set(guideGroups.flatMap(([, files]) => files));
  const others = [...guides.keys()].filter((file) => !grouped.has(file));
  const groups = guideGroups.map(([title, files], i): Group => {
    const listed = i === guideGroups.length - 1 ? [...others, ...files] : files;
    const links = listed.flatMap((file) => guides.get(file) ?? []);
    return { title, links };
  });
  return [...groups.slice(0, 2), { title: 'Reference', links: reference }, ...groups.slice(2)];
}

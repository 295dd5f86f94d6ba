import { createHash } from 'node:crypto';
import type { DeedBody } from '#libs/crypto';
import {
  type BundleView,
  type DeedRow,
  escapeHtml,
  htmlOfPage,
  rowOf,
  UNPROVEN_NAMES,
  visible,
  whoText,
} from '#libs/evidence';

export interface HtmlFile {
  readonly name: string;
  readonly content: string;
}

const ROWS_PER_PAGE = 1_000;

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
.sub { color: light-dark(#555, #aaa); margin-top: .25rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: minmax(8rem, 12rem) 1fr; gap: .25rem 1rem; }
dt { color: light-dark(#555, #aaa); }
dd { margin: 0; overflow-wrap: anywhere; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; vertical-align: top; overflow-wrap: anywhere; }
tr { border-bottom: 1px solid light-dark(#ddd, #333); }
@media (max-width: 40rem) { dl { display: block; } dd { margin-bottom: .5rem; } }
`;

const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/**
 * A folder to be read in a browser: lists of a thousand deeds each, a page for each action and for each change. No script.
 * @param remark a sentence on the whole bundle, or null
 */
export function* htmlFolder(view: BundleView, title: string, remark: string | null): Generator<HtmlFile> {
  const rows = view.deeds.map((deed) => rowOf(view.evidence.names, deed));
  const noted = remark === null ? '' : `<p><strong>${escapeHtml(remark)}</strong></p>\n`;
  const pages = Math.max(1, Math.ceil(rows.length / ROWS_PER_PAGE));
  for (let page = 0; page < pages; page += 1) {
    const shown = rows.slice(page * ROWS_PER_PAGE, (page + 1) * ROWS_PER_PAGE);
    const list = indexOf(title, shown, page, pages);
    yield { name: indexName(page), content: document(title, `${noted}${list}`) };
  }
  const seen = new Set<string>();
  for (const deed of view.deeds) {
    const id = pageId(deed);
    if (seen.has(id)) continue;
    seen.add(id);
    const account = view.account(id);
    if (account === null) continue;
    const back = `<p><a href="${indexName(Math.floor(view.deeds.indexOf(deed) / ROWS_PER_PAGE))}">All deeds</a></p>`;
    yield { name: `${id}.html`, content: document(account.page.title, `${back}\n${htmlOfPage(account.page)}`) };
  }
}

const pageId = (deed: DeedBody): string => deed.action?.id ?? deed.id;

const indexName = (page: number): string => (page === 0 ? 'index.html' : `index-${page + 1}.html`);

const indexOf = (title: string, rows: readonly DeedRow[], page: number, pages: number): string =>
  [
    `<h1>${escapeHtml(title)}</h1>`,
    ...(pages === 1 ? [] : [`<p>${Array.from({ length: pages }, (_, at) => linkTo(at, page)).join(' ')}</p>`]),
    '<table><thead><tr><th>Seq</th><th>At</th><th>What</th><th>Who</th><th>Decided</th><th>Came of it</th><th>Witness</th></tr></thead><tbody>',
    ...rows.map(tableRow),
    '</tbody></table>',
    ...(rows.some(({ who }) => who !== null && who.name !== null && !who.isProven)
      ? [`<p class="sub">${escapeHtml(UNPROVEN_NAMES)}</p>`]
      : []),
  ].join('\n');

const linkTo = (at: number, page: number): string =>
  at === page ? `<strong>${at + 1}</strong>` : `<a href="${indexName(at)}">${at + 1}</a>`;

const tableRow = (row: DeedRow): string => {
  const { seq, at, action, deed, what, outcome, status, verdict } = row;
  const cells = [
    String(seq),
    at,
    `<a href="${action ?? deed}.html">${escapeHtml(visible(what))}</a>`,
    ...[whoText(row), outcome ?? '', status ?? '', verdict ?? ''].map(escapeHtml),
  ];
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
};

const document = (title: string, main: string): string =>
  [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title>`,
    `<style>${STYLE}</style>`,
    '</head>',
    `<body><main>\n${main}\n</main></body>`,
    '</html>',
    '',
  ].join('\n');

import { type DomainError, ERROR_CATALOGUE } from '#libs/domain/kernel';
import { nextPath } from '../people/next-path.js';
import { CONSOLE_HEADERS } from './console-headers.js';

export const HTML_CONTENT_TYPE = 'text/html; charset=utf-8';

/** An answer as a browser shows it. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What is asked for, as its request line says it. */
export interface AskedPage {
  readonly method: string;
  readonly target: string;
  readonly requestId: string;
}

/**
 * The answer to a request for a page that cannot be shown: who is not signed in is sent to /login and back afterwards, what
 * is not there has a page of constant bytes, and everything else one that says what to do.
 */
export const pageAnswerTo = (error: DomainError, { method, target, requestId }: AskedPage): PageAnswer => {
  if (ERROR_CATALOGUE[error.code].status === 401 && (method === 'GET' || method === 'HEAD')) return toSignIn(target);
  if (error.code === 'not_found') return pageOf(404, CONSOLE_NOT_FOUND);
  const answer = pageOf(error.status, errorPage(error, requestId));
  return error.status === 503 && method === 'GET' ? tryingAgain(answer) : answer;
};

/** Long enough for a start or a moment without a database, and for many windows that ask again. */
const TRY_AGAIN_AFTER_S = 5;

/** The browser asks for the same address again by itself: who was somewhere is there again once the service is. */
const tryingAgain = ({ headers, ...answer }: PageAnswer): PageAnswer => ({
  ...answer,
  headers: { ...headers, Refresh: String(TRY_AGAIN_AFTER_S) },
});

/** @param next the path and query that was asked for; dropped unless it is a page of the Console */
const toSignIn = (next: string): PageAnswer => {
  const wanted = nextPath(next);
  const location = wanted === null ? '/login' : `/login?next=${encodeURIComponent(wanted)}`;
  return { status: 302, headers: { ...CONSOLE_HEADERS, Location: location }, body: '' };
};

const pageOf = (status: number, body: string): PageAnswer => ({
  status,
  headers: { ...CONSOLE_HEADERS, 'Content-Type': HTML_CONTENT_TYPE },
  body,
});

const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - Agent Governance Service</title>
<link rel="icon" href="/auth/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/auth/assets/tokens.css">
<link rel="stylesheet" href="/auth/assets/auth.css">
</head>
<body>
<header>Agent Governance Service</header>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;

/** The same for every path: it says nothing of what was asked. */
const CONSOLE_NOT_FOUND = page(
  'There is no such page',
  `<p>The Console has no page at this address. It may be of another version, or not whole.</p>
<p><a class="button" href="/app">Go to the overview</a></p>`,
);

const errorPage = ({ code, message, status }: DomainError, requestId: string): string =>
  page(
    'The page cannot be shown',
    `<p>${escaped(message)}</p>${status === 503 ? '\n<p>This page tries again by itself every few seconds, until it can be shown.</p>' : ''}
<p class="note"><code>${code}</code> <code>${requestId}</code></p>
<p><a class="button" href="/app">Try the overview</a></p>`,
  );

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ESCAPES[character] as string);

import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { ERROR_CATALOGUE, type ErrorCode } from '#libs/domain/kernel';

/** Where a code is also used with another status than its own: the situation, as part of a sentence. */
const OTHER_STATUSES: Partial<Record<ErrorCode, readonly (readonly [status: number, when: string])[]>> = {
  validation_failed: [[422, 'for a header that says on whose behalf or in which session a call is made']],
  request_too_large: [[431, 'for a request line and headers that are too large']],
  timeout: [[408, 'for a request that did not arrive in time']],
};

const STYLE =
  'body{max-width:42rem;margin:3rem auto;padding:0 1rem;font:1rem/1.6 system-ui,sans-serif}' +
  'code{font-size:.95em}dt{font-weight:600}dd{margin:0 0 .75rem}li{margin:.25rem 0}';

/** Nothing is loaded and nothing runs: one style, named by its hash. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page that `error.doc_url` names: what the code means and what to do. */
export const errorPage = (code: ErrorCode): string => {
  const { type, status, message, retryable } = ERROR_CATALOGUE[code];
  const others = (OTHER_STATUSES[code] ?? []).map(([other, when]) => `; ${statusText(other)} ${when}`);
  return page(
    code,
    `<p><a href="../errors">All errors</a></p>
<h1><code>${code}</code></h1>
<p>${escaped(message)}</p>
<dl>
<dt>HTTP status</dt><dd>${statusText(status)}${others.join('')}</dd>
<dt><code>error.type</code></dt><dd><code>${type}</code></dd>
<dt>May the same request be sent again?</dt><dd>${retryable ? (OTHERWISE_AGAIN[code] ?? AGAIN) : NOT_AGAIN}</dd>
</dl>
<p><code>error.message</code> may be more exact than the words above, and <code>error.param</code> names the field, query
parameter or header at fault where there is a single one. The operator finds the request in the log by
<code>error.request_id</code>.</p>`,
  );
};

const AGAIN = 'Yes, after the seconds that <code>Retry-After</code> says.';
/** Where the same request would be answered with the same refusal. */
const OTHERWISE_AGAIN: Partial<Record<ErrorCode, string>> = {
  budget_exceeded:
    'Yes, after the seconds that <code>Retry-After</code> says, under a new <code>Idempotency-Key</code>: under the same one the answer stays this one.',
};
const NOT_AGAIN = 'Not as it is: the answer stays the same until the request, or what stands in its way, has changed.';

/** Every code, in alphabetic order. */
export const errorIndexPage = (): string => {
  const codes = (Object.keys(ERROR_CATALOGUE) as ErrorCode[]).sort();
  const items = codes.map((code) => {
    const { status, message } = ERROR_CATALOGUE[code];
    return `<li><a href="errors/${code}"><code>${code}</code></a> (${status}): ${escaped(message)}</li>`;
  });
  return page('errors', `<h1>Errors</h1>\n<ul>\n${items.join('\n')}\n</ul>`);
};

const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - Agent Governance Service</title>
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`;

const statusText = (status: number): string => `${status} ${STATUS_CODES[status] ?? ''}`.trim();

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ESCAPES[character] as string);

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE, type ErrorCode } from '#libs/domain/kernel';
import { clientOf } from '../../../../test/http/edge-client.js';
import { startEdge, type TestEdge } from '../../../../test/http/edge-harness.js';
import { ErrorPagesController } from './error-pages.controller.js';

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

let edge: TestEdge;
const { get } = clientOf(() => edge);

beforeAll(async () => {
  edge = await startEdge({ controllers: [ErrorPagesController], edge: { docsUrl: null } });
  edge.edge.isServedAt(edge.url);
});
afterAll(() => edge.close());

const pageAt = async (url: string): Promise<{ response: Response; html: string }> => {
  const response = await fetch(url);
  return { response, html: await response.text() };
};

describe('doc_url, where no setting names another place,', () => {
  it('leads to the entry of its code', async () => {
    const { error } = await get('/v1/nothing');
    expect(error['doc_url']).toBe(`${edge.url}/docs/errors/not_found`);
    const { response, html } = await pageAt(String(error['doc_url']));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(html).toContain('<h1><code>not_found</code></h1>');
  });

  it.each(CODES)('leads somewhere for %s, with its status, type and what to do', async (code) => {
    const { response, html } = await pageAt(`${edge.url}/docs/errors/${code}`);
    expect(response.status).toBe(200);
    const { status, type, message } = ERROR_CATALOGUE[code];
    const words = message.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    for (const said of [`<code>${code}</code>`, String(status), type, words]) expect(html).toContain(said);
  });

  it('follows SERVICE_DOCS_URL where it is set', async () => {
    const elsewhere = await startEdge({ controllers: [ErrorPagesController] });
    const { error } = await clientOf(() => elsewhere).get('/v1/nothing');
    expect(error['doc_url']).toBe('https://docs.example/ags/errors/not_found');
    await elsewhere.close();
  });
});

describe('the list of errors', () => {
  it('links every page', async () => {
    const url = `${edge.url}/docs/errors`;
    const { html } = await pageAt(url);
    const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, target]) => new URL(target as string, url).pathname);
    expect(links).toEqual(CODES.toSorted().map((code) => `/docs/errors/${code}`));
    const { html: entry } = await pageAt(`${edge.url}/docs/errors/conflict`);
    const [, back = ''] = /href="([^"]+)"/.exec(entry) ?? [];
    expect(new URL(back, `${url}/conflict`).pathname).toBe('/docs/errors');
  });
});

describe('an error page', () => {
  it('allows nothing to load or run but its own style', async () => {
    const { response, html } = await pageAt(`${edge.url}/docs/errors/conflict`);
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    const [, style = ''] = /<style>(.*)<\/style>/.exec(html) ?? [];
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(style))).toString('base64');
    expect(policy).toContain(`'sha256-${digest}'`);
    expect(html).not.toContain('<script');
  });

  it.each(['toString', '__proto__', '<script>', 'not_founds'])('of %s is not there', async (code) => {
    const { status, error } = await get(`/docs/errors/${encodeURIComponent(code)}`);
    expect([status, error['code'], error['message']]).toEqual([
      404,
      'not_found',
      'There is no error with this code. GET /docs/errors lists all of them.',
    ]);
  });
});

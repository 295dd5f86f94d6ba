import { describe, expect, it, vi } from 'vitest';

import { httpAnswer, jsonAnswer, type RawAnswer, startRawUpstream } from '../../../../../test/support/raw-upstream.js';
import { ADDRESSES, SPELLED, spellingsOf } from '../../../../../test/support/forbidden-addresses.js';
import { bearer, cleanups, cleanUpAfterEach, given } from './testing/given-upstream.js';

cleanUpAfterEach();

describe('REST driver: redirects (rule REST-11)', () => {
  const hops =
    (count: number, status = 302): RawAnswer =>
    ({ index }) =>
      index < count ? httpAnswer(status, '', { Location: `/v1/hop/${index + 1}` }) : jsonAnswer(200, { hop: index });
  const sameHost = { config: { redirects: 'same_host', auth: { kind: 'bearer' } }, credential: bearer };

  it.each([301, 302, 303, 307, 308])(
    'a read follows a %i on the same host, credential and question included',
    async (status) => {
      const { send, server } = await given(hops(3, status), sameHost);
      const mayStillSend = vi.fn(() => Promise.resolve(null));
      expect(await send('list', {}, { mayStillSend })).toMatchObject({
        status: 'succeeded',
        result: { body: { hop: 3 } },
      });
      expect(server.requests.map(({ head }) => head.split(' ')[1])).toEqual([
        '/v1/users',
        '/v1/hop/1',
        '/v1/hop/2',
        '/v1/hop/3',
      ]);
      expect(server.requests.every(({ head }) => head.includes('Bearer canary'))).toBe(true);
      expect(mayStillSend).toHaveBeenCalledTimes(4);
    },
  );

  it('the fourth hop ends it', async () => {
    const { send, server } = await given(hops(4), sameHost);
    expect(await send('list')).toMatchObject({
      status: 'failed',
      errorCode: 'upstream_error',
      result: { status: 302 },
    });
    expect(server.requests).toHaveLength(4);
  });

  it.each(['create', 'pay', 'put', 'remove'])('the write %s never follows, and may have run', async (tool) => {
    const { send, server } = await given(hops(1), sameHost);
    expect(await send(tool)).toMatchObject({ status: 'unknown', errorCode: 'upstream_error', result: { status: 302 } });
    expect(server.requests).toHaveLength(1);
  });

  it('with redirects none a read does not follow either', async () => {
    const { send, server } = await given(hops(1));
    expect(await send('list')).toMatchObject({
      status: 'failed',
      errorCode: 'upstream_error',
      result: { status: 302, headers: { location: '/v1/hop/1' } },
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    'http://127.0.0.1:CANARY/',
    'http://upstream.example:CANARY/',
    'https://upstream.example:PORT/',
    '//upstream.example:CANARY/x',
    'http://u:p@upstream.example:PORT/',
    'http://169.254.169.254/latest',
    'http:\\\\127.0.0.1:CANARY\\v1\\x',
    // Names that only networks inside know (rule EGRESS-3).
    'http://localhost:CANARY/',
    '//a.localhost:CANARY/v1/x',
    'http://metadata.google.internal/',
    'http://db.internal:CANARY/',
    'http://printer.local:CANARY/',
    'http://redis:CANARY/',
    // Other schemes than the connector's.
    'ftp://upstream.example/',
    'ws://upstream.example:PORT/v1/x',
    'gopher://127.0.0.1:CANARY/_x',
    'file:///etc/passwd',
    'unix:/run/docker.sock',
    'data:application/json,{}',
  ])('%s is blocked and gets no byte', async (location) => {
    const canary = await startRawUpstream(() => jsonAnswer(200, {}));
    cleanups.push(() => canary.close());
    const { send, server } = await given(
      () =>
        httpAnswer(302, '', {
          Location: location.replace('CANARY', String(canary.port)).replace('PORT', String(server.port)),
        }),
      sameHost,
    );
    expect(await send('list')).toMatchObject({ status: 'failed', errorCode: 'destination_blocked', hasSent: true });
    expect([canary.connections, server.requests.length]).toEqual([0, 1]);
  });

  it('no forbidden address is followed, however written, at the upstream’s own port or another (rules EGRESS-2 and EGRESS-4)', async () => {
    const canary = await startRawUpstream(() => jsonAnswer(200, {}));
    cleanups.push(() => canary.close());
    let location = '';
    const { send, server } = await given(() => httpAnswer(302, '', { Location: location }), sameHost);
    const literals = ADDRESSES.map((address) => (address.includes(':') ? `[${address}]` : address));
    // A header carries no letters beyond Latin-1; the full-width spellings travel percent-encoded.
    const hosts = [...literals, ...SPELLED.flatMap(spellingsOf).map((host) => host.replace(/[^ -~]+/g, encodeURI))];
    for (const [index, host] of hosts.entries()) {
      location = `http://${host}:${index % 2 ? server.port : canary.port}/v1/x`;
      expect([location, await send('list')]).toMatchObject([
        location,
        { status: 'failed', errorCode: 'destination_blocked', hasSent: true },
      ]);
    }
    expect([canary.connections, canary.receivedBytes, server.requests.length]).toEqual([0, 0, hosts.length]);
  });

  it.each([[['::1']], [['127.0.0.1', '::1']]])(
    'a hop on the same host is judged by what its name resolves to by then: %j (rule EGRESS-1)',
    async (later) => {
      const questions = [['127.0.0.1'], later];
      const { send, server } = await given(
        // Each hop dials anew: a kept connection leads to the address that was judged.
        () => httpAnswer(302, '', { Location: '/v1/x', Connection: 'close' }),
        {
          ...sameHost,
          settings: { allowPrivate: false, allow: ['127.0.0.1', 'upstream.example'] },
          resolve: () => Promise.resolve(questions.shift() ?? []),
        },
      );
      const canary = await startRawUpstream(() => jsonAnswer(200, {}), undefined, { port: server.port, host: '::1' });
      cleanups.push(() => canary.close());
      expect(await send('list')).toMatchObject({ status: 'failed', errorCode: 'destination_blocked', hasSent: true });
      expect(questions).toEqual([]);
      expect([server.requests.length, canary.connections, canary.receivedBytes]).toEqual([1, 0, 0]);
    },
  );

  it.each([
    '/admin/secrets',
    '/v1-admin',
    '/v1/../admin',
    '../../admin',
    '/v1/%2e%2e/admin',
    '/v1/.%2E/admin',
    '/v1\\..\\admin',
    '/v1/users/..%2f..%2fadmin',
    '/v1/users/..%5c..%5cadmin',
    '/v1/%252e%252e/admin',
    '/v1/..;/..;x=1/admin',
    '/v1//admin',
    '//upstream.example:PORT//v1/users',
    '/v1/users%00.json',
    '/',
  ])('%s leaves the allowed prefixes or could be read so: it is blocked and gets no byte', async (location) => {
    const { send, server } = await given(
      ({ index }) =>
        index === 0
          ? httpAnswer(302, '', { Location: location.replace('PORT', String(server.port)) })
          : jsonAnswer(200, { secret: 'of the admin' }),
      sameHost,
    );
    expect(await send('get', { id: 'r' })).toMatchObject({
      status: 'failed',
      errorCode: 'destination_blocked',
      result: { status: 302 },
      hasSent: true,
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['/api/v1/x', ['/api/v1/users', '/api/v1/x']],
    ['/v1/x', ['/api/v1/users']],
    ['/api/admin', ['/api/v1/users']],
    ['/apiary/v1/x', ['/api/v1/users']],
  ])('the prefixes lie below the path of base_url: %s', async (location, paths) => {
    const { send, server } = await given(
      ({ index }) => (index === 0 ? httpAnswer(302, '', { Location: location }) : jsonAnswer(200, {})),
      { ...sameHost, basePath: '/api/' },
    );
    await send('list');
    expect(server.requests.map(({ head }) => head.split(' ')[1])).toEqual(paths);
  });

  it.each(['/v1', '/v1/', 'x?next=../admin', '/v1/a%20b/%C3%A9', '/v1/users/../x'])(
    '%s stays under a prefix and is followed',
    async (location) => {
      const { send, server } = await given(
        ({ index }) => (index === 0 ? httpAnswer(302, '', { Location: location }) : jsonAnswer(200, {})),
        sameHost,
      );
      expect(await send('list')).toMatchObject({ status: 'succeeded' });
      expect(server.requests).toHaveLength(2);
    },
  );

  it('a Stop between hops ends it with its code', async () => {
    const { send, server } = await given(hops(3), sameHost);
    const mayStillSend = vi.fn(() =>
      Promise.resolve(mayStillSend.mock.calls.length > 1 ? ('org_stopped' as const) : null),
    );
    expect(await send('list', {}, { mayStillSend })).toMatchObject({
      status: 'failed',
      errorCode: 'org_stopped',
      hasSent: true,
    });
    expect(server.requests).toHaveLength(1);
  });
});

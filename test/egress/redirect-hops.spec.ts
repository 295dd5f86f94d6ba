import { describe, expect, it } from 'vitest';

import { EgressFailure } from '#libs/infra/egress';

import {
  bearer,
  cleanups,
  cleanUpAfterEach,
  given,
} from '../../libs/infra/src/connectors/rest/testing/given-upstream.js';
import {
  cleanUpAfterEach as closeDoorsAfterEach,
  doorOf,
  requestTo,
  upstream,
} from '../../libs/infra/src/egress/testing/given-door.js';
import { httpAnswer, jsonAnswer, type RawUpstream, startRawUpstream } from '../support/raw-upstream.js';

cleanUpAfterEach();
closeDoorsAfterEach();

/** At the port of the upstream, and at an address that the connector's name may come to lead to. */
const canaryBeside = async ({ port }: RawUpstream): Promise<RawUpstream> => {
  const canary = await startRawUpstream(() => jsonAnswer(200, {}), undefined, { port, host: '::1' });
  cleanups.push(() => canary.close());
  return canary;
};

describe('a hop to the same host is judged by what its name resolves to by then (rules EGRESS-1 and REST-11)', () => {
  /** The name at every port, and the address of the upstream: only the other address is wrong. */
  const LISTED = ['upstream.example', '127.0.0.1'];
  const hop = async (later: readonly string[], allow = LISTED) => {
    const questions = [['127.0.0.1'], later];
    const { send, server } = await given(
      // Each hop dials anew: a kept connection leads to the address that was judged.
      ({ index }) =>
        index === 0 ? httpAnswer(302, '', { Location: '/v1/x', Connection: 'close' }) : jsonAnswer(200, {}),
      {
        config: { redirects: 'same_host', auth: { kind: 'bearer' } },
        credential: bearer,
        settings: { allowPrivate: false, allow },
        resolve: () => Promise.resolve(questions.shift() ?? []),
      },
    );
    const canary = await canaryBeside(server);
    const { status, errorCode } = await send('list');
    return {
      outcome: [status, errorCode],
      unasked: questions.length,
      upstream: server.requests.length,
      canary: [canary.connections, canary.receivedBytes],
    };
  };

  it.each([[['::1']], [['::1', '127.0.0.1']], [['127.0.0.1', '::1']], [['127.0.0.1', '93.184.216.34', '::1']]])(
    '%j: nobody is dialled',
    async (later) =>
      expect(await hop(later)).toEqual({
        outcome: ['failed', 'destination_blocked'],
        unasked: 0,
        upstream: 1,
        canary: [0, 0],
      }),
  );

  it('the same hop reaches the canary where its address is listed', async () =>
    expect(await hop(['::1'], [...LISTED, '::1'])).toEqual({
      outcome: ['succeeded', null],
      unasked: 0,
      upstream: 1,
      canary: [1, expect.any(Number)],
    }));

  it('and the upstream again where it has not moved', async () =>
    expect(await hop(['127.0.0.1'])).toMatchObject({ outcome: ['succeeded', null], upstream: 2, canary: [0, 0] }));
});

describe('a redirect that leads to another host', () => {
  it('is an answer to the door, and whoever knocks there is judged anew (rule EGRESS-1)', async () => {
    let location = '';
    const server = await upstream(() => httpAnswer(302, '', { Location: location }));
    const canary = await canaryBeside(server);
    location = `http://inner.example:${canary.port}/v1/x`;
    const settings = { allowPrivate: false, allow: ['*.example', '127.0.0.1'] };
    const door = doorOf(settings, (host) => Promise.resolve([host === 'inner.example' ? '::1' : '127.0.0.1']));
    const answer = await door.request(requestTo(server.port));
    expect([answer.status, answer.headers.find(([name]) => name === 'location')?.[1]]).toEqual([302, location]);
    const knocked = await door.request(requestTo(canary.port, { origin: new URL(location).origin })).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof EgressFailure ? error.reason : error),
    );
    expect([knocked, canary.connections, canary.receivedBytes]).toEqual(['blocked', 0, 0]);
  });
});

import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { beforeEach, describe, expect, it } from 'vitest';
import { Exchange } from '../../apps/api/src/http/exchange.js';
import { FAILURE_BURST } from '../../apps/api/src/http/failed-key-limiter.js';
import { RequestContext } from '../../apps/api/src/http/parameters.js';
import { Route } from '../../apps/api/src/http/route.decorator.js';
import { deferred } from '../support/deferred.js';
import { bearer, clientOf, eventually } from './edge-client.js';
import { AGENT, startEdge, type TestEdge } from './edge-harness.js';
import { RawConnection } from './raw-http.js';
import { SampleController, SubmitShape } from './sample.controllers.js';

const SUBMIT = '{"tool":"crm.get","args":{}}';
const ACTS = {
  auth: 'agent_key',
  since: '2026-10-01',
  idempotency: 'gate',
  stop: 'recorded',
  confirms: 'handler',
} as const;

/** Handlers that the samples of the service's own routes do not show. */
@Controller('v1')
class ConfirmingController {
  @Post('confirmed')
  @HttpCode(200)
  @Route(ACTS)
  confirmed(@Body() body: SubmitShape, @RequestContext() exchange: Exchange) {
    exchange.callerWasConfirmed();
    return { tool: body.tool };
  }

  @Post('defect')
  @Route(ACTS)
  defect(@Body() body: SubmitShape): never {
    throw new TypeError(`a defect at ${body.tool}`);
  }

  @Get('judged-twice')
  @Route({ auth: 'agent_key', since: '2026-10-01' })
  async judgedTwice(@RequestContext() exchange: Exchange) {
    await exchange.stillAllowed();
    return {};
  }
}

let edge: TestEdge;
const { get, post } = clientOf(() => edge);

beforeEach(async () => {
  edge = await startEdge({ controllers: [SampleController, ConfirmingController] });
  SampleController.ran = [];
  return () => edge.close();
});

describe('a caller who is judged once more long after the door', () => {
  it('costs its address no failed attempt', async () => {
    edge.clock.stop();
    const authenticate = edge.authenticator.authenticate.bind(edge.authenticator);
    edge.authenticator.authenticate = async (key, demands) => {
      const principal = await authenticate(key, demands);
      if (key === 'agent') edge.authenticator.revoked.add('agent');
      return principal;
    };
    for (let count = 0; count < FAILURE_BURST; count += 1) {
      edge.authenticator.revoked.clear();
      expect((await get('/v1/judged-twice', bearer('agent'))).error['code']).toBe('api_key_revoked');
    }
    expect((await get('/v1/actions', bearer('neighbour'))).status).toBe(200);
  });
});

describe('an agent who is let in by what this process remembers', () => {
  const submit = (body: string, headers: Record<string, string> = {}) =>
    post('/v1/actions', body, { ...bearer('agent'), ...headers });
  beforeEach(() => {
    edge.authenticator.remembered.set('agent', 'agent');
  });

  it('is let in without a question, and answered after one where the handler left it at that', async () => {
    const { status, json } = await submit(SUBMIT);
    expect([status, json?.['caller'], SampleController.ran]).toEqual([200, 'agent', ['submit']]);
    expect(edge.authenticator.asked).toEqual(['agent']);
  });

  it('is asked for on every other route', async () => {
    expect((await get('/v1/actions', bearer('agent'))).status).toBe(200);
    expect(edge.authenticator.asked).toEqual(['agent']);
    edge.authenticator.revoked.add('agent');
    expect((await get('/v1/actions', bearer('agent'))).error['code']).toBe('api_key_revoked');
  });

  const FAULTS: [string, string, Record<string, string>, string][] = [
    ['is well', SUBMIT, {}, ''],
    ['is no JSON', '{', {}, 'invalid_json'],
    ['has the wrong shape', '{"tool":5}', {}, 'validation_failed'],
    ['has a malformed header', SUBMIT, { 'Idempotency-Key': 'é' }, 'idempotency_key_invalid'],
    ['asks for an unknown version', SUBMIT, { 'Service-Version': '1999-01-01' }, 'api_version_invalid'],
  ];

  it.each(FAULTS)('is told of a revocation before anything else where the request %s', async (_what, body, headers) => {
    edge.authenticator.revoked.add('agent');
    const { status, error } = await submit(body, headers);
    expect([status, error['code']]).toEqual([401, 'api_key_revoked']);
  });

  it.each(FAULTS.slice(1))('is told what it must mend where the request %s', async (_what, body, headers, code) => {
    const { error } = await submit(body, headers);
    expect(error['code']).toBe(code);
    expect([edge.authenticator.asked, SampleController.ran]).toEqual([['agent'], []]);
  });

  it('is asked for where the remembered scopes are not enough', async () => {
    edge.authenticator.remembered.set('agent', 'reader');
    expect((await submit(SUBMIT)).status).toBe(200);
    edge.authenticator.remembered.set('reader', 'agent');
    const { status, error } = await post('/v1/actions', SUBMIT, bearer('reader'));
    expect([status, error['code']]).toEqual([403, 'insufficient_scope']);
  });

  it('whom the log has confirmed is not held up by what others at its address do', async () => {
    edge.clock.stop();
    expect((await post('/v1/confirmed', SUBMIT, bearer('agent'))).status).toBe(200);
    expect(edge.authenticator.asked).toEqual([]);
    for (let count = 0; count < FAILURE_BURST; count += 1) await get('/v1/actions', bearer(`bad${count}`));
    expect((await get('/v1/actions', bearer('neighbour'))).status).toBe(429);
    expect((await post('/v1/confirmed', SUBMIT, bearer('agent'))).status).toBe(200);
  });

  it('is not told to go on with its body once it was revoked', async () => {
    edge.authenticator.revoked.add('agent');
    const connection = await RawConnection.open(edge.port);
    connection.send(
      'POST /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer agent\r\nContent-Type: application/json\r\n' +
        `Content-Length: ${SUBMIT.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    expect((await connection.answer()).status).toBe(401);
    connection.close();
  });

  it('hides no defect from the log by what it is told', async () => {
    edge.authenticator.revoked.add('agent');
    expect((await post('/v1/defect', SUBMIT, bearer('agent'))).error['code']).toBe('api_key_revoked');
    expect(edge.lines.filter(({ message }) => message === 'internal error')).toHaveLength(1);
  });

  it('stands in the access line of a request that it gave up while it was asked for', async () => {
    const [asked, answered] = [deferred(), deferred()];
    const authenticate = edge.authenticator.authenticate.bind(edge.authenticator);
    edge.authenticator.authenticate = async (key, demands) => {
      if (!demands.mayRemember) {
        asked.resolve();
        await answered.promise;
      }
      return authenticate(key, demands);
    };
    const connection = await RawConnection.open(edge.port);
    connection.send(
      'POST /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer agent\r\nContent-Type: application/json\r\n' +
        'Content-Length: 1\r\n\r\n{',
    );
    await asked.promise;
    connection.close();
    await eventually(() => edge.accessLines()).toMatchObject([{ status: 499, agent_id: AGENT }]);
    answered.resolve();
  });

  it('counts as failed attempts of its address once it was revoked', async () => {
    edge.authenticator.revoked.add('agent');
    for (let call = 0; call < FAILURE_BURST; call += 1) await submit(SUBMIT);
    const { status, error } = await submit(SUBMIT);
    expect([status, error['code']]).toEqual([429, 'rate_limited']);
  });
});

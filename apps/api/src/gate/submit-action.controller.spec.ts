import { CommandBus } from '@nestjs/cqrs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GateKernel, MustAsk, type SubmitAction } from '#libs/domain/gate';
import { DomainError, StoreUnavailable } from '#libs/domain/kernel';
import { eventually } from '../../../../test/http/edge-client.js';
import { JUDGED_SINCE, startEdge, type TestEdge } from '../../../../test/http/edge-harness.js';
import { RawConnection } from '../../../../test/http/raw-http.js';
import { ActionReader } from './action-reader.js';
import { AwaitAction } from './await-action.js';
import { GateCalls } from './gate-calls.js';
import { SubmitActionController } from './submit-action.controller.js';

/** How long the access guard's judgement of the caller holds (rule KEY-4). */
const HOLDS_MS = 1_000;
const BODY = '{"tool":"crm.get"}';

/** Records the commands that it receives, and fails each. */
class UnavailableGate {
  readonly asked: SubmitAction[] = [];
  ofRemembered: Error = new MustAsk();

  execute(command: SubmitAction): Promise<never> {
    this.asked.push(command);
    if (command.since === 'remembered') return Promise.reject(this.ofRemembered);
    return Promise.reject(new DomainError('service_unavailable'));
  }
}

const gate = new UnavailableGate();
let edge: TestEdge;

beforeAll(async () => {
  const unused = [AwaitAction, ActionReader, GateKernel].map((provide) => ({ provide, useValue: {} }));
  edge = await startEdge({
    controllers: [SubmitActionController],
    providers: [GateCalls, { provide: CommandBus, useValue: gate }, ...unused],
  });
  edge.clock.stop();
});
afterAll(() => edge?.close());
beforeEach(() => {
  gate.asked.length = 0;
  edge.authenticator.asked.length = 0;
  edge.authenticator.remembered.clear();
});

/** Sends a call whose body ends this much later than its caller was judged, and returns the command that it became. */
const callOver = async (ms: number): Promise<SubmitAction | undefined> => {
  const connection = await RawConnection.open(edge.port);
  connection.send(
    'POST /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer agent\r\nContent-Type: application/json\r\n' +
      `Content-Length: ${BODY.length}\r\n\r\n${BODY.slice(0, 1)}`,
  );
  await eventually(() => edge.authenticator.asked).toEqual(['agent']);
  edge.clock.advance(ms);
  connection.send(BODY.slice(1));
  expect((await connection.answer()).status).toBe(503);
  connection.close();
  return gate.asked[0];
};

describe('what was read from the store while the caller was judged', () => {
  it('is not read again while the judgement holds', async () => {
    expect(await callOver(HOLDS_MS)).toMatchObject({ since: JUDGED_SINCE });
  });

  it('is read again if the body took longer', async () => {
    const command = await callOver(HOLDS_MS + 1);
    expect([command?.request.tool, command?.since]).toEqual(['crm.get', undefined]);
  });
});

describe('a caller whose state this process has cached', () => {
  const call = async (): Promise<number> => {
    edge.authenticator.remembered.set('agent', 'agent');
    const headers = { Authorization: 'Bearer agent', 'Content-Type': 'application/json' };
    return (await fetch(`${edge.url}/v1/actions`, { method: 'POST', headers, body: BODY })).status;
  };
  const sinces = () => gate.asked.map(({ since }) => since);

  it('is judged by the gate from the cache, and from the store if the cache is not enough', async () => {
    expect(await call()).toBe(503);
    expect(sinces()).toEqual(['remembered', JUDGED_SINCE]);
    expect(edge.authenticator.asked).toEqual(['agent']);
    const [first, second] = gate.asked;
    expect(second?.metadata.commandId).toBe(first?.metadata.commandId);
  });

  it('is told at once that the store is unavailable, without another try', async () => {
    gate.ofRemembered = new StoreUnavailable('no answer within 5000 ms');
    expect(await call()).toBe(503);
    expect([sinces(), edge.authenticator.asked]).toEqual([['remembered'], []]);
    gate.ofRemembered = new MustAsk();
  });

  it('does not reach the gate again if its key was refused meanwhile', async () => {
    edge.authenticator.revoked.add('agent');
    expect(await call()).toBe(401);
    expect(sinces()).toEqual(['remembered']);
    edge.authenticator.revoked.clear();
  });
});

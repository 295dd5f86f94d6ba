import { CommandBus } from '@nestjs/cqrs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GateKernel, type SubmitAction } from '#libs/domain/gate';
import { DomainError } from '#libs/domain/kernel';
import { eventually } from '../../../../test/http/edge-client.js';
import { JUDGED_SINCE, startEdge, type TestEdge } from '../../../../test/http/edge-harness.js';
import { RawConnection } from '../../../../test/http/raw-http.js';
import { ActionReader } from './action-reader.js';
import { AwaitAction } from './await-action.js';
import { SubmitActionController } from './submit-action.controller.js';

/** How long a judgement at the door holds (document 2, API keys). */
const HOLDS_MS = 1_000;
const BODY = '{"tool":"crm.get"}';

/** Writes down what the gate is asked for, and leaves it at that. */
class UnavailableGate {
  readonly asked: SubmitAction[] = [];

  execute(command: SubmitAction): Promise<never> {
    this.asked.push(command);
    return Promise.reject(new DomainError('service_unavailable'));
  }
}

const gate = new UnavailableGate();
let edge: TestEdge;

beforeAll(async () => {
  const unused = [AwaitAction, ActionReader, GateKernel].map((provide) => ({ provide, useValue: {} }));
  edge = await startEdge({
    controllers: [SubmitActionController],
    providers: [{ provide: CommandBus, useValue: gate }, ...unused],
  });
  edge.clock.stop();
});
afterAll(() => edge?.close());
beforeEach(() => {
  gate.asked.length = 0;
  edge.authenticator.asked.length = 0;
});

/** A call whose body ends so much later than its caller was judged. */
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

describe('what the store was asked for while the caller was judged', () => {
  it('is not asked for again as long as the judgement holds', async () => {
    expect(await callOver(HOLDS_MS)).toMatchObject({ since: JUDGED_SINCE });
  });

  it('is asked for anew when the body took longer', async () => {
    const command = await callOver(HOLDS_MS + 1);
    expect([command?.request.tool, command?.since]).toEqual(['crm.get', undefined]);
  });
});

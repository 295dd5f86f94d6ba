import { afterEach, expect, it } from 'vitest';
import { ExecutionPlaces, InlineExecutionStarter } from '#libs/domain/gate';
import type { ActionId } from '#libs/domain/kernel';
import { InProcessJobQueue, SystemRandomness } from '#libs/infra/runtime';
import { isRecorded, RecoveryScene } from '../support/recovery-scene.js';
import { silentLogger } from '../support/silent-logger.js';

let scene: RecoveryScene;
afterEach(() => scene.close());

it('a call that finds no place is accepted, claimed by nobody, and executed once when one is free', async () => {
  let answerFirst = (): void => undefined;
  scene = await RecoveryScene.set({
    answer: (_seen, response) => {
      const answer = (): void => void response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      if (scene.upstream.seen.length === 1) answerFirst = answer;
      else answer();
    },
  });
  const { bench, upstream } = scene;
  const { executor, executorId } = bench;
  const queue = new InProcessJobQueue(silentLogger);
  const places = new ExecutionPlaces(executor, silentLogger, 2);
  const consumer = queue.process('execute', 10, (id) => places.takeUp(id as ActionId));
  const starter = new InlineExecutionStarter(
    { executor, places, queue },
    executorId,
    new SystemRandomness(),
    silentLogger,
  );
  const handler = bench.handler(starter);
  const first = await bench.submit({ tool: 'crm.update' }, handler);
  const second = await bench.submit({ tool: 'crm.update' }, handler);
  await expect.poll(() => upstream.seen.length).toBe(1);
  expect(await bench.action(second.action)).toMatchObject({ state: 'executing', attempts: [] });
  answerFirst();
  for (const { action } of [first, second]) {
    expect(await bench.action(action, isRecorded)).toMatchObject({ outcome: { status: 'succeeded' } });
    expect(upstream.countFor(action)).toBe(1);
  }
  await consumer.close();
});

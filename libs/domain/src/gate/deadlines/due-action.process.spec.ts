import { describe, expect, it } from 'vitest';
import {
  atTheEdge,
  edgeReported,
  edgeSucceeded,
  running,
  succeeded,
  finished,
} from '../../../../../test/support/gate-fixtures.js';
import { dueActionChange } from './due-action.process.js';

describe('what a call waits for', () => {
  it('is nothing with a due time if the service runs the call', () => {
    const changes = [...running, finished(succeeded, 'c1')].map(dueActionChange);
    expect(changes.filter((change) => change !== null)).toEqual([]);
  });

  it('is a report by the deadline if the agent runs it', () => {
    const changes = [...atTheEdge, edgeReported(edgeSucceeded)].map(dueActionChange);
    expect(changes.map((change) => change?.change ?? null)).toEqual([null, null, 'open', 'close']);
  });
});

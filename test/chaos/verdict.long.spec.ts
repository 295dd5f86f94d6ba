import { describe, expect, it } from 'vitest';
import { judgedEnds } from './gathering.js';
import { blindnessOf } from './verdict.js';

const seen = (kills: Readonly<Record<string, number>>, missed: number, lost: number) => ({
  coverage: { kills, missed, acted: {} },
  executors_lost: lost,
});

describe('a run that saw too little', () => {
  it('killed under executions, and each went on', () => {
    expect(blindnessOf(seen({ execution: 2 }, 0, 1))).toBe(
      '2 kills were to meet an execution, and only 1 executions lost their executor',
    );
  });

  it('came too late for most of its failpoints', () => {
    expect(blindnessOf(seen({ failpoint: 3 }, 2, 0))).toBe(
      '3 kills were to meet a failpoint, and 2 came too late for it',
    );
  });

  it('is none where half of them acted', () => {
    expect(blindnessOf(seen({ failpoint: 4, execution: 1 }, 2, 1))).toBeNull();
  });
});

describe('the ends of processes', () => {
  const killed = { code: null, signal: 'SIGKILL' } as const;
  const ended = { code: 0, signal: null } as const;

  it('are expected by SIGKILL, as often as it was ordered', () => {
    const expected = judgedEnds([killed, ended, killed, killed], 2).map(({ isExpected }) => isExpected);
    expect(expected).toEqual([true, false, true, false]);
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { evaluatePolicy } from '#libs/domain/policies';
import { hundredRules, ordinaryCall, RULES } from './hundred-rules.js';

describe('an evaluation of 100 rules', () => {
  it('is decided by the last of them', () =>
    expect(evaluatePolicy(hundredRules(), ordinaryCall).ruleId).toBe(`r${RULES - 1}`));
});

describe('an ordinary evaluation while the machine is busy', () => {
  const burners: ChildProcess[] = [];
  beforeAll(async () => {
    for (let index = 0; index < 4; index += 1) burners.push(spawn(process.execPath, ['-e', 'for (;;);']));
    await Promise.all(burners.map((burner) => once(burner, 'spawn')));
  });
  afterAll(async () => {
    const ended = burners.map((burner) => once(burner, 'exit'));
    for (const burner of burners) burner.kill('SIGKILL');
    await Promise.all(ended);
  });

  it('never trips the limit', () => {
    const policy = hundredRules();
    let trips = 0;
    for (let index = 0; index < 1_000; index += 1) {
      if (evaluatePolicy(policy, ordinaryCall).timeLimitTripped) trips += 1;
    }
    expect(trips).toBe(0);
  });
});

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

const SCRIPT = join(ROOT, 'scripts', 'test-distributed.mjs');

const call = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
};

describe('npm run test:distributed', () => {
  it('says with --help how it is called, and runs nothing', () => {
    const { status, stdout, stderr } = call('--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^usage: npm run test:distributed -- \[--only contracts,/);
    expect(stdout).not.toContain('==>');
  });

  it.each([
    { args: ['--no-such'], problem: "Unknown option '--no-such'" },
    { args: ['chaos'], problem: "Unexpected argument 'chaos'" },
    { args: ['--only'], problem: "Option '--only <value>' argument missing" },
    { args: ['--only', '--help'], problem: "Option '--only' argument is ambiguous" },
    {
      args: ['--only', 'chaos,chaso'],
      problem: '--only names some of contracts, processes, sealers, faults, chaos, not "chaso"',
    },
  ])('ends with 2 and one line that says what to do, called with $args', ({ args, problem }) => {
    expect(call(...args)).toEqual({
      status: 2,
      stdout: '',
      stderr: `${problem}; npm run test:distributed -- --help says how it is called\n`,
    });
  });
});

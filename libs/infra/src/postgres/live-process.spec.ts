import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { commandLineOf, processIdentity } from './live-process.js';

describe('processIdentity', () => {
  it('is the same each time and differs between processes', () => {
    expect(processIdentity(process.pid)).toBe(processIdentity(process.pid));
    expect(processIdentity(process.pid)).not.toBe(processIdentity(process.ppid));
  });

  it('is null for a process that has ended, and for numbers that no process has', async () => {
    const child = spawn('sleep', ['60']);
    await once(child, 'spawn');
    const pid = child.pid as number;
    expect(processIdentity(pid)).not.toBeNull();
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(processIdentity(pid)).toBeNull();
    expect([0, -1, Number.NaN, 2_147_483_647].map(processIdentity)).toEqual([null, null, null, null]);
  });

  it('is null for an ended process that its parent has not collected', async () => {
    // The shell becomes `sleep`, which collects no children.
    const parent = spawn('sh', ['-c', 'sleep 0.01 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const zombie = Number(line.toString());
    await vi.waitFor(() => expect(processIdentity(zombie)).toBeNull(), { timeout: 5_000 });
    expect(process.kill(zombie, 0)).toBe(true);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
  });
});

describe('commandLineOf', () => {
  it('gives program and arguments, or null when there is no such process', async () => {
    const child = spawn('sleep', ['61']);
    await once(child, 'spawn');
    await vi.waitFor(() => expect(commandLineOf(child.pid as number)).toMatch(/sleep 61$/), { timeout: 20_000 });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(commandLineOf(child.pid as number)).toBeNull();
  });
});

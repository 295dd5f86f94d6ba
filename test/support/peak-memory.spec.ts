import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const LOADER = new URL('register-typescript.mjs', import.meta.url).href;
const MODULE = new URL('peak-memory.ts', import.meta.url).href;
const HELD_BYTES = 400 * 1024 * 1024;

/** The peak, in bytes, that a program says of itself, after it has held so much. */
const peakOfProgram = (heldBytes: number): number => {
  const script = `Buffer.alloc(${heldBytes}, 1); import('${MODULE}').then((m) => console.log(m.peakMemoryKiB()))`;
  const args = ['--conditions=source', '--import', LOADER, '--eval', script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stderr).toBe('');
  return Number(stdout) * 1024;
};

it("is a process's own, whoever started it", () => {
  const held = Buffer.alloc(HELD_BYTES, 1);
  expect(peakOfProgram(0)).toBeLessThan(HELD_BYTES);
  expect(peakOfProgram(HELD_BYTES)).toBeGreaterThan(HELD_BYTES);
  expect(held[0]).toBe(1);
});

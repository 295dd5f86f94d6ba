import { describe, expect, it } from 'vitest';
import { runAgs } from '../support/run-ags.js';

describe('npm run ags', () => {
  it('answers on standard output alone and ends by itself with 0', async () => {
    const { code, stdout, stderr } = await runAgs(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^Usage: npm run ags --/);
  });

  it('says what it cannot understand on standard error alone and ends with 2', async () => {
    const { code, stdout, error } = await runAgs(['keyz', '--json']);
    expect([code, stdout]).toEqual([2, '']);
    expect(error).toMatchObject({ object: 'error', code: 'usage' });
  });

  it('reads its settings from the environment and ends with 1 when they are not usable', async () => {
    const { code, objects } = await runAgs(['config', '--json'], { env: { SERVICE_PORT: '70000' } });
    expect(code).toBe(1);
    expect(objects.at(-1)).toMatchObject({ usable: false });
  });
});

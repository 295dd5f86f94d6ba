import { describe, expect, it } from 'vitest';
import { runAgs } from '../support/run-ags.js';

/** Ends a program that loads a framework, or an engine that few commands need. */
const REFUSING = `export const load = async (url, context, next) => {
  const loaded = await next(url, context);
  // The bundler writes above each module where it comes from.
  const [found] = /^.. .*node_modules.(@nestjs|@bufbuild|typeorm|fastify)/m.exec(String(loaded.source)) ?? [];
  if (found) throw new Error('loaded ' + found);
  return loaded;
};`;
const dataUrl = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;

describe('npm run ags', () => {
  it.each(['--help', 'config', 'verify --help', 'keys create --help'])(
    'answers %s without waiting for what it does not need',
    async (line) => {
      const hook = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(REFUSING))});`;
      const { code, stderr } = await runAgs(line.split(' '), { env: { NODE_OPTIONS: `--import=${dataUrl(hook)}` } });
      expect([code, stderr]).toEqual([0, '']);
    },
  );

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

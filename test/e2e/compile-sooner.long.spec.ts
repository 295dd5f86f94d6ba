import { afterAll, beforeAll, expect, it } from 'vitest';
import { startService, type RunningService } from '../support/service.js';

/** Says on standard output what V8 is told. */
const HOOK = `
  import v8 from 'node:v8';
  import { syncBuiltinESMExports } from 'node:module';
  const setFlags = v8.setFlagsFromString;
  v8.setFlagsFromString = (flag) => { console.log('V8 is told ' + flag); setFlags(flag); };
  syncBuiltinESMExports();`;

let service: RunningService;
beforeAll(async () => {
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(HOOK)}` };
  service = await startService({ env });
});
afterAll(() => service?.stop());

it('a program tells V8 to compile sooner once it has started, where V8 knows the setting', async () => {
  await service.call('GET', '/v1/health');
  const told = service.stdout.split('\n').filter((line) => line.startsWith('V8 is told'));
  const knowsTheSetting = process.versions.v8.startsWith('11.');
  expect(told).toEqual(knowsTheSetting ? ['V8 is told --interrupt-budget=15000'] : []);
  if (knowsTheSetting)
    expect(service.stdout.lastIndexOf(' is up at ')).toBeLessThan(service.stdout.indexOf('V8 is told'));
});

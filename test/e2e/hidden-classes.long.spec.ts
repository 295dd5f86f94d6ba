import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectCrm } from '../support/crm.js';
import {
  removeStateDir,
  ROOT,
  type RunningService,
  SERVING_FLAGS,
  startService,
  temporaryStateDir,
} from '../support/service.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

/** As many as it takes until whatever is made once has been made. */
const WARM_UP_CALLS = 120;
/** So many that what happens by the clock, four times a second, happens less often, however slow the machine is. */
const CALLS = 120;
const CALLS_AT_ONCE = 12;
/** Of the socket to an upstream, whose options Node copies into objects of their own. */
const OF_NODE = new Set(['allowHalfOpen', 'emitClose', 'autoDestroy', 'decodeStrings']);

describe('a call', () => {
  let folder: string;
  let service: RunningService;
  let upstream: Upstream;

  beforeAll(async () => {
    folder = await temporaryStateDir();
    upstream = await startUpstream();
    const log = [
      '--log-maps',
      '--no-log-maps-details',
      '--no-logfile-per-isolate',
      `--logfile=${join(folder, 'v8.log')}`,
    ];
    const args = [...SERVING_FLAGS, ...log, join(ROOT, 'scripts', 'run.mjs'), 'standalone'];
    service = await startService({ program: { folder: ROOT, args } });
    await connectCrm(service, upstream.baseUrl);
  });
  afterAll(async () => {
    await service?.stop();
    await upstream?.close();
    await removeStateDir(folder);
  });

  const act = async (calls: number): Promise<void> => {
    const body = { tool: 'crm.add_note', args: { id: '42', text: 'x' } };
    for (let left = calls; left > 0; left -= CALLS_AT_ONCE) {
      const answers = await Promise.all(
        Array.from({ length: CALLS_AT_ONCE }, () =>
          service.call('POST', '/v1/actions', { key: service.agentKey, body }),
        ),
      );
      for (const { json } of answers) {
        expect(json).toMatchObject({ state: 'sealed', execution: { status: 'succeeded' } });
      }
    }
  };
  const made = async (): Promise<string[]> =>
    (await readFile(join(folder, 'v8.log'), 'utf8')).split('\n').filter((line) => line.startsWith('map,'));

  it('makes no hidden class that is only its own, but for those that Node makes (docs/performance.md)', async () => {
    await act(WARM_UP_CALLS);
    const before = (await made()).length;
    await act(CALLS);
    const places = new Map<string, number>();
    for (const row of (await made()).slice(before)) {
      const [, kind, , , , , line, column, , member = ''] = row.split(',');
      if (OF_NODE.has(member)) continue;
      const place = `${kind} at ${line}:${column} of a file: ${member}`;
      places.set(place, (places.get(place) ?? 0) + 1);
    }
    expect([...places].filter(([, count]) => count >= CALLS)).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import type { RebuildReport } from '#libs/infra/read-models';
import { writtenTerminal } from '../../../../test/support/written-terminal.js';
import { followRebuild } from './projections.command.js';

const ANEW = '\r\u001b[K';
const progress = (events: number, share: number): RebuildReport => ({
  type: 'progress',
  projection: 'actions',
  events,
  share,
});
const REBUILT: RebuildReport = { type: 'rebuilt', projection: 'actions', events: 12_345, duration_ms: 900 };
const REPORTS = [progress(0, 0), progress(1_234, 0.0999), progress(6_172, 0.5), progress(12_345, 1), REBUILT];

async function* linesOf(reports: readonly RebuildReport[]): AsyncGenerator<string> {
  for (const report of reports) yield JSON.stringify(report);
}

describe('the progress of a rebuild', () => {
  it('is one line with a bar, its share and how many events were read, and is gone in the end', async () => {
    const { terminal, out, err } = writtenTerminal({ isTTY: true });
    const { rebuilt, refusal } = await followRebuild(linesOf(REPORTS), terminal);
    expect(err().split(ANEW)).toEqual([
      '',
      'actions    [........................] 0 %, 0 events',
      'actions    [##......................] 9 %, 1,234 events',
      'actions    [############............] 50 %, 6,172 events',
      'actions    [########################] 100 %, 12,345 events',
      '',
    ]);
    expect([out(), rebuilt, refusal]).toEqual(['', [REBUILT], null]);
  });

  it('is nothing where nobody watches', async () => {
    const { terminal, out, err } = writtenTerminal({ isTTY: false });
    expect(await followRebuild(linesOf(REPORTS), terminal)).toEqual({ rebuilt: [REBUILT], refusal: null });
    expect([out(), err()]).toEqual(['', '']);
  });

  it('is gone before the reason for which it ended is told', async () => {
    const { terminal, err } = writtenTerminal({ isTTY: true });
    const failed: RebuildReport = { type: 'failed', projection: 'actions', message: 'An event cannot be read.' };
    const { rebuilt, refusal } = await followRebuild(linesOf([progress(5, 0.5), failed]), terminal);
    expect(err().endsWith(` 5 events${ANEW}`)).toBe(true);
    expect(rebuilt).toEqual([]);
    expect(refusal).toMatchObject({ code: 'rebuild_failed', message: expect.stringContaining('cannot be read') });
  });

  it('tells of an interruption whose rows it left as they were', async () => {
    const { terminal } = writtenTerminal({ isTTY: false });
    const reports: RebuildReport[] = [REBUILT, { type: 'interrupted', projection: 'deeds' }];
    expect((await followRebuild(linesOf(reports), terminal)).refusal).toMatchObject({
      code: 'rebuild_failed',
      message: 'It was interrupted; the rows of deeds are as they were. Run it again.',
      exitCode: 1,
    });
  });
});

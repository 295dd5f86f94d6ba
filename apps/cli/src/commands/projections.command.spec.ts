import { describe, expect, it } from 'vitest';
import type { RebuildReport } from '#libs/infra/read-models';
import { writtenTerminal } from '../../../../test/support/written-terminal.js';
import { verdictOf, type Verified } from './projection-verdict.js';
import { followReports } from './projections.command.js';

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
    const { done, refusal } = await followReports(linesOf(REPORTS), 'rebuild', terminal);
    expect(err().split(ANEW)).toEqual([
      '',
      'actions    [........................] 0 %, 0 events',
      'actions    [##......................] 9 %, 1,234 events',
      'actions    [############............] 50 %, 6,172 events',
      'actions    [########################] 100 %, 12,345 events',
      '',
    ]);
    expect([out(), done, refusal]).toEqual(['', [REBUILT], null]);
  });

  it('is nothing where nobody watches', async () => {
    const { terminal, out, err } = writtenTerminal({ isTTY: false });
    expect(await followReports(linesOf(REPORTS), 'rebuild', terminal)).toEqual({ done: [REBUILT], refusal: null });
    expect([out(), err()]).toEqual(['', '']);
  });

  it('is gone before the reason for which it ended is told', async () => {
    const { terminal, err } = writtenTerminal({ isTTY: true });
    const failed: RebuildReport = { type: 'failed', projection: 'actions', message: 'An event cannot be read.' };
    const { done, refusal } = await followReports(linesOf([progress(5, 0.5), failed]), 'rebuild', terminal);
    expect(err().endsWith(` 5 events${ANEW}`)).toBe(true);
    expect(done).toEqual([]);
    expect(refusal).toMatchObject({
      code: 'rebuild_failed',
      message: 'The rows of actions are as they were. An event cannot be read.',
    });
  });

  it('tells of an interruption whose rows it left as they were', async () => {
    const { terminal } = writtenTerminal({ isTTY: false });
    const reports: RebuildReport[] = [REBUILT, { type: 'interrupted', projection: 'deeds' }];
    expect((await followReports(linesOf(reports), 'rebuild', terminal)).refusal).toMatchObject({
      code: 'interrupted',
      message: 'It was interrupted; the rows of deeds are as they were. Run it again.',
      exitCode: 1,
    });
  });
});

const VERIFIED: Verified = {
  type: 'verified',
  projection: 'deeds',
  events: 12_345,
  position: 12_344,
  rows: 1_000,
  difference_count: 0,
  differences: [],
  duration_ms: 900,
};

describe('the progress of a verification', () => {
  it('is that of the log, and then that of the rows', async () => {
    const { terminal, err } = writtenTerminal({ isTTY: true });
    const comparing: RebuildReport = { type: 'comparing', projection: 'deeds', rows: 500, share: 0.5 };
    const reports = [progress(12_345, 1), comparing, VERIFIED];
    expect(await followReports(linesOf(reports), 'verify', terminal)).toEqual({ done: [VERIFIED], refusal: null });
    expect(err().split(ANEW)).toEqual([
      '',
      'actions    [########################] 100 %, 12,345 events',
      'deeds      [############............] 50 %, 500 rows',
      '',
    ]);
  });

  it.each<[string, RebuildReport, object]>([
    [
      'cannot be',
      { type: 'failed', projection: 'deeds', message: 'An event cannot be read.' },
      { code: 'verification_failed', message: 'The rows of deeds could not be compared. An event cannot be read.' },
    ],
    [
      'is interrupted',
      { type: 'interrupted', projection: 'deeds' },
      { code: 'interrupted', message: 'It was interrupted before it had compared deeds. Run it again.' },
    ],
    ['is not the only one', { type: 'busy' }, { code: 'conflict', message: expect.stringContaining('under way') }],
  ])('says that it %s, and keeps what was compared before', async (_, report, refusal) => {
    const { terminal } = writtenTerminal({ isTTY: false });
    const ended = await followReports(linesOf([VERIFIED, report]), 'verify', terminal);
    expect(ended).toMatchObject({ done: [VERIFIED], refusal: { ...refusal, exitCode: 1 } });
  });
});

describe('a verification that cannot compare one projection', () => {
  const failed = (projection: 'actions' | 'policies'): RebuildReport => ({
    type: 'failed',
    projection,
    message: 'An event cannot be read.',
  });
  const sentenceOf = (projection: string): string =>
    `The rows of ${projection} could not be compared. An event cannot be read.`;

  it('has the verdicts on the others, and names each that it cannot compare', async () => {
    const { terminal } = writtenTerminal({ isTTY: false });
    const reports = [failed('actions'), VERIFIED, failed('policies')];
    const { done, refusal } = await followReports(linesOf(reports), 'verify', terminal);
    expect(done).toEqual([VERIFIED]);
    expect(refusal).toMatchObject({
      code: 'verification_failed',
      message: `${sentenceOf('actions')}\n${sentenceOf('policies')}`,
      exitCode: 1,
    });
  });

  it('is of the code of what ended it, where that came later', async () => {
    const { terminal } = writtenTerminal({ isTTY: false });
    const reports: RebuildReport[] = [failed('actions'), { type: 'incomplete', projection: 'deeds', missing: 2_000 }];
    expect((await followReports(linesOf(reports), 'verify', terminal)).refusal).toMatchObject({
      code: 'log_incomplete',
      message:
        `${sentenceOf('actions')}\nThe log has no event at position 2000, though it goes on. ` +
        'The rows of deeds could not be compared. Run `npm run ags -- audit`.',
    });
  });
});

describe('the verdict of a verification', () => {
  it('is one line and the counts where every row is what the log gives', () => {
    expect(verdictOf([VERIFIED]).text.split('\n')).toEqual([
      'Intact: every row is what the log gives.',
      '',
      'PROJECTION  EVENTS READ  ROWS   DIFFERENT  SECONDS',
      'deeds       12,345       1,000  0          0.9',
    ]);
  });

  it('says that it is not on everything, where something could not be compared', () => {
    expect(verdictOf([VERIFIED], false).text).toMatch(
      /^Intact as far as it was compared, which is not all: every row is what the log gives\.\n/,
    );
  });

  it('names the rows that are not, and what to do', () => {
    const differences: Verified['differences'] = [
      { table: 'deeds', key: ['deed_1'], kind: 'changed', columns: ['seq', 'kid'] },
      { table: 'policy_slots', key: ['org_1', 'enforce'], kind: 'missing', columns: [] },
      { table: 'deeds', key: ['\u001b[2Jdeed'], kind: 'unexpected', columns: [] },
    ];
    const { text, objects } = verdictOf([{ ...VERIFIED, difference_count: 3, differences }]);
    expect(text.split('\n').slice(0, 6)).toEqual([
      'Broken: 3 rows are not what the log gives.',
      '',
      'TABLE         KEY            WHAT',
      'deeds         deed_1         changed: seq, kid',
      'policy_slots  org_1 enforce  missing: the log gives this row',
      'deeds         ?[2Jdeed       unexpected: the log gives no such row',
    ]);
    expect(text.split('\n').at(-1)).toBe('  npm run ags -- projections rebuild deeds');
    expect(objects).toEqual([
      {
        object: 'projection_verification',
        projection: 'deeds',
        result: 'broken',
        events: 12_345,
        position: 12_344,
        rows: 1_000,
        difference_count: 3,
        differences,
        duration_ms: 900,
      },
    ]);
  });

  it('says where it names but the first', () => {
    const differences: Verified['differences'] = [{ table: 'deeds', key: ['a'], kind: 'missing', columns: [] }];
    expect(verdictOf([{ ...VERIFIED, difference_count: 1_234, differences }]).text).toMatch(
      /^Broken: 1,234 rows are not what the log gives; of each projection the first 100 below\.\n/,
    );
  });
});

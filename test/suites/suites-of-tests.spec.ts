import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { RunnerTestFile } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import { ROOT } from '../support/service.js';
import { LongestFirst, LONG_TO_RUN } from './longest-first.js';
import WhileThereIsTime from './while-there-is-time.js';

describe('the order of files', () => {
  it('names only files that there are', () => {
    expect(LONG_TO_RUN.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('has those that are long to run among the first, with others between them, and loses none', async () => {
    const others = Array.from({ length: 40 }, (_, index) => `test/other-${index}.spec.ts`);
    const files = [...others, ...LONG_TO_RUN].map((path) => ({ moduleId: `${ROOT}/${path}` }) as TestSpecification);
    const untouched = vi.spyOn(Object.getPrototypeOf(LongestFirst.prototype) as LongestFirst, 'sort');
    untouched.mockImplementation((given) => Promise.resolve(given));
    const sorted = await new LongestFirst({} as Vitest).sort(files);
    untouched.mockRestore();
    const places = LONG_TO_RUN.map((path) => sorted.findIndex(({ moduleId }) => moduleId === `${ROOT}/${path}`));
    expect(places).toEqual(LONG_TO_RUN.map((_, index) => index * 5));
    expect(new Set(sorted)).toEqual(new Set(files));
  });
});

describe('a file', () => {
  afterEach(() => vi.unstubAllEnvs());

  const modesAt = (lastBegin: string | undefined): readonly (string | undefined)[] => {
    vi.stubEnv('TESTS_BEGIN_BEFORE', lastBegin);
    const test = { type: 'test', mode: 'run' };
    const suite = { type: 'suite', mode: 'run', tasks: [test] };
    const file = { type: 'suite', mode: 'run', tasks: [suite] };
    WhileThereIsTime.prototype.onBeforeRunFiles([file as unknown as RunnerTestFile]);
    return [file, suite, test].map(({ mode }) => mode);
  };

  it('that would begin too late is skipped, with all that is in it', () => {
    expect(modesAt(String(Date.now() / 1_000 - 1))).toEqual(['skip', 'skip', 'skip']);
  });

  it.each([String(Date.now() / 1_000 + 600), undefined])('that begins in time runs (%s)', (lastBegin) => {
    expect(modesAt(lastBegin)).toEqual(['run', 'run', 'run']);
  });
});

import { TestRunner, type RunnerTask, type RunnerTestFile } from 'vitest';

/** When it becomes too late to begin a file, in seconds since 1970; not set: never. `.ci/run` sets it. */
const LAST_BEGIN = 'TESTS_BEGIN_BEFORE';

const skip = (task: RunnerTask): void => {
  task.mode = 'skip';
  if ('tasks' in task) task.tasks.forEach(skip);
};

/**
 * Skips the tests of a file that would begin too late, its hooks with them, so that a machine that is too slow for all of
 * them says which it did not run, and not nothing at all.
 */
export default class WhileThereIsTime extends TestRunner {
  onBeforeRunFiles(files: readonly RunnerTestFile[]): void {
    const lastBegin = Number(process.env[LAST_BEGIN] ?? Number.POSITIVE_INFINITY);
    if (Date.now() / 1_000 > lastBegin) files.forEach(skip);
  }
}

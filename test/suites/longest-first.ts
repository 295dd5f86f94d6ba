import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Short to read and long to run: vitest starts the largest files first where it has run none before, and would keep these for the end. */
export const LONG_TO_RUN: readonly string[] = [
  'test/chaos/checker.long.spec.ts',
  'test/e2e/chaos.long.spec.ts',
  'test/e2e/rolling-restart.long.spec.ts',
  'test/e2e/failpoints-of-a-worker.long.spec.ts',
  'test/e2e/unwritable-output.long.spec.ts',
  'libs/infra/src/event-store/kurrent/kurrent-event-store.long.spec.ts',
];

const isLongToRun = ({ moduleId }: TestSpecification): boolean =>
  LONG_TO_RUN.some((path) => moduleId.endsWith(`/${path}`));

/** So many others begin between two of them: each keeps two cores busy by itself. */
const OTHERS_BETWEEN = 4;

/** The order of vitest, with those files among the first: no file is to run by itself at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const long = sorted.filter(isLongToRun);
    const others = sorted.filter((file) => !isLongToRun(file));
    const mixed = others.flatMap((file, index) => [...(index % OTHERS_BETWEEN === 0 ? long.splice(0, 1) : []), file]);
    return [...mixed, ...long];
  }
}

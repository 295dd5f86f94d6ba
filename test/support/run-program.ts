import { runProgram } from '../../apps/cli/src/program.js';

export interface ProgramRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One command line of `ags` in this process: for what needs no process of its own. */
export const runInProcess = async (args: readonly string[]): Promise<ProgramRun> => {
  let [stdout, stderr] = ['', ''];
  const code = await runProgram(args, {
    out: (text) => (stdout += text),
    err: (text) => (stderr += text),
    isWatched: false,
  });
  return { code, stdout, stderr };
};

/** Output as one JSON object a line. */
export const objectsIn = (output: string): Readonly<Record<string, unknown>>[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

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
    taken: () => Promise.resolve(true),
    isWatched: false,
    isShown: false,
  });
  return { code, stdout, stderr };
};

/** Every command there is, groups before what is in them, as the help lists them: `[['init'], ['keys'], ['keys', 'list'], ...]`. */
export const commandsBelow = async (group: readonly string[] = []): Promise<readonly string[][]> => {
  const { stdout } = await runInProcess([...group, '--help']);
  const [, listed = ''] = /^Commands:\n((?: {2}.*\n)*)/m.exec(stdout) ?? [];
  const names = [...listed.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = '']) => name);
  const commands = names.filter((name) => name !== 'help').map((name) => [...group, name]);
  const nested = await Promise.all(commands.map(async (command) => [command, ...(await commandsBelow(command))]));
  return nested.flat();
};

/** Output as one JSON object a line. */
export const objectsIn = (output: string): Readonly<Record<string, unknown>>[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

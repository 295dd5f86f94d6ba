import { setImmediate as turn } from 'node:timers/promises';
import { KurrentProgram, kurrentProgram } from './kurrent-program.js';
import { KurrentServerProcess } from './kurrent/kurrent-server-process.js';

/** A server that fails where a test asks for it. */
export interface KurrentLogUnderTest {
  readonly url: string;
  /** By kill -9. */
  kill(): Promise<void>;
  /** As its administrator ends it. */
  terminate(): Promise<void>;
  /** Again, with what is on its disk. Resolves when it takes appends. */
  start(): Promise<void>;
  /** As by SIGSTOP, until `resume`. */
  hang(): Promise<void> | void;
  resume(): Promise<void> | void;
  /**
   * @param head position of the last event
   * @returns how to put the server, running, back to what it holds now; null where that is not the test's to do
   */
  backUp(head: bigint): Promise<(() => Promise<void>) | null>;
  close(): Promise<void>;
}

/** A server of the test's own. */
export interface KurrentUnderTest extends KurrentLogUnderTest {
  hang(): void;
  resume(): void;
  backUp(head: bigint): Promise<() => Promise<void>>;
}

const PROGRAM = kurrentProgram();

/** For the titles of tests: which server they were run against. */
export const KURRENT_UNDER_TEST = PROGRAM
  ? `the server of KURRENTDB_PROGRAM`
  : 'a test server that speaks its protocol';

export const startKurrent = (): Promise<KurrentUnderTest> => (PROGRAM ? startProgram(PROGRAM) : startTestServer());

const startProgram = async (program: string): Promise<KurrentUnderTest> => {
  const server = await KurrentProgram.start(program);
  return {
    url: server.url,
    kill: () => server.kill(),
    terminate: () => server.kill('SIGTERM'),
    start: () => server.start(),
    hang: () => server.signal('SIGSTOP'),
    resume: () => server.signal('SIGCONT'),
    backUp: async () => {
      await server.kill('SIGTERM');
      await server.saveFiles();
      await server.start();
      return async () => {
        await server.kill();
        await server.restoreFiles();
        await server.start();
      };
    },
    close: () => server.stop(),
  };
};

const startTestServer = async (): Promise<KurrentUnderTest> => {
  const server = await KurrentServerProcess.start();
  return {
    url: server.url,
    kill: () => server.kill(),
    terminate: () => server.kill(),
    start: () => server.start(),
    hang: () => server.hang(),
    resume: () => server.resume(),
    backUp: (head) =>
      Promise.resolve(async () => {
        await server.kill();
        // As long as a real one takes to come back: whoever was connected has noticed.
        for (let turns = 0; turns < 100; turns += 1) await turn();
        await server.rewind(head);
      }),
    close: () => server.close(),
  };
};

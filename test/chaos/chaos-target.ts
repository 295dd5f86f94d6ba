import type { ProgramName } from '../support/fleet-process.js';
import type { Answer, Call } from '../support/service.js';

/** Whom a hand kills where several processes run: one of a program's, counted from 0, or all of them. */
export interface Victim {
  readonly program: ProgramName;
  readonly which: number | 'all';
}

export interface EndedProcess {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChaosProcess {
  readonly pid: number;
  readonly isRunning: boolean;
  readonly stateDir: string;
  /** Since it was started. */
  readonly stdout: string;
}

/** What a run makes fail, and asks: a service of one process, or a fleet of several. */
export interface ChaosTarget {
  readonly org: string;
  readonly adminKey: string;
  readonly agentKey: string;
  /** Fingerprint of the seal key. */
  readonly pin: string;
  /** For a command that works on the same deployment. */
  readonly environment: NodeJS.ProcessEnv;
  /** Where calls go, in turn; of what ran last when nothing runs. */
  readonly baseUrls: readonly string[];
  /** Those that run. */
  readonly processes: readonly ChaosProcess[];
  /** All that its processes printed, those that are gone included. */
  readonly output: string;
  /** How those ended that are gone. */
  readonly ends: readonly EndedProcess[];
  /** Processes that `kill` ended, so far. */
  readonly killedByHand: number;
  call(method: string, path: string, call?: Call): Promise<Answer>;
  /** Resolves when they are gone. A service of one process has one victim. */
  kill(signal: 'SIGKILL', victim?: Victim): Promise<unknown>;
  /** Resolves when a process has ended, by whatever hand. */
  exited(): Promise<unknown>;
  /** Starts again what does not run. */
  startMissing(): Promise<void>;
}

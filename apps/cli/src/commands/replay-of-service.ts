import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplayResult } from '#libs/domain/replays';
import { untilInterrupted } from '#libs/infra/runtime';
import { CliError, EXIT } from '../cli-error.js';
import { callService, readService, type ServiceAnswer, type ServiceOptions } from '../service-call.js';
import { barText, ProgressLine, type Terminal } from '../terminal.js';

const LOOK_EVERY_MS = 300;

/** A replay as the service shows it: what a report needs of `GET /v1/replays/{id}`. */
export interface ShownReplay {
  readonly id: string;
  readonly policy: string;
  readonly version: number;
  readonly from: string;
  readonly to: string;
  readonly compared_with?: {
    readonly basis: 'enforced' | 'recorded';
    readonly policy: string | null;
    readonly version: number | null;
  };
  readonly status: string;
  readonly error_code: string | null;
  readonly ended_at: string | null;
  readonly progress: { readonly done: number; readonly total: number };
  readonly result: ReplayResult | null;
}

export interface AskedOfService {
  readonly policy: string;
  readonly version: string | undefined;
  readonly window: { readonly from?: string; readonly to?: string };
}

/** Has a running service do it, with an admin key, and waits for its end. An interruption cancels it. */
export const replayOfService = (
  service: ServiceOptions,
  terminal: Terminal,
  { policy, version, window }: AskedOfService,
): Promise<ShownReplay> =>
  untilInterrupted(async (interrupted) => {
    const named = version ?? (await newestOf(service, policy));
    const path = `/v1/policies/${policy}/versions/${encodeURIComponent(named)}/replay`;
    const { id } = bodyOf<ShownReplay>(await callService(service, path, window));
    try {
      return await ended(service, id, terminal, interrupted);
    } catch (error) {
      if (!interrupted.aborted) throw error;
      await callService(service, `/v1/replays/${id}/cancel`, {});
      const message = `It was interrupted, and the replay ${id} is cancelled. Run it again.`;
      throw new CliError('interrupted', message, EXIT.refused);
    }
  });

const ended = async (
  service: ServiceOptions,
  id: string,
  terminal: Terminal,
  interrupted: AbortSignal,
): Promise<ShownReplay> => {
  const progress = new ProgressLine(terminal);
  try {
    for (;;) {
      const replay = bodyOf<ShownReplay>(await readService(service, `/v1/replays/${id}`));
      if (replay.ended_at !== null) return replay;
      const { done, total } = replay.progress;
      progress.show(barText('replay', total === 0 ? 0 : Math.min(1, done / total), done, 'actions'));
      await sleep(LOOK_EVERY_MS, undefined, { signal: interrupted });
    }
  } finally {
    progress.clear();
  }
};

const newestOf = async (service: ServiceOptions, policy: string): Promise<string> => {
  const read = bodyOf<{ latest_version: { version: number } }>(await readService(service, `/v1/policies/${policy}`));
  return String(read.latest_version.version);
};

/** What is not there, or cannot be asked, is an answer; all else is a matter of how the command was called. */
const bodyOf = <Body>(answer: ServiceAnswer): Body => {
  if (answer.isOk) return answer.body as Body;
  const { code, message } = answer.error;
  if (code === 'not_found' || code === 'conflict') throw new CliError(code, message, EXIT.refused);
  throw new CliError('usage', message);
};

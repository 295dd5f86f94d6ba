import type { ResolvedEvent, StreamingRead } from '@eventstore/db-client';

/** The part of the client that its types do not declare: the channel of its gRPC library. */
export interface ConnectedClient {
  readonly getChannel: () => Promise<Channel>;
}

export interface Channel {
  close(): void;
  getConnectivityState(mayConnect: boolean): number;
  watchConnectivityState(current: number, deadline: number, onChange: () => void): void;
}

/** IDLE and CONNECTING, by gRPC's numbers: the channel is neither connected nor failed. */
const UNMADE_STATES: readonly number[] = [0, 1];

/** Waits until a channel is connected or has failed, and returns that state. */
export const madeOrFailed = async (channel: Channel): Promise<number> => {
  for (;;) {
    const state = channel.getConnectivityState(true);
    if (!UNMADE_STATES.includes(state)) return state;
    await new Promise<void>((changed) => channel.watchConnectivityState(state, Infinity, changed));
  }
};

/**
 * Ends a read with an error. The read is destroyed before it is cancelled, because a read that is cancelled first looks
 * complete to its reader.
 */
export const end = (reading: StreamingRead<ResolvedEvent>, error: Error): void => {
  reading.destroy(error);
  void reading.cancel().catch(() => undefined);
};

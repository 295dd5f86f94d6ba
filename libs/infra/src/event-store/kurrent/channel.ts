import type { ResolvedEvent, StreamingRead } from '@eventstore/db-client';

/** What the client has, and does not show: its connection, as its gRPC library knows it. */
export interface ConnectedClient {
  readonly getChannel: () => Promise<Channel>;
}

export interface Channel {
  close(): void;
  getConnectivityState(mayConnect: boolean): number;
  watchConnectivityState(current: number, deadline: number, onChange: () => void): void;
}

/** IDLE and CONNECTING, as gRPC numbers its states. */
const UNMADE_STATES: readonly number[] = [0, 1];

/** The state that a connection has come to. */
export const madeOrFailed = async (channel: Channel): Promise<number> => {
  for (;;) {
    const state = channel.getConnectivityState(true);
    if (!UNMADE_STATES.includes(state)) return state;
    await new Promise<void>((changed) => channel.watchConnectivityState(state, Infinity, changed));
  }
};

/** Failed first, and cancelled only then: the other way round it would look complete. */
export const end = (reading: StreamingRead<ResolvedEvent>, error: Error): void => {
  reading.destroy(error);
  void reading.cancel().catch(() => undefined);
};

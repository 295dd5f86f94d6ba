import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { streamNameIn } from './append-messages.js';
import type { CommitLog, LoggedEvent } from './commit-log.js';
import { handlerThrew, streamDeleted, unexpectedResult } from './rpc-error.js';

const TICKS_PER_MS = 10_000n;

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

/** Where a read begins and where it goes. */
interface Walk {
  readonly events: readonly (LoggedEvent | undefined)[];
  readonly from: number;
  readonly step: 1 | -1;
}

/**
 * Answers a read that ends. It goes on into what is appended meanwhile, as the server's pages do.
 * @throws what ends the call
 */
export const answerRead = (log: CommitLog, call: ReadCall): void => {
  const options = call.request.getOptions()!;
  const count = Number(options.getCount());
  const step = options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS ? -1 : 1;
  // The server pages for ever through nothing.
  if (options.hasAll() && count === 0) return;
  if (options.hasStream() && count === 0) throw unexpectedResult('ReadStreamResult: Error');
  const walk = options.hasAll() ? walkAll(log, options.getAll()!, step) : walkStream(log, options.getStream()!, step);
  const messages = walk ? eventMessages(walk, count) : [streamNotFound(options.getStream()!)];
  void send(call, messages);
};

const walkAll = (log: CommitLog, options: ReadReq.Options.AllOptions, step: Walk['step']): Walk => {
  const events = log.all;
  if (options.hasStart()) return { events, from: step === 1 ? 0 : -1, step };
  if (options.hasEnd()) return { events, from: step === 1 ? events.length : events.length - 1, step };
  const position = positionIn(options);
  if (step === -1 && position > log.endPosition) throw unexpectedResult('ReadAllResult: Error');
  if (!log.isReadableFrom(position)) throw unexpectedResult('ReadAllResult: InvalidPosition');
  const at = log.indexAfter(position - 1);
  return { events, from: step === 1 ? at : at - 1, step };
};

const walkStream = (log: CommitLog, options: ReadReq.Options.StreamOptions, step: Walk['step']): Walk | null => {
  if (step === 1 && options.hasEnd()) throw unexpectedResult('ReadStreamResult: Error');
  const stream = streamNameIn(options);
  if (log.isTombstoned(stream)) throw streamDeleted(stream);
  const events = log.stream(stream);
  if (!events || log.unread.has(stream)) return null;
  if (step === -1)
    return {
      events,
      from: Math.min(options.hasEnd() ? Infinity : Number(options.getRevision()), events.length - 1),
      step,
    };
  const first = events.findIndex((event) => event !== undefined);
  return { events, from: Math.max(Number(options.getRevision()), first), step };
};

export const positionIn = (all: ReadReq.Options.AllOptions): number => {
  const position = all.getPosition()!;
  if (BigInt(position.getCommitPosition()) < BigInt(position.getPreparePosition())) throw handlerThrew();
  return Number(position.getCommitPosition());
};

function* eventMessages({ events, from, step }: Walk, count: number): Iterable<ReadResp> {
  for (let read = 0, index = from; read < count; read += 1, index += step) {
    const event = events[index];
    if (!event) return;
    yield eventMessage(event);
  }
}

const send = async (call: ReadCall, messages: Iterable<ReadResp>): Promise<void> => {
  for (const message of messages) {
    if (!call.write(message)) await new Promise((resolve) => call.once('drain', resolve));
  }
  call.end();
};

const streamNotFound = (options: ReadReq.Options.StreamOptions): ReadResp =>
  new streams.ReadResp().setStreamNotFound(
    new streams.ReadResp.StreamNotFound().setStreamIdentifier(options.getStreamIdentifier()),
  );

export const eventMessage = (event: LoggedEvent): ReadResp => {
  const position = String(event.position);
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(event.id))
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(event.stream)))
    .setStreamRevision(String(event.revision))
    .setCommitPosition(position)
    .setPreparePosition(position)
    .setData(event.data)
    .setCustomMetadata(event.metadata);
  recorded
    .getMetadataMap()
    .set('type', event.type)
    .set('created', String(BigInt(event.createdMs) * TICKS_PER_MS))
    .set('content-type', event.isJson ? 'application/json' : 'application/octet-stream');
  return new streams.ReadResp().setEvent(
    new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(position),
  );
};

import type { IStreamsServer } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import {
  type Metadata,
  type ServerDuplexStream,
  type ServerErrorResponse,
  type ServerReadableStream,
  status,
} from '@grpc/grpc-js';
import { appendResponse, batchResponse, expectedIn, proposedIn, streamNameIn } from './append-messages.js';
import type { AppendAnswer, Appends } from './appends.js';
import type { ProposedEvent } from './commit-log.js';
import { LiveSubscription, type SubscribedLog } from './live-subscription.js';
import { answerRead, type ReadCall } from './reading.js';
import { accessDenied, notImplemented, streamDeleted } from './rpc-error.js';

export type DeniedRight = 'append' | 'read_all';

export interface StreamsNode extends SubscribedLog {
  /** Those of the leader. */
  readonly getAppends: () => Appends;
  /** Where one call carries many appends, each counts. */
  readonly calls: Record<'append' | 'batchAppend' | 'read' | 'subscribe', number>;
  /** Why a caller is not served, or not by this node. */
  accessRefusal(metadata: Metadata): ServerErrorResponse | null;
  leaderRefusal(metadata: Metadata): ServerErrorResponse | null;
  /** What nobody may do. */
  readonly denied: ReadonlySet<DeniedRight>;
  /** Ends a connection. */
  cut(peer: string): void;
  isConnected(peer: string): boolean;
}

type AppendCall = ServerReadableStream<AppendReq, AppendResp>;
type BatchAppendCall = ServerDuplexStream<BatchAppendReq, BatchAppendResp>;

interface Batch {
  readonly correlationId: string;
  readonly options: BatchAppendReq.Options;
  readonly events: ProposedEvent[];
}

export const streamsService = (node: StreamsNode): IStreamsServer => ({
  read: (call) => read(node, call),
  append: (call, callback) => {
    const denial = node.denied.has('append') ? accessDenied() : null;
    const refusal = node.accessRefusal(call.metadata) ?? denial ?? node.leaderRefusal(call.metadata);
    if (refusal) return callback(refusal);
    append(node, call).then(
      // Null: the connection is gone.
      (response) => response && callback(null, response),
      (error: ServerErrorResponse) => callback(error),
    );
  },
  batchAppend: (call) => batchAppend(node, call),
  delete: ({ request }, callback) => {
    node.log.delete(streamNameIn(request.getOptions()!));
    callback(null, new streams.DeleteResp().setNoPosition(new shared.Empty()));
  },
  tombstone: ({ request }, callback) => {
    node.log.tombstone(streamNameIn(request.getOptions()!));
    callback(null, new streams.TombstoneResp().setNoPosition(new shared.Empty()));
  },
});

const read = (node: StreamsNode, call: ReadCall): void => {
  try {
    const options = call.request.getOptions()!;
    const isSubscription = options.hasSubscription();
    node.calls[isSubscription ? 'subscribe' : 'read'] += 1;
    const leaderRefusal = node.leaderRefusal(call.metadata);
    const denial = options.hasAll() && node.denied.has('read_all') ? accessDenied() : null;
    const refusal = node.accessRefusal(call.metadata) ?? denial ?? (isSubscription ? null : leaderRefusal);
    if (refusal) throw refusal;
    if (options.hasFilter()) throw notImplemented('filters');
    if (!isSubscription) answerRead(node.log, call);
    else if (options.hasAll()) new LiveSubscription(node, call, leaderRefusal);
    else throw notImplemented('subscriptions to a stream');
  } catch (error) {
    call.emit('error', error);
  }
};

const append = async (node: StreamsNode, call: AppendCall): Promise<AppendResp | null> => {
  const requests: AppendReq[] = [];
  call.on('data', (request: AppendReq) => requests.push(request));
  await new Promise((resolve) => call.once('end', resolve));
  // A connection that is lost ends the requests, too; a real server tells that from their end, and writes nothing. Of a call
  // that its client has cancelled it writes what came before.
  if (!node.isConnected(call.getPeer())) return null;
  node.calls.append += 1;
  const [header, ...messages] = requests;
  const options = header!.getOptions()!;
  const expected = expectedIn(options);
  const stream = streamNameIn(options);
  if (node.log.isTombstoned(stream)) throw streamDeleted(stream);
  const events = messages.map((message) => proposedIn(message.getProposedMessage()!));
  const answer = await node.getAppends().take({ stream, expected, events }, () => node.cut(call.getPeer()));
  return answer && appendResponse(expected, answer);
};

const batchAppend = (node: StreamsNode, call: BatchAppendCall): void => {
  const refusal = node.accessRefusal(call.metadata) ?? node.leaderRefusal(call.metadata);
  const isDenied = refusal?.code === status.PERMISSION_DENIED;
  if (refusal && !isDenied) return void call.emit('error', refusal);
  const batches = new Map<string, Batch>();
  call.on('data', (request: BatchAppendReq) => {
    const batch = batchOf(request, batches);
    batch.events.push(...request.getProposedMessagesList().map(proposedIn));
    batches.set(batch.correlationId, batch);
    if (!request.getIsFinal()) return;
    batches.delete(batch.correlationId);
    if (isDenied) call.write(batchResponse(batch, { kind: 'access_denied' }));
    else void answerBatch(node, call, batch);
  });
  call.on('end', () => call.end());
};

const batchOf = (request: BatchAppendReq, batches: ReadonlyMap<string, Batch>): Batch => {
  const correlationId = request.getCorrelationId()!.getString();
  return batches.get(correlationId) ?? { correlationId, options: request.getOptions()!, events: [] };
};

const answerBatch = async (node: StreamsNode, call: BatchAppendCall, batch: Batch): Promise<void> => {
  node.calls.batchAppend += 1;
  const { options, events } = batch;
  const answer: AppendAnswer | null = await node
    .getAppends()
    .take({ stream: streamNameIn(options), expected: expectedIn(options), events }, () => node.cut(call.getPeer()));
  if (answer) call.write(batchResponse(batch, answer));
};

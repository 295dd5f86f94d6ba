import codes from '@eventstore/db-client/generated/code_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import statuses from '@eventstore/db-client/generated/status_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  BatchAppendResp,
} from '@eventstore/db-client/generated/streams_pb.js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import wellKnown from 'google-protobuf/google/protobuf/empty_pb.js';
import { type AppendAnswer, MAX_APPEND_BYTES } from './appends.js';
import type { Expected, ProposedEvent } from './commit-log.js';
import { appendTooLarge, handlerThrew, timeout } from './rpc-error.js';

type Success = Extract<AppendAnswer, { kind: 'written' | 'repeated' }>;

export const streamNameIn = (options: Pick<AppendReq.Options, 'getStreamIdentifier'>): string =>
  Buffer.from(options.getStreamIdentifier()!.getStreamName_asU8()).toString();

export const expectedIn = (options: AppendReq.Options | BatchAppendReq.Options): Expected => {
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasStreamExists()) return 'stream_exists';
  if (options.hasAny()) return 'any';
  return Number('getRevision' in options ? options.getRevision() : options.getStreamPosition());
};

export const proposedIn = (message: AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage): ProposedEvent => ({
  id: message.getId()!.getString().toLowerCase(),
  type: message.getMetadataMap().get('type') ?? '',
  isJson: message.getMetadataMap().get('content-type') === 'application/json',
  data: message.getData_asU8(),
  metadata: message.getCustomMetadata_asU8(),
});

/** @throws what ends the call */
export const appendResponse = (expected: Expected, answer: AppendAnswer): AppendResp => {
  const response = new streams.AppendResp();
  switch (answer.kind) {
    case 'written':
    case 'repeated':
      return response.setSuccess(success(answer));
    case 'wrong_version':
      return response.setWrongExpectedVersion(wrongVersion(expected, answer.current));
    case 'timeout':
      throw timeout('Commit phase timeout.');
    case 'too_large':
      throw appendTooLarge();
    case 'bad_request':
      throw handlerThrew();
  }
};

const success = ({ revision, position }: Success): AppendResp.Success =>
  new streams.AppendResp.Success()
    .setCurrentRevision(String(revision))
    .setPosition(
      new streams.AppendResp.Position().setCommitPosition(String(position)).setPreparePosition(String(position)),
    );

const wrongVersion = (expected: Expected, current: number): AppendResp.WrongExpectedVersion => {
  const message = new streams.AppendResp.WrongExpectedVersion();
  if (expected === 'any') message.setExpectedAny(new shared.Empty());
  else if (expected === 'no_stream') message.setExpectedNoStream(new shared.Empty());
  else if (expected === 'stream_exists') message.setExpectedStreamExists(new shared.Empty());
  else message.setExpectedRevision(String(expected));
  return current < 0 ? message.setCurrentNoStream(new shared.Empty()) : message.setCurrentRevision(String(current));
};

/** On this path the answer names what it answers, and errors are messages: one call carries many appends. */
export const batchResponse = (
  { correlationId, options }: { correlationId: string; options: BatchAppendReq.Options },
  answer: AppendAnswer | { readonly kind: 'access_denied' },
): BatchAppendResp => {
  const response = new streams.BatchAppendResp()
    .setCorrelationId(new shared.UUID().setString(correlationId))
    .setStreamIdentifier(options.getStreamIdentifier());
  switch (answer.kind) {
    case 'written':
    case 'repeated':
      return response.setSuccess(batchSuccess(answer));
    case 'wrong_version': {
      const details = batchWrongVersion(expectedIn(options), answer.current);
      return response.setError(failure(codes.Code.ALREADY_EXISTS, 'WrongExpectedVersion', details));
    }
    case 'timeout':
      return response.setError(failure(codes.Code.DEADLINE_EXCEEDED, 'Timeout', new shared.Timeout()));
    case 'too_large': {
      const details = new shared.MaximumAppendSizeExceeded().setMaxappendsize(MAX_APPEND_BYTES);
      return response.setError(failure(codes.Code.INVALID_ARGUMENT, 'MaximumAppendSizeExceeded', details));
    }
    case 'bad_request':
      return response.setError(failure(codes.Code.INVALID_ARGUMENT, 'BadRequest', new shared.BadRequest()));
    case 'access_denied':
      return response.setError(failure(codes.Code.PERMISSION_DENIED, 'AccessDenied', new shared.AccessDenied()));
  }
};

const batchSuccess = ({ revision, position }: Success): BatchAppendResp.Success =>
  new streams.BatchAppendResp.Success()
    .setCurrentRevision(String(revision))
    .setPosition(
      new shared.AllStreamPosition().setCommitPosition(String(position)).setPreparePosition(String(position)),
    );

const batchWrongVersion = (expected: Expected, current: number) => {
  const message = new shared.WrongExpectedVersion();
  if (expected === 'any') message.setExpectedAny(new wellKnown.Empty());
  else if (expected === 'no_stream') message.setExpectedNoStream(new wellKnown.Empty());
  else if (expected === 'stream_exists') message.setExpectedStreamExists(new wellKnown.Empty());
  else message.setExpectedStreamPosition(String(expected));
  return current < 0
    ? message.setCurrentNoStream(new wellKnown.Empty())
    : message.setCurrentStreamRevision(String(current));
};

/** Each error's message is the name of its details. */
const failure = (code: codes.Code, name: string, details: { serializeBinary(): Uint8Array }) => {
  const packed = new any.Any();
  packed.pack(details.serializeBinary(), `event_store.client.${name}`);
  return new statuses.Status().setCode(code).setMessage(name).setDetails(packed);
};

import type { JsonObject } from '#libs/crypto';
import { type DomainError, RPC_CODE } from '#libs/domain/kernel';
import { RpcFault, type RpcId } from './rpc-fault.js';

/** @param result the text of a JSON object on one line */
export const resultReply = (id: RpcId, result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;

/** @param id null where the message was not readable: then the member is left out (revision 2026-07-28, Error Responses) */
export const faultReply = (id: RpcId | null, { code, message, data }: RpcFault): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    ...(id === null ? {} : { id }),
    error: { code, message, ...(data === undefined ? {} : { data }) },
  });

/** Where no HTTP status can be given any more. @param envelope what the status and body would have been */
export const envelopeFault = (error: DomainError, envelope: JsonObject): RpcFault =>
  new RpcFault(RPC_CODE.internalError, error.message, { data: envelope });

export const notification = (method: string, params: JsonObject): string =>
  JSON.stringify({ jsonrpc: '2.0', method, params });

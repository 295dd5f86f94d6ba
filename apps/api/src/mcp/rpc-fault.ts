import type { JsonValue } from '#libs/crypto';

export type RpcId = string | number;

/** A request that is answered with a JSON-RPC error: nothing was recorded by it, unless `data` names an action. */
export class RpcFault extends Error {
  override readonly name = 'RpcFault';
  /** HTTP status. */
  readonly status: number;
  readonly data: JsonValue | undefined;

  /**
   * @param code one of `RPC_CODE`
   * @param status default 200: clients show code and message of an error under 200, and the raw body of a 4xx
   */
  constructor(
    readonly code: number,
    message: string,
    { status = 200, data }: { readonly status?: number; readonly data?: JsonValue } = {},
  ) {
    super(message);
    this.status = status;
    this.data = data;
  }
}

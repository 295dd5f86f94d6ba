import type { Socket } from 'node:net';
import type { Clock, Meter, Randomness } from '#libs/domain/kernel';
import type { RepeatedFault } from '#libs/infra/logging';
import type { AccessLog } from './access-log.js';
import type { ApiVersions } from './api-versions.js';
import type { Drain } from './drain.js';
import type { ErrorAnswers } from './error-answers.js';
import type { Exchange } from './exchange.js';
import type { FailureLog } from './failure-log.js';
import type { RouteTable } from './route-table.js';

/** What the layers of the edge share, from the socket up to Nest. */
export interface EdgeParts {
  readonly sources: { readonly clock: Clock; readonly randomness: Randomness };
  readonly versions: ApiVersions;
  readonly routes: RouteTable;
  readonly drain: Drain;
  readonly answers: ErrorAnswers;
  readonly accessLog: AccessLog;
  readonly meter: Meter;
  readonly failures: FailureLog;
  /** Connections that the system had no file or memory for. */
  readonly unaccepted: RepeatedFault;
  /** The exchange under way on a connection, the newest where requests are pipelined. */
  readonly exchangeOn: WeakMap<Socket, Exchange>;
  /** Headers of every answer (rule API-5). Routes may set Cache-Control anew. */
  headersFor(requestId: string, apiVersion: string): Readonly<Record<string, string>>;
}

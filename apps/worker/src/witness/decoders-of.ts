import { type ChangeLogSource, type ChangeLogVerdicts, DecoderLog } from '#libs/domain/witness';
import type { Deployment } from '#libs/infra/deployment';
import { ConnectorReads, ProjectionWaiter, WaitingActionReads } from '#libs/infra/read-models';
import { Decoder, type DecoderParts } from './decoder.js';
import { DecoderLoops } from './decoder-loops.js';

/** What decoders need beside a deployment: the databases, and the witness of the gate. */
export interface WitnessPorts {
  readonly source: ChangeLogSource;
  readonly verdicts: ChangeLogVerdicts;
}

/** The decoders of a worker process. */
export const decodersOf = (deployment: Deployment, { source, verdicts }: WitnessPorts): DecoderLoops => {
  const { connectors, decoderRows: rows, database, projectionProgress, runner, streams } = deployment;
  const { clock, randomness, vault, logger, metrics: meter, leases, bus } = deployment;
  const listed = new ConnectorReads(database.readModels);
  const waiter = new ProjectionWaiter(database.store, projectionProgress);
  const waiting = new WaitingActionReads(database.readModels, waiter);
  const log = new DecoderLog(runner, streams, { clock, randomness });
  const parts: DecoderParts = { connectors, source, verdicts, waiting, log, rows, clock, vault, logger, meter };
  return new DecoderLoops({ listed, connectors, rows, leases, bus, logger }, (of) => new Decoder(parts, of));
};

import { ChangeLogWitness, JudgedChanges, type WhySilent } from '#libs/domain/gate';
import { DecoderLog, decoderNow } from '#libs/domain/witness';
import type { Deployment } from '#libs/infra/deployment';
import { ConnectorReads, ProjectionWaiter, WaitingActionReads } from '#libs/infra/read-models';
import { EgressChangeLogSource } from '#libs/infra/witness';
import { Decoder, type DecoderParts } from './decoder.js';
import { DecoderLoops } from './decoder-loops.js';

/** The decoders of a worker process. */
export const decodersOf = (deployment: Deployment): DecoderLoops => {
  const { connectors, decoderRows: rows, database, projectionProgress, runner, streams } = deployment;
  const { clock, randomness, vault, logger, metrics: meter, leases, bus } = deployment;
  const gate = deployment.gateKernel();
  const judged = new JudgedChanges(gate, deployment.payloads, logger);
  const verdicts = new ChangeLogWitness(gate, bus, (action, logged) => judged.of(action, logged));
  const source = new EgressChangeLogSource(deployment.egress, clock);
  const listed = new ConnectorReads(database.readModels);
  const waiter = new ProjectionWaiter(database.store, projectionProgress);
  const waiting = new WaitingActionReads(database.readModels, waiter);
  const log = new DecoderLog(runner, streams, { clock, randomness });
  const parts: DecoderParts = { connectors, source, verdicts, waiting, log, rows, clock, vault, logger, meter };
  return new DecoderLoops({ listed, connectors, rows, leases, bus, source, logger }, (of) => new Decoder(parts, of));
};

/** What the decoder of a connector last said of itself is why its log has not spoken; without a word of it, nobody knows. */
export const whySilentBy =
  ({ decoderRows, clock }: Pick<Deployment, 'decoderRows' | 'clock'>): WhySilent =>
  async (connector) => {
    const row = connector === null ? undefined : (await decoderRows.of([connector])).get(connector);
    const reason = row === undefined ? null : decoderNow(row, clock.nowMs()).reason;
    return reason === null || reason === 'slot_left' ? 'timeout' : reason;
  };

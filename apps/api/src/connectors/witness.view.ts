import type { JsonObject } from '#libs/crypto';
import { changeLogOf, type LiveConnector } from '#libs/domain/connectors';
import { DomainError } from '#libs/domain/kernel';
import { type DecoderRow, decoderStatusOf, isWitnessed, witnessTermsOf } from '#libs/domain/witness';

/**
 * How the change log of a database connector is followed; nothing of any other type.
 * @param decoder as it is now; null where nobody has begun to follow
 */
export const witnessView = (connector: LiveConnector, decoder: DecoderRow | null): JsonObject =>
  connector.type === 'database' ? { witness: statusView(connector, decoder) } : {};

/**
 * The decoder of a connector: what it reads, and how that goes.
 * @throws {DomainError} witness_not_configured
 */
export const decoderView = (connector: LiveConnector, decoder: DecoderRow | null): JsonObject => {
  const terms = witnessTermsOf(connector);
  if (terms === null || changeLogOf(connector)?.isWanted !== true) throw new DomainError('witness_not_configured');
  const { slot, publication } = terms;
  return {
    object: 'connector_witness',
    connector: connector.id,
    slot,
    publication,
    watch_bypass: terms.watchBypass,
    ...statusView(connector, decoder),
  };
};

const OFF = { status: 'off', reason: null, lag_bytes: null, position: null, since: null };

/** A connector that has just become active is `down` until its decoder has looked at itself for the first time. */
const statusView = (connector: LiveConnector, decoder: DecoderRow | null): JsonObject => {
  const isOn = isWitnessed(connector);
  if (decoder === null) return isOn ? { ...OFF, status: 'down', reason: 'decoder_down' } : OFF;
  const { reason, lagBytes, position, since } = decoder;
  // Before the slot of a connector that was switched off is dropped, its row says how the decoder last was.
  if (!isOn) return { ...OFF, reason: reason === 'slot_left' ? reason : null, since };
  return { status: decoderStatusOf(reason), reason, lag_bytes: lagBytes, position, since };
};

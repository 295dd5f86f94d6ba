import {
  encodeCosignatures,
  encodeHex,
  encodeTreeSize,
  formatNote,
  judgeNote,
  type KnownKey,
  parseAddCheckpoint,
  type ReadAddCheckpoint,
  type SignedNote,
  TLOG_SIZE_MEDIA_TYPE,
  WitnessMessageError,
} from '#libs/crypto';
import { KeyedTurns } from './keyed-turns.js';
import { type LatestCheckpoint, type LatestCheckpoints, originHashOf, UncertainState } from './latest-checkpoints.js';
import type { TrustedLogs } from './trusted-logs.js';
import { decideCosignature } from './witness-decision.js';
import type { WitnessKey } from './witness-key.js';
import type { WitnessLog } from './witness-log.js';

/** What is sent back. */
export interface WitnessAnswer {
  readonly status: number;
  readonly body: string | Uint8Array;
  readonly mediaType: string;
}

const PLAIN_TEXT = 'text/plain; charset=utf-8';

/** A body in words: for whoever reads a log of his own. Programs read the status. */
export const saying = (status: number, words: string): WitnessAnswer => ({
  status,
  body: `${words}\n`,
  mediaType: PLAIN_TEXT,
});

/** Extension lines are the log's; so many bytes of them and of the rest leave room for every signature in what is kept. */
const MAX_TEXT_BYTES = 64 * 1024;
/** Of a log's signed contradiction, in the operator's log. */
const MAX_PROVEN_CHARACTERS = 8_192;
const SECOND_MS = 1_000;

/** Where it tells what happens, and the time. */
export interface WitnessSurroundings {
  readonly log: WitnessLog;
  readonly nowMs: () => number;
}

/** Whoever asked went away while it waited for its turn. Nothing was done for it. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** A tlog-witness: what HTTP asks of it, without HTTP. */
export class Witness {
  readonly #turns = new KeyedTurns();
  #isUncertain = false;

  constructor(
    private readonly key: WitnessKey,
    private readonly logs: TrustedLogs,
    private readonly checkpoints: LatestCheckpoints,
    private readonly surroundings: WitnessSurroundings,
  ) {}

  /**
   * `add-checkpoint`.
   * @param isGone whether nobody waits for the answer any more, asked when its turn comes
   * @throws {UncertainState} after which this process must end
   * @throws {ClientGone}
   */
  async addCheckpoint(body: Uint8Array, isGone = (): boolean => false): Promise<WitnessAnswer> {
    const asked = this.#read(body);
    if (!('note' in asked)) return asked;
    const { origin } = asked.checkpoint;
    const keys = this.logs.keysOf(origin);
    if (keys.length === 0) return this.#refuse(404, 'unknown_log', 'this witness does not know the log');
    const signed = signedBy(asked.note, keys);
    if (signed === null) {
      return this.#refuse(403, 'signature', 'no valid signature of a known key of the log', { origin });
    }
    return this.#inTurn(originHashOf(origin), () => {
      if (isGone()) throw new ClientGone('nobody waits for the answer');
      return this.#decide(asked, signed);
    });
  }

  /** The latest cosigned checkpoint, as monitors read it. Never one that may still be lost. @throws {UncertainState} */
  async checkpoint(originHash: string): Promise<WitnessAnswer> {
    const note = await this.#inTurn(originHash, () => this.checkpoints.note(originHash));
    return note === null
      ? saying(404, 'this witness never cosigned for that log')
      : { status: 200, body: note, mediaType: PLAIN_TEXT };
  }

  #read(body: Uint8Array): ReadAddCheckpoint | WitnessAnswer {
    try {
      const asked = parseAddCheckpoint(body);
      if (Buffer.byteLength(asked.note.text) <= MAX_TEXT_BYTES) return asked;
      return this.#refuse(400, 'text_too_large', `the checkpoint has more than ${MAX_TEXT_BYTES} bytes`);
    } catch (error) {
      if (!(error instanceof WitnessMessageError)) throw error;
      return this.#refuse(400, error.reason, error.message);
    }
  }

  async #inTurn<Result>(originHash: string, work: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(originHash, async () => {
      if (this.#isUncertain) throw new UncertainState('a checkpoint may or may not be on disk');
      try {
        return await work();
      } catch (error) {
        if (error instanceof UncertainState) this.#isUncertain = true;
        throw error;
      }
    });
  }

  /** Nobody else reads or writes this log meanwhile: what is compared here is what is replaced. */
  async #decide(asked: ReadAddCheckpoint, signed: SignedNote): Promise<WitnessAnswer> {
    const { origin, size, root } = asked.checkpoint;
    const latest = await this.checkpoints.latest(origin);
    const decision = decideCosignature({ oldSize: asked.oldSize, proof: asked.proof, size, root }, latest);
    switch (decision.kind) {
      case 'cosign':
        return this.#cosign(asked, signed, latest);
      case 'old_above_size':
        return this.#refuse(400, decision.kind, 'the old size is above the size of the checkpoint', { origin });
      case 'conflict': {
        this.surroundings.log.tell('info', 'refused', {
          status: 409,
          reason: decision.kind,
          origin,
          latest: decision.size,
        });
        return { status: 409, body: encodeTreeSize(decision.size), mediaType: TLOG_SIZE_MEDIA_TYPE };
      }
      case 'inconsistent': {
        // It may be proof that the log has two histories, so it is kept as the log signed it.
        const note = formatNote(signed).slice(0, MAX_PROVEN_CHARACTERS);
        const known = latest === null ? null : { size: latest.size, root: encodeHex(latest.root) };
        const facts = { origin, why: decision.why, old: asked.oldSize, latest: known, note };
        return this.#refuse(
          422,
          decision.kind,
          `the checkpoint does not continue the last one: ${decision.why}`,
          facts,
        );
      }
    }
  }

  async #cosign(
    { checkpoint: { origin, size, root }, note: { text } }: ReadAddCheckpoint,
    signed: SignedNote,
    latest: LatestCheckpoint | null,
  ): Promise<WitnessAnswer> {
    const timestamp = this.#timestampAfter(latest);
    const cosignatures = this.key.cosign(text, timestamp);
    await this.checkpoints.replace(origin, { text, signatures: [...signed.signatures, ...cosignatures] });
    this.surroundings.log.tell('info', 'cosigned', { origin, size, root: encodeHex(root), timestamp });
    return { status: 200, body: encodeCosignatures(cosignatures), mediaType: PLAIN_TEXT };
  }

  /** Now; and never before what was said of the log before, which would make of a grown tree an older one. */
  #timestampAfter(latest: LatestCheckpoint | null): number {
    return Math.max(1, Math.floor(this.surroundings.nowMs() / SECOND_MS), latest?.timestamp ?? 0);
  }

  #refuse(status: number, reason: string, words: string, facts: object = {}): WitnessAnswer {
    this.surroundings.log.tell('info', 'refused', { status, reason, ...facts });
    return saying(status, words);
  }
}

/**
 * The note with nothing but the lines of these keys; null where there is none, or one of them is false. Judging ends with the
 * first false one: a body of a hundred of them costs no more than one.
 */
const signedBy = (note: SignedNote, keys: readonly KnownKey[]): SignedNote | null => {
  const signatures = [];
  for (const signature of note.signatures) {
    const { verified, failed } = judgeNote({ text: note.text, signatures: [signature] }, keys);
    if (failed.length > 0) return null;
    if (verified.length > 0) signatures.push(signature);
  }
  return signatures.length === 0 ? null : { text: note.text, signatures: distinct(signatures) };
};

const distinct = (signatures: SignedNote['signatures']): SignedNote['signatures'] => [
  ...new Map(signatures.map((one) => [`${one.keyName} ${one.keyId} ${encodeHex(one.signature)}`, one])).values(),
];

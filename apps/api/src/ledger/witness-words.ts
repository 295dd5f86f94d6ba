import { setTimeout as sleep } from 'node:timers/promises';
import type { Digest, JsonObject } from '#libs/crypto';
import type { Logger, OrgId } from '#libs/domain/kernel';
import type {
  Asking,
  CheckpointJournal,
  WitnessAsking,
  WitnessPolicies,
  WitnessStanding,
  WitnessStandings,
} from '#libs/domain/ledger';

/** Longer than a witness takes that is well, and shorter than a person's patience. */
const PATIENCE_MS = 8_000;

export interface WitnessWordsParts {
  readonly policies: Pick<WitnessPolicies, 'of'>;
  readonly asking: Pick<WitnessAsking, 'begin'>;
  readonly journal: Pick<CheckpointJournal, 'tail'>;
  readonly standings: Pick<WitnessStandings, 'of'>;
  readonly logger: Logger;
}

/** What witnesses say when they are asked at once, as far as they say it in time. */
export class WitnessWords {
  constructor(
    private readonly parts: WitnessWordsParts,
    private readonly patienceMs = PATIENCE_MS,
  ) {}

  /** Of every witness of the policy. Who has not answered in time is still asked, and what it says is kept. */
  async of(org: OrgId): Promise<readonly JsonObject[]> {
    const { witnesses } = await this.parts.policies.of(org);
    if (witnesses.length === 0) return [];
    const askings = await this.parts.asking.begin(org, true);
    const unasked = await this.wordsOfUnasked(org);
    const patience = new AbortController();
    const over = sleep(this.patienceMs, null, { signal: patience.signal, ref: false }).catch(() => null);
    try {
      return await Promise.all(
        witnesses.map(async ({ name, witness }) => {
          const asked = askings.find((each) => each.witness.witness === witness);
          return asked === undefined
            ? unasked(name, witness)
            : wordOf(name, await Promise.race([this.heard(asked), over]));
        }),
      );
    } finally {
      patience.abort();
    }
  }

  /** Who is not asked has cosigned the newest checkpoint, or disagrees; where another one disagrees, nobody is. */
  private async wordsOfUnasked(org: OrgId): Promise<(name: string, witness: Digest) => JsonObject> {
    const { origin, cosignatures } = await this.parts.journal.tail(org);
    const known = origin === null ? null : await this.parts.standings.of(org, origin);
    return (name, witness) => {
      if (cosignatures.some((said) => said.witness === witness)) return { name, state: 'current', detail: null };
      const standing = known?.get(witness);
      return wordOf(name, standing?.result === 'disagrees' ? standing : null);
    };
  }

  private async heard({ done }: Asking): Promise<WitnessStanding | null> {
    try {
      return await done;
    } catch (error) {
      this.parts.logger.warn('what a witness said could not be kept; it is asked again', { error });
      return null;
    }
  }
}

const wordOf = (name: string, standing: WitnessStanding | null): JsonObject => {
  if (standing === null) return { name, state: 'still_asked', detail: null };
  const { result, detail } = standing;
  return { name, state: result === 'cosigned' ? 'current' : result, detail };
};

import { encodeHex, sha256Hex } from '#libs/crypto';
import { SYSTEM, timestampOf, type CommandMetadata, type CommandRunner, type OrgId } from '../../kernel/index.js';
import type { MissedCode, MissedCodes } from '../people.ports.js';
import { CODE_ATTEMPTS_MAX } from '../session-limits.js';
import { signInFailureDecider } from '../sign-in-failure.decider.js';
import type { PersonSessions } from './person-sessions.js';

const CODES_AT_ONCE = 100;

/**
 * Records the wrong codes of people. Never while somebody waits for the answer: an append for known addresses alone would tell
 * them from unknown ones. Every step may be repeated, by this worker or by another.
 */
export class SignInFailures {
  constructor(
    private readonly runner: CommandRunner,
    private readonly codes: MissedCodes,
    private readonly sessions: Pick<PersonSessions, 'belongings'>,
  ) {}

  /** Oldest first, so many at once. @throws what kept one of them from being recorded: the others are all the same */
  async record(): Promise<void> {
    const faults: unknown[] = [];
    for (const code of await this.codes.unrecorded(CODES_AT_ONCE)) {
      try {
        await this.recordOne(code);
        await this.codes.recorded(code);
      } catch (error) {
        faults.push(error);
      }
    }
    if (faults.length > 0) throw faults[0];
  }

  /** In every organization that the person could have come into. Nothing of an address that nobody has. */
  private async recordOne({ tokenHash, user, misses, missedAtMs }: MissedCode): Promise<void> {
    if (user === null) return;
    const isUsedUp = misses >= CODE_ATTEMPTS_MAX;
    for (const { organization } of await this.sessions.belongings(user)) {
      const { org } = organization;
      const id = failureId(tokenHash, org);
      const metadata: CommandMetadata = {
        org,
        actor: SYSTEM,
        requestId: null,
        commandId: `sign-in-failed:${id}:${misses}`,
        now: timestampOf(missedAtMs),
      };
      const command = { type: 'RecordFailure' as const, data: { org, user, isUsedUp }, metadata };
      await this.runner.run(signInFailureDecider, id, command, metadata);
    }
  }
}

/** Leads back to no token, and to no organization. */
const failureId = (tokenHash: Uint8Array, org: OrgId): string =>
  sha256Hex(`service/sign-in-failure/v1\n${encodeHex(tokenHash)}\n${org}`).slice(0, 32);

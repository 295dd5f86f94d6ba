import type { Bus, Clock, CommandRunner, FoldedStreams, Randomness } from '../../kernel/index.js';
import { passkeysOf, requireRoomForPasskey } from '../passkey.decider.js';
import { PASSKEY_ALGS } from '../passkey.events.js';
import { requireParty, requireRecentSignIn, userHandleOf } from '../passkey-exchange.js';
import type { PasskeyChallenges, PasskeyRow, PasskeyRows, PasskeyVerifier, RelyingParty } from '../passkey.ports.js';
import type { Passkey } from '../passkey.state.js';
import type { MailOrders, PeopleDirectory } from '../people.ports.js';
import { SECRET_BYTES, secretHash, secretText } from '../secrets.js';
import { PASSKEY_CHALLENGE_MS } from '../session-limits.js';
import type { LiveSession } from './person-sessions.js';

export interface PasskeyParts {
  readonly rows: PasskeyRows;
  readonly challenges: PasskeyChallenges;
  readonly verifier: PasskeyVerifier;
  readonly people: PeopleDirectory;
  readonly orders: MailOrders;
}

export interface PasskeySources {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly bus: Bus;
}

/** A passkey with what only its row knows: null where the row was lost. */
export interface ListedPasskey {
  readonly passkey: Passkey;
  readonly row: PasskeyRow | null;
}

/** What a browser is to ask a device for, as `PublicKeyCredential.parseCreationOptionsFromJSON` takes it. */
export interface CreationOptions {
  readonly rp: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly challenge: string;
  readonly pubKeyCredParams: readonly { readonly type: 'public-key'; readonly alg: number }[];
  readonly timeout: number;
  readonly excludeCredentials: readonly { readonly type: 'public-key'; readonly id: string }[];
  readonly authenticatorSelection: {
    readonly residentKey: 'preferred';
    readonly requireResidentKey: false;
    readonly userVerification: 'required';
  };
  readonly attestation: 'none';
  readonly extensions: { readonly credProps: true };
}

const SITE_NAME = 'Agent Governance Service';

/** The passkeys of people who are signed in, and what the handlers that change them share. */
export class Passkeys {
  constructor(
    readonly runner: CommandRunner,
    readonly streams: FoldedStreams,
    readonly parts: PasskeyParts,
    readonly sources: PasskeySources,
  ) {}

  /**
   * What a device is asked to make a key for. Good once, for this session, for {@link PASSKEY_CHALLENGE_MS}.
   * @throws {DomainError} not_found, recent_sign_in_required, conflict: there are ten
   */
  async options({ row, organization, member }: LiveSession, party: RelyingParty | null): Promise<CreationOptions> {
    const { id } = requireParty(party);
    const nowMs = this.sources.clock.nowMs();
    requireRecentSignIn(row, nowMs);
    requireRoomForPasskey(organization.passkeys, member.membership);
    const challenge = secretText(this.sources.randomness.bytes(SECRET_BYTES));
    const challengeHash = secretHash(challenge) as Uint8Array;
    const bound = { challengeHash, purpose: 'register', holder: row.session } as const;
    await this.parts.challenges.issue(bound, nowMs, nowMs + PASSKEY_CHALLENGE_MS);
    const address = (await this.parts.people.addressesOf([member.user])).get(member.user) ?? member.user;
    const own = passkeysOf(organization.passkeys, member.membership);
    return {
      rp: { id, name: SITE_NAME },
      // A device shows them when it asks which account to sign in with.
      user: {
        id: userHandleOf(member.membership),
        name: `${address} (${organization.name})`,
        displayName: address,
      },
      challenge,
      pubKeyCredParams: PASSKEY_ALGS.map((alg) => ({ type: 'public-key', alg })),
      timeout: PASSKEY_CHALLENGE_MS,
      excludeCredentials: own.map(({ credential }) => ({ type: 'public-key', id: credential })),
      // A device that can hold it offers it at a sign-in without being told who asks; one that cannot still signs.
      authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification: 'required' },
      attestation: 'none',
      extensions: { credProps: true },
    };
  }

  /** The person's own in this organization, newest first. */
  async list({ organization, member }: LiveSession): Promise<readonly ListedPasskey[]> {
    const rows = await this.parts.rows.ofUser(member.user, organization.org);
    const known = new Map(rows.map((row) => [row.credential, row]));
    return passkeysOf(organization.passkeys, member.membership)
      .map((passkey) => ({ passkey, row: known.get(passkey.credential) ?? null }))
      .reverse();
  }
}

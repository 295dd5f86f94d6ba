import { encodeHex, sha256 } from '#libs/crypto';
import {
  DomainError,
  streamRef,
  type Clock,
  type FoldedStreams,
  type Logger,
  type Randomness,
} from '../../kernel/index.js';
import { organizationDecider } from '../organization.decider.js';
import type { Passkey } from '../passkey.state.js';
import { challengeIn, requireParty, userHandleOf } from '../passkey-exchange.js';
import type {
  AssertionAnswer,
  PasskeyChallenges,
  PasskeyRows,
  PasskeyVerifier,
  RelyingParty,
} from '../passkey.ports.js';
import type { SessionRows } from '../people.ports.js';
import { SECRET_BYTES, secretHash, secretText } from '../secrets.js';
import { PASSKEY_CHALLENGE_MS } from '../session-limits.js';
import type { Belonging, OpenedSession, PersonSessions } from './person-sessions.js';
import type { SignInRequest } from './sign-in.js';

export interface PasskeySignInParts {
  readonly rows: PasskeyRows;
  readonly challenges: PasskeyChallenges;
  readonly verifier: PasskeyVerifier;
  readonly sessions: SessionRows;
}

/** What a browser is to ask a device for, as `PublicKeyCredential.parseRequestOptionsFromJSON` takes it. */
export interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
  readonly timeout: number;
  readonly userVerification: 'required';
  /** Nobody: the device shows what it has. So nobody is told whether a person exists, or which passkeys there are. */
  readonly allowCredentials: readonly never[];
}

/** Signing in by a passkey: into the organization that it was registered in. */
export class PasskeySignIn {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly sessions: PersonSessions,
    private readonly parts: PasskeySignInParts,
    private readonly sources: { readonly clock: Clock; readonly randomness: Randomness; readonly logger: Logger },
  ) {}

  /**
   * The same for everybody: nobody says who is about to sign in.
   * @returns what the browser keeps too, so that an answer is worth something in it alone
   * @throws {DomainError} not_found
   */
  async options(party: RelyingParty | null): Promise<{ readonly options: RequestOptions; readonly browser: string }> {
    const { id: rpId } = requireParty(party);
    const { clock, randomness } = this.sources;
    const [challenge, browser] = [
      secretText(randomness.bytes(SECRET_BYTES)),
      secretText(randomness.bytes(SECRET_BYTES)),
    ];
    const nowMs = clock.nowMs();
    const challengeHash = secretHash(challenge) as Uint8Array;
    const bound = { challengeHash, purpose: 'sign_in', holder: holderOf(browser) } as const;
    await this.parts.challenges.issue(bound, nowMs, nowMs + PASSKEY_CHALLENGE_MS);
    const options = { challenge, rpId, timeout: PASSKEY_CHALLENGE_MS, userVerification: 'required' } as const;
    return { options: { ...options, allowCredentials: [] }, browser };
  }

  /**
   * Every miss is the same: an unknown passkey, a removed one, a removed member, a wrong signature, a used challenge.
   * @param browser the cookie that {@link options} gave
   * @throws {DomainError} passkey_invalid, not_found
   */
  async signIn(
    answer: AssertionAnswer,
    browser: string | null,
    party: RelyingParty | null,
    request: SignInRequest,
  ): Promise<OpenedSession> {
    const asked = requireParty(party);
    const found = challengeIn(answer.clientDataJson);
    const nowMs = this.sources.clock.nowMs();
    const bound = found && { challengeHash: found.hash, purpose: 'sign_in' as const, holder: holderOf(browser ?? '') };
    if (found === null || bound === null || !(await this.parts.challenges.take(bound, nowMs))) {
      throw new DomainError('passkey_invalid');
    }
    const known = await this.known(answer);
    if (known === null) throw new DomainError('passkey_invalid');
    const { belonging, passkey } = known;
    const expected = { challenge: found.challenge, party: asked };
    const asserted = await this.parts.verifier.asserted(answer, passkey, expected);
    if (asserted === null) throw new DomainError('passkey_invalid');
    await this.noteUse(passkey, asserted.signCount, nowMs);
    const opened = this.sessions.prepare(belonging, 'passkey', request.place);
    await this.parts.sessions.insert(opened.row);
    await this.sessions.start(opened.row, request.requestId);
    return opened;
  }

  /** By the row, which says where to look; by the stream, which says whether. */
  private async known({
    credential,
    userHandle,
  }: AssertionAnswer): Promise<{ readonly belonging: Belonging; readonly passkey: Passkey } | null> {
    const row = await this.parts.rows.find(credential);
    if (row === null) return null;
    const { state: organization } = await this.streams.load(streamRef(organizationDecider, row.org));
    if (organization.status === 'none') return null;
    const passkey = organization.passkeys.get(credential);
    const member = passkey && organization.members.get(passkey.membership);
    if (passkey === undefined || member?.status !== 'active') return null;
    if (userHandle !== null && userHandle !== userHandleOf(passkey.membership)) return null;
    return { belonging: { organization, member }, passkey };
  }

  /** Devices that sync a passkey count nothing. Where one counts and its count fell somebody may have a copy: said, not refused. */
  private async noteUse({ passkey, credential, user }: Passkey, signCount: number, nowMs: number): Promise<void> {
    const hasFallen = await this.parts.rows.used(credential, signCount, nowMs);
    if (hasFallen)
      this.sources.logger.warn('the sign counter of a passkey fell; it may have been copied', { passkey, user });
  }
}

const holderOf = (browser: string): string => encodeHex(secretHash(browser) ?? sha256(''));

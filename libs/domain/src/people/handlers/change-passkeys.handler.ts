import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  checkedName,
  derivedId,
  DomainError,
  epochMsOf,
  MAIL_CHANNEL,
  streamRef,
  type PasskeyId,
} from '../../kernel/index.js';
import { readMailAddress } from '../mail-address.js';
import { organizationDecider } from '../organization.decider.js';
import type { LivingOrganization } from '../organization.state.js';
import type { PasskeyCommand } from '../passkey.decider.js';
import { challengeIn, requireParty, requireRecentSignIn } from '../passkey-exchange.js';
import { RegisterPasskey, RemovePasskey } from './passkey.messages.js';
import { Passkeys, type ListedPasskey } from './passkeys.js';

@CommandHandler(RegisterPasskey)
export class RegisterPasskeyHandler implements ICommandHandler<RegisterPasskey> {
  constructor(private readonly passkeys: Passkeys) {}

  /**
   * What is refused leaves no row. Else the row first, then the order of the mail, then the event that makes both mean
   * something. A retried command is answered from the stream: its challenge is used up.
   * @throws {DomainError} not_found, recent_sign_in_required, validation_failed; passkey_invalid: whatever is wrong
   *   with the answer; conflict: registered already, or ten
   */
  async execute(command: RegisterPasskey): Promise<ListedPasskey> {
    const { session, metadata } = command;
    const passkey = derivedId('pky', metadata.commandId);
    const { state, causations } = await this.passkeys.streams.load(
      streamRef(organizationDecider, session.organization.org),
    );
    if (causations.has(metadata.commandId)) return this.listed(state as LivingOrganization, passkey);
    const { register, signCount } = await this.judged(command, passkey);
    organizationDecider.decide(register, state);
    await this.note(command, register.data.credential, signCount);
    await this.order(command, passkey);
    const { folded } = await this.passkeys.runner.run(
      organizationDecider,
      session.organization.org,
      register,
      metadata,
    );
    this.passkeys.sources.bus.publish(MAIL_CHANNEL, '');
    return this.listed(folded.state as LivingOrganization, passkey);
  }

  private async judged({ session, named, answer, party, metadata }: RegisterPasskey, passkey: PasskeyId) {
    const asked = requireParty(party);
    checkedName(named.name);
    const nowMs = this.passkeys.sources.clock.nowMs();
    requireRecentSignIn(session.row, nowMs);
    const { challenges, verifier } = this.passkeys.parts;
    const found = challengeIn(answer.clientDataJson);
    const bound = found && { challengeHash: found.hash, purpose: 'register' as const, holder: session.row.session };
    if (found === null || bound === null || !(await challenges.take(bound, nowMs))) {
      throw new DomainError('passkey_invalid');
    }
    const registered = await verifier.registered(answer, { challenge: found.challenge, party: asked });
    if (registered === null) throw new DomainError('passkey_invalid');
    const register: Extract<PasskeyCommand, { type: 'RegisterPasskey' }> = {
      type: 'RegisterPasskey',
      data: { ...registered.made, passkey },
      metadata,
    };
    return { register, signCount: registered.signCount };
  }

  /** @throws {DomainError} conflict */
  private async note({ session, named }: RegisterPasskey, credential: string, signCount: number): Promise<void> {
    const { organization, member } = session;
    const of = { credential, user: member.user, org: organization.org, membership: member.membership };
    if (await this.passkeys.parts.rows.note({ ...of, ...named, signCount })) return;
    throw new DomainError('conflict', {
      param: 'credential',
      message: 'This passkey is registered already, of another person or in another organization. Make a new one.',
    });
  }

  /** Who has no address yet gets no mail. */
  private async order({ session, named, metadata }: RegisterPasskey, passkey: PasskeyId): Promise<void> {
    const { people, orders } = this.passkeys.parts;
    const { organization, member } = session;
    const address = readMailAddress((await people.addressesOf([member.user])).get(member.user) ?? '');
    if (address === null) return;
    await orders.orderPasskeyMail({
      id: passkey,
      address,
      user: member.user,
      org: organization.org,
      membership: member.membership,
      command: metadata.commandId,
      name: named.name,
      requestedAtMs: epochMsOf(metadata.now),
    });
  }

  private async listed(state: LivingOrganization, id: PasskeyId): Promise<ListedPasskey> {
    const passkey = [...state.passkeys.values()].find((each) => each.passkey === id);
    // Registered, and removed since.
    if (passkey === undefined) throw new DomainError('not_found');
    return { passkey, row: await this.passkeys.parts.rows.find(passkey.credential) };
  }
}

@CommandHandler(RemovePasskey)
export class RemovePasskeyHandler implements ICommandHandler<RemovePasskey> {
  constructor(private readonly passkeys: Passkeys) {}

  /** It signs nothing and nobody in from the event on. Sessions that it opened go on. @throws {DomainError} not_found */
  async execute({ session, passkey, metadata }: RemovePasskey): Promise<{ readonly passkey: PasskeyId }> {
    const { passkeys, org } = session.organization;
    const command = { type: 'RemovePasskey' as const, data: { passkey }, metadata };
    await this.passkeys.runner.run(organizationDecider, org, command, metadata);
    const known = [...passkeys.values()].find((each) => each.passkey === passkey);
    if (known !== undefined) await this.passkeys.parts.rows.remove(known.credential);
    return { passkey };
  }
}

import { Command } from '@nestjs/cqrs';
import type { CommandMetadata, PasskeyId } from '../../kernel/index.js';
import type { Passkey } from '../passkey.state.js';
import type { RegistrationAnswer, RelyingParty } from '../passkey.ports.js';
import type { ListedPasskey } from './passkeys.js';
import type { LiveSession } from './person-sessions.js';

/** `POST /v1/passkeys`: what a device answered becomes a passkey of who is signed in. */
export class RegisterPasskey extends Command<ListedPasskey> {
  constructor(
    readonly session: LiveSession,
    readonly named: { readonly name: string; readonly isOffered: boolean | null },
    readonly answer: RegistrationAnswer,
    readonly party: RelyingParty | null,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

/** `DELETE /v1/passkeys/{id}`: by the person whose passkey it is. */
export class RemovePasskey extends Command<Pick<Passkey, 'passkey'>> {
  constructor(
    readonly session: LiveSession,
    readonly passkey: PasskeyId,
    readonly metadata: CommandMetadata,
  ) {
    super();
  }
}

import { IsBoolean, IsObject, IsString, MaxLength } from 'class-validator';
import type { AssertionAnswer } from '#libs/domain/people';
import { IfPresent, Nested } from '../http/shape.js';

const TEXT = { message: 'must be a string' };
const OBJECT = { message: 'must be an object' };

/** Longer ones are no credential id: WebAuthn allows 1,023 bytes. */
const CREDENTIAL_MAX = 1_364;
const TOO_LONG = { message: `must have at most ${CREDENTIAL_MAX} characters` };

/** What a device answered when it made a key. */
class RegisteredCredential {
  @IsString(TEXT)
  @MaxLength(CREDENTIAL_MAX, TOO_LONG)
  id!: string;

  @IsString(TEXT)
  client_data_json!: string;

  @IsString(TEXT)
  attestation_object!: string;

  /** `credProps.rk` of the client's extension results. */
  @IfPresent()
  @IsBoolean({ message: 'must be true or false' })
  discoverable?: boolean;
}

/** POST /v1/passkeys */
export class RegisterPasskeyBody {
  @IsString(TEXT)
  name!: string;

  @IsObject(OBJECT)
  @Nested(() => RegisteredCredential)
  credential!: RegisteredCredential;
}

/** What a device answered when it signed. */
export class AssertedCredential {
  @IsString(TEXT)
  @MaxLength(CREDENTIAL_MAX, TOO_LONG)
  id!: string;

  @IsString(TEXT)
  client_data_json!: string;

  @IsString(TEXT)
  authenticator_data!: string;

  @IsString(TEXT)
  signature!: string;

  @IfPresent()
  @IsString(TEXT)
  user_handle?: string;
}

/** POST /v1/auth/passkey/verify */
export class VerifyPasskeyBody {
  @IsObject(OBJECT)
  @Nested(() => AssertedCredential)
  credential!: AssertedCredential;

  /** Where the Console goes after signing in: a path of its own. */
  @IfPresent()
  @IsString(TEXT)
  @MaxLength(2_048, { message: 'must have at most 2048 characters' })
  next?: string;
}

/** As the domain names it. */
export const assertionAnswerOf = (credential: AssertedCredential): AssertionAnswer => ({
  credential: credential.id,
  clientDataJson: credential.client_data_json,
  authenticatorData: credential.authenticator_data,
  signature: credential.signature,
  userHandle: credential.user_handle ?? null,
});

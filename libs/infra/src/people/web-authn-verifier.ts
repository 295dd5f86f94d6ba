import {
  PasskeyVerifier,
  type AssertionAnswer,
  type Expected,
  type PasskeyCredential,
  type RegistrationAnswer,
} from '#libs/domain/people';
import type { JudgedRegistration } from './web-authn-ceremonies.js';

/** By the library of SimpleWebAuthn, which is loaded for the first passkey: 27 MB that most processes never need. */
export class WebAuthnVerifier extends PasskeyVerifier {
  override async registered(answer: RegistrationAnswer, expected: Expected): Promise<JudgedRegistration | null> {
    const { judgeRegistration } = await import('./web-authn-ceremonies.js');
    return judgeRegistration(answer, expected);
  }

  override async asserted(
    answer: AssertionAnswer,
    key: Pick<PasskeyCredential, 'credential' | 'alg' | 'publicKey'>,
    expected: Expected,
  ): Promise<{ readonly signCount: number } | null> {
    const { judgeAssertion } = await import('./web-authn-ceremonies.js');
    return judgeAssertion(answer, key, expected);
  }
}

import { Passkeys, PasskeySignIn, type PasskeyVerifier } from '#libs/domain/people';
import { WebAuthnVerifier } from '../people/index.js';
import type { Deployment } from './deployment.js';

/** What makes, lists and ends passkeys, what signs people in by them, and what judges their answers. */
export const passkeysOf = (
  deployment: Deployment,
): { readonly passkeys: Passkeys; readonly passkeySignIn: PasskeySignIn; readonly verifier: PasskeyVerifier } => {
  const { runner, streams, clock, randomness, bus, logger, people } = deployment;
  const { directory, orders, passkeys: rows, challenges, rows: sessions } = people;
  const verifier = new WebAuthnVerifier();
  return {
    verifier,
    passkeys: new Passkeys(
      runner,
      streams,
      { rows, challenges, verifier, people: directory, orders },
      { clock, randomness, bus },
    ),
    passkeySignIn: new PasskeySignIn(
      streams,
      deployment.personSessions(),
      { rows, challenges, verifier, sessions },
      { clock, randomness, logger },
    ),
  };
};

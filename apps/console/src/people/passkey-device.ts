import { startRegistration, WebAuthnError } from '@simplewebauthn/browser';
import type { Schemas } from '../kernel/client.ts';
import { ApiError } from '../kernel/errors.ts';

/** What a browser says for one reason or another when a device made no passkey. */
const REASONS: Readonly<Record<string, string>> = {
  NotAllowedError: 'No passkey was added: it was cancelled or took too long. Try again.',
  InvalidStateError: 'This device already has a passkey for this organization. Use it, or another device.',
  ConstraintError: 'This device cannot check that it is you, by a PIN, a fingerprint or your face. Use another device.',
  NotSupportedError: 'This device has no kind of passkey that the service takes. Use another device.',
};

const UNUSABLE = 'This browser cannot make a passkey here. Use another browser or device.';

/**
 * Has a device make a passkey, and the person verified by it.
 * @throws {ApiError} `passkey_device`, in words for the person
 */
export const madeBy = async (
  options: Schemas['PasskeyCreation']['public_key'],
): Promise<Schemas['RegisterPasskey']['credential']> => {
  try {
    const optionsJSON = structuredClone(options) as unknown as Parameters<typeof startRegistration>[0]['optionsJSON'];
    const { id, response, clientExtensionResults } = await startRegistration({ optionsJSON });
    const isOffered = clientExtensionResults.credProps?.rk;
    return {
      id,
      client_data_json: response.clientDataJSON,
      attestation_object: response.attestationObject,
      ...(isOffered === undefined ? {} : { discoverable: isOffered }),
    };
  } catch (error) {
    throw new ApiError({ code: 'passkey_device', message: reasonOf(error), status: 0 });
  }
};

const reasonOf = (error: unknown): string => {
  const cause = error instanceof WebAuthnError ? error.cause : error;
  return (cause instanceof Error ? REASONS[cause.name] : undefined) ?? UNUSABLE;
};

import { startAuthentication, startRegistration, WebAuthnError } from '@simplewebauthn/browser';
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
    throw new ApiError({ code: 'passkey_device', message: reasonOf(error, REASONS) ?? UNUSABLE, status: 0 });
  }
};

const UNSIGNED =
  'Nothing was approved: it was cancelled, took too long, or this device has none of your passkeys. Try again, or use the device that has one.';
const UNSIGNABLE = 'This browser cannot use a passkey here, so nothing was approved. Use another browser or device.';

/**
 * Has a device sign, and the person verified by it.
 * @throws {ApiError} `passkey_device`, in words for the person
 */
export const signedBy = async (
  options: Schemas['ApprovalPasskeyRequest']['public_key'],
): Promise<Schemas['PasskeyAssertion']> => {
  try {
    const optionsJSON = structuredClone(options) as unknown as Parameters<typeof startAuthentication>[0]['optionsJSON'];
    const { id, response } = await startAuthentication({ optionsJSON });
    return {
      id,
      client_data_json: response.clientDataJSON,
      authenticator_data: response.authenticatorData,
      signature: response.signature,
    };
  } catch (error) {
    const message = reasonOf(error, { NotAllowedError: UNSIGNED }) ?? UNSIGNABLE;
    throw new ApiError({ code: 'passkey_device', message, status: 0 });
  }
};

const reasonOf = (error: unknown, reasons: Readonly<Record<string, string>>): string | undefined => {
  const cause = error instanceof WebAuthnError ? error.cause : error;
  return cause instanceof Error ? reasons[cause.name] : undefined;
};

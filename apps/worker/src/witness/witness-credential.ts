import type { LiveConnector, Vault } from '#libs/domain/connectors';
import { ForeseenFault } from '#libs/domain/kernel';
import type { WitnessLogin, WitnessTerms } from '#libs/domain/witness';

/** The connector has no credential for its witness. */
class NoWitnessCredential extends ForeseenFault {
  override readonly name = 'NoWitnessCredential';
}

/**
 * Runs `work` with the credential of the witness, whose bytes are zeroed when it has ended.
 * @throws {NoWitnessCredential}
 * @throws {DomainError} vault_unavailable
 */
export const withLogin = async <Result>(
  vault: Pick<Vault, 'open'>,
  connector: LiveConnector,
  terms: WitnessTerms,
  work: (login: WitnessLogin) => Promise<Result>,
): Promise<Result> => {
  const { org, id: object, credential } = connector;
  const opened = credential && (await vault.open({ org, object, version: credential.version }));
  if (opened === null) throw new NoWitnessCredential('the connector has no credential');
  try {
    const username = opened.fields.get('witness_username');
    const password = opened.fields.get('witness_password');
    if (username === undefined || password === undefined) {
      throw new NoWitnessCredential('the credential of the connector names no role for its witness');
    }
    return await work({ connector, terms, username, password });
  } finally {
    opened.destroy();
  }
};

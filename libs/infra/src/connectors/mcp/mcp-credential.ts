import type { LiveConnector, OpenedSecret, Vault } from '#libs/domain/connectors';
import { type McpConfig, mcpConfigOf } from '#libs/domain/connectors/mcp';

/** How an opened credential joins each request of a call. */
export interface McpCredential {
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** What nothing that is kept may repeat. */
  readonly secrets: readonly string[];
}

const NO_CREDENTIAL: McpCredential = { headers: [], secrets: [] };

/** The config asks for a credential, and none of its kind is stored. */
export class MissingCredential extends Error {
  override readonly name = 'MissingCredential';
}

/**
 * Runs work with the connector's credential, which is destroyed when the work has ended. Strings cannot be zeroed, so they
 * are made as late as possible and kept by nobody.
 * @throws {MissingCredential}
 * @throws {DomainError} vault_unavailable
 */
export const withCredential = async <Result>(
  vault: Pick<Vault, 'open'>,
  connector: LiveConnector,
  work: (credential: McpCredential) => Promise<Result>,
): Promise<Result> => {
  const { auth } = mcpConfigOf(connector.config);
  if (auth.kind === 'none') return work(NO_CREDENTIAL);
  const secret = await opened(vault, connector, auth.kind);
  try {
    return await work(applied(auth, secret));
  } finally {
    secret.destroy();
  }
};

const opened = async (
  vault: Pick<Vault, 'open'>,
  { org, id, credential }: LiveConnector,
  kind: McpConfig['auth']['kind'],
): Promise<OpenedSecret> => {
  // It may have been removed while the call was on its way.
  const secret = credential?.kind === kind ? await vault.open({ org, object: id, version: credential.version }) : null;
  if (secret === null) throw new MissingCredential();
  return secret;
};

const applied = (auth: McpConfig['auth'], secret: OpenedSecret): McpCredential => {
  const field = (name: string): string => Buffer.from(secret.fields.get(name) ?? []).toString();
  if (auth.kind === 'bearer') {
    const token = field('token');
    return { headers: [['Authorization', `Bearer ${token}`]], secrets: [token] };
  }
  const value = field('value');
  return { headers: [[auth.header ?? 'X-API-Key', value]], secrets: [value] };
};

import { DomainError } from '../kernel/index.js';
import { credentialKindOf } from './connector-types.js';
import type { LiveConnector } from './connector.state.js';
import {
  type CheckFinding,
  type ConnectorCheck,
  failedCheck,
  passedCheck,
  skippedCheck,
  type TestedConnector,
} from './connector-test.js';
import type { ConnectorTypeSettings } from './connector-type.js';
import { destinationsOf, readConfig } from './connector-types.js';
import type { EgressPolicy, Reach, ReachedAddresses, TlsFault } from './egress-policy.port.js';
import type { Vault } from './vault.port.js';

export interface CommonCheckParts {
  readonly vault: Pick<Vault, 'open'>;
  readonly egress: Pick<EgressPolicy, 'reach'>;
  readonly settings: ConnectorTypeSettings;
}

/** What every type is asked, for one test: where it leads to is looked up once. */
export const commonChecks = ({ vault, egress, settings }: CommonCheckParts): readonly ConnectorCheck[] => {
  let reached: readonly Reached[] = [];
  const lookUp = async ({ connector }: TestedConnector): Promise<CheckFinding> => {
    reached = await Promise.all(
      destinationsOf(connector.type, connector.config).map(async (url) => ({
        host: new URL(url).host,
        reach: await egress.reach(url),
      })),
    );
    return destinationFinding(reached);
  };
  return [
    { name: 'config', restsOn: [], run: (tested) => Promise.resolve(configFinding(tested.connector, settings)) },
    { name: 'credentials', restsOn: ['config'], run: ({ connector }) => credentialFinding(connector, vault) },
    { name: 'destination', restsOn: ['config'], run: lookUp },
    { name: 'tls', restsOn: ['config', 'destination'], run: () => Promise.resolve(tlsFinding(reached)) },
  ];
};

interface Reached {
  /** With the port, when it is not the scheme's own. */
  readonly host: string;
  readonly reach: Reach;
}

/** By the rules of today: those of a newer version may refuse what an older one took. */
const configFinding = ({ type, config }: LiveConnector, settings: ConnectorTypeSettings): CheckFinding => {
  try {
    readConfig(type, config, settings);
    return passedCheck(`The config keeps to the rules of its type, ${type}.`);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return failedCheck(error.message, `Change ${error.param ?? 'the config'}, and test again.`);
  }
};

const credentialFinding = async (connector: LiveConnector, vault: CommonCheckParts['vault']): Promise<CheckFinding> => {
  const wanted = credentialKindOf(connector);
  if (wanted === 'none') {
    const why = Object.hasOwn(connector.config, 'auth')
      ? 'The config asks for no credential: auth.kind is none.'
      : 'A connector of this type takes no credential.';
    return skippedCheck(why);
  }
  const store = `Store a credential of kind ${wanted}, in the Console or with PUT /v1/connectors/{id}/credentials.`;
  const { credential, org, id } = connector;
  if (credential === null) return failedCheck(`No credential is stored, and the config asks for one.`, store);
  if (credential.kind !== wanted) {
    const detail = `The stored credential is of kind ${credential.kind}, and the config asks for one of kind ${wanted}.`;
    return failedCheck(detail, store);
  }
  try {
    const opened = await vault.open({ org, object: id, version: credential.version });
    if (opened === null)
      return failedCheck('The credential was replaced or removed while it was tested.', 'Test again.');
    opened.destroy();
    return passedCheck(`A credential of kind ${wanted} is stored, and opens.`);
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'vault_unavailable') throw error;
    return failedCheck(
      'The stored credential cannot be opened.',
      'Store it again. If that fails too, ask the operator: `npm run ags -- doctor` looks at the vault key.',
    );
  }
};

const destinationFinding = (reached: readonly Reached[]): CheckFinding => {
  if (reached.length === 0) return skippedCheck('A connector of this type leads nowhere.');
  const failed = reached.map(({ host, reach }) => unreachedFinding(host, reach)).find((finding) => finding !== null);
  return failed ?? passedCheck(reached.map(({ host, reach }) => reachedSentence(host, reach)).join(' '));
};

const unreachedFinding = (host: string, reach: Reach): CheckFinding | null => {
  switch (reach.kind) {
    case 'blocked':
      return failedCheck(
        `The egress rules do not let a connector reach ${host}.`,
        'Change the address in the config, or ask the operator to open this one with SERVICE_EGRESS_ALLOW.',
      );
    case 'unresolved':
      return failedCheck(
        `The name of ${host} leads to no address.`,
        'Check its spelling in the config. If it is right, the name has to be made known to the DNS of this service.',
      );
    case 'unconnected':
      return failedCheck(`${UNCONNECTED[reach.why](host)}`, CONNECT_FIX);
    case 'reached':
      return null;
  }
};

const UNCONNECTED: Readonly<Record<Extract<Reach, { kind: 'unconnected' }>['why'], (host: string) => string>> = {
  refused: (host) => `Nothing listens at ${host}: the connection is refused.`,
  silent: (host) => `${host} does not answer: no connection came up in time.`,
  failed: (host) => `No connection to ${host} came up.`,
};
const CONNECT_FIX =
  'Check host and port in the config, that the system runs, and that its network lets this service through.';

const reachedSentence = (host: string, reach: Reach): string =>
  reach.kind === 'reached' ? `${host} leads to ${addressesText(reach.addresses)}, and takes connections.` : '';

const addressesText = (addresses: ReachedAddresses): string => {
  const counted = [
    [addresses.public, 'public'],
    [addresses.private, 'private'],
    [addresses.special, 'specially opened'],
  ] as const;
  const parts = counted.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const total = addresses.public + addresses.private + addresses.special;
  return `${parts.join(' and ')} ${total === 1 ? 'address' : 'addresses'}`;
};

const tlsFinding = (reached: readonly Reached[]): CheckFinding => {
  const ways = reached.flatMap(({ host, reach }) => (reach.kind === 'reached' ? [{ host, tls: reach.tls }] : []));
  for (const { host, tls } of ways) if (tls !== 'none' && tls !== 'trusted') return brokenTls(host, tls);
  const secured = ways.filter(({ tls }) => tls === 'trusted').map(({ host }) => host);
  if (secured.length === 0) return skippedCheck('The config says http: what is sent can be read on the way.');
  return passedCheck(`The certificate of ${secured.join(' and ')} is good for its name.`);
};

const brokenTls = (host: string, fault: TlsFault): CheckFinding => {
  const { detail, fix } = TLS_FAULTS[fault];
  return failedCheck(detail(host), fix);
};

const RENEW = 'Renew the certificate there.';
const TRUST =
  'Have a public authority issue it, or ask the operator to trust the one that did (NODE_EXTRA_CA_CERTS, docs/deployment.md).';

const TLS_FAULTS: Readonly<Record<TlsFault, { readonly detail: (host: string) => string; readonly fix: string }>> = {
  expired: { detail: (host) => `The certificate of ${host} has expired.`, fix: RENEW },
  not_yet_valid: {
    detail: (host) => `The certificate of ${host} is not valid yet.`,
    fix: 'Compare the clocks of that system and of this service, or renew the certificate there.',
  },
  other_name: {
    detail: (host) => `The certificate that ${host} shows is made out to another name.`,
    fix: 'Put the name of the certificate into the config, or have one issued for this name.',
  },
  self_signed: {
    detail: (host) => `The certificate of ${host} is signed by itself, and trusted by nobody.`,
    fix: TRUST,
  },
  unknown_authority: {
    detail: (host) => `The certificate of ${host} is from an authority that this service does not trust.`,
    fix: TRUST,
  },
  untrusted: { detail: (host) => `The certificate of ${host} cannot be trusted.`, fix: RENEW },
  no_tls: {
    detail: (host) => `${host} takes connections, and no TLS came up on one.`,
    fix: 'Check the port in the config: what listens there may speak plain http, or nothing newer than TLS 1.1.',
  },
};

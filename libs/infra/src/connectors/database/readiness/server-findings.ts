import { type CheckFinding, failedCheck, passedCheck, skippedCheck, type TlsFault } from '#libs/domain/connectors';
import { agentRoleConcerns, type AgentRoleFacts, agentRoleFaults } from './agent-role.js';
import { bySql, listed, RELOAD, warning } from './findings.js';
import { quotedName } from '../../../database-set-up/index.js';
import { type AgentSide, type Found, OLDEST_VERSION, type ServerFacts } from './readiness-facts.js';
import type { ReadinessTerms } from './readiness-terms.js';
import type { SessionFailed, SessionFault } from './session.js';

/** PostgreSQL asks for TLS inside its own protocol, so that a connection of its own says what became of it. */
export const tlsFinding = ({ ssl }: ReadinessTerms, found: Found<AgentSide>): CheckFinding => {
  if (ssl === 'disable') return skippedCheck('The config says ssl: disable. What is sent can be read on the way.');
  const failure = found.ok ? null : found.failure;
  if (failure?.reason === 'untrusted') return failedCheck(...UNTRUSTED[failure.tls ?? 'untrusted']);
  if (failure?.reason === 'no_tls') return failedCheck(...UNTRUSTED.no_tls);
  if (failure !== null && !AFTER_TLS.has(failure.reason)) {
    return skippedCheck('No connection came up, so nothing is known of its encryption.');
  }
  if (ssl === 'verify-full')
    return passedCheck('The connection is encrypted, and the certificate is good for its name.');
  return passedCheck('The connection is encrypted. The config says ssl: require, so nobody looks at who answers.');
};

/** Faults that PostgreSQL tells over a connection that is up. */
const AFTER_TLS: ReadonlySet<SessionFault> = new Set(['auth_failed', 'no_database', 'too_many_connections']);

const TRUST =
  'Have a public authority issue it, or ask the operator to trust the one that did (NODE_EXTRA_CA_CERTS, docs/deployment.md).';
const UNTRUSTED: Readonly<Record<TlsFault, readonly [detail: string, fix: string]>> = {
  expired: ['The certificate of the database has expired.', 'Renew the certificate there.'],
  not_yet_valid: [
    'The certificate of the database is not valid yet.',
    'Compare the clocks of that system and of this service, or renew the certificate there.',
  ],
  other_name: [
    'The certificate that the database shows is made out to another name.',
    'Put the name of the certificate into host, or have one issued for this name.',
  ],
  self_signed: ['The certificate of the database is signed by itself, and trusted by nobody.', TRUST],
  unknown_authority: ['The certificate of the database is from an authority that this service does not trust.', TRUST],
  untrusted: ['The certificate of the database cannot be trusted.', 'Renew the certificate there.'],
  no_tls: [
    'The database does not take encrypted connections.',
    bySql(
      `ALTER SYSTEM SET ssl = on; -- with ssl_cert_file and ssl_key_file in place`,
      RELOAD,
      `-- or, in development alone: set ssl to "disable" in the config`,
    ),
  ],
};

export const reachableFinding = ({ database }: ReadinessTerms, found: Found<AgentSide>): CheckFinding => {
  if (!found.ok) return unreached(found.failure, 'the credential', database);
  if (found.facts.server.in_recovery) {
    return warning(
      'The database is a standby: it takes reads only.',
      'Put the address of the primary into host, unless agents only read.',
    );
  }
  return passedCheck(`The database ${quotedName(database)} takes the login of ${quotedName(found.facts.role.role)}.`);
};

/** @param login whose it was: `the credential`, or `the witness` */
export const unreached = ({ reason }: SessionFailed, login: string, database: string): CheckFinding =>
  failedCheck(...UNREACHED[reason](login, quotedName(database)));

const NETWORK =
  'Check host and port in the config, that the database runs, and that its network lets this service through.';
const UNREACHED: Readonly<Record<SessionFault, (login: string, database: string) => readonly [string, string]>> = {
  blocked: () => [
    'The egress rules do not let a connector reach the database.',
    'Change host in the config, or ask the operator to open this one with SERVICE_EGRESS_ALLOW.',
  ],
  unresolved: () => ['The name of the database’s host leads to no address.', 'Check its spelling in the config.'],
  unreachable: () => ['No connection to the database came up.', NETWORK],
  untrusted: () => ['The certificate of the database cannot be trusted.', 'See the check tls.'],
  no_tls: () => ['The database does not take encrypted connections.', 'See the check tls.'],
  auth_failed: (login) => [
    `The database does not take the login of ${login}.`,
    'Store the credential again with the right names and passwords. The password has to be kept as SCRAM there: ' +
      `SET password_encryption = 'scram-sha-256' before ALTER ROLE ... PASSWORD, and a line for it in pg_hba.conf.`,
  ],
  no_database: (login, database) => [
    `The server has no database ${database}, or does not let ${login} connect to it.`,
    'Check database in the config, or have its owner run GRANT CONNECT ON DATABASE for the role.',
  ],
  too_many_connections: () => [
    'The database has no connection free.',
    'Raise max_connections, or the CONNECTION LIMIT of the role and of the database, then test again.',
  ],
  credentials_missing: (login) => [
    `No name and password of ${login} is stored.`,
    'Store a credential of kind database; with witness.enabled it holds witness_username and witness_password, too.',
  ],
  timeout: () => ['The database did not answer in time.', NETWORK],
  held: () => ['The connector was changed while it was tested.', 'Test again.'],
  failed: () => [
    'What answers there did not answer as PostgreSQL does.',
    'Check host and port in the config. A pooler between (PgBouncer) is no place to connect to: name the database itself.',
  ],
};

export const versionFinding = ({ version, version_text }: ServerFacts): CheckFinding =>
  version >= OLDEST_VERSION
    ? passedCheck(`PostgreSQL ${version_text}.`)
    : failedCheck(`PostgreSQL ${version_text} is too old: 14 or newer is needed.`, 'Upgrade the database.');

export const encodingFinding = (server: ServerFacts, { database }: ReadinessTerms, role: string): CheckFinding => {
  const { encoding, standard_conforming_strings, track_counts } = server;
  if (encoding !== 'UTF8') {
    return failedCheck(
      `The encoding of the database is ${encoding}, and has to be UTF8.`,
      'Dump it, and restore it into a database that was made with ENCODING UTF8.',
    );
  }
  const off = [
    ...(standard_conforming_strings === 'on' ? [] : ['standard_conforming_strings']),
    ...(track_counts === 'on' ? [] : ['track_counts']),
  ];
  if (off.length === 0) return passedCheck('The encoding is UTF8; texts and row counts are as statements need them.');
  const why = 'Statements would be read otherwise than they were judged, or changed rows would not be counted.';
  const mend = off.map(
    (name) => `ALTER ROLE ${quotedName(role)} IN DATABASE ${quotedName(database)} SET ${name} = on;`,
  );
  return failedCheck(`${off.join(' and ')} ${off.length === 1 ? 'is' : 'are'} off. ${why}`, bySql(...mend));
};

/** What was stored may be the login of an owner: whoever takes its rights away locks people out. */
const ONLY_OF_AGENTS =
  '-- only for a role of agents alone; for another one, store the login that npm run ags -- database setup makes';

export const agentRoleFinding = (facts: AgentRoleFacts, owned: readonly string[]): CheckFinding => {
  const role = quotedName(facts.role);
  const faults = agentRoleFaults(facts);
  if (faults.length > 0) {
    const detail = `The role ${role} ${faults.map(({ what }) => what).join(', and ')}. No call is sent as such a role.`;
    return failedCheck(detail, bySql(ONLY_OF_AGENTS, ...faults.map(({ mend }) => mend)));
  }
  const concerns = [...agentRoleConcerns(facts), ...ownership(role, owned)];
  if (concerns.length === 0) return passedCheck(`The role ${role} has no rights beyond what is granted to it.`);
  return warning(
    `The role ${role} ${concerns.map(({ what }) => what).join(', and ')}.`,
    bySql(...concerns.map(({ mend }) => mend)),
  );
};

/** An owner passes by row level security that is not forced, and may switch triggers off. */
const ownership = (role: string, owned: readonly string[]): readonly { what: string; mend: string }[] =>
  owned.length === 0
    ? []
    : [
        {
          what: `owns tables that agents work on (${listed(owned)})`,
          mend: `REASSIGN OWNED BY ${role} TO CURRENT_USER; -- then grant ${role} what it needs`,
        },
      ];

export const schemasFinding = ({ schemas }: ServerFacts, role: string): CheckFinding => {
  const missing = schemas.filter(({ exists }) => !exists).map(({ name }) => quotedName(name));
  const closed = schemas.filter(({ exists, usage }) => exists && !usage).map(({ name }) => quotedName(name));
  if (missing.length === 0 && closed.length === 0) {
    return passedCheck(`The schemas are there, and open: ${listed(schemas.map(({ name }) => quotedName(name)))}.`);
  }
  const said = [
    ...(missing.length === 0 ? [] : [`There is no schema ${listed(missing)}.`]),
    ...(closed.length === 0 ? [] : [`${quotedName(role)} may not use the schema ${listed(closed)}.`]),
  ];
  return failedCheck(
    said.join(' '),
    closed.length === 0
      ? 'Check schemas in the config.'
      : bySql(...closed.map((schema) => `GRANT USAGE ON SCHEMA ${schema} TO ${quotedName(role)};`)),
  );
};

import { type Config, signInLink } from '../config/index.js';
import type { DemoStatus } from '../demo-database/index.js';
import type { Prepared } from './prepare.js';

const KEYS_HELP = '(shown once, when it was made; `npm run ags -- keys create --help` says how to make another)';

/** As a terminal shows them, and a file keeps them. */
export const secretLines = ({ adminKey, agentKey }: Prepared): readonly string[] => [
  ...(adminKey === null ? [] : [`  admin key         ${adminKey}`]),
  ...(agentKey === null ? [] : [`  agent key         ${agentKey}`]),
];

export const linkLines = (baseUrl: string, { signInToken }: Prepared): readonly string[] =>
  signInToken === null ? [] : [`  sign-in link      ${signInLink(baseUrl, signInToken)}`];

/**
 * The ids, and the secrets: shown once, so they are not in the log, and before anything can fail.
 * @param secretsFile where the secrets are, and not here; null where a person reads this
 */
export const firstWords = (prepared: Prepared, secretsFile: string | null): string => {
  const { org, owner, agent, adminKey, agentKey, sealKeyFingerprint } = prepared;
  const once = (secret: string | null): string =>
    secret === null ? KEYS_HELP : secretsFile === null ? secret : '(in the file below)';
  return [
    '',
    `  organization      ${org}`,
    `  owner             ${owner}`,
    `  admin key         ${once(adminKey)}`,
    `  agent             ${agent}`,
    `  agent key         ${once(agentKey)}`,
    `  seal key (--pin)  ${sealKeyFingerprint}`,
    '',
    ...(adminKey === null && agentKey === null
      ? ['  Older deeds may need older seal keys pinned too: `npm run ags -- seal-keys list` shows them.']
      : keepLines(secretsFile)),
    ...(agentKey === null
      ? []
      : ['  The agent key is a test key: its calls are marked as test, and their tools run all the same.']),
    '',
    '',
  ].join('\n');
};

const keepLines = (secretsFile: string | null): readonly string[] =>
  secretsFile === null
    ? ['  Keep the two keys now: they are shown this once, and only their hashes are kept.']
    : [
        '  This is no terminal, so the secrets are not printed. They are, this once, in a file that you alone can read:',
        `  ${secretsFile}`,
        '  Note them and remove the file.',
      ];

export const KEYS_STAY =
  'The keys are made and stay valid; they are not shown again. Keep them, mend what follows, and run `npm start` again.\n';

const IN_DEVELOPMENT =
  '  SERVICE_ENV is dev: connectors may reach private addresses, every port and plain http (docs/operations.md).';

/** A call to paste, and what is said of it. */
interface FirstCall {
  readonly said: string;
  readonly body: string;
}

const OF_NO_CONNECTOR: FirstCall = {
  said: 'No connector provides the tool yet, so it is refused, and the refusal is sealed:',
  body: '{"tool": "crm.get_customer", "args": {"id": "42"}}',
};
const OF_DEMO: FirstCall = {
  said: 'It reads the demo database, an invented shop (docs/demo-database.md):',
  body: '{"tool": "demo.query", "args": {"sql": "SELECT name, city, plan FROM customers ORDER BY id LIMIT 3"}}',
};
const OF_ANY_CONNECTOR: FirstCall = {
  said: 'A call, once a connector provides the tool (docs/connectors-rest.md):',
  body: OF_NO_CONNECTOR.body,
};

const firstCallOf = (agentKey: string | null, demo: DemoStatus): FirstCall => {
  if (agentKey === null) return OF_ANY_CONNECTOR;
  const { said, body } = demo === 'offered' ? OF_DEMO : OF_NO_CONNECTOR;
  return { said: `A first call. ${said}`, body };
};

export interface Welcome {
  readonly baseUrl: string;
  readonly env: Config['env'];
  readonly prepared: Prepared;
  /** Where the secrets are, and not here; null where a person reads this. */
  readonly secretsFile: string | null;
  readonly demo: DemoStatus;
}

/** What a person does next. */
export const welcome = ({ baseUrl, env, prepared, secretsFile, demo }: Welcome): string => {
  const { agentKey, signInToken } = prepared;
  const call = firstCallOf(agentKey, demo);
  const keyed = agentKey === null ? '<agent key>' : (secretsFile ?? agentKey);
  const bearer = agentKey === null || secretsFile === null ? `'Authorization: Bearer ${keyed}'` : bearerOf(keyed);
  return [
    `  Agent Governance Service is up at ${baseUrl}`,
    '',
    ...(env === 'dev' ? [IN_DEVELOPMENT, ''] : []),
    ...(signInToken === null
      ? []
      : [
          '  Sign in as the owner, once, within 15 minutes:',
          secretsFile === null ? `  ${signInLink(baseUrl, signInToken)}` : `  by the link in ${secretsFile}`,
          '',
        ]),
    `  ${call.said}`,
    '',
    `  curl -s ${baseUrl}/v1/actions \\`,
    `    -H ${bearer} -H 'Content-Type: application/json' \\`,
    `    -d '${call.body}'`,
    '',
    '  The same key asks POST /v1/tools/resolve, with the body {}, which tools there are (docs/proxy-mode.md).',
    '',
    '  MCP clients call the same tools (docs/mcp.md), Claude Code for example:',
    '',
    `  claude mcp add --transport http ags ${baseUrl}/mcp --header ${bearer}`,
    '',
    '',
  ].join('\n');
};

/** The agent's key is read where the call is pasted. */
const bearerOf = (secretsFile: string): string =>
  `"Authorization: Bearer $(sed -n 's/^  agent key *//p' '${secretsFile}')"`;

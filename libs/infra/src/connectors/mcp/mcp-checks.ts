import {
  type CheckFinding,
  COMMON_CHECKS,
  type ConnectorCheck,
  type DiscoveredTools,
  discoveredStatusOf,
  failedCheck,
  heldToolsIn,
  passedCheck,
  skippedCheck,
  type ToolsAnswer,
  type ToolsQuestion,
} from '#libs/domain/connectors';
import type { ErrorCode } from '#libs/domain/kernel';

/** What is asked of an MCP server beside the common checks: all of it is one look at its tools. */
export const mcpChecks = (refresh: (question: ToolsQuestion) => Promise<ToolsAnswer>): readonly ConnectorCheck[] => {
  let answer: ToolsAnswer | null = null;
  return [
    {
      name: 'auth',
      restsOn: COMMON_CHECKS,
      run: async (tested) => {
        answer = await refresh({ ...tested, isYoungEnough: false });
        return answer.ok ? passedCheck('The server listed its tools.') : failure(answer);
      },
    },
    { name: 'protocol', restsOn: ['auth'], run: () => Promise.resolve(protocolFinding(answer)) },
    { name: 'tools', restsOn: ['auth'], run: ({ connector }) => Promise.resolve(toolsFinding(answer, connector.name)) },
  ];
};

const failure = ({ errorCode, errorMessage }: Extract<ToolsAnswer, { ok: false }>): CheckFinding => {
  const finding = failedCheck(errorMessage, NEXT[errorCode] ?? 'Test again; the checks above say more.');
  return errorCode === 'upstream_rate_limited' ? { ...finding, onlyWarns: true } : finding;
};

const NEXT: Readonly<Partial<Record<ErrorCode, string>>> = {
  upstream_auth_failed: 'Store a credential that the server takes, and check auth.kind: how the credential travels.',
  upstream_rate_limited: 'Test again later.',
  connector_unavailable:
    'Check that url is the MCP endpoint of the server, with its path, and that the server speaks Streamable HTTP.',
  destination_blocked: 'Change url in the config.',
  credentials_missing: 'Store a credential of the kind that the config asks for.',
  vault_unavailable: 'Test again.',
};

const protocolFinding = (answer: ToolsAnswer | null): CheckFinding => {
  const discovered = answer?.ok === true ? answer.discovered : null;
  if (discovered === null)
    return skippedCheck('What the server said could not be recorded, so nothing is known of it.');
  return passedCheck(`The server speaks MCP ${discovered.protocol}.`);
};

const toolsFinding = (answer: ToolsAnswer | null, connector: string): CheckFinding => {
  if (answer?.ok !== true) return skippedCheck('The server was not asked for its tools.');
  const { discovered, whyUnrecorded } = answer;
  if (discovered === null) {
    return failedCheck(whyUnrecorded?.message ?? 'The tools could not be recorded.', 'Test again later.');
  }
  return heldFinding(discovered, connector) ?? leftOutFinding(discovered) ?? passedCheck(callableIn(discovered));
};

const callableIn = ({ tools }: DiscoveredTools): string =>
  `${counted(tools.filter((tool) => discoveredStatusOf(tool) === 'accepted').length, 'tool')} can be called.`;

const heldFinding = (discovered: DiscoveredTools, connector: string): CheckFinding | null => {
  const held = heldToolsIn(discovered);
  if (held === 0) return null;
  const [wait, them, are] = held === 1 ? ['waits', 'it', 'it is'] : ['wait', 'them', 'they are'];
  const isAnyNew = discovered.tools.some((tool) => discoveredStatusOf(tool) === 'new');
  const why = `${isAnyNew ? `${are} new, or ` : ''}the server describes ${them} otherwise than was accepted`;
  return {
    ...failedCheck(
      `${callableIn(discovered)} ${counted(held, 'tool')} of the server ${wait} for an admin: ${why}.`,
      'Look at what waits, and accept what you want agents to call: on the page of the connector in the Console, or with ' +
        `GET /v1/connectors/${connector}/tools?status=new,changed and POST /v1/connectors/${connector}/tools/accept.`,
    ),
    onlyWarns: true,
  };
};

const leftOutFinding = ({ leftOut }: DiscoveredTools): CheckFinding | null => {
  const omitted = leftOut.reduce((sum, { count }) => sum + count, 0);
  if (omitted === 0) return null;
  const reasons = leftOut.map(({ why, count }) => `${count} ${LEFT_OUT[why]}`).join(', ');
  return {
    ...failedCheck(
      `${counted(omitted, 'tool')} of the server ${omitted === 1 ? 'is' : 'are'} not served: ${reasons}.`,
      'Have them changed at the server, or do without them: the others can be called.',
    ),
    onlyWarns: true,
  };
};

const LEFT_OUT: Readonly<Record<DiscoveredTools['leftOut'][number]['why'], string>> = {
  name: 'with a name that MCP does not allow',
  form: 'not in the form of MCP',
  header: 'that would put arguments into headers against the rules of MCP',
  too_large: 'with too large a definition',
  too_many: 'or more beyond what is taken of a list',
  repeated: 'with the name of another',
};

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

import { member, type Answer } from './scratch-service.js';
import type { Stage } from './stage.js';
import { CHANGED_DESCRIPTION, DESCRIPTION } from './ticket-server.js';

const CONNECTOR = 'tickets';
const TOOL = 'read_ticket';

/** An MCP client calls the tool of an MCP server, until the server changes the tool and an admin has looked at the change. */
export const heldTool = async (stage: Stage): Promise<void> => {
  const { story, tickets } = stage;
  story.scene('A tool of an MCP server, which the server changes');
  story.tell(`tools/call ${TOOL} {"ticket":"17"} at /mcp/${CONNECTOR}, by any MCP client`);
  const before = await call(stage);
  story.tell(`→ ${textIn(before)}`);
  story.claim(
    'the agent gets what the server answered, and the call is sealed',
    tickets.calls === 1 && isError(before) === false && isSealed(before),
  );
  tickets.change();
  story.tell(`the server describes it anew: “${CHANGED_DESCRIPTION}”`);
  const met = await call(stage);
  const refused = await call(stage);
  story.tell(`→ ${textIn(refused)}`);
  story.claim(
    'the tool is held: no call reaches the server, and each is sealed',
    isError(met) === true && isSealed(met) && codeIn(refused) === 'policy_denied' && tickets.calls === 1,
  );
  story.claim('no list has it any more', !(await listed(stage)).includes(TOOL));
  await acceptedByAdmin(stage);
  const after = await call(stage);
  story.tell(`→ ${textIn(after)}`);
  story.claim('the agent goes on', tickets.calls === 2 && isError(after) === false && isSealed(after));
};

const acceptedByAdmin = async ({ story, service, adminKey: key }: Stage): Promise<void> => {
  const path = `/v1/connectors/${CONNECTOR}/tools`;
  const shown = await service.call('GET', `${path}?status=changed`, { key });
  const [was, is] = ['accepted_definition', 'definition'].map((name) =>
    String(member(shown.json, 'data', '0', name, 'description')),
  );
  story.tell(`an admin looks: accepted “${was}”, now “${is}”`);
  story.claim('both definitions stand side by side', was === DESCRIPTION && is === CHANGED_DESCRIPTION);
  const definition_digest = member(shown.json, 'data', '0', 'definition_digest');
  const body = { tools: [{ name: TOOL, definition_digest }] };
  const accepted = await service.call('POST', `${path}/accept`, { key, body });
  story.tell(`POST ${path}/accept → ${accepted.status}, sealed as ${String(accepted.json['deed'])}`);
};

/** As an MCP client sends it: JSON-RPC over HTTP, with the key of the agent. */
const ask = ({ service, agentKey }: Stage, method: string, params: object): Promise<Answer> => {
  const headers = { authorization: `Bearer ${agentKey}`, accept: 'application/json, text/event-stream' };
  return service.request('POST', `/mcp/${CONNECTOR}`, headers, { jsonrpc: '2.0', id: 1, method, params });
};

const call = (stage: Stage): Promise<Answer> => ask(stage, 'tools/call', { name: TOOL, arguments: { ticket: '17' } });

const listed = async (stage: Stage): Promise<readonly unknown[]> => {
  const { json } = await ask(stage, 'tools/list', {});
  const tools = member(json, 'result', 'tools');
  return Array.isArray(tools) ? tools.map((tool) => member(tool, 'name')) : [TOOL];
};

const textIn = ({ json }: Answer): string => String(member(json, 'result', 'content', '0', 'text'));
const isError = ({ json }: Answer): unknown => member(json, 'result', 'isError') ?? false;
const codeIn = ({ json }: Answer): unknown => member(json, 'result', '_meta', 'service/code');
const isSealed = ({ json }: Answer): boolean =>
  String(member(json, 'result', '_meta', 'service/deed')).startsWith('deed_');

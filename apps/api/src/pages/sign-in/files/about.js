// What the page of an approval says beside the arguments, as the Console does: apps/console/src/approvals/card.tsx. Whatever
// agents, tools, policies and people have said is written by `write`, as text of which nothing is hidden.
import { byId, make, row } from './page.js';
import { argumentRow, write } from './reading.js';

/** A row is left out where there is nothing to say. */
export const writeRow = (name, text) => {
  byId(`${name}-row`).hidden = text === null || text === undefined;
  write(byId(name), text ?? '');
};

/** As the mail says it, wherever it is read. */
export const minuteOf = (timestamp) => `${timestamp.slice(0, 16).replace('T', ' ')} UTC`;

/** Before the arguments. */
export const callerRows = () => [
  row('On behalf of', 'behalf'),
  row('Session', 'session'),
  row('Labels of the agent', 'labels'),
];

/** What its server says of a tool of an MCP server. */
export const servedRow = () =>
  row(
    'Its server says',
    'served',
    make(
      'dd',
      {},
      make('div', { id: 'served-words', role: 'group', tabindex: 0, 'aria-label': 'What the server says of the tool' }),
      make('p', { id: 'served-note', class: 'note' }),
    ),
  );

/** In the words of the Console: apps/console/src/approvals/served-words.ts. */
const servedNote = ({ digest, held, stored }) => {
  if (digest === null) return 'Nobody has accepted what the server says of this tool: an admin has to do that first.';
  const others = held ? ' By now the server says something else: an admin has to accept that first.' : '';
  if (stored) return `The server’s own words, which nobody here vouches for. An approval covers their digest.${others}`;
  return `What the server said of this tool was lost and cannot be shown. An admin can ask the server again on the page of its connector.${others}`;
};

const showServed = (definition) => {
  byId('served-row').hidden = !definition;
  if (!definition) return;
  const words = [definition.title, definition.description].filter((text) => text !== null).join('\n');
  byId('served-words').hidden = words === '';
  write(byId('served-words'), words, true);
  byId('served-note').textContent = servedNote(definition);
};

/** After the arguments: what a yes leads to, what is known of the request, and why people are asked. */
export const aboutParts = () => [
  make(
    'div',
    { id: 'approved-part' },
    make('h2', {}, 'If approved'),
    make('p', { id: 'request', class: 'sent' }),
    make('dl', { id: 'parameters', class: 'arguments', 'aria-label': 'Parameters of the statement' }),
    make('p', { id: 'when' }),
    make('p', { id: 'verify' }),
    make('ul', { id: 'budgets', 'aria-label': 'Budgets' }),
  ),
  make(
    'div',
    { id: 'facts-part' },
    make('h2', {}, 'Facts read by the connector'),
    make('dl', { id: 'facts', class: 'arguments' }),
  ),
  make(
    'div',
    { id: 'why-part' },
    make('h2', {}, 'Why approval is needed'),
    make(
      'dl',
      {},
      row('Rule says', 'rule-says'),
      row('Approvers', 'approvers'),
      row('Policy version', 'policy'),
      row('Requested', 'requested'),
      row('Intent', 'intent'),
      row('Action', 'action'),
    ),
  ),
];

/** Those of a process that runs its calls itself have no connector; what a connector provides has one. */
const isRunElsewhere = (context) => context?.connector === null;

/** What stands against a quick yes, each a sentence. */
export const warningsOf = ({ warnings = [], context }) => {
  const changed = context?.changed ?? [];
  return [
    ...(isRunElsewhere(context)
      ? [
          'The agent runs this call itself, outside this service. The tool name and the result are reported by the agent and cannot be checked here.',
        ]
      : []),
    ...warnings.map(({ text }) => text),
    ...(changed.length > 0
      ? [`The call has changed since approval was first requested. Changed: ${changed.join(', ')}.`]
      : []),
  ];
};

/** `1 of 2 signed (usr_..., 2026-10-01 12:00 UTC: As agreed.)` */
const signaturesIn = ({ countersigned, required, approvers = [] }) => {
  const signed = approvers.filter(({ countersigned_at: at }) => at !== null);
  const each = signed.map(
    ({ user, countersigned_at: at, reason }) => ` (${user}, ${minuteOf(at)}${reason === null ? '' : `: ${reason}`})`,
  );
  return `${countersigned} of ${required} signed${each.join('')}`;
};

const whenOf = ({ required, countersigned, context }) => {
  const when = required - countersigned > 1 ? 'after the remaining approvals' : 'immediately';
  if (isRunElsewhere(context)) return `The agent may run the call ${when}. This service sends nothing.`;
  return context.sends === null
    ? `The request cannot be shown. The call is sent ${when}.`
    : `The call is sent ${when}.`;
};

const budgetInWords = ({ id, used, max, currency }) =>
  `Budget ${id} after this call: ${used} of ${max} ${currency === null ? 'calls' : `${currency} (smallest unit)`}`;

const writePart = (id, text) => {
  byId(id).hidden = text === null;
  write(byId(id), text ?? '');
};

/** A statement keeps its lines. */
const writeStatement = (sql) => {
  byId('request').hidden = false;
  write(byId('request'), sql, true);
};

const showConsequences = (approval) => {
  const { sends, verify, budgets_after: budgets } = approval.context;
  const params = sends?.params ?? [];
  writePart('request', sends === null || 'sql' in sends ? null : `${sends.method} ${sends.url}`);
  if (sends !== null && 'sql' in sends) writeStatement(sends.sql);
  byId('parameters').hidden = params.length === 0;
  byId('parameters').replaceChildren(
    ...params.map((value, index) => argumentRow([`$${index + 1}`, value ?? 'NULL (no value)'], [], () => undefined)),
  );
  writePart('when', whenOf(approval));
  writePart('verify', verify === null ? null : `${verify.sentence} (${verify.level})`);
  byId('budgets').hidden = budgets.length === 0;
  byId('budgets').replaceChildren(...budgets.map((budget) => write(make('li'), budgetInWords(budget))));
};

const showFacts = (facts) => {
  const members = Object.entries(facts);
  byId('facts-part').hidden = members.length === 0;
  byId('facts').replaceChildren(...members.map((member) => argumentRow(member, [], () => undefined)));
};

/** All of it but the arguments, the tool, the rule's name and the time that is left. */
export const showAbout = (approval) => {
  const { context, on_behalf_of: behalf, policy_version: version, created_at: requested, action } = approval;
  const labels = Object.entries(context?.agent.labels ?? {}).map(([name, value]) => `${name}: ${value}`);
  showServed(context?.tool.definition);
  writeRow('behalf', behalf ?? 'not stated');
  writeRow('session', context?.session);
  writeRow('labels', labels.length === 0 ? null : labels.join(', '));
  write(byId('count'), signaturesIn(approval));
  for (const part of ['approved-part', 'facts-part']) byId(part).hidden = !context;
  writeRow('rule-says', context?.rule.description);
  // `role:admin` is any of them; a person stands there by their address.
  writeRow('approvers', context?.approvers.map((approver) => approver.replace(/^role:/, 'any ')).join(', '));
  writeRow('policy', version);
  writeRow('requested', minuteOf(requested));
  writeRow(
    'intent',
    context && (context.intent_signed ? 'Signed call: the agent’s runtime signed its intent' : 'Unsigned call'),
  );
  writeRow('action', action);
  if (!context) return;
  showConsequences(approval);
  showFacts(context.facts);
};

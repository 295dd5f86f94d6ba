// GET /auth/approve#token=…: what an agent asks for; then, by a press and nothing else, a yes or a no. All that agents and
// tools have said is shown as text, with a mark in the place of each character that could not be seen.
import { button, byId, complain, forget, make, openLink, problemAt, row, show, step } from './page.js';

/** Controls, format and direction marks, private and unassigned code points, and letters that are drawn as nothing. */
const HIDDEN = /([\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\u3164\u115f\u1160\uffa0])/gu;
const LAYOUT = new Set(['\n', '\t']);

/** `U+202E` for the mark that turns the direction of text. */
const codePointOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`;

/** Puts a text there as text nodes, so that nothing in it is ever markup, and everything in it is seen. */
const write = (element, text, isLayoutKept = false) => {
  const parts = String(text).split(HIDDEN);
  const nodes = parts.map((part, index) => {
    if (index % 2 === 0 || (isLayoutKept && LAYOUT.has(part))) return document.createTextNode(part);
    return make('mark', {}, codePointOf(part));
  });
  element.replaceChildren(...nodes);
  return element;
};

const waitingStep = () =>
  step(
    'waiting',
    make('h1', { id: 'waiting-title', tabindex: -1 }, 'An agent asks'),
    make('p', { class: 'asks' }, ...[make('b', { id: 'agent' }), ' wants to run ', make('code', { id: 'tool' })]),
    make('p', { id: 'cost', class: 'cost' }),
    make('ul', { id: 'warnings', class: 'warnings', 'aria-label': 'Warnings' }),
    make(
      'dl',
      {},
      row('What it does', 'description'),
      row('Effect', 'effect'),
      row('On behalf of', 'behalf'),
      row('Rule', 'rule'),
      row('Approvals', 'count'),
      row('Waits until', 'waits', make('dd', {}, make('time', { id: 'until' }))),
    ),
    make('h2', {}, 'Arguments, all of them'),
    make('dl', { id: 'arguments', class: 'arguments' }),
    make('div', { id: 'request-part' }, make('h2', {}, 'What is sent'), make('p', { id: 'request', class: 'sent' })),
    make('p', { id: 'note', class: 'note' }),
    make(
      'form',
      { id: 'decision', method: 'post' },
      make('label', { for: 'reason' }, 'Reason (optional; everybody who sees the approval reads it)'),
      make('input', { id: 'reason', name: 'reason', maxlength: 280, autocomplete: 'off' }),
      problemAt('problem'),
      make(
        'div',
        { class: 'choices' },
        button('deny', 'Deny', 'Denying …'),
        button('approve', 'Approve', 'Approving …'),
      ),
    ),
    make(
      'p',
      { class: 'note' },
      'Not for you, or not sure? Close this page: nothing is decided until you press a button.',
    ),
  );

const decidedStep = () =>
  step(
    'decided',
    make('h1', { id: 'decided-title', tabindex: -1 }, 'Decided'),
    make('p', { id: 'decided-words' }),
    make('p', { class: 'note' }, 'You can close this page.'),
  );

const writeRow = (name, text) => {
  byId(`${name}-row`).hidden = text === null || text === undefined;
  write(byId(name), text ?? '');
};

const EFFECTS = {
  read: 'Reads, and changes nothing',
  write: 'Changes something',
  destructive: 'Destroys something',
  unknown: 'Nobody has said what it changes',
};

const ENDED = {
  approved: ['Approved', 'The call was approved.'],
  denied: ['Denied', 'The call was denied, and nothing was run.'],
  expired: ['Too late', 'Nobody decided in time, and nothing was run.'],
  cancelled: ['Cancelled', 'The call was cancelled, and nothing was run.'],
};

/** Refusals after which nobody can decide any more. */
const OVER = {
  approval_decided: ['Decided already', 'Somebody else was first: it was decided meanwhile. The Console shows how.'],
  approval_expired: ENDED.expired,
};

const WHY_NOT = {
  self_approval: 'The call runs on your behalf, so another person must approve it. You may deny it.',
  already_countersigned: 'You have approved it already; another person must approve it, too. You may still deny it.',
  approver_not_eligible: 'You are not, or no longer, among those who may decide this.',
};

/** As the mail says it, wherever it is read. */
const minuteOf = (timestamp) => `${timestamp.slice(0, 16).replace('T', ' ')} UTC`;

const showEnd = ({ status, countersigned, required }) => {
  const isSigned = status === 'pending';
  const [title, words] = isSigned
    ? ['You approved it', `${countersigned} of ${required} people have approved it. It waits for the others.`]
    : ENDED[status];
  showOver(title, words);
};

const showOver = (title, words) => {
  byId('decided-title').textContent = title;
  byId('decided-words').textContent = words;
  show('decided', byId('decided-title'));
};

const showWarnings = ({ warnings = [], context }) => {
  const changed = context?.changed ?? [];
  const said = warnings.map(({ text }) => text);
  if (changed.length > 0) said.push(`It is no longer what was asked at first. Changed: ${changed.join(', ')}.`);
  byId('warnings').hidden = said.length === 0;
  byId('warnings').replaceChildren(...said.map((text) => write(make('li'), text)));
};

/** Strings as they are, everything else as JSON; none is cut. */
const argumentRow = ([name, value]) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1);
  return make('div', {}, write(make('dt'), name), write(make('dd'), text, true));
};

const showArguments = (args) => {
  const members = args === undefined ? [] : Object.entries(args);
  const none =
    args === undefined ? ['removed', 'They are no longer stored, so nobody can approve them.'] : ['none', ''];
  byId('arguments').replaceChildren(...(members.length === 0 ? [none] : members).map(argumentRow));
};

const showCall = ({ context, agent, tool, side_effect: effect, on_behalf_of: behalf, cost }) => {
  write(byId('tool'), context?.tool.name ?? tool);
  writeRow('description', context?.tool.description);
  byId('effect').textContent = EFFECTS[context?.tool.side_effect ?? effect] ?? '';
  byId('effect').dataset.effect = context?.tool.side_effect ?? effect;
  write(byId('agent'), agent.name);
  writeRow('behalf', behalf);
  byId('cost').hidden = !cost;
  write(byId('cost'), cost ? `${cost.display} (${cost.amount} ${cost.currency})` : '');
  showArguments(context?.args);
  const sends = context?.sends ?? null;
  byId('request-part').hidden = sends === null;
  write(byId('request'), sends === null ? '' : `${sends.method} ${sends.url}`);
};

/** What this person may press, and why not the rest. */
const showChoices = ({ approvable, blocked_by: obstacle, you }, decides) => {
  const mayApprove = decides && approvable && you.eligible;
  const mayDeny = decides && you.may_deny;
  byId('approve').hidden = !mayApprove;
  byId('deny').hidden = !mayDeny;
  byId('decision').hidden = !mayApprove && !mayDeny;
  const whyNot = you.why_not === null ? obstacle?.message : (WHY_NOT[you.why_not] ?? 'You cannot decide this.');
  const words = decides
    ? mayApprove
      ? ''
      : (whyNot ?? '')
    : 'Your organization decides approvals in the Console. Sign in there to decide.';
  write(byId('note'), words);
  byId('note').hidden = words === '';
};

const showWaiting = ({ approval, decides }) => {
  if (approval.status !== 'pending') return showEnd(approval);
  showWarnings(approval);
  showCall(approval);
  byId('rule').textContent = approval.rule_id ?? 'the default of the policy';
  byId('count').textContent = `${approval.countersigned} of ${approval.required}`;
  byId('until').dateTime = approval.expires_at;
  byId('until').textContent = minuteOf(approval.expires_at);
  showChoices(approval, decides);
  return show('waiting', byId('waiting-title'));
};

const approval = () => {
  let seen = null;
  const link = openLink({
    ...{ title: 'Approve', checking: 'Looking at what waits …', again: 'Looking …' },
    signIn: 'Sign in',
    steps: [waitingStep(), decidedStep()],
    shown: 'waiting',
    over: 'approval_link_invalid',
    failed: 'The approval could not be shown',
    preview: '/v1/approvals/link/preview',
    onAnswer: (answer) => {
      forget(byId('problem'), null);
      seen = answer.approval.context_digest;
      return showWaiting(answer);
    },
  });

  const decide = async (decision) => {
    forget(byId('problem'), null);
    const reason = byId('reason').value.trim();
    const said = { decision, context_digest: seen, ...(reason === '' ? {} : { reason }) };
    const answer = await link.use(byId(decision), '/v1/approvals/link/decide', said);
    if (answer === null) return undefined;
    if (!answer.failed) return showEnd(answer);
    // The link is used up by it, so nothing can be looked at again: the answer itself says what became of it.
    if (Object.hasOwn(OVER, answer.code)) return showOver(...OVER[answer.code]);
    // What it says now is shown, and the person looks again before pressing again.
    if (answer.code === 'context_changed') await link.check();
    return complain(byId('problem'), answer.message, null);
  };

  // Enter in the field of the reason decides nothing: only a press of a button does.
  byId('decision').addEventListener('submit', (event) => event.preventDefault());
  byId('approve').addEventListener('click', () => void decide('approve'));
  byId('deny').addEventListener('click', () => void decide('deny'));
};

approval();

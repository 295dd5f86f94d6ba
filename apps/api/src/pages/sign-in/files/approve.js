// GET /auth/approve#token=…: what an agent asks for; then, by a press and nothing else, a yes or a no. All that agents and
// tools have said is shown as text, with a mark in the place of each character that could not be seen.
import { aboutParts, callerRows, minuteOf, servedRow, showAbout, warningsOf, writeRow } from './about.js';
import { button, byId, complain, forget, make, openLink, problemAt, row, show, step } from './page.js';
import { askDevice, passkeyNote } from './passkey.js';
import { approveButton, write } from './reading.js';

const waitingStep = () =>
  step(
    'waiting',
    make('h1', { id: 'waiting-title', tabindex: -1 }, 'An agent asks'),
    make(
      'p',
      { class: 'asks' },
      ...[make('b', { id: 'agent' }), ' wants to ', make('span', { id: 'title' }), ' ', make('code', { id: 'tool' })],
    ),
    make('p', { id: 'cost', class: 'cost' }),
    make('ul', { id: 'warnings', class: 'warnings', 'aria-label': 'Warnings' }),
    make(
      'dl',
      {},
      row('What it does', 'description'),
      servedRow(),
      row('Effect', 'effect'),
      ...callerRows(),
      row('Rule', 'rule'),
      row('Approvals', 'count'),
      row('Waits until', 'waits', make('dd', {}, make('time', { id: 'until' }))),
    ),
    make('h2', {}, 'All arguments'),
    make('dl', { id: 'arguments', class: 'arguments' }),
    make('div', { id: 'end', 'aria-hidden': 'true' }),
    ...aboutParts(),
    make(
      'p',
      { class: 'note' },
      'Not for you, or not sure? Close this page. Nothing is decided until you press a button.',
    ),
    decisionForm(),
  );

/** Always within reach, over what is read. */
const decisionForm = () =>
  make(
    'form',
    { id: 'decision', method: 'post' },
    problemAt('problem'),
    make('p', { id: 'note' }),
    make('p', { id: 'once-more', role: 'status' }),
    make(
      'div',
      { id: 'choices' },
      make(
        'details',
        {},
        make('summary', {}, 'Add a reason'),
        make('label', { for: 'reason' }, 'Reason (shown to everyone who sees the approval)'),
        make('input', { id: 'reason', name: 'reason', maxlength: 280, autocomplete: 'off' }),
      ),
      make(
        'div',
        { class: 'choices' },
        button('deny', 'Deny', 'Denying …'),
        button('approve', 'Read on', 'Approving …'),
      ),
    ),
  );

const decidedStep = () =>
  step(
    'decided',
    make('h1', { id: 'decided-title', tabindex: -1 }, 'Decided'),
    make('p', { id: 'decided-words' }),
    make('p', { class: 'note' }, 'You can close this page.'),
  );

/** In the words of the Console. */
const EFFECTS = {
  read: 'Read',
  write: 'Write',
  destructive: 'Destructive',
  unknown: 'Unknown effect',
};

const ENDED = {
  approved: ['Approved', 'The call was approved.'],
  denied: ['Denied', 'The call was denied and did not run.'],
  expired: ['Expired', 'Nobody decided in time. The call did not run.'],
  cancelled: ['Cancelled', 'The call was cancelled and did not run.'],
};

/** Refusals after which nobody can decide any more. */
const OVER = {
  approval_decided: ['Already decided', 'Someone else decided first. The Console shows the decision.'],
  approval_expired: ENDED.expired,
};

const WHY_NOT = {
  self_approval: 'The call runs on your behalf, so another person must approve it. You can deny it.',
  already_countersigned: 'You have approved. Another person must approve next. You can still deny the call.',
  approver_not_eligible: 'You are not an approver of this rule.',
};

const showEnd = ({ status, countersigned, required }) => {
  const isSigned = status === 'pending';
  const [title, words] = isSigned
    ? ['You approved', `${countersigned} of ${required} people have approved. The call waits for the others.`]
    : ENDED[status];
  showOver(title, words);
};

const showOver = (title, words) => {
  byId('decided-title').textContent = title;
  byId('decided-words').textContent = words;
  show('decided', byId('decided-title'));
};

const showWarnings = (approval) => {
  const said = warningsOf(approval);
  byId('warnings').hidden = said.length === 0;
  byId('warnings').replaceChildren(...said.map((text) => write(make('li'), text)));
};

/** The arguments that are money, each beside what is sent. */
const amountsInWords = (context) =>
  (context?.amounts ?? [])
    .filter(({ display }) => display !== null)
    .map(({ argument, display }) => `${display} (${argument} ${context.args[argument]}, in minor units)`)
    .join(', ');

const showCall = ({ context, agent, tool, side_effect: effect, cost }) => {
  const title = context?.tool.title ?? null;
  write(byId('title'), title === null ? 'run' : `${title} with`);
  write(byId('tool'), context?.tool.name ?? tool);
  writeRow('description', context?.tool.description);
  byId('effect').textContent = EFFECTS[context?.tool.side_effect ?? effect] ?? '';
  byId('effect').dataset.effect = context?.tool.side_effect ?? effect;
  write(byId('agent'), agent.name);
  const money = cost ? `${cost.display} (${cost.amount} ${cost.currency})` : amountsInWords(context);
  byId('cost').hidden = money === '';
  write(byId('cost'), money);
};

/** Why nobody, or not this person, may approve it; null where nothing stands against it. */
const whyNotOf = ({ approvable, blocked_by: obstacle, you, context }) => {
  if (you.why_not !== null) return WHY_NOT[you.why_not] ?? 'You cannot decide this approval.';
  if (!context) return 'The arguments are no longer stored, so this call cannot be approved.';
  if (!context.complete) return 'The full request cannot be shown here, so this call cannot be approved.';
  return approvable && you.eligible ? null : (obstacle?.message ?? 'This call cannot be approved as it is.');
};

/** What this person may press, and why not the rest. */
const showChoices = (approval, decides) => {
  const whyNot = decides
    ? whyNotOf(approval)
    : 'Your organization decides approvals in the Console. Sign in there to decide.';
  const mayDeny = decides && approval.you.may_deny;
  byId('approve').hidden = whyNot !== null;
  byId('deny').hidden = !mayDeny;
  byId('choices').hidden = whyNot !== null && !mayDeny;
  write(byId('note'), whyNot ?? '');
  byId('note').hidden = whyNot === null;
  if (whyNot === null && approval.signed) {
    byId('note').textContent = passkeyNote(approval);
    byId('note').hidden = false;
  }
};

const showWaiting = ({ approval, decides }) => {
  if (approval.status !== 'pending') return showEnd(approval);
  showWarnings(approval);
  showCall(approval);
  showAbout(approval);
  byId('rule').textContent = approval.rule_id ?? 'The policy’s default requires approval';
  byId('until').dateTime = approval.expires_at;
  byId('until').textContent = minuteOf(approval.expires_at);
  showChoices(approval, decides);
  return show('waiting', byId('waiting-title'));
};

const approval = () => {
  /** Whether a yes to what is shown is signed with a passkey. */
  let isSigned = false;
  const link = openLink({
    ...{ title: 'Approve', checking: 'Loading the approval …', again: 'Loading …' },
    signIn: 'Sign in',
    steps: [waitingStep(), decidedStep()],
    shown: 'waiting',
    over: 'approval_link_invalid',
    failed: 'The approval could not be shown',
    preview: '/v1/approvals/link/preview',
    onAnswer: (answer) => {
      forget(byId('problem'), null);
      isSigned = answer.approval.signed;
      showWaiting(answer);
      if (answer.approval.status === 'pending') approve.about(answer.approval);
    },
  });

  const say = (said) => link.use(byId(said.decision), '/v1/approvals/link/decide', said);

  const sayByPasskey = async (said) => {
    const { decision, context_digest } = said;
    const path = '/v1/approvals/link/passkey/options';
    const asked = await link.use(byId(decision), path, { decision, context_digest });
    if (asked === null || asked.failed) return asked;
    const passkey = await askDevice(asked.public_key);
    return passkey.failed ? passkey : say({ ...said, passkey });
  };

  const decide = async (decision) => {
    forget(byId('problem'), null);
    const reason = byId('reason').value.trim();
    const said = { decision, context_digest: approve.digest(), ...(reason === '' ? {} : { reason }) };
    const answer = await (decision === 'approve' && isSigned ? sayByPasskey(said) : say(said));
    if (answer === null) return undefined;
    if (!answer.failed) return showEnd(answer);
    // The link is used up by it, so nothing can be looked at again: the answer itself says what became of it.
    if (Object.hasOwn(OVER, answer.code)) return showOver(...OVER[answer.code]);
    // What it says now is shown, and the person looks again before pressing again.
    if (answer.code === 'context_changed') await link.check();
    return complain(byId('problem'), answer.message, null);
  };

  const approve = approveButton(() => decide('approve'));
  // Enter in the field of the reason decides nothing: only a press of a button does.
  byId('decision').addEventListener('submit', (event) => event.preventDefault());
  byId('deny').addEventListener('click', () => void decide('deny'));
};

approval();

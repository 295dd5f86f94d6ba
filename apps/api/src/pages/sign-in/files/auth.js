// GET /login and GET /auth/confirm: the ways in, and the same end for both.
import {
  addressOf,
  ask,
  button,
  byId,
  complain,
  draw,
  forget,
  make,
  openLink,
  plain,
  problemAt,
  row,
  show,
  step,
  waitInWords,
  whileBusy,
} from './page.js';
import { listenForPasskey, passkeyParts } from './passkey.js';
import { tellWhySignedOut } from './signed-out.js';

export { addressOf, waitInWords };

const doneStep = () =>
  step(
    'done',
    make('h1', { tabindex: -1 }, 'You are signed in'),
    make('p', { id: 'who-part' }, 'This browser is signed in as ', make('bdi', { id: 'who' }), '.'),
    make('p', {}, make('a', { class: 'button', href: '/app' }, 'Open the Console')),
  );

/** Only the service says where to go: what stands in this page's own address may be anybody's. */
const signedIn = (me) => {
  const address = addressOf(me.next);
  if (address !== null) return location.replace(address);
  // The first owner has a link and no address yet.
  byId('who-part').hidden = me.user.email === null;
  byId('who').textContent = plain(me.user.email ?? '');
  return show('done', byId('done').querySelector('h1'));
};

// GET /login: the address, then the code.

/** A field, below it what is wrong with it, and the button that sends it. */
const form = (id, { name, label, input, send }) =>
  make(
    'form',
    { id, method: 'post', novalidate: true },
    make('label', { for: name }, label),
    make('input', { id: name, name, autocapitalize: 'none', spellcheck: 'false', required: true, ...input }),
    problemAt(`${name}-problem`),
    send,
  );

const addressStep = () =>
  step(
    'address',
    make('h1', {}, 'Sign in'),
    make('p', { id: 'signed-out', class: 'said', role: 'status' }),
    make('p', {}, 'Enter your e-mail address. You get an e-mail with a link and a code; there is no password.'),
    form('address-form', {
      name: 'email',
      label: 'E-mail address',
      input: { type: 'email', autocomplete: 'email', maxlength: 254, 'aria-describedby': 'email-problem' },
      send: button('send', 'Send the e-mail', 'Sending …', { type: 'submit' }),
    }),
    ...passkeyParts(),
  );

const codeStep = () =>
  step(
    'ask-code',
    make('h1', {}, 'Check your e-mail'),
    make(
      'p',
      { id: 'code-about' },
      ...['If ', make('bdi', { id: 'sent-to' }), ' can sign in here, an e-mail with a link and a code is on its way. '],
      ...['Open the link, or enter the code, within ', make('span', { id: 'minutes' }), '.'],
    ),
    form('code-form', {
      name: 'code',
      label: 'Code from the e-mail',
      input: {
        ...{ type: 'text', inputmode: 'numeric', autocomplete: 'one-time-code' },
        'aria-describedby': 'code-about code-problem',
      },
      send: button('sign-in', 'Sign in', 'Signing in …', { type: 'submit' }),
    }),
    make(
      'p',
      { class: 'others' },
      button('send-again', 'Send a new e-mail', 'Sending …', { class: 'plain' }),
      button('other-address', 'Use another address', '', { class: 'plain' }),
    ),
    make('p', { id: 'code-news', class: 'news', role: 'status' }),
  );

const field = (name) => ({ input: byId(name), problem: byId(`${name}-problem`) });

/** The step is an entry of the history: Back leads to the address, and a page that a phone threw away finds it again. */
const renderLogin = () => {
  const [email, code] = [field('email'), field('code')];
  for (const each of [email, code]) forget(each.problem, each.input);
  byId('code-news').textContent = '';
  const sent = history.state?.sent;
  if (sent === undefined) return show('address', email.input);
  byId('sent-to').textContent = plain(sent.email);
  byId('minutes').textContent = waitInWords(sent.seconds);
  email.input.value = sent.email;
  code.input.value = '';
  return show('ask-code', code.input);
};

/** What was sent, as the entry of the history keeps it. */
const sendMail = async (pressed, email) => {
  const next = new URLSearchParams(location.search).get('next');
  const body = { email, ...(addressOf(next) === null ? {} : { next }) };
  const answer = await whileBusy(pressed, () => ask('/v1/auth/login', body));
  return answer.failed ? answer : { sent: { email, seconds: answer.expires_in_s, count: answer.code_digits } };
};

const submitAddress = async (event) => {
  event.preventDefault();
  const { input, problem } = field('email');
  forget(problem, input);
  const email = input.value.trim();
  if (email === '') return complain(problem, 'Enter your e-mail address.', input);
  const answer = await sendMail(byId('send'), email);
  if (answer.failed) return complain(problem, answer.message, answer.param === 'email' ? input : null);
  history.pushState(answer, '');
  return renderLogin();
};

const submitCode = async (event) => {
  event.preventDefault();
  const { input, problem } = field('code');
  forget(problem, input);
  byId('code-news').textContent = '';
  const { email, count } = history.state.sent;
  // Pasted with spaces, a hyphen or words around it, it is the same code.
  const code = input.value.normalize('NFKC').replace(/\D/g, '');
  input.value = code;
  if (code.length !== count) return complain(problem, `Enter the ${count} digits of the code.`, input);
  const answer = await whileBusy(byId('sign-in'), () => ask('/v1/auth/callback', { email, code }));
  if (!answer.failed) return signedIn(answer);
  input.select();
  return complain(problem, answer.message, answer.code === 'login_code_invalid' ? input : null);
};

const sendAgain = async () => {
  const { input, problem } = field('code');
  forget(problem, input);
  byId('code-news').textContent = '';
  const answer = await sendMail(byId('send-again'), history.state.sent.email);
  if (answer.failed) return complain(problem, answer.message, null);
  history.replaceState(answer, '');
  renderLogin();
  byId('code-news').textContent = 'A new e-mail is on its way. Only its link and its code work now.';
  return undefined;
};

const login = () => {
  draw(addressStep(), codeStep(), doneStep());
  byId('address-form').addEventListener('submit', submitAddress);
  byId('code-form').addEventListener('submit', submitCode);
  byId('send-again').addEventListener('click', sendAgain);
  listenForPasskey(signedIn);
  byId('other-address').addEventListener('click', () => history.back());
  addEventListener('popstate', renderLogin);
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
  renderLogin();
  void tellWhySignedOut(byId('signed-out'));
};

// GET /auth/confirm#token=…: who signs in where; then, by a press and nothing else, the sign-in.

const ROLES = { viewer: 'Viewer', admin: 'Admin', owner: 'Owner' };

const readyStep = () =>
  step(
    'ready',
    make('h1', { id: 'ready-title', tabindex: -1 }, 'Sign in'),
    make(
      'dl',
      {},
      row('E-mail address', 'ready-email', make('dd', {}, make('bdi', { id: 'ready-email' }))),
      row('Organization', 'ready-org', make('dd', {}, make('bdi', { id: 'ready-org' }))),
      row('Role', 'ready-role'),
      row('Invited by', 'ready-inviter', make('dd', {}, make('bdi', { id: 'ready-inviter' }))),
      row('Link works until', 'until', make('dd', {}, make('time', { id: 'ready-until' }))),
    ),
    make(
      'form',
      { id: 'ready-form', method: 'post' },
      problemAt('ready-problem'),
      button('confirm', 'Sign in', 'Signing in …', { type: 'submit' }),
    ),
    make(
      'p',
      { class: 'note' },
      'Not you, or not expected? Close this page. The link is not used until you press the button.',
    ),
  );

const INVITERS = {
  user: 'a member without an address',
  admin_key: 'an admin key of the organization',
  operator: 'an operator',
};

const showPreview = ({ purpose, email, org, role, invited_by: inviter, expires_at: until }) => {
  const isInvitation = purpose === 'invite';
  const name = org === null ? '' : plain(org.name);
  byId('ready-title').textContent = isInvitation ? `Join ${name || 'the organization'}` : 'Sign in';
  byId('confirm').textContent = isInvitation ? 'Join and sign in' : 'Sign in';
  byId('ready-email').textContent = plain(email ?? '');
  byId('ready-email-row').hidden = email === null;
  byId('ready-org').textContent = name;
  byId('ready-org-row').hidden = org === null;
  byId('ready-role').textContent = ROLES[role] ?? plain(role ?? '');
  byId('ready-role-row').hidden = role === null;
  byId('ready-inviter').textContent = inviter === null ? '' : plain(inviter.email ?? INVITERS[inviter.type] ?? '');
  byId('ready-inviter-row').hidden = inviter === null;
  const time = byId('ready-until');
  time.dateTime = until;
  time.textContent = new Date(until).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
  forget(byId('ready-problem'), null);
  show('ready', byId('ready-title'));
};

const confirmation = () => {
  const link = openLink({
    ...{ title: 'Sign in', checking: 'Checking the link …', again: 'Checking …' },
    signIn: 'Sign in with your e-mail address',
    steps: [readyStep(), doneStep()],
    shown: 'ready',
    over: 'login_link_invalid',
    failed: 'The link could not be checked',
    preview: '/v1/auth/preview',
    onAnswer: showPreview,
  });
  byId('ready-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const problem = byId('ready-problem');
    forget(problem, null);
    const answer = await link.use(byId('confirm'), '/v1/auth/callback', {});
    if (answer === null) return undefined;
    return answer.failed ? complain(problem, answer.message, null) : signedIn(answer);
  });
};

({ login, confirm: confirmation })[document.body.dataset.page]?.();

// Both sign-in pages, and what the page of an approval shares with them. Nothing is kept in the browser's storage, and a token leaves a page only in the body of a request.

/** How long an answer may take before the page says that there was none. */
const PATIENCE_MS = 30_000;
const MAX_PATH_LENGTH = 2_048;

/** The product's name behind the title of each step. */
const PRODUCT = document.title.slice(document.title.indexOf(' - '));

export const byId = (id) => document.getElementById(id);

/**
 * Where to go after the sign-in, as a whole address; null unless it is a path of this very site. A second slash or a
 * backslash would begin the name of another host, and browsers drop some control characters before they look.
 */
export const addressOf = (next) => {
  if (typeof next !== 'string' || next.length > MAX_PATH_LENGTH) return null;
  if (!/^\/(?![/\\])[^\\\u0000-\u001f\u007f-\u009f]*$/.test(next)) return null;
  const url = new URL(next, location.origin);
  return url.origin === location.origin ? url.href : null;
};

/** Seconds as a person says them, rounded up: who comes too early is refused again. */
export const waitInWords = (seconds) => {
  const [count, unit] =
    seconds < 60
      ? [Math.ceil(seconds), 'second']
      : seconds <= 3_540
        ? [Math.ceil(seconds / 60), 'minute']
        : [Math.ceil(seconds / 3_600), 'hour'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
};

/** Names that others chose: nothing that is not seen, and nothing that turns the text around it. */
export const plain = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '');

export const failure = (code, message, param = null) => ({ failed: true, code, message, param });

/** Asks the API: its answer, or what went wrong in words that say what to do. */
export const ask = async (path, body) => {
  let response;
  try {
    response = await fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch {
    return failure('unreachable', 'The service did not answer. Check your connection, then try again.');
  }
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) return answer;
  const { code = 'unknown', message, param = null } = answer?.error ?? {};
  return failure(code, messageOf(message, response), param);
};

const messageOf = (message, { status, headers }) => {
  const said = message ? plain(message) : `The service answered with an error (${status}).`;
  const seconds = secondsUntil(headers.get('Retry-After'));
  if (seconds < 2) return message ? said : `${said} Try again in a moment.`;
  // A header says nothing to a person: what it says takes the place of the sentence that names it.
  return `${said.replace(/[^.]*\bRetry-After\b[^.]*\./g, '').trim()} Try again in ${waitInWords(seconds)}.`;
};

/** A proxy may send a date where the service sends seconds. */
const secondsUntil = (header) => {
  if (header === null) return 0;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? seconds : 0;
};

/** One step of the page is seen at a time. What has the focus afterwards is what a screen reader reads out. */
export const show = (id, focused) => {
  for (const section of document.querySelectorAll('main > section')) section.hidden = section.id !== id;
  document.title = byId(id).querySelector('h1').textContent + PRODUCT;
  focused?.focus();
};

/** Nothing can be pressed twice while the service is asked. */
export const whileBusy = async (button, work) => {
  const words = button.textContent;
  const buttons = document.querySelectorAll('button');
  for (const each of buttons) each.disabled = true;
  button.textContent = button.dataset.busy;
  try {
    return await work();
  } finally {
    for (const each of buttons) each.disabled = false;
    button.textContent = words;
  }
};

/** Said where it is read out, and the focus goes where it can be mended: to the field, or to the words. */
export const complain = (problem, message, input) => {
  problem.textContent = message;
  input?.setAttribute('aria-invalid', 'true');
  (input ?? problem).focus();
};

export const forget = (problem, input) => {
  problem.textContent = '';
  input?.removeAttribute('aria-invalid');
};

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
const sendMail = async (button, email) => {
  const next = new URLSearchParams(location.search).get('next');
  const body = { email, ...(addressOf(next) === null ? {} : { next }) };
  const answer = await whileBusy(button, () => ask('/v1/auth/login', body));
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
  byId('address-form').addEventListener('submit', submitAddress);
  byId('code-form').addEventListener('submit', submitCode);
  byId('send-again').addEventListener('click', sendAgain);
  byId('other-address').addEventListener('click', () => history.back());
  addEventListener('popstate', renderLogin);
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
  renderLogin();
};

/**
 * Back to a page that the browser kept as it stood: what this step shows may be over. Never by a reload: the page alone
 * still holds the token.
 */
export const whenShownAgain = (id, look) =>
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && !byId(id).hidden) look();
  });

// GET /auth/confirm#token=…: who signs in where; then, by a press and nothing else, the sign-in.

/** Takes the token out of the address, so that no history, screenshot or shared address holds it. */
export const takeToken = () => {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  history.replaceState(null, '', location.pathname);
  return token;
};

const ROLES = { viewer: 'Viewer', admin: 'Admin', owner: 'Owner' };

const showPreview = ({ purpose, email, org, role, expires_at: until }) => {
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
  const time = byId('ready-until');
  time.dateTime = until;
  time.textContent = new Date(until).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
  forget(byId('ready-problem'), null);
  show('ready', byId('ready-title'));
};

const confirmation = () => {
  let token = null;

  const fail = ({ code, message }) => {
    const isOver = code === 'login_link_invalid';
    byId('failed-title').textContent = isOver ? 'The link cannot be used' : 'The link could not be checked';
    byId('try-again').hidden = isOver;
    show('failed');
    complain(byId('failed-problem'), message, null);
  };

  const check = async () => {
    const asked = token;
    show('checking');
    if (asked === null) {
      return fail(
        failure('login_link_invalid', 'The link is not complete. Open it again from the e-mail, or copy all of it.'),
      );
    }
    const answer = await ask('/v1/auth/preview', { token: asked });
    // Another link was opened meanwhile.
    if (asked !== token) return undefined;
    return answer.failed ? fail(answer) : showPreview(answer);
  };

  const begin = () => {
    token = takeToken();
    return check();
  };

  byId('ready-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    forget(byId('ready-problem'), null);
    const answer = await whileBusy(byId('confirm'), () => ask('/v1/auth/callback', { token }));
    if (!answer.failed) return signedIn(answer);
    return answer.code === 'login_link_invalid' ? fail(answer) : complain(byId('ready-problem'), answer.message, null);
  });
  byId('try-again').addEventListener('click', () => void check());
  whenShownAgain('ready', () => void check());
  // A second link that is opened in the same tab loads nothing: only the fragment changes.
  addEventListener('hashchange', () => void begin());
  void begin();
};

({ login, confirm: confirmation })[document.body.dataset.page]?.();

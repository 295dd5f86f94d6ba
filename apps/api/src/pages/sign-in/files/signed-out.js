// GET /login: why the session of this browser has ended, where somebody else ended it.
import { plain } from './page.js';

/**
 * Whoever was signed out elsewhere is told why. Only the cookie of that session learns it: the page asks the service, and takes no
 * word for it that stands in its own address.
 */
export const tellWhySignedOut = async (place) => {
  // Beside the cookie of a session, which no script sees, lies one that it does see.
  if (!/(?:^|; )(?:__Host-)?service_csrf=/.test(document.cookie)) return;
  const response = await fetch('/v1/me', { cache: 'no-store', credentials: 'same-origin' }).catch(() => null);
  if (response?.status !== 401) return;
  const answer = await response.json().catch(() => null);
  if (answer?.error?.code !== 'session_expired') return;
  // This is the page that the sentence names.
  place.textContent = plain(answer.error.message).replace(' at /login', '');
};
